/* results/schedules.c - the choice of a writer for pictures of pipeline schedules.
 *
 * It is separate from the writers, each of which knows its own format alone.
 */
#include "config.h"

#include "results/schedules.h"

#include "base/error.h"
#include "results/parts/output.h"
#include "results/pictures/schedule.h"

static const char *const endings[] = {".svg", ".png", ".pdf"};

enum { N_ENDINGS = sizeof(endings) / sizeof(endings[0]) };

static const char *ending_of(const char *path)
{
    for (size_t i = 0; i < N_ENDINGS; i++)
        if (fr__ends_in(path, endings[i]))
            return endings[i];
    return NULL;
}

enum fr_status fr_schedules_check_path(const char *path, struct fr_error *err)
{
    if (!ending_of(path))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no ending that names a picture, expected .svg, .png or .pdf",
                        path);
    return fr__check_output(path, err);
}

enum fr_status fr_schedules_write(const struct fr_timed_schedule all[], size_t n, const char *path,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__out o;

    FR_TRY(fr_schedules_check_path(path, err));
    FR_TRY(fr__open_output(&o, path, err));
    return fr__close_output(&o, fr__schedules_draw(o.f, all, n, ending_of(path), ctx, err), ctx,
                            err);
}
