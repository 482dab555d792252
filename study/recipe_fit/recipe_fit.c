/* study/recipe_fit/recipe_fit.c - fits the parts of a software to steps of several questions. */
#include "config.h"

#include "study/recipe_fit/recipe_fit.h"

#include "base/error.h"
#include "study/answer/record.h"
#include "study/recipe_fit/fitting.h"
#include "study/recipes/names.h"
#include "study/recipes/recipes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct owned {
    struct fr_recipe_fit fit;
    struct fr__fitting fitting;
    struct fr_recipe_fit_row *rows; /* heap */
    char *yaml;                     /* heap */
};

/* ---- rows ---- */

/* A failure names the row. */
static enum fr_status at_row(enum fr_status st, const struct fr__measurement *x,
                             struct fr_error *err)
{
    char text[1024];
    struct fr_error why;

    if (st == FR_OK || st == FR_ENOMEM || st == FR_ECANCELLED || !err)
        return st;
    why = *err;
    fr_error_string(&why, text, sizeof(text));
    return fr__fail(err, st, FR_NOWHERE, "row '%.60s': %s", x->row.id, text);
}

/* All rows have one recipe, or none; a shipped one, since another file may lie anywhere. */
static enum fr_status choose_recipe(struct owned *o, struct fr_error *err)
{
    struct fr__measurements *m = &o->fitting.rows;
    const char *base = NULL;

    for (size_t i = 0; i < m->n; i++) {
        const struct fr_question *q = &m->list[i].question;

        if (i > 0 && (q->recipe ? !base || strcmp(q->recipe, base) != 0 : base != NULL))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "rows '%.40s' and '%.40s' are of different recipes (%.40s, %.40s); "
                            "fit each of its own",
                            m->list[0].row.id, m->list[i].row.id, base ? base : "none",
                            q->recipe ? q->recipe : "none");
        base = q->recipe;
    }
    if (base && (fr__recipe_is_path(base) || strcmp(base, "usual") == 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a fit begins at a recipe that comes with forerun, or at none, not at "
                        "'%.80s'",
                        base);
    o->fit.base = base;
    return FR_OK;
}

/* Measured rows first, each with its setting. */
static enum fr_status open_steps(struct owned *o, struct fr_error *err)
{
    struct fr__fitting *f = &o->fitting;
    struct fr__measurements *m = &f->rows;

    f->steps = calloc(m->n + 1, sizeof(*f->steps));
    if (!f->steps)
        return fr__fail_nomem(err);
    for (int is_question = 0; is_question < 2; is_question++)
        for (size_t i = 0; i < m->n; i++) {
            struct fr__measurement *x = &m->list[i];
            struct fr__fit_step *s = &f->steps[f->n_steps];

            if (isnan(x->row.measured_s) != is_question)
                continue;
            if (x->row.why_not)
                return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "row '%.60s': %s", x->row.id,
                                x->row.why_not);
            s->row = x;
            s->question = x->question;
            s->gpus = x->row.gpus;
            fr__question_for_step(&s->question);
            FR_TRY(at_row(fr__fit_step_open(s, f, err), x, err));
            f->n_steps++;
            if (!is_question && s->n_machines > f->n_machines)
                f->n_machines = s->n_machines;
            f->n_measured += !is_question;
        }
    if (f->n_measured == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no row has a time (iteration_s)");
    if (f->n_measured > FR__MOST_MEASURED)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "more than %d measured steps",
                        FR__MOST_MEASURED);
    return FR_OK;
}

/* ---- the fit ---- */

static enum fr_status look(void *user, size_t i, const double moved[FR__N_MOVED], double *miss,
                           double slope[FR__N_MOVED], struct fr_error *err)
{
    struct fr__fitting *f = user;
    struct fr__fit_step *s = &f->steps[i];

    memcpy(f->correction.moved, moved, sizeof(f->correction.moved));
    FR_TRY(at_row(fr__fit_step_ask(s, f, err), s->row, err));
    memcpy(slope, s->slope, sizeof(s->slope));
    *miss = log(s->row->row.measured_s / s->time_s);
    return FR_OK;
}

/* Before anything was measured: the mean of what is believed of each row, as uncertain as of the
 * least known. */
