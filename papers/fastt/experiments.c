/* papers/fastt/experiments.c - the experiments of FastT (Middleware 2020).
 *
 * Of the paper's own tables we know only what its text says. No number of a cell is invented: if a
 * figure is missing, the column is empty. The paper does not state batches and inputs for each
 * model either; those below are ours.
 *
 * The baseline is data parallelism as in TensorFlow's slim: replicas in one graph, variables on the
 * CPU (slim's default) or on the first GPU, gradients summed there. FastT is what its pre-training
 * ends with when costs are known: the fastest of OS-DPOS's plan, replicas with the variables spread
 * over them, and the baseline that it starts from (roll-back). So it is never slower than the
 * baseline. All of these go by the paper's rule. The best plan by rules of ours, which is compared
 * with no other strategy's, has a column of its own where scaling is strong.
 */
#include "config.h"

#include "papers/build.h"

#include "base/arena.h"
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ONE_SERVER "dgx1-v100"
#define TWO_SERVERS "2x dgx1-v100 via ib:100Gbps"
#define SLIM_CPU "dp:sync=ps-cpu"
#define SLIM_GPU0 "dp:sync=ps-gpu0"
#define SPLIT "os-dpos:referee=belief,replicas=ignore"
#define ALONE "os-dpos:referee=belief,replicas=only"
#define DPOS "dpos:referee=belief"
#define OWN "os-dpos:plain=ignore"

struct model {
    const char *name, *workload;
    uint32_t batch, batch_per_gpu, seq_len; /* strong, weak scaling */
    enum fr_optimizer optimizer;
    const char *published_splits; /* Table 6 */
};

static const struct model models[] = {
    {"AlexNet", "alexnet", 256, 64, 0, FR_SGD, "none"},
    {"VGG-19", "vgg19", 64, 16, 0, FR_SGD, "conv2d"},
    {"LeNet", "lenet", 256, 64, 0, FR_SGD, "none"},
    {"ResNet-200", "resnet200", 32, 8, 0, FR_SGD, "conv2d"},
    {"Inception-v3", "inception-v3", 64, 16, 0, FR_SGD, "conv2d"},
    {"Transformer", "transformer-big", 64, 16, 0, FR_ADAM, "matmul"},
    {"BERT-large", "bert-large", 16, 8, 64, FR_ADAM, "matmul"},
    {"GNMT", "gnmt-8", 128, 32, 0, FR_ADAM, "none"},
    {"RNNLM", "rnnlm", 64, 16, 0, FR_SGD, "none"},
};
enum { N_MODELS = sizeof(models) / sizeof(models[0]) };
enum { N_QUESTIONS = 468 }; /* that differ, of all experiments together */

struct place {
    const char *title, *topology;
    size_t n_gpus;
    bool is_spread;
};

static const struct place strong[] = {{"2", ONE_SERVER, 2, false},
                                      {"4", ONE_SERVER, 4, false},
                                      {"8", ONE_SERVER, 8, false},
                                      {"2x4", TWO_SERVERS, 8, true}};
static const struct place weak[] = {{"2", ONE_SERVER, 2, false},
                                    {"4", ONE_SERVER, 4, false},
                                    {"8", ONE_SERVER, 8, false},
                                    {"2x8", TWO_SERVERS, 16, false}};

static struct fr_question question(const struct model *m, const struct place *p, bool is_weak)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = m->workload;
    q.topology = p->topology;
    q.n_gpus = p->n_gpus;
    q.is_spread = p->is_spread;
    q.seq_len = m->seq_len;
    q.optimizer = m->optimizer;
    if (is_weak)
        q.batch_per_gpu = m->batch_per_gpu;
    else
        q.global_batch = m->batch;
    return q;
}

static enum fr_status ask(struct fr__repro *b, struct fr_question q, const char *strategy,
                          const struct fr__repro_answer **out, struct fr_error *err)
{
    q.strategy = strategy;
    return fr__repro_ask(b, &q, out, err);
}

