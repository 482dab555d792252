/* study/sweep/grid.c - the axes of a sweep and the points between them. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "study/answer/record.h"
#include "study/sweep/state.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 10000, MAX_ITEM = 64 };

struct fr_sweep *fr_sweep_new(void)
{
    struct fr_sweep *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->n_shards = 1;
    s->arena = fr__arena_new();
    s->row_arena = fr__arena_new();
    if (s->arena && s->row_arena && pthread_mutex_init(&s->lock, NULL) == 0)
        return s;
    fr__arena_free(s->arena);
    fr__arena_free(s->row_arena);
    free(s);
    return NULL;
}

void fr_sweep_free(struct fr_sweep *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < FR_N_SETTINGS; i++)
        free(s->axes[i].values);
    free(s->inputs);
    free(s->types);
    free(s->clusters);
    free(s->nics);
    free(s->rows);
    pthread_mutex_destroy(&s->lock);
    fr__arena_free(s->arena);
    fr__arena_free(s->row_arena);
    free(s);
}

/* ---- values ---- */

static bool has_value(const struct fr__axis *axis, const char *value)
{
    for (size_t i = 0; i < axis->n; i++)
        if (strcmp(axis->values[i], value) == 0)
            return true;
    return false;
}

/* The value as a question spells it: "016" and "16" are one. */
static enum fr_status add_value(struct fr_sweep *s, size_t setting, const char *text,
                                struct fr_error *err)
{
    struct fr__axis *axis = &s->axes[setting];
    const struct fr_strategy *strategy;
    struct fr_option_values options;
    struct fr_question q;
    char *value;

    fr_question_init(&q);
    FR_TRY(fr_question_set(&q, fr_question_setting(setting), text, err));
    if (setting == fr__setting_index("strategy"))
        FR_TRY(fr_strategy_parse(text, &strategy, &options, err));
    value = fr_question_text(&q, setting);
    if (!value)
        return fr__fail_nomem(err);
    if (!has_value(axis, value)) {
        if (axis->n == MAX_VALUES) {
            free(value);
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "option '--%s' has over %d values",
                            fr_question_setting(setting), MAX_VALUES);
        }
        if (!fr__grow(&axis->values, &axis->cap, axis->n + 1, sizeof(*axis->values)) ||
            !(axis->values[axis->n] = fr__arena_strdup(s->arena, value))) {
            free(value);
            return fr__fail_nomem(err);
        }
        axis->n++;
    }
    free(value);
    return FR_OK;
}

/* ---- ranges: "1..8", "16..64+16", "1..64x2" ---- */

struct range {
    uint64_t from, to, by;
    bool is_factor;
};

static enum fr_status parse_range(const char *item, const char *dots, struct range *r,
                                  const char *setting, struct fr_error *err)
{
    char part[MAX_ITEM], what[96];
    const char *to = dots + 2, *by = to + strcspn(to, "+x");

    snprintf(what, sizeof(what), "option '--%s': the range's start", setting);
    snprintf(part, sizeof(part), "%.*s", (int)(dots - item), item);
    FR_TRY(fr__parse_count(part, what, FR_NOWHERE, 0, UINT32_MAX - 1, &r->from, err));
    snprintf(what, sizeof(what), "option '--%s': the range's end", setting);
    snprintf(part, sizeof(part), "%.*s", (int)(by - to), to);
    FR_TRY(fr__parse_count(part, what, FR_NOWHERE, r->from, UINT32_MAX - 1, &r->to, err));
    r->by = 1;
    r->is_factor = *by == 'x';
    if (!*by)
        return FR_OK;
    snprintf(what, sizeof(what), "option '--%s': the range's %s", setting,
             r->is_factor ? "factor" : "step");
    FR_TRY(fr__parse_count(by + 1, what, FR_NOWHERE, r->is_factor ? 2 : 1, UINT32_MAX - 1, &r->by,
                           err));
    if (r->is_factor && r->from == 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "option '--%s' is \"%s\": a range by a factor cannot start at 0", setting,
                        item);
    return FR_OK;
}

static enum fr_status add_range(struct fr_sweep *s, size_t setting, const struct range *r,
                                struct fr_error *err)
{
    char text[32];

    for (uint64_t x = r->from; x <= r->to; x = r->is_factor ? x * r->by : x + r->by) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long)x);
        FR_TRY(add_value(s, setting, text, err));
    }
    return FR_OK;
}

