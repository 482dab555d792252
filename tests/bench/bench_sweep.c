/* How many points of a sweep are answered in a second of CPU time, on one thread and without a
 * store: models of all sizes, two machines, every strategy. And how many questions one by one:
 * every model of the zoo under each basic strategy, on eight GPUs. */
#include "config.h"

#include "study/sweep/sweep.h"
#include "tests/bench/bench.h"

#include <stdlib.h>
#include <string.h>

static const char *const axes[][2] = {
    {"workload", "lenet"},     {"workload", "vgg19"},
    {"workload", "resnet50"},  {"workload", "gpt2-small"},
    {"topology", "dgx1-v100"}, {"topology", "dgx-a100-80g"},
    {"gpus", "2,8"},           {"batch-per-gpu", "16,32,64"},
};

static const char *const plain_strategies[] = {"single", "dp", "mp", "pp", NULL};
static size_t n_points, n_answers;

/* CPU seconds of one sweep; arg: its strategies up to a NULL, or NULL for all. */
static double sweep_cpu_s(void *arg)
{
    const char *const *strategies = arg;
    const struct fr_sweep_options o = {.n_threads = 1};
    struct fr_sweep *s = fr_sweep_new();
    enum fr_status st = s ? FR_OK : FR_ENOMEM;
    struct fr_error err;
    double begin_s = bench_cpu_s();

    for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]) && st == FR_OK; i++)
        st = fr_sweep_add(s, axes[i][0], axes[i][1], &err);
    for (; strategies && *strategies && st == FR_OK; strategies++)
        st = fr_sweep_add(s, "strategy", *strategies, &err);
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

static void answer_or_exit(const struct fr_setting *s, const struct fr_question *q)
{
    struct fr_record *r;
    struct fr_error err;

    if (fr_answer_on(s, q, NULL, &r, &err) != FR_OK)
        exit(EXIT_FAILURE);
    fr_record_free(r);
}

/* CPU seconds of the answers; arg is not used. */
static double zoo_cpu_s(void *arg)
{
    static const char *const strategies[] = {"single", "dp", "mp", "pp"};
    enum { N_STRATEGIES = sizeof(strategies) / sizeof(strategies[0]) };
    double begin_s = bench_cpu_s();

    (void)arg;
    n_answers = 0;
    for (size_t i = 0; fr_zoo_name(i); i++) {
        const char *name = fr_zoo_name(i);
        struct fr_setting setting;
        struct fr_question q;
        struct fr_error err;

        fr_question_init(&q);
        q.workload = strcmp(name, "wresnet-L-W") == 0 ? "wresnet-50-2" : name; /* a pattern */
        q.topology = "dgx1-v100";
        q.global_batch = 16;
        q.optimizer = FR_ADAM;
        if (fr_setting_load(&setting, &q, &err) != FR_OK)
            exit(EXIT_FAILURE);
        for (size_t s = 0; s < N_STRATEGIES; s++) {
            q.strategy = strategies[s];
            answer_or_exit(&setting, &q);
        }
        n_answers += N_STRATEGIES;
        fr_setting_fini(&setting);
    }
    return bench_cpu_s() - begin_s;
}

int main(void)
{
    struct bench_row row = {.name = "sweep of small questions", .unit = "points"};
    struct bench_row plain = {.name = "that sweep without planners", .unit = "points"};
    struct bench_row zoo = {.name = "every model, every strategy", .unit = "answers"};

    fr_init();
    row.cpu_s = bench_median(sweep_cpu_s, NULL, 3);
    row.size = (double)n_points;
    bench_print(&row);
    plain.cpu_s = bench_median(sweep_cpu_s, (void *)plain_strategies, 3);
    plain.size = (double)n_points;
    bench_print(&plain);
    zoo.cpu_s = bench_median(zoo_cpu_s, NULL, 1);
    zoo.size = (double)n_answers;
    bench_print(&zoo);
    return EXIT_SUCCESS;
}