/* NaN is slower than anything. */
static const struct fr__repro_answer *faster(const struct fr__repro_answer *a,
                                             const struct fr__repro_answer *b)
{
    return isnan(a->iteration_s) || b->iteration_s < a->iteration_s ? b : a;
}

static enum fr_status ask_slim(struct fr__repro *b, struct fr_question q,
                               const struct fr__repro_answer *out[2], struct fr_error *err)
{
    FR_TRY(ask(b, q, SLIM_CPU, &out[0], err));
    return ask(b, q, SLIM_GPU0, &out[1], err);
}

static enum fr_status ask_fastt(struct fr__repro *b, struct fr_question q,
                                const struct fr__repro_answer **out, struct fr_error *err)
{
    const struct fr__repro_answer *split, *alone, *slim[2];

    FR_TRY(ask_slim(b, q, slim, err));
    FR_TRY(ask(b, q, SPLIT, &split, err));
    FR_TRY(ask(b, q, ALONE, &alone, err));
    *out = faster(faster(split, alone), faster(slim[0], slim[1]));
    return FR_OK;
}

static struct fr_repro_cell number(double value)
{
    return (struct fr_repro_cell){.value = value};
}

static struct fr_repro_cell word(const char *text)
{
    return (struct fr_repro_cell){.text = text, .value = NAN};
}

static struct fr_repro_cell time_of(const struct fr__repro_answer *a)
{
    return a->oom ? word("out of memory") : number(a->iteration_s);
}

static const char *kept_word(const struct fr__repro_answer *a)
{
    return a->oom              ? ""
           : a->n_ops == 0     ? "slim"
           : a->keeps_replicas ? "replicas"
           : a->n_splits > 0   ? "placed, split"
                               : "placed";
}

/* ---- strong and weak scaling ---- */

static const struct fr_repro_column scaling_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"gpus", "GPUs", FR_UNIT_TEXT},
    {"slim_cpu_s", "slim, CPU", FR_UNIT_SECONDS},
    {"slim_gpu0_s", "slim, GPU 0", FR_UNIT_SECONDS},
    {"ring_s", "ring", FR_UNIT_SECONDS},
    {"fastt_s", "FastT", FR_UNIT_SECONDS},
    {"kept", "which is", FR_UNIT_TEXT},
    {"gain", "gain", FR_UNIT_FRACTION},
    {"gain_cpu", "over CPU", FR_UNIT_FRACTION},
    {"published", "paper", FR_UNIT_FRACTION},
    {"difference", "difference", FR_UNIT_FRACTION},
    {"own_s", "own rules", FR_UNIT_SECONDS},
    {"own_rule", "by", FR_UNIT_TEXT},
};

struct best {
    double gain;
    const char *model, *gpus;
    size_t n_rows, n_planned, n_own_first; /* rows; FastT is a plan; our rules are the fastest */
};

/* Speed over that of the faster of slim's two ways. */
static enum fr_status add_scaling_row(struct fr__repro *b, const struct model *m,
                                      const struct place *p, bool is_weak, double published,
                                      struct best *best, struct fr_error *err)
{
    const struct fr_question q = question(m, p, is_weak);
    const struct fr__repro_answer *slim[2], *ring, *fastt, *own = NULL;
    double gain, gain_cpu;

    FR_TRY(ask_slim(b, q, slim, err));
    FR_TRY(ask(b, q, "dp", &ring, err));
    FR_TRY(ask_fastt(b, q, &fastt, err));
    if (!is_weak) /* 16 replicas of GNMT take too long */
        FR_TRY(ask(b, q, OWN, &own, err));
    best->n_rows++;
    best->n_planned += fastt->n_ops > 0;
    best->n_own_first += own && faster(faster(fastt, ring), own) == own;
    gain = faster(slim[0], slim[1])->iteration_s / fastt->iteration_s - 1;
    gain_cpu = slim[0]->iteration_s / fastt->iteration_s - 1;
    if (gain > best->gain) {
        best->gain = gain;
        best->model = m->name;
        best->gpus = p->title;
    }
    return fr__repro_row(b,
                         (struct fr_repro_cell[]){
                             word(m->name), word(p->title), time_of(slim[0]), time_of(slim[1]),
                             time_of(ring), time_of(fastt), word(kept_word(fastt)), number(gain),
                             number(gain_cpu), number(published), number(gain - published),
                             own ? time_of(own) : word(""), word(own ? own->own_rule : "")},
                         err);
}

