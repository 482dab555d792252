/* api/verbs/calibrate.c - fit, check and show cost curves. */
#include "config.h"

#include "base/error.h"
#include "base/json.h"
#include "api/verbs/verbs.h"
#include "results/fits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

static void print_misses(FILE *f, const struct fr_misses *m)
{
    if (m->n == 0)
        fprintf(f, " %8s %8s %8s %8s", "-", "-", "-", "-");
    else
        fprintf(f, " %6.1f %% %6.1f %% %6.1f %% %+6.1f %%", 100 * m->median, 100 * m->p90,
                100 * m->worst, 100 * m->bias);
}

/* "compute/copy": what is slowed, and what by. */
static const char *pair_name(unsigned of, unsigned beside, char text[32])
{
    snprintf(text, 32, "%s/%s", fr_beside_name((enum fr_beside)of),
             fr_beside_name((enum fr_beside)beside));
    return text;
}

static void print_slowdowns(FILE *f, const struct fr_slowdowns *s)
{
    char name[32];

    for (unsigned i = 0; s && i < FR_N_BESIDE * FR_N_BESIDE; i++) {
        const struct fr_slowdown *pair = &s->of[i / FR_N_BESIDE][i % FR_N_BESIDE];

        if (pair->n_fitted == 0)
            continue;
        fprintf(f, "  %-20s %-6s %8" PRIu64 " %8" PRIu64,
                pair_name(i / FR_N_BESIDE, i % FR_N_BESIDE, name), "-", pair->n_fitted,
                pair->held_out.n);
        print_misses(f, &pair->held_out);
        putc('\n', f);
    }
}

static void print_curves(FILE *f, const struct fr_calibration *c)
{
    const struct fr_curve_info *info;

    if (!fr_calibration_curve(c, 0) && !fr_calibration_slowdowns(c)) {
        fputs("  no curves\n", f);
        return;
    }
    fprintf(f, "  %-20s %-6s %8s %8s %8s %8s %8s %8s\n", "class", "dtype", "fitted", "held out",
            "median", "p90", "worst", "bias");
    for (size_t i = 0; (info = fr_calibration_curve(c, i)) != NULL; i++) {
        fprintf(f, "  %-20s %-6s %8" PRIu64 " %8" PRIu64, fr_curve_class_name(info->op_class),
                fr_dtype_name(info->dtype), info->n_fitted, info->held_out.n);
        print_misses(f, &info->held_out);
        putc('\n', f);
    }
    print_slowdowns(f, fr_calibration_slowdowns(c));
}

/* Launches and factors, a paragraph each. */
static void print_the_rest(FILE *f, const struct fr_calibration *c)
{
    const struct fr_slowdowns *s = fr_calibration_slowdowns(c);
    const struct fr_launches *l = fr_calibration_launches(c);
    char name[32];

    if (l)
        fprintf(f, "\nlaunch: %s, from %s\n", l->gpus, l->source);
    for (unsigned w = 0; l && w < FR_N_LAUNCHES; w++)
        if (l->time_s[w] > 0)
            fprintf(f, "  %-16s %10.4g  +- %.2g\n", fr_launch_name((enum fr_launch)w), l->time_s[w],
                    l->error_s[w]);
    if (s)
        fprintf(f, "\ninterference, times as long: %s, from %s\n", s->gpus, s->source);
    for (unsigned i = 0; s && i < FR_N_BESIDE * FR_N_BESIDE; i++) {
        const struct fr_slowdown *pair = &s->of[i / FR_N_BESIDE][i % FR_N_BESIDE];

        if (pair->n_fitted > 0)
            fprintf(f, "  %-21s %5.3f  +- %.2g\n",
                    pair_name(i / FR_N_BESIDE, i % FR_N_BESIDE, name), pair->factor, pair->error);
    }
}

/* ---- fit ---- */

static enum fr_status fail_unknown_device(const char *name, struct fr_error *err)
{
    const struct fr_device_type *type;
    const char *names[64];
    char hint[128];
    size_t n = 0;