static void believe(struct owned *o, struct fr__seen *seen)
{
    const struct fr__fitting *f = &o->fitting;
    double mean[FR__N_MOVED] = {0}, variance[FR__N_MOVED] = {0}, most = -INFINITY;

    for (size_t i = 0; i < f->n_measured; i++) {
        fr__seen_prior(seen, f->steps[i].setting.graph, o->fit.base != NULL);
        most = fmax(most, seen->most_compute);
        for (unsigned k = 0; k < FR__N_MOVED; k++) {
            mean[k] += seen->prior.mean[k] / (double)f->n_measured;
            variance[k] = fmax(variance[k], 1 / seen->prior.precision[k][k]);
        }
    }
    fr__prior_set(&seen->prior, mean, variance);
    seen->most_compute = most;
    o->fitting.network_variance = variance[FR__EXCHANGE];
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        o->fit.parts[k].believed_mean = mean[k];
        o->fit.parts[k].believed_deviation = sqrt(variance[k]);
    }
}

/* What the recipe says of a row, whose step was just asked. */
static void take_after(struct fr_recipe_fit_row *r, const struct fr__fit_step *s,
                       const struct fr__fitting *f)
{
    double reach = fr__fit_reach(fr__fit_variance(s, f, NULL)),
           miss = log(r->measured_s / s->time_s);

    r->after_s = s->time_s;
    r->error_after = s->time_s / r->measured_s - 1;
    r->low_s = s->time_s * exp(-reach);
    r->high_s = s->time_s * exp(reach);
    r->weight = isnan(miss)
                    ? NAN
                    : fr__normal_weight(miss, FR__NOISE * FR__NOISE, fr__freedom_of(f->n_measured));
}

static enum fr_status ask_all(struct owned *o, bool is_after, struct fr_error *err)
{
    struct fr__fitting *f = &o->fitting;

    for (size_t i = 0; i < f->n_steps; i++) {
        struct fr__fit_step *s = &f->steps[i];
        struct fr_recipe_fit_row *r = &o->rows[s->row - f->rows.list];

        FR_TRY(at_row(fr__fit_step_ask(s, f, err), s->row, err));
        if (is_after) {
            take_after(r, s, f);
            continue;
        }
        r->before_s = s->time_s;
        r->error_before = s->time_s / r->measured_s - 1;
    }
    return FR_OK;
}

static enum fr_status fit_parts(struct owned *o, struct fr_error *err)
{
    static const char *const names[FR__N_MOVED] = {[FR__COMPUTE] = "compute",
                                                   [FR__HOST] = "host",
                                                   [FR__EXCHANGE] = "exchange",
                                                   [FR__STEP] = "software",
                                                   [FR__COPIES] = "copies"};
    struct fr__fitting *f = &o->fitting;
    struct fr__seen seen = {
        .n = f->n_measured, .look = look, .user = f, .freedom = fr__freedom_of(f->n_measured)};
    double moved[FR__N_MOVED];

    believe(o, &seen);
    FR_TRY(ask_all(o, false, err));
    FR_TRY(fr__most_likely(moved, f->correction.variance, &seen, err));
    memcpy(f->correction.moved, moved, sizeof(moved));
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        o->fit.parts[k].name = names[k];
        o->fit.parts[k].mean = moved[k];
        o->fit.parts[k].deviation = sqrt(f->correction.variance[k][k]);
    }
    return ask_all(o, true, err);
}

/* ---- the recipe ---- */

/* Adds a text to a list unless it is there, or the list is full: then questions of what is left out
 * are taken for such of something that was not measured. */
static void add(const char *list[], size_t *n, const char *text)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i], text) == 0)
            return;
    if (*n < FR__MOST_FITTED)
        list[(*n)++] = text;
}

static void add_count(struct fr__fitted *fit, uint64_t gpus)
{
    for (size_t i = 0; i < fit->n_counts; i++)
        if (fit->counts[i] == gpus)
            return;
    if (fit->n_counts < FR__MOST_FITTED)
        fit->counts[fit->n_counts++] = gpus;
}

static enum fr_status write_recipe(struct owned *o, const char *name, struct fr_error *err)
{
    const struct fr__fitting *f = &o->fitting;
    struct fr__fitted fit = {.n_steps = f->n_measured, .n_machines = f->n_machines};
    size_t size = 0;
    FILE *text = open_memstream(&o->yaml, &size);

