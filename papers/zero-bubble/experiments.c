/* papers/zero-bubble/experiments.c - zero-bubble pipelines (ICLR 2024): throughput and memory of
 * four GPTs on 8 to 32 A100 under six schedules, and the bubbles of the schedules alone.
 *
 * The paper's ZB-1p and ZB-2p are schedules that its program searches for measured times within one
 * and two times the memory of 1F1B; ours in their place are its hand-made ZB-H1 and ZB-H2, and ZB-V
 * beside them. Throughputs and memory are those of the paper's Table 4 (section 5.2), which has no
 * ZB-V. Nothing is fitted to any figure.
 */
#include "config.h"

#include "papers/parts/build.h"
#include "lowering/schedules/schedule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEQ = 1024, VOCAB = 50304, MOST_TEXT = 200, N_SCHEDULES = 5, N_COUNTS = 3 };

static struct fr_repro_cell number(double value)
{
    return (struct fr_repro_cell){.value = value};
}

static struct fr_repro_cell word(const char *text)
{
    return (struct fr_repro_cell){.text = text, .value = NAN};
}

/* ---- models on GPUs ---- */

/* Its names, and the schedule of ours in that place. */
static const struct {
    const char *paper, *ours;
} schedules[N_SCHEDULES] = {
    {"1F1B", "1f1b"}, {"1F1B-I", "interleaved-1f1b"}, {"ZB-1p", "zb-h1"}, {"ZB-2p", "zb-h2"},
    {"ZB-V", "zb-v"},
};

/* A layer less at either end, for embedding and head. Micro-batches: counts; samples a second of a
 * GPU [schedule][count], GB of the fullest GPU [schedule]; NaN: not known to us. */
struct setup {
    const char *model;
    uint32_t layers, hidden, heads, n_gpus, micro, counts[N_COUNTS];
    double speed[N_SCHEDULES][N_COUNTS], gb[N_SCHEDULES];
};

static const struct setup setups[] = {
    {"1.5B",
     22,
     2304,
     24,
     8,
     6,
     {24, 32, 64},
     {{11.8, 12.5, 13.6},
      {13.1, 13.4, 13.9},
      {12.9, 13.4, 14.2},
      {14.5, 14.8, 14.9},
      {NAN, NAN, NAN}},
     {30, 40, 32, 59, NAN}},
    {"6.2B",
     30,
     4096,
     32,
     8,
     3,
     {24, 32, 64},
     {{3.50, 3.70, 4.03},
      {4.01, 4.08, 4.19},
      {3.88, 4.00, 4.20},
      {4.32, 4.35, 4.39},
      {NAN, NAN, NAN}},
     {39, 48, 42, 70, NAN}},
    {"14.6B",
     46,
     5120,
     40,
     16,
     1,
     {48, 64, 128},
     {{1.40, 1.49, 1.64},
      {1.54, 1.59, 1.66},
      {1.61, 1.67, 1.76},
      {1.81, 1.83, 1.85},
      {NAN, NAN, NAN}},
     {32, 39, 33, 51, NAN}},
    {"28.3B",
     62,
     6144,
     48,
     32,
     1,
     {96, 128, 256},
     {{0.76, 0.80, 0.88},
      {0.82, 0.85, 0.90},
      {0.87, 0.90, 0.96},
      {0.99, 1.00, 1.00},
      {NAN, NAN, NAN}},
     {43, 58, 44, 74, NAN}},
};
enum { N_SETUPS = sizeof(setups) / sizeof(setups[0]), GPUS_A_MACHINE = 8 };

/* Layers a part of the model: as many as a stage has, one each where parts are interleaved. */
static uint32_t parts_of(const struct setup *s, const char *schedule)
{
    const struct fr_schedule_kind *k = fr_schedule_kind_find(schedule);
    uint32_t a_stage = (s->layers + 2) / s->n_gpus;

    if (k->most_virtual == 1)
        return 1;
    return k->most_virtual && k->most_virtual < a_stage ? k->most_virtual : a_stage;
}

static enum fr_status ask(struct fr__repro *b, const struct setup *s, const char *schedule,
                          uint32_t n_micros, const struct fr__repro_answer **out,
                          struct fr_error *err)
{
    char workload[MOST_TEXT], topology[MOST_TEXT], strategy[MOST_TEXT];
    uint32_t parts = parts_of(s, schedule), n_stages = parts * s->n_gpus;
    struct fr_question q;

