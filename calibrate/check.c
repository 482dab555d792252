/* calibrate/check.c - judges the curves of a device on measured rows. */
#include "config.h"

#include "base/error.h"
#include "calibrate/curve.h"
#include "calibrate/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 16 };

/* Names joined by "; ", cut apart in text. */
static size_t split_names(char text[FR__CURVE_TEXT], const char *names[MAX_NAMES])
{
    size_t n = 0;
    char *at = text;

    while (at && n < MAX_NAMES) {
        names[n++] = at;
        at = strstr(at, "; ");
        if (at) {
            *at = '\0';
            at += 2;
        }
    }
    return n;
}

/* Whether the source of a row is one that the curve was fitted to. */
static bool is_of_source(const struct fr__curve *c, const char *source)
{
    char text[FR__CURVE_TEXT];
    const char *names[MAX_NAMES];
    size_t n;

    memcpy(text, c->source, sizeof(text));
    n = split_names(text, names);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], source) == 0)
            return true;
    return false;
}

static double miss(const struct fr_check_row *row)
{
    return fabs(row->predicted_s / row->measured_s - 1);
}

static void keep_worst(struct fr_check *check, size_t n_so_far, const struct fr_check_row *row)
{
    size_t n = n_so_far < FR_CHECK_WORST ? n_so_far : FR_CHECK_WORST, at = n;

    while (at > 0 && miss(row) > miss(&check->worst[at - 1]))
        at--;
    for (size_t i = n < FR_CHECK_WORST ? n : FR_CHECK_WORST - 1; i > at; i--)
        check->worst[i] = check->worst[i - 1];
    if (at < FR_CHECK_WORST)
        check->worst[at] = *row;
}

static enum fr_status check_curve(const struct fr_calibration *c, size_t i,
                                  const struct fr__data *d, const char *const paths[], bool is_all,
                                  bool is_own, struct fr_check *check, struct fr_error *err)
{
    double *errors = calloc(d->n_rows + 1, sizeof(*errors));
    size_t n = 0;

    if (!errors)
        return fr__fail_nomem(err);
    memset(check, 0, sizeof(*check));
    for (size_t k = 0; k < d->n_rows; k++) {
        const struct fr__measured *m = &d->rows[k];
        struct fr_check_row row = {.line = m->line, .shape = m->shape, .measured_s = m->time_s};

        if (m->dtype != c->curves[i]->info.dtype ||
            m->shape.op_class != c->curves[i]->info.op_class ||
            (is_own && !is_of_source(c->curves[i], d->sources[m->source])))
            continue;
        if (!is_all && !fr__is_held_out(m->hash)) {
            check->n_left_out++;
            continue;
        }
        snprintf(row.file, sizeof(row.file), "%s", paths[m->file]);
        row.predicted_s = fr_calibration_time_s(c, i, &m->shape);
        keep_worst(check, n, &row);
        errors[n++] = row.predicted_s / row.measured_s - 1;
    }
    check->misses = fr__misses_of(errors, n);
    free(errors);
    return FR_OK;
}

enum fr_status fr_calibration_check(const struct fr_calibration *c, const char *const paths[],
                                    size_t n_paths, const char *const gpus[], size_t n_gpus,
                                    bool is_all, struct fr_check checks[], struct fr_error *err)
{
    for (size_t i = 0; i < c->n_curves; i++) {
        char text[FR__CURVE_TEXT];
        const char *names[MAX_NAMES];
        size_t n_names;
        struct fr__data d = {0};
        enum fr_status st = FR_OK;

        memcpy(text, c->curves[i]->gpus, sizeof(text));
        n_names = split_names(text, names);
        for (size_t k = 0; st == FR_OK && k < n_paths; k++)
            st = fr__data_read(&d, paths[k], (uint32_t)k, n_gpus ? gpus : names,
                               n_gpus ? n_gpus : n_names, err);
        if (st == FR_OK)
            st = check_curve(c, i, &d, paths, is_all, n_gpus == 0, &checks[i], err);
        fr__data_fini(&d);
        FR_TRY(st);
    }
    return FR_OK;
}
