/* workloads/graph/order.c - a stable topological order, or the cycle that forbids one.
 *
 * Kahn's algorithm (Communications of the ACM 5(11), 1962) with a heap of the ops that are ready,
 * smallest number first: the lexicographically smallest order.
 */
#include "config.h"

#include "workloads/graph/builder.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

struct heap {
    uint32_t *at;
    size_t n;
};

static void heap_push(struct heap *h, uint32_t x)
{
    size_t i = h->n++;

    for (; i > 0 && h->at[(i - 1) / 2] > x; i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = x;
}

static uint32_t heap_pop(struct heap *h)
{
    uint32_t top = h->at[0], x = h->at[--h->n];
    size_t i = 0;

    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->at[child + 1] < h->at[child])
            child++;
        if (h->at[child] >= x)
            break;
        h->at[i] = h->at[child];
    }
    h->at[i] = x;
    return top;
}

/* "a -> b -> a" for the ops cycle[0..n), the middle left out when it is long. */
static enum fr_status fail_cycle(const struct fr_op ops[], const uint32_t cycle[], size_t n,
                                 struct fr_error *err)
{
    enum { SHOWN = 6, NAME_SHOWN = 48 };
    char text[(SHOWN + 2) * (NAME_SHOWN + 8)];
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        if (n > SHOWN && i == SHOWN - 1) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "... -> ");
            i = n - 1;
        }
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s -> ", (int)NAME_SHOWN,
                                 ops[cycle[i]].name);
    }
    snprintf(text + used, sizeof(text) - used, "%.*s", (int)NAME_SHOWN, ops[cycle[0]].name);
    return fr__fail(err, FR_EPARSE, ops[cycle[0]].loc, "the ops form a cycle: %s", text);
}

/* Every op that was never ready waits for another such op, so walking back from any of them comes
 * round within n steps. waits: how many edges into each op were never used up. */
static enum fr_status name_cycle(const struct fr_op ops[], size_t n, const uint32_t first[],
                                 const uint32_t dst[], const uint32_t waits[], struct fr_error *err)
{
    uint32_t *before = malloc(n * sizeof(*before)), *path = malloc(n * sizeof(*path));
    uint32_t o = 0, smallest;
    size_t len = 0;
    enum fr_status st;

    if (!before || !path) {
        st = fr__fail_nomem(err);
        goto free_both;
    }
    for (uint32_t i = (uint32_t)n; i-- > 0;)
        for (uint32_t e = first[i]; waits[i] && e < first[i + 1]; e++)
            before[dst[e]] = i;
    while (!waits[o])
        o++;
    for (size_t i = 0; i < n; i++)
        o = before[o];
    smallest = o;
    for (uint32_t p = before[o]; p != o; p = before[p])
        smallest = p < smallest ? p : smallest;
    o = smallest;
    do
        path[n - ++len] = o = before[o];
    while (o != smallest);
    st = fail_cycle(ops, path + n - len, len, err);
free_both:
    free(before);
    free(path);
    return st;
}

enum fr_status fr__topological_order(const struct fr_op ops[], size_t n, const uint32_t first[],
                                     const uint32_t dst[], uint32_t order[], struct fr_error *err)
{
    struct heap ready = {malloc(n * sizeof(*ready.at)), 0};
    uint32_t *waits = calloc(n, sizeof(*waits));
    enum fr_status st = FR_OK;
    size_t done = 0;

    if (!ready.at || !waits) {
        st = fr__fail_nomem(err);
        goto free_all;
    }
    for (uint32_t e = 0; e < first[n]; e++)
        waits[dst[e]]++;
    for (uint32_t o = 0; o < n; o++)
        if (!waits[o])
            heap_push(&ready, o);
    while (ready.n > 0) {
        uint32_t o = heap_pop(&ready);

        order[done++] = o;
        for (uint32_t e = first[o]; e < first[o + 1]; e++)
            if (--waits[dst[e]] == 0)
                heap_push(&ready, dst[e]);
    }
    if (done < n)
        st = name_cycle(ops, n, first, dst, waits, err);
free_all:
    free(ready.at);
    free(waits);
    return st;
}
