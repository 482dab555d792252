/* study/question/interference.c - chooses factors of interference, and says what they change.
 *
 * Published runs: compute kernels of GPT and LLaMA training take on average 18.9 % longer while
 * collectives run, at most 40 %, over 4 A100, H100, MI210 or MI250 of one machine each.
 * Source:  Characterizing Compute-Communication Overlap in GPU-Accelerated Distributed Deep
 *          Learning, arXiv 2507.03114, 2025, abstract.
 * Error:   other measurements at hand are 1.00 (two ranks of 128 of a recommender, over a network)
 *          and 1.05 as the median kernel, 1.24 in sum (two A100, 8 channels), 1.8 for products and
 *          attention beside an all-gather (A100, NVIDIA/nccl issue 1428), 1.7 for a product that
 *          fills the multiprocessors exactly (H100, 24 channels, NVIDIA's forum 337991). So a
 *          single kernel may be off by half.
 * Ignores: that the number of channels and what bounds the kernel decide; that compute slows
 *          collectives in turn, and copies, of which nothing is published.
 */
#include "config.h"

#include "study/question/interference.h"

#include "base/error.h"

#include <math.h>

/* Of the published runs: from no slow-down at all (two ranks of a recommender) to the largest of
 * arXiv 2507.03114. */
static const double PUBLISHED_LEAST = 1.0, PUBLISHED_MOST = 1.4;
static const char PUBLISHED[] = "GPUs of published runs";

static void set_beside_collectives(struct fr_interference *store, double factor, const char *source)
{
    for (unsigned a = 0; a < FR_N_WORK_CLASSES; a++)
        for (unsigned b = 0; b < FR_N_WORK_CLASSES; b++)
            store->factor[a][b] = 1;
    store->factor[FR_WORK_COMPUTE][FR_WORK_COLLECTIVE] = factor;
    store->source = source;
}

/* The factors of a device file, and `side` times their standard deviation; at least 1. NULL: it has
 * none. */
static const struct fr_interference *measured(const struct fr_cost_model *costs, int side,
                                              struct fr_interference *store)
{
    static const enum fr_beside class_of[FR_N_WORK_CLASSES] = {
        [FR_WORK_COMPUTE] = FR_BESIDE_COMPUTE,
        [FR_WORK_COPY] = FR_BESIDE_COPY,
        [FR_WORK_COLLECTIVE] = FR_BESIDE_COLLECTIVE};
    const struct fr_slowdowns *s = fr_cost_slowdowns(costs, &store->source);

    if (!s)
        return NULL;
    for (unsigned a = 0; a < FR_N_WORK_CLASSES; a++)
        for (unsigned b = 0; b < FR_N_WORK_CLASSES; b++)
            store->factor[a][b] = fmax(1, s->of[class_of[a]][class_of[b]].factor +
                                              side * s->of[class_of[a]][class_of[b]].error);
    return store;
}

const struct fr_interference *fr__interference_of(const struct fr_cost_model *costs,
                                                  const struct fr_question *q,
                                                  struct fr_interference *store)
{
    if (q->beside_collectives <= 0 && measured(costs, 0, store))
        return store;
    if (q->beside_collectives < 0) {
        set_beside_collectives(store, -q->beside_collectives, PUBLISHED);
        return store;
    }
    if (q->beside_collectives <= 1)
        return NULL;
    set_beside_collectives(store, q->beside_collectives,
                           q->beside_collectives == FR_PUBLISHED_INTERFERENCE
                               ? PUBLISHED
                               : "a GPU with the factor given");
    return store;
}

/* The factors at one end of what is known of them; side -1: the lower, 1: the higher. false: they
 * were given by hand, so nothing is. */
static bool set_end(const struct fr__making *m, int side, struct fr_interference *store)
{
    if (m->options.interference->source == PUBLISHED)
        set_beside_collectives(store, side < 0 ? PUBLISHED_LEAST : PUBLISHED_MOST, PUBLISHED);
    else if (m->question->beside_collectives > 0)
        return false;
    else
        measured(m->setting->costs, side, store);
    return true;
}

/* What the iteration takes with these factors; NULL: none. */
static enum fr_status time_with(const struct fr__making *m, const struct fr_interference *factors,
                                double *iteration_s, struct fr_error *err)
{
    struct fr_run_options o = m->options;
    struct fr_run *run;

    o.want = 0; /* the time alone */
    o.interference = factors;
    FR_TRY(fr_simulation_run(m->simulation, m->plan, &o, &run, err));
    *iteration_s = run->iteration_s;
    fr_run_free(run);
    return FR_OK;
}

enum fr_status fr__fill_interference(struct fr_record *r, struct fr__arena *arena,
                                     const struct fr__making *m, struct fr_error *err)
{
    double without_s, end_s[2] = {m->run->iteration_s, m->run->iteration_s};
    struct fr_interference end;

    if (!m->options.interference)
        return FR_OK;
    r->interference = fr__arena_strdup(arena, m->options.interference->source);
    if (!r->interference)
        return fr__fail_nomem(err);
    if (m->question->is_brief)
        return FR_OK;
    FR_TRY(time_with(m, NULL, &without_s, err));
    for (int i = 0; i < 2; i++)
        if (set_end(m, i == 0 ? -1 : 1, &end))
            FR_TRY(time_with(m, &end, &end_s[i], err));
    r->interference_s = m->run->iteration_s - without_s;
    r->interference_low_s = end_s[0] - without_s;
    r->interference_high_s = end_s[1] - without_s;
    return FR_OK;
}
