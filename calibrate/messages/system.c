/* calibrate/messages/system.c - the model of system.h for one node and one link, and the names of a
 * system's parts. */
#include "config.h"

#include "base/error.h"
#include "base/names.h"
#include "calibrate/messages/model.h"
#include "calibrate/messages/nodes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING_WAYS = 3 };

static const char *const parameter_names[FR_SYSTEM_PARAMETERS] = {"ll_base_s",
                                                                  "ll_hop_s",
                                                                  "ll_Bps",
                                                                  "ll128_base_s",
                                                                  "ll128_hop_s",
                                                                  "ll128_Bps",
                                                                  "simple_base_s",
                                                                  "simple_hop_s",
                                                                  "simple_Bps",
                                                                  "nvls_base_s",
                                                                  "nvls_Bps",
                                                                  "all_to_all_small_base_s",
                                                                  "all_to_all_small_hop_s",
                                                                  "all_to_all_small_Bps",
                                                                  "all_to_all_large_base_s",
                                                                  "all_to_all_large_hop_s",
                                                                  "all_to_all_large_Bps"};

static const char *const op_names[FR_N_SYSTEM_OPS] = {"all-reduce", "all-gather", "reduce-scatter",
                                                      "all-to-all"};
static const struct fr__name_list op_list = FR__NAMES(op_names);

const char *fr_system_op_name(enum fr_system_op op)
{
    return fr__name_of(&op_list, op);
}

const char *fr_system_parameter_name(size_t i)
{
    return i < FR_SYSTEM_PARAMETERS ? parameter_names[i] : NULL;
}

static const char *const way_names[FR_N_SYSTEM_WAYS] = {"tree_ll", "tree_ll128", "tree_simple",
                                                        "ring_ll", "ring_ll128", "ring_simple"};
static const struct fr__name_list way_list = FR__NAMES(way_names);
static const char *const way_parameter_names[FR_SYSTEM_WAY_PARAMETERS] = {
    "base_s", "far_hop_s", "near_hop_s", "Bps", "chunk_bytes", "chunk_Bps"};
static const char *const all_to_all_names[FR_SYSTEM_NODES_ALL_TO_ALL] = {
    "base_s", "hop_s", "Bps", "knee_bytes", "knee_power"};
static const char *const link_names[FR_SYSTEM_LINK_PARAMETERS] = {"latency_s", "Bps", "knee_bytes",
                                                                  "knee_power"};

const char *fr_system_way_name(enum fr_system_way way)
{
    return fr__name_of(&way_list, way);
}

const char *fr_system_way_parameter_name(enum fr_system_way way, size_t i)
{
    return i < fr__nodes_n_parameters(way) ? way_parameter_names[i] : NULL;
}

const char *fr_system_nodes_all_to_all_name(size_t i)
{
    return i < FR_SYSTEM_NODES_ALL_TO_ALL ? all_to_all_names[i] : NULL;
}

const char *fr_system_link_parameter_name(size_t i)
{
    return i < FR_SYSTEM_LINK_PARAMETERS ? link_names[i] : NULL;
}

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && strcmp(name + n - m, end) == 0;
}

struct fr__range fr__system_range(const char *name)
{
    if (ends(name, "Bps"))
        return (struct fr__range){1e5, 1e13};
    if (ends(name, "bytes"))
        return (struct fr__range){1, 1e12};
    if (ends(name, "power"))
        return (struct fr__range){0.05, 1};
    return (struct fr__range){1e-9, 1e-2};
}

bool fr__system_has_parameter(const struct fr_system_info *info, size_t i)
{
    if (i >= FR__NVLS_END)
        return info->has_all_to_all;
    return info->has_rings && (i < FR__RINGS_END || info->has_nvls);
}

void fr_system_free(struct fr_system *s)
{
    free(s);
}

const struct fr_system_info *fr_system_info(const struct fr_system *s)
{
    return &s->info;
}

/* t^-8, t in us. The soft minimum (a^-8 + b^-8)^(-1/8) is about the smaller one if they differ, and
 * a twelfth less if they are equal. */
static double inverse_8(double t)
{
    double r = 1e-6 / t, r2 = r * r, r4 = r2 * r2;

    return r4 * r4;
}

/* Sum of t^-8 over n_ways ways, each with a base, a hop and a bandwidth in p. */
static double ways(const double p[], unsigned n_ways, double steps, double bytes_a_step)
{
    double sum = 0;

    for (const double *w = p; w < p + n_ways * 3; w += 3)
        sum += inverse_8(w[0] + steps * w[1] + bytes_a_step * steps / w[2]);
    return sum;
}

static double invert(double sum)
{
    return 1e-6 / sqrt(sqrt(sqrt(sum)));
}