static enum fr_status scaling(struct fr__repro *b, bool is_weak, struct fr_error *err)
{
    const struct place *places = is_weak ? weak : strong;
    struct best best = {.gain = -1, .model = "", .gpus = ""};
    char own[80] = "";

    FR_TRY(fr__repro_begin(
        b, is_weak ? "weak" : "strong",
        is_weak ? "Weak scaling (Table 2): time of an iteration, the same batch on each GPU"
                : "Strong scaling (Table 1): time of an iteration, the same batch over all GPUs",
        is_weak
            ? "up to 19.2 % faster than data parallelism (VGG, 16 GPUs of two servers); less than "
              "under strong scaling everywhere"
            : "up to 59.4 % (introduction, 6.3; 63.6 % in the conclusion) faster than data "
              "parallelism: VGG, 4 GPUs; at 8 GPUs both may get slower",
        scaling_columns, sizeof(scaling_columns) / sizeof(scaling_columns[0]), err));
    for (size_t m = 0; m < N_MODELS; m++)
        for (size_t p = 0; p < 4; p++) {
            bool is_vgg = strcmp(models[m].name, "VGG-19") == 0;
            double published = is_vgg && is_weak && p == 3    ? 0.192
                               : is_vgg && !is_weak && p == 1 ? 0.594
                                                              : (double)NAN;

            FR_TRY(add_scaling_row(b, &models[m], &places[p], is_weak, published, &best, err));
        }
    if (!is_weak)
        snprintf(own, sizeof(own), "; our own rules are faster than all of them in %zu",
                 best.n_own_first);
    return fr__repro_found(
        b, err,
        "at best %.1f %% over the faster of slim's two ways: %s on %s GPUs; FastT "
        "is a plan of its own in %zu of %zu rows, and slim, rolled back to, in the "
        "others%s",
        100 * best.gain, best.model, best.gpus, best.n_planned, best.n_rows, own);
}

/* ---- memory ---- */

static const struct fr_repro_column memory_columns[] = {
    {"batch", "batch", FR_UNIT_COUNT},
    {"single", "one GPU", FR_UNIT_BYTES},
    {"dp", "data parallel, 2 GPUs", FR_UNIT_BYTES},
    {"fastt", "FastT, 2 GPUs", FR_UNIT_BYTES},
    {"published_single", "paper: one", FR_UNIT_TEXT},
    {"published_dp", "data parallel", FR_UNIT_TEXT},
    {"published_fastt", "FastT", FR_UNIT_TEXT},
};

static struct fr_repro_cell bytes_of(const struct fr__repro_answer *a)
{
    return a->oom ? word("out of memory") : number((double)a->peak_bytes);
}

static const char *fits(uint32_t batch, uint32_t most)
{
    return batch <= most ? "fits" : "out of memory";
}

/* Where each strategy runs out of memory: batches double until all have. */
static enum fr_status memory(struct fr__repro *b, struct fr_error *err)
{
    static const uint32_t batches[] = {16, 32, 48, 64, 96, 128, 160, 192, 224, 256};
    static const struct place one = {"1", ONE_SERVER, 1, false};
    uint32_t most[3] = {0};

    FR_TRY(fr__repro_begin(
        b, "memory", "Larger batches (Table 3): BERT-large at sequence 64, peak of the fullest GPU",
        "one 16 GB GPU up to batch 16, data parallelism on two up to 32, FastT on "
        "two up to 48",
        memory_columns, sizeof(memory_columns) / sizeof(memory_columns[0]), err));
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        struct fr_question q = question(&models[6], &one, false);
        const struct fr__repro_answer *a[3];

