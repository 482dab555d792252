/* papers/gpipe/experiments.c - GPipe's tables (NeurIPS 2019): the largest Transformer that fits so
 * many accelerators (Table 1), and throughput by partitions and micro-batches (Table 2).
 *
 * The paper ran on TPUs, which we have none of. What fits is asked on V100 of the same memory,
 * throughput, a ratio, on A100, whose memory holds all cells: what carries over is the rule, not
 * the device. AmoebaNet is not among our models.
 *
 * Sizes of the Transformer follow from the paper's parameters: 12 h^2 a layer with h = 2048, and
 * two tables of 32 000 words; a layer less than a multiple of the partitions, as the last one has
 * the softmax.
 */
#include "config.h"

#include "papers/parts/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HIDDEN = 2048, HEADS = 32, SEQ = 1024, VOCAB = 32000, BATCH = 32, MOST_TEXT = 200 };

static struct fr_repro_cell number(double value)
{
    return (struct fr_repro_cell){.value = value};
}

static struct fr_repro_cell word(const char *text)
{
    return (struct fr_repro_cell){.text = text, .value = NAN};
}

struct setting {
    const char *topology;
    size_t n_gpus; /* partitions */
    uint32_t layers, n_micros, batch;
    bool recomputes;
};

/* GPipe on so many GPUs; one GPU runs its micro-batches one after another. */
static enum fr_status ask(struct fr__repro *b, const struct setting *s,
                          const struct fr__repro_answer **out, struct fr_error *err)
{
    char workload[MOST_TEXT], strategy[MOST_TEXT];
    struct fr_question q;

    snprintf(workload, sizeof(workload),
             "gpt:layers=%u,hidden=%d,heads=%d,seq=%d,vocab=%d,attention=unfused", s->layers,
             HIDDEN, HEADS, SEQ, VOCAB);
    snprintf(strategy, sizeof(strategy), "hybrid:dp=1,pp=%zu,micro=%u,tie=0,recompute=%s%s",
             s->n_gpus, s->batch / s->n_micros, s->recomputes ? "full" : "none",
             s->n_gpus > 1 ? ",schedule=gpipe" : "");
    fr_question_init(&q);
    q.workload = workload;
    q.topology = s->topology;
    q.n_gpus = s->n_gpus;
    q.strategy = strategy;
    q.global_batch = s->batch;
    q.dtype = FR_FP32;
    q.optimizer = FR_MOMENTUM;
    q.is_brief = true;
    return fr__repro_ask(b, &q, out, err);
}

/* ---- Table 1 ---- */

struct capacity {
    const char *name, *topology;
    uint32_t n_gpus;
    bool recomputes;
    uint32_t layers; /* of the paper's model */
    double billions; /* its parameters */
};

/* Memory of 16 GB: TPUv3 there, V100 here. */
static const struct capacity capacities[] = {
    {"1, no GPipe", "p3.16xlarge", 1, false, 3, 0.2822},
    {"1", "p3.16xlarge", 1, true, 13, 0.7858},
    {"8", "p3.16xlarge", 8, true, 103, 5.3},
    {"32", "4x p3.16xlarge", 32, true, 415, 21.0},
    {"128", "16x p3.16xlarge", 128, true, 1663, 83.9},
};
enum { N_CAPACITIES = sizeof(capacities) / sizeof(capacities[0]), MOST_LAYERS = 32 };

static double params_of(uint32_t layers)
{
    return 12.0 * HIDDEN * HIDDEN * layers + 2.0 * VOCAB * HIDDEN;
}

/* Layers of the model with so many a partition, its ends counted as two of them. */
static uint32_t layers_of(const struct capacity *c, uint32_t a_partition)
{
    return c->n_gpus > 1 ? a_partition * c->n_gpus - 2 : a_partition;
}

static enum fr_status fits(struct fr__repro *b, const struct capacity *c, uint32_t a_partition,
                           bool *out, struct fr_error *err)
{
    const struct setting s = {c->topology, c->n_gpus, layers_of(c, a_partition),
                              BATCH,       BATCH,     c->recomputes};
    const struct fr__repro_answer *a;

    FR_TRY(ask(b, &s, &a, err));
    *out = !a->oom;
    return FR_OK;
}

/* The most layers a partition that fit, by halving; 0: not even one. */
static enum fr_status find_most(struct fr__repro *b, const struct capacity *c, uint32_t *most,
                                struct fr_error *err)
{
    uint32_t low = c->n_gpus > 1 ? 1 : 0, high = MOST_LAYERS;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        bool is_fine;

        FR_TRY(fits(b, c, middle, &is_fine, err));
        if (is_fine)
            low = middle;
        else
            high = middle;
    }
    *most = low;
    return FR_OK;
}

static const struct fr_repro_column capacity_columns[] = {
    {"accelerators", "accelerators", FR_UNIT_TEXT}, {"paper_layers", "paper", FR_UNIT_COUNT},
    {"paper_params", "parameters", FR_UNIT_TEXT},   {"ours_layers", "ours", FR_UNIT_COUNT},
    {"ours_params", "parameters", FR_UNIT_TEXT},    {"difference", "difference", FR_UNIT_FRACTION},
};

static const char *billions(struct fr__repro *b, double params)
{
    char text[40];

    snprintf(text, sizeof(text), "%.3g B", params / 1e9);
    return fr__repro_text(b, text);
}

static enum fr_status capacity(struct fr__repro *b, struct fr_error *err)
{
    double first = NAN, last = NAN;

