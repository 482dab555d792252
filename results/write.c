/* results/write.c - writes an answer of any kind: finds the ending, opens and closes the file.
 *
 * It is separate from the table of kinds (kinds.c), which says what there is.
 */
#include "config.h"

#include "results/kinds.h"

#include "base/error.h"
#include "results/parts/output.h"

#include <string.h>

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

const char *fr__kind_format(const struct fr__kind *k, size_t i, const char **summary)
{
    if (i >= k->n)
        return NULL;
    *summary = k->rows[i].summary;
    return k->rows[i].ending;
}

enum fr_status fr__kind_check(const struct fr__kind *k, const char *path, struct fr_error *err)
{
    char known[160] = "";
    size_t used = 0;

    if (fr__kind_find(k, path))
        return fr__check_output(path, err);
    for (size_t i = 0; i < k->n && used < sizeof(known); i++) {
        int n = snprintf(known + used, sizeof(known) - used, " %s", k->rows[i].ending);

        used += n > 0 ? (size_t)n : 0;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' has no ending that names a format of %s, expected one of%s%s", path,
                    k->of, known, k->hint ? k->hint : "");
}

/* The document of *what in that format. */
static enum fr_status render(FILE *f, const struct fr__kind *k, const struct fr__ending *row,
                             const void *what, const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__document *d = row->is_page ? fr__document_new_page() : fr__document_new();
    enum fr_status st = k->build(d, what, err);

    if (st == FR_OK && row->is_page)
        st = fr__html_render(f, d, k->of, ctx, err);
    else if (st == FR_OK)
        row->render(f, d);
    fr__document_free(d);
    return st;
}

enum fr_status fr__kind_write(const struct fr__kind *k, const void *what, const char *path,
                              const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__ending *row = fr__kind_find(k, path);
    enum fr_status st = FR_OK;
    struct fr__out o;

    FR_TRY(fr__kind_check(k, path, err));
    FR_TRY(fr__open_output(&o, path, err));
    if (row->is_page || row->render)
        st = render(o.f, k, row, what, ctx, err);
    else if (row->print)
        row->print(o.f, what);
    else
        st = row->draw(o.f, what, row->ending, ctx, err);
    return fr__close_output(&o, st, ctx, err);
}

enum fr_status fr__answer_print(FILE *f, fr__build_fn *build, const void *what, size_t width,
                                struct fr_error *err)
{
    struct fr__document *d = fr__document_new();
    enum fr_status st = build(d, what, err);

    if (st == FR_OK)
        fr__text_render(f, d, width);
    fr__document_free(d);
    return st;
}
