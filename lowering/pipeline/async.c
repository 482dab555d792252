/* lowering/pipeline/async.c - a pipeline that never flushes, in the engine.
 *
 * Every update has a replica of its own: the micro-batches whose gradients it adds up. Replicas are
 * made when their first pass comes and dropped after their last update.
 */
#include "config.h"

#include "lowering/pipeline/async.h"

#include "base/arena.h"
#include "base/error.h"
#include "lowering/log.h"
#include "lowering/schedules/passes.h"

#include <math.h>
#include <stdlib.h>

/* ---- how many iterations ---- */

enum { LEAST_ITERATIONS = 3, PROBED_ITERATIONS = 48, MOST_PROBED = 1 << 22 };

uint32_t fr__async_end_of(uint32_t n_micros, size_t n_ranks, uint32_t i)
{
    uint64_t past = (uint64_t)i * n_micros;

    return past > n_ranks ? (uint32_t)(past - 1 - n_ranks) : 0;
}

uint32_t fr__async_probes(uint64_t passes, uint64_t most_passes, uint32_t probed)
{
    uint64_t most = most_passes / passes;

    if (most < LEAST_ITERATIONS + 1)
        return LEAST_ITERATIONS + 1;
    return most < probed ? (uint32_t)most : probed;
}

uint32_t fr__async_settle(const double ends_s[], uint32_t n, bool *has_settled)
{
    double last_s = ends_s[n - 1] - ends_s[n - 2];
    uint32_t i = n - 1;

    while (i > 1 && fabs(ends_s[i - 1] - ends_s[i - 2] - last_s) <= 1e-9 * fabs(last_s))
        i--;
    *has_settled = i + 1 < n;
    if (!*has_settled)
        return n;
    return i + 1 > LEAST_ITERATIONS ? i + 1 : LEAST_ITERATIONS;
}

static uint32_t end_of(const struct fr_schedule *s, uint32_t n_micros, uint32_t i)
{
    return fr__async_end_of(n_micros, s->n_ranks, i);
}

static enum fr_status unrolled(struct fr_schedule **out, const struct fr_schedule_spec *spec,
                               uint32_t n_iterations, struct fr_error *err)
{
    struct fr_schedule_spec s = *spec;

    s.n_micros *= n_iterations;
    return fr_schedule_get(out, &s, err);
}

static enum fr_status count_iterations(struct fr__unrolled *u, const struct fr_schedule *s,
                                       const struct fr_pass_times of_stage[], struct fr_error *err)
{
    const struct fr_schedule_times t = {.of_stage = of_stage, .pair = -1};
    double ends[PROBED_ITERATIONS];
    struct fr_replay x;
    uint32_t n = s->n_micros / u->n_micros;

    FR_TRY(fr_schedule_replay(&x, s, &t, err));
    for (uint32_t i = 1; i <= n; i++)
        for (size_t a = s->first[0]; a < s->first[1]; a++)
            if (s->actions[a].kind == FR_ACTION_B &&
                s->actions[a].micro == end_of(s, u->n_micros, i))
                ends[i - 1] = x.finish[a];
    fr_replay_fini(&x);
    u->n_iterations = fr__async_settle(ends, n, &u->has_settled);
    return FR_OK;
}

enum fr_status fr__pipeline_unroll(struct fr__unrolled *out, const struct fr_schedule_spec *spec,
                                   const struct fr_pass_times of_stage[], struct fr_error *err)
{
    struct fr__unrolled u = {.n_micros = spec->n_micros};
    uint64_t passes = 2 * (uint64_t)spec->n_ranks * spec->n_micros;
    uint32_t n = fr__async_probes(passes, MOST_PROBED, PROBED_ITERATIONS);
    struct fr_schedule *probe = NULL;
    enum fr_status st = unrolled(&probe, spec, n, err);

    if (st == FR_OK)
        st = count_iterations(&u, probe, of_stage, err);
    fr_schedule_free(probe);
    FR_TRY(st);
    FR_TRY(unrolled(&u.schedule, spec, u.n_iterations, err));
    u.n_together =
        u.schedule->weights == FR_WEIGHTS_STASH || u.schedule->weights == FR_WEIGHTS_VERTICAL
            ? 1
            : u.n_micros;
    *out = u;
    return FR_OK;
}

/* ---- placing ---- */

struct placing {
    const struct fr__pipeline *p;
    const struct fr__unrolled *u;
    const struct fr_schedule *s;
    double batch;
    const uint32_t *device_of, *devices;
    uint32_t n_updates;
    struct fr__replica *replicas; /* [n_updates] */
    bool *is_made;                /* [n_updates] */
    uint32_t *marker;             /* [n_ranks] end of the action before, FR_NONE */
    uint32_t *n_done;             /* [n_ranks] updates */
    uint64_t *param_bytes;        /* [n_ranks] that its updates write */
    uint32_t *version_of;         /* [n_ranks][n_micros] that the passes of a micro-batch read */
    uint32_t *last_reader; /* [n_ranks][n_updates + 1] of a version: a micro-batch, FR_NONE */
    uint32_t *stash;       /* [n_ranks][n_micros] buffer that its backward frees, FR_NONE */
    uint32_t n_ends;
    enum fr_status st;
    struct fr_error *err;
};