    FR_TRY(fr__repro_begin(b, "capacity", "The largest Transformer that fits (Table 1)",
                           "298 times the parameters on 128 accelerators of what one holds without "
                           "GPipe",
                           capacity_columns, sizeof(capacity_columns) / sizeof(capacity_columns[0]),
                           err));
    for (size_t i = 0; i < N_CAPACITIES; i++) {
        const struct capacity *c = &capacities[i];
        uint32_t most = 0, layers;
        const char *theirs, *ours;

        FR_TRY(find_most(b, c, &most, err));
        layers = layers_of(c, most);
        theirs = billions(b, c->billions * 1e9);
        ours = billions(b, params_of(layers));
        if (!theirs || !ours)
            return fr__fail_nomem(err);
        last = params_of(layers);
        first = i == 0 ? last : first;
        FR_TRY(fr__repro_row(b,
                             (struct fr_repro_cell[]){word(c->name), number(c->layers),
                                                      word(theirs), number(layers), word(ours),
                                                      number(last / (c->billions * 1e9) - 1)},
                             err));
    }
    return fr__repro_found(b, err,
                           "%.0f times the parameters on 128 GPUs of what one holds without GPipe",
                           last / first);
}

/* ---- Table 2 ---- */

struct speed {
    const char *model;
    uint32_t partitions, n_micros;
    double paper; /* over two partitions with one micro-batch */
};

static const struct speed speeds[] = {
    {"Transformer-48", 2, 1, 1},    {"Transformer-48", 4, 1, 1.07}, {"Transformer-48", 8, 1, 1.3},
    {"Transformer-48", 2, 4, 1.7},  {"Transformer-48", 4, 4, 3.2},  {"Transformer-48", 8, 4, 4.8},
    {"Transformer-48", 2, 32, 1.8}, {"Transformer-48", 4, 32, 3.4}, {"Transformer-48", 8, 32, 6.3},
    {"AmoebaNet-D", 2, 1, 1},       {"AmoebaNet-D", 4, 1, 1.13},    {"AmoebaNet-D", 8, 1, 1.38},
    {"AmoebaNet-D", 2, 4, 1.07},    {"AmoebaNet-D", 4, 4, 1.26},    {"AmoebaNet-D", 8, 4, 1.72},
    {"AmoebaNet-D", 2, 32, 1.21},   {"AmoebaNet-D", 4, 32, 1.84},   {"AmoebaNet-D", 8, 32, 3.48},
};
enum { N_SPEEDS = sizeof(speeds) / sizeof(speeds[0]), TRANSFORMER_LAYERS = 48 };

static enum fr_status simulate(struct fr__repro *b, const struct speed *s, double *time_s,
                               struct fr_error *err)
{
    const struct setting asked = {"dgx-a100-80g", s->partitions, TRANSFORMER_LAYERS,
                                  s->n_micros,    BATCH,         true};
    const struct fr__repro_answer *a;

    FR_TRY(ask(b, &asked, &a, err));
    *time_s = a->oom ? (double)NAN : a->iteration_s;
    return FR_OK;
}

static const struct fr_repro_column speed_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"partitions", "partitions", FR_UNIT_COUNT},
    {"micro_batches", "micro-batches", FR_UNIT_COUNT},
    {"paper", "paper", FR_UNIT_TIMES},
    {"ours", "ours", FR_UNIT_TIMES},
    {"difference", "difference", FR_UNIT_FRACTION},
    {"ideal", "equal stages", FR_UNIT_TIMES},
};

/* K stages of equal cost and no messages, over two stages and one micro-batch. */
static double ideal_of(const struct speed *s)
{
    double m = s->n_micros, k = s->partitions;

    return m * k / (m + k - 1);
}

static enum fr_status throughput(struct fr__repro *b, struct fr_error *err)
{
    double first = NAN, off = 0;
    size_t n = 0;

    FR_TRY(fr__repro_begin(b, "throughput",
                           "Throughput by partitions and micro-batches, over two partitions with "
                           "one micro-batch (Table 2)",
                           "nearly linear with 32 micro-batches for the Transformer, whose layers "
                           "are alike; less for AmoebaNet",
                           speed_columns, sizeof(speed_columns) / sizeof(speed_columns[0]), err));
    for (size_t i = 0; i < N_SPEEDS; i++) {
        const struct speed *s = &speeds[i];
        bool is_ours = strncmp(s->model, "Transformer", 11) == 0;
        double time_s = NAN, ratio;

        if (is_ours)
            FR_TRY(simulate(b, s, &time_s, err));
        first = i == 0 ? time_s : first;
        ratio = first / time_s;
        if (!isnan(ratio) && i > 0) {
            off += fabs(ratio / s->paper - 1);
            n++;
        }
        FR_TRY(fr__repro_row(b,
                             (struct fr_repro_cell[]){
                                 word(s->model), number(s->partitions), number(s->n_micros),
                                 number(s->paper),
                                 is_ours ? (isnan(ratio) ? word("out of memory") : number(ratio))
                                         : word("no such model"),
                                 number(ratio / s->paper - 1), number(ideal_of(s))},
                             err));
    }
    return fr__repro_found(b, err, "%.0f %% off in the mean of %zu cells",
                           n ? 100 * off / (double)n : (double)NAN, n);
}

enum fr_status fr__reproduce_gpipe(struct fr_reproduction **out, const char *data,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__repro *b = fr__repro_new(
        "gpipe",
        "Y. Huang et al., GPipe: Efficient Training of Giant Neural Networks using Pipeline "
        "Parallelism, NeurIPS 2019",
        "GPUs in place of TPUs: V100 of 16 GB for what fits, A100 of 80 GB for throughput; fp32, "
        "momentum, all layers run again, batch 32 of 1024 tokens, calibrated costs",
        ctx);
    enum fr_status st;

    (void)data;
    if (!b)
        return fr__fail_nomem(err);
    st = throughput(b, err);
    if (st == FR_OK)
        st = capacity(b, err);
    return fr__repro_finish(b, st, out);
}
