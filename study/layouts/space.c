/* study/layouts/space.c - the layouts of a space: all combinations of what the axes allow, those
 * that cannot be among them, each with its reason.
 *
 * Degrees are the divisors of the number of GPUs, micro-batches those of a replica's samples. What
 * a user named for an axis takes the place of what is usual.
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/error.h"
#include "base/units.h"
#include "lowering/schedules/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 4000000 };

/* ---- what the user says ---- */

/* Whether the value at v->n is among those before it: said twice, it is one. */
static bool is_said(const struct fr__axis_values *v)
{
    size_t i = 0;

    while (i < v->n && (v->text[v->n] ? strcmp(v->text[i], v->text[v->n]) != 0
                                      : v->number[i] != v->number[v->n]))
        i++;
    return i < v->n;
}

static enum fr_status add_value(struct fr_search *s, enum fr__axis a, const char *text,
                                struct fr_error *err)
{
    struct fr__axis_values *v = &s->axes[a];
    uint64_t n = 0, least = a == FR__AXIS_ZERO ? 0 : 1, most = a == FR__AXIS_ZERO ? 3 : UINT32_MAX;
    char name[FR__AXIS_NAME];

    if (v->n == FR__MOST_AXIS_VALUES)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%s has more than %d values",
                        fr__search_axis_name(a, name), FR__MOST_AXIS_VALUES);
    if (a == FR__AXIS_RECOMPUTE) {
        while (n < FR_N_LAYOUT_RECOMPUTES &&
               strcmp(text, fr__recompute_name((enum fr_layout_recompute)n)) != 0)
            n++;
        if (n == FR_N_LAYOUT_RECOMPUTES)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "recompute=%.40s is not none, selective or full", text);
    } else if (a == FR__AXIS_SCHEDULE || a == FR__AXIS_MAP) {
        v->text[v->n] = fr__arena_strdup(s->arena, text);
        if (!v->text[v->n])
            return fr__fail_nomem(err);
    } else {
        FR_TRY(
            fr__parse_count(text, fr__search_axis_name(a, name), FR_NOWHERE, least, most, &n, err));
    }
    if (a == FR__AXIS_SCHEDULE && !fr_schedule_kind_find(text))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "schedule=%.40s is none that `forerun schedule list` shows", text);
    v->number[v->n] = (uint32_t)n;
    v->n += !is_said(v);
    return FR_OK;
}

/* Cuts off what stands before the separator; *rest: what follows, NULL after the last. */
static char *next_part(char **rest, char separator)
{
    char *part = *rest, *end = strchr(part, separator);

    *rest = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return part;
}

static enum fr_status add_axis(struct fr_search *s, char *part, struct fr_error *err)
{
    char *equals = strchr(part, '='), *rest;
    enum fr__axis a;

    if (!equals || !equals[1])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "\"%.60s\" is not AXIS=VALUE,..., such as tp=8 or zero=0,1", part);
    rest = equals + 1;
    FR_TRY(fr__search_axis_find(part, (size_t)(rest - part), &a, err));
    while (rest)
        FR_TRY(add_value(s, a, next_part(&rest, ','), err));
    return FR_OK;
}

enum fr_status fr_search_axis(struct fr_search *s, const char *text, struct fr_error *err)
{
    char *rest = fr__arena_strdup(s->arena, text);

    if (!rest)
        return fr__fail_nomem(err);
    while (rest)
        FR_TRY(add_axis(s, next_part(&rest, ';'), err));
    return FR_OK;
}

/* ---- what is usual ---- */

/* Fills out[FR__MOST_AXIS_VALUES] with the divisors of n up to `most`. */
static size_t divisors(uint32_t n, uint32_t most, uint32_t out[])
{
    size_t k = 0;

    for (uint32_t d = 1; d <= n && d <= most && k < FR__MOST_AXIS_VALUES; d++)
        if (n % d == 0)
            out[k++] = d;
    return k;
}

/* The user's values, or the divisors of n. */
static size_t values_of(const struct fr_search *s, enum fr__axis a, uint32_t n, uint32_t most,
                        uint32_t out[])
{
    const struct fr__axis_values *v = &s->axes[a];

    if (v->n == 0)
        return divisors(n, most, out);
    memcpy(out, v->number, v->n * sizeof(*out));
    return v->n;
}

/* The user's values, or 0 .. n - 1. */
static size_t range_of(const struct fr_search *s, enum fr__axis a, uint32_t n, uint32_t out[])
{
    const struct fr__axis_values *v = &s->axes[a];

    for (uint32_t i = 0; i < n; i++)
        out[i] = i;
    if (v->n == 0)
        return n;
    memcpy(out, v->number, v->n * sizeof(*out));
    return v->n;
}

/* Stages that a rank runs one after the other divide layers evenly, with or without the model's
 * ends counted as layers. */
static bool space_divides(size_t n_units, uint32_t n_stages)
{
    return n_units >= n_stages && (n_units % n_stages == 0 || (n_units + 2) % n_stages == 0);
}

