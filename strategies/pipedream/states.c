/* strategies/pipedream/states.c - every place where a model can be cut in two.
 *
 * From the source on, a state's successors are made as PipeDream's antichain_dag() does: a layer
 * that reads an open layer of the state joins it, with all that it needs. States are found breadth
 * first; the topological order is that of a depth-first search over them in the order found. Where
 * the program goes through a Python set, whose order changes from run to run, file order stands
 * here.
 *
 * That order matters to mode=code: it also prices stretches between two states of which neither
 * holds the other (level.c).
 */
#include "config.h"

#include "base/cancel.h"
#include "strategies/pipedream/pipedream.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* States are counted so far even where they cannot all be planned for: by number, memory (words of
 * their sets) and time (words looked at for successors). A second or two. */
enum { MAX_COUNTED = 1 << 19, MAX_COUNT_WORDS = 16 << 20 };
static const double MAX_COUNT_STEPS = 4e9;

struct search {
    const struct fr__pd_layers *l;
    const struct fr_context *ctx;
    struct fr__hash_table found;
    size_t n, cap_sets, cap_lists, cap_first, cap_outs, cap_out_first;
    uint64_t *sets;             /* [n][n_words] */
    uint32_t *lists;            /* antichains one after another, in the program's order */
    uint32_t *list_first;       /* [n + 1] */
    uint32_t *outs, *out_first; /* successors of each, as found */
    size_t n_outs;
    uint32_t *open, *next; /* [2 n layers] the antichain with its open layers; the next one */
    size_t n_open, n_next;
    double n_steps;
    uint64_t *open_set, *next_set; /* [n_words] */
};

/* Where the state with that antichain is, FR_NONE: not found yet. */
static uint32_t find(const struct search *s, const uint64_t *set, uint64_t hash)
{
    size_t bytes = s->l->n_words * sizeof(*set), at;
    uint32_t id;

    for (id = fr__hash_first(&s->found, hash, &at); id != FR_NONE;
         id = fr__hash_next(&s->found, hash, &at))
        if (memcmp(s->sets + id * s->l->n_words, set, bytes) == 0)
            break;
    return id;
}

/* The state of the antichain in s->next, made where it is new. FR_NONE: out of memory. */
static uint32_t state_of(struct search *s)
{
    size_t n_words = s->l->n_words;
    uint64_t *set = s->next_set, hash;
    uint32_t id;

    memset(set, 0, n_words * sizeof(*set));
    for (size_t i = 0; i < s->n_next; i++) {
        const uint64_t *before = s->l->before + s->next[i] * n_words;

        for (size_t w = 0; w < n_words; w++)
            set[w] |= before[w];
        fr__pd_add(set, s->next[i]);
    }
    hash = fr__hash_bytes(set, n_words * sizeof(*set));
    id = find(s, set, hash);
    if (id != FR_NONE)
        return id;
    if (!fr__grow(&s->sets, &s->cap_sets, (s->n + 1) * n_words, sizeof(*s->sets)) ||
        !fr__grow(&s->list_first, &s->cap_first, s->n + 2, sizeof(*s->list_first)))
        return FR_NONE;
    if (s->n == 0)
        s->list_first[0] = 0;
    if (!fr__grow(&s->lists, &s->cap_lists, s->list_first[s->n] + s->n_next, sizeof(*s->lists)) ||
        !fr__hash_add(&s->found, hash, (uint32_t)s->n))
        return FR_NONE;
    memcpy(s->sets + s->n * n_words, set, n_words * sizeof(*set));
    memcpy(s->lists + s->list_first[s->n], s->next, s->n_next * sizeof(*s->next));
    s->list_first[s->n + 1] = s->list_first[s->n] + (uint32_t)s->n_next;
    return (uint32_t)s->n++;
}

