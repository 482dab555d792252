/* study/explain/step_products.c - products of a step by sizes; see step_products.h. */
#include "config.h"

#include "study/explain/step_products.h"

#include "base/error.h"
#include "lowering/params.h"
#include "lowering/products.h"

#include <string.h>

struct rows {
    const struct fr_problem *in;
    uint32_t type;
    struct fr__step_row *row;
    size_t n;
};

static bool are_alike(const struct fr__tensors *a, const struct fr__tensors *b)
{
    return a->n_dims == b->n_dims && memcmp(a->dims, b->dims, sizeof(a->dims)) == 0;
}

static void add_tensors(struct rows *x, const struct fr__weights *of, bool is_matrix)
{
    const struct fr__tensors *t = is_matrix ? &of->matrices : &of->vectors;
    struct fr__weights one = {.is_end = of->is_end};
    struct fr_cost cost = {.mean_s = 0};
    struct fr__step_row row = {.tensors = *t};
    size_t i = 0;

    if (!(t->n > 0))
        return;
    *(is_matrix ? &one.matrices : &one.vectors) = *t;
    one.matrices.n = is_matrix;
    one.vectors.n = !is_matrix;
    row.flops = fr__step_flops(x->in->optimizer, &one);
    if (!(row.flops > 0))
        return;
    while (i < x->n && !are_alike(&x->row[i].tensors, t))
        i++;
    if (i < x->n) {
        x->row[i].tensors.n += t->n;
        return;
    }
    fr__price_products(x->in, x->type, &one, 1, &cost);
    row.time_s = cost.mean_s;
    x->row[x->n++] = row;
}

enum fr_status fr__step_rows(struct fr__step_row **rows, size_t *n, const struct fr_problem *in,
                             const struct fr_graph *g, struct fr__arena *arena,
                             struct fr_error *err)
{
    struct rows x = {.in = in, .type = in->topo->devices[in->devices[0]].type};
    struct fr__params p;

    *n = 0;
    FR_TRY(fr__params_find(&p, g, arena, err));
    x.row = fr__arena_alloc(arena, 2 * p.n_owners, sizeof(*x.row));
    if (!x.row)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < p.n_owners; i++) {
        if (p.owners[i].n_updates == 0)
            continue;
        add_tensors(&x, &p.owners[i].weights, true);
        add_tensors(&x, &p.owners[i].weights, false);
    }
    *rows = x.row;
    *n = x.n;
    return FR_OK;
}
