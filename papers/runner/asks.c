/* papers/runner/asks.c - asks questions for a paper's experiments. */
#include "config.h"

#include "papers/runner/asks.h"

#include "base/error.h"
#include "base/units.h"
#include "study/session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- settings ---- */

enum fr_status fr__ask_text(const struct fr__ask *a, const char *name, const char **out,
                            struct fr_error *err)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->names[i], name) == 0) {
            *out = a->values[i];
            return FR_OK;
        }
    return fr__fail(err, FR_EPARSE, a->loc, "'%s' is missing", name);
}

enum fr_status fr__ask_count(const struct fr__ask *a, const char *name, uint64_t most,
                             uint32_t *out, struct fr_error *err)
{
    const char *text;
    uint64_t n;

    FR_TRY(fr__ask_text(a, name, &text, err));
    FR_TRY(fr__parse_count(text, name, a->loc, 0, most, &n, err));
    *out = (uint32_t)n;
    return FR_OK;
}

static bool is_among(const char *name, const char *const words[])
{
    while (*words && strcmp(*words, name) != 0)
        words++;
    return *words != NULL;
}

enum fr_status fr__ask_settings(const struct fr__ask *a, const char *const others[],
                                struct fr_question *q, struct fr_error *err)
{
    fr_question_init(q);
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->names[i], "brief") == 0)
            q->is_brief = true;
        else if (!is_among(a->names[i], others))
            FR_TRY(fr_question_set(q, a->names[i], a->values[i], err));
    return FR_OK;
}

enum fr_status fr__ask_answer(const struct fr__ask *a, const struct fr__field fields[], size_t n,
                              const struct fr__field **out, struct fr_error *err)
{
    struct fr__field *copy = fr__arena_alloc(a->arena, n + 1, sizeof(*copy));

    if (!copy)
        return fr__fail_nomem(err);
    memcpy(copy, fields, n * sizeof(*copy));
    *out = copy;
    return FR_OK;
}

/* ---- questions ---- */

/* What a planner decided. */
struct planned {
    double planned_s, ops_on[4];
    size_t n_ops, n_splits;
    bool keeps_replicas;
    const char *own_rule;
    char kinds[200], first[200];
};

/* Adds a kind of op to a list of words, once. */
static void add_kind(char *list, size_t n, const char *kind)
{
    size_t used = strlen(list);

    if (!strstr(list, kind))
        snprintf(list + used, n - used, "%s%s", used ? " " : "", kind);
}

static void note_splits(struct planned *p, const struct fr_record *r)
{
    const struct fr_decisions *d = r->decisions;
    const struct fr_graph *g = fr_plan_user_graph(r->plan);

    for (size_t i = 0; i < d->n_splits; i++) {
        const struct fr_decided_split *split = &d->splits[i];

        if (split->user_op != FR_NONE)
            add_kind(p->kinds, sizeof(p->kinds), fr_op_kind_name(g->ops[split->user_op].kind));
        if (i == 0)
            snprintf(p->first, sizeof(p->first), "%s in %u (%s)", split->op, split->n, split->dim);
    }
}

static void note_planned(struct planned *p, const struct fr_record *r)
{
    const struct fr_decisions *d = r->decisions;
    const struct fr_decided_plan *plan = d ? fr_decisions_plan(d) : NULL;

    if (!plan)
        return;
    for (size_t g = 0; g < r->n_gpus && g < 4; g++) {
        p->ops_on[g] = 0;
        for (size_t i = 0; i < plan->n_ops; i++)
            p->ops_on[g] += r->devices[g].device == d->devices[plan->ops[i].device].device;
    }
    p->planned_s = d->believed_s;
    p->n_ops = plan->n_ops;
    p->n_splits = d->n_splits;
    p->keeps_replicas = d->keeps_replicas;
    p->own_rule = d->own_s > 0 ? d->rule : "";
    note_splits(p, r);
}

static struct fr__field number(const char *name, double x)
{
    return (struct fr__field){name, fr__value_number(x)};
}

/* The number, or words where nothing fits. */
static struct fr__field fitting(const char *name, double x, bool oom)
{
    return (struct fr__field){name, oom ? (struct fr__value){.number = NAN, .text = "out of memory"}
                                        : fr__value_number(x)};
}

static struct fr__field text(const struct fr__ask *a, const char *name, const char *words)
{
    const char *copy = fr__arena_strdup(a->arena, words);

    return (struct fr__field){name, {.number = NAN, .text = copy ? copy : ""}};
}

/* r NULL: refused for want of memory. */
static enum fr_status tell(const struct fr__ask *a, const struct fr_record *r,
                           const struct fr__field **out, struct fr_error *err)
{
    const bool oom = !r || r->oom, has_range = !oom && r->interval.is_known;
    struct planned p = {
        .planned_s = NAN, .ops_on = {NAN, NAN, NAN, NAN}, .own_rule = "", .n_ops = 0};

    if (r)
        note_planned(&p, r);
    const struct fr__field fields[] = {
        number("oom", oom),
        number("iteration_s", oom ? (double)NAN : r->iteration_s),
        fitting("time", oom ? (double)NAN : r->iteration_s, oom),
        number("low_s", has_range ? r->interval.low_s : (double)NAN),
        number("high_s", has_range ? r->interval.high_s : (double)NAN),
        number("compute_s", r ? r->compute_s : (double)NAN),
        number("comm_s", r ? r->comm_s : (double)NAN),
        number("exposed_comm_s", r ? r->exposed_comm_s : (double)NAN),
        number("plan_cpu_s", r ? r->plan_cpu_s : (double)NAN),
        number("peak_bytes", r ? (double)r->peak_bytes : 0),
        fitting("memory", r ? (double)r->peak_bytes : 0, oom),
        number("planned_s", p.planned_s),
        number("n_ops", (double)p.n_ops),
        number("n_splits", (double)p.n_splits),
        number("keeps_replicas", p.keeps_replicas),
        text(a, "own_rule", p.own_rule),
        text(a, "split_kinds", p.kinds),
        text(a, "most_split", p.first),
        number("gpu0_ops", p.ops_on[0]),
        number("gpu1_ops", p.ops_on[1]),
        number("gpu2_ops", p.ops_on[2]),
        number("gpu3_ops", p.ops_on[3]),
    };
    return fr__ask_answer(a, fields, sizeof(fields) / sizeof(fields[0]), out, err);
}

enum fr_status fr__ask_question(const struct fr__ask *a, const struct fr__field **out,
                                struct fr_error *err)
{
    static const char *const none[] = {NULL};
    struct fr_question q;
    struct fr_record *r = NULL;
    enum fr_status st;

    FR_TRY(fr__ask_settings(a, none, &q, err));
    st = fr_session_ask(a->session, &q, a->ctx, &r, err);
    if (st != FR_OK && st != FR_ENOROOM)
        return st;
    st = tell(a, st == FR_OK ? r : NULL, out, err);
    fr_record_free(r);
    return st;
}
