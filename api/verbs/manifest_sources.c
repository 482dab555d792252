/* api/verbs/manifest_sources.c - where the numbers of a question come from: data sheets, curves,
 * links, software. */
#include "config.h"

#include "api/verbs/manifest.h"
#include "base/error.h"
#include "calibrate/messages/system.h"
#include "study/recipes/recipe.h"

#include <string.h>

static void put(struct fr__json *j, const char *what, const char *of, const char *source)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_string(j, "of", what);
    fr__json_string(j, "name", of);
    fr__json_string(j, "source", source ? source : "not given");
    fr__json_close(j, '}');
}

/* A GPU's data sheet, and each device whose measured kernels price it. */
static enum fr_status put_gpu(struct fr__json *j, const struct fr_device_type *type,
                              const char *costs, struct fr_error *err)
{
    const struct fr_cost_options options = {.device_file = costs};
    const char *from[FR_N_CURVE_CLASSES * FR_N_DTYPES];
    const struct fr_curve_info *info;
    struct fr_calibration *c;
    struct fr_cost_model *m;
    size_t n;

    put(j, "data sheet", type->name, type->source);
    FR_TRY(fr_cost_model_new(&m, type, 1, &options, err));
    n = fr_cost_devices_of(m, 0, from);
    for (size_t k = 0; k < n; k++) {
        if (fr_calibration_load(&c, from[k], NULL) != FR_OK) {
            put(j, "curves", from[k], NULL);
            continue;
        }
        for (size_t i = 0; (info = fr_calibration_curve(c, i)) != NULL; i++) {
            char name[128];

            snprintf(name, sizeof(name), "%.60s %s %s", from[k],
                     fr_curve_class_name(info->op_class), fr_dtype_name(info->dtype));
            put(j, "curve", name, info->source);
        }
        fr_calibration_free(c);
    }
    fr_cost_model_free(m);
    return FR_OK;
}

/* GPUs that a rate of the topology may be of, each type once. */
static enum fr_status put_gpus(struct fr__json *j, const struct fr_topo *t, const char *costs,
                               struct fr_error *err)
{
    const bool is_word =
        !costs || strcmp(costs, "datasheet") == 0 || strcmp(costs, "calibrated") == 0;

    for (size_t i = 0; i < t->n_types; i++)
        if (t->types[i].is_gpu)
            FR_TRY(put_gpu(j, &t->types[i], is_word ? NULL : costs, err));
    return FR_OK;
}

/* Each sentence once: a cluster has thousands of links of a few kinds. */
static void put_links(struct fr__json *j, const struct fr_topo *t)
{
    enum { MOST_KINDS = 64 };
    const char *seen[MOST_KINDS];
    size_t n = 0;

    for (uint32_t l = 0; l < t->n_links && n < MOST_KINDS; l++) {
        const char *source = t->links[l].source;
        char name[FR_LINK_NAME];
        size_t k = 0;

        while (source && k < n && strcmp(seen[k], source) != 0)
            k++;
        if (!source || k < n)
            continue;
        seen[n++] = source;
        put(j, "link", fr_topo_link_name(t, l, name), source);
    }
}

static void put_systems(struct fr__json *j, const struct fr_topo *t)
{
    struct fr_system *s;

    for (size_t i = 0; i < t->n_systems; i++) {
        if (fr_system_load(&s, t->systems[i].name, NULL) != FR_OK)
            continue; /* the answer says that it is not there */
        put(j, "collectives", fr_system_info(s)->name, fr_system_info(s)->source);
        fr_system_free(s);
    }
}

static enum fr_status put_recipe(struct fr__json *j, const struct fr_question *q,
                                 struct fr_error *err)
{
    bool is_word =
        q->recipe && (strcmp(q->recipe, "usual") == 0 || strcmp(q->recipe, FR_RECIPE_DEFAULT) == 0);
    const char *name = is_word ? fr_recipe_usual(q) : q->recipe;
    const struct fr_recipe_value *v;
    struct fr_recipe *r;
    char text[256];

    if (!name)
        return FR_OK;
    FR_TRY(fr_recipe_load(&r, name, err));
    for (size_t i = 0; (v = fr_recipe_value(r, i)) != NULL; i++) {
        snprintf(text, sizeof(text), "%.60s: %s%.60s=%.100s", fr_recipe_name(r),
                 v->is_of_question ? "--" : "", v->option, v->text);
        put(j, "recipe", text, v->source);
    }
    fr_recipe_free(r);
    return FR_OK;
}

enum fr_status fr__manifest_sources(struct fr__json *j, const struct fr__options *o,
                                    struct fr_error *err)
{
    struct fr_question q = o->question;
    struct fr_topo *t;
    enum fr_status st;

    q.strategy = o->n_strategies ? o->strategies[0] : NULL;
    fr__json_open(j, "sources", '[', false);
    if (q.topology) {
        FR_TRY(fr_topo_load(&t, q.topology, err));
        st = put_gpus(j, t, q.costs, err);
        put_links(j, t);
        put_systems(j, t);
        fr_topo_free(t);
        FR_TRY(st);
    }
    FR_TRY(put_recipe(j, &q, err));
    fr__json_close(j, ']');
    return FR_OK;
}
