/* strategies/pipedream/trim.c - the layers that PipeDream plans for, and what needs what.
 *
 * Inputs stay out, as their place is always the first stage; so do items of a tuple
 * ("__getitem__") that nobody reads. For each layer the sets of all layers before and after it are
 * kept as bits.
 */
#include "config.h"

#include "strategies/pipedream/pipedream.h"

#include "base/bits.h"
#include "base/error.h"

#include <string.h>

enum { MAX_LAYERS = 16384 };

bool fr__pd_meets(const uint64_t *a, const uint64_t *b, size_t n_words)
{
    for (size_t w = 0; w < n_words; w++)
        if (a[w] & b[w])
            return true;
    return false;
}

bool fr__pd_is_inside(const uint64_t *a, const uint64_t *b, size_t n_words)
{
    for (size_t w = 0; w < n_words; w++)
        if (a[w] & ~b[w])
            return false;
    return true;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Which layers stay. Both tests look at the edges among those that were not taken out before. */
static enum fr_status choose(struct fr__arena *a, const struct fr_profile *p, bool **out,
                             struct fr_error *err)
{
    bool *stays = fr__arena_alloc(a, p->n_layers, sizeof(*stays));
    bool *is_read = fr__arena_alloc(a, p->n_layers, sizeof(*is_read));
    bool *reads = fr__arena_alloc(a, p->n_layers, sizeof(*reads));

    if (!stays || !is_read || !reads)
        return fr__fail_nomem(err);
    for (size_t e = 0; e < p->n_edges; e++)
        reads[p->edges[e][1]] = true;
    for (size_t v = 0; v < p->n_layers; v++)
        stays[v] = reads[v] || !begins(p->layers[v].description, "Input");
    for (size_t e = 0; e < p->n_edges; e++)
        is_read[p->edges[e][0]] = true; /* readers of a layer read it, so they all stay */
    for (size_t v = 0; v < p->n_layers; v++)
        if (!is_read[v] && begins(p->layers[v].description, "__getitem__"))
            stays[v] = false;
    *out = stays;
    return FR_OK;
}

static enum fr_status number(struct fr__arena *a, const struct fr_profile *p,
                             struct fr__pd_layers *l, uint32_t **number_of, struct fr_error *err)
{
    uint32_t *of = fr__arena_alloc(a, p->n_layers, sizeof(*of));
    bool *stays = NULL;

    FR_TRY(choose(a, p, &stays, err));
    for (size_t v = 0; v < p->n_layers; v++)
        l->n += stays[v];
    if (l->n == 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "profile '%s' has no layers besides inputs",
                        p->name);
    if (l->n > MAX_LAYERS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "profile '%s' has %zu layers, at most %d can be planned", p->name, l->n,
                        MAX_LAYERS);
    l->n_words = (l->n + 63) / 64;
    l->of_profile = fr__arena_alloc(a, l->n, sizeof(*l->of_profile));
    l->both_s = fr__arena_alloc(a, l->n, sizeof(double));
    l->activation_bytes = fr__arena_alloc(a, l->n, sizeof(double));
    l->param_bytes = fr__arena_alloc(a, l->n, sizeof(double));
    if (!of || !l->of_profile || !l->both_s || !l->activation_bytes || !l->param_bytes)
        return fr__fail_nomem(err);
    for (uint32_t v = 0, n = 0; v < p->n_layers; v++) {
        of[v] = FR_NONE;
        if (!stays[v])
            continue;
        l->of_profile[n] = v;
        l->both_s[n] = p->layers[v].both_s;
        l->activation_bytes[n] = p->layers[v].activation_bytes;
        l->param_bytes[n] = p->layers[v].param_bytes;
        of[v] = n++;
    }
    *number_of = of;
    return FR_OK;
}

static enum fr_status join(struct fr__arena *a, const struct fr_profile *p, struct fr__pd_layers *l,
                           const uint32_t *number_of, struct fr_error *err)
{
    uint32_t *fill = fr__arena_alloc(a, l->n, sizeof(*fill));

    l->out_first = fr__arena_alloc(a, l->n + 1, sizeof(*l->out_first));
    l->outs = fr__arena_alloc(a, p->n_edges, sizeof(*l->outs));
    if (!fill || !l->out_first || !l->outs)
        return fr__fail_nomem(err);
    for (size_t e = 0; e < p->n_edges; e++) {
        uint32_t from = number_of[p->edges[e][0]], to = number_of[p->edges[e][1]];

        if (from != FR_NONE && to != FR_NONE)
            l->out_first[from + 1]++;
    }
    for (size_t v = 0; v < l->n; v++)
        l->out_first[v + 1] += l->out_first[v];
    for (size_t e = 0; e < p->n_edges; e++) {
        uint32_t from = number_of[p->edges[e][0]], to = number_of[p->edges[e][1]];

        if (from != FR_NONE && to != FR_NONE)
            l->outs[l->out_first[from] + fill[from]++] = to;
    }
    return FR_OK;
}

/* A topological order: Kahn's algorithm. */
static enum fr_status order_of(struct fr__arena *a, const struct fr_profile *p,
                               const struct fr__pd_layers *l, uint32_t **out, struct fr_error *err)
{
    uint32_t *n_in = fr__arena_alloc(a, l->n, sizeof(*n_in));
    uint32_t *order = fr__arena_alloc(a, l->n, sizeof(*order));
    size_t n = 0;

    if (!n_in || !order)
        return fr__fail_nomem(err);
    for (size_t e = 0; e < l->out_first[l->n]; e++)
        n_in[l->outs[e]]++;
    for (uint32_t v = 0; v < l->n; v++)
        if (n_in[v] == 0)
            order[n++] = v;
    for (size_t at = 0; at < n; at++)
        for (uint32_t e = l->out_first[order[at]]; e < l->out_first[order[at] + 1]; e++)
            if (--n_in[l->outs[e]] == 0)
                order[n++] = l->outs[e];
    for (uint32_t v = 0; v < l->n && n < l->n; v++)
        if (n_in[v] > 0)
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "profile '%s': the edges make a circle that '%s' waits for", p->name,
                            p->layers[l->of_profile[v]].name);
    *out = order;
    return FR_OK;
}

