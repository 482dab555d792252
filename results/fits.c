/* results/fits.c - collects the rows of each fitted curve and chooses pictures or a table.
 *
 * It is separate from the pictures, which draw the rows that they are given.
 */
#include "config.h"

#include "results/fits.h"

#include "base/error.h"
#include "base/file.h"
#include "results/data/data.h"
#include "results/pictures/fit.h"
#include "results/charts/chart.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- paths ---- */

/* The ending of the last name in path, from its dot; NULL: it has none. */
static const char *ending_of(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *dot;

    name = name ? name + 1 : path;
    dot = strrchr(name, '.');
    return dot && dot != name && dot[1] ? dot : NULL;
}

static bool is_picture(const char *path)
{
    const char *ending = ending_of(path);

    return ending && fr__chart_has_ending(ending);
}

static bool is_table(const char *path)
{
    const char *ending = ending_of(path);

    return ending && strcmp(ending, ".csv") == 0;
}

enum fr_status fr_fits_check_path(const char *path, struct fr_error *err)
{
    if (!ending_of(path) || is_picture(path) || is_table(path) || fr__is_folder(path))
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' is neither a folder for pictures nor ends in .png, .svg, .pdf or .csv",
                    path);
}

static enum fr_status make_folder(const char *path, struct fr_error *err)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return FR_OK;
    return fr__fail(err, FR_EIO, (struct fr_loc){path, 0, 0}, "cannot make the folder: %s",
                    strerror(errno));
}

/* PATH/CLASS-DTYPE.png; the caller frees. NULL: out of memory. */
static char *name_in(const char *folder, const struct fr_curve_info *info)
{
    size_t n = strlen(folder) + 64;
    char *name = malloc(n);

    if (name)
        snprintf(name, n, "%s/%s-%s.png", folder, fr_curve_class_name(info->op_class),
                 fr_dtype_name(info->dtype));
    return name;
}

/* Makes the folder, or refuses a single picture of n things, called `what`. */
static enum fr_status prepare_path(const char *path, size_t n, const char *what,
                                   struct fr_error *err)
{
    if (n == 0)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE, "the data have no row to draw");
    if (n > 1 && is_picture(path))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' is one picture and the data have rows of %zu %s; name a folder", path,
                        n, what);
    return is_picture(path) ? FR_OK : make_folder(path, err);
}

/* ---- the rows of a curve ---- */

struct collected {
    struct fr_check_row *rows;
    size_t n, cap;
};

static enum fr_status collect(void *user, const struct fr_check_row *row, struct fr_error *err)
{
    struct collected *c = user;

    if (!fr__grow(&c->rows, &c->cap, c->n + 1, sizeof(*c->rows)))
        return fr__fail_nomem(err);
    c->rows[c->n++] = *row;
    return FR_OK;
}

/* Writes where the rows come from: "vidur on NVIDIA A100 80GB", or the GPUs that were asked for. */
static void say_whence(const struct fr_fits *f, const struct fr_curve_info *info, char *text,
                       size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    if (f->n_gpus == 0)
        snprintf(text, size, "%s on %s", info->source, info->gpus);
    for (size_t i = 0; i < f->n_gpus && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "; " : "", f->gpus[i]);
}

static enum fr_status draw_rows(const struct fr_fits *f, size_t i, const struct collected *rows,
                                const char *path, const struct fr_context *ctx,
                                struct fr_error *err)
{
    struct fr__arena *a = fr__arena_new();
    struct fr__fit_picture picture;
    char whence[FR__FIT_HEADING];
    enum fr_status st;

    if (!a)
        return fr__fail_nomem(err);
    st = fr__fit_of_kernels(a, f->curves, i, rows->rows, rows->n, f->is_all, &picture, err);
    if (st == FR_OK) {
        say_whence(f, fr_calibration_curve(f->curves, i), whence, sizeof(whence));
        fr__fit_say_misses(&picture, &f->checks[i].misses, whence);
        st = fr__fit_plot(&picture, path, ctx, err);
    }
    fr__arena_free(a);
    return st;
}

/* path: a picture's, or a folder that exists. */
static enum fr_status draw_curve(const struct fr_fits *f, size_t i, const char *path,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    struct collected rows = {NULL, 0, 0};
    char *name = is_picture(path) ? NULL : name_in(path, fr_calibration_curve(f->curves, i));
    enum fr_status st;

    if (!name && !is_picture(path))
        return fr__fail_nomem(err);
    st = fr_calibration_visit(f->curves, i, f->paths, f->n_paths, f->gpus, f->n_gpus, collect,
                              &rows, err);
    if (st == FR_OK)
        st = draw_rows(f, i, &rows, name ? name : path, ctx, err);
    free(rows.rows);
    free(name);
    return st;
}