        q.global_batch = batches[i];
        FR_TRY(ask(b, q, "single", &a[0], err));
        q.n_gpus = 2;
        FR_TRY(ask(b, q, SLIM_GPU0, &a[1], err));
        FR_TRY(ask(b, q, "os-dpos:referee=belief", &a[2], err));
        for (size_t k = 0; k < 3; k++)
            if (!a[k]->oom)
                most[k] = batches[i];
        FR_TRY(fr__repro_row(
            b,
            (struct fr_repro_cell[]){number(batches[i]), bytes_of(a[0]), bytes_of(a[1]),
                                     bytes_of(a[2]), word(fits(batches[i], 16)),
                                     word(fits(batches[i], 32)), word(fits(batches[i], 48))},
            err));
    }
    return fr__repro_found(
        b, err,
        "one GPU up to batch %u, data parallelism %u, FastT %u; theirs stops at a "
        "sixth, a sixth and a third of that, and FastT, which holds memory back for copies, gives "
        "up "
        "before data parallelism here",
        most[0], most[1], most[2]);
}

/* ---- order ---- */

static const struct fr_repro_column order_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"fifo_s", "fifo", FR_UNIT_SECONDS},
    {"priority_s", "priority", FR_UNIT_SECONDS},
    {"strict_s", "strict", FR_UNIT_SECONDS},
    {"cut", "time cut", FR_UNIT_FRACTION},
};

static enum fr_status order(struct fr__repro *b, struct fr_error *err)
{
    static const enum fr_order orders[] = {FR_ORDER_FIFO, FR_ORDER_PRIORITY, FR_ORDER_STRICT};
    struct best best = {.gain = -1, .model = "", .gpus = ""};

    FR_TRY(
        fr__repro_begin(b, "order",
                        "Order enforcement (Figure 2): OS-DPOS's placement on 2 GPUs, first come "
                        "first served and by the execution list",
                        "cuts iteration times by up to 26.9 %", order_columns,
                        sizeof(order_columns) / sizeof(order_columns[0]), err));
    fr__repro_draws_over(b, "fifo_s");
    for (size_t m = 0; m < N_MODELS; m++) {
        struct fr_question q = question(&models[m], &strong[0], false);
        const struct fr__repro_answer *a[3];
        double cut;

        for (size_t k = 0; k < 3; k++) {
            q.run.order = orders[k];
            FR_TRY(ask(b, q, SPLIT, &a[k], err));
        }
        cut = 1 - a[1]->iteration_s / a[0]->iteration_s;
        if (cut > best.gain)
            best = (struct best){.gain = cut, .model = models[m].name, .gpus = ""};
        FR_TRY(fr__repro_row(b,
                             (struct fr_repro_cell[]){word(models[m].name), time_of(a[0]),
                                                      time_of(a[1]), time_of(a[2]), number(cut)},
                             err));
    }
    return fr__repro_found(b, err, "up to %.1f %%, %s", 100 * best.gain, best.model);
}

/* ---- strategy time, operations per GPU, splits ---- */

static const struct fr_repro_column planning_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"ops", "operations", FR_UNIT_COUNT},
    {"cpu_s", "planned in", FR_UNIT_SECONDS},
    {"published", "paper", FR_UNIT_TEXT},
};

static enum fr_status planning(struct fr__repro *b, struct fr_error *err)
{
    double most_s = 0;

