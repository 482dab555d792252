/* study/interval/cost_error.c - the errors of costs, weighted by the time that they take.
 *
 * It is separate from study/answer/uncertainty.c, which runs the plan 40 times: this one reads the
 * run that is there, so that every answer can afford it.
 */
#include "config.h"

#include "study/interval/cost_error.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* Collectives and messages that no fit covers are 12.7 % off (median) on systems left out of the
 * factors that they take: doc/collectives.md. Of a normal distribution that is 0.674 standard
 * deviations. */
static const double NETWORK_ERROR = 0.127 / 0.67449;

enum { N_GROUPS = (FR_N_OP_KINDS + 1) * FR_N_TRUSTS };

struct weights {
    double *cost_s;              /* [n_costs] time that the tasks of a cost take */
    double compute_s;            /* all of them */
    double comm_s, comm_error_s; /* collectives, and the same times their errors */
};

static void weigh_tasks(struct weights *w, const struct fr__making *m)
{
    const struct fr_plan_view *v = fr_plan_view(m->plan);

    for (size_t i = 0; i < v->n_tasks; i++) {
        const struct fr_task *t = &v->tasks[i];
        double time_s = m->run->end_s[i] - m->run->start_s[i];

        if (t->kind == FR_TASK_COMPUTE) {
            w->cost_s[t->cost_id] += time_s;
            w->compute_s += time_s;
        }
    }
    for (size_t c = 0; c < v->n_collectives; c++) {
        const struct fr_collective *k = &v->collectives[c];
        bool is_fitted = k->has_cost && !m->options.rings_only;
        double weight = k->bytes;

        w->comm_s += weight;
        w->comm_error_s += weight * (is_fitted ? v->costs[k->cost_id].error_frac : NETWORK_ERROR);
    }
}

/* Variance of the compute part, whose share of the iteration is `share`. */
static double compute_variance(const struct weights *w, const struct fr_plan_view *v, double share)
{
    double common[N_GROUPS] = {0}, sum = 0;

    for (size_t i = 0; i < v->n_costs; i++) {
        const struct fr_cost *c = &v->costs[i];
        double part = w->cost_s[i] / w->compute_s * share * c->error_frac;

        if (!(w->cost_s[i] > 0))
            continue;
        common[(unsigned)c->kind * FR_N_TRUSTS + (unsigned)c->trust] += part;
        sum += part * part / 2;
    }
    for (unsigned g = 0; g < N_GROUPS; g++)
        sum += common[g] * common[g] / 2;
    return sum;
}

enum fr_status fr__cost_error(double *out, const struct fr__making *m, const struct fr_record *r,
                              struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(m->plan);
    double whole_s = r->compute_s + r->exposed_comm_s + r->bubble_s - r->input_wait_s;
    double variance = 0, network;
    bool is_corrected = fr__is_corrected(&m->correction);
    struct weights w = {.cost_s = calloc(v->n_costs + 1, sizeof(*w.cost_s))};

    if (!w.cost_s)
        return fr__fail_nomem(err);
    weigh_tasks(&w, m);
    if (is_corrected)
        variance = r->correction.error * r->correction.error;
    else if (whole_s > 0 && w.compute_s > 0)
        variance += compute_variance(&w, v, (whole_s - r->exposed_comm_s) / whole_s);
    network = w.comm_s > 0 ? w.comm_error_s / w.comm_s : NETWORK_ERROR;
    /* what measured steps leave of messages is in their correction */
    if (whole_s > 0 && !is_corrected)
        variance += pow(network * r->exposed_comm_s / whole_s, 2);
    *out = sqrt(variance);
    free(w.cost_s);
    return FR_OK;
}