    for (; n < 64 && (type = fr_device_type_builtin(n)) != NULL; n++)
        names[n] = type->name;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no device type is named '%s'%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

enum fr_status fr__verb_calibrate_fit(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_fit_request request = {.gpus = o->gpus,
                                     .n_gpus = o->n_gpus,
                                     .paths = o->arguments,
                                     .n_paths = o->n_arguments,
                                     .allow_implausible = o->question.allow_implausible};
    struct fr_calibration *c;
    enum fr_status st;

    if (o->system)
        return fr__system_fit(s->out, o, err);
    if (!o->device || o->n_gpus == 0 || o->n_files != 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun calibrate fit' needs -d DEVICE, --gpu GPU and one -o FILE.yaml");
    request.device = fr_device_type_find(o->device);
    if (!request.device)
        return fail_unknown_device(o->device, err);
    FR_TRY(fr_calibration_fit(&c, &request, &s->context, err));
    st = fr_calibration_write(c, o->files[0], err);
    if (st == FR_OK && !o->quiet) {
        fprintf(s->out, "%s: misses on rows that were held out\n\n", fr_calibration_device(c));
        print_curves(s->out, c);
        print_the_rest(s->out, c);
    }
    fr_calibration_free(c);
    return st;
}

/* ---- check ---- */

static void print_worst(FILE *f, const struct fr_check *check)
{
    for (size_t i = 0; i < FR_CHECK_WORST && i < check->misses.n; i++) {
        const struct fr_check_row *r = &check->worst[i];

        char shape[256];

        fprintf(f, "    %s:%u: %s: %.4g us measured, %.4g us predicted\n", r->file, r->line,
                fr_kernel_shape_format(&r->shape, shape, sizeof(shape)), 1e6 * r->measured_s,
                1e6 * r->predicted_s);
    }
}

static void print_checks(FILE *f, const struct fr_calibration *c, const struct fr_check checks[],
                         const struct fr_check pairs[], bool is_all)
{
    const struct fr_slowdowns *s = fr_calibration_slowdowns(c);
    const struct fr_curve_info *info;
    char name[32];

    fprintf(f, "%s, %s\n\n  %-20s %-6s %8s %8s %8s %8s %8s %8s\n", fr_calibration_device(c),
            is_all ? "all rows, also those that a fit may have seen"
                   : "only rows of shapes that no fit sees (--all: the others too)",
            "class", "dtype", "rows", "left out", "median", "p90", "worst", "bias");
    for (size_t i = 0; (info = fr_calibration_curve(c, i)) != NULL; i++) {
        fprintf(f, "  %-20s %-6s %8" PRIu64 " %8" PRIu64, fr_curve_class_name(info->op_class),
                fr_dtype_name(info->dtype), checks[i].misses.n, checks[i].n_left_out);
        print_misses(f, &checks[i].misses);
        putc('\n', f);
    }
    for (unsigned i = 0; s && i < FR_N_BESIDE * FR_N_BESIDE; i++) {
        const struct fr_check *pair = &pairs[i];

        if (s->of[i / FR_N_BESIDE][i % FR_N_BESIDE].n_fitted == 0)
            continue;
        fprintf(f, "  %-20s %-6s %8" PRIu64 " %8" PRIu64,
                pair_name(i / FR_N_BESIDE, i % FR_N_BESIDE, name), "-", pair->misses.n,
                pair->n_left_out);
        print_misses(f, &pair->misses);
        putc('\n', f);
    }
    fputs("\n  worst rows\n", f);
    for (size_t i = 0; fr_calibration_curve(c, i); i++)
        print_worst(f, &checks[i]);
}

static void write_check(struct fr__json *j, const char *name, const char *dtype,
                        const struct fr_misses *m)
{
    if (m->n == 0)
        return;
    fr__json_open(j, NULL, '{', true);
    fr__json_string(j, "class", name);
    fr__json_string(j, "dtype", dtype);
    fr__json_count(j, "n", m->n);
    fr__json_number(j, "median", m->median);
    fr__json_number(j, "p90", m->p90);
    fr__json_number(j, "worst", m->worst);
    fr__json_number(j, "bias", m->bias);
    fr__json_close(j, '}');
}

static void write_checks(FILE *f, const struct fr_calibration *c, const struct fr_check checks[],
                         const struct fr_check pairs[])
{
    const struct fr_curve_info *info;
    struct fr__json j;
    char name[32];

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '[', false);
    for (size_t i = 0; (info = fr_calibration_curve(c, i)) != NULL; i++)
        write_check(&j, fr_curve_class_name(info->op_class), fr_dtype_name(info->dtype),
                    &checks[i].misses);
    for (unsigned i = 0; i < FR_N_BESIDE * FR_N_BESIDE; i++)
        write_check(&j, pair_name(i / FR_N_BESIDE, i % FR_N_BESIDE, name), "-", &pairs[i].misses);
    fr__json_close(&j, ']');
}

static enum fr_status require_rows(const struct fr_calibration *c, const struct fr_check checks[],
                                   const struct fr_check pairs[], struct fr_error *err)
{
    uint64_t n = 0, n_left_out = 0;

    for (size_t i = 0; fr_calibration_curve(c, i); i++) {
        n += checks[i].misses.n;
        n_left_out += checks[i].n_left_out;
    }
    for (unsigned i = 0; i < FR_N_BESIDE * FR_N_BESIDE; i++) {
        n += pairs[i].misses.n;
        n_left_out += pairs[i].n_left_out;
    }
    if (n > 0)
        return FR_OK;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "the data have no row to judge (%" PRIu64
                    " left out); --gpu names another GPU, --all takes every shape",
                    n_left_out);
}

