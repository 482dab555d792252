/* study/layouts/probe.c - runs of the engine that price something once for many layouts, and where
 * their prices are kept.
 *
 * A block is priced on as few GPUs as its groups need, in one stage with one micro-batch; a mesh in
 * all its stages, on all GPUs, with one micro-batch of one sample.
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/crew.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_GPUS = 16 }; /* of a block's probe: two machines of eight */

/* ---- keys ---- */

struct fr_search_layout fr__block_key(const struct fr_search_layout *l)
{
    return (struct fr_search_layout){.tp = l->tp,
                                     .cp = l->cp,
                                     .ep = l->ep,
                                     .etp = l->etp,
                                     .micro = l->micro,
                                     .recompute = l->recompute,
                                     .map = l->map};
}

/* Replicas and stages that are not split keep what `dp` and `pp` keep, unless something runs again
 * (strategies/hybrid/place.c); then recomputation is part of the key. */
struct fr_search_layout fr__mesh_key(const struct fr_search_layout *l)
{
    bool is_plain = l->tp == 1 && l->cp == 1 && l->ep == 1 && l->zero == 0;

    return (struct fr_search_layout){.dp = l->dp,
                                     .tp = l->tp,
                                     .pp = l->pp,
                                     .cp = l->cp,
                                     .ep = l->ep,
                                     .etp = l->etp,
                                     .zero = l->zero,
                                     .recompute = is_plain && l->recompute != FR_LAYOUT_KEEPS_ALL
                                                      ? FR_LAYOUT_FULL
                                                      : FR_LAYOUT_KEEPS_ALL,
                                     .map = l->map};
}

struct fr_search_layout fr__direct_key(const struct fr_search_layout *l)
{
    struct fr_search_layout key = *l;

    key.schedule = NULL;
    return key;
}

#define COMPARE(member)                                                                            \
    if (x->layout.member != y->layout.member)                                                      \
    return x->layout.member < y->layout.member ? -1 : 1

static int compare(const void *a, const void *b)
{
    const struct fr__probe *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    COMPARE(tp);
    COMPARE(pp);
    COMPARE(cp);
    COMPARE(dp);
    COMPARE(ep);
    COMPARE(etp);
    COMPARE(zero);
    COMPARE(recompute);
    COMPARE(micro);
    COMPARE(n_micros);
    if (!x->layout.map || !y->layout.map)
        return (x->layout.map != NULL) - (y->layout.map != NULL);
    return strcmp(x->layout.map, y->layout.map);
}
#undef COMPARE

const struct fr__probe *fr__prices_find(const struct fr__prices *p, enum fr__probe_kind kind,
                                        const struct fr_search_layout *key)
{
    const struct fr__probe probe = {.kind = kind, .layout = *key};

    return p->n_sorted ? bsearch(&probe, p->probes, p->n_sorted, sizeof(probe), compare) : NULL;
}

bool fr__prices_want(struct fr__prices *p, enum fr__probe_kind kind,
                     const struct fr_search_layout *key)
{
    const struct fr__probe probe = {.kind = kind, .layout = *key};

    if (fr__prices_find(p, kind, key) ||
        (p->n > p->n_sorted && compare(&p->probes[p->n - 1], &probe) == 0))
        return true;
    if (!fr__grow(&p->probes, &p->cap, p->n + 1, sizeof(*p->probes)))
        return false;
    p->probes[p->n++] = probe;
    return true;
}

/* ---- one run ---- */

/* GPUs that a block is priced on: whole groups of it, that divide all there are. */
static uint32_t gpus_of(const struct fr__job *j, const struct fr_search_layout *l)
{
    uint32_t group = l->tp * l->cp, expert = l->ep * (l->etp ? l->etp : 1), n = group;

    if (j->q.is_spread || j->q.devices)
        return j->n_gpus;
    while (n < j->n_gpus && (n < LEAST_GPUS || n % group || n % expert || j->n_gpus % n))
        n += group;
    return n < j->n_gpus ? n : j->n_gpus;
}

/* The question of a probe; text: [2 * FR_LAYOUT_TEXT]. Run i of a direct probe has as many
 * micro-batches as it says. */
static void ask(struct fr__probe *p, const struct fr__job *j, unsigned i, char text[],
                struct fr_question *q)
{
    struct fr_search_layout l = p->layout;
    const char *more = "";

    *q = j->q;
    if (p->kind == FR__PROBE_BLOCK) {
        l.pp = l.n_micros = 1;
        q->n_gpus = q->devices ? 0 : gpus_of(j, &l);
        l.dp = (uint32_t)(q->n_gpus ? q->n_gpus : j->n_gpus) / (l.tp * l.cp);
        more = ",overlap=0,fold=1";
    } else if (p->kind == FR__PROBE_MESH) {
        l.micro = l.n_micros = l.n_virtual = 1;
        l.schedule = "1f1b";
        more = ",overlap=0,fold=1";
    } else {
        l.n_micros = p->direct.n_micros[i];
    }
    q->global_batch = l.dp * l.micro * l.n_micros;
    q->batch_per_gpu = 0;
    fr_layout_text(&l, text);
    strncat(text, more, FR_LAYOUT_TEXT - 1);
    q->strategy = text;
    q->is_brief = true;
    q->run.memory = FR_MEMORY_LIVENESS;
    if (p->kind == FR__PROBE_DIRECT)
        q->run.memory = j->q.run.memory;
}

