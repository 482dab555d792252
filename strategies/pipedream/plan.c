/* strategies/pipedream/plan.c - from a profile to stages: the levels one after another from the
 * inside out, then the way back from the outermost. */
#include "config.h"

#include "base/cancel.h"
#include "strategies/pipedream/pipedream.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tables of levels take no more; so few states are planned for with many levels. */
static const double MOST_TABLE_BYTES = 768.0 * 1048576;

struct planning {
    const struct fr_profile *profile;
    const struct fr__pd_options *o;
    const struct fr_context *ctx;
    struct fr__arena *arena; /* of what the plan keeps */
    struct fr__arena *scratch;
    struct fr__pd_layers layers;
    struct fr__pd_states states;
    struct fr__pd_table tables[FR_STAGE_MAX_LEVELS];
    double *below_s[FR_STAGE_MAX_LEVELS], *floor_s[FR_STAGE_MAX_LEVELS]; /* of each table; heap */
    struct fr_stage_plan *plan;
    size_t cap_stages, cap_splits;
    struct fr_stage *stages; /* heap, while they grow */
    struct fr_stage_split *splits;
    uint32_t (*ends)[2]; /* states of each stage */
    size_t cap_ends;
};

/* Where a stage lies among the levels above: what its groups hold together. */
struct above {
    const struct above *outer;
    size_t level;
    uint32_t begin, replicas;
    double param_bytes, crossing_s;
    bool is_first;
};

static enum fr_status fail_no_room(const struct planning *p, struct fr_error *err)
{
    const struct fr__pd_options *o = p->o;

    if (o->is_straight && !o->uses_fewer && o->memory_bytes <= 0)
        return fr__fail(err, FR_ENOROOM, FR_NOWHERE,
                        "no plan: fewer than a place to cut at for each machine, and none may be "
                        "replicated ('straight') or idle ('fewer')");
    return fr__fail(err, FR_ENOROOM, FR_NOWHERE,
                    "no plan: no stages fit into %.17g bytes a machine ('memory')",
                    o->memory_bytes);
}

/* ---- from the inside out ---- */

/* Tables of the level above: what all machines of this one make of each stretch of states. */
static enum fr_status raise_level(struct planning *p, size_t level, struct fr_error *err)
{
    size_t n = p->states.n;
    double *below_s = malloc(n * n * sizeof(double)), *floor_s = malloc(n * n * sizeof(double));
    const double *all_s;
    struct fr__pd_row row;

    p->below_s[level + 1] = below_s;
    p->floor_s[level + 1] = floor_s;
    if (!below_s || !floor_s)
        return fr__fail_nomem(err);
    FR_TRY(fr__pd_row_init(&row, &p->tables[level], err));
    for (size_t k = 0; k < n * n; k++)
        floor_s[k] = INFINITY;
    all_s = row.time_s + (row.m - 1) * n;
    for (uint32_t i = 0; i < n; i++) {
        if (p->ctx && fr__flag_is_set(p->ctx->cancel)) {
            fr__pd_row_fini(&row);
            return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        }
        fr__pd_row_fill(&row, i, (uint32_t)n);
        memcpy(below_s + i * n + i, all_s + i, (n - i) * sizeof(double));
        for (size_t j = i; i > 0 && j < n; j++) /* of the part that begins after state i - 1 */
            floor_s[j * n + p->states.rank_of[i - 1]] = all_s[j];
    }
    for (size_t j = 0; j < n; j++)
        for (size_t k = 1; k < n; k++)
            floor_s[j * n + k] = fmin(floor_s[j * n + k], floor_s[j * n + k - 1]);
    fr__pd_row_fini(&row);
    p->tables[level + 1].below_s = below_s;
    p->tables[level + 1].floor_s = floor_s;
    return FR_OK;
}

static enum fr_status make_tables(struct planning *p, struct fr_error *err)
{
    for (size_t level = 0; level < p->o->n_levels; level++)
        p->tables[level] =
            (struct fr__pd_table){.states = &p->states, .options = p->o, .level = level};
    for (size_t level = 0; level + 1 < p->o->n_levels; level++)
        FR_TRY(raise_level(p, level, err));
    return FR_OK;
}

/* ---- and back ---- */

static double between(const double *sum, uint32_t begin, uint32_t end)
{
    return begin == 0 ? sum[end - 1] : sum[end - 1] - sum[begin - 1];
}

static enum fr_status add_stage(struct planning *p, uint32_t begin, uint32_t end,
                                const struct above *above, struct fr_error *err)
{
    size_t n = p->plan->n_stages;
    struct fr_stage s = {.replicas = 1};

    s.compute_s = s.time_s = between(p->states.both_s, begin, end);
    for (const struct above *at = above; at; at = at->outer) {
        s.replicas_of_level[at->level] = at->replicas;
        s.replicas *= at->replicas;
        s.time_s = fr__pd_spread_s(&p->tables[at->level], s.time_s, at->param_bytes, at->replicas,
                                   at->is_first);
        if (s.exchange_s > 0)
            s.exchange_s = fr__pd_spread_s(&p->tables[at->level], s.exchange_s, at->param_bytes,
                                           at->replicas, at->is_first);
        if (at->begin == begin)
            s.exchange_s = fmax(s.exchange_s, at->crossing_s);
    }
    if (end < p->states.n)
        s.out_bytes = p->states.out_bytes[end - 1];
    if (!fr__grow(&p->stages, &p->cap_stages, n + 1, sizeof(*p->stages)) ||
        !fr__grow(&p->ends, &p->cap_ends, n + 1, sizeof(*p->ends)))
        return fr__fail_nomem(err);
    p->ends[n][0] = begin;
    p->ends[n][1] = end;
    p->stages[n] = s;
    p->plan->n_stages++;
    return FR_OK;
}