    if (!text)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < f->n_measured; i++) {
        const struct fr__fit_step *s = &f->steps[i];

        add(fit.models, &fit.n_models, s->row->row.workload);
        add(fit.gpus, &fit.n_gpus, s->setting.topo->types[s->type].name);
        add_count(&fit, s->row->row.gpus);
        fit.precisions |= 1u << s->setting.graph->dtype;
    }
    memcpy(fit.mean, f->correction.moved, sizeof(fit.mean));
    memcpy(fit.covariance, f->correction.variance, sizeof(fit.covariance));
    fprintf(text, "recipe: %s\nsummary: '%zu measured step%s on top of %s'\n", name, f->n_measured,
            f->n_measured == 1 ? "" : "s", o->fit.base ? o->fit.base : "no recipe");
    if (o->fit.base)
        fprintf(text, "base: %s\n", o->fit.base);
    fr__fitted_write(text, &fit);
    if (fclose(text) != 0)
        return fr__fail_nomem(err);
    o->fit.yaml = o->yaml;
    return FR_OK;
}

/* A name that stands in a file and a command without quotes. */
static enum fr_status check_name(const char *name, struct fr_error *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (name[0] && strspn(name, plain) == strlen(name) && strlen(name) <= 60)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%.60s' is no name of a recipe: letters, digits, '-' and '_', at most 60",
                    name);
}

/* ---- public ---- */

static enum fr_status make_rows(struct owned *o, struct fr_error *err)
{
    const struct fr__measurements *m = &o->fitting.rows;

    o->rows = calloc(m->n + 1, sizeof(*o->rows));
    if (!o->rows)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < m->n; i++) {
        const struct fr_validation_row *r = &m->list[i].row;

        o->rows[i] = (struct fr_recipe_fit_row){.id = r->id,
                                                .workload = r->workload,
                                                .topology = r->topology,
                                                .strategy = r->strategy,
                                                .gpus = r->gpus,
                                                .global_batch = r->global_batch,
                                                .measured_s = r->measured_s};
    }
    o->fit.rows = o->rows;
    o->fit.n_rows = m->n;
    return FR_OK;
}

static enum fr_status fit_file(struct owned *o, const char *path,
                               const struct fr_recipe_fit_options *how, struct fr_error *err)
{
    const struct fr_validate_options as = {.costs = how->costs};
    struct fr__fitting *f = &o->fitting;
    enum fr_status st;

    FR_TRY(check_name(how->name, err));
    f->rows.how = &as;
    f->rows.may_lack_time = true;
    f->rows.arena = fr__arena_new();
    f->session = fr_session_new(NULL);
    if (!f->rows.arena || !f->session)
        return fr__fail_nomem(err);
    st = fr__measurements_read(&f->rows, path, err);
    f->rows.how = NULL;
    FR_TRY(st);
    if (f->rows.n == 0)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "'%s' has no rows", path);
    FR_TRY(choose_recipe(o, err));
    FR_TRY(open_steps(o, err));
    FR_TRY(make_rows(o, err));
    FR_TRY(fit_parts(o, err));
    o->fit.n_steps = f->n_measured;
    for (size_t i = f->n_measured; i < f->n_steps; i++)
        o->fit.lacks_network =
            o->fit.lacks_network || (f->n_machines < 2 && f->steps[i].n_machines > 1);
    FR_TRY(fr__fit_next(&o->fit, f, err));
    return write_recipe(o, how->name, err);
}

enum fr_status fr_recipe_fit(struct fr_recipe_fit **out, const char *path,
                             const struct fr_recipe_fit_options *how, const struct fr_context *ctx,
                             struct fr_error *err)
{
    struct owned *o = calloc(1, sizeof(*o));
    enum fr_status st;

    if (!o)
        return fr__fail_nomem(err);
    o->fit.priv = o;
    o->fitting.context = ctx;
    st = fit_file(o, path, how, err);
    if (st == FR_OK)
        *out = &o->fit;
    else
        fr_recipe_fit_free(&o->fit);
    return st;
}

void fr_recipe_fit_free(struct fr_recipe_fit *fit)
{
    struct owned *o = fit ? fit->priv : NULL;

    if (!o)
        return;
    for (size_t i = 0; i < o->fitting.n_steps; i++)
        fr_setting_fini(&o->fitting.steps[i].setting);
    free(o->fitting.steps);
    fr_session_free(o->fitting.session);
    fr__arena_free(o->fitting.rows.arena);
    free(o->fitting.rows.list);
    free(o->rows);
    free(o->yaml);
    free(o);
}
