/* lowering/recipe.c - precision recipes by name, and the bytes that they make; see recipe.h. */
#include "config.h"

#include "lowering/recipe.h"

#include "base/error.h"

#include "lowering/optimizer.h"

#include <assert.h>
#include <string.h>

enum { MOST_RECIPES = 64 };

const struct fr__recipe *fr__recipe_at(size_t i)
{
    return i < fr__n_recipes ? &fr__recipes[i] : NULL;
}

const struct fr__recipe *fr__recipe_named(const char *name)
{
    for (size_t i = 0; i < fr__n_recipes; i++)
        if (strcmp(fr__recipes[i].name, name) == 0)
            return &fr__recipes[i];
    return NULL;
}

const struct fr__recipe *fr__recipe_of(enum fr_dtype dtype)
{
    for (size_t i = 0; i < fr__n_recipes; i++)
        if (fr__recipes[i].dtype == dtype)
            return &fr__recipes[i];
    return &fr__recipes[0];
}

/* ---- the option ---- */

/* A recipe of another precision than the model's. 16-bit ones serve fp16 and bf16. */
static bool is_of_other_precision(enum fr_dtype recipe, enum fr_dtype model)
{
    bool are_short =
        (recipe == FR_FP16 || recipe == FR_BF16) && (model == FR_FP16 || model == FR_BF16);

    return recipe != model && !are_short;
}

enum fr_status fr__recipe_read(const struct fr__recipe **out, const char *text,
                               const struct fr_graph *g, struct fr_error *err)
{
    const struct fr__recipe *found = fr__recipe_named(text);
    const char *names[MOST_RECIPES];
    char hint[128];

    *out = NULL;
    if (strcmp(text, "usual") == 0)
        return FR_OK;
    for (size_t i = 0; i < fr__n_recipes && i < MOST_RECIPES; i++)
        names[i] = fr__recipes[i].name;
    if (!found)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no recipe '%s'%s", text,
                        fr__did_you_mean(text, names, fr__n_recipes, hint, sizeof(hint)));
    if (!(fr__recipe_reduced_bytes(found) > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "recipe=%s keeps no gradients, so nothing would be trained", text);
    if (is_of_other_precision(found->dtype, g->dtype))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "recipe=%s is for %s, but '%s' is in %s", text,
                        fr_dtype_name(found->dtype), g->name, fr_dtype_name(g->dtype));
    *out = found;
    return FR_OK;
}

/* ---- bytes ---- */

bool fr__recipe_is_sharded(enum fr__recipe_part part, unsigned zero)
{
    switch (part) {
    case FR__PART_STATES:
    case FR__PART_MASTER:
    case FR__PART_STEP_GRADIENT:
        return zero >= 1;
    case FR__PART_GRADIENT:
    case FR__PART_MAIN_GRADIENT:
        return zero >= 2;
    case FR__PART_WEIGHT:
        return zero >= 3;
    default:
        return false;
    }
}

double fr__recipe_sharded(const struct fr__recipe *r, enum fr__recipe_part part, double bytes,
                          unsigned zero, double d)
{
    assert(d >= 1);
    if (part == FR__PART_STATES && !(fr__recipe_reduced_bytes(r) > 0))
        return 0; /* not trained */
    return fr__recipe_is_sharded(part, zero) ? bytes / d : bytes;
}

double fr__recipe_part_bytes(const struct fr__recipe *r, enum fr__recipe_part part,
                             enum fr_optimizer optimizer, unsigned zero, double d)
{
    double bytes = r->bytes[part];

    if (part == FR__PART_STATES)
        bytes = fr__large_state_bytes(optimizer, bytes);
    return fr__recipe_sharded(r, part, bytes, zero, d);
}

double fr__recipe_bytes(const struct fr__recipe *r, enum fr_optimizer optimizer, unsigned zero,
                        double d)
{
    double sum = 0;

    for (unsigned part = 0; part < FR__N_PARTS; part++)
        if (part != FR__PART_CACHE)
            sum += fr__recipe_part_bytes(r, (enum fr__recipe_part)part, optimizer, zero, d);
    return sum;
}

double fr__recipe_reduced_bytes(const struct fr__recipe *r)
{
    double main_bytes = r->bytes[FR__PART_MAIN_GRADIENT];

    return main_bytes > 0 ? main_bytes : r->bytes[FR__PART_GRADIENT];
}

double fr__recipe_gathered_bytes(const struct fr__recipe *r)
{
    return r->bytes[FR__PART_WEIGHT];
}

double fr__recipe_update_bytes(const struct fr__recipe *r, double states_bytes)
{
    double weight = r->bytes[FR__PART_WEIGHT], master = r->bytes[FR__PART_MASTER];
    double gradient = fr__recipe_reduced_bytes(r), step = r->bytes[FR__PART_STEP_GRADIENT];

    if (!(gradient > 0))
        return 0; /* not trained */
    return 2 * states_bytes + (master > 0 ? 2 * master + weight : 2 * weight) + gradient + 2 * step;
}