static double inside_s(const struct fr_system_info *info, const struct fr_system_call *call)
{
    const double *p = info->parameters;
    double n = call->n_gpus, bytes = fmax(call->bytes, 1), steps = n - 1, sum;

    if (call->op == FR_SYSTEM_ALL_TO_ALL)
        return info->has_all_to_all ? invert(ways(p + FR__NVLS_END, 2, steps, bytes / n)) : 0;
    if (!info->has_rings)
        return 0;
    if (call->op == FR_SYSTEM_ALL_REDUCE)
        steps *= 2;
    sum = ways(p, RING_WAYS, steps, bytes / n);
    /* our assumption, from the rows: two H100s reach 332 GB/s, eight reach 352 with int8 and 445
     * with fp16 */
    if (info->has_nvls && call->op == FR_SYSTEM_ALL_REDUCE && call->n_gpus > 2 &&
        call->is_summed_in_switch)
        sum += inverse_8(p[FR__RINGS_END] + bytes / p[FR__RINGS_END + 1]);
    return invert(sum);
}

static double at_knots(const struct fr_system_correction *c, double log2_bytes)
{
    double place = fmin(fmax(log2_bytes - c->first, 0), c->n_knots - 1.0);
    unsigned low = (unsigned)place, high = low + 1 < c->n_knots ? low + 1 : low;

    return 1e-3 *
           (c->thousandths[low] + (place - low) * (c->thousandths[high] - c->thousandths[low]));
}

double fr__system_correction(const struct fr_system_info *info, const struct fr_system_call *call)
{
    const struct fr_system_correction *fewer = NULL, *more = NULL;
    double x = log2(fmax(call->bytes, 1)), part;

    for (size_t i = 0; i < info->n_corrections; i++) {
        const struct fr_system_correction *c = &info->corrections[i];

        if (c->op != call->op)
            continue;
        if (c->n_gpus <= call->n_gpus && (!fewer || c->n_gpus > fewer->n_gpus))
            fewer = c;
        if (c->n_gpus >= call->n_gpus && (!more || c->n_gpus < more->n_gpus))
            more = c;
    }
    if (!fewer && !more)
        return 0;
    if (!fewer || !more || fewer == more)
        return at_knots(fewer ? fewer : more, x);
    part = log((double)call->n_gpus / fewer->n_gpus) / log((double)more->n_gpus / fewer->n_gpus);
    return (1 - part) * at_knots(fewer, x) + part * at_knots(more, x);
}

bool fr_system_covers(const struct fr_system *s, enum fr_system_op op, unsigned n_nodes)
{
    return (n_nodes > 1 ? s->info.nodes.held_out : s->info.held_out)[op].n > 0;
}

double fr_system_time_s(const struct fr_system *s, const struct fr_system_call *call)
{
    if (call->n_gpus < 2)
        return 0;
    if (call->n_nodes > 1)
        return fr__nodes_time_s(&s->info.nodes, call);
    return inside_s(&s->info, call) * exp(fr__system_correction(&s->info, call));
}

double fr_system_send_s(const struct fr_system *s, size_t link, double bytes)
{
    return fr__knee_s(s->info.links[link].parameters, fmax(bytes, 1));
}

enum fr_status fr_system_find_link(const struct fr_system *s, const char *name, struct fr_loc loc,
                                   size_t *out, struct fr_error *err)
{
    const char *names[FR_SYSTEM_LINKS];
    char hint[160];

    for (size_t i = 0; i < s->info.n_links; i++) {
        names[i] = s->info.links[i].name;
        if (strcmp(names[i], name) == 0) {
            *out = i;
            return FR_OK;
        }
    }
    return fr__fail(err, FR_ENOENT, loc, "'%.60s' has no messages over '%.60s'%s", s->info.name,
                    name, fr__did_you_mean(name, names, s->info.n_links, hint, sizeof(hint)));
}

/* ---- what a system is judged by ---- */

const char *fr_system_class_name(const struct fr_system *s, size_t i, char *buf, size_t n)
{
    const struct fr_system_info *info = &s->info;
    size_t op = i % FR_N_SYSTEM_OPS;

    if (i >= 2 * FR_N_SYSTEM_OPS) {
        if (i - 2 * FR_N_SYSTEM_OPS >= info->n_links)
            return NULL;
        snprintf(buf, n, "send: %s", info->links[i - 2 * FR_N_SYSTEM_OPS].name);
        return buf;
    }
    if (fr_system_class_misses(s, i)->n == 0)
        return NULL;
    snprintf(buf, n, "%s%s", op_names[op], i >= FR_N_SYSTEM_OPS ? ", nodes" : "");
    return buf;
}

const struct fr_misses *fr_system_class_misses(const struct fr_system *s, size_t i)
{
    if (i < FR_N_SYSTEM_OPS)
        return &s->info.held_out[i];
    if (i < 2 * FR_N_SYSTEM_OPS)
        return &s->info.nodes.held_out[i - FR_N_SYSTEM_OPS];
    return &s->info.links[i - 2 * FR_N_SYSTEM_OPS].held_out;
}