/* s->open: the open layers of state i in file order, then its antichain. */
static void augment(struct search *s, uint32_t i)
{
    const struct fr__pd_layers *l = s->l;
    const uint32_t *list = s->lists + s->list_first[i];
    size_t n_list = s->list_first[i + 1] - s->list_first[i];

    memset(s->open_set, 0, l->n_words * sizeof(*s->open_set));
    for (size_t k = 0; k < n_list; k++)
        for (size_t w = 0; w < l->n_words; w++)
            s->open_set[w] |= l->open[list[k] * l->n_words + w];
    s->n_open = 0;
    for (size_t w = 0; w < l->n_words; w++)
        for (uint64_t left = s->open_set[w]; left; left &= left - 1)
            s->open[s->n_open++] = (uint32_t)(w * 64 + fr__lowest_bit(left));
    for (size_t k = 0; k < n_list; k++) {
        s->open[s->n_open++] = list[k];
        fr__pd_add(s->open_set, list[k]);
    }
}

/* s->next: s->open with `by` in place of `old`, without what others in it need. */
static void replace(struct search *s, uint32_t old, uint32_t by)
{
    uint64_t *set = s->next_set;

    memcpy(set, s->open_set, s->l->n_words * sizeof(*set));
    set[old / 64] &= ~(UINT64_C(1) << old % 64);
    fr__pd_add(set, by);
    s->n_next = 0;
    for (size_t k = 0; k < s->n_open; k++) {
        uint32_t v = s->open[k] == old ? by : s->open[k];

        if (!fr__pd_meets(s->l->after + v * s->l->n_words, set, s->l->n_words))
            s->next[s->n_next++] = v;
    }
}

static bool is_member(const struct search *s, uint32_t i, uint32_t v)
{
    for (uint32_t k = s->list_first[i]; k < s->list_first[i + 1]; k++)
        if (s->lists[k] == v)
            return true;
    return false;
}

static enum fr_status expand(struct search *s, uint32_t i, struct fr_error *err)
{
    const struct fr__pd_layers *l = s->l;

    augment(s, i);
    for (size_t k = 0; k < s->n_open; k++)
        for (uint32_t e = l->out_first[s->open[k]]; e < l->out_first[s->open[k] + 1]; e++) {
            uint32_t v = l->outs[e], to;

            if (is_member(s, i, v) ||
                fr__pd_meets(l->after + v * l->n_words, s->open_set, l->n_words))
                continue;
            replace(s, s->open[k], v);
            s->n_steps += (double)(s->n_open * l->n_words);
            to = state_of(s);
            if (to == FR_NONE || !fr__grow(&s->outs, &s->cap_outs, s->n_outs + 1, sizeof(*s->outs)))
                return fr__fail_nomem(err);
            s->outs[s->n_outs++] = to;
        }
    return FR_OK;
}

/* Finds all states, or as many as are counted. *is_whole: these are all. */
static enum fr_status find_all(struct search *s, bool *is_whole, struct fr_error *err)
{
    size_t most = MAX_COUNT_WORDS / s->l->n_words;

    if (most > MAX_COUNTED)
        most = MAX_COUNTED;
    s->next[0] = s->l->source;
    s->n_next = 1;
    if (state_of(s) == FR_NONE)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->ctx && fr__flag_is_set(s->ctx->cancel))
            return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        if (s->n > most || s->n_steps > MAX_COUNT_STEPS) {
            *is_whole = false;
            return FR_OK;
        }
        if (!fr__grow(&s->out_first, &s->cap_out_first, i + 2, sizeof(*s->out_first)))
            return fr__fail_nomem(err);
        s->out_first[i] = (uint32_t)s->n_outs;
        FR_TRY(expand(s, i, err));
        s->out_first[i + 1] = (uint32_t)s->n_outs;
    }
    *is_whole = true;
    return FR_OK;
}

