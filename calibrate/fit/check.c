/* calibrate/fit/check.c - compares the curves of a device with measured rows. */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "calibrate/curves/curve.h"
#include "calibrate/fit/read/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 16 };

/* Splits names joined by "; " in place. */
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

/* Whether the curve was fitted to rows of this source. */
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

/* ---- visiting rows ---- */

/* Visits all rows of curve i's class and dtype. is_own: only rows of the sources that i was fitted
 * to. */
static enum fr_status visit_rows(const struct fr_calibration *c, size_t i, const struct fr__data *d,
                                 const char *const paths[], bool is_own, fr_check_row_fn *fn,
                                 void *user, struct fr_error *err)
{
    const struct fr_curve_info *info = &c->curves[i]->info;

    for (size_t k = 0; k < d->n_rows; k++) {
        const struct fr__measured *m = &d->rows[k];
        struct fr_check_row row = {.line = m->line,
                                   .shape = m->shape,
                                   .measured_s = m->time_s,
                                   .is_held_out = fr__is_held_out(m->hash)};

        if (m->dtype != info->dtype || m->shape.op_class != info->op_class ||
            (is_own && !is_of_source(c->curves[i], d->sources[m->source])))
            continue;
        snprintf(row.file, sizeof(row.file), "%s", paths[m->file]);
        row.predicted_s = fr_calibration_time_s(c, i, &m->shape);
        FR_TRY(fn(user, &row, err));
    }
    return FR_OK;
}

enum fr_status fr_calibration_visit(const struct fr_calibration *c, size_t i,
                                    const char *const paths[], size_t n_paths,
                                    const char *const gpus[], size_t n_gpus, fr_check_row_fn *fn,
                                    void *user, struct fr_error *err)
{
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
        st = visit_rows(c, i, &d, paths, n_gpus == 0, fn, user, err);
    fr__data_fini(&d);
    return st;
}

/* ---- judging ---- */

struct judging {
    struct fr_check *check;
    double *errors;
    size_t n, cap;
    bool is_all;
};

static enum fr_status judge_row(void *user, const struct fr_check_row *row, struct fr_error *err)
{
    struct judging *j = user;

    if (!j->is_all && !row->is_held_out) {
        j->check->n_left_out++;
        return FR_OK;
    }
    if (!fr__grow(&j->errors, &j->cap, j->n + 1, sizeof(*j->errors)))
        return fr__fail_nomem(err);
    keep_worst(j->check, j->n, row);
    j->errors[j->n++] = row->predicted_s / row->measured_s - 1;
    return FR_OK;
}

/* ---- work side by side ---- */

static enum fr_status judge_pair(struct fr_check *check, const struct fr_slowdown *pair,
                                 const struct fr__data *d, enum fr_beside of, enum fr_beside beside,
                                 bool is_all, struct fr_error *err)
{
    double *errors = calloc(d->n_beside + 1, sizeof(*errors));
    size_t n = 0;

    if (!errors)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < d->n_beside; k++) {
        const struct fr__beside_row *r = &d->beside[k];

        if (r->of != of || r->beside != beside)
            continue;
        if (!is_all && !fr__is_held_out(r->hash))
            check->n_left_out++;
        else
            errors[n++] = pair->factor * r->alone_s / r->together_s - 1;
    }
    check->misses = fr__misses_of(errors, n);
    free(errors);
    return FR_OK;
}

/* Drops all rows but those of the source that the factors were fitted to. */
static void keep_source(struct fr__data *d, const char *source)
{
    size_t n = 0;

    for (size_t k = 0; k < d->n_beside; k++)
        if (strcmp(d->sources[d->beside[k].source], source) == 0)
            d->beside[n++] = d->beside[k];
    d->n_beside = n;
}

enum fr_status fr_calibration_check_slowdowns(const struct fr_calibration *c,
                                              const char *const paths[], size_t n_paths,
                                              const char *const gpus[], size_t n_gpus, bool is_all,
                                              struct fr_check checks[FR_N_BESIDE * FR_N_BESIDE],
                                              struct fr_error *err)
{
    const struct fr_slowdowns *s = fr_calibration_slowdowns(c);
    struct fr__data d = {0};
    enum fr_status st = FR_OK;

    memset(checks, 0, FR_N_BESIDE * FR_N_BESIDE * sizeof(*checks));
    if (!s)
        return FR_OK;
    for (size_t k = 0; st == FR_OK && k < n_paths; k++)
        st = fr__data_read(&d, paths[k], (uint32_t)k, n_gpus ? gpus : &s->gpus, n_gpus ? n_gpus : 1,
                           err);
    if (st == FR_OK && n_gpus == 0)
        keep_source(&d, s->source);
    for (unsigned i = 0; st == FR_OK && i < FR_N_BESIDE * FR_N_BESIDE; i++) {
        unsigned a = i / FR_N_BESIDE, b = i % FR_N_BESIDE;

        if (s->of[a][b].n_fitted > 0)
            st = judge_pair(&checks[i], &s->of[a][b], &d, (enum fr_beside)a, (enum fr_beside)b,
                            is_all, err);
    }
    fr__data_fini(&d);
    return st;
}

enum fr_status fr_calibration_check(const struct fr_calibration *c, const char *const paths[],
                                    size_t n_paths, const char *const gpus[], size_t n_gpus,
                                    bool is_all, struct fr_check checks[], struct fr_error *err)
{
    for (size_t i = 0; i < c->n_curves; i++) {
        struct judging j = {.check = &checks[i], .is_all = is_all};
        enum fr_status st;

        memset(&checks[i], 0, sizeof(checks[i]));
        st = fr_calibration_visit(c, i, paths, n_paths, gpus, n_gpus, judge_row, &j, err);
        if (st == FR_OK)
            checks[i].misses = fr__misses_of(j.errors, j.n);
        free(j.errors);
        FR_TRY(st);
    }
    return FR_OK;
}
