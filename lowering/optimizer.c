/* lowering/optimizer.c - what optimizers keep; see optimizer.h. */
#include "config.h"

#include "lowering/optimizer.h"

#include <math.h>
#include <string.h>

static const double BLOCK = 256, LEAST_PACKED = 4096, FP32_BYTES = 4;

const char *fr_optimizer_name(enum fr_optimizer o)
{
    return (unsigned)o < FR_N_OPTIMIZERS ? fr__optimizers[o].name : NULL;
}

enum fr_optimizer fr_optimizer_parse(const char *name)
{
    unsigned o = 0;

    while (o < FR_N_OPTIMIZERS && strcmp(fr__optimizers[o].name, name) != 0)
        o++;
    return (enum fr_optimizer)o;
}

const struct fr__optimizer *fr__optimizer_at(enum fr_optimizer o)
{
    return &fr__optimizers[o];
}

double fr__large_state_bytes(enum fr_optimizer o, double state_bytes)
{
    const struct fr__optimizer *k = fr__optimizer_at(o);

    return k->states * state_bytes + k->packed * (1 + FP32_BYTES / BLOCK);
}

double fr_optimizer_bytes(enum fr_optimizer o)
{
    return fr__large_state_bytes(o, FP32_BYTES);
}

bool fr__takes_whole_tensors(enum fr_optimizer o)
{
    enum fr__matrix_rule rule = fr__optimizer_at(o)->rule;

    return rule == FR__RULE_MUON || rule == FR__RULE_SHAMPOO || rule == FR__RULE_SOAP;
}

bool fr__rule_holds(enum fr_optimizer o, const struct fr__weights *w, bool is_matrix)
{
    switch (fr__optimizer_at(o)->rule) {
    case FR__RULE_MUON:
        return is_matrix && !w->is_end;
    case FR__RULE_SOAP:
        return is_matrix;
    case FR__RULE_FACTORED:
    case FR__RULE_SHAMPOO:
        return true;
    default:
        return false;
    }
}

/* ---- what the rules add, in numbers ---- */

/* Of the last two dims; of a vector its own. */
static double factors(const struct fr__tensors *t)
{
    double n = 1;

    if (t->n_dims < 2)
        return t->dims[0];
    for (unsigned d = 0; d + 2 < t->n_dims; d++)
        n *= t->dims[d];
    return n * (t->dims[t->n_dims - 2] + t->dims[t->n_dims - 1]);
}

struct fr__tensors fr__merged_dims(const struct fr__tensors *t, double most)
{
    struct fr__tensors m = {.n = t->n, .dims = {t->dims[0]}, .n_dims = 1};

    for (unsigned d = 1; d < t->n_dims; d++) {
        double *last = &m.dims[m.n_dims - 1];

        if (*last * t->dims[d] <= most)
            *last *= t->dims[d];
        else
            m.dims[m.n_dims++] = t->dims[d];
    }
    return m;
}

/* Each dim is cut into blocks; a block has a pair of matrices for each of its own dims. */
static double block_pairs(const struct fr__tensors *t, double most)
{
    struct fr__tensors m = fr__merged_dims(t, most);
    double sum = 0;

    for (unsigned d = 0; d < m.n_dims; d++) {
        double whole = floor(m.dims[d] / most), rest = m.dims[d] - whole * most;
        double pairs = 2 * (whole * most * most + rest * rest);

        for (unsigned other = 0; other < m.n_dims; other++)
            pairs *= other == d ? 1 : ceil(m.dims[other] / most);
        sum += pairs;
    }
    return sum;
}

static double dim_pairs(const struct fr__tensors *t, double most)
{
    double sum = 0;

    for (unsigned d = 0; d < t->n_dims; d++)
        sum += t->dims[d] > most ? 0 : 2 * t->dims[d] * t->dims[d];
    return sum;
}

static double added(const struct fr__optimizer *k, const struct fr__tensors *t)
{
    switch (k->rule) {
    case FR__RULE_FACTORED:
        return factors(t);
    case FR__RULE_SHAMPOO:
        return block_pairs(t, k->most);
    case FR__RULE_SOAP:
        return dim_pairs(t, k->most);
    default:
        return 0;
    }
}

/* ---- bytes ---- */

static double tensor_bytes(enum fr_optimizer o, const struct fr__weights *w,
                           const struct fr__tensors *t, double state_bytes)
{
    const struct fr__optimizer *k = fr__optimizer_at(o);
    double n = fr__tensor_elements_of(t), of_packed = n * FP32_BYTES;
    bool follows = k->rule == FR__RULE_NONE || fr__rule_holds(o, w, t->n_dims > 1);

    if (!follows)
        return k->other_states * n * state_bytes;
    if (n >= LEAST_PACKED)
        of_packed = n + ceil(n / BLOCK) * FP32_BYTES;
    return (k->states * n + added(k, t)) * state_bytes + k->packed * of_packed;
}

double fr__states_bytes(enum fr_optimizer o, const struct fr__weights *w, double state_bytes)
{
    double sum = 0;

    if (w->matrices.n > 0)
        sum += w->matrices.n * tensor_bytes(o, w, &w->matrices, state_bytes);
    if (w->vectors.n > 0)
        sum += w->vectors.n * tensor_bytes(o, w, &w->vectors, state_bytes);
    return sum;
}
