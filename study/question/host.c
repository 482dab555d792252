/* study/question/host.c - the host's share of a step; see host.h. */
#include "config.h"

#include "study/question/host.h"
#include "study/question/software.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* Runs until the lead of the hosts stays the same: two where the host waits once, more where
 * launches and compute are about as long. */
enum { MOST_RUNS = 8 };

/* Parameter tensors to each op that updates some. */
static double tensors_an_update(const struct fr_graph *g)
{
    size_t n_tensors = 0, n_updates = 0;

    for (size_t i = 0; i < g->n_ops; i++) {
        n_tensors += g->ops[i].n_params;
        n_updates += g->ops[i].phase == FR_PHASE_UPDATE;
    }
    return n_updates > 0 ? (double)n_tensors / (double)n_updates : 1;
}

/* is_summed: gradients may be, over GPUs. */
static unsigned syncs_of(const struct fr__making *m, bool is_summed)
{
    enum fr_dtype dtype = m->setting->graph->dtype;
    unsigned syncs = m->question->host_syncs;

    /* bf16 has the range of fp32, so nobody scales its loss */
    if ((syncs & FR_HOST_SYNC_SCALER) && (dtype == FR_AMP || dtype == FR_FP16))
        syncs |= FR_HOST_SYNC_NORM;
    if ((syncs & FR_HOST_SYNC_SUM) && is_summed)
        syncs |= FR_HOST_SYNC_NORM;
    return syncs & (FR_HOST_SYNC_LOSS | FR_HOST_SYNC_MICRO | FR_HOST_SYNC_NORM | FR_HOST_SYNC_STEP);
}

/* One iteration by itself begins as after a wait at the end of a step. */
static bool is_as_without(const struct fr__making *m)
{
    return syncs_of(m, m->n_devices > 1) == FR_HOST_SYNC_STEP && m->question->iterations < 2;
}

/* How many GPUs a process drives, the most of any. Machines' GPUs stand side by side. */
static size_t gpus_a_process(const struct fr__making *m)
{
    const struct fr_topo *t = m->setting->topo;
    size_t n = 0, most = 1;

    for (size_t i = 0; m->question->host_process == FR_PROCESS_MACHINE && i < m->n_devices; i++) {
        uint32_t machine = t->devices[m->devices[i]].machine;

        n = i > 0 && t->devices[m->devices[i - 1]].machine == machine ? n + 1 : 1;
        most = n > most ? n : most;
    }
    return most;
}

void fr__host_choose(struct fr__making *m)
{
    const struct fr_question *q = m->question;
    double speed = q->host_speed > 0 ? q->host_speed : 1;
    size_t n_gpus = gpus_a_process(m);

    if (!fr__has_host_op(q) && !(q->host_step_s > 0) && !(q->host_speed > 0) && n_gpus < 2 &&
        (!(q->host_syncs & FR_HOST_SYNC_GIVEN) || is_as_without(m)))
        return;
    m->host = (struct fr_host){.slowness = (double)n_gpus / speed,
                               .syncs = syncs_of(m, m->n_devices > 1)};
    for (unsigned i = 0; i < FR_N_HOST_WORK; i++)
        m->host.op_s[i] = q->host_op_s[i];
    if (q->is_host_op_by_part)
        m->host.op_s[FR_HOST_UPDATE] *= tensors_an_update(m->setting->graph);
    m->host.step_s = fmax(q->host_step_s, 0) / speed;
    m->options.host = &m->host;
}

/* Layers with an op that uses parameters of another op of the layer. is_recurrent: [n_layers]. */
static void find_recurrent(const struct fr_graph *g, bool is_recurrent[])
{
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (e->tensor == FR_NONE && e->bytes > 0 && g->ops[e->src].layer == g->ops[e->dst].layer)
            is_recurrent[g->ops[e->src].layer] = true;
    }
}

/* Marks the ops inside calls: of a recurrent layer, all but the first of each phase. */
static enum fr_status mark_inside(struct fr__making *m, struct fr_error *err)
{
    const struct fr_graph *g = fr_plan_view(m->plan)->graph;
    bool *is_recurrent, *has_begun;

