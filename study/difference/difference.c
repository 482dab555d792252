/* study/difference/difference.c - lays the parts of two answers side by side, name by name.
 *
 * It is separate from parts.c, which knows one answer only.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "study/difference/difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct box {
    struct fr_difference difference;
    struct fr__arena *arena;
};

/* The largest change first, equal ones by name. */
static int compare_rows(const void *a, const void *b)
{
    const struct fr_difference_row *x = a, *y = b;
    double by_x = fabs(x->b_s - x->a_s), by_y = fabs(y->b_s - y->a_s);

    if (by_x < by_y || by_y < by_x)
        return by_x > by_y ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Both lists are by name. */
static struct fr_difference_row *merge(struct fr__arena *arena, const struct fr_piece a[],
                                       size_t n_a, const struct fr_piece b[], size_t n_b, size_t *n)
{
    struct fr_difference_row *rows = fr__arena_take(arena, n_a + n_b + 1, sizeof(*rows));
    size_t i = 0, k = 0;

    *n = 0;
    while (rows && (i < n_a || k < n_b)) {
        int order = i == n_a ? 1 : k == n_b ? -1 : strcmp(a[i].name, b[k].name);
        struct fr_difference_row *row = &rows[(*n)++];

        row->name = order <= 0 ? a[i].name : b[k].name;
        row->a_s = order <= 0 ? a[i++].s : 0;
        row->b_s = order >= 0 ? b[k++].s : 0;
    }
    if (*n > 0)
        qsort(rows, *n, sizeof(*rows), compare_rows);
    return rows;
}

static enum fr_status fill_rows(struct box *box, struct fr_error *err)
{
    struct fr_difference *d = &box->difference;

    for (unsigned kind = 0; kind < FR_N_PIECES; kind++) {
        d->rows[kind] = merge(box->arena, d->parts_a->pieces[kind], d->parts_a->n[kind],
                              d->parts_b->pieces[kind], d->parts_b->n[kind], &d->n[kind]);
        if (!d->rows[kind])
            return fr__fail_nomem(err);
    }
    return FR_OK;
}

/* ---- links ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct fr_piece *)a)->name, ((const struct fr_piece *)b)->name);
}

/* The links of a record as pieces by name; the same name once. */
static struct fr_piece *list_links(struct fr__arena *arena, const struct fr_record *r, size_t *n)
{
    struct fr_piece *list = fr__arena_take(arena, r->n_links + 1, sizeof(*list));
    size_t kept = 0;

    for (size_t i = 0; list && i < r->n_links; i++)
        list[i] =
            (struct fr_piece){r->links[i].name, r->links[i].utilisation_frac * r->run->iteration_s};
    if (list && r->n_links > 0)
        qsort(list, r->n_links, sizeof(*list), compare_names);
    for (size_t i = 0; list && i < r->n_links; i++)
        if (kept == 0 || strcmp(list[kept - 1].name, list[i].name) != 0)
            list[kept++] = list[i];
    *n = kept;
    return list;
}

static enum fr_status fill_links(struct box *box, struct fr_error *err)
{
    struct fr_difference *d = &box->difference;
    size_t n_a, n_b;
    struct fr_piece *a = list_links(box->arena, d->a, &n_a);
    struct fr_piece *b = list_links(box->arena, d->b, &n_b);

    if (a && b)
        d->links = merge(box->arena, a, n_a, b, n_b, &d->n_links);
    return d->links ? FR_OK : fr__fail_nomem(err);
}

/* ---- settings ---- */

static enum fr_status fill_settings(struct box *box, struct fr_error *err)
{
    struct fr_difference *d = &box->difference;
    struct fr_difference_setting *list = fr__arena_take(box->arena, FR_N_SETTINGS, sizeof(*list));

    if (!list)
        return fr__fail_nomem(err);
    d->settings = list;
    for (size_t i = 0; d->a->settings && d->b->settings && i < FR_N_SETTINGS; i++)
        if (strcmp(d->a->settings[i], d->b->settings[i]) != 0)
            list[d->n_settings++] = (struct fr_difference_setting){
                fr_question_setting(i), d->a->settings[i], d->b->settings[i]};
    return FR_OK;
}

static enum fr_status fill(struct box *box, struct fr_error *err)
{
    struct fr_difference *d = &box->difference;

    FR_TRY(fr_parts_new(&d->parts_a, d->a, err));
    FR_TRY(fr_parts_new(&d->parts_b, d->b, err));
    FR_TRY(fill_rows(box, err));
    FR_TRY(fill_links(box, err));
    return fill_settings(box, err);
}

enum fr_status fr_difference_new(struct fr_difference **out, const struct fr_record *a,
                                 const struct fr_record *b, struct fr_error *err)
{
    struct box *box = calloc(1, sizeof(*box));
    enum fr_status st;

    if (!box)
        return fr__fail_nomem(err);
    box->difference.a = a;
    box->difference.b = b;
    box->difference.priv = box;
    box->arena = fr__arena_new();
    st = box->arena ? fill(box, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        *out = &box->difference;
    else
        fr_difference_free(&box->difference);
    return st;
}

void fr_difference_free(struct fr_difference *d)
{
    struct box *box = d ? d->priv : NULL;

    if (!box)
        return;
    fr_parts_free(d->parts_a);
    fr_parts_free(d->parts_b);
    fr__arena_free(box->arena);
    free(box);
}
