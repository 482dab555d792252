/* study/layouts/coarse_bytes.c - the bytes of a pipelined layout from what its layers hold.
 *
 * The actions of a rank are gone through in their order: a forward pass adds what its stage keeps,
 * a backward pass takes it away, and each needs its own most meanwhile. Where a schedule cuts the
 * backward pass in two, what gradients of weights read stays until these are made. Gradients of
 * parameters come with the first backward pass of a stage and stay.
 *
 * Ignores:  how an allocator cuts memory up.
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/error.h"
#include "lowering/schedules/schedule.h"

#include <math.h>
#include <stdlib.h>

/* Bytes of a stage for one micro-batch: what is kept from the forward pass on, what waits for the
 * gradients of weights, the most during each pass; the first backward pass makes gradients as it
 * goes. */
struct stage {
    double kept, between;
    double forward, backward, input, weight;
    double first_backward, first_weight;
    double gradients, fixed;
    bool has_gradients; /* while actions are gone through */
};

struct stages {
    uint32_t n;
    struct stage *of; /* [n] */
};

static void raise(double *most, double value)
{
    *most = fmax(*most, value);
}

/* Whether item i is a head that shares the embedding's table, on a rank that has both. The mesh was
 * read from a run in which each end has a table; it counts once here. The rest of the item, a
 * norm's parameters, is left out with it, so that bytes stay below those op by op. */
static bool is_second_table(const struct fr__coarse *c, size_t i)
{
    uint32_t last = c->layout->pp * c->layout->n_virtual - 1;

    return i + 1 == c->block->n_items && (c->mesh->tied_gradient_s > 0 || c->mesh->ends_s > 0) &&
           fr__coarse_rank_of_stage(c->layout, 0) == fr__coarse_rank_of_stage(c->layout, last);
}

static double gradients_of(const struct fr__coarse *c, size_t i)
{
    /* with zero=2 and 3 each end's leave with every micro-batch */
    return is_second_table(c, i) && c->layout->zero < 2 ? 0 : c->mesh->gradient_bytes[i];
}

/* sums: of the items of the stage below item i; s: of all its items. */
static void raise_most(const struct fr__coarse *c, struct stage *s, const struct stage *sums,
                       size_t i)
{
    const struct fr__block *b = c->block;
    double gradients = gradients_of(c, i);
    double above = s->gradients - sums->gradients - gradients; /* made before */
    double waiting = s->between - sums->between - c->scale * b->between_bytes[i];
    double backward = sums->kept + c->scale * b->backward_bytes[i];
    double weight = sums->between + c->scale * b->weight_bytes[i];

    raise(&s->forward, sums->kept + c->scale * b->forward_bytes[i]);
    raise(&s->backward, backward);
    raise(&s->first_backward, backward + above + fmin(b->backward_own[i], gradients));
    raise(&s->input, sums->kept + waiting + c->scale * b->input_bytes[i]);
    raise(&s->weight, weight);
    raise(&s->first_weight, weight + above + fmin(b->weight_own[i], gradients));
}

static void add(const struct fr__coarse *c, struct stage *s, size_t i)
{
    const struct fr__block *b = c->block;

    s->kept += c->scale * b->kept_bytes[i];
    if (c->layout->n_micros == 1)
        s->kept += c->scale * b->held_bytes[i];
    s->between += c->scale * b->between_bytes[i];
    s->gradients += gradients_of(c, i);
    s->fixed += is_second_table(c, i) ? 0 : c->mesh->kept_bytes[i];
}

static enum fr_status make_stages(const struct fr__coarse *c, struct stages *out,
                                  struct fr_error *err)
{
    uint32_t n = c->layout->pp * c->layout->n_virtual, last = FR_NONE;
    size_t n_items = c->block->n_items;
    struct stage sums = {0};

