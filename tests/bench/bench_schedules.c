/* tests/bench/bench_schedules.c - making pipeline schedules and replaying them.
 *
 * Interleaved 1F1B of a thousand ranks' size is made by counting, and replayed with transfers.
 * V-Min is the dearest rule: it searches.
 */
#include "strategies/schedules/schedule.h"
#include "tests/bench/bench.h"

#include <stdlib.h>

struct job {
    struct fr_schedule_spec spec;
    struct fr_schedule *s;
};

static double make(void *arg)
{
    struct job *j = arg;
    struct fr_error err;
    double start_s = bench_cpu_s();

    fr_schedule_free(j->s);
    if (fr_schedule_make(&j->s, &j->spec, &err) != FR_OK)
        abort();
    return bench_cpu_s() - start_s;
}

static double replay(void *arg)
{
    struct job *j = arg;
    struct fr_schedule_times t = fr_schedule_unit_times();
    struct fr_replay x;
    struct fr_error err;
    double start_s = bench_cpu_s();

    t.comm = 0.25;
    if (fr_schedule_replay(&x, j->s, &t, &err) != FR_OK)
        abort();
    fr_replay_fini(&x);
    return bench_cpu_s() - start_s;
}

static void bench(const char *made, const char *replayed, const struct fr_schedule_spec *spec)
{
    struct job j = {.spec = *spec};
    struct bench_row row = {.name = made, .unit = "actions"};

    row.cpu_s = bench_median(make, &j, 5);
    row.size = (double)j.s->n_actions;
    bench_print(&row);
    row.name = replayed;
    row.cpu_s = bench_median(replay, &j, 5);
    bench_print(&row);
    fr_schedule_free(j.s);
}

int main(void)
{
    bench("schedule interleaved", "replay interleaved",
          &(struct fr_schedule_spec){
              .name = "interleaved-1f1b", .n_ranks = 64, .n_virtual = 8, .n_micros = 1024});
    bench("schedule zb-v", "replay zb-v",
          &(struct fr_schedule_spec){.name = "zb-v", .n_ranks = 64, .n_micros = 1024});
    bench("schedule v-min", "replay v-min",
          &(struct fr_schedule_spec){.name = "v-min", .n_ranks = 32, .n_micros = 256});
    return 0;
}
