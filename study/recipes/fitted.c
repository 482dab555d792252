/* study/recipes/fitted.c - a recipe's `measured` to and from its file. */
#include "config.h"

#include "study/recipes/fitted.h"

#include "base/error.h"
#include "base/units.h"
#include "study/interval/measured.h"
#include "study/interval/priors.h"

#include <math.h>
#include <string.h>

static const char *const part_names[FR__N_MOVED] = {[FR__COMPUTE] = "compute",
                                                    [FR__HOST] = "host",
                                                    [FR__EXCHANGE] = "exchange",
                                                    [FR__STEP] = "software",
                                                    [FR__COPIES] = "copies"};

/* Beyond, a factor or a variance is a misprint. */
static const double MOST_NUMBER = 1e6;

/* ---- reading ---- */

static enum fr_status take_list(const struct fr__yaml *map, const char *key,
                                const struct fr__yaml **list, struct fr_error *err)
{
    *list = fr__yaml_get(map, key);
    if (!*list)
        return fr__fail(err, FR_EPARSE, map->loc, "'%s' is missing", key);
    FR_TRY(fr__yaml_expect(*list, FR__YAML_LIST, key, err));
    if ((*list)->n == 0 || (*list)->n > FR__MOST_FITTED)
        return fr__fail(err, FR_EPARSE, (*list)->loc, "'%s' names none, or more than %d", key,
                        FR__MOST_FITTED);
    for (size_t i = 0; i < (*list)->n; i++)
        FR_TRY(fr__yaml_expect((*list)->items[i], FR__YAML_SCALAR, key, err));
    return FR_OK;
}

static enum fr_status take_names(const struct fr__yaml *map, const char *key, const char *names[],
                                 size_t *n, struct fr_error *err)
{
    const struct fr__yaml *list;

    FR_TRY(take_list(map, key, &list, err));
    for (size_t i = 0; i < list->n; i++)
        names[i] = list->items[i]->text;
    *n = list->n;
    return FR_OK;
}

static enum fr_status take_precisions(struct fr__fitted *fit, const struct fr__yaml *map,
                                      struct fr_error *err)
{
    const struct fr__yaml *list;

    FR_TRY(take_list(map, "precisions", &list, err));
    for (size_t i = 0; i < list->n; i++) {
        enum fr_dtype dtype = fr_dtype_parse(list->items[i]->text);

        if (dtype == FR_N_DTYPES)
            return fr__fail(err, FR_EPARSE, list->items[i]->loc, "no precision is called '%.40s'",
                            list->items[i]->text);
        fit->precisions |= 1u << dtype;
    }
    return FR_OK;
}

static enum fr_status take_counts(struct fr__fitted *fit, const struct fr__yaml *map,
                                  struct fr_error *err)
{
    const struct fr__yaml *list;

    FR_TRY(take_list(map, "gpu-counts", &list, err));
    for (size_t i = 0; i < list->n; i++)
        FR_TRY(fr__parse_count(list->items[i]->text, "a number of GPUs", list->items[i]->loc, 1,
                               UINT32_MAX, &fit->counts[i], err));
    fit->n_counts = list->n;
    return FR_OK;
}

static enum fr_status take_part(struct fr__fitted *fit, const struct fr__yaml *map, unsigned k,
                                struct fr_error *err)
{
    static const char *const known[] = {"part", "mean", "covariance", NULL};
    const struct fr__yaml *list;
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "a part", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__yaml_text(map, "part", NULL, &text, &loc, err));
    if (strcmp(text, part_names[k]) != 0)
        return fr__fail(err, FR_EPARSE, loc, "part %u is '%.40s' where it must be '%s'", k + 1,
                        text, part_names[k]);
    FR_TRY(fr__yaml_text(map, "mean", NULL, &text, &loc, err));
    FR_TRY(fr__parse_number(text, "mean", loc, -MOST_NUMBER, MOST_NUMBER, &fit->mean[k], err));
    FR_TRY(take_list(map, "covariance", &list, err));
    if (list->n != FR__N_MOVED)
        return fr__fail(err, FR_EPARSE, list->loc, "'covariance' has %zu numbers and not %d",
                        list->n, FR__N_MOVED);
    for (unsigned l = 0; l < FR__N_MOVED; l++)
        FR_TRY(fr__parse_number(list->items[l]->text, "covariance", list->items[l]->loc,
                                -MOST_NUMBER, MOST_NUMBER, &fit->covariance[k][l], err));
    return FR_OK;
}

static enum fr_status take_parts(struct fr__fitted *fit, const struct fr__yaml *map,
                                 struct fr_error *err)
{
    const struct fr__yaml *list = fr__yaml_get(map, "parts");
    double inverse[FR__N_MOVED][FR__N_MOVED];

    if (!list)
        return fr__fail(err, FR_EPARSE, map->loc, "'parts' is missing");
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, "parts", err));
    if (list->n != FR__N_MOVED)
        return fr__fail(err, FR_EPARSE, list->loc, "'parts' are %zu and not %d", list->n,
                        FR__N_MOVED);
    for (unsigned k = 0; k < FR__N_MOVED; k++)
        FR_TRY(take_part(fit, list->items[k], k, err));
    for (unsigned k = 0; k < FR__N_MOVED; k++)
        for (unsigned l = 0; l < k; l++)
            if (fit->covariance[k][l] != fit->covariance[l][k])
                return fr__fail(err, FR_EPARSE, list->loc,
                                "the covariance of %s and %s stands there twice, and differs",
                                part_names[l], part_names[k]);
    if (!fr__normal_invert((const double(*)[FR__N_MOVED])fit->covariance, inverse))
        return fr__fail(err, FR_EPARSE, list->loc, "the parts' matrix is no covariance");
    return FR_OK;
}

