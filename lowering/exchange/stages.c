/* lowering/exchange/stages.c - which gradients of a pipeline's stages travel together: all
 * of a stage at its end, or buckets that leave during its last backward pass.
 */
#include "config.h"

#include "lowering/exchange/parts.h"

#include "base/error.h"

#include <stdio.h>

/* ---- one set a stage ---- */

/* The trained owners, stage by stage, and in a stage part by part: sets by (stage, part). */
static enum fr_status sort_by_stage(struct fr__exchange *x, struct fr_error *err)
{
    const struct fr__params *p = &x->pl->params;
    struct fr__arena *arena = x->pl->arena;
    uint32_t n_parts = x->options.n_parts, n = x->options.n_stages * n_parts, at = 0;
    uint32_t *first = fr__arena_alloc(arena, n + 1, sizeof(*first));
    uint32_t *owners = fr__arena_alloc(arena, p->n_owners, sizeof(*owners));
    uint64_t *bytes = fr__arena_alloc(arena, n, sizeof(*bytes));
    uint32_t *parts = fr__arena_alloc(arena, n, sizeof(*parts));
    uint32_t *stages = fr__arena_alloc(arena, n, sizeof(*stages));

    if (!first || !owners || !bytes || !parts || !stages)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < n; s++) {
        stages[s] = s / n_parts;
        parts[s] = s % n_parts;
        for (uint32_t i = 0; i < p->n_owners; i++) {
            if (p->owners[i].ready == FR_NONE || fr__exchange_stage_of(x, i) != stages[s] ||
                fr__exchange_part_of(x, i) != parts[s])
                continue;
            bytes[s] += p->owners[i].bytes;
            owners[at++] = i;
        }
        first[s + 1] = at;
    }
    x->sets = (struct fr__buckets){.n = n, .first = first, .owners = owners, .bytes = bytes};
    x->part_of_set = parts;
    x->stage_of_set = stages;
    return FR_OK;
}

enum fr_status fr__stages_prepare(struct fr__exchange *x, struct fr_error *err)
{
    char label[60];

    FR_TRY(sort_by_stage(x, err));
    FR_TRY(fr__reduce_make_room(x, err));
    for (uint32_t s = 0; s < x->sets.n; s++) {
        snprintf(label, sizeof(label), "%sgradients of stage %u",
                 x->part_of_set[s] ? "experts' " : "", x->stage_of_set[s]);
        fr__reduce_add_collectives(x, s, label);
    }
    return FR_OK;
}

/* ---- buckets of a stage ---- */

/* Buckets while they are filled: numbered as they are opened, and again as they are complete. */
struct filling {
    struct fr__exchange *x;
    uint32_t *open;      /* [n_parts] the bucket of each part, FR_NONE */
    uint32_t *bucket_of; /* [n_owners] as opened; FR_NONE: not trained */
    uint32_t *set_of;    /* [n_opened] as complete */
    uint32_t *last;      /* [n_opened] its last owner's place among the ready ones */
    uint64_t *bytes;     /* [n_opened] */
    uint32_t n_opened, n_complete;
    uint32_t *stages, *parts; /* [n_complete] */
};

static void complete(struct filling *f, uint32_t stage, uint32_t part)
{
    f->stages[f->n_complete] = stage;
    f->parts[f->n_complete] = part;
    f->set_of[f->open[part]] = f->n_complete++;
    f->open[part] = FR_NONE;
}

static void fill(struct filling *f, uint32_t owner, uint32_t at)
{
    uint32_t part = fr__exchange_part_of(f->x, owner), b;

    if (f->open[part] == FR_NONE)
        f->open[part] = f->n_opened++;
    b = f->open[part];
    f->bucket_of[owner] = b;
    f->last[b] = at;
    f->bytes[b] += f->x->pl->params.owners[owner].bytes;
    if (f->bytes[b] >= f->x->options.bucket_bytes)
        complete(f, fr__exchange_stage_of(f->x, owner), part);
}

/* What is left at the end of a stage, in the order of the last gradients. */
static void complete_rest(struct filling *f, uint32_t stage)
{
    for (;;) {
        uint32_t next = FR_NONE;

        for (uint32_t k = 0; k < f->x->options.n_parts; k++)
            if (f->open[k] != FR_NONE &&
                (next == FR_NONE || f->last[f->open[k]] < f->last[f->open[next]]))
                next = k;
        if (next == FR_NONE)
            return;
        complete(f, stage, next);
    }
}

/* The owners of each set follow each other. */
static enum fr_status list_sets(struct filling *f, const uint32_t ready[], size_t n,
                                struct fr_error *err)
{
    struct fr__arena *arena = f->x->pl->arena;
    uint32_t *first = fr__arena_alloc(arena, f->n_complete + 1, sizeof(*first));
    uint32_t *owners = fr__arena_alloc(arena, n, sizeof(*owners)), at = 0;
    uint64_t *bytes = fr__arena_alloc(arena, f->n_complete, sizeof(*bytes));

    if (!first || !owners || !bytes)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < f->n_complete; s++) {
        for (size_t i = 0; i < n; i++)
            if (f->set_of[f->bucket_of[ready[i]]] == s) {
                owners[at++] = ready[i];
                bytes[s] += f->x->pl->params.owners[ready[i]].bytes;
            }
        first[s + 1] = at;
    }
    f->x->sets =
        (struct fr__buckets){.n = f->n_complete, .first = first, .owners = owners, .bytes = bytes};
    f->x->part_of_set = f->parts;
    f->x->stage_of_set = f->stages;
    return FR_OK;
}

static enum fr_status fill_all(struct fr__exchange *x, struct fr_error *err)
{
    struct fr__arena *arena = x->pl->arena;
    size_t n_owners = x->pl->params.n_owners, n;
    const uint32_t *ready;
    struct filling f = {.x = x};

    FR_TRY(fr__ready_order(&x->pl->params, arena, &ready, &n, err));
    f.open = fr__arena_nones(arena, x->options.n_parts);
    f.bucket_of = fr__arena_alloc(arena, n_owners, sizeof(*f.bucket_of));
    f.set_of = fr__arena_alloc(arena, n, sizeof(*f.set_of));
    f.last = fr__arena_alloc(arena, n, sizeof(*f.last));
    f.bytes = fr__arena_alloc(arena, n, sizeof(*f.bytes));
    f.stages = fr__arena_alloc(arena, n, sizeof(*f.stages));
    f.parts = fr__arena_alloc(arena, n, sizeof(*f.parts));
    if (!f.open || !f.bucket_of || !f.set_of || !f.last || !f.bytes || !f.stages || !f.parts)
        return fr__fail_nomem(err);
    for (uint32_t k = 0; k < x->options.n_stages; k++) {
        uint32_t stage = x->options.stage_order[k];

        for (uint32_t i = 0; i < n; i++)
            if (fr__exchange_stage_of(x, ready[i]) == stage)
                fill(&f, ready[i], i);
        complete_rest(&f, stage);
    }
    return list_sets(&f, ready, n, err);
}

enum fr_status fr__stage_buckets_prepare(struct fr__exchange *x, struct fr_error *err)
{
    char label[60];

    FR_TRY(fill_all(x, err));
    FR_TRY(fr__reduce_make_room(x, err));
    for (uint32_t b = 0; b < x->sets.n; b++) {
        snprintf(label, sizeof(label), "%sbucket %u of stage %u",
                 x->part_of_set[b] ? "experts' " : "", b, x->stage_of_set[b]);
        fr__reduce_add_collectives(x, b, label);
        fr__reduce_log(x, b);
    }
    return FR_OK;
}