/* The curves to judge: those of -d, or those of --from as they are expected on the type of -d. */
static enum fr_status load_curves(const struct fr__options *o, struct fr_calibration **out,
                                  struct fr_error *err)
{
    const struct fr_device_type *type;
    struct fr_calibration *from;
    enum fr_status st;

    if (!o->from)
        return fr_calibration_load(out, o->device, err);
    if (o->n_gpus == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'--from' needs --gpu GPU, whose rows the moved curves are judged on");
    type = fr_device_type_find(o->device);
    if (!type)
        return fail_unknown_device(o->device, err);
    FR_TRY(fr_calibration_load(&from, o->from, err));
    st = fr_calibration_move(out, from, type, err);
    fr_calibration_free(from);
    return st;
}

static enum fr_status draw_fits(struct fr__call *s, const struct fr_calibration *c,
                                const struct fr_check checks[], struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_fits fits = {.curves = c,
                           .checks = checks,
                           .paths = o->arguments,
                           .n_paths = o->n_arguments,
                           .gpus = o->gpus,
                           .n_gpus = o->n_gpus,
                           .is_all = o->all};

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr__file_done(s, fr_fits_draw(&fits, o->files[i], &s->context, err), err));
    return FR_OK;
}

enum fr_status fr__verb_calibrate_check(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_check *checks;
    struct fr_calibration *c;
    struct fr_check pairs[FR_N_BESIDE * FR_N_BESIDE];
    size_t n = 0;
    enum fr_status st;

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_fits_check_path(o->files[i], err));
    if (o->system)
        return fr__system_check(s, err);
    if (!o->device)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun calibrate check' needs -d NAME|PATH, a device file");
    FR_TRY(load_curves(o, &c, err));
    while (fr_calibration_curve(c, n))
        n++;
    checks = calloc(n + 1, sizeof(*checks));
    st = checks ? fr_calibration_check(c, o->arguments, o->n_arguments, o->gpus, o->n_gpus, o->all,
                                       checks, err)
                : fr__fail_nomem(err);
    if (st == FR_OK)
        st = fr_calibration_check_slowdowns(c, o->arguments, o->n_arguments, o->gpus, o->n_gpus,
                                            o->all, pairs, err);
    if (st == FR_OK)
        st = require_rows(c, checks, pairs, err);
    if (st == FR_OK)
        st = draw_fits(s, c, checks, err);
    if (st == FR_OK && o->json)
        write_checks(s->out, c, checks, pairs);
    else if (st == FR_OK)
        print_checks(s->out, c, checks, pairs, o->all);
    free(checks);
    fr_calibration_free(c);
    return st;
}

/* ---- show ---- */

/* A device type's name in the list, and whose curves it borrows, each once. */
static void list_borrower(FILE *f, const struct fr_device_type *type, const struct fr_cost_model *m)
{
    const char *from[FR_N_CURVE_CLASSES * FR_N_DTYPES];
    size_t n = fr_cost_devices_of(m, 0, from);

    fprintf(f, "%-18s no curves of its own, ", type->name);
    for (size_t k = 0; k < n; k++)
        fprintf(f, "%s%s", k ? ", " : "transferred: ", from[k]);
    fprintf(f, "%s\n", n ? "" : "data sheet only");
}

static bool has_file(const char *device)
{
    for (size_t i = 0; fr_calibration_shipped(i); i++)
        if (strcmp(fr_calibration_shipped(i), device) == 0)
            return true;
    return false;
}

/* GPUs that we know by their data sheet and that nobody measured. */
static enum fr_status list_borrowers(FILE *f, struct fr_error *err)
{
    const struct fr_cost_options options = {0};
    const struct fr_device_type *type;

    for (size_t i = 0; (type = fr_device_type_builtin(i)) != NULL; i++) {
        struct fr_cost_model *m;

        if (!type->is_gpu || has_file(type->name))
            continue;
        FR_TRY(fr_cost_model_new(&m, type, 1, &options, err));
        list_borrower(f, type, m);
        fr_cost_model_free(m);
    }
    return FR_OK;
}