/* The parts of states begin..end-1 on a level, first one first. */
static enum fr_status list_parts(struct planning *p, size_t level, uint32_t begin, uint32_t end,
                                 struct fr_stage_split *out, struct fr_error *err)
{
    size_t most = p->o->levels[level].n, n = 0;
    struct fr_stage_part *parts = fr__arena_alloc(p->arena, most, sizeof(*parts));
    uint32_t left = p->o->levels[level].n, to = end;
    struct fr__pd_choice c;
    struct fr__pd_row row;

    if (!parts)
        return fr__fail_nomem(err);
    FR_TRY(fr__pd_row_init(&row, &p->tables[level], err));
    fr__pd_row_fill(&row, begin, end);
    *out = (struct fr_stage_split){.level = (uint32_t)level, .begin = begin, .end = end};
    c = fr__pd_row_choice(&row, end - 1, left);
    out->time_s = c.time_s;
    out->n_unused = left;
    for (;;) {
        uint32_t from = c.split == FR_NONE ? begin : c.split + 1;

        parts[n++] = (struct fr_stage_part){.begin = from,
                                            .end = to,
                                            .replicas = c.replicas,
                                            .compute_s = between(p->states.both_s, from, to)};
        out->n_unused -= c.replicas;
        if (c.split == FR_NONE)
            break;
        to = from;
        c = fr__pd_row_choice(&row, c.split, c.m_before);
    }
    fr__pd_row_fini(&row);
    for (size_t i = 0; i < n / 2; i++) {
        struct fr_stage_part part = parts[i];

        parts[i] = parts[n - 1 - i];
        parts[n - 1 - i] = part;
    }
    out->parts = parts;
    out->n_parts = n;
    return FR_OK;
}

static enum fr_status descend(struct planning *p, size_t level, uint32_t begin, uint32_t end,
                              const struct above *outer, struct fr_error *err)
{
    struct fr_stage_split split;

    FR_TRY(list_parts(p, level, begin, end, &split, err));
    if (isinf(split.time_s))
        return fail_no_room(p, err);
    if (!fr__grow(&p->splits, &p->cap_splits, p->plan->n_splits + 1, sizeof(*p->splits)))
        return fr__fail_nomem(err);
    p->splits[p->plan->n_splits++] = split;
    for (size_t i = 0; i < split.n_parts; i++) {
        const struct fr_stage_part *part = &split.parts[i];
        struct above above = {.outer = outer,
                              .level = level,
                              .begin = part->begin,
                              .replicas = part->replicas,
                              .param_bytes = between(p->states.param_bytes, part->begin, part->end),
                              .is_first = i == 0};

        if (i > 0)
            above.crossing_s = fr__pd_crossing_s(&p->tables[level], part->begin - 1, part->end - 1,
                                                 part->replicas);
        if (level > 0)
            FR_TRY(descend(p, level - 1, part->begin, part->end, &above, err));
        else
            FR_TRY(add_stage(p, part->begin, part->end, &above, err));
    }
    return FR_OK;
}

/* ---- the answer ---- */

/* A layer belongs to the first stage whose last state holds it. */
static enum fr_status assign(struct planning *p, struct fr_error *err)
{
    const struct fr_profile *profile = p->profile;
    const struct fr__pd_layers *l = &p->layers;
    uint32_t *stage_of = fr__arena_alloc(p->arena, profile->n_layers, sizeof(*stage_of));
    uint32_t *lists = fr__arena_alloc(p->arena, l->n, sizeof(*lists));
    size_t n = 0;

    if (!stage_of || !lists)
        return fr__fail_nomem(err);
    for (size_t v = 0; v < profile->n_layers; v++)
        stage_of[v] = FR_PROFILE_LEFT_OUT;
    for (size_t i = 0; i < profile->n_edges; i++) /* a left-out layer that is read is an input */
        stage_of[profile->edges[i][0]] = 0;
    for (size_t v = 0; v < l->n; v++)
        stage_of[l->of_profile[v]] = FR_PROFILE_NO_STAGE;
    for (uint32_t i = 0; i < p->plan->n_stages; i++) {
        const uint64_t *set = p->states.sets + (p->ends[i][1] - 1) * l->n_words;
        struct fr_stage *s = &p->stages[i];

        s->layers = lists + n;
        for (uint32_t v = 0; v < l->n; v++) {
            if (!fr__pd_has(set, v) || stage_of[l->of_profile[v]] != FR_PROFILE_NO_STAGE)
                continue;
            stage_of[l->of_profile[v]] = i;
            lists[n++] = l->of_profile[v];
            s->n_layers++;
            s->activation_bytes += l->activation_bytes[v];
            s->param_bytes += l->param_bytes[v];
        }
    }
    p->plan->n_unreached = l->n - n;
    p->plan->stage_of = stage_of;
    return FR_OK;
}

