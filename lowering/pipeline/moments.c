/* lowering/pipeline/moments.c - the walk over a rank's actions. */
#include "config.h"

#include "lowering/pipeline/moments.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Of one rank. A moment is a row of 2 n_stages counts: whole ones, then half ones. */
struct walking {
    const struct fr_schedule *s;
    uint32_t *place_of; /* [n_stages] of the schedule: place among the rank's */
    uint32_t *stages;   /* [n] */
    uint32_t *now;      /* [width] */
    uint32_t *kept;     /* [cap][width] */
    size_t n, width, n_kept, cap;
    bool is_rising; /* since the last moment that was looked at */
};

static bool has_all_of(const uint32_t *a, const uint32_t *b, size_t width)
{
    for (size_t i = 0; i < width; i++)
        if (a[i] < b[i])
            return false;
    return true;
}

/* The counts now, unless a moment before has as much; what they have as much as goes. */
static bool keep(struct walking *x)
{
    size_t left = 0, bytes = x->width * sizeof(*x->kept);

    for (size_t i = x->n_kept; i-- > 0;) /* the latest first: it is the likeliest */
        if (has_all_of(x->kept + i * x->width, x->now, x->width))
            return true;
    for (size_t i = 0; i < x->n_kept; i++)
        if (!has_all_of(x->now, x->kept + i * x->width, x->width))
            memmove(x->kept + left++ * x->width, x->kept + i * x->width, bytes);
    x->n_kept = left;
    if (x->n_kept == x->cap) {
        size_t cap = 2 * x->cap + 8;
        uint32_t *more = realloc(x->kept, cap * bytes);

        if (!more)
            return false;
        x->kept = more;
        x->cap = cap;
    }
    memcpy(x->kept + x->n_kept++ * x->width, x->now, bytes);
    return true;
}

/* Most is held just before something goes. */
static bool run(struct walking *x, unsigned kind, uint32_t stage)
{
    uint32_t *whole = x->now + x->place_of[stage], *half = whole + x->n;

    if (kind == FR_ACTION_F) {
        ++*whole;
        x->is_rising = true;
        return true;
    }
    if (kind != FR_ACTION_B && kind != FR_ACTION_I && kind != FR_ACTION_W)
        return true;
    if (x->is_rising && !keep(x))
        return false;
    x->is_rising = kind == FR_ACTION_I;
    if (kind == FR_ACTION_W) {
        --*half;
        return true;
    }
    --*whole;
    *half += kind == FR_ACTION_I;
    return true;
}

/* The forward of an overlapped pair comes first: it runs beside the other. */
static bool run_action(struct walking *x, const struct fr_action *a)
{
    return run(x, a->kind, a->stage) &&
           (a->with == FR_ACTION_NONE || run(x, a->with, a->with_stage));
}

static bool walk(struct walking *x, uint32_t rank)
{
    x->n_kept = 0;
    x->is_rising = false;
    memset(x->now, 0, x->width * sizeof(*x->now));
    for (size_t i = x->s->first[rank]; i < x->s->first[rank + 1]; i++)
        if (fr_action_computes(&x->s->actions[i]) && !run_action(x, &x->s->actions[i]))
            return false;
    return keep(x);
}

static bool give(struct fr__moments *out, const struct walking *x, struct fr__arena *arena)
{
    uint32_t *stages = fr__arena_alloc(arena, x->n, sizeof(*stages));
    uint32_t *counts = fr__arena_alloc(arena, x->n_kept * x->width, sizeof(*counts));

    if (!stages || !counts)
        return false;
    memcpy(stages, x->stages, x->n * sizeof(*stages));
    memcpy(counts, x->kept, x->n_kept * x->width * sizeof(*counts));
    *out =
        (struct fr__moments){.n = x->n_kept, .n_stages = x->n, .stages = stages, .counts = counts};
    return true;
}

static bool find(struct walking *x, uint32_t rank, const uint32_t rank_of[],
                 struct fr__moments *out, struct fr__arena *arena)
{
    x->n = 0;
    for (uint32_t k = 0; k < x->s->n_stages; k++)
        if (rank_of[k] == rank) {
            x->place_of[k] = (uint32_t)x->n;
            x->stages[x->n++] = k;
        }
    x->width = 2 * x->n;
    x->cap = 0;
    free(x->kept);
    x->kept = NULL;
    return walk(x, rank) && give(out, x, arena);
}

enum fr_status fr__moments_find(const struct fr__moments **out, const struct fr_schedule *s,
                                const uint32_t rank_of[], struct fr__arena *arena,
                                struct fr_error *err)
{
    struct fr__moments *m = fr__arena_alloc(arena, s->n_ranks, sizeof(*m));
    struct walking x = {.s = s};
    bool is_done;

    x.place_of = malloc(s->n_stages * sizeof(*x.place_of));
    x.stages = malloc(s->n_stages * sizeof(*x.stages));
    x.now = malloc(2 * (size_t)s->n_stages * sizeof(*x.now));
    is_done = m && x.place_of && x.stages && x.now;
    for (uint32_t r = 0; is_done && r < s->n_ranks; r++)
        is_done = find(&x, r, rank_of, &m[r], arena);
    free(x.place_of);
    free(x.stages);
    free(x.now);
    free(x.kept);
    *out = m;
    return is_done ? FR_OK : fr__fail_nomem(err);
}