    FR_TRY(fr__repro_begin(
        b, "planning", "Time to compute the strategy (Table 4): OS-DPOS for 8 GPUs, one core",
        "minutes for most models, over an hour for Transformer", planning_columns,
        sizeof(planning_columns) / sizeof(planning_columns[0]), err));
    for (size_t m = 0; m < N_MODELS; m++) {
        const struct fr__repro_answer *a;

        FR_TRY(ask(b, question(&models[m], &strong[2], false), SPLIT, &a, err));
        most_s = fmax(most_s, a->plan_cpu_s);
        FR_TRY(fr__repro_row(
            b,
            (struct fr_repro_cell[]){word(models[m].name), number((double)a->n_ops),
                                     number(a->plan_cpu_s),
                                     word(models[m].workload[0] == 't' ? "over 1 h" : "minutes")},
            err));
    }
    return fr__repro_found(b, err, "at most %.2f s: schedules are evaluated by a planner of %s",
                           most_s,
                           "a million operations a second, and given up once they cannot win");
}

static const struct fr_repro_column spread_columns[] = {
    {"model", "model", FR_UNIT_TEXT}, {"gpu0", "GPU 0", FR_UNIT_COUNT},
    {"gpu1", "GPU 1", FR_UNIT_COUNT}, {"gpu2", "GPU 2", FR_UNIT_COUNT},
    {"gpu3", "GPU 3", FR_UNIT_COUNT}, {"most_over_mean", "most over mean", FR_UNIT_FRACTION},
};

static enum fr_status spread(struct fr__repro *b, struct fr_error *err)
{
    FR_TRY(fr__repro_begin(b, "spread", "Operations per GPU (Figure 4): OS-DPOS on 4 GPUs",
                           "one GPU holds many more operations, the others about as many each",
                           spread_columns, sizeof(spread_columns) / sizeof(spread_columns[0]),
                           err));
    fr__repro_draws_over(b, "gpu0");
    for (size_t m = 0; m < N_MODELS; m++) {
        const struct fr__repro_answer *a;
        double n[4] = {0}, most = 0;

        FR_TRY(ask(b, question(&models[m], &strong[1], false), SPLIT, &a, err));
        for (size_t d = 0; d < 4; d++) {
            n[d] = a->ops_on ? (double)a->ops_on[d] : (double)NAN;
            most = fmax(most, n[d]);
        }
        FR_TRY(fr__repro_row(b,
                             (struct fr_repro_cell[]){word(models[m].name), number(n[0]),
                                                      number(n[1]), number(n[2]), number(n[3]),
                                                      number(most / ((double)a->n_ops / 4) - 1)},
                             err));
    }
    return FR_OK;
}

static const struct fr_repro_column split_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"gpus", "GPUs", FR_UNIT_TEXT},
    {"n_splits", "splits", FR_UNIT_COUNT},
    {"kinds", "of", FR_UNIT_TEXT},
    {"published", "paper", FR_UNIT_TEXT},
    {"first", "the first", FR_UNIT_TEXT},
    {"off_s", "off, planned", FR_UNIT_SECONDS},
    {"on_s", "on, planned", FR_UNIT_SECONDS},
    {"off_made_s", "off, made", FR_UNIT_SECONDS},
    {"on_made_s", "on, made", FR_UNIT_SECONDS},
};

static enum fr_status splits(struct fr__repro *b, struct fr_error *err)
{
    size_t n_agree = 0;

    FR_TRY(fr__repro_begin(
        b, "splits", "What is split, and splitting on and off (Tables 5 and 6)",
        "Conv2D and its gradients for Inception-v3, VGG-19 and ResNet-200, MatMul for "
        "Transformer and BERT-large, none for LeNet, AlexNet, GNMT and RNNLM; fully "
        "connected layers never",
        split_columns, sizeof(split_columns) / sizeof(split_columns[0]), err));
    for (size_t m = 0; m < N_MODELS; m++) {
        bool is_split = false, is_meant = strcmp(models[m].published_splits, "none") != 0;

        for (size_t p = 0; p < 3; p++) {
            const struct fr__repro_answer *on, *off;

            FR_TRY(ask(b, question(&models[m], &strong[p], false), SPLIT, &on, err));
            FR_TRY(ask(b, question(&models[m], &strong[p], false), DPOS, &off, err));
            is_split |=
                strstr(on->split_kinds, models[m].published_splits) || (!is_meant && on->n_splits);
            FR_TRY(fr__repro_row(
                b,
                (struct fr_repro_cell[]){
                    word(models[m].name), word(strong[p].title), number((double)on->n_splits),
                    word(on->split_kinds), word(models[m].published_splits), word(on->most_split),
                    number(off->planned_s), number(on->planned_s), time_of(off), time_of(on)},
                err));
        }
        n_agree += is_split == is_meant;
    }
    return fr__repro_found(b, err,
                           "%zu of %d models agree with the paper on whether and what is split",
                           n_agree, (int)N_MODELS);
}