static enum fr_status add_item(struct fr_sweep *s, size_t setting, const char *item,
                               struct fr_error *err)
{
    const char *dots = strstr(item, "..");
    bool is_seed = setting == fr__setting_index("seed");
    struct range r;

    if (is_seed && s->axes[setting].n > 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--seed' has several values in a sweep, expected one or "
                        "FIRST..LAST: each point is answered with all of them");
    if (!dots || is_seed)
        return add_value(s, setting, item, err);
    FR_TRY(parse_range(item, dots, &r, fr_question_setting(setting), err));
    return add_range(s, setting, &r, err);
}

static enum fr_status add_list(struct fr_sweep *s, size_t setting, const char *values,
                               struct fr_error *err)
{
    const char *name = fr_question_setting(setting);
    char item[MAX_ITEM];

    for (;;) {
        size_t n = strcspn(values, ",");

        if (n == 0)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--%s' has an empty value", name);
        if (n >= sizeof(item))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--%s' has a value of %zu bytes",
                            name, n);
        memcpy(item, values, n);
        item[n] = '\0';
        FR_TRY(add_item(s, setting, item, err));
        if (!values[n])
            return FR_OK;
        values += n + 1;
    }
}

/* ---- "all" ---- */

/* Whether a name is a pattern ("wresnet-L-W"), which stands for many models. */
static bool is_pattern(const char *name)
{
    return strpbrk(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL;
}

static const char *strategy_name(size_t i)
{
    const struct fr_strategy *strategy;

    for (size_t k = 0; (strategy = fr_strategy_at(k)) != NULL; k++)
        if (!strategy->is_by_name_only && i-- == 0)
            return strategy->name;
    return NULL;
}

static enum fr_status add_all(struct fr_sweep *s, size_t setting, const char *(*name_of)(size_t i),
                              struct fr_error *err)
{
    const char *name;

    for (size_t i = 0; (name = name_of(i)) != NULL; i++)
        if (!is_pattern(name))
            FR_TRY(add_value(s, setting, name, err));
    return FR_OK;
}

/* ---- options of strategies: "pp:stages=2|4|8,micro=4|8" is six strategies ---- */

/* The spec with the values from..from+n in the place of the list start..end. */
static char *with_value(const char *spec, const char *start, const char *end, const char *from,
                        size_t n)
{
    size_t before = (size_t)(start - spec), after = strlen(end);
    char *one = malloc(before + n + after + 1);

    if (!one)
        return NULL;
    memcpy(one, spec, before);
    memcpy(one + before, from, n);
    memcpy(one + before + n, end, after + 1);
    return one;
}

/* One strategy for each value of the first list in spec, whose lists then follow in turn: no deeper
 * than there are options. */
static enum fr_status add_strategies(struct fr_sweep *s, size_t setting, const char *spec,
                                     struct fr_error *err)
{
    const char *options = strchr(spec, ':'), *bar = options ? strchr(options, '|') : NULL;
    const char *start, *end;

    if (!bar)
        return add_value(s, setting, spec, err);
    for (start = bar; start > options && start[-1] != '=' && start[-1] != ','; start--)
        ;
    if (start == options || start[-1] == ',') /* no option's value: the error says so */
        return add_value(s, setting, spec, err);
    end = bar + strcspn(bar, ",");
    for (const char *from = start; from <= end;) {
        size_t n = strcspn(from, "|,");
        char *one;
        enum fr_status st;

        if (n == 0)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "option '--strategy' is \"%.200s\", with an empty value in a list",
                            spec);
        one = with_value(spec, start, end, from, n);
        st = one ? add_strategies(s, setting, one, err) : fr__fail_nomem(err);
        free(one);
        FR_TRY(st);
        from += n + 1;
    }
    return FR_OK;
}

enum fr_status fr_sweep_add(struct fr_sweep *s, const char *setting, const char *values,
                            struct fr_error *err)
{
    bool is_all = strcmp(values, "all") == 0;
    struct fr_question q;
    size_t i = 0;