static size_t first_unreal(const struct planning *p)
{
    const struct fr__pd_states *s = &p->states;
    size_t i = 0;

    for (; i < p->plan->n_stages; i++)
        if (p->ends[i][0] > 0 &&
            !fr__pd_has(s->before + (p->ends[i][1] - 1) * s->n_before_words, p->ends[i][0] - 1))
            break;
    return i;
}

static void fill_in(struct planning *p)
{
    static const char *const modes[] = {[FR__PD_CODE] = "code", [FR__PD_PAPER] = "paper"};
    const struct fr__pd_states *s = &p->states;
    struct fr_stage_plan *plan = p->plan;
    double dp_s = s->both_s[s->n - 1];

    plan->profile = p->profile;
    plan->mode = modes[p->o->mode];
    plan->n_levels = p->o->n_levels;
    plan->single_time_s = dp_s;
    plan->pipeline_time_s = p->splits[0].time_s;
    for (size_t level = 0; level < p->o->n_levels; level++) {
        plan->machines[level] = p->o->levels[level].n;
        plan->bandwidth_Bps[level] = p->o->levels[level].bytes_per_s;
        dp_s = fr__pd_spread_s(&p->tables[level], dp_s, s->param_bytes[s->n - 1],
                               p->o->levels[level].n, true);
    }
    plan->dp_time_s = dp_s;
    plan->n_states = s->n_all;
    plan->n_states_at_least = s->n_at_least;
    plan->n_planned = s->n;
    plan->is_restricted = s->is_restricted;
    plan->lower_bound_s =
        s->is_restricted ? fr__pd_bound_s(&p->layers, s, p->o) : plan->pipeline_time_s;
    plan->first_unreal = first_unreal(p);
}

static enum fr_status keep(struct planning *p, struct fr_error *err)
{
    struct fr_stage_plan *plan = p->plan;
    struct fr_stage *stages = fr__arena_alloc(p->arena, plan->n_stages, sizeof(*stages));
    struct fr_stage_split *splits = fr__arena_alloc(p->arena, plan->n_splits, sizeof(*splits));

    if (!stages || !splits)
        return fr__fail_nomem(err);
    memcpy(stages, p->stages, plan->n_stages * sizeof(*stages));
    memcpy(splits, p->splits, plan->n_splits * sizeof(*splits));
    plan->stages = stages;
    plan->splits = splits;
    return FR_OK;
}

static size_t most_states(const struct fr__pd_options *o)
{
    double n_tables = 2.0 * (double)(o->n_levels - 1) * sizeof(double);
    double most = n_tables > 0 ? sqrt(MOST_TABLE_BYTES / n_tables) : (double)o->max_states;

    return most < (double)o->max_states ? (size_t)most : o->max_states;
}

static enum fr_status make(struct planning *p, struct fr_error *err)
{
    const struct fr__pd_options *o = p->o;

    if (o->n_levels == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "no machines given ('machines=8x2,bandwidth=30GB/s;25Gbps')");
    p->plan = fr__arena_alloc(p->arena, 1, sizeof(*p->plan));
    if (!p->plan)
        return fr__fail_nomem(err);
    FR_TRY(fr__pd_layers_make(p->scratch, p->profile, &p->layers, err));
    FR_TRY(fr__pd_states_make(p->scratch, &p->layers, most_states(o), p->ctx, &p->states, err));
    if (o->n_together > 0)
        FR_TRY(fr__pd_states_join(p->scratch, &p->layers, o, &p->states, err));
    FR_TRY(make_tables(p, err));
    FR_TRY(descend(p, o->n_levels - 1, 0, (uint32_t)p->states.n, NULL, err));
    FR_TRY(assign(p, err));
    fill_in(p);
    return keep(p, err);
}

enum fr_status fr__pd_plan(const struct fr_profile *profile, const struct fr__pd_options *o,
                           const struct fr_context *ctx, struct fr_stage_plan **out,
                           struct fr_error *err)
{
    struct planning p = {.profile = profile, .o = o, .ctx = ctx};
    enum fr_status st;

    p.arena = fr__arena_new();
    p.scratch = fr__arena_new();
    st = p.arena && p.scratch ? make(&p, err) : fr__fail_nomem(err);
    for (size_t level = 0; level < FR_STAGE_MAX_LEVELS; level++) {
        free(p.below_s[level]);
        free(p.floor_s[level]);
    }
    free(p.stages);
    free(p.splits);
    free(p.ends);
    fr__arena_free(p.scratch);
    if (st == FR_OK) {
        p.plan->priv = p.arena;
        *out = p.plan;
    } else {
        fr__arena_free(p.arena);
    }
    return st;
}
