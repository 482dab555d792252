/* papers/megatron/experiments.c - Megatron-LM's tables (SC 2021): weak scaling of GPT from 1.7 to
 * 1008 billion parameters (Table 1), and three-dimensional parallelism beside ZeRO-3 (Table 2).
 *
 * Figures are FLOP/s of a GPU in the paper's own count, which has the forward pass that is run
 * again:  F = 96 B s L h^2 (1 + s / 6 h + V / 16 L h). Micro-batches and parts of a rank come from
 * the authors' scripts of Table 1 (examples/academic_paper_scripts/sc21/run_table_1.sh). Nothing is
 * fitted to any figure.
 */
#include "config.h"

#include "papers/parts/build.h"

#include <math.h>
#include <stdio.h>

enum { SEQ = 2048, VOCAB = 51200, GPUS_A_MACHINE = 8, MOST_TEXT = 200 };

struct run {
    const char *model;
    uint32_t layers, hidden, heads, n_gpus, tp, pp, n_virtual, micro, batch;
    unsigned zero;
    bool overlaps; /* gradients leave during the backward pass */
    double tflops; /* published */
};

/* Table 1. torch's DDP, which overlaps, up to 18.4 billion; above it Megatron's own, which did
 * not. */
static const struct run weak[] = {
    {"GPT 1.7B", 24, 2304, 24, 32, 1, 1, 1, 16, 512, 0, true, 137},
    {"GPT 3.6B", 30, 3072, 32, 64, 2, 1, 1, 16, 512, 0, true, 138},
    {"GPT 7.5B", 36, 4096, 32, 128, 4, 1, 1, 16, 512, 0, true, 142},
    {"GPT 18.4B", 40, 6144, 48, 256, 8, 1, 1, 8, 1024, 0, true, 135},
    {"GPT 39.1B", 48, 8192, 64, 512, 8, 2, 1, 4, 1536, 0, false, 138},
    {"GPT 76.1B", 60, 10240, 80, 1024, 8, 4, 3, 2, 1792, 0, false, 140},
    {"GPT 145.6B", 80, 12288, 96, 1536, 8, 8, 2, 2, 2304, 0, false, 148},
    {"GPT 310.1B", 96, 16384, 128, 1920, 8, 16, 2, 1, 2160, 0, false, 155},
    {"GPT 529.6B", 105, 20480, 128, 2520, 8, 35, 3, 1, 2520, 0, false, 163},
    {"GPT 1008B", 128, 25600, 160, 3072, 8, 64, 1, 1, 3072, 0, false, 163},
};
enum { N_WEAK = sizeof(weak) / sizeof(weak[0]) };

/* Table 2. ZeRO-3 without other parallelism; a micro-batch is a GPU's samples. */
static const struct run beside[] = {
    {"GPT-3 175B", 96, 12288, 96, 384, 8, 12, 1, 1, 1536, 0, false, 153},
    {"GPT-3 175B", 96, 12288, 96, 768, 8, 12, 1, 1, 1536, 0, false, 149},
    {"GPT-3 175B", 96, 12288, 96, 1536, 8, 12, 1, 1, 1536, 0, false, 141},
    {"GPT 530B", 105, 20480, 128, 560, 8, 35, 1, 1, 2240, 0, false, 171},
    {"GPT 530B", 105, 20480, 128, 1120, 8, 35, 1, 1, 2240, 0, false, 167},
    {"GPT 530B", 105, 20480, 128, 2240, 8, 35, 1, 1, 2240, 0, false, 159},
    {"GPT-3 175B", 96, 12288, 96, 384, 1, 1, 1, 4, 1536, 3, true, 144},
    {"GPT-3 175B", 96, 12288, 96, 768, 1, 1, 1, 2, 1536, 3, true, 88},
    {"GPT-3 175B", 96, 12288, 96, 1536, 1, 1, 1, 1, 1536, 3, true, 44},
    {"GPT 530B", 105, 20480, 128, 640, 1, 1, 1, 4, 2560, 3, true, 138},
    {"GPT 530B", 105, 20480, 128, 1120, 1, 1, 1, 2, 2240, 3, true, 98},
    {"GPT 530B", 105, 20480, 128, 2240, 1, 1, 1, 1, 2240, 3, true, 48},
};
enum { N_BESIDE = sizeof(beside) / sizeof(beside[0]) };

