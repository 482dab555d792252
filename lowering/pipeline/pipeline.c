/* lowering/pipeline/pipeline.c - what the replicas of a pipeline share: stages, and which ops a
 * block has. */
#include "config.h"

#include "lowering/pipeline/pipeline.h"

#include "base/error.h"
#include "lowering/pipeline/moments.h"
#include "lowering/pipeline/sums.h"

#include <math.h>
#include <string.h>

/* ---- the schedule ---- */

enum fr_status fr__schedule_for_pipeline(struct fr_schedule **out,
                                         const struct fr_schedule_spec *spec, struct fr_error *err)
{
    const struct fr_schedule_kind *kind = fr_schedule_kind_find(spec->name);
    struct fr_schedule_spec s = *spec;
    enum fr_status st;

    if (kind && kind->takes_backward)
        s.backward = FR_BACKWARD_DESCENDING;
    st = fr_schedule_get(out, &s, err);
    if (st == FR_ENOENT || st == FR_EPARSE || st == FR_ERANGE) {
        st = FR_EUSAGE;
        if (err)
            err->code = st;
    }
    return st;
}

/* ---- who runs which stage ---- */

/* Two where a stage runs on two ranks. */
static enum fr_status count_copies(struct fr__pipeline *p, const struct fr_schedule *s,
                                   uint32_t rank_of[], struct fr_error *err)
{
    p->n_copies = 1;
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const struct fr_action *a = &s->actions[i];

            if (a->kind == FR_ACTION_F && rank_of[a->stage] != FR_NONE && rank_of[a->stage] != r)
                p->n_copies = 2;
            if (a->kind == FR_ACTION_F)
                rank_of[a->stage] = r;
        }
    if (p->n_copies > 1 && s->n_micros % 2)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "schedule '%s' runs two pipelines, so %u micro-batches cannot be shared "
                        "evenly",
                        s->name, s->n_micros);
    return FR_OK;
}

/* The first half of the micro-batches belongs to the first copy. */
static enum fr_status find_ranks(struct fr__pipeline *p, const struct fr_schedule *s,
                                 struct fr_error *err)
{
    size_t n = (size_t)FR__MOST_COPIES * p->n_stages;
    uint32_t *rank_of = fr__arena_alloc(p->pl->arena, n, sizeof(*rank_of));

    if (!rank_of)
        return fr__fail_nomem(err);
    memset(rank_of, 0xff, n * sizeof(*rank_of));
    FR_TRY(count_copies(p, s, rank_of, err));
    memset(rank_of, 0xff, n * sizeof(*rank_of));
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const struct fr_action *a = &s->actions[i];
            uint32_t copy = p->n_copies > 1 && a->micro >= s->n_micros / 2, *rank;

            if (a->kind != FR_ACTION_F)
                continue;
            rank = &rank_of[copy * p->n_stages + a->stage];
            if (*rank != FR_NONE && *rank != r)
                return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                                "schedule '%s' runs stage %u of some micro-batches on rank %u and "
                                "of others on rank %u",
                                s->name, a->stage, *rank, r);
            *rank = r;
        }
    p->rank_of = rank_of;
    return FR_OK;
}

uint32_t fr__pipeline_micros(const struct fr__pipeline *p, const struct fr_schedule *schedule,
                             uint32_t copy, uint32_t *first)
{
    uint32_t half = schedule->n_micros / p->n_copies;

    *first = copy * half;
    return copy + 1 < p->n_copies ? half : schedule->n_micros - copy * half;
}

/* ---- stages ---- */

/* Of a schedule with two copies of the model: micro-batches whose forward has run and whose
 * gradients are not complete, at most. */
static void count_live(const struct fr_schedule *s, double live[], double most[])
{
    for (size_t i = 0; i < s->n_actions; i++) {
        const struct fr_action *a = &s->actions[i];

        if (a->kind == FR_ACTION_F && ++live[a->stage] > most[a->stage])
            most[a->stage] = live[a->stage];
        else if (a->kind == FR_ACTION_B || a->kind == FR_ACTION_W)
            live[a->stage]--;
        if (a->with == FR_ACTION_B)
            live[a->with_stage]--;
    }
}

/* Of each stage, those that are whole when its rank has most of them together. */
static void read_moments(const struct fr__moments moments[], size_t n_ranks, double most[])
{
    for (size_t r = 0; r < n_ranks; r++) {
        const struct fr__moments *m = &moments[r];
        uint32_t most_sum = 0;

        for (size_t i = 0; i < m->n; i++) {
            const uint32_t *row = m->counts + 2 * i * m->n_stages;
            uint32_t sum = 0;

            for (size_t k = 0; k < m->n_stages; k++)
                sum += row[k];
            for (size_t k = 0; sum > most_sum && k < m->n_stages; k++)
                most[m->stages[k]] = row[k];
            most_sum = sum > most_sum ? sum : most_sum;
        }
    }
}

static enum fr_status find_moments(const struct fr__moments **out, const struct fr__pipeline *p,
                                   const struct fr_schedule *s, double live[], double most[],
                                   struct fr_error *err)
{
    *out = NULL;
    if (p->n_copies > 1) {
        count_live(s, live, most);
        return FR_OK;
    }
    FR_TRY(fr__moments_find(out, s, p->rank_of, p->pl->arena, err));
    read_moments(*out, s->n_ranks, most);
    return FR_OK;
}

/* What the sums of a stage's gradients take: those of the caller's replicas, and those of two
 * copies of a stage. One ring goes over all of them; as two, one after the other, it is not
 * less. */
