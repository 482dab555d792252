/* lowering/pipeline/ends.c - which micro-batch is the last of each stage, and in which
 * order the stages of a rank end. Gradients of a stage are complete with its last micro-batch. */
#include "config.h"

#include "lowering/pipeline/pipeline.h"

#include "base/error.h"

enum { ENDS_DATA, ENDS_WEIGHT, N_ENDS };

/* Of a stage: the last micro-batch of either gradient, and the place of the last pass. */
struct end {
    uint32_t micro[N_ENDS];
    size_t at;
};

static void note_pass(struct end ends[], unsigned kind, uint32_t stage, uint32_t micro, size_t at)
{
    if (kind == FR_ACTION_B || kind == FR_ACTION_I)
        ends[stage].micro[ENDS_DATA] = micro;
    if (kind == FR_ACTION_B || kind == FR_ACTION_W) {
        ends[stage].micro[ENDS_WEIGHT] = micro;
        ends[stage].at = at;
    }
}

static void find_ends(const struct fr_schedule *s, struct end ends[])
{
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const struct fr_action *a = &s->actions[i];
            size_t at = i - s->first[r];

            if (!fr_action_computes(a))
                continue;
            note_pass(ends, a->kind, a->stage, a->micro, at);
            if (a->with != FR_ACTION_NONE)
                note_pass(ends, a->with, a->with_stage, a->with_micro, at);
        }
}

/* Stages are few. */
static void sort_stages(const struct end ends[], uint32_t n, uint32_t order[])
{
    for (uint32_t s = 0; s < n; s++) {
        uint32_t k = s;

        for (; k > 0 && ends[order[k - 1]].at > ends[s].at; k--)
            order[k] = order[k - 1];
        order[k] = s;
    }
}

enum fr_status fr__pipeline_ends(struct fr__stage_ends *out, const struct fr__pipeline *p,
                                 const struct fr_schedule *schedule, struct fr_error *err)
{
    const struct fr_graph *g = p->pl->graph;
    struct fr__arena *arena = p->pl->arena;
    struct end *ends = fr__arena_alloc(arena, p->n_stages, sizeof(*ends));
    uint32_t *order = fr__arena_alloc(arena, p->n_stages, sizeof(*order));
    uint32_t *last_micro = fr__arena_alloc(arena, g->n_ops, sizeof(*last_micro));

    if (!ends || !order || !last_micro)
        return fr__fail_nomem(err);
    find_ends(schedule, ends);
    sort_stages(ends, p->n_stages, order);
    for (size_t o = 0; o < g->n_ops; o++) {
        bool is_weight = g->ops[o].phase == FR_PHASE_BACKWARD_WEIGHT;

        last_micro[o] = ends[p->stages.stage_of[o]].micro[is_weight ? ENDS_WEIGHT : ENDS_DATA];
    }
    *out = (struct fr__stage_ends){.order = order, .last_micro = last_micro};
    return FR_OK;
}
