/* results/parts/explanation.c - numbers and questions that all writers of an explanation share.
 *
 * It is separate because text, graph and picture must show a time in the same unit.
 */
#include "config.h"

#include "results/parts/explanation.h"
#include "results/parts/number.h"

#include "workloads/graph/totals.h"

#include <math.h>
#include <stdio.h>

/* ---- numbers ---- */

static bool is_whole(double x)
{
    return fabs(x - round(x)) < 1e-9 * fmax(1, fabs(x));
}

bool fr__explanation_is_plain(const struct fr_explanation *e)
{
    return e->problem.topo->is_plain && fr__graph_is_tasks(e->problem.graph);
}

struct fr__explain_unit fr__explain_unit(const struct fr_explanation *e)
{
    const struct fr_decided_plan *p = &e->decisions->plans[0];
    struct fr__explain_unit u = {.decimals = 0};

    u.factor = fr__time_unit(p->makespan_s, &u.name);
    for (size_t i = 0; i < p->n_ops && u.decimals == 0; i++)
        if (!is_whole(u.factor * p->ops[i].rank_s) || !is_whole(u.factor * p->ops[i].end_s))
            u.decimals = u.factor > 1e5 ? 1 : 3; /* microseconds have one */
    if (!fr__explanation_is_plain(e) || u.factor != 1)
        snprintf(u.after, sizeof(u.after), " %s", u.name);
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

/* ---- inputs and alternatives ---- */

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
