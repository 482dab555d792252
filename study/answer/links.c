/* study/answer/links.c - the links of a record: what moves over each, and of how much that it
 * could. Of a folded plan the run counts the bytes of all ranks, those that others stand for
 * too. */
#include "config.h"

#include "study/answer/record.h"

#include "base/error.h"

#include <stdlib.h>

/* ---- of a record ---- */

struct link_use {
    double utilisation_frac;
    uint32_t link;
};

static int compare_use(const void *a, const void *b)
{
    const struct link_use *x = a, *y = b;

    if (x->utilisation_frac != y->utilisation_frac)
        return x->utilisation_frac > y->utilisation_frac ? -1 : 1;
    return x->link < y->link ? -1 : x->link > y->link;
}

/* Links of the same kind between the same kinds of ends that are as busy. */
static bool are_alike(const struct fr_topo *t, const struct link_use *a, const struct link_use *b)
{
    const struct fr_link *x = &t->links[a->link], *y = &t->links[b->link];

    return x->kind == y->kind && t->vertices[x->src].kind == t->vertices[y->src].kind &&
           t->vertices[x->dst].kind == t->vertices[y->dst].kind &&
           a->utilisation_frac - b->utilisation_frac <= 1e-9 * a->utilisation_frac;
}

/* A row a link; of a folded plan, a row for those that are alike. */
static enum fr_status list_links(struct fr_record *r, struct fr__arena *arena,
                                 struct fr_record_link list[], const struct fr_topo *t,
                                 const struct link_use use[], size_t n, const double bytes[],
                                 bool is_folded, struct fr_error *err)
{
    const struct link_use *first[FR_RECORD_MAX_LINKS] = {NULL};
    char buf[FR_LINK_NAME];

    for (size_t i = 0; i < n; i++) {
        size_t k = is_folded ? 0 : r->n_links;

        while (k < r->n_links && !are_alike(t, first[k], &use[i]))
            k++;
        if (k < r->n_links) {
            list[k].count++;
            continue;
        }
        r->links_total++;
        if (k == FR_RECORD_MAX_LINKS)
            continue;
        first[k] = &use[i];
        list[r->n_links] = (struct fr_record_link){
            .name = fr__arena_strdup(arena, fr_topo_link_name(t, use[i].link, buf)),
            .count = 1,
            .bytes = bytes[use[i].link],
            .utilisation_frac = use[i].utilisation_frac};
        if (!list[r->n_links++].name)
            return fr__fail_nomem(err);
    }
    return FR_OK;
}

enum fr_status fr__fill_links(struct fr_record *r, struct fr__arena *arena,
                              const struct fr__making *m, struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    bool is_folded = fr_plan_view(m->plan)->device_counts != NULL;
    struct link_use *use = fr__arena_alloc(arena, t->n_links, sizeof(*use));
    double *bytes = fr__arena_alloc(arena, t->n_links, sizeof(*bytes));
    struct fr_record_link *list = fr__arena_alloc(arena, FR_RECORD_MAX_LINKS, sizeof(*list));
    size_t n = 0;

    if (!use || !bytes || !list)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < t->n_links; i++) {
        double could_bytes = t->links[i].bw_Bps * m->run->makespan_s;

        bytes[i] = m->run->link_bytes[i];
        if (bytes[i] > 0 && could_bytes > 0)
            use[n++] = (struct link_use){bytes[i] / could_bytes, i};
        bytes[i] /= m->run->n_iterations;
    }
    qsort(use, n, sizeof(*use), compare_use);
    FR_TRY(list_links(r, arena, list, t, use, n, bytes, is_folded, err));
    r->links = list;
    return FR_OK;
}
