/* tests/bench/bench_schedules.c - making pipeline schedules and replaying them.
 *
 * Interleaved 1F1B of a thousand ranks' size is made by counting, and replayed with transfers.
 * V-Min is the dearest rule: it searches. A chain of two thousand uneven items is cut into sixteen
 * stages by the closed form of all forwards, then all backwards.
 */
#include "lowering/partition/best.h"
#include "lowering/schedules/schedule.h"
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

enum { ITEMS = 2000, STAGES = 16 };

struct chain {
    double forward_s[ITEMS + 1], backward_s[ITEMS + 1], cross_s[ITEMS + 1], bytes[ITEMS + 1];
    double in_flight[STAGES], capacity_bytes[STAGES];
    const double *forward[STAGES], *backward[STAGES], *cross[STAGES];
    uint32_t rank_of[STAGES], first[STAGES + 1];
    struct fr__chain c;
};

static void fill_chain(struct chain *x)
{
    for (size_t i = 0; i < ITEMS; i++) {
        x->forward_s[i + 1] = x->forward_s[i] + 1 + (double)(i * 7919 % 13);
        x->backward_s[i + 1] = x->backward_s[i] + 2 + (double)(i * 104729 % 17);
        x->cross_s[i] = (double)(i * 31 % 5);
        x->bytes[i + 1] = x->bytes[i] + 1;
    }
    for (uint32_t s = 0; s < STAGES; s++) {
        x->forward[s] = x->forward_s;
        x->backward[s] = x->backward_s;
        x->cross[s] = x->cross_s;
        x->rank_of[s] = s;
        x->in_flight[s] = 1;
        x->capacity_bytes[s] = ITEMS;
    }
    x->c = (struct fr__chain){.n = ITEMS,
                              .n_stages = STAGES,
                              .n_ranks = STAGES,
                              .rank_of = x->rank_of,
                              .forward_s = x->forward,
                              .backward_s = x->backward,
                              .send_s = x->cross,
                              .back_s = x->cross,
                              .fixed_bytes = x->bytes,
                              .live_bytes = x->bytes,
                              .in_flight = x->in_flight,
                              .capacity_bytes = x->capacity_bytes};
}

static double cut(void *arg)
{
    static const struct fr__cut_aim aim = {.rule = FR__CUT_PHASES, .n_micros = 64};
    struct chain *x = arg;
    struct fr__best_cut best;
    struct fr_error err;
    double start_s = bench_cpu_s();

    if (fr__cut_best(&x->c, &aim, x->first, &best, &err) != FR_OK)
        abort();
    return bench_cpu_s() - start_s;
}

static void bench_cut(void)
{
    struct chain *x = calloc(1, sizeof(*x));
    struct bench_row row = {.name = "cut into 16 stages", .unit = "items", .size = ITEMS};

    if (!x)
        abort();
    fill_chain(x);
    row.cpu_s = bench_median(cut, x, 5);
    bench_print(&row);
    free(x);
}

int main(void)
{
    bench_cut();
    bench("schedule interleaved", "replay interleaved",
          &(struct fr_schedule_spec){
              .name = "interleaved-1f1b", .n_ranks = 64, .n_virtual = 8, .n_micros = 1024});
    bench("schedule zb-v", "replay zb-v",
          &(struct fr_schedule_spec){.name = "zb-v", .n_ranks = 64, .n_micros = 1024});
    bench("schedule v-min", "replay v-min",
          &(struct fr_schedule_spec){.name = "v-min", .n_ranks = 32, .n_micros = 256});
    return 0;
}