/* ---- the combinations ---- */

struct listing {
    struct fr_search *s;
    struct fr_search_layout l;
    enum fr_layout_fate fate; /* of all below */
    struct fr_error *err;
};

static enum fr_status add_row(struct listing *x, enum fr_layout_fate fate)
{
    struct fr_search *s = x->s;

    if (s->n_rows == MOST_ROWS)
        return fr__fail(x->err, FR_ERANGE, FR_NOWHERE,
                        "the space has more than %d layouts; --fix some axes", MOST_ROWS);
    if (!fr__grow(&s->rows, &s->cap_rows, s->n_rows + 1, sizeof(*s->rows)))
        return fr__fail_nomem(x->err);
    s->rows[s->n_rows++] = (struct fr_search_row){.layout = x->l, .fate = fate};
    return FR_OK;
}

/* Whether the schedule's own rule takes the sizes. */
static bool is_served(const struct fr_search_layout *l)
{
    const struct fr_schedule_kind *k = fr_schedule_kind_find(l->schedule);
    const struct fr_schedule_spec spec = {.name = l->schedule,
                                          .n_ranks = l->pp,
                                          .n_micros = l->n_micros,
                                          .n_virtual = l->n_virtual,
                                          .group = l->pp};
    struct fr_error ignored;

    if (l->n_virtual < k->least_virtual || (k->most_virtual && l->n_virtual > k->most_virtual))
        return false;
    return k->weights == FR_WEIGHTS_FLUSH && k->placement != FR_STAGES_TWO &&
           (!k->check || k->check(&spec, &ignored) == FR_OK);
}

static enum fr_status list_tails(struct listing *x)
{
    struct fr_search *s = x->s;
    uint32_t zeros[FR__MOST_AXIS_VALUES], recomputes[FR__MOST_AXIS_VALUES];
    uint32_t most_zero = x->l.dp * x->l.cp == 1 ? 1 : x->l.pp == 1 ? 4 : 2;
    size_t n_zeros = range_of(s, FR__AXIS_ZERO, most_zero, zeros);
    size_t n_recomputes = range_of(s, FR__AXIS_RECOMPUTE, FR_N_LAYOUT_RECOMPUTES, recomputes);
    enum fr_layout_fate fate = x->fate;

    if (fate == FR_LAYOUT_PENDING && x->l.pp > 1 && !is_served(&x->l))
        fate = FR_LAYOUT_SCHEDULE;
    for (size_t z = 0; z < n_zeros; z++)
        for (size_t r = 0; r < n_recomputes; r++) {
            if (s->axes[FR__AXIS_RECOMPUTE].n == 0 && recomputes[r] == FR_LAYOUT_SELECTIVE &&
                !s->job.has_core)
                continue;
            x->l.zero = zeros[z];
            x->l.recompute = (enum fr_layout_recompute)recomputes[r];
            FR_TRY(add_row(x, fate));
        }
    return FR_OK;
}

static enum fr_status list_schedules(struct listing *x)
{
    const struct fr__axis_values *v = &x->s->axes[FR__AXIS_SCHEDULE];

    x->l.schedule = x->l.n_virtual > 1 ? "interleaved-1f1b" : "1f1b";
    if (x->l.pp == 1 || v->n == 0)
        return list_tails(x);
    for (size_t i = 0; i < v->n; i++) {
        x->l.schedule = v->text[i];
        FR_TRY(list_tails(x));
    }
    return FR_OK;
}

static enum fr_status list_micros(struct listing *x)
{
    uint32_t micros[FR__MOST_AXIS_VALUES];
    uint32_t samples = x->s->job.global_batch / x->l.dp;
    size_t n;

    x->l.micro = x->l.n_micros = 0;
    if (x->s->job.global_batch % x->l.dp) {
        x->l.micro = 1;
        x->fate = FR_LAYOUT_BATCH;
        return list_schedules(x);
    }
    n = values_of(x->s, FR__AXIS_MICRO, samples, samples, micros);
    for (size_t i = 0; i < n; i++) {
        if (samples % micros[i])
            continue;
        x->l.micro = micros[i];
        x->l.n_micros = samples / micros[i];
        FR_TRY(list_schedules(x));
    }
    return FR_OK;
}

static enum fr_status list_virtuals(struct listing *x)
{
    uint32_t values[FR__MOST_AXIS_VALUES], most = (uint32_t)x->s->job.n_units;
    const enum fr_layout_fate fate = x->fate;
    size_t n = range_of(x->s, FR__AXIS_VIRTUAL, 1, values);
    bool is_usual = x->s->axes[FR__AXIS_VIRTUAL].n == 0;