    if (!g || !m->options.host || !(m->host.op_s[0] > 0))
        return FR_OK;
    is_recurrent = calloc(g->n_layers + 1, sizeof(*is_recurrent));
    has_begun = calloc((g->n_layers + 1) * FR_N_PHASES, sizeof(*has_begun));
    m->is_inside = calloc(g->n_ops + 1, sizeof(*m->is_inside));
    if (is_recurrent && has_begun && m->is_inside) {
        find_recurrent(g, is_recurrent);
        for (size_t i = 0; i < g->n_ops; i++) {
            const struct fr_op *op = &g->ops[i];
            bool *begun = &has_begun[(size_t)op->layer * FR_N_PHASES + op->phase];

            if (is_recurrent[op->layer] && op->phase != FR_PHASE_UPDATE) {
                m->is_inside[i] = *begun;
                *begun = true;
            }
        }
        m->host.is_inside = m->is_inside;
    }
    free(is_recurrent);
    free(has_begun);
    return m->host.is_inside ? FR_OK : fr__fail_nomem(err);
}

/* The lead of each host at the end of the run. Returns the most that one has changed, seconds. */
static double take_lead(struct fr__making *m)
{
    double change_s = 0;

    for (size_t i = 0; i < m->n_devices; i++) {
        uint32_t d = m->devices[i];
        double lead_s = fmax(m->run->iteration_s - m->run->devices[d].host_s, 0);

        change_s = fmax(change_s, fabs(lead_s - m->ahead_s[d]));
        m->ahead_s[d] = lead_s;
    }
    return change_s;
}

enum fr_status fr__host_run(struct fr__making *m, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(m->plan);
    bool is_steady = m->options.host && (m->question->host_syncs & FR_HOST_SYNC_GIVEN) &&
                     !(m->host.syncs & FR_HOST_SYNC_STEP) && v->n_iterations < 2;

    if (m->options.host)
        m->host.syncs = syncs_of(m, v->n_collectives > 0);
    FR_TRY(mark_inside(m, err));
    FR_TRY(fr_simulation_run(m->simulation, m->plan, &m->options, &m->run, err));
    if (!is_steady)
        return FR_OK;
    m->ahead_s = calloc(v->topo->n_devices + 1, sizeof(*m->ahead_s));
    if (!m->ahead_s)
        return fr__fail_nomem(err);
    for (unsigned i = 1; i < MOST_RUNS; i++) {
        struct fr_run *again;

        if (m->run->is_stopped || take_lead(m) <= 1e-6 * m->run->iteration_s)
            break;
        m->host.ahead_s = m->ahead_s;
        FR_TRY(fr_simulation_run(m->simulation, m->plan, &m->options, &again, err));
        fr_run_free(m->run);
        m->run = again;
    }
    return FR_OK;
}

/* ---- input ---- */

/* Pictures in colour. Those of small data sets (MNIST, CIFAR) are kept as pixels, so that nothing
 * is decoded. */
static bool reads_images(const struct fr_graph *g)
{
    enum { LEAST_SIDE = 128 };

    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_tensor *t = &g->tensors[g->ops[i].first_tensor];

        if (g->ops[i].phase == FR_PHASE_INPUT && g->ops[i].n_tensors == 1 && t->n_dims == 4 &&
            t->dims[1] == 3 && t->dims[2] >= LEAST_SIDE)
            return true;
    }
    return false;
}

double fr__decoding_cores(const struct fr__making *m, uint32_t device)
{
    const struct fr_topo *t = m->setting->topo;
    uint32_t cpu = fr_topo_host_of(t, device);

    if (!(m->question->decode_rate > 0) || m->question->input_rate > 0 ||
        !reads_images(m->setting->graph))
        return 0;
    if (m->question->host_cores > 0)
        return m->question->host_cores;
    return cpu == FR_NONE ? 0 : t->types[t->devices[cpu].type].n_sms;
}

double fr__input_s(const struct fr__making *m)
{
    const struct fr_topo *t = m->setting->topo;
    double longest_s = 0;

    for (size_t machine = 0; m->n_devices > 0 && machine < t->n_machines; machine++) {
        double rate = m->question->input_rate;
        size_t n = 0, one = 0;

        for (size_t i = 0; i < m->n_devices; i++)
            if (t->devices[m->devices[i]].machine == machine) {
                one = i;
                n++;
            }
        if (n > 0 && !(rate > 0))
            rate = fr__decoding_cores(m, m->devices[one]) * m->question->decode_rate;
        if (n > 0 && rate > 0)
            longest_s =
                fmax(longest_s, (double)m->global_batch * (double)n / (double)m->n_devices / rate);
    }
    return longest_s;
}

double fr__with_input(const struct fr__making *m, double computed_s)
{
    return fmax(computed_s, fr__input_s(m));
}