/* order: [n] states, all successors after a state. */
static enum fr_status sort(struct fr__arena *a, const struct search *s, uint32_t **out,
                           struct fr_error *err)
{
    uint32_t *order = fr__arena_alloc(a, s->n, sizeof(*order));
    uint32_t *at = fr__arena_alloc(a, s->n, sizeof(*at)); /* next successor to look at */
    uint32_t *stack = fr__arena_alloc(a, s->n, sizeof(*stack));
    bool *is_seen = fr__arena_alloc(a, s->n, sizeof(*is_seen));
    size_t left = s->n;

    if (!order || !at || !stack || !is_seen)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < s->n; i++) {
        size_t depth = 0;

        if (is_seen[i])
            continue;
        is_seen[i] = true;
        stack[depth++] = i;
        while (depth > 0) {
            uint32_t v = stack[depth - 1], k = s->out_first[v] + at[v]++;

            if (k == s->out_first[v + 1]) {
                order[--left] = v;
                depth--;
            } else if (!is_seen[s->outs[k]]) {
                is_seen[s->outs[k]] = true;
                stack[depth++] = s->outs[k];
            }
        }
    }
    *out = order;
    return FR_OK;
}

static enum fr_status take(struct fr__arena *a, struct search *s, struct fr__pd_states *out,
                           struct fr_error *err)
{
    const struct fr__pd_layers *l = s->l;
    uint32_t *order = NULL;

    FR_TRY(sort(a, s, &order, err));
    out->n = s->n;
    out->sets = fr__arena_take(a, s->n * l->n_words, sizeof(*out->sets));
    out->out_bytes = fr__arena_alloc(a, s->n, sizeof(*out->out_bytes));
    if (!out->sets || !out->out_bytes)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < s->n; i++) {
        memcpy(out->sets + i * l->n_words, s->sets + order[i] * l->n_words,
               l->n_words * sizeof(*out->sets));
        augment(s, order[i]);
        for (size_t k = 0; k < s->n_open; k++)
            out->out_bytes[i] += l->activation_bytes[s->open[k]];
    }
    return FR_OK;
}

struct ranked {
    double both_s;
    uint32_t state;
};

static int by_work(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->both_s < y->both_s || x->both_s > y->both_s)
        return x->both_s < y->both_s ? -1 : 1;
    return x->state < y->state ? -1 : x->state > y->state;
}

/* A sum of floating-point numbers may come out less than that of fewer layers: so a state counts as
 * no less than those inside it. O(n^2). */
static enum fr_status rank(struct fr__arena *a, struct fr__pd_states *s, struct fr_error *err)
{
    struct ranked *all = malloc((s->n + 1) * sizeof(*all));

    s->by_work = fr__arena_alloc(a, s->n, sizeof(*s->by_work));
    s->rank_of = fr__arena_alloc(a, s->n, sizeof(*s->rank_of));
    if (!all || !s->by_work || !s->rank_of) {
        free(all);
        return fr__fail_nomem(err);
    }
    for (uint32_t j = 0; j < s->n; j++) {
        all[j] = (struct ranked){s->both_s[j], j};
        for (uint32_t k = 0; k < j; k++)
            if (all[k].both_s > all[j].both_s && fr__pd_has(s->before + j * s->n_before_words, k))
                all[j].both_s = all[k].both_s;
    }
    qsort(all, s->n, sizeof(*all), by_work);
    for (uint32_t i = 0; i < s->n; i++) {
        s->by_work[i] = all[i].state;
        s->rank_of[all[i].state] = i;
    }
    free(all);
    return FR_OK;
}