    *out = (struct stages){n, calloc(n, sizeof(*out->of))};
    if (!out->of)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n_items; i++)
        add(c, &out->of[fr__stage_of_item(i, n_items, n)], i);
    for (size_t i = 0; i < n_items; i++) {
        uint32_t k = fr__stage_of_item(i, n_items, n);

        if (k != last)
            sums = (struct stage){0};
        last = k;
        raise_most(c, &out->of[k], &sums, i);
        add(c, &sums, i);
    }
    return FR_OK;
}

/* What a rank holds while its actions are gone through. */
struct holding {
    struct stages *st;
    double now, most; /* activations and gradients */
};

/* The gradients of a stage are made by the first pass that needs `first` on top of what is held. */
static void make_gradients(struct holding *h, struct stage *s, double before, double first,
                           double again)
{
    raise(&h->most, before + (s->has_gradients ? again : first));
    if (!s->has_gradients)
        h->now += s->gradients;
    s->has_gradients = true;
}

static void take(struct holding *h, unsigned kind, uint32_t stage)
{
    struct stage *s = &h->st->of[stage];

    switch (kind) {
    case FR_ACTION_F:
        raise(&h->most, h->now + s->forward);
        h->now += s->kept;
        break;
    case FR_ACTION_B:
        make_gradients(h, s, h->now - s->kept, s->first_backward, s->backward);
        h->now -= s->kept;
        break;
    case FR_ACTION_I:
        raise(&h->most, h->now - s->kept + s->input);
        h->now += s->between - s->kept;
        break;
    case FR_ACTION_W:
        make_gradients(h, s, h->now - s->between, s->first_weight, s->weight);
        h->now -= s->between;
        break;
    default:
        break;
    }
}

static double most_of_rank(struct stages *st, const struct fr_schedule *s, uint32_t rank)
{
    struct holding h = {.st = st};

    for (size_t i = s->first[rank]; i < s->first[rank + 1]; i++) {
        const struct fr_action *a = &s->actions[i];

        take(&h, a->kind, a->stage);
        if (a->with != FR_ACTION_NONE)
            take(&h, a->with, a->with_stage);
    }
    return h.most;
}

static void find_most(const struct fr__coarse *c, struct stages *st, const struct fr_schedule *s,
                      double *bytes, uint32_t *rank)
{
    *bytes = 0;
    *rank = 0;
    for (uint32_t k = 0; k < st->n; k++)
        st->of[k].has_gradients = false;
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        double fixed = c->mesh->context_bytes, most;

        for (uint32_t k = 0; k < st->n; k++)
            fixed += fr__coarse_rank_of_stage(c->layout, k) == r ? st->of[k].fixed : 0;
        most = fixed + most_of_rank(st, s, r);
        if (most > *bytes) {
            *bytes = most;
            *rank = r;
        }
    }
}

static enum fr_status bytes_at(const struct fr__coarse *c, struct stages *st, uint32_t n_micros,
                               double *bytes, uint32_t *rank, struct fr_error *err)
{
    struct fr_schedule *s;

    FR_TRY(fr__coarse_schedule(c->layout, n_micros, &s, err));
    find_most(c, st, s, bytes, rank);
    fr_schedule_free(s);
    return FR_OK;
}

/* A schedule that keeps all micro-batches keeps as many more each turn. */
enum fr_status fr__coarse_bytes(const struct fr__coarse *c, double *bytes, uint32_t *rank,
                                struct fr_error *err)
{
    uint32_t few = fr__coarse_fewer_micros(c->layout), turn = c->layout->pp;
    struct stages st;
    double longer = 0;
    enum fr_status status;

    FR_TRY(make_stages(c, &st, err));
    status = bytes_at(c, &st, few, bytes, rank, err);
    if (status == FR_OK && few < c->layout->n_micros) {
        status = bytes_at(c, &st, few + turn, &longer, rank, err);
        *bytes = longer + (longer - *bytes) * ((c->layout->n_micros - few) / turn - 1);
    }
    free(st.of);
    return status;
}