    assert(s->n_points == 0);
    while (fr_question_setting(i) && strcmp(fr_question_setting(i), setting) != 0)
        i++;
    if (i == FR_N_SETTINGS) { /* for the error message */
        fr_question_init(&q);
        return fr_question_set(&q, setting, values, err);
    }
    if (fr_question_setting_is_list(i))
        return add_list(s, i, values, err);
    if (is_all && strcmp(setting, "workload") == 0)
        return add_all(s, i, fr_zoo_name, err);
    if (is_all && strcmp(setting, "topology") == 0)
        return add_all(s, i, fr_topo_preset_name, err);
    if (is_all && strcmp(setting, "strategy") == 0)
        return add_all(s, i, strategy_name, err);
    if (strcmp(setting, "strategy") == 0)
        return add_strategies(s, i, values, err);
    return add_value(s, i, values, err);
}

enum fr_status fr_sweep_shard(struct fr_sweep *s, uint32_t i, uint32_t n, struct fr_error *err)
{
    if (n == 0 || i == 0 || i > n)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "there is no shard %u of %u", i, n);
    s->shard = i - 1;
    s->n_shards = n;
    return FR_OK;
}

/* ---- points ---- */

static enum fr_status count_points(struct fr_sweep *s, struct fr_error *err)
{
    size_t n = 1;

    for (size_t i = 0; i < FR_N_SETTINGS; i++) {
        size_t here = s->axes[i].n ? s->axes[i].n : 1;

        if (n > FR_SWEEP_MAX_POINTS / here)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the grid has over %d points",
                            FR_SWEEP_MAX_POINTS);
        n *= here;
    }
    s->n_points = n;
    return FR_OK;
}

/* Settings of which a question takes one only. */
static enum fr_status check_pairs(const struct fr_sweep *s, struct fr_error *err)
{
    static const struct {
        const char *one, *other, *sentence;
    } pairs[] = {
        {"batch", "batch-per-gpu", "a global batch and a batch per GPU exclude each other"},
        {"gpus", "devices", FR__COUNTED_AND_NAMED},
        {"spread", "devices", FR__SPREAD_AND_NAMED},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (s->axes[fr__setting_index(pairs[i].one)].n > 0 &&
            s->axes[fr__setting_index(pairs[i].other)].n > 0)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s", pairs[i].sentence);
    return FR_OK;
}

enum fr_status fr_sweep_finish(struct fr_sweep *s, struct fr_error *err)
{
    assert(s->n_points == 0);
    if (s->axes[fr__setting_index("workload")].n == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no workload given (-w, --workload)");
    if (s->axes[fr__setting_index("topology")].n == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no topology given (-t, --topology)");
    FR_TRY(check_pairs(s, err));
    if (s->axes[fr__setting_index("strategy")].n == 0)
        FR_TRY(fr_sweep_add(s, "strategy", "all", err));
    FR_TRY(fr__sweep_load_inputs(s, err));
    FR_TRY(count_points(s, err));
    s->rows = calloc(s->n_points, sizeof(*s->rows));
    if (!s->rows) {
        s->n_points = 0;
        return fr__fail_nomem(err);
    }
    for (size_t i = 0; i < s->n_points; i++)
        s->n_mine += fr_sweep_is_mine(s, i);
    return FR_OK;
}

size_t fr_sweep_n_points(const struct fr_sweep *s)
{
    return s->n_points;
}

bool fr_sweep_is_mine(const struct fr_sweep *s, size_t point)
{
    return (point + point / s->n_shards) % s->n_shards == s->shard;
}

const char *const *fr_sweep_axis(const struct fr_sweep *s, size_t i, size_t *n)
{
    *n = s->axes[i].n;
    return s->axes[i].values;
}

void fr_sweep_allow_implausible(struct fr_sweep *s)
{
    s->allow_implausible = true;
}

void fr_sweep_question(const struct fr_sweep *s, size_t point, struct fr_question *out)
{
    assert(point < s->n_points);
    fr_question_init(out);
    out->no_timing = true; /* rows have no measured times */
    out->allow_implausible = s->allow_implausible;
    for (size_t i = FR_N_SETTINGS; i-- > 0;) {
        const struct fr__axis *axis = &s->axes[i];
        enum fr_status st;

        if (axis->n == 0)
            continue;
        st = fr_question_set(out, fr_question_setting(i), axis->values[point % axis->n], NULL);
        assert(st == FR_OK); /* it was read once before */
        (void)st;
        point /= axis->n;
    }
}

const struct fr_sweep_row *fr_sweep_row(const struct fr_sweep *s, size_t point)
{
    return s->rows ? s->rows[point] : NULL;
}

size_t fr_sweep_n_found(const struct fr_sweep *s)
{
    return s->n_found;
}
