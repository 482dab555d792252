/* study/recipes/usual.c - the software that a question means without naming it. */
#include "config.h"

#include "study/recipes/usual.h"

#include "strategies/strategies.h"
#include "study/recipes/recipe.h"

#include <stdio.h>
#include <string.h>

static size_t family_length(const struct fr__usual_software *row, const char *model)
{
    size_t longest = 0;

    for (size_t i = 0; row->families[i]; i++) {
        size_t n = strlen(row->families[i]);

        if (n > longest && strncmp(model, row->families[i], n) == 0)
            longest = n;
    }
    return longest;
}

static bool is_in_bf16_or_fewer_bits(enum fr_dtype dtype)
{
    return dtype != FR_FP32 && dtype != FR_TF32 && dtype != FR_FP16 && dtype != FR_AMP &&
           dtype < FR_N_DTYPES;
}

static const char *recipe_of(const char *model, enum fr_software_run run, enum fr_dtype dtype)
{
    const int is_modern = is_in_bf16_or_fewer_bits(dtype);
    const struct fr__usual_software *best = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < fr__n_usual_software; i++) {
        const struct fr__usual_software *row = &fr__usual_software[i];
        size_t n = family_length(row, model);

        if (n <= longest || (row->run != FR_RUN_WHOLE && row->run != run) ||
            (row->is_modern >= 0 && row->is_modern != is_modern))
            continue;
        longest = n;
        best = row;
    }
    return best ? best->recipe : NULL;
}

const char *fr_recipe_usual(const struct fr_question *q)
{
    const bool is_default = !q->recipe || strcmp(q->recipe, FR_RECIPE_DEFAULT) == 0;

    return fr__usual_recipe(q, is_default);
}

bool fr_recipe_usual_for(const char *name, size_t k, char text[], size_t size)
{
    static const char *const runs[] = {
        [FR_RUN_WHOLE] = "",
        [FR_RUN_SHARDED] = ", weights sharded over all GPUs",
        [FR_RUN_DIVIDED] = ", divided between GPUs",
    };

    for (size_t r = 0; r < fr__n_usual_software; r++) {
        const struct fr__usual_software *row = &fr__usual_software[r];
        size_t used = 0;

        if (strcmp(row->recipe, name) != 0 || k-- > 0)
            continue;
        for (size_t f = 0; row->families[f] && used < size; f++)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", f ? ", " : "", row->families[f]);
        if (used < size)
            snprintf(text + used, size - used, "%s%s", runs[row->run],
                     row->is_modern > 0    ? ", in bf16 or fewer bits"
                     : row->is_modern == 0 ? ", in fp32, tf32, fp16 or amp"
                                           : "");
        return true;
    }
    return false;
}

const char *fr__usual_recipe(const struct fr_question *q, bool is_default)
{
    const char *model = q->workload ? fr_workload_model(q->workload) : NULL;
    enum fr_software_run run = FR_RUN_BY_NONE;
    const struct fr_strategy *strategy;
    struct fr_option_values values;

    if (q->strategy && fr_strategy_parse(q->strategy, &strategy, &values, NULL) == FR_OK &&
        strategy->software_run)
        run = strategy->software_run(&values);
    if (!model || (is_default && run == FR_RUN_BY_NONE))
        return NULL;
    return recipe_of(model, run, q->dtype);
}