    snprintf(workload, sizeof(workload),
             "gpt:layers=%u,hidden=%u,heads=%u,seq=%d,vocab=%d,attention=unfused", s->layers,
             s->hidden, s->heads, SEQ, VOCAB);
    snprintf(topology, sizeof(topology), "%ux dgx-a100-80g", s->n_gpus / GPUS_A_MACHINE);
    snprintf(strategy, sizeof(strategy), "hybrid:dp=1,pp=%u,micro=%u,schedule=%s,virtual=%u%s",
             s->n_gpus, s->micro, schedule, parts,
             (s->layers + 2) % n_stages == 0 ? ",cut=layers" : "");
    fr_question_init(&q);
    q.workload = workload;
    q.topology = s->n_gpus > GPUS_A_MACHINE ? topology : "dgx-a100-80g";
    q.strategy = strategy;
    q.global_batch = s->micro * n_micros;
    q.dtype = FR_FP16;
    q.optimizer = FR_ADAM;
    q.is_brief = true;
    return fr__repro_ask(b, &q, out, err);
}

static const struct fr_repro_column speed_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"gpus", "GPUs", FR_UNIT_COUNT},
    {"micro_batches", "micro-batches", FR_UNIT_COUNT},
    {"paper_schedule", "paper's", FR_UNIT_TEXT},
    {"ours_schedule", "ours", FR_UNIT_TEXT},
    {"paper_gain", "paper gains", FR_UNIT_FRACTION},
    {"ours_gain", "ours gains", FR_UNIT_FRACTION},
    {"paper_speed", "paper, ms a sample", FR_UNIT_SECONDS},
    {"ours_speed", "ours", FR_UNIT_SECONDS},
    {"difference", "difference", FR_UNIT_FRACTION},
    {"paper_memory", "paper GB", FR_UNIT_BYTES},
    {"ours_memory", "ours", FR_UNIT_BYTES},
};

struct found {
    double off, gain_off, most_gain;
    size_t n, n_gains;
};

/* Seconds of a GPU for a sample: the inverse of the paper's column. */
static double a_sample_s(const struct setup *s, uint32_t n_micros, double iteration_s)
{
    return iteration_s * s->n_gpus / (s->micro * n_micros);
}

static enum fr_status add_speed(struct fr__repro *b, const struct setup *s, size_t k, size_t c,
                                double base_s, struct found *f, struct fr_error *err)
{
    const struct fr__repro_answer *a;
    double theirs_s = 1 / s->speed[k][c], ours_s;
    double gain = s->speed[k][c] / s->speed[0][c] - 1, ours_gain;
    struct fr_repro_cell gain_cell;

    FR_TRY(ask(b, s, schedules[k].ours, s->counts[c], &a, err));
    ours_s = a->oom ? (double)NAN : a_sample_s(s, s->counts[c], a->iteration_s);
    ours_gain = base_s / ours_s - 1;
    gain_cell = a->oom ? word("out of memory") : number(ours_gain);
    if (!isnan(ours_s / theirs_s)) {
        f->off += fabs(theirs_s / ours_s - 1);
        f->n++;
        f->n_gains += k > 0;
        f->gain_off += fabs(ours_gain - gain);
    }
    if (ours_gain > f->most_gain)
        f->most_gain = ours_gain;
    return fr__repro_row(
        b,
        (struct fr_repro_cell[]){
            word(s->model), number(s->n_gpus), number(s->counts[c]), word(schedules[k].paper),
            word(schedules[k].ours), number(gain), gain_cell, number(theirs_s), number(ours_s),
            number(theirs_s / ours_s - 1), number(s->gb[k] * 1e9), number((double)a->peak_bytes)},
        err);
}

static enum fr_status speeds(struct fr__repro *b, struct fr_error *err)
{
    struct found f = {0};

    FR_TRY(fr__repro_begin(b, "throughput",
                           "Time of a GPU for a sample, and gain on 1F1B (Table 4)",
                           "ZB-2p gains 9 to 30 % on 1F1B, ZB-1p 4 to 15 %, by the figures of its "
                           "Table 4; ZB-V is not in it",
                           speed_columns, sizeof(speed_columns) / sizeof(speed_columns[0]), err));
    for (size_t i = 0; i < N_SETUPS; i++)
        for (size_t c = 0; c < N_COUNTS; c++) {
            const struct fr__repro_answer *base;
            double base_s;

            FR_TRY(ask(b, &setups[i], schedules[0].ours, setups[i].counts[c], &base, err));
            base_s = a_sample_s(&setups[i], setups[i].counts[c], base->iteration_s);
            for (size_t k = 0; k < N_SCHEDULES; k++)
                FR_TRY(add_speed(b, &setups[i], k, c, base_s, &f, err));
        }
    return fr__repro_found(b, err,
                           "%zu figures, %.1f %% off in the mean; gains on 1F1B %.1f points off in "
                           "the mean, at most %.0f %%",
                           f.n, f.n ? 100 * f.off / (double)f.n : (double)NAN,
                           f.n_gains ? 100 * f.gain_off / (double)f.n_gains : (double)NAN,
                           100 * f.most_gain);
}