/* ---- breakdown ---- */

static const struct fr_repro_column breakdown_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"dp_compute_s", "slim: compute", FR_UNIT_SECONDS},
    {"dp_comm_s", "slim: moving", FR_UNIT_SECONDS},
    {"dp_s", "slim: iteration", FR_UNIT_SECONDS},
    {"fastt_compute_s", "FastT: compute", FR_UNIT_SECONDS},
    {"fastt_comm_s", "FastT: moving", FR_UNIT_SECONDS},
    {"fastt_s", "FastT: iteration", FR_UNIT_SECONDS},
};

static enum fr_status breakdown(struct fr__repro *b, struct fr_error *err)
{
    size_t n[3] = {0};

    FR_TRY(fr__repro_begin(b, "breakdown",
                           "Where the time goes on 2 GPUs (Figure 5): slim's faster way and FastT",
                           "computation up, copies down, iterations down", breakdown_columns,
                           sizeof(breakdown_columns) / sizeof(breakdown_columns[0]), err));
    fr__repro_draws_over(b, "dp_s");
    for (size_t m = 0; m < N_MODELS; m++) {
        const struct fr_question q = question(&models[m], &strong[0], false);
        const struct fr__repro_answer *slim[2], *dp, *fastt;

        FR_TRY(ask_slim(b, q, slim, err));
        FR_TRY(ask_fastt(b, q, &fastt, err));
        dp = faster(slim[0], slim[1]);
        n[0] += fastt->compute_s > dp->compute_s;
        n[1] += fastt->comm_s < dp->comm_s;
        n[2] += fastt->iteration_s < dp->iteration_s;
        FR_TRY(fr__repro_row(b,
                             (struct fr_repro_cell[]){word(models[m].name), number(dp->compute_s),
                                                      number(dp->comm_s), time_of(dp),
                                                      number(fastt->compute_s),
                                                      number(fastt->comm_s), time_of(fastt)},
                             err));
    }
    return fr__repro_found(
        b, err,
        "computation up in %zu of %d models, communication down in %zu, iterations "
        "down in %zu",
        n[0], (int)N_MODELS, n[1], n[2]);
}

enum fr_status fr__reproduce_fastt(struct fr_reproduction **out, const char *data,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__repro *b = fr__repro_new(
        "fastt",
        "X. Yi et al., Fast Training of Deep Learning Models over Multiple GPUs, Middleware 2020, "
        "doi 10.1145/3423211.3425675",
        "DGX-1 servers of 8 V100 16 GB, fp32, calibrated costs, shared links; two servers by 100 "
        "Gb/s "
        "(theirs is not stated)",
        N_QUESTIONS, ctx);
    enum fr_status st;

    (void)data;
    if (!b)
        return fr__fail_nomem(err);
    st = scaling(b, false, err);
    if (st == FR_OK)
        st = scaling(b, true, err);
    if (st == FR_OK)
        st = memory(b, err);
    if (st == FR_OK)
        st = order(b, err);
    if (st == FR_OK)
        st = planning(b, err);
    if (st == FR_OK)
        st = spread(b, err);
    if (st == FR_OK)
        st = splits(b, err);
    if (st == FR_OK)
        st = breakdown(b, err);
    return fr__repro_finish(b, st, out);
}