enum fr_status fr_fits_draw(const struct fr_fits *f, const char *path, const struct fr_context *ctx,
                            struct fr_error *err)
{
    size_t n = 0;

    FR_TRY(fr_fits_check_path(path, err));
    if (is_table(path) && !fr__is_folder(path))
        return fr__fits_write_csv(f, path, err);
    for (size_t i = 0; fr_calibration_curve(f->curves, i); i++)
        n += f->checks[i].misses.n > 0;
    FR_TRY(prepare_path(path, n, "curves", err));
    for (size_t i = 0; fr_calibration_curve(f->curves, i); i++)
        if (f->checks[i].misses.n > 0)
            FR_TRY(draw_curve(f, i, path, ctx, err));
    return FR_OK;
}

/* ---- systems ---- */

struct system_rows {
    struct fr_system_row *rows;
    size_t n, cap, i; /* i: the class that is wanted */
};

static enum fr_status collect_system(void *user, size_t i, const struct fr_system_row *row,
                                     struct fr_error *err)
{
    struct system_rows *c = user;

    if (i != c->i)
        return FR_OK;
    if (!fr__grow(&c->rows, &c->cap, c->n + 1, sizeof(*c->rows)))
        return fr__fail_nomem(err);
    c->rows[c->n++] = *row;
    return FR_OK;
}

/* PATH/all-reduce-nodes.png; links have numbers, as their names come from data. NULL: no memory. */
static char *name_of_class(const char *folder, size_t i)
{
    size_t n = strlen(folder) + 64;
    char *name = malloc(n);

    if (!name)
        return NULL;
    if (i < 2 * FR_N_SYSTEM_OPS)
        snprintf(name, n, "%s/%s%s.png", folder,
                 fr_system_op_name((enum fr_system_op)(i % FR_N_SYSTEM_OPS)),
                 i < FR_N_SYSTEM_OPS ? "" : "-nodes");
    else
        snprintf(name, n, "%s/send-%zu.png", folder, i - 2 * FR_N_SYSTEM_OPS + 1);
    return name;
}

static const char *whence_of(const struct fr_system_fits *f, size_t i)
{
    const struct fr_system_info *info = fr_system_info(f->system);

    if (f->rows_of)
        return f->rows_of;
    return i < 2 * FR_N_SYSTEM_OPS ? info->source : info->links[i - 2 * FR_N_SYSTEM_OPS].source;
}

static enum fr_status draw_class(const struct fr_system_fits *f, size_t i, const char *path,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    struct system_rows rows = {.i = i};
    struct fr__arena *a = fr__arena_new();
    struct fr__fit_picture picture;
    enum fr_status st;

    if (!a)
        return fr__fail_nomem(err);
    st = fr_system_visit(f->system, f->rows_of, f->paths, f->n_paths, f->min_bytes, collect_system,
                         &rows, err);
    if (st == FR_OK)
        st = fr__fit_of_system(a, f->system, i, rows.rows, rows.n, f->is_all, &picture, err);
    if (st == FR_OK) {
        fr__fit_say_misses(&picture, &f->checks[i].misses, whence_of(f, i));
        st = fr__fit_plot(&picture, path, ctx, err);
    }
    free(rows.rows);
    fr__arena_free(a);
    return st;
}

enum fr_status fr_system_fits_draw(const struct fr_system_fits *f, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    size_t n = 0;

    FR_TRY(fr_fits_check_path(path, err));
    if (is_table(path) && !fr__is_folder(path))
        return fr__system_fits_write_csv(f, path, err);
    for (size_t i = 0; i < FR_SYSTEM_CLASSES; i++)
        n += f->checks[i].misses.n > 0;
    FR_TRY(prepare_path(path, n, "classes", err));
    for (size_t i = 0; i < FR_SYSTEM_CLASSES; i++) {
        char *name = is_picture(path) ? NULL : name_of_class(path, i);
        enum fr_status st = FR_OK;

        if (!name && !is_picture(path))
            return fr__fail_nomem(err);
        if (f->checks[i].misses.n > 0)
            st = draw_class(f, i, name ? name : path, ctx, err);
        free(name);
        FR_TRY(st);
    }
    return FR_OK;
}