/* The paper's count of a step, with the forward pass that is run again. */
static double flop_of(const struct run *r)
{
    double l = r->layers, h = r->hidden;

    return 96.0 * r->batch * SEQ * l * h * h * (1 + SEQ / (6 * h) + VOCAB / (16 * l * h));
}

static void write_strategy(const struct run *r, char text[MOST_TEXT])
{
    uint32_t dp = r->n_gpus / (r->tp * r->pp);
    int n =
        snprintf(text, MOST_TEXT, "hybrid:dp=%u,tp=%u,pp=%u,micro=%u", dp, r->tp, r->pp, r->micro);
    size_t at = n > 0 ? (size_t)n : 0;

    if (r->pp > 1)
        at += (size_t)snprintf(text + at, MOST_TEXT - at, ",schedule=%s,cut=layers",
                               r->n_virtual > 1 ? "interleaved-1f1b" : "1f1b");
    if (r->n_virtual > 1)
        at += (size_t)snprintf(text + at, MOST_TEXT - at, ",virtual=%u", r->n_virtual);
    if (r->tp > 1) /* megatron/mpu/layers.py of 2021 */
        at += (size_t)snprintf(text + at, MOST_TEXT - at, ",tp-async=0");
    if (r->tp > 1 && r->pp > 1) /* section 4.1 */
        at += (size_t)snprintf(text + at, MOST_TEXT - at, ",scatter-gather=1");
    if (r->zero)
        at += (size_t)snprintf(text + at, MOST_TEXT - at,
                               ",zero=%u,gather=module,prefetch=0,packs=1", r->zero);
    snprintf(text + at, MOST_TEXT - at, ",recompute=full,overlap=%d", r->overlaps ? 1 : 0);
}

static enum fr_status ask(struct fr__repro *b, const struct run *r,
                          const struct fr__repro_answer **out, struct fr_error *err)
{
    char workload[MOST_TEXT], topology[MOST_TEXT], strategy[MOST_TEXT];
    struct fr_question q;

    snprintf(workload, sizeof(workload),
             "gpt:layers=%u,hidden=%u,heads=%u,seq=%d,vocab=%d,attention=unfused", r->layers,
             r->hidden, r->heads, SEQ, VOCAB);
    snprintf(topology, sizeof(topology), "%ux dgx-a100-80g", r->n_gpus / GPUS_A_MACHINE);
    write_strategy(r, strategy);
    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = strategy;
    q.global_batch = r->batch;
    q.dtype = FR_FP16;
    q.optimizer = FR_ADAM;
    q.is_brief = true;
    return fr__repro_ask(b, &q, out, err);
}

static struct fr_repro_cell number(double value)
{
    return (struct fr_repro_cell){.value = value};
}

static struct fr_repro_cell word(const char *text)
{
    return (struct fr_repro_cell){.text = text, .value = NAN};
}

static const struct fr_repro_column columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"gpus", "GPUs", FR_UNIT_COUNT},
    {"layout", "layout", FR_UNIT_TEXT},
    {"batch", "batch", FR_UNIT_COUNT},
    {"paper_tflops", "paper TFLOP/s", FR_UNIT_COUNT},
    {"ours_tflops", "ours TFLOP/s", FR_UNIT_COUNT},
    {"difference", "difference", FR_UNIT_FRACTION},
    {"iteration_s", "iteration", FR_UNIT_SECONDS},
    {"peak_bytes", "memory", FR_UNIT_BYTES},
};
enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct found {
    double off[N_BESIDE]; /* of each row that fits; N_BESIDE is the longer table */
    size_t n, n_oom;
};

static enum fr_status add_row(struct fr__repro *b, const struct run *r, double *tflops,
                              struct found *f, struct fr_error *err)
{
    const struct fr__repro_answer *a;
    char text[80];
    const char *layout;
    struct fr_repro_cell ours, off, time;

