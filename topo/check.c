/* topo/check.c - reports everything that is wrong with a topology, one sentence each. */
#include "config.h"

#include "topo/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* at most so many unreachable pairs are named, since one cut cable makes thousands */
enum { MAX_PAIRS = 100 };

struct report {
    const struct fr_topo *topo;
    void (*say)(void *user, const char *line);
    void *user;
    size_t n;
};

static void say(struct report *r, const char *fmt, ...) FR_PRINTF(2, 3);

static void say(struct report *r, const char *fmt, ...)
{
    char line[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    r->n++;
    if (r->say)
        r->say(r->user, line);
}

/* ---- links ---- */

static int compare_ends(const void *a, const void *b)
{
    const struct fr_link *x = *(const struct fr_link *const *)a;
    const struct fr_link *y = *(const struct fr_link *const *)b;

    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static bool differs(double a, double b)
{
    return a < b || a > b;
}

static void check_links(struct report *r, const struct fr_link *const sorted[])
{
    const struct fr_topo *t = r->topo;

    for (uint32_t i = 0; i < t->n_links; i++) {
        const struct fr_link *l = &t->links[i];
        struct fr_link wanted = {.src = l->dst, .dst = l->src};
        const struct fr_link *key = &wanted, *const * found;
        char buf[FR_LINK_NAME];
        const char *name = fr_topo_link_name(t, i, buf);

        if (!(l->bw_Bps > 0) || !isfinite(l->bw_Bps))
            say(r, "link '%s' has no bandwidth", name);
        if (!(l->latency_s >= 0) || !isfinite(l->latency_s))
            say(r, "link '%s' has a latency below 0 or not finite", name);
        found = bsearch(&key, sorted, t->n_links, sizeof(*sorted), compare_ends);
        if (!found)
            say(r, "link '%s' has no way back", name);
        else if (l < *found && (differs(l->bw_Bps, (*found)->bw_Bps) ||
                                differs(l->latency_s, (*found)->latency_s)))
            say(r, "link '%s' differs from its way back in bandwidth or latency", name);
    }
}

static void check_gpus(struct report *r, const struct fr_link *const sorted[], bool has_link[])
{
    const struct fr_topo *t = r->topo;

    for (size_t i = 0; i < t->n_links; i++) {
        has_link[sorted[i]->src] = true;
        has_link[sorted[i]->dst] = true;
    }
    for (size_t v = 0; v < t->n_vertices; v++)
        if (!has_link[v])
            say(r, "'%s' has no link", t->vertices[v].name);
}

/* ---- reachability ---- */

/* Marks what can be reached from `start`, along the links or against them. Other GPUs are reached
 * but not passed through. Returns the number of devices. It goes over all links until nothing
 * changes, because a machine is few links deep. */
static size_t spread(const struct fr_topo *t, uint32_t start, bool is_forward, bool is_in[])
{
    size_t n = 0;
    bool has_changed = true;

    for (size_t v = 0; v < t->n_vertices; v++)
        is_in[v] = v == start;
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < t->n_links; i++) {
            uint32_t from = is_forward ? t->links[i].src : t->links[i].dst;
            uint32_t to = is_forward ? t->links[i].dst : t->links[i].src;

            if (is_in[from] && !is_in[to] &&
                (from == start || t->vertices[from].kind != FR_VERTEX_GPU)) {
                is_in[to] = true;
                has_changed = true;
            }
        }
    }
    for (size_t d = 0; d < t->n_devices; d++)
        n += is_in[t->devices[d].vertex];
    return n;
}

/* Whether one switch reaches every device and is reached by all of them; then every pair has a
 * route. */
static bool has_hub(const struct fr_topo *t, bool is_in[])
{
    uint32_t first = t->devices[0].vertex;

    for (size_t i = 0; i < t->n_links; i++) {
        uint32_t hub = t->links[i].dst;

        if (t->links[i].src == first && t->vertices[hub].kind != FR_VERTEX_GPU &&
            spread(t, hub, true, is_in) == t->n_devices &&
            spread(t, hub, false, is_in) == t->n_devices)
            return true;
    }
    return false;
}

static void check_pairs(struct report *r, bool is_in[])
{
    const struct fr_topo *t = r->topo;
    size_t n_lost = 0;

    if (t->n_devices < 2 || has_hub(t, is_in))
        return;
    for (size_t s = 0; s < t->n_devices && n_lost <= MAX_PAIRS; s++) {
        spread(t, t->devices[s].vertex, true, is_in);
        for (size_t d = 0; d < t->n_devices; d++)
            if (!is_in[t->devices[d].vertex] && n_lost++ < MAX_PAIRS)
                say(r, "no route from '%s' to '%s'", t->devices[s].name, t->devices[d].name);
    }
    if (n_lost > MAX_PAIRS)
        say(r, "no route between further pairs");
}

size_t fr_topo_check(const struct fr_topo *t, void (*say_line)(void *user, const char *line),
                     void *user)
{
    struct report r = {t, say_line, user, 0};
    const struct fr_link **sorted = calloc(t->n_links + 1, sizeof(*sorted));
    bool *flags = calloc(t->n_vertices + 1, sizeof(*flags));

    if (!sorted || !flags) {
        r.n = SIZE_MAX;
    } else {
        for (size_t i = 0; i < t->n_links; i++)
            sorted[i] = &t->links[i];
        qsort(sorted, t->n_links, sizeof(*sorted), compare_ends);
        check_links(&r, sorted);
        check_gpus(&r, sorted, flags);
        check_pairs(&r, flags);
    }
    free(sorted);
    free(flags);
    return r.n;
}
