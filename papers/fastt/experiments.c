/* papers/fastt/experiments.c - the experiments of FastT (Middleware 2020).
 *
 * Of the paper's own tables we know only what its text says. No number of a cell is invented: if a
 * figure is missing, the column is empty. The paper does not state batches and inputs for each
 * model either; those of parts.c are ours.
 *
 * The baseline is data parallelism as in TensorFlow's slim: replicas in one graph, variables on the
 * CPU (slim's default) or on the first GPU, gradients summed there, parameters pulled when a step
 * begins. Which of the ways of running it the paper compares with is not known: the table of
 * baselines shows the band. FastT goes by the paper's rule; scaling.c says what it ends with. The
 * best plan by rules of ours, which is compared with no other strategy's, has a column of its own
 * where scaling is strong.
 */
#include "config.h"

#include "papers/fastt/parts.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPLIT FR__FASTT_SPLIT
#define DPOS FR__FASTT_DPOS

/* ---- memory ---- */

static const struct fr_repro_column memory_columns[] = {
    {"batch", "batch", FR_UNIT_COUNT},
    {"single", "one GPU", FR_UNIT_BYTES},
    {"dp", "ring, 2 GPUs", FR_UNIT_BYTES},
    {"slim", "slim, 2 GPUs", FR_UNIT_BYTES},
    {"fastt", "FastT, 2 GPUs", FR_UNIT_BYTES},
    {"published_single", "paper: one", FR_UNIT_TEXT},
    {"published_dp", "data parallel", FR_UNIT_TEXT},
    {"published_fastt", "FastT", FR_UNIT_TEXT},
};

static struct fr_repro_cell bytes_of(const struct fr__repro_answer *a)
{
    return a->oom ? fr__fastt_word("out of memory") : fr__fastt_number((double)a->peak_bytes);
}

static struct fr_repro_cell fits(uint32_t batch, uint32_t most)
{
    return fr__fastt_word(batch <= most ? "fits" : "out of memory");
}

enum { N_BATCHES = 7, BATCH_STEP = 16 };

/* Where each strategy runs out of memory, as TensorFlow 1 takes it. */
static enum fr_status memory(struct fr__repro *b, struct fr_error *err)
{
    static const char *const strategies[] = {"single", "dp", FR__FASTT_SLIM_GPU0, SPLIT};
    static const struct fr__fastt_place one = {"1", FR__FASTT_SERVER, 1, false};
    uint32_t most[4] = {0};

    FR_TRY(fr__repro_begin(
        b, "memory",
        "Larger batches (Table 3): BERT-large at sequence 64 in steps of 16, memory by TensorFlow "
        "1's rules (--memory tf1), peak of the fullest GPU",
        "one 16 GB GPU up to batch 16, data parallelism on two up to 32, FastT on "
        "two up to 48",
        memory_columns, sizeof(memory_columns) / sizeof(memory_columns[0]), err));
    for (uint32_t batch = BATCH_STEP; batch <= N_BATCHES * BATCH_STEP; batch += BATCH_STEP) {
        struct fr_question q = fr__fastt_question(&fr__fastt_models[6], &one, false);
        const struct fr__repro_answer *a[4];

        q.global_batch = batch;
        q.run.memory = FR_MEMORY_TF1;
        for (size_t k = 0; k < 4; k++) {
            q.n_gpus = k == 0 ? 1 : 2;
            FR_TRY(fr__fastt_ask(b, q, strategies[k], &a[k], err));
            if (!a[k]->oom)
                most[k] = batch;
        }
        FR_TRY(fr__repro_row(b,
                             (struct fr_repro_cell[]){fr__fastt_number(batch), bytes_of(a[0]),
                                                      bytes_of(a[1]), bytes_of(a[2]),
                                                      bytes_of(a[3]), fits(batch, 16),
                                                      fits(batch, 32), fits(batch, 48)},
                             err));
    }
    return fr__repro_found(b, err,
                           "one GPU up to batch %u, data parallelism %u (a ring) or %u (variables "
                           "on GPU 0), FastT %u",
                           most[0], most[1], most[2], most[3]);
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
    double best = -1;
    const char *best_model = "";

