/* tests/workloads/test_recompute_budget.c - the cheapest ops of a layer to run again, against all
 * choices tried one by one. */
#include "config.h"

#include "workloads/passes/recompute_budget.h"

#include "tests/support/base_check.h"
#include "workloads/passes/recompute.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20 };

/* ---- the search alone ---- */

struct problem {
    size_t n;
    struct fr__budget_item items[MOST];
    uint32_t first[MOST + 1], readers[MOST * MOST];
    double budget;
};

static uint32_t next(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 16) % below;
}

/* Small whole numbers, so that sums are exact. */
static struct problem draw(unsigned seed)
{
    struct problem p = {.n = 1 + seed % 11};
    uint32_t state = seed * 2654435761u + 1, n = 0;
    double sum = 0;

    for (uint32_t i = 0; i < p.n; i++) {
        struct fr__budget_item *item = &p.items[i];

        item->cost_s = 1 + next(&state, 9);
        item->bytes = next(&state, 3) ? next(&state, 8) : 0;
        item->more = next(&state, 4);
        item->is_fixed = next(&state, 6) == 0;
        sum += item->bytes;
        p.first[i] = n;
        for (uint32_t k = i + 1; k < p.n; k++)
            if (next(&state, 3) == 0)
                p.readers[n++] = k;
    }
    p.first[p.n] = n;
    p.budget = sum * (next(&state, 11) / 10.0);
    return p;
}

/* Time of running `again` again, below 0 where it keeps too much. */
static double time_of(const struct problem *p, uint32_t again)
{
    double kept = 0, time = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        bool is_read_again = false;

        for (uint32_t k = p->first[i]; k < p->first[i + 1]; k++)
            is_read_again |= again >> p->readers[k] & 1;
        if (again >> i & 1)
            time += p->items[i].cost_s;
        else
            kept += p->items[i].bytes + (is_read_again ? p->items[i].more : 0);
        if ((again >> i & 1) && p->items[i].is_fixed)
            return -1;
    }
    return kept <= p->budget ? time : -1;
}

LOOP_TEST(the_search_finds_what_trying_all_finds, 0, 400)
{
    struct problem p = draw((unsigned)_i + 1);
    double best = -1, time;
    bool runs[MOST];
    uint32_t found = 0;
    bool is_found = fr__budget_solve(p.n, p.items, p.first, p.readers, p.budget, runs);

    for (uint32_t again = 0; again < 1u << p.n; again++) {
        time = time_of(&p, again);
        if (time >= 0 && (best < 0 || time < best))
            best = time;
    }
    ck_assert_int_eq(is_found, best >= 0);
    for (uint32_t i = 0; is_found && i < p.n; i++)
        found |= (uint32_t)runs[i] << i;
    if (is_found)
        ck_assert_double_eq(time_of(&p, found), best);
}

/* ---- a layer of a model ---- */

struct layer {
    const struct fr_graph *g;
    uint32_t ops[MOST];
    size_t n;
    double cost_s[MOST], bytes;
};

static size_t place_of(const struct layer *l, uint32_t op)
{
    size_t k = 0;

    while (k < l->n && l->ops[k] != op)
        k++;
    return k;
}

/* Bytes that the layer keeps where `again` runs again; below 0: another layer reads what does. */
static double kept_by(const struct layer *l, uint32_t again)
{
    const struct fr_graph *g = l->g;
    double kept = 0;

    for (size_t k = 0; k < l->n; k++)
        for (uint32_t t = g->ops[l->ops[k]].first_tensor;
             t < g->ops[l->ops[k]].first_tensor + g->ops[l->ops[k]].n_tensors; t++) {
            bool is_read = false;

            for (uint32_t i = g->out_first[l->ops[k]]; i < g->out_first[l->ops[k] + 1]; i++) {
                uint32_t dst = g->edges[i].dst;
                size_t at = place_of(l, dst);

                if (g->edges[i].tensor != t)
                    continue;
                if (g->ops[dst].phase == FR_PHASE_FORWARD && at == l->n && (again >> k & 1))
                    return -1;
                is_read |= g->ops[dst].phase > FR_PHASE_FORWARD || (at < l->n && (again >> at & 1));
            }
            if (is_read && !(again >> k & 1))
                kept += (double)g->tensors[t].bytes;
        }
    return kept;
}

static const double parts[] = {1, 0.9, 0.7, 0.5, 0.3, 0.1, 0};

LOOP_TEST(a_layer_runs_again_what_is_cheapest, 0, sizeof(parts) / sizeof(parts[0]))
{
    const struct fr_workload_options opt = {.batch = 1, .dtype = FR_BF16};
    struct fr_graph *g = NULL;
    struct fr__units units;
    struct fr_error err;
    struct layer l = {.n = 0};
    double *cost_s, best = -1, found = 0;
    uint32_t again = 0;
    bool *is_kept;

    ck_assert_int_eq(fr_workload_load(&g,
                                      "llama:layers=3,hidden=64,ffn=128,heads=4,kv_heads=2,seq=16,"
                                      "vocab=100",
                                      &opt, &err),
                     FR_OK);
    cost_s = calloc(g->n_ops, sizeof(*cost_s));
    is_kept = calloc(g->n_tensors, sizeof(*is_kept));
    l.g = g;
    for (uint32_t o = 0; o < g->n_ops; o++) {
        cost_s[o] = 1 + g->ops[o].flops / 64 + g->ops[o].bytes / 8;
        if (g->ops[o].phase == FR_PHASE_FORWARD && strncmp(g->ops[o].name, "layer1.", 7) == 0) {
            ck_assert_uint_lt(l.n, MOST);
            l.cost_s[l.n] = cost_s[o];
            l.ops[l.n++] = o;
        }
    }
    l.bytes = kept_by(&l, 0);
    ck_assert_int_eq(fr__units_find(&units, g, &err), FR_OK);
    ck_assert_int_eq(fr__budget_keep(g, &units, cost_s, parts[_i], is_kept, &err), FR_OK);
    for (size_t k = 0; k < l.n; k++)
        again |= (uint32_t)!is_kept[g->ops[l.ops[k]].first_tensor] << k;
    for (size_t k = 0; k < l.n; k++)
        found += again >> k & 1 ? l.cost_s[k] : 0;
    for (uint32_t all = 0; all < 1u << l.n; all++) {
        double time = 0;

        for (size_t k = 0; k < l.n; k++)
            time += all >> k & 1 ? l.cost_s[k] : 0;
        if ((best < 0 || time < best) && kept_by(&l, all) >= 0 &&
            kept_by(&l, all) <= parts[_i] * l.bytes)
            best = time;
    }
    if (best >= 0) {
        ck_assert_double_eq(found, best);
        ck_assert_double_le(kept_by(&l, again), parts[_i] * l.bytes);
    } else { /* the layer's own result alone is more: all else runs again */
        ck_assert_double_ge(kept_by(&l, again), parts[_i] * l.bytes);
    }
    fr__units_free(&units);
    free(cost_s);
    free(is_kept);
    fr_graph_free(g);
}

int main(void)
{
    TCase *tc = tcase_create("recompute_budget");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "recompute_budget");
}
