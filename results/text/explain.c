/* results/text/explain.c - asks the planner, and says in words what its record says in numbers. */
#include "config.h"

#include "results/text/explain.h"

#include "base/error.h"
#include "results/pictures/plot.h"
#include "study/record.h"
#include "results/text/table.h"

#include <math.h>
#include <stdlib.h>

/* ---- asking ---- */

static enum fr_status explain(struct fr_explanation *e, const struct fr_context *ctx,
                              struct fr_error *err)
{
    const struct fr_strategy *strategy = NULL;

    if (!e->question.strategy)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no strategy given (-s, --strategy)");
    FR_TRY(fr_strategy_parse(e->question.strategy, &strategy, &e->values, err));
    if (!strategy->explain)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "strategy '%s' has nothing to explain, expected 'dpos' or 'os-dpos'",
                        strategy->name);
    FR_TRY(fr_setting_load(&e->setting, &e->question, err));
    FR_TRY(fr__problem_make(&e->problem, &e->devices, &e->setting, &e->question, err));
    e->problem.options = &e->values;
    return strategy->explain(&e->problem, ctx, &e->explained, err);
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
    fr__explained_free(e->explained);
    free(e->devices);
    fr_setting_fini(&e->setting);
    free(e);
}

/* ---- numbers ---- */

static bool is_whole(double x)
{
    return fabs(x - round(x)) < 1e-9 * fmax(1, fabs(x));
}

struct fr__explain_unit fr__explain_unit(const struct fr_explained *e)
{
    const struct fr__explained_plan *p = &e->plans[0];
    struct fr__explain_unit u = {.decimals = 0};

    u.factor = fr__plot_time_unit(p->result.makespan_s, &u.name);
    for (size_t i = 0; i < p->dag->n_ops && u.decimals == 0; i++)
        if (!is_whole(u.factor * p->result.rank_s[i]) || !is_whole(u.factor * p->result.end_s[i]))
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

/* ---- words ---- */

const char *fr__explain_device(const struct fr_explained *e, size_t d)
{
    return e->problem->topo->devices[e->problem->devices[d]].name;
}

const char *fr__explain_why(enum fr__dpos_why why)
{
    static const char *const words[] = {
        [FR__DPOS_WITH_READER] = "waits for the first of its readers",
        [FR__DPOS_OF_PATH] = "bound with the critical path",
        [FR__DPOS_OF_GROUP] = "bound to where its group stands",
        [FR__DPOS_MOST_ROOM] = "takes no time: where most room is left",
        [FR__DPOS_ENDS_FIRST] = "ends first",
        [FR__DPOS_PLACED] = "left where its replica stands",
    };

    return words[why];
}

const char *fr__explain_try(const struct fr__os_dpos_try *t)
{
    if (t->is_kept)
        return "kept";
    if (isnan(t->after_s))
        return "stopped: no shorter than the best so far";
    if (isinf(t->after_s))
        return "does not fit";
    return t->after_s < t->before_s ? "shorter, but not the shortest" : "no shorter";
}

const char *fr__explain_end(const struct fr_explained *e)
{
    static const char *const words[] = {
        [FR__OS_DPOS_NOTHING_TO_SPLIT] = "nothing on the longest path can be split",
        [FR__OS_DPOS_NO_GAIN] =
            "no split of this operation makes the step shorter, which ends the search",
        [FR__OS_DPOS_ALL_TRIED] = "all of the longest path that may be split has been tried",
        [FR__OS_DPOS_SPENT] = "as many operations as were asked for have been tried",
    };

    return words[e->fastt->result.end];
}

uint32_t fr__explain_last_input(const struct fr_explained *e, const struct fr__explained_plan *p,
                                uint32_t op, double *there_s)
{
    const struct fr__dag *dag = p->dag;
    uint32_t last = FR_NONE;

    *there_s = 0;
    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        const struct fr__dag_edge *edge = &dag->edges[dag->in_edges[k]];
        double t_s = p->result.end_s[edge->src] + fr__dpos_move_s(&e->fastt->machine, edge,
                                                                  p->result.device[edge->src],
                                                                  p->result.device[op]);

        if (last != FR_NONE && t_s <= *there_s)
            continue;
        last = dag->in_edges[k];
        *there_s = t_s;
    }
    return last;
}