    FR_TRY(
        fr__repro_begin(b, "order",
                        "Order enforcement (Figure 2): OS-DPOS's placement on 2 GPUs, first come "
                        "first served and by the execution list",
                        "cuts iteration times by up to 26.9 %", order_columns,
                        sizeof(order_columns) / sizeof(order_columns[0]), err));
    fr__repro_draws_over(b, "fifo_s");
    for (size_t m = 0; m < FR__FASTT_N_MODELS; m++) {
        struct fr_question q =
            fr__fastt_question(&fr__fastt_models[m], &fr__fastt_strong[0], false);
        const struct fr__repro_answer *a[3];
        double cut;

        for (size_t k = 0; k < 3; k++) {
            q.run.order = orders[k];
            FR_TRY(fr__fastt_ask(b, q, SPLIT, &a[k], err));
        }
        cut = 1 - a[1]->iteration_s / a[0]->iteration_s;
        if (cut > best) {
            best = cut;
            best_model = fr__fastt_models[m].name;
        }
        FR_TRY(fr__repro_row(b,
                             (struct fr_repro_cell[]){fr__fastt_word(fr__fastt_models[m].name),
                                                      fr__fastt_time(a[0]), fr__fastt_time(a[1]),
                                                      fr__fastt_time(a[2]), fr__fastt_number(cut)},
                             err));
    }
    return fr__repro_found(b, err, "up to %.1f %%, %s", 100 * best, best_model);
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
    for (size_t m = 0; m < FR__FASTT_N_MODELS; m++) {
        const struct fr__repro_answer *a;

        FR_TRY(fr__fastt_ask(b,
                             fr__fastt_question(&fr__fastt_models[m], &fr__fastt_strong[2], false),
                             SPLIT, &a, err));
        most_s = fmax(most_s, a->plan_cpu_s);
        FR_TRY(fr__repro_row(
            b,
            (struct fr_repro_cell[]){
                fr__fastt_word(fr__fastt_models[m].name), fr__fastt_number((double)a->n_ops),
                fr__fastt_number(a->plan_cpu_s),
                fr__fastt_word(fr__fastt_models[m].workload[0] == 't' ? "over 1 h" : "minutes")},
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
    for (size_t m = 0; m < FR__FASTT_N_MODELS; m++) {
        const struct fr__repro_answer *a;
        double n[4] = {0}, most = 0;

        FR_TRY(fr__fastt_ask(b,
                             fr__fastt_question(&fr__fastt_models[m], &fr__fastt_strong[1], false),
                             SPLIT, &a, err));
        for (size_t d = 0; d < 4; d++) {
            n[d] = a->ops_on ? (double)a->ops_on[d] : (double)NAN;
            most = fmax(most, n[d]);
        }
        FR_TRY(fr__repro_row(
            b,
            (struct fr_repro_cell[]){fr__fastt_word(fr__fastt_models[m].name),
                                     fr__fastt_number(n[0]), fr__fastt_number(n[1]),
                                     fr__fastt_number(n[2]), fr__fastt_number(n[3]),
                                     fr__fastt_number(most / ((double)a->n_ops / 4) - 1)},
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
    for (size_t m = 0; m < FR__FASTT_N_MODELS; m++) {
        bool is_split = false, is_meant = strcmp(fr__fastt_models[m].published_splits, "none") != 0;

        for (size_t p = 0; p < 3; p++) {
            const struct fr__repro_answer *on, *off;

            FR_TRY(fr__fastt_ask(
                b, fr__fastt_question(&fr__fastt_models[m], &fr__fastt_strong[p], false), SPLIT,
                &on, err));
            FR_TRY(fr__fastt_ask(
                b, fr__fastt_question(&fr__fastt_models[m], &fr__fastt_strong[p], false), DPOS,
                &off, err));
            is_split |= strstr(on->split_kinds, fr__fastt_models[m].published_splits) ||
                        (!is_meant && on->n_splits);
            FR_TRY(fr__repro_row(
                b,
                (struct fr_repro_cell[]){
                    fr__fastt_word(fr__fastt_models[m].name),
                    fr__fastt_word(fr__fastt_strong[p].title),
                    fr__fastt_number((double)on->n_splits), fr__fastt_word(on->split_kinds),
                    fr__fastt_word(fr__fastt_models[m].published_splits),
                    fr__fastt_word(on->most_split), fr__fastt_number(off->planned_s),
                    fr__fastt_number(on->planned_s), fr__fastt_time(off), fr__fastt_time(on)},
                err));
        }
        n_agree += is_split == is_meant;
    }
    return fr__repro_found(b, err,
                           "%zu of %d models agree with the paper on whether and what is split",
                           n_agree, (int)FR__FASTT_N_MODELS);
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

    FR_TRY(fr__repro_begin(
        b, "breakdown",
        "Where the time goes on 2 GPUs (Figure 5): slim's faster way, and OS-DPOS's plan "
        "by known costs, whether or not FastT rolls back",
        "computation up, copies down, iterations down", breakdown_columns,
        sizeof(breakdown_columns) / sizeof(breakdown_columns[0]), err));
    fr__repro_draws_over(b, "dp_s");
    for (size_t m = 0; m < FR__FASTT_N_MODELS; m++) {
        const struct fr_question q =
            fr__fastt_question(&fr__fastt_models[m], &fr__fastt_strong[0], false);
        const struct fr__repro_answer *slim[2], *dp, *fastt;

        FR_TRY(fr__fastt_ask_slim(b, q, slim, err));
        FR_TRY(fr__fastt_ask(b, q, SPLIT, &fastt, err));
        dp = fr__fastt_faster(slim[0], slim[1]);
        n[0] += fastt->compute_s > dp->compute_s;
        n[1] += fastt->comm_s < dp->comm_s;
        n[2] += fastt->iteration_s < dp->iteration_s;
        FR_TRY(fr__repro_row(
            b,
            (struct fr_repro_cell[]){fr__fastt_word(fr__fastt_models[m].name),
                                     fr__fastt_number(dp->compute_s), fr__fastt_number(dp->comm_s),
                                     fr__fastt_time(dp), fr__fastt_number(fastt->compute_s),
                                     fr__fastt_number(fastt->comm_s), fr__fastt_time(fastt)},
            err));
    }
    return fr__repro_found(
        b, err,
        "computation up in %zu of %d models, communication down in %zu, iterations "
        "down in %zu",
        n[0], (int)FR__FASTT_N_MODELS, n[1], n[2]);
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
        ctx);
    enum fr_status st;

    (void)data;
    if (!b)
        return fr__fail_nomem(err);
    fr__repro_expect(b, 4 * 2 * FR__FASTT_N_MODELS + 3 * FR__FASTT_N_MODELS + N_BATCHES +
                            7 * FR__FASTT_N_MODELS);
    st = fr__fastt_scaling(b, false, err);
    if (st == FR_OK)
        st = fr__fastt_scaling(b, true, err);
    if (st == FR_OK)
        st = fr__fastt_baselines(b, err);
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
