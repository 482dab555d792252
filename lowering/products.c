/* lowering/products.c - products of a step; see products.h. */
#include "config.h"

#include "lowering/products.h"

#include "calibrate/cost/memo.h"
#include "calibrate/power/clocks.h"

#include <math.h>

static const double MUON_ITERATIONS = 5;
/* FLOPs over d^3 */
static const double EIGENVECTORS = 9, QR = 8.0 / 3;

struct taking {
    void (*take)(void *user, const struct fr__product *p);
    void *user;
    double times;
};

static void take(const struct taking *t, double rows, double columns, double depth, double times)
{
    const struct fr__product p = {rows, columns, depth, t->times * times};

    if (p.times > 0)
        t->take(t->user, &p);
}

static void take_muon(const struct taking *t, const struct fr__tensors *matrix)
{
    double rows = matrix->dims[0], others = fr__tensor_elements_of(matrix) / rows;
    double m = fmin(rows, others), n = fmax(rows, others);

    take(t, m, m, n, MUON_ITERATIONS);
    take(t, m, m, m, MUON_ITERATIONS);
    take(t, m, n, m, MUON_ITERATIONS);
}

/* As many blocks of one size; n_dims sizes. */
static void take_block(const struct taking *t, const struct fr__tensors *block, double every)
{
    double all = fr__tensor_elements_of(block);

    for (unsigned k = 0; k < block->n_dims; k++) {
        double d = block->dims[k], rest = all / d;

        take(t, d, d, rest, block->n);
        take(t, d, rest, d, block->n);
        take(t, d, d, d * (EIGENVECTORS / 2 + 1), block->n / every);
    }
}

/* Blocks are whole or what is left in each dim: a bit of `which` says so. */
static void take_shampoo(const struct taking *t, const struct fr__tensors *tensor,
                         const struct fr__optimizer *o)
{
    struct fr__tensors m = fr__merged_dims(tensor, o->most);

    for (unsigned which = 0; which < 1u << m.n_dims; which++) {
        struct fr__tensors block = {.n = 1, .n_dims = m.n_dims};

        for (unsigned d = 0; d < m.n_dims; d++) {
            double whole = floor(m.dims[d] / o->most), rest = m.dims[d] - whole * o->most;
            bool is_rest = which >> d & 1;

            block.dims[d] = is_rest ? rest : o->most;
            block.n *= is_rest ? rest > 0 : whole;
        }
        if (block.n > 0)
            take_block(t, &block, o->every);
    }
}

static void take_soap(const struct taking *t, const struct fr__tensors *tensor,
                      const struct fr__optimizer *o)
{
    double all = fr__tensor_elements_of(tensor);

    for (unsigned k = 0; k < tensor->n_dims; k++) {
        double d = tensor->dims[k], rest = all / d;

        if (d > o->most)
            continue;
        take(t, d, d, rest, 1);
        take(t, d, rest, d, 2 + 2 / o->every);
        take(t, d, d, d, 3 / o->every);
        take(t, d, d, d * QR / 2, 1 / o->every);
    }
}

static void take_tensors(const struct taking *t, enum fr_optimizer optimizer,
                         const struct fr__tensors *tensors)
{
    const struct fr__optimizer *o = fr__optimizer_at(optimizer);
    const struct taking each = {t->take, t->user, tensors->n};

    switch (o->rule) {
    case FR__RULE_MUON:
        take_muon(&each, tensors);
        break;
    case FR__RULE_SHAMPOO:
        take_shampoo(&each, tensors, o);
        break;
    case FR__RULE_SOAP:
        take_soap(&each, tensors, o);
        break;
    default:
        break;
    }
}

void fr__step_products(enum fr_optimizer o, const struct fr__weights *w,
                       void (*take_one)(void *user, const struct fr__product *p), void *user)
{
    const struct taking t = {take_one, user, 1};

    if (w->matrices.n > 0 && fr__rule_holds(o, w, true))
        take_tensors(&t, o, &w->matrices);
    if (w->vectors.n > 0 && fr__rule_holds(o, w, false))
        take_tensors(&t, o, &w->vectors);
}

static void add_flops(void *user, const struct fr__product *p)
{
    double *sum = user;

    *sum += 2 * p->rows * p->columns * p->depth * p->times;
}

double fr__step_flops(enum fr_optimizer o, const struct fr__weights *w)
{
    double sum = 0;

    fr__step_products(o, w, add_flops, &sum);
    return sum;
}

/* ---- time ---- */

struct pricing {
    const struct fr_problem *in;
    uint32_t type;
    double share;
    struct fr_cost *cost;
};

static enum fr_dtype format_of(const struct fr_problem *in)
{
    if (fr__optimizer_at(in->optimizer)->rule == FR__RULE_MUON)
        return FR_BF16;
    return in->graph->dtype == FR_TF32 ? FR_TF32 : FR_FP32;
}

static void add_product(void *user, const struct fr__product *p)
{
    const struct pricing *x = user;
    const struct fr_cost_product product = {p->rows, p->columns, p->depth, format_of(x->in)};
    double times = p->times * x->share;
    struct fr_cost one, *sum = x->cost;

    if (x->in->memo)
        fr__cost_memo_product(x->in->memo, x->type, &product, &one);
    else
        fr_cost_product(x->in->costs, x->type, &product, &one);
    if (x->in->clocks) {
        const struct fr__clock clock = fr__clock_of_type(x->in->clocks, x->type);

        fr__clock_apply(&clock, &one);
    }
    if (sum->mean_s + times * one.mean_s > 0)
        sum->error_frac = (sum->error_frac * sum->mean_s + one.error_frac * times * one.mean_s) /
                          (sum->mean_s + times * one.mean_s);
    sum->mean_s += times * one.mean_s;
    sum->flops_s += times * one.flops_s;
    sum->bytes_s += times * one.bytes_s;
    sum->launch_s += times * one.launch_s;
    if (sum->trust < one.trust)
        sum->trust = one.trust;
}

void fr__price_products(const struct fr_problem *in, uint32_t type, const struct fr__weights *w,
                        double share, struct fr_cost *cost)
{
    struct pricing x = {in, type, share, cost};

    fr__step_products(in->optimizer, w, add_product, &x);
    /* the time is that of what bounds most of it (struct fr_cost) */
    if (cost->flops_s > cost->bytes_s)
        cost->flops_s = cost->mean_s;
    else if (cost->bytes_s > 0)
        cost->bytes_s = cost->mean_s;
}
