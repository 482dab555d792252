/* api/verbs/validate.c - predictions against a table of measurements. */
#include "config.h"

#include "base/error.h"
#include "base/json.h"
#include "api/verbs/verbs.h"
#include "results/results.h"

#include <math.h>
#include <string.h>

/* ---- JSON ---- */

static void write_errors(struct fr__json *j, const struct fr_validation_errors *e)
{
    fr__json_count(j, "n", e->n);
    fr__json_number(j, "median", e->n ? e->median : NAN);
    fr__json_number(j, "mean", e->n ? e->mean : NAN);
    fr__json_number(j, "p90", e->n ? e->p90 : NAN);
    fr__json_number(j, "worst", e->n ? e->worst : NAN);
    fr__json_number(j, "bias", e->n ? e->bias : NAN);
}

static void write_rows(struct fr__json *j, const struct fr_validation *v)
{
    fr__json_open(j, "rows", '[', false);
    for (size_t i = 0; i < v->n_rows; i++) {
        const struct fr_validation_row *r = &v->rows[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "id", r->id);
        fr__json_number(j, "measured_s", r->measured_s);
        fr__json_number(j, "predicted_s", r->predicted_s);
        fr__json_number(j, "low_s", r->low_s);
        fr__json_number(j, "high_s", r->high_s);
        fr__json_number(j, "half_low_s", r->half_low_s);
        fr__json_number(j, "half_high_s", r->half_high_s);
        fr__json_number(j, "cost_error", r->cost_error);
        fr__json_string(j, "class", r->interval_class[0] ? r->interval_class : NULL);
        fr__json_number(j, "error", r->error);
        fr__json_number(j, "memory_error", r->memory_error);
        fr__json_string(j, "why_not", r->why_not);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_validation(FILE *f, const struct fr_validation *v)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    write_rows(&j, v);
    fr__json_open(&j, "summary", '{', true);
    write_errors(&j, &v->groups[0].errors);
    fr__json_number(&j, "tau", v->tau);
    fr__json_number(&j, "scaling_median", v->scaling_median);
    fr__json_count(&j, "ranges", v->n_ranges);
    fr__json_count(&j, "in_90", v->n_in_90);
    fr__json_count(&j, "in_50", v->n_in_50);
    fr__json_close(&j, '}');
    fr__json_open(&j, "groups", '[', false);
    for (size_t i = 1; i < v->n_groups; i++) {
        fr__json_open(&j, NULL, '{', true);
        fr__json_string(&j, "by", fr_validation_by_name(v->groups[i].by));
        fr__json_string(&j, "name", v->groups[i].name);
        write_errors(&j, &v->groups[i].errors);
        fr__json_close(&j, '}');
    }
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
}

/* ---- the verb ---- */

/* A table that is all zeros would look like perfect predictions. */
static enum fr_status check_any(const struct fr_validation *v, const char *path,
                                struct fr_error *err)
{
    if (v->n_predicted > 0)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                    "none of the %zu rows could be predicted; the first, '%.40s': %s", v->n_rows,
                    v->rows[0].id, v->rows[0].why_not);
}

enum fr_status fr__verb_validate(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    const struct fr_validate_options how = {.costs = o->question.costs,
                                            .allow_implausible = o->question.allow_implausible,
                                            .is_anchored = o->anchored};
    struct fr_validation *v;
    enum fr_status st;

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_validation_check_path(o->files[i], err));
    st = fr_validate(&v, o->arguments[0], &how, o->n_jobs, &s->context, err);
    fr__end_progress(s);
    if (st != FR_OK)
        return st;
    st = check_any(v, o->arguments[0], err);
    for (size_t i = 0; i < o->n_files && st == FR_OK; i++)
        st = fr__file_done(
            s, fr_validation_write(v, o->verbose || o->all, o->files[i], &s->context, err), err);
    if (st == FR_OK && o->json)
        write_validation(s->out, v);
    else if (st == FR_OK)
        st = fr_validation_print(s->out, v, o->verbose || o->all, err);
    fr_validation_free(v);
    return st;
}
