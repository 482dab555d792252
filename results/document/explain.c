/* results/document/explain.c - the whole explanation as text: the question, each plan, what was
 * tried.
 *
 * It is separate from the steps of one plan (explain_steps.c), which it calls for each plan.
 */
#include "config.h"

#include "results/document/builders.h"
#include "results/document/explain.h"

#include "base/error.h"
#include "results/parts/cells.h"
#include "workloads/graph/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIME = 40, MAX_NAME = 160 };

/* ---- splits ---- */

static void fill_try(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__telling *t = user;
    const struct fr_decided_split *a = &t->x->tries[i];

    if (i == 0 || a[-1].number != a->number)
        fr__table_text(row->cell[0], a->op);
    snprintf(row->cell[1], FR__TABLE_CELL, "%s", a->dim);
    snprintf(row->cell[2], FR__TABLE_CELL, "%u", a->n);
    fr__tell_cell_time(row->cell[3], t, a->before_s);
    if (isfinite(a->after_s))
        fr__tell_cell_time(row->cell[4], t, a->after_s);
    snprintf(row->cell[5], FR__TABLE_CELL, "%s", a->verdict);
}

static void tell_tries(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {{"operation", false}, {"along", false},
                                                      {"parts", true},      {"before", true},
                                                      {"after", true},      {"", false}};
    size_t n = t->x->n_tries;
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 6,
                                    .n_rows = fr__tell_shown(t, n),
                                    .fill = fill_try,
                                    .user = t};

    fr__say(t->doc, "\n%s\n\n", t->x->split_rule);
    if (n)
        fr__say_table(t->doc, &table, 0);
    fr__tell_rest(t, n, "tries");
    fr__say(t->doc, "%s  %s.\n", n ? "\n" : "", t->x->split_end);
}

/* ---- the whole ---- */

static void tell_question(const struct fr__telling *t)
{
    const struct fr_problem *in = &t->e->problem;

    bool is_plain = fr__explanation_is_plain(t->e);

    fr__say_name(t->doc, in->graph->name);
    if (is_plain && in->n_devices == in->topo->n_gpus)
        fr__say(t->doc, " on ");
    else if (is_plain)
        fr__say(t->doc, " on %zu of the ", in->n_devices);
    else if (in->n_devices == in->topo->n_gpus)
        fr__say(t->doc, " on all %zu GPUs of ", in->n_devices);
    else
        fr__say(t->doc, " on %zu of %zu GPUs of ", in->n_devices, in->topo->n_gpus);
    fr__say_name(t->doc, in->topo->name);
    fr__say(t->doc, ", strategy ");
    fr__say_name(t->doc, t->e->question.strategy);
    if (is_plain) {
        fr__say(t->doc, "\ntimes as in the task file");
        fr__say(t->doc, strcmp(t->unit.name, "s") == 0 ? "\n\n" : ", taken as %s\n\n",
                t->unit.name);
        return;
    }
    fr__say(t->doc, "\nglobal batch %u, %s, %s; times in %s\n\n", in->global_batch,
            fr_dtype_name(in->graph->dtype), fr_optimizer_name(in->optimizer), t->unit.name);
}

static void tell_rivals(const struct fr__telling *t)
{
    char time[TIME];

    for (size_t i = 0; i < t->x->n_rivals; i++) {
        const struct fr_decided_rival *r = &t->x->rivals[i];

        fr__say(t->doc, "\n%s, take %s%s: %s.\n", r->what,
                fr__explain_time(&t->unit, r->s, time, sizeof(time)), t->unit.after,
                r->is_kept ? "that is the plan" : "no shorter");
    }
}

static void tell_heading(const struct fr__telling *t)
{
    fr__say(t->doc, "%s %zu operations and %zu edges.\n\n", t->p->heading, t->p->n_ops,
            t->p->n_edges);
    if (t->p->note)
        fr__say(t->doc, "%s\n\n", t->p->note);
}

/* The plan that what was compared with the first, or made of it, led to. */
static void tell_next(struct fr__telling *t, size_t k)
{
    t->p = &t->x->plans[k];
    if (t->p->is_given) {
        fr__tell_schedule(t);
        return;
    }
    fr__say(t->doc, "\n");
    tell_heading(t);
    fr__tell_plan(t);
}

static void tell_all(struct fr__telling *t)
{
    tell_heading(t);
    fr__tell_plan(t);
    if (t->p->is_given)
        return;
    if (t->x->split_rule)
        tell_tries(t);
    tell_rivals(t);
    for (size_t k = 1; k < t->x->n_plans; k++)
        tell_next(t, k);
}

static uint32_t find_op(const struct fr_decided_plan *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (strcmp(p->ops[i].name, name) == 0)
            return i;
    return FR_NONE;
}

static enum fr_status fail_unknown(const struct fr_decisions *x, const char *name,
                                   struct fr_error *err)
{
    const struct fr_decided_plan *p = &x->plans[0];
    const char **names = calloc(p->n_ops + 1, sizeof(*names));
    char hint[MAX_NAME + 32] = "";

    for (size_t i = 0; names && i < p->n_ops; i++)
        names[i] = p->ops[i].name;
    if (names)
        fr__did_you_mean(name, names, p->n_ops, hint, sizeof(hint));
    free(names);
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no operation of the dag is called '%s'%s", name,
                    hint);
}

/* Of one operation, in each plan. */
static enum fr_status tell_one(struct fr__telling *t, const char *name, struct fr_error *err)
{
    bool is_told = false;

    for (size_t k = 0; k < t->x->n_plans && !is_told; k++)
        is_told = find_op(&t->x->plans[k], name) != FR_NONE;
    if (!is_told)
        return fail_unknown(t->x, name, err);
    tell_question(t);
    is_told = false;
    for (size_t k = 0; k < t->x->n_plans; k++) {
        uint32_t op;

        t->p = &t->x->plans[k];
        op = find_op(t->p, name);
        if (k > 0)
            fr__say(t->doc, "%s%s:\n\n", is_told ? "\n" : "", t->p->title);
        if (op != FR_NONE)
            fr__tell_op(t, op);
        else if (k > 0)
            fr__say(t->doc, "it was split, or made way for what was.\n");
        is_told |= op != FR_NONE;
    }
    return FR_OK;
}

/* Where devices are hardly filled memory decides nothing. */
static bool is_memory_tight(const struct fr_decisions *x)
{
    for (size_t k = 0; k < x->n_plans; k++)
        for (size_t d = 0; d < x->n_devices && x->plans[k].used_bytes; d++)
            if (x->plans[k].used_bytes[d] > x->devices[d].room_bytes / 2)
                return true;
    return false;
}

enum fr_status fr__document_of_explanation(struct fr__document *doc, const void *what,
                                           struct fr_error *err)
{
    const struct fr_explanation_answer *a = what;
    const struct fr_explanation *e = a->explanation;
    const struct fr_explanation_view *v = &a->view;
    struct fr__telling t = {.doc = doc, .e = e, .x = e->decisions, .most = v->n_ops};

    if (t.x->layout)
        return fr__tell_layout(doc, e, err);
    t.p = &t.x->plans[0];
    t.unit = fr__explain_unit(e);
    t.with_memory = v->op || is_memory_tight(t.x);
    if (v->op)
        return tell_one(&t, v->op, err);
    tell_question(&t);
    fr__say_picture(doc, FR__PICTURE_CHART, a, 0);
    tell_all(&t);
    return fr__document_check(doc, err);
}