void fr__pd_unite(uint64_t *into, const uint64_t *from, size_t n_words)
{
    for (size_t w = 0; w < n_words; w++)
        into[w] |= from[w];
}

/* PipeDream's rule, member by member of an antichain: a layer that it needs and that feeds a layer
 * which it does not need stays open. */
static void find_open(const struct fr__pd_layers *l, uint32_t v)
{
    const uint64_t *before = l->before + v * l->n_words;

    for (size_t w = 0; w < l->n_words; w++)
        for (uint64_t left = before[w]; left; left &= left - 1) {
            uint32_t u = (uint32_t)(w * 64 + fr__lowest_bit(left));

            for (uint32_t e = l->out_first[u]; e < l->out_first[u + 1]; e++)
                if (l->outs[e] != v && !fr__pd_has(before, l->outs[e])) {
                    fr__pd_add(l->open + v * l->n_words, u);
                    break;
                }
        }
}

static enum fr_status close(struct fr__arena *a, const struct fr_profile *p,
                            struct fr__pd_layers *l, struct fr_error *err)
{
    size_t n_words = l->n_words;
    uint32_t *order = NULL;

    FR_TRY(order_of(a, p, l, &order, err));
    l->before = fr__arena_alloc(a, l->n * n_words, sizeof(uint64_t));
    l->after = fr__arena_alloc(a, l->n * n_words, sizeof(uint64_t));
    l->open = fr__arena_alloc(a, l->n * n_words, sizeof(uint64_t));
    if (!l->before || !l->after || !l->open)
        return fr__fail_nomem(err);
    for (size_t at = 0; at < l->n; at++) {
        uint32_t u = order[at], w = order[l->n - 1 - at];

        for (uint32_t e = l->out_first[u]; e < l->out_first[u + 1]; e++) {
            fr__pd_unite(l->before + l->outs[e] * n_words, l->before + u * n_words, n_words);
            fr__pd_add(l->before + l->outs[e] * n_words, u);
        }
        for (uint32_t e = l->out_first[w]; e < l->out_first[w + 1]; e++) {
            fr__pd_unite(l->after + w * n_words, l->after + l->outs[e] * n_words, n_words);
            fr__pd_add(l->after + w * n_words, l->outs[e]);
        }
    }
    for (uint32_t v = 0; v < l->n; v++)
        find_open(l, v);
    return FR_OK;
}

enum fr_status fr__pd_layers_make(struct fr__arena *a, const struct fr_profile *p,
                                  struct fr__pd_layers *out, struct fr_error *err)
{
    struct fr__pd_layers l = {0};
    const uint64_t *before;
    uint32_t *number_of = NULL;

    FR_TRY(number(a, p, &l, &number_of, err));
    FR_TRY(join(a, p, &l, number_of, err));
    FR_TRY(close(a, p, &l, err));
    /* the first in the file that reads nothing: there is one, as there is no circle */
    for (bool is_source = false; !is_source; l.source += !is_source) {
        before = l.before + l.source * l.n_words;
        is_source = true;
        for (size_t w = 0; w < l.n_words; w++)
            is_source &= before[w] == 0;
    }
    *out = l;
    return FR_OK;
}
