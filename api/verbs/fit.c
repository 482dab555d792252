/* api/verbs/fit.c - whether a job fits on a cluster, how fast it is, and which layouts near its own
 * take less.
 *
 * The job is simulated op by op, as `forerun simulate --job` does. Beside it a search asks for the
 * layouts that differ in each degree by a factor of 2 at most: what can be had by changing a few
 * arguments.
 */
#include "config.h"

#include "api/verbs/verbs.h"
#include "base/error.h"
#include "results/results.h"
#include "study/recipes/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LARGE: tasks of the job's plan from which on only some layouts near it are looked at, those that
 * can take less memory: each costs seconds then, and a page should come within a minute. */
enum { N_BEST = 3, AXIS = 160, LARGE = 50000 };

static uint64_t fact(const struct fr__options *o, const char *name)
{
    const char *text = fr_job_fact_value(o->job, name);
    unsigned long n = text ? strtoul(text, NULL, 10) : 0;

    return n > 0 && n < UINT32_MAX / 2 ? n : 1;
}

/* "tp=4,2,8": the job's value, its half and its double. */
static enum fr_status add_axis(struct fr_search *s, const char *axis, uint64_t n,
                               struct fr_error *err)
{
    char text[AXIS];
    int used = snprintf(text, sizeof(text), "%s=%" PRIu64, axis, n);

    if (n % 2 == 0)
        used += snprintf(text + used, sizeof(text) - (size_t)used, ",%" PRIu64, n / 2);
    snprintf(text + used, sizeof(text) - (size_t)used, ",%" PRIu64, 2 * n);
    return fr_search_axis(s, text, err);
}

/* "tp=4,8" or "micro=4,2": the job's value and, of its half and double, the one that is wanted. */
static enum fr_status add_one_way(struct fr_search *s, const char *axis, uint64_t n, bool is_up,
                                  struct fr_error *err)
{
    char text[AXIS];

    if (is_up)
        snprintf(text, sizeof(text), "%s=%" PRIu64 ",%" PRIu64, axis, n, 2 * n);
    else if (n % 2 == 0)
        snprintf(text, sizeof(text), "%s=%" PRIu64 ",%" PRIu64, axis, n, n / 2);
    else
        snprintf(text, sizeof(text), "%s=%" PRIu64, axis, n);
    return fr_search_axis(s, text, err);
}

/* The job's value alone. */
static enum fr_status fix_axis(struct fr_search *s, const char *axis, uint64_t n,
                               struct fr_error *err)
{
    char text[AXIS];

    snprintf(text, sizeof(text), "%s=%" PRIu64, axis, n);
    return fr_search_axis(s, text, err);
}

/* Of a large plan that does not fit: what takes more memory is left out. */
static enum fr_status add_few_axes(struct fr_search *s, const struct fr__options *o,
                                   struct fr_error *err)
{
    const char *zero = fr_job_fact_value(o->job, "zero");
    char text[AXIS];

    FR_TRY(add_one_way(s, "tp", fact(o, "tp"), true, err));
    FR_TRY(add_one_way(s, "pp", fact(o, "pp"), true, err));
    FR_TRY(add_one_way(s, "micro", fact(o, "micro_batch"), false, err));
    FR_TRY(fix_axis(s, "cp", fact(o, "cp"), err));
    FR_TRY(fact(o, "ep") > 1 ? add_one_way(s, "ep", fact(o, "ep"), true, err)
                             : fix_axis(s, "ep", 1, err));
    snprintf(text, sizeof(text), "zero=%s;virtual=%" PRIu64 ";recompute=full",
             zero && zero[0] > '1' ? zero : "1", fact(o, "virtual"));
    return fr_search_axis(s, text, err);
}

static enum fr_status add_axes(struct fr_search *s, const struct fr__options *o,
                               struct fr_error *err)
{
    const char *zero = fr_job_fact_value(o->job, "zero");
    uint64_t ep = fact(o, "ep"), n_virtual = fact(o, "virtual");
    char text[AXIS];