/* ---- schedules alone ---- */

/* Forward, input and weight passes of one unit each, no messages: the paper's figures 2 to 4, and
 * the formulas of its section 2. */
struct alone {
    const char *paper, *schedule;
    uint32_t n_virtual;
    double bubble; /* of p = 4, m = 8: idle time of a rank over its work, by the paper's formulas */
};

static const struct alone alone[] = {
    {"1F1B", "1f1b", 1, 9.0 / 24},
    {"ZB-H1", "zb-h1", 1, 3.0 / 24},
    {"ZB-H2", "zb-h2", 1, 0},
    {"ZB-V", "zb-v", 2, 3.0 / 48},
};
enum { N_ALONE = sizeof(alone) / sizeof(alone[0]), P = 4, M = 8 };

static const struct fr_repro_column alone_columns[] = {
    {"paper_schedule", "paper's", FR_UNIT_TEXT},
    {"ours_schedule", "ours", FR_UNIT_TEXT},
    {"paper_bubble", "bubble", FR_UNIT_FRACTION},
    {"ours_bubble", "ours", FR_UNIT_FRACTION},
    {"span_bubble", "of a rank's span", FR_UNIT_FRACTION},
};

static enum fr_status add_alone(struct fr__repro *b, const struct alone *x, size_t *n_met,
                                struct fr_error *err)
{
    const struct fr_schedule_spec spec = {
        .name = x->schedule, .n_ranks = P, .n_micros = M, .n_virtual = x->n_virtual};
    const struct fr_schedule_times times = fr_schedule_unit_times();
    double work = 3.0 * M * x->n_virtual, whole, span;
    struct fr_schedule *s;
    struct fr_replay r;
    enum fr_status st;

    FR_TRY(fr_schedule_make(&s, &spec, err));
    st = fr_schedule_replay(&r, s, &times, err);
    if (st != FR_OK) {
        fr_schedule_free(s);
        return st;
    }
    whole = r.makespan / work - 1;
    span = r.longest_span / work - 1;
    fr_replay_fini(&r);
    fr_schedule_free(s);
    *n_met += (size_t)(fabs(whole - x->bubble) < 1e-9 || fabs(span - x->bubble) < 1e-9);
    return fr__repro_row(b,
                         (struct fr_repro_cell[]){word(x->paper), word(x->schedule),
                                                  number(x->bubble), number(whole), number(span)},
                         err);
}

static enum fr_status bubbles(struct fr__repro *b, struct fr_error *err)
{
    size_t n_met = 0;

    FR_TRY(fr__repro_begin(b, "bubbles",
                           "Idle time over work, 4 stages and 8 micro-batches, passes of one unit",
                           "(p - 1)(F + B + W), (p - 1)(F + B - 2 W + W) and 0 by the formulas of "
                           "its section 2; the bubble of ZB-H2 vanishes between iterations, so it "
                           "is that of a rank's own span",
                           alone_columns, sizeof(alone_columns) / sizeof(alone_columns[0]), err));
    for (size_t i = 0; i < N_ALONE; i++)
        FR_TRY(add_alone(b, &alone[i], &n_met, err));
    return fr__repro_found(b, err, "%zu of %d equal the formulas", n_met, (int)N_ALONE);
}

enum fr_status fr__reproduce_zero_bubble(struct fr_reproduction **out, const char *data,
                                         const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__repro *b = fr__repro_new(
        "zero-bubble", "P. Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024",
        "DGX A100 80 GB, a stage a GPU, fp16, Adam, nothing runs again, unfused attention, "
        "calibrated costs; an iteration by itself, so nothing of it overlaps the next",
        ctx);
    enum fr_status st;

    (void)data;
    if (!b)
        return fr__fail_nomem(err);
    st = speeds(b, err);
    if (st == FR_OK)
        st = bubbles(b, err);
    return fr__repro_finish(b, st, out);
}
