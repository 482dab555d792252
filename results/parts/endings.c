/* results/parts/endings.c - looks up endings, names them when none fits, opens and closes files. */
#include "config.h"

#include "results/parts/endings.h"

#include "base/error.h"

#include <string.h>

static const struct fr__ending *find(const struct fr__endings *e, const char *path)
{
    const struct fr__ending *best = NULL;

    for (size_t i = 0; i < e->n; i++)
        if (fr__ends_in(path, e->rows[i].ending) &&
            (!best || strlen(e->rows[i].ending) > strlen(best->ending)))
            best = &e->rows[i];
    /* a name that promises a trace gets no other JSON */
    if (best && strcmp(best->ending, ".json") == 0 && fr__ends_in(path, ".trace.json"))
        return NULL;
    return best;
}

const char *fr__ending_at(const struct fr__endings *e, size_t i, const char **summary)
{
    if (i >= e->n)
        return NULL;
    *summary = e->rows[i].summary;
    return e->rows[i].ending;
}

enum fr_status fr__ending_check(const struct fr__endings *e, const char *path, struct fr_error *err)
{
    char known[160] = "";
    size_t used = 0;

    if (find(e, path))
        return fr__check_output(path, err);
    for (size_t i = 0; i < e->n && used < sizeof(known); i++) {
        int n = snprintf(known + used, sizeof(known) - used, " %s", e->rows[i].ending);

        used += n > 0 ? (size_t)n : 0;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' has no ending that names a format of %s, expected one of%s%s", path,
                    e->of, known, e->hint ? e->hint : "");
}

enum fr_status fr__ending_write(const struct fr__endings *e, const void *what, const char *path,
                                const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__ending *row = find(e, path);
    struct fr__out o;

    FR_TRY(fr__ending_check(e, path, err));
    FR_TRY(fr__open_output(&o, path, err));
    return fr__close_output(&o, row->write(o.f, what, row->ending, ctx, err), ctx, err);
}