static enum fr_status find_sums(struct fr__stage_sums *out, const struct fr__pipeline *p,
                                const struct fr__pipeline_problem *in, struct fr_error *err)
{
    struct fr__sums_problem pairs = {
        .n_ranks = in->schedule->n_ranks, .n_replicas = 2, .bucket_bytes = INFINITY};
    struct fr__stage_sums more = in->sums;
    uint32_t *devices;

    *out = in->sums;
    if (p->n_copies < 2)
        return FR_OK;
    devices = fr__arena_alloc(p->pl->arena, 2 * (size_t)pairs.n_ranks, sizeof(*devices));
    if (!devices)
        return fr__fail_nomem(err);
    for (uint32_t k = 0; k < p->n_stages; k++)
        for (uint32_t c = 0; c < 2; c++)
            devices[2 * p->rank_of[k] + c] = in->devices[p->rank_of[c * p->n_stages + k]];
    pairs.devices = devices;
    FR_TRY(fr__pipeline_sums(out, p->pl, &pairs, err));
    if (!more.latency_s)
        return FR_OK;
    return fr__pipeline_sums_add(out, &more, pairs.n_ranks, p->pl->arena, err);
}

static enum fr_status cut(struct fr__pipeline *p, const struct fr__pipeline_problem *in,
                          struct fr_error *err)
{
    const struct fr_schedule *s = in->schedule;
    struct fr__arena *arena = p->pl->arena;
    uint32_t *of_stage = fr__arena_alloc(arena, p->n_stages, sizeof(*of_stage));
    double *live = fr__arena_alloc(arena, p->n_stages, sizeof(*live));
    double *most = fr__arena_alloc(arena, p->n_stages, sizeof(*most));
    const struct fr__moments *moments;
    struct fr__stage_sums sums;

    if (!of_stage || !live || !most)
        return fr__fail_nomem(err);
    for (uint32_t k = 0; k < p->n_stages; k++)
        of_stage[k] = in->devices[p->rank_of[k]];
    FR_TRY(find_moments(&moments, p, s, live, most, err));
    FR_TRY(find_sums(&sums, p, in, err));
    return fr__stages_cut(&p->stages, p->pl,
                          &(struct fr__stages_problem){
                              .n_stages = p->n_stages,
                              .devices = of_stage,
                              .in_flight = most,
                              .moments = moments,
                              .batch = in->micro_batch,
                              .stages_a_device = s->n_virtual ? s->n_virtual : 1,
                              .unit_of_layer = in->unit_of_layer,
                              .is_by_count = in->is_by_count,
                              .schedule = s,
                              .rank_of = p->rank_of,
                              .message_s = in->message_s,
                              .sums = sums,
                              .ends = in->ends,
                              .given = in->cuts,
                          },
                          err);
}

/* ---- blocks ---- */

/* The kinds of blocks that an op of the body belongs to: a bit each. */
static unsigned kinds_of(const struct fr__placer *pl, uint32_t op)
{
    switch (pl->params.roles[op]) {
    case FR__ROLE_FORWARD:
        return 1u << FR_ACTION_F;
    case FR__ROLE_BACKWARD:
        return 1u << FR_ACTION_B |
               (pl->graph->ops[op].phase == FR_PHASE_BACKWARD_WEIGHT ? 1u << FR_ACTION_W
                                                                     : 1u << FR_ACTION_I);
    default:
        return 0;
    }
}

static enum fr_status list_blocks(struct fr__pipeline *p, struct fr_error *err)
{
    const struct fr_graph *g = p->pl->graph;
    struct fr__arena *arena = p->pl->arena;
    uint32_t *(*lists)[4] = fr__arena_alloc(arena, p->n_stages, sizeof(*lists));

    p->blocks = fr__arena_alloc(arena, p->n_stages, sizeof(*p->blocks));
    if (!p->blocks || !lists)
        return fr__fail_nomem(err);
    for (uint32_t o = 0; o < g->n_ops; o++)
        for (unsigned k = 0, kinds = kinds_of(p->pl, o); k < 4; k++)
            p->blocks[p->stages.stage_of[o]][k].n += kinds >> k & 1;
    for (uint32_t s = 0; s < p->n_stages; s++)
        for (unsigned k = 0; k < 4; k++) {
            lists[s][k] = fr__arena_alloc(arena, p->blocks[s][k].n, sizeof(uint32_t));
            if (!lists[s][k])
                return fr__fail_nomem(err);
            p->blocks[s][k] = (struct fr__block_ops){.ops = lists[s][k]};
        }
    for (uint32_t o = 0; o < g->n_ops; o++)
        for (unsigned k = 0, kinds = kinds_of(p->pl, o); k < 4; k++)
            if (kinds >> k & 1) {
                uint32_t s = p->stages.stage_of[o];

                lists[s][k][p->blocks[s][k].n++] = o;
            }
    return FR_OK;
}

enum fr_status fr__pipeline_make(struct fr__pipeline *out, struct fr__placer *pl,
                                 const struct fr__pipeline_problem *in, struct fr_error *err)
{
    const struct fr_schedule *s = in->schedule;
    struct fr__pipeline p = {.pl = pl, .n_ranks = s->n_ranks, .n_stages = s->n_stages};

    if (s->weights != FR_WEIGHTS_FLUSH && !in->is_asynchronous)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "schedule '%s' updates the weights during an iteration; this strategy "
                        "updates them at its end",
                        s->name);
    FR_TRY(find_ranks(&p, s, err));
    FR_TRY(cut(&p, in, err));
    FR_TRY(list_blocks(&p, err));
    *out = p;
    return FR_OK;
}