enum fr_status fr__fitted_read(struct fr__fitted *out, const struct fr__yaml *map,
                               struct fr_error *err)
{
    static const char *const known[] = {"steps",      "models",   "gpus",  "precisions",
                                        "gpu-counts", "machines", "parts", NULL};
    struct fr__fitted fit = {.n_steps = 0};
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "measured", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__yaml_text(map, "steps", NULL, &text, &loc, err));
    FR_TRY(fr__parse_count(text, "steps", loc, 1, FR__MOST_MEASURED, &fit.n_steps, err));
    FR_TRY(take_names(map, "models", fit.models, &fit.n_models, err));
    FR_TRY(take_names(map, "gpus", fit.gpus, &fit.n_gpus, err));
    FR_TRY(take_precisions(&fit, map, err));
    FR_TRY(take_counts(&fit, map, err));
    FR_TRY(fr__yaml_text(map, "machines", NULL, &text, &loc, err));
    FR_TRY(fr__parse_count(text, "machines", loc, 1, UINT32_MAX, &fit.n_machines, err));
    FR_TRY(take_parts(&fit, map, err));
    *out = fit;
    return FR_OK;
}

/* ---- writing ---- */

/* In quotes, since a workload may hold ":" and ",". */
static void write_names(FILE *f, const char *key, const char *const names[], size_t n)
{
    fprintf(f, "  %s: [", key);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", '" : "'", f);
        for (const char *c = names[i]; *c; c++)
            fputs(*c == '\'' ? "''" : (const char[]){*c, '\0'}, f);
        putc('\'', f);
    }
    fputs("]\n", f);
}

void fr__fitted_write(FILE *f, const struct fr__fitted *fit)
{
    const char *precisions[FR_N_DTYPES];
    size_t n = 0;

    for (unsigned d = 0; d < FR_N_DTYPES; d++)
        if (fit->precisions >> d & 1)
            precisions[n++] = fr_dtype_name((enum fr_dtype)d);
    fprintf(f, "measured:\n  steps: %llu\n", (unsigned long long)fit->n_steps);
    write_names(f, "models", fit->models, fit->n_models);
    write_names(f, "gpus", fit->gpus, fit->n_gpus);
    write_names(f, "precisions", precisions, n);
    fputs("  gpu-counts: [", f);
    for (size_t i = 0; i < fit->n_counts; i++)
        fprintf(f, "%s%llu", i ? ", " : "", (unsigned long long)fit->counts[i]);
    fprintf(f, "]\n  machines: %llu\n  parts:\n", (unsigned long long)fit->n_machines);
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        fprintf(f, "    - part: %s\n      mean: %.7g\n      covariance: [", part_names[k],
                fit->mean[k]);
        for (unsigned l = 0; l < FR__N_MOVED; l++) /* the same both ways */
            fprintf(f, "%s%.7g", l ? ", " : "", fit->covariance[k < l ? k : l][k < l ? l : k]);
        fputs("]\n", f);
    }
}

/* ---- use ---- */

static bool is_among(const char *name, const char *const names[], size_t n)
{
    for (size_t i = 0; name && i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static enum fr__anchor anchor_of(const struct fr__fitted *fit, size_t n_gpus)
{
    enum fr__anchor anchor = FR__BY_ONE_GPU;

    for (size_t i = 0; i < fit->n_counts; i++) {
        if (fit->counts[i] == n_gpus)
            return FR__BY_AS_MANY_GPUS;
        if (fit->counts[i] > 1)
            anchor = FR__BY_SEVERAL_GPUS;
    }
    return anchor;
}

void fr__fitted_believe(const struct fr__fitted *fit, const struct fr__fitted_of *of,
                        struct fr__believed *out)
{
    struct fr__step_class step = fr__step_class_of(of->graph);
    double mean[FR__N_MOVED], variance[FR__N_MOVED];
    bool is_measured = is_among(of->workload, fit->models, fit->n_models) &&
                       is_among(of->gpu, fit->gpus, fit->n_gpus) &&
                       fit->precisions >> of->graph->dtype & 1;

    *out = (struct fr__believed){.lacks_network = of->has_network && fit->n_machines < 2,
                                 .n_steps = fit->n_steps,
                                 .anchor = anchor_of(fit, of->n_gpus)};
    memcpy(out->prior.mean, fit->mean, sizeof(fit->mean));
    memcpy(out->covariance, fit->covariance, sizeof(fit->covariance));
    step.knows_recipe = true;
    fr__prior_of(step, mean, variance);
    if (out->lacks_network)
        out->covariance[FR__EXCHANGE][FR__EXCHANGE] += variance[FR__EXCHANGE];
    if (!is_measured) {
        out->covariance[FR__COMPUTE][FR__COMPUTE] += variance[FR__COMPUTE];
        if (out->anchor == FR__BY_AS_MANY_GPUS)
            out->anchor = of->n_gpus > 1 ? FR__BY_SEVERAL_GPUS : FR__BY_ONE_GPU;
    }
    /* it was read as a covariance, and stays one where a variance grows */
    (void)fr__normal_invert((const double(*)[FR__N_MOVED])out->covariance, out->prior.precision);
}