    for (uint32_t v = 2; is_usual && x->l.pp > 1 && v <= most && n < FR__MOST_AXIS_VALUES; v++)
        if ((uint64_t)v * x->l.pp <= most && space_divides(most, v * x->l.pp))
            values[n++] = v;
    for (size_t i = 0; i < n; i++) {
        x->l.n_virtual = is_usual && i == 0 ? 1 : values[i];
        if (x->l.pp == 1 && x->l.n_virtual > 1)
            continue;
        x->fate = fate;
        if (fate == FR_LAYOUT_PENDING && x->l.pp > 1 &&
            !space_divides(most, x->l.n_virtual * x->l.pp))
            x->fate = FR_LAYOUT_LAYERS;
        FR_TRY(list_micros(x));
    }
    x->fate = fate;
    return FR_OK;
}

/* Maps differ only where several axes have ranks. */
static enum fr_status list_maps(struct listing *x)
{
    const struct fr__axis_values *v = &x->s->axes[FR__AXIS_MAP];

    x->l.map = NULL;
    if (v->n == 0)
        return list_virtuals(x);
    for (size_t i = 0; i < v->n; i++) {
        x->l.map = v->text[i];
        FR_TRY(list_virtuals(x));
    }
    return FR_OK;
}

static enum fr_status list_experts(struct listing *x)
{
    uint32_t eps[FR__MOST_AXIS_VALUES], n_experts = x->s->job.n_experts;
    uint32_t stage = x->l.dp * x->l.tp * x->l.cp;
    const struct fr__axis_values *etps = &x->s->axes[FR__AXIS_ETP];
    size_t n = n_experts ? values_of(x->s, FR__AXIS_EP, n_experts, n_experts, eps) : 1;

    if (n_experts == 0)
        eps[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < (etps->n && n_experts ? etps->n : 1); k++) {
            x->l.ep = eps[i];
            x->l.etp = n_experts == 0 ? 0 : etps->n ? etps->number[k] : 1;
            x->fate =
                n_experts && stage % (x->l.ep * x->l.etp) ? FR_LAYOUT_EXPERTS : FR_LAYOUT_PENDING;
            FR_TRY(list_maps(x));
        }
    x->fate = FR_LAYOUT_PENDING;
    return FR_OK;
}

/* Sequences are split where they are long: a rank keeps at least so many tokens. */
enum { LEAST_TOKENS_OF_CP = 4096 };

enum fr_status fr__space_list(struct fr_search *s, struct fr_error *err)
{
    struct listing x = {.s = s, .err = err};
    uint32_t n = s->job.n_gpus, seq = s->job.setting.graph->seq_len, tps[FR__MOST_AXIS_VALUES],
             pps[FR__MOST_AXIS_VALUES], cps[FR__MOST_AXIS_VALUES];
    uint32_t most_cp = seq / LEAST_TOKENS_OF_CP > 1 ? seq / LEAST_TOKENS_OF_CP : 1;
    size_t n_tps = values_of(s, FR__AXIS_TP, n, n, tps),
           n_pps = values_of(s, FR__AXIS_PP, n, n, pps),
           n_cps = values_of(s, FR__AXIS_CP, n, most_cp, cps);
    const struct fr__axis_values *dps = &s->axes[FR__AXIS_DP];

    for (size_t t = 0; t < n_tps; t++)
        for (size_t p = 0; p < n_pps; p++)
            for (size_t c = 0; c < n_cps; c++) {
                uint64_t ranks = (uint64_t)tps[t] * pps[p] * cps[c];
                bool is_wanted = dps->n == 0;

                if (ranks > n || n % ranks)
                    continue;
                x.l = (struct fr_search_layout){.tp = tps[t], .pp = pps[p], .cp = cps[c]};
                x.l.dp = n / (uint32_t)ranks;
                for (size_t d = 0; d < dps->n; d++)
                    is_wanted = is_wanted || dps->number[d] == x.l.dp;
                if (is_wanted)
                    FR_TRY(list_experts(&x));
            }
    return FR_OK;
}

/* A degree of which no value divides the GPUs; FR__N_SEARCH_AXES: there is none. */
static enum fr__axis find_undividing(const struct fr_search *s)
{
    static const enum fr__axis degrees[] = {FR__AXIS_DP, FR__AXIS_TP, FR__AXIS_PP, FR__AXIS_CP};

    for (size_t d = 0; d < sizeof(degrees) / sizeof(degrees[0]); d++) {
        const struct fr__axis_values *v = &s->axes[degrees[d]];
        size_t n_dividing = 0;

        for (size_t i = 0; i < v->n; i++)
            n_dividing += s->job.n_gpus % v->number[i] == 0;
        if (v->n > 0 && n_dividing == 0)
            return degrees[d];
    }
    return FR__N_SEARCH_AXES;
}

enum fr_status fr__space_fail_empty(const struct fr_search *s, struct fr_error *err)
{
    enum fr__axis a = find_undividing(s);
    char name[FR__AXIS_NAME], why[80] = "";

    if (a != FR__N_SEARCH_AXES)
        snprintf(why, sizeof(why), "; %s=%u does not divide %u GPUs", fr__search_axis_name(a, name),
                 s->axes[a].number[0], s->job.n_gpus);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "the space is empty: no layout of %u GPUs and %u samples has the values that "
                    "are fixed%s",
                    s->job.n_gpus, s->job.global_batch, why);
}
