/* How many points of a sweep are answered in a second of CPU time, on one thread and without a
 * store: models of all sizes, two machines, every strategy. */
#include "config.h"

#include "study/sweep.h"
#include "tests/bench/bench.h"

#include <stdlib.h>

static const char *const axes[][2] = {
    {"workload", "lenet"},     {"workload", "vgg19"},
    {"workload", "resnet50"},  {"workload", "gpt2-small"},
    {"topology", "dgx1-v100"}, {"topology", "dgx-a100-80g"},
    {"gpus", "2,8"},           {"batch-per-gpu", "16,32,64"},
};

static size_t n_points;

/* CPU seconds of one sweep; arg is not used. */
static double sweep_cpu_s(void *arg)
{
    const struct fr_sweep_options o = {.n_threads = 1};
    struct fr_sweep *s = fr_sweep_new();
    enum fr_status st = s ? FR_OK : FR_ENOMEM;
    struct fr_error err;
    double begin_s = bench_cpu_s();

    (void)arg;
    for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]) && st == FR_OK; i++)
        st = fr_sweep_add(s, axes[i][0], axes[i][1], &err);
    if (st == FR_OK)
        st = fr_sweep_finish(s, &err);
    if (st == FR_OK)
        st = fr_sweep_run(s, &o, NULL, &err);
    if (st != FR_OK)
        exit(EXIT_FAILURE);
    n_points = fr_sweep_n_points(s);
    fr_sweep_free(s);
    return bench_cpu_s() - begin_s;
}

int main(void)
{
    struct bench_row row = {.name = "sweep of small questions", .unit = "points"};

    fr_init();
    row.cpu_s = bench_median(sweep_cpu_s, NULL, 3);
    row.size = (double)n_points;
    bench_print(&row);
    return EXIT_SUCCESS;
}
