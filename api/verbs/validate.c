/* api/verbs/validate.c - predictions against a table of measurements. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"
#include "results/results.h"

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
                                            .is_anchored = o->anchored,
                                            .recipe = FR_RECIPE_DEFAULT};
    struct fr_validation *v;
    enum fr_status st;

    FR_TRY(fr__check_files(o, FR_KIND_VALIDATION, err));
    st = fr_validate(&v, o->arguments[0], &how, o->n_jobs, &s->context, err);
    fr__end_progress(s);
    if (st != FR_OK)
        return st;
    st = check_any(v, o->arguments[0], err);
    if (st == FR_OK)
        st = fr__show(
            s, fr_shown_validation(&(struct fr_validation_answer){v, o->verbose || o->all}), err);
    fr_validation_free(v);
    return st;
}
