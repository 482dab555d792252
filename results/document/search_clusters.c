/* results/document/search_clusters.c - searches on several clusters as tables: the best layout of
 * each, and what no other layout of any cluster beats in time, memory and price. */
#include "config.h"

#include "results/document/builders.h"
#include "results/document/search.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/search_price.h"

#include <stdlib.h>

struct clusters {
    size_t n, n_points;
    const struct fr_search_results *r; /* [n] */
    const struct fr__search_point *points;
};

static void cluster_cells(const struct clusters *c, size_t i, struct fr__table_row *row)
{
    const struct fr_search_summary *m = fr_search_summary(c->r[i].search);

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", m->n_gpus);
    fr__table_text(row->cell[1], m->topology);
}

static void fill_best(const void *user, size_t i, struct fr__table_row *row)
{
    const struct clusters *c = user;
    const struct fr_search_results *r = &c->r[i];
    const struct fr_search_summary *m = fr_search_summary(r->search);
    const struct fr_search_row *x;
    char text[FR_LAYOUT_TEXT];

    cluster_cells(c, i, row);
    if (m->n_ranked == 0) {
        fr__table_text(row->cell[6], r->is_interrupted ? "interrupted" : "no layout fits");
        return;
    }
    x = fr_search_row(r->search, m->ranked[0]);
    fr__format_time(x->exact_s, row->cell[2], FR__TABLE_CELL);
    fr__format_bytes(x->exact_bytes, row->cell[3], FR__TABLE_CELL);
    fr__search_price_cell(row->cell[4], fr__search_price(r, x->exact_s));
    fr__search_days_cell(row->cell[5], r, x->exact_s);
    fr__table_text(row->cell[6], fr_layout_text(&x->layout, text));
}

static void fill_point(const void *user, size_t i, struct fr__table_row *row)
{
    const struct clusters *c = user;
    const struct fr__search_point *p = &c->points[i];
    char text[FR_LAYOUT_TEXT];

    cluster_cells(c, p->search, row);
    fr__format_time(p->time_s, row->cell[2], FR__TABLE_CELL);
    fr__format_bytes(p->bytes, row->cell[3], FR__TABLE_CELL);
    fr__search_price_cell(row->cell[4], p->price);
    fr__search_days_cell(row->cell[5], &c->r[p->search], p->time_s);
    fr__table_text(row->cell[6],
                   fr_layout_text(&fr_search_row(c->r[p->search].search, p->row)->layout, text));
}

enum fr_status fr__document_of_clusters(struct fr__document *doc, const struct fr_search_answer *a,
                                        struct fr_error *err)
{
    const struct fr_search_results *r = a->results;
    size_t n = a->n;
    struct clusters c = {.n = n, .r = r};
    const struct fr__table_column columns[] = {
        {"GPUs", true},
        {"cluster", false},
        {"time", true},
        {"memory", true},
        {fr__search_price_title(&r[0]), true},
        {"run", true},
        {"layout", false},
    };
    const size_t n_columns = sizeof(columns) / sizeof(columns[0]);
    struct fr__search_point *points;
    char name[FR__TABLE_CELL], text[40];

    FR_TRY(fr__search_frontier(&points, &c.n_points, n, r, err));
    c.points = points;
    fr__table_text(name, fr_search_summary(r[0].search)->workload);
    fr__say(doc, "%s, global batch %u: the best layout of each of %zu clusters\n\n", name,
            fr_search_summary(r[0].search)->global_batch, n);
    fr__say_table(doc, &(struct fr__table){columns, n_columns, n, fill_best, &c}, 2);
    fr__say(doc, "\ntime: an iteration op by op; %s and run: for %s samples\n",
            fr__search_price_title(&r[0]),
            fr__format_count(fr__search_run_samples(&r[0]), text, sizeof(text)));
    fr__say_picture(doc, FR__PICTURE_CHART, a, 0);
    if (c.n_points) {
        fr__say(doc,
                "\nFaster, smaller or cheaper than all others, of the layouts that were simulated "
                "coarsely:\n\n");
        fr__say_table(doc, &(struct fr__table){columns, n_columns, c.n_points, fill_point, &c}, 2);
    }
    free(points);
    return fr__document_check(doc, err);
}
