/* results/text/explain.c - asks a strategy for its decisions; what all writers of an explanation
 * need. */
#include "config.h"

#include "results/text/explain.h"

#include "base/error.h"
#include "results/pictures/plot.h"
#include "study/record.h"
#include "results/text/table.h"
#include "strategies/list.h"

#include <math.h>
#include <stdlib.h>

/* ---- asking ---- */

static bool explains(const struct fr_strategy *s)
{
    return s->explain;
}

static enum fr_status explain(struct fr_explanation *e, const struct fr_context *ctx,
                              struct fr_error *err)
{
    const struct fr_strategy *strategy = NULL;
    char names[160];

    if (!e->question.strategy)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no strategy given (-s, --strategy)");
    FR_TRY(fr_strategy_parse(e->question.strategy, &strategy, &e->values, err));
    if (!strategy->explain)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "strategy '%s' has nothing to explain, expected %s", strategy->name,
                        fr__strategy_names(explains, " or ", names, sizeof(names)));
    FR_TRY(fr_setting_load(&e->setting, &e->question, err));
    FR_TRY(fr__problem_make(&e->problem, &e->devices, &e->setting, &e->question, err));
    e->problem.options = &e->values;
    return strategy->explain(&e->problem, ctx, &e->decisions, err);
}

enum fr_status fr_explain(struct fr_explanation **out, const struct fr_question *q,
                          const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_context nothing = {0};
    struct fr_explanation *e = calloc(1, sizeof(*e));
    enum fr_status st;

    if (!e)
        return fr__fail_nomem(err);
    e->question = *q;
    st = explain(e, ctx ? ctx : &nothing, err);
    if (st == FR_OK)
        *out = e;
    else
        fr_explanation_free(e);
    return st;
}

void fr_explanation_free(struct fr_explanation *e)
{
    if (!e)
        return;
    fr_decisions_free(e->decisions);
    free(e->devices);
    fr_setting_fini(&e->setting);
    free(e);
}

/* ---- numbers ---- */

static bool is_whole(double x)
{
    return fabs(x - round(x)) < 1e-9 * fmax(1, fabs(x));
}

struct fr__explain_unit fr__explain_unit(const struct fr_decisions *d)
{
    const struct fr_decided_plan *p = &d->plans[0];
    struct fr__explain_unit u = {.decimals = 0};

    u.factor = fr__plot_time_unit(p->makespan_s, &u.name);
    for (size_t i = 0; i < p->n_ops && u.decimals == 0; i++)
        if (!is_whole(u.factor * p->ops[i].rank_s) || !is_whole(u.factor * p->ops[i].end_s))
            u.decimals = u.factor > 1e5 ? 1 : 3; /* of microseconds one */
    return u;
}

const char *fr__explain_time(const struct fr__explain_unit *u, double s, char *buf, size_t n)
{
    if (!isfinite(s))
        snprintf(buf, n, "%s", isnan(s) ? "-" : "no room");
    else
        fr__fixed(u->factor * s, u->decimals, buf, n);
    return buf;
}

/* ---- questions ---- */

uint32_t fr__explain_last_input(const struct fr_decided_plan *p, uint32_t op, double *there_s)
{
    uint32_t last = FR_NONE;

    *there_s = 0;
    for (uint32_t k = p->in_first[op]; k < p->in_first[op + 1]; k++) {
        const struct fr_decided_edge *edge = &p->edges[p->in_edges[k]];
        double t_s = p->ops[edge->src].end_s + edge->move_s;

        if (last != FR_NONE && t_s <= *there_s)
            continue;
        last = p->in_edges[k];
        *there_s = t_s;
    }
    return last;
}

size_t fr__explain_equals(const struct fr_decided_plan *p, uint32_t op, size_t n_devices)
{
    const struct fr_alternative *a = p->alternatives + op * n_devices;
    size_t n = 0;

    for (size_t d = 0; d < n_devices; d++)
        n += d != p->ops[op].device && a[d].end_s <= p->ops[op].end_s;
    return n;
}