static enum fr_status run_one(struct fr__probe *p, const struct fr__job *j, unsigned i,
                              const struct fr_context *ctx, struct fr_error *err)
{
    char text[2 * FR_LAYOUT_TEXT];
    struct fr_question q;
    struct fr_record *r;
    enum fr_status st = FR_OK;

    ask(p, j, i, text, &q);
    FR_TRY(fr_answer_on(&j->setting, &q, ctx, &r, err));
    if (p->kind == FR__PROBE_BLOCK)
        st = fr__block_read(p, j, r, err);
    else if (p->kind == FR__PROBE_MESH)
        st = fr__mesh_read(p, j, r, err);
    else {
        p->direct.time_s[i] = r->run->iteration_s;
        p->direct.bytes = r->oom ? (double)(r->oom_why.capacity_bytes + r->oom_why.over_bytes)
                                 : (double)r->peak_bytes;
    }
    fr_record_free(r);
    return st;
}

static enum fr_status run_probe(struct fr__probe *p, const struct fr__job *j,
                                const struct fr_context *ctx, struct fr_error *err)
{
    uint32_t m = p->layout.n_micros;
    enum fr_status st;

    p->arena = fr__arena_new();
    if (!p->arena)
        return fr__fail_nomem(err);
    p->direct.n_micros[0] = m < 2 ? m : 2;
    p->direct.n_micros[1] = m < 3 ? m : 3;
    st = run_one(p, j, 0, ctx, err);
    if (st == FR_OK && p->kind == FR__PROBE_DIRECT && m > 2)
        st = run_one(p, j, 1, ctx, err);
    return st;
}

/* ---- all runs ---- */

struct running {
    struct fr__prices *p;
    const struct fr__job *j;
    const struct fr_context *user;
    struct fr_context context;
    size_t first; /* of those to run */
};

/* A failure that says something about the layout, not about the machine that we run on. */
static bool is_answer(enum fr_status st)
{
    return st != FR_EIO && st != FR_ENOMEM && st != FR_ECANCELLED;
}

static enum fr_status work(void *user, unsigned thread, size_t job, struct fr_error *err)
{
    struct running *r = user;
    struct fr__probe *p = &r->p->probes[r->first + job];
    struct fr_error why;

    (void)thread;
    p->status = run_probe(p, r->j, &r->context, &why);
    p->is_done = true;
    if (p->status == FR_OK)
        return FR_OK;
    if (!is_answer(p->status)) {
        *err = why;
        return p->status;
    }
    p->why = fr__arena_strdup(p->arena, why.text);
    return p->why ? FR_OK : fr__fail_nomem(err);
}

static bool show(void *user, size_t n_done)
{
    const struct running *r = user;

    if (r->user->progress)
        r->user->progress(r->user->progress_user, "prices", r->first + n_done, r->p->n);
    return false;
}

/* Those that are new, sorted and once each. */
static void sort_new(struct fr__prices *p)
{
    size_t n = p->n_sorted;

    if (p->n == p->n_sorted)
        return;
    qsort(p->probes + p->n_sorted, p->n - p->n_sorted, sizeof(*p->probes), compare);
    for (size_t i = p->n_sorted; i < p->n; i++)
        if (n == p->n_sorted || compare(&p->probes[n - 1], &p->probes[i]) != 0)
            p->probes[n++] = p->probes[i];
    p->n = n;
}

enum fr_status fr__prices_run(struct fr__prices *p, const struct fr__job *j, unsigned n_threads,
                              const struct fr_context *ctx, struct fr_error *err)
{
    struct running r = {.p = p, .j = j, .user = ctx, .first = p->n_sorted};
    struct fr__crew crew = {.user = &r, .work = work, .cancel = ctx->cancel};
    enum fr_status st;

    r.context = (struct fr_context){.cancel = ctx->cancel, .memory_bytes = ctx->memory_bytes};
    sort_new(p);
    if (p->n == p->n_sorted)
        return FR_OK;
    crew.n_jobs = p->n - p->n_sorted;
    crew.n_threads = fr__crew_size(n_threads, crew.n_jobs);
    crew.wait = ctx->progress ? show : NULL;
    st = fr__crew_run(&crew, err);
    if (st != FR_OK)
        return st;
    qsort(p->probes, p->n, sizeof(*p->probes), compare);
    p->n_sorted = p->n;
    return FR_OK;
}

void fr__prices_free(struct fr__prices *p)
{
    for (size_t i = 0; p && i < p->n; i++)
        fr__arena_free(p->probes[i].arena);
    if (p)
        free(p->probes);
    free(p);
}
