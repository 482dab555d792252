/* results/comm.c - the file formats of a collective's curves and of its steps, by a file's ending.
 *
 * It is separate from the writers, each of which knows its own format alone.
 */
#include "config.h"

#include "results/comm_table.h"

#include "base/error.h"
#include "results/parts/output.h"
#include "results/pictures/curves.h"

static const char *const PICTURES[] = {".svg", ".png", ".pdf"};

/* NULL: no picture. */
static const char *picture_ending(const char *path)
{
    for (size_t i = 0; i < sizeof(PICTURES) / sizeof(PICTURES[0]); i++)
        if (fr__ends_in(path, PICTURES[i]))
            return PICTURES[i];
    return NULL;
}

enum fr_status fr_comm_check_path(const char *path, struct fr_error *err)
{
    if (picture_ending(path) || fr__ends_in(path, ".csv") || fr__ends_in(path, ".json"))
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s': expected a name that ends in .svg, .png, .pdf, .csv or .json, or a "
                    "reduction: sum, prod, max, min or avg",
                    path);
}

enum fr_status fr_comm_write(struct fr_comm_table *const t[], size_t n, const char *path,
                             const struct fr_context *ctx, struct fr_error *err)
{
    const char *picture = picture_ending(path);
    struct fr__out o;
    enum fr_status st = FR_OK;

    FR_TRY(fr_comm_check_path(path, err));
    FR_TRY(fr__open_output(&o, path, err));
    if (picture)
        st = fr__draw_curves(o.f, t, n, picture, ctx, err);
    else if (fr__ends_in(path, ".csv"))
        fr_comm_print_csv(o.f, t, n);
    else
        fr_comm_print_json(o.f, t, n);
    return fr__close_output(&o, st, ctx, err);
}

enum fr_status fr_comm_story_check_path(const char *path, struct fr_error *err)
{
    if (picture_ending(path) || fr__ends_in(path, ".json"))
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s': expected a name that ends in .svg, .png, .pdf or .json", path);
}

enum fr_status fr_comm_story_write(const struct fr_comm_story *s, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    const char *picture = picture_ending(path);
    struct fr__out o;
    enum fr_status st = FR_OK;

    FR_TRY(fr_comm_story_check_path(path, err));
    FR_TRY(fr__open_output(&o, path, err));
    if (picture)
        st = fr__draw_steps(o.f, s, picture, ctx, err);
    else
        fr_comm_story_print_json(o.f, s);
    return fr__close_output(&o, st, ctx, err);
}
