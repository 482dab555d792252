/* calibrate/cost/collective.c - the cost of a collective, from the fitted system of its
 * machines. */
#include "config.h"

#include "calibrate/cost/model.h"
#include "calibrate/messages/model.h"
#include "calibrate/messages/nodes.h"
#include "calibrate/cost/borrowed.h"

#include <math.h>

/* How much larger the error is for a number of GPUs that was not measured. Fits to 8 GPUs alone, on
 * 4 GPUs of A100, H100 and B200 boards (ai-dynamo/aiconfigurator, as shipped): medians of 0.6 to 4
 * times those held out of fits to 2, 4 and 8, by operation; 1.3 in the middle. */
static const double MOVED = 2;

/* The measured system, and the collective that is asked for. */
struct asked {
    const struct fr_system *system;
    const struct fr_system_call *call;
    enum fr_system_way way; /* over several machines, except for an all-to-all */
};

/* Turns the correction inside a machine at other bytes to that at the call's own. It has no slope:
 * what it corrects is partly start and partly bytes, as the model is. */
static double fixed_correction(const struct asked *a, const struct fr_system_call *at)
{
    const struct fr_system_info *info = fr_system_info(a->system);

    if (a->call->n_nodes > 1)
        return 1;
    return exp(fr__system_correction(info, a->call) - fr__system_correction(info, at));
}

static double time_s(const struct asked *a, double bytes)
{
    struct fr_system_call call = *a->call;

    call.bytes = bytes;
    if (a->way == FR_N_SYSTEM_WAYS)
        return fr_system_time_s(a->system, &call) * fixed_correction(a, &call);
    return fr__nodes_way_s(a->way, fr_system_info(a->system)->nodes.ways[a->way], &call);
}

/* The part of the time that the bytes account for: bytes * (d time / d bytes). Inside a machine
 * each way of the model is linear in the bytes, and their soft minimum is homogeneous of degree 1
 * in all its terms, so that by Euler this is their part. Over several machines the way is kept
 * fixed, because there is no slope where NCCL changes from one way to another. */
static double bytes_part_s(const struct asked *a)
{
    const double step = 1e-4, bytes = a->call->bytes;
    double slope_s = (time_s(a, bytes * exp(step)) - time_s(a, bytes * exp(-step))) / (2 * step);

    return fmin(fmax(slope_s, 0), time_s(a, bytes));
}

/* Whether the fit covers so many machines; the rules are those of fr_cost_collective. */
static bool nodes_cover(const struct fr_system_nodes *nodes, const struct fr_system_call *call)
{
    unsigned most = nodes->most_nodes;

    if (most < 2 || (uint64_t)call->n_gpus * most != (uint64_t)call->n_nodes * nodes->most_gpus)
        return false;
    return call->n_nodes <= most || (most > 2 && call->n_nodes / FR_MOST_NODES_BEYOND <= most);
}

static bool covers(const struct fr_system *s, const struct fr_system_call *call)
{
    const struct fr_system_info *info = fr_system_info(s);

    if (call->n_gpus < 2 || !fr_system_covers(s, call->op, call->n_nodes))
        return false;
    return call->n_nodes > 1 ? nodes_cover(&info->nodes, call) : call->n_gpus <= info->most_gpus;
}

/* Whether calls of just so many GPUs, or on so many machines, were measured. */
static bool is_measured(const struct fr_system_info *info, const struct fr_system_call *call)
{
    if (call->n_nodes > 1)
        return call->n_nodes <= info->nodes.most_nodes;
    return info->gpu_counts == 0 || call->n_gpus > 64 ||
           (info->gpu_counts >> (call->n_gpus - 1) & 1);
}

/* The error on the rows held out; of a number of GPUs that nobody measured MOVED times that. */
static double error_frac(const struct fr_system_info *info, const struct fr_system_call *call)
{
    const struct fr_misses *held_out = call->n_nodes > 1 ? info->nodes.held_out : info->held_out;
    double error = fr__error_of_median(held_out[call->op].median);

    return call->n_nodes > 1 || is_measured(info, call) ? error : MOVED * error;
}

bool fr_cost_collective(const struct fr_cost_model *m, uint32_t system,
                        const struct fr_system_call *call, struct fr_cost *out)
{
    const struct fr_system *s = fr__cost_model_system(m, system);
    const struct fr_system_info *info = s ? fr_system_info(s) : NULL;
    struct asked a = {.system = s, .call = call, .way = FR_N_SYSTEM_WAYS};
    bool is_over_nodes = call->n_nodes > 1;

    if (!info || !covers(s, call))
        return false;
    if (is_over_nodes && call->op != FR_SYSTEM_ALL_TO_ALL)
        a.way = fr__nodes_choose(&info->nodes, call);
    *out = (struct fr_cost){
        .mean_s = fr_system_time_s(s, call),
        .error_frac = error_frac(info, call),
        .bytes_s = bytes_part_s(&a),
        .kind = FR_N_OP_KINDS,
        .trust = is_measured(info, call) ? FR_TRUST_CALIBRATED : FR_TRUST_TRANSFERRED,
    };
    return out->mean_s > 0;
}