/* The curves that a simulation takes for a device type and that are not its own. */
static enum fr_status show_borrowed(FILE *f, const struct fr_device_type *type,
                                    struct fr_error *err)
{
    const struct fr_cost_options options = {0};
    struct fr_cost_source source;
    struct fr_cost_model *m;
    size_t n = 0;

    FR_TRY(fr_cost_model_new(&m, type, 1, &options, err));
    for (unsigned i = 0; i < FR_N_CURVE_CLASSES * FR_N_DTYPES; i++) {
        enum fr_curve_class c = (enum fr_curve_class)(i / FR_N_DTYPES);
        enum fr_dtype d = (enum fr_dtype)(i % FR_N_DTYPES);

        if (!fr_cost_source_of(m, 0, c, d, &source) || strcmp(source.from, type->name) == 0)
            continue;
        if (n++ == 0)
            fprintf(f,
                    "%s: curves of its relatives, with its own peaks (transferred)\n\n"
                    "  %-20s %-6s %-18s %s\n",
                    type->name, "class", "dtype", "measured on", "median to expect");
        fprintf(f, "  %-20s %-6s %-18s %6.1f %%\n", fr_curve_class_name(c), fr_dtype_name(d),
                source.from, 100 * source.median);
    }
    if (n == 0)
        fprintf(f, "%s: data sheet only: no relative was measured\n", type->name);
    fr_cost_model_free(m);
    return FR_OK;
}

static enum fr_status list_shipped(FILE *f, struct fr_error *err)
{
    for (size_t i = 0; fr_calibration_shipped(i); i++) {
        const struct fr_curve_info *info;
        struct fr_calibration *c;

        FR_TRY(fr_calibration_load(&c, fr_calibration_shipped(i), err));
        fprintf(f, "%-18s", fr_calibration_shipped(i));
        for (size_t k = 0; (info = fr_calibration_curve(c, k)) != NULL; k++)
            fprintf(f, "%s %s %s", k ? "," : "", fr_curve_class_name(info->op_class),
                    fr_dtype_name(info->dtype));
        if (fr_calibration_launches(c))
            fprintf(f, "%s launch", fr_calibration_curve(c, 0) ? "," : "");
        if (fr_calibration_slowdowns(c))
            fprintf(f, "%s interference",
                    fr_calibration_curve(c, 0) || fr_calibration_launches(c) ? "," : "");
        putc('\n', f);
        fr_calibration_free(c);
    }
    FR_TRY(list_borrowers(f, err));
    return fr__system_list(f, err);
}

enum fr_status fr__verb_calibrate_show(struct fr__call *s, struct fr_error *err)
{
    const struct fr_device_type *type;
    const struct fr_curve_info *info;
    struct fr_calibration *c;

    if (s->options.n_arguments == 0)
        return list_shipped(s->out, err);
    if (s->options.n_arguments > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unexpected argument '%s'",
                        s->options.arguments[1]);
    if (fr__is_system(s->options.arguments[0]))
        return fr__system_show(s->out, s->options.arguments[0], err);
    type = fr_device_type_find(s->options.arguments[0]);
    if (type && type->is_gpu && !has_file(type->name))
        return show_borrowed(s->out, type, err);
    FR_TRY(fr_calibration_load(&c, s->options.arguments[0], err));
    fprintf(s->out, "%s: misses on rows that were held out\n\n", fr_calibration_device(c));
    print_curves(s->out, c);
    for (size_t i = 0; (info = fr_calibration_curve(c, i)) != NULL; i++) {
        const char *name;

        fprintf(s->out, "\n%s %s: %s, from %s\n", fr_curve_class_name(info->op_class),
                fr_dtype_name(info->dtype), info->gpus, info->source);
        for (size_t p = 0; (name = fr_curve_parameter_name(info->op_class, p)) != NULL; p++)
            fprintf(s->out, "  %-16s %10.4g  +- %.2g\n", name, info->parameters[p],
                    info->errors[p]);
        fprintf(s->out, "  %-16s %10" PRIu64 "\n", "residuals", info->n_residuals);
        if (info->repeats.n > 0)
            fprintf(s->out,
                    "  %-16s %10" PRIu64 " rows of shapes measured again, %.1f %% apart (median), "
                    "%.1f %% (p90)\n",
                    "repeats", info->repeats.n, 100 * info->repeats.median,
                    100 * info->repeats.p90);
    }
    print_the_rest(s->out, c);
    if (type && type->is_gpu && !fr_calibration_curve(c, 0)) {
        fr_calibration_free(c);
        putc('\n', s->out);
        return show_borrowed(s->out, type, err);
    }
    fr_calibration_free(c);
    return FR_OK;
}
