/* results/show.c - shows an answer of any kind: finds the ending, opens and closes the file.
 *
 * It is separate from the table of kinds (kinds.c), which says what there is.
 */
#include "config.h"

#include "results/kinds.h"

#include "base/error.h"
#include "results/html/html.h"
#include "results/parts/output.h"

#include <assert.h>
#include <string.h>

/* ---- endings ---- */

const struct fr__ending *fr__kind_find(const struct fr__kind *k, const char *path)
{
    const struct fr__ending *best = NULL;

    for (size_t i = 0; i < k->n; i++)
        if (fr__ends_in(path, k->rows[i].ending) &&
            (!best || strlen(k->rows[i].ending) > strlen(best->ending)))
            best = &k->rows[i];
    /* a name that promises a trace gets no other JSON */
    if (best && strcmp(best->ending, ".json") == 0 && fr__ends_in(path, ".trace.json"))
        return NULL;
    return best;
}

const char *fr_kind_ending(enum fr_kind k, size_t i, const char **summary)
{
    const struct fr__kind *kind = fr__kind(k);

    if (i >= kind->n)
        return NULL;
    *summary = kind->rows[i].summary;
    return kind->rows[i].ending;
}

bool fr_kind_is_page(enum fr_kind k, const char *path)
{
    const struct fr__ending *row = fr__kind_find(fr__kind(k), path);

    return row && row->is_page;
}

enum fr_status fr_kind_check_path(enum fr_kind which, const char *path, struct fr_error *err)
{
    const struct fr__kind *k = fr__kind(which);
    const struct fr__ending *row = fr__kind_find(k, path);
    char known[160] = "";
    size_t used = 0;

    if (row && row->is_of_one && k->is_of_many)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': a %s file shows one run, not a comparison", path, row->ending);
    if (row)
        return fr__check_output(path, err);
    for (size_t i = 0; i < k->n && used < sizeof(known); i++) {
        int n = snprintf(known + used, sizeof(known) - used, " %s", k->rows[i].ending);

        used += n > 0 ? (size_t)n : 0;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' has no ending that names a format of %s, expected one of%s%s", path,
                    k->of, known, k->hint ? k->hint : "");
}

/* ---- what is shown ---- */

/* The document of the answer in that format. */
static enum fr_status render(FILE *f, const struct fr__ending *row, struct fr_shown x,
                             const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__kind *k = fr__kind(x.kind);
    struct fr__document *d = fr__document_new(row->is_page ? FR__FOR_PAGE : FR__FOR_LINES, 0);
    enum fr_status st = k->build(d, x.answer, err);

    if (st == FR_OK && row->is_page)
        st = fr__html_render(f, d, k->of, k->chart, ctx, err);
    else if (st == FR_OK)
        row->render(f, d);
    fr__document_free(d);
    return st;
}

enum fr_status fr_show_file(struct fr_shown x, const char *path, const struct fr_context *ctx,
                            struct fr_error *err)
{
    const struct fr__ending *row = fr__kind_find(fr__kind(x.kind), path);
    enum fr_status st = FR_OK;
    struct fr__out o;

    FR_TRY(fr_kind_check_path(x.kind, path, err));
    FR_TRY(fr__open_output(&o, path, err));
    if (row->print)
        row->print(o.f, x.answer);
    else if (row->write)
        st = row->write(o.f, x.answer, row->ending, ctx, err);
    else if (row->chart)
        st = fr__chart_draw(o.f, row->chart, x.answer, row->ending, ctx, err);
    else
        st = render(o.f, row, x, ctx, err);
    return fr__close_output(&o, st, ctx, err);
}

enum fr_status fr_show_text(FILE *f, struct fr_shown x, size_t width, struct fr_error *err)
{
    struct fr__document *d = fr__document_new(FR__FOR_LINES, width);
    enum fr_status st = fr__kind(x.kind)->build(d, x.answer, err);

    if (st == FR_OK)
        fr__text_render(f, d);
    fr__document_free(d);
    return st;
}

void fr_show_json(FILE *f, struct fr_shown x)
{
    assert(fr__kind(x.kind)->json);
    fr__kind(x.kind)->json(f, x.answer);
}
