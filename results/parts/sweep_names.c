/* results/parts/sweep_names.c - words for the points, groups and columns of a sweep.
 *
 * It is separate because tables and pictures must call a point the same.
 */
#include "config.h"

#include "study/sweep/state.h"
#include "results/parts/sweep_names.h"
#include "base/units.h"
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
    const char *value = s->axes[setting].values[fr__sweep_value_index(s, point, setting)];

    if (strcmp(value, "all") == 0 && row && row->gpus > 0)
        snprintf(buf, n, "%" PRIu64, row->gpus);
    else
        snprintf(buf, n, "%s", value);
}

/* "8 GPUs", "batch 64", "64/GPU", "dp", "seed 3": a value as it stands among others. Returns its
 * length. */
static size_t put_value(size_t setting, const char *value, char *text, size_t n)
{
    const char *name = fr_question_setting(setting), *before = "", *behind = "";

    if (strcmp(name, "gpus") == 0)
        behind = strcmp(value, "1") == 0 ? " GPU" : " GPUs";
    else if (strcmp(name, "batch-per-gpu") == 0)
        behind = "/GPU";
    else if (strcmp(name, "topology") != 0 && strcmp(name, "strategy") != 0)
        before = name;
    return (size_t)snprintf(text, n, "%s%s%s%s", before, before[0] ? " " : "", value, behind);
}

static size_t put_comma(char *text, size_t used, size_t n)
{
    return used > 0 && used + 2 < n ? (size_t)snprintf(text + used, n - used, ", ") : 0;
}

void fr__sweep_point_text(const struct fr_sweep *s, size_t point, char *text, size_t n)
{
    size_t settings[FR_N_SETTINGS], n_settings = fr__sweep_varying(s, settings), used = 0;
    char value[64];

    text[0] = '\0';
    for (size_t i = 0; i < n_settings && used + 1 < n; i++) {
        fr__sweep_value_text(s, point, settings[i], value, sizeof(value));
        used += put_comma(text, used, n);
        used += put_value(settings[i], value, text + used, n - used);
    }
}

static bool is_fixed(const struct fr_sweep *s, size_t setting)
{
    return s->axes[setting].n == 1 && strcmp(fr_question_setting(setting), "workload") != 0;
}

void fr__sweep_fixed_text(const struct fr_sweep *s, char *text, size_t n)
{
    bool is_taken[FR_N_SETTINGS] = {false};
    size_t used = 0;

    text[0] = '\0';
    for (size_t k = 0; used + 1 < n; k++) {
        size_t first = sizeof(column_order) / sizeof(column_order[0]) - 1;
        size_t setting = k < first ? fr__setting_index(column_order[k]) : k - first;

        if (setting >= FR_N_SETTINGS)
            break;
        if (is_taken[setting] || !is_fixed(s, setting))
            continue;
        is_taken[setting] = true;
        used += put_comma(text, used, n);
        used += put_value(setting, s->axes[setting].values[0], text + used, n - used);
    }
}

void fr__sweep_varying_text(const struct fr_sweep *s, const char *but, char *text, size_t n)
{
    size_t settings[FR_N_SETTINGS], n_settings = fr__sweep_varying(s, settings), used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < n_settings && used + 1 < n; i++) {
        if (strcmp(fr_question_setting(settings[i]), but) == 0)
            continue;
        used += put_comma(text, used, n);
        used += (size_t)snprintf(text + used, n - used, "%s", fr__sweep_setting_title(settings[i]));
    }
}

size_t fr__sweep_value_index(const struct fr_sweep *s, size_t point, size_t setting)
{
    size_t rest = point;

    for (size_t i = FR_N_SETTINGS - 1; i > setting; i--)
        rest /= s->axes[i].n ? s->axes[i].n : 1;
    return rest % (s->axes[setting].n ? s->axes[setting].n : 1);
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
    return fr_prices_any(&terms->prices) ? "cost (USD)" : "GPU hours";
}

const char *fr__sweep_cost_text(double cost, char *buf, size_t n)
{
    if (isnan(cost))
        return "";
    return fr__fixed(cost, cost < 1 ? 4 : cost < 1000 ? 2 : 0, buf, n);
}
