/* lowering/share.c - whole tensors, the largest first, to the rank that has least; see share.h. */
#include "config.h"

#include "lowering/share.h"

#include "base/error.h"
#include "lowering/products.h"

#include <stdlib.h>

/* A tensor to share out, or what a rank has. */
struct load {
    double elements, flops;
    size_t number; /* in graph order, or of the rank: it decides where the others are equal */
};

static size_t count_of(const struct fr__weights *w, bool is_matrix, enum fr_optimizer o)
{
    const struct fr__tensors *t = is_matrix ? &w->matrices : &w->vectors;

    return t->n > 0 && fr__rule_holds(o, w, is_matrix) ? (size_t)t->n : 0;
}

/* One tensor of them alone. */
static struct load load_of(const struct fr__weights *w, bool is_matrix, enum fr_optimizer o)
{
    struct fr__weights one = {.is_end = w->is_end};
    const struct fr__tensors *t = is_matrix ? &w->matrices : &w->vectors;
    struct fr__tensors *own = is_matrix ? &one.matrices : &one.vectors;

    *own = *t;
    own->n = 1;
    return (struct load){fr__tensor_elements_of(t), fr__step_flops(o, &one), 0};
}

static int by_size(const void *a, const void *b)
{
    const struct load *x = a, *y = b;

    if (x->elements > y->elements || x->elements < y->elements)
        return x->elements > y->elements ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool has_less(const struct load *a, const struct load *b)
{
    if (a->elements < b->elements || a->elements > b->elements)
        return a->elements < b->elements;
    return a->number < b->number;
}

/* The least of a heap has grown: puts it where it belongs. */
static void sink(struct load heap[], size_t n)
{
    size_t at = 0;

    for (;;) {
        size_t least = at;
        struct load moved;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++)
            if (has_less(&heap[child], &heap[least]))
                least = child;
        if (least == at)
            return;
        moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

static double over_mean(double most, double sum, uint32_t n)
{
    return sum > 0 ? most * n / sum : 1;
}

static struct fr__busiest share_out(struct load tensors[], size_t n, struct load ranks[],
                                    uint32_t n_ranks)
{
    struct load sum = {0, 0, 0}, most = {0, 0, 0};

    qsort(tensors, n, sizeof(*tensors), by_size);
    for (uint32_t r = 0; r < n_ranks; r++)
        ranks[r] = (struct load){0, 0, r};
    for (size_t i = 0; i < n; i++) {
        ranks[0].elements += tensors[i].elements;
        ranks[0].flops += tensors[i].flops;
        sum.elements += tensors[i].elements;
        sum.flops += tensors[i].flops;
        if (most.elements < ranks[0].elements)
            most.elements = ranks[0].elements;
        if (most.flops < ranks[0].flops)
            most.flops = ranks[0].flops;
        sink(ranks, n_ranks);
    }
    return (struct fr__busiest){over_mean(most.elements, sum.elements, n_ranks),
                                over_mean(most.flops, sum.flops, n_ranks)};
}

enum fr_status fr__share_out(struct fr__busiest *out, const struct fr__params *p,
                             const uint32_t owners[], size_t n_owners, uint32_t n_ranks,
                             enum fr_optimizer optimizer, struct fr__arena *arena,
                             struct fr_error *err)
{
    struct fr__mark mark = fr__arena_mark(arena);
    struct load *tensors, *ranks;
    size_t n = 0, filled = 0;

    for (size_t i = 0; i < n_owners; i++)
        n += count_of(&p->owners[owners[i]].weights, true, optimizer) +
             count_of(&p->owners[owners[i]].weights, false, optimizer);
    *out = (struct fr__busiest){1, 1};
    if (n == 0 || n_ranks <= 1)
        return FR_OK;
    tensors = fr__arena_alloc(arena, n, sizeof(*tensors));
    ranks = fr__arena_alloc(arena, n_ranks, sizeof(*ranks));
    if (!tensors || !ranks)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n_owners; i++)
        for (int is_matrix = 0; is_matrix <= 1; is_matrix++) {
            const struct fr__weights *w = &p->owners[owners[i]].weights;

            for (size_t k = count_of(w, is_matrix, optimizer); k > 0; k--) {
                tensors[filled] = load_of(w, is_matrix, optimizer);
                tensors[filled].number = filled;
                filled++;
            }
        }
    *out = share_out(tensors, n, ranks, n_ranks);
    fr__arena_rewind(arena, mark);
    return FR_OK;
}
