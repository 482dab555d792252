/* results/parts/sweep_names.c - words for the points, groups and columns of a sweep.
 *
 * It is separate because tables and pictures must call a point the same.
 */
#include "config.h"

#include "study/sweep/state.h"
#include "results/parts/sweep_names.h"
#include "results/parts/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* First what people look for first. */
static const char *const column_order[] = {"topology",      "gpus",      "strategy",  "batch",
                                           "batch-per-gpu", "precision", "optimizer", NULL};

static bool varies(const struct fr_sweep *s, size_t setting)
{
    const char *name = fr_question_setting(setting);

    return s->axes[setting].n > 1 && strcmp(name, "workload") != 0 &&
           strcmp(name, "seq-len") != 0 && strcmp(name, "image-size") != 0;
}

size_t fr__sweep_varying(const struct fr_sweep *s, size_t settings[FR_N_SETTINGS])
{
    bool is_taken[FR_N_SETTINGS] = {false};
    size_t n = 0;

    for (size_t i = 0; column_order[i]; i++) {
        size_t setting = fr__setting_index(column_order[i]);

        is_taken[setting] = true;
        if (varies(s, setting))
            settings[n++] = setting;
    }
    for (size_t i = 0; i < FR_N_SETTINGS; i++)
        if (!is_taken[i] && varies(s, i))
            settings[n++] = i;
    return n;
}

const char *fr__sweep_setting_title(size_t setting)
{
    const char *name = fr_question_setting(setting);

    return strcmp(name, "batch-per-gpu") == 0 ? "batch/GPU"
           : strcmp(name, "gpus") == 0        ? "GPUs"
                                              : name;
}

void fr__sweep_value_text(const struct fr_sweep *s, size_t point, size_t setting, char *buf,
                          size_t n)
{
    const struct fr_sweep_row *row = s->rows[point];
    size_t rest = point;
    const char *value;

    for (size_t i = FR_N_SETTINGS - 1; i > setting; i--)
        rest /= s->axes[i].n ? s->axes[i].n : 1;
    value = s->axes[setting].values[rest % s->axes[setting].n];
    if (strcmp(value, "all") == 0 && row && row->gpus > 0)
        snprintf(buf, n, "%" PRIu64, row->gpus);
    else
        snprintf(buf, n, "%s", value);
}

void fr__sweep_group_text(const struct fr_sweep_group *g, char *buf, size_t n)
{
    snprintf(buf, n, "%.150s%s%s", g->workload, g->shape ? ", " : "", g->shape ? g->shape : "");
}

const char *fr__sweep_time_title(const struct fr_sweep_terms *terms)
{
    return terms->samples > 0 || terms->tokens > 0 ? "run time" : "1 M samples";
}

const char *fr__sweep_cost_title(const struct fr_sweep_terms *terms)
{
    return terms->prices.n > 0 ? "cost (USD)" : "GPU hours";
}

const char *fr__sweep_cost_text(double cost, char *buf, size_t n)
{
    if (isnan(cost))
        return "";
    return fr__fixed(cost, cost < 1 ? 4 : cost < 1000 ? 2 : 0, buf, n);
}