    FR_TRY(add_axis(s, "tp", fact(o, "tp"), err));
    FR_TRY(add_axis(s, "pp", fact(o, "pp"), err));
    FR_TRY(add_axis(s, "micro", fact(o, "micro_batch"), err));
    FR_TRY(fact(o, "cp") > 1 ? add_axis(s, "cp", fact(o, "cp"), err) : fix_axis(s, "cp", 1, err));
    FR_TRY(ep > 1 ? add_axis(s, "ep", ep, err) : fix_axis(s, "ep", 1, err));
    snprintf(text, sizeof(text), "zero=%s", zero && zero[0] > '1' ? zero : "0,1");
    FR_TRY(fr_search_axis(s, text, err));
    snprintf(text, sizeof(text), n_virtual > 1 ? "virtual=1,%" PRIu64 : "virtual=%" PRIu64,
             n_virtual);
    return fr_search_axis(s, text, err);
}

/* Layouts near the job's. That none of them can be is no error of the job's. */
static enum fr_status search_near(struct fr__call *s, struct fr_search *search, bool is_narrow,
                                  struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    const struct fr_search_options how = {.n_best = N_BEST, .prices = &o->terms.prices};
    struct fr_question q = o->question;

    q.strategy = NULL;
    FR_TRY(is_narrow ? add_few_axes(search, o, err) : add_axes(search, o, err));
    FR_TRY(fr_search_run(search, &q, &how, &s->context, err));
    fr__end_progress(s);
    return FR_OK;
}

static bool is_narrow(const struct fr_record *record)
{
    return record && record->oom && fr_plan_view(record->plan)->n_tasks >= LARGE;
}

/* record NULL: refused says why the job's own layout cannot be planned. */
static enum fr_status show(struct fr__call *s, const struct fr_record *record, const char *refused,
                           struct fr_search *search, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    const struct fr_record *records[1] = {record};
    const struct fr_results rs = {.records = records,
                                  .n = record != NULL,
                                  .terms = &o->terms,
                                  .trace = &o->trace,
                                  .job = o->job};
    const struct fr_search_results near = {
        .search = search, .n_shown = N_BEST, .terms = &o->terms, .job = o->job};
    const char *flags = fr_job_summary(o->job)->flags;
    const struct fr_fit_answer answer = {.results = &rs,
                                         .is_narrow = is_narrow(record),
                                         .refused = record ? NULL : refused,
                                         .near = &near,
                                         .flags_of =
                                             flags ? fr_framework_parse(flags) : FR_N_FRAMEWORKS};

    if (record)
        FR_TRY(fr_prices_check_topo(&o->terms.prices, fr_plan_view(record->plan)->topo, err));
    FR_TRY(fr__show(s, fr_shown_fit(&answer), err));
    s->status = !record || record->oom ? FR_CALL_NO_MEMORY : fr__call_doubts(s, records, 1);
    return FR_OK;
}

static enum fr_status check(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;

    if (o->n_job_files == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun fit' needs a job: --job FILE; without one, try 'forerun "
                        "simulate' and 'forerun search'");
    if (o->n_strategies > 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun fit' takes the layout of the job; for -s %s try 'forerun "
                        "simulate --job'",
                        o->strategies[0]);
    FR_TRY(fr__check_files(o, FR_KIND_FIT, err));
    return fr__check_terms(o, err);
}

/* Whether a layout or the search failed for itself, so that the rest of the page still holds. */
static bool is_of_layout(enum fr_status st)
{
    return st == FR_EUSAGE || st == FR_EUNSUPPORTED;
}

enum fr_status fr__verb_fit(struct fr__call *s, struct fr_error *err)
{
    struct fr__options *o = &s->options;
    struct fr_search *search;
    struct fr_record *record = NULL;
    struct fr_question q;
    struct fr_error refused = {.code = FR_OK}, empty;
    enum fr_status st;

    FR_TRY(check(s, err));
    FR_TRY(fr__options_ask_job(o, true, err));
    q = o->question;
    q.strategy = o->strategies[0];
    if (q.recipe && strcmp(q.recipe, FR_RECIPE_DEFAULT) == 0) /* its layouts are compared */
        q.recipe = o->question.recipe = fr_recipe_usual(&q);
    st = fr_answer(&q, &s->context, &record, &refused);
    if (st != FR_OK && !is_of_layout(st)) {
        *err = refused;
        return st;
    }
    search = fr_search_new();
    st = search ? search_near(s, search, is_narrow(record), &empty) : fr__fail_nomem(&empty);
    if (st != FR_OK && is_of_layout(st) && record)
        st = FR_OK; /* none near it can be */
    else if (st != FR_OK)
        *err = record || !is_of_layout(st) ? empty : refused;
    if (st == FR_OK)
        st = show(s, record, refused.text, search, err);
    fr_search_free(search);
    fr_record_free(record);
    return st;
}