/* Sums of each state's layers, and which states are inside it. */
static enum fr_status measure(struct fr__arena *a, const struct fr__pd_layers *l,
                              struct fr__pd_states *s, struct fr_error *err)
{
    s->n_before_words = (s->n + 63) / 64;
    s->before = fr__arena_alloc(a, s->n * s->n_before_words, sizeof(*s->before));
    s->both_s = fr__arena_alloc(a, s->n, sizeof(double));
    s->activation_bytes = fr__arena_alloc(a, s->n, sizeof(double));
    s->param_bytes = fr__arena_alloc(a, s->n, sizeof(double));
    if (!s->before || !s->both_s || !s->activation_bytes || !s->param_bytes)
        return fr__fail_nomem(err);
    for (uint32_t j = 0; j < s->n; j++) {
        const uint64_t *set = s->sets + j * l->n_words;

        for (size_t w = 0; w < l->n_words; w++)
            for (uint64_t left = set[w]; left; left &= left - 1) {
                size_t v = w * 64 + fr__lowest_bit(left);

                s->both_s[j] += l->both_s[v];
                s->activation_bytes[j] += l->activation_bytes[v];
                s->param_bytes[j] += l->param_bytes[v];
            }
        for (uint32_t k = 0; k < j; k++)
            if (fr__pd_is_inside(s->sets + k * l->n_words, set, l->n_words))
                fr__pd_add(s->before + j * s->n_before_words, k);
    }
    return rank(a, s, err);
}

enum fr_status fr__pd_states_make(struct fr__arena *a, const struct fr__pd_layers *l,
                                  size_t max_states, const struct fr_context *ctx,
                                  struct fr__pd_states *out, struct fr_error *err)
{
    struct search s = {.l = l, .ctx = ctx};
    bool is_whole = false;
    enum fr_status st;

    *out = (struct fr__pd_states){0};
    s.open = fr__arena_alloc(a, 2 * l->n, sizeof(*s.open));
    s.next = fr__arena_alloc(a, 2 * l->n, sizeof(*s.next));
    s.open_set = fr__arena_alloc(a, l->n_words, sizeof(*s.open_set));
    s.next_set = fr__arena_alloc(a, l->n_words, sizeof(*s.next_set));
    st = s.open && s.next && s.open_set && s.next_set ? find_all(&s, &is_whole, err)
                                                      : fr__fail_nomem(err);
    out->n_all = is_whole ? s.n : 0;
    out->n_at_least = s.n;
    out->is_restricted = !is_whole || s.n > max_states;
    if (st == FR_OK)
        st = out->is_restricted ? fr__pd_cuts_make(a, l, max_states, out, err)
                                : take(a, &s, out, err);
    if (st == FR_OK)
        st = measure(a, l, out, err);
    fr__hash_fini(&s.found);
    free(s.sets);
    free(s.lists);
    free(s.list_first);
    free(s.outs);
    free(s.out_first);
    return st;
}

/* The number of a layer of the profile among those that the last state holds; FR_NONE: none. */
static uint32_t number_in(const struct fr__pd_layers *l, const uint64_t *last, uint32_t layer)
{
    for (uint32_t v = 0; v < l->n; v++)
        if (l->of_profile[v] == layer)
            return fr__pd_has(last, v) ? v : FR_NONE;
    return FR_NONE;
}

enum fr_status fr__pd_states_join(struct fr__arena *a, const struct fr__pd_layers *l,
                                  const struct fr__pd_options *o, struct fr__pd_states *s,
                                  struct fr_error *err)
{
    const uint64_t *last = s->sets + (s->n - 1) * l->n_words;
    bool *parts = fr__arena_alloc(a, s->n, sizeof(*parts)); /* states that part a pair */
    size_t n = 0;

    if (!parts)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < o->n_together; i++) {
        uint32_t u = number_in(l, last, o->together[i][0]);
        uint32_t v = number_in(l, last, o->together[i][1]);

        for (size_t k = 0; u != FR_NONE && v != FR_NONE && k < s->n; k++)
            parts[k] |=
                fr__pd_has(s->sets + k * l->n_words, u) != fr__pd_has(s->sets + k * l->n_words, v);
    }
    for (size_t k = 0; k < s->n; k++) {
        if (parts[k])
            continue;
        memmove(s->sets + n * l->n_words, s->sets + k * l->n_words, l->n_words * sizeof(*s->sets));
        s->out_bytes[n++] = s->out_bytes[k];
    }
    s->n = n;
    return measure(a, l, s, err);
}