    FR_TRY(ask(b, r, &a, err));
    snprintf(text, sizeof(text), r->zero ? "ZeRO-3, micro %u" : "t %u, p %u, v %u, micro %u",
             r->zero ? r->micro : r->tp, r->pp, r->n_virtual, r->micro);
    layout = fr__repro_text(b, text);
    if (!layout)
        return fr__fail_nomem(err);
    *tflops = a->oom ? (double)NAN : flop_of(r) / (a->iteration_s * r->n_gpus * 1e12);
    ours = a->oom ? word("out of memory") : number(*tflops);
    off = number(*tflops / r->tflops - 1);
    time = number(a->iteration_s);
    if (a->oom)
        f->n_oom++;
    else
        f->off[f->n++] = fabs(*tflops / r->tflops - 1);
    return fr__repro_row(b,
                         (struct fr_repro_cell[]){word(r->model), number(r->n_gpus), word(layout),
                                                  number(r->batch), number(r->tflops), ours, off,
                                                  time, number((double)a->peak_bytes)},
                         err);
}

/* Sorts x. NaN: there are none. */
static double median(double x[], size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && x[k] < x[k - 1]; k--) {
            double swap = x[k];

            x[k] = x[k - 1];
            x[k - 1] = swap;
        }
    if (n == 0)
        return NAN;
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Median and largest of the differences, in per cent. */
static void sum_up(struct found *f, double *middle, double *most)
{
    *middle = 100 * median(f->off, f->n);
    *most = f->n ? 100 * f->off[f->n - 1] : (double)NAN;
}

static enum fr_status weak_scaling(struct fr__repro *b, struct fr_error *err)
{
    struct found f = {.n = 0};
    double tflops, middle, most;

    FR_TRY(fr__repro_begin(b, "weak", "Weak scaling of GPT, FLOP/s of a GPU (Table 1)",
                           "135 to 163 TFLOP/s of a GPU, more for larger models", columns,
                           N_COLUMNS, err));
    for (size_t i = 0; i < N_WEAK; i++)
        FR_TRY(add_row(b, &weak[i], &tflops, &f, err));
    sum_up(&f, &middle, &most);
    return fr__repro_found(b, err,
                           "%zu of %d rows fit; they are off by %.1f %% in the median, %.1f %% at "
                           "most",
                           f.n, (int)N_WEAK, middle, most);
}

static enum fr_status zero3(struct fr__repro *b, struct fr_error *err)
{
    struct found f = {.n = 0};
    double tflops[N_BESIDE], middle, most;
    size_t n_faster = 0;

    FR_TRY(fr__repro_begin(b, "zero3",
                           "Pipeline, tensor and data parallelism beside ZeRO-3 (Table 2)",
                           "ZeRO-3 is slower by 6 % on 384 GPUs and by 69 % on 1536 and 2240",
                           columns, N_COLUMNS, err));
    for (size_t i = 0; i < N_BESIDE; i++)
        FR_TRY(add_row(b, &beside[i], &tflops[i], &f, err));
    for (size_t i = 0; i < N_BESIDE / 2; i++)
        n_faster += (size_t)(tflops[i] > tflops[i + N_BESIDE / 2]);
    sum_up(&f, &middle, &most);
    return fr__repro_found(b, err,
                           "%zu of %d rows fit; they are off by %.1f %% in the median, %.1f %% at "
                           "most. Three-dimensional parallelism is the faster in %zu of %d pairs, "
                           "in the paper in all",
                           f.n, (int)N_BESIDE, middle, most, n_faster, (int)N_BESIDE / 2);
}

enum fr_status fr__reproduce_megatron(struct fr_reproduction **out, const char *data,
                                      const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__repro *b = fr__repro_new(
        "megatron",
        "D. Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using "
        "Megatron-LM, SC 2021",
        "DGX A100 80 GB, 8 HDR cards a machine, fp16, Adam, all layers run again, unfused "
        "attention, calibrated costs; FLOP/s in the paper's count",
        ctx);
    enum fr_status st;

    (void)data;
    if (!b)
        return fr__fail_nomem(err);
    st = weak_scaling(b, err);
    if (st == FR_OK)
        st = zero3(b, err);
    return fr__repro_finish(b, st, out);
}