static uint32_t update_of(const struct placing *g, uint32_t micro)
{
    return micro / g->u->n_together;
}

static bool ends_update(const struct placing *g, uint32_t micro)
{
    return (micro + 1) % g->u->n_together == 0;
}

static uint32_t *at_micro(const struct placing *g, uint32_t array[], uint32_t rank, uint32_t micro)
{
    return &array[(size_t)rank * g->s->n_micros + micro];
}

static uint32_t *reader_of(const struct placing *g, uint32_t rank, uint32_t version)
{
    return &g->last_reader[(size_t)rank * (g->n_updates + 1) + version];
}

/* Which version each pass reads, by the order of its rank alone; with vertical sync by that of the
 * first rank. Without stashed weights nobody needs an old one. */
static void find_versions(struct placing *g)
{
    const struct fr_schedule *s = g->s;

    for (uint32_t r = 0; r < s->n_ranks; r++) {
        uint32_t version = 0, *of_rank = at_micro(g, g->version_of, r, 0);

        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const struct fr_action *a = &s->actions[i];

            if (a->kind == FR_ACTION_F)
                of_rank[a->micro] =
                    s->weights == FR_WEIGHTS_VERTICAL ? g->version_of[a->micro] : version;
            version += a->kind == FR_ACTION_B && ends_update(g, a->micro);
            if (r == 0 && a->kind == FR_ACTION_F && s->weights == FR_WEIGHTS_VERTICAL)
                of_rank[a->micro] = version;
        }
        for (uint32_t m = 0; m < s->n_micros && s->weights != FR_WEIGHTS_CURRENT; m++)
            *reader_of(g, r, of_rank[m]) = m;
    }
}

static void count_param_bytes(struct placing *g)
{
    const struct fr__params *params = &g->p->pl->params;

    for (size_t i = 0; i < params->n_owners; i++) {
        const struct fr__owner *w = &params->owners[i];

        for (uint32_t r = 0; r < g->s->n_ranks; r++)
            if (w->ready != FR_NONE && g->devices[r] == g->device_of[w->op])
                g->param_bytes[r] += w->bytes;
    }
}

static struct fr__replica *replica_of(struct placing *g, uint32_t micro)
{
    uint32_t u = update_of(g, micro), first = u * g->u->n_together;
    struct fr__replica *r = &g->replicas[u];
    const struct fr__share share = {
        .n_micros = g->u->n_together, .batch = g->batch, .last_batch = g->batch};

    if (g->is_made[u])
        return r;
    g->is_made[u] = true;
    g->st = fr__replica_init(r, g->p->pl, g->device_of, &share, g->err);
    if (g->st == FR_OK)
        fr__replica_count_from(r, first, g->s->n_micros);
    return r;
}

/* After the update: the version before it stays while a pass that reads it is to come. */
static void keep_version(struct placing *g, uint32_t rank, uint32_t micro, uint32_t alloc)
{
    uint32_t reader = *reader_of(g, rank, g->n_done[rank]);

    if (reader != FR_NONE && reader > micro)
        *at_micro(g, g->stash, rank, reader) = fr__add_buffer(
            g->p->pl, FR_BUFFER_PARAMETER, g->devices[rank], g->param_bytes[rank], alloc, FR_NONE);
    g->n_done[rank]++;
}

/* The first rank that computes backwards: where one stands before it that casts images or
 * tokens, no gradient comes back there, and it runs ahead of all others. */
static uint32_t end_rank(const struct placing *g)
{
    uint32_t rank = 0;

    while (rank + 1 < g->s->n_ranks && g->p->blocks[rank][FR_ACTION_B].n == 0)
        rank++;
    return rank;
}

/* The ends of iterations that this backward of rank end_rank is. */
static void end_iterations(struct placing *g, uint32_t rank, uint32_t micro)
{
    while (g->n_ends < g->u->n_iterations && end_of(g->s, g->u->n_micros, g->n_ends + 1) == micro) {
        fr_plan_end_iteration(g->p->pl->plan, g->marker[rank]);
        g->n_ends++;
    }
}

static void place_update(struct placing *g, struct fr__replica *r, uint32_t rank, uint32_t micro)
{
    uint32_t device = g->devices[rank], first, end;

    r->done_of[device] = g->marker[rank];
    end = fr__place_updates_on(r, device, &first);
    if (end != FR_NONE) {
        keep_version(g, rank, micro, first);
        g->marker[rank] = end;
    }
    if (rank == 0) { /* the last rank to update */
        g->st = fr__replica_status(r, g->err);
        fr__replica_fini(r);
        *r = (struct fr__replica){0};
    }
}

