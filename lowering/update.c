/* lowering/update.c - how software runs an optimizer's step, by name; see update.h. */
#include "config.h"

#include "lowering/update.h"

#include "base/error.h"
#include "lowering/placer.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static enum fr_status find(size_t *row, const char *name, size_t length, const char *what,
                           struct fr_error *err)
{
    const char *known[FR__MOST_UPDATES];
    char copy[64], hint[128];

    for (*row = 0; *row < fr__n_updates; ++*row) {
        known[*row] = fr__updates[*row].name;
        if (strlen(known[*row]) == length && strncmp(known[*row], name, length) == 0)
            return FR_OK;
    }
    snprintf(copy, sizeof(copy), "%.*s", (int)(length < 60 ? length : 60), name);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s: no way to run a step is called '%s'%s", what,
                    copy, fr__did_you_mean(copy, known, fr__n_updates, hint, sizeof(hint)));
}

/* Of gradients there may be several, of an optimizer one. */
static const struct fr__update *same_kind(uint64_t updates, size_t row)
{
    for (size_t i = 0; i < fr__n_updates; i++)
        if ((updates >> i & 1) && i != row && fr__updates[i].of == fr__updates[row].of &&
            fr__updates[i].of != FR__UPDATES_GRADIENTS)
            return &fr__updates[i];
    return NULL;
}

enum fr_status fr__updates_read(uint64_t *out, const char *names, const char *what,
                                struct fr_error *err)
{
    const struct fr__update *other;
    uint64_t updates = 0;
    size_t row;

    for (const char *at = names; strcmp(names, "none") != 0;) {
        size_t length = strcspn(at, "+");

        FR_TRY(find(&row, at, length, what, err));
        other = same_kind(updates, row);
        if (other)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s: '%s' and '%s' are of one optimizer",
                            what, other->name, fr__updates[row].name);
        updates |= (uint64_t)1 << row;
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    *out = updates;
    return FR_OK;
}

const char *fr__updates_text(uint64_t updates, char *buf, size_t n)
{
    size_t used = 0;

    snprintf(buf, n, "none");
    for (size_t i = 0; i < fr__n_updates && used < n; i++)
        if (updates >> i & 1)
            used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? "+" : "",
                                     fr__updates[i].name);
    return buf;
}

const struct fr__update *fr__update_of(uint64_t updates, enum fr_optimizer optimizer)
{
    for (size_t i = 0; i < fr__n_updates; i++)
        if ((updates >> i & 1) &&
            ((fr__updates[i].of == FR__UPDATES_ADAM && optimizer == FR_ADAM) ||
             (fr__updates[i].of == FR__UPDATES_MOMENTUM && optimizer == FR_MOMENTUM)))
            return &fr__updates[i];
    return NULL;
}

uint64_t fr__updates_of_gradients(uint64_t updates)
{
    uint64_t of_gradients = 0;

    for (size_t i = 0; i < fr__n_updates; i++)
        if (fr__updates[i].of == FR__UPDATES_GRADIENTS)
            of_gradients |= updates & (uint64_t)1 << i;
    return of_gradients;
}

/* ---- prices ---- */

/* A bias, or what a norm has: left out of weight decay. */
static bool is_small(enum fr_op_kind kind)
{
    return kind == FR_OP_BIAS || kind == FR_OP_BATCHNORM || kind == FR_OP_LAYERNORM ||
           kind == FR_OP_RMSNORM;
}

static double bytes_of(const struct fr__placer *pl, const struct fr__update *u,
                       enum fr_op_kind kind)
{
    const unsigned fp32_bytes = 4;

    if (kind == FR_OP_EMBEDDING && u->table_bytes > 0)
        return u->table_bytes;
    if (pl->graph->param_elem_bytes < fp32_bytes && u->narrow_bytes > 0)
        return u->narrow_bytes;
    return u->bytes;
}

/* The first tensor has nearly all parameters. The others are biases, unless the owner is a norm,
 * whose tensors are all small. */
static void price_chain(const struct fr__placer *pl, uint32_t type, const struct fr__update *u,
                        bool is_norm, double n_tensors, double bytes, struct fr_cost *cost)
{
    double of_small = u->small_kernels > 0 ? u->small_kernels : u->kernels;
    double of_first = is_norm ? of_small : u->kernels, n_small = of_small * (n_tensors - 1);
    struct fr_cost small;

    fr__price_bytes(pl->in, type, bytes / of_first, FR_OP_GRAD_ADD, cost);
    fr__price_bytes(pl->in, type, 1, FR_OP_GRAD_ADD, &small);
    cost->mean_s = of_first * cost->mean_s + n_small * small.mean_s;
    cost->launch_s *= of_first + n_small;
}

void fr__price_update(const struct fr__placer *pl, uint32_t type, const struct fr__update *u,
                      const struct fr__owner *w, uint64_t param_bytes, double shards,
                      struct fr_cost *cost)
{
    const double many_bytes = 1e9, list_tensors = 36, drain_s = 30e-6;
    enum fr_op_kind kind = pl->graph->ops[w->op].kind;
    double part = (double)param_bytes / (double)w->bytes, n_tensors = part * w->n_tensors;
    double bytes =
        (double)param_bytes / pl->graph->param_elem_bytes / shards * bytes_of(pl, u, kind);

    if (u->kernels > 0) {
        price_chain(pl, type, u, is_small(kind), n_tensors, bytes, cost);
    } else {
        fr__price_bytes(pl->in, type, many_bytes, FR_OP_GRAD_ADD, cost);
        cost->mean_s *= bytes / many_bytes;
        cost->launch_s *= n_tensors / list_tensors;
    }
    cost->kind = FR_OP_UPDATE;
    cost->mean_s += u->drains * n_tensors * drain_s;
    cost->flops_s = 0;
    cost->bytes_s = cost->mean_s;
}