static void place_pass(struct placing *g, uint32_t rank, const struct fr_action *a)
{
    const struct fr__block_ops *ops = &g->p->blocks[a->stage][a->kind];
    struct fr__replica *r = replica_of(g, a->micro);
    uint32_t local = a->micro % g->u->n_together, *stash;

    if (g->st != FR_OK)
        return;
    if (ops->n > 0) {
        fr__place_ops(r, local, ops->ops, ops->n, g->marker[rank]);
        g->marker[rank] = fr__place_join(r, local, ops->ops, ops->n, g->devices[rank]);
    }
    if (a->kind == FR_ACTION_F)
        return;
    stash = at_micro(g, g->stash, rank, a->micro);
    fr__add_free(g->p->pl, *stash, g->marker[rank]);
    if (ends_update(g, a->micro))
        place_update(g, r, rank, a->micro);
    if (rank == end_rank(g))
        end_iterations(g, rank, a->micro);
}

static void place_action(void *user, size_t action, const uint32_t waits[], unsigned n_waits)
{
    struct placing *g = user;
    const struct fr_action *a = &g->s->actions[action];
    uint32_t rank = 0;

    (void)waits;
    (void)n_waits;
    while (g->s->first[rank + 1] <= action)
        rank++;
    if (g->st == FR_OK && fr__is_cancelled(g->p->pl->ctx))
        g->st = fr__fail(g->err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
    if (g->st == FR_OK)
        place_pass(g, rank, a);
}

/* ---- all of it ---- */

static void log_versions(const struct placing *g)
{
    struct fr_replay x;
    enum fr_status st;

    if (!fr__wants_log(g->p->pl->ctx))
        return;
    st = fr_schedule_replay(&x, g->s, NULL, NULL);
    fr_plan_keep_failure(g->p->pl->plan, st);
    if (st != FR_OK)
        return;
    fr__log(g->p->pl->ctx, "%u iterations in a row%s, an update after %u micro-batch%s",
            g->u->n_iterations,
            g->u->has_settled ? "" : ", though the interval has not settled by then",
            g->u->n_together, g->u->n_together == 1 ? "" : "es");
    for (uint32_t r = 0; r < g->s->n_ranks; r++)
        if (g->s->weights == FR_WEIGHTS_CURRENT)
            fr__log(g->p->pl->ctx,
                    "stage %u keeps no old version of its weights: a backward is %.4g steps after "
                    "its forward",
                    r, x.delay_steps[r] * g->s->n_micros / g->u->n_together);
        else
            fr__log(g->p->pl->ctx,
                    "stage %u keeps %u versions of its weights and uses them %u updates old", r,
                    x.versions[r], x.staleness[r]);
    fr_replay_fini(&x);
}

static bool make_room(struct placing *g)
{
    size_t n_ranks = g->s->n_ranks, n_micros = g->s->n_micros;

    g->n_updates = g->s->n_micros / g->u->n_together;
    g->replicas = calloc(g->n_updates, sizeof(*g->replicas));
    g->is_made = calloc(g->n_updates, sizeof(*g->is_made));
    g->marker = fr__nones_new(n_ranks);
    g->n_done = calloc(n_ranks, sizeof(*g->n_done));
    g->param_bytes = calloc(n_ranks, sizeof(*g->param_bytes));
    g->version_of = calloc(n_ranks * n_micros, sizeof(*g->version_of));
    g->last_reader = fr__nones_new(n_ranks * (g->n_updates + 1));
    g->stash = fr__nones_new(n_ranks * n_micros);
    return g->replicas && g->is_made && g->marker && g->n_done && g->param_bytes && g->version_of &&
           g->last_reader && g->stash;
}

static void release(struct placing *g)
{
    for (uint32_t i = 0; g->replicas && g->is_made && i < g->n_updates; i++)
        if (g->is_made[i] && g->replicas[i].pl)
            fr__replica_fini(&g->replicas[i]);
    free(g->replicas);
    free(g->is_made);
    free(g->marker);
    free(g->n_done);
    free(g->param_bytes);
    free(g->version_of);
    free(g->last_reader);
    free(g->stash);
}

static enum fr_status place_in(struct placing *g, struct fr_error *err)
{
    struct fr__passes passes;
    struct fr__replica *first;
    enum fr_status st;

    if (!make_room(g))
        return fr__fail_nomem(err);
    find_versions(g);
    count_param_bytes(g);
    first = replica_of(g, 0);
    if (g->st != FR_OK)
        return g->st;
    fr__place_persistent(first, true);
    st = fr__passes_init(&passes, g->s, err);
    if (st == FR_OK)
        st = fr__passes_walk(&passes, g->s, place_action, g, err);
    fr__passes_fini(&passes);
    if (st == FR_OK)
        st = g->st;
    if (st == FR_OK)
        log_versions(g);
    return st;
}

enum fr_status fr__pipeline_place_async(const struct fr__pipeline *p, const struct fr__unrolled *u,
                                        double batch, const uint32_t device_of[],
                                        const uint32_t devices[], struct fr_error *err)
{
    struct placing g = {.p = p,
                        .u = u,
                        .s = u->schedule,
                        .batch = batch,
                        .device_of = device_of,
                        .devices = devices,
                        .err = err};
    enum fr_status st = place_in(&g, err);

    release(&g);
    return st;
}
