/* calibrate/system.c - evaluates the model of system.h. */
#include "config.h"

#include "calibrate/system_model.h"

#include <math.h>
#include <stdlib.h>

/* Places in parameters[]. Each way of a ring has base, hop and bandwidth. */
enum { RING_WAYS = 3, NVLS = 9, ALL_TO_ALL = 11 };

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

const char *fr_system_op_name(enum fr_system_op op)
{
    return (unsigned)op < FR_N_SYSTEM_OPS ? op_names[op] : "unknown";
}

const char *fr_system_parameter_name(size_t i)
{
    return i < FR_SYSTEM_PARAMETERS ? parameter_names[i] : NULL;
}

static bool is_rate(size_t i)
{
    return i == 2 || i == 5 || i == 8 || i == NVLS + 1 || i == ALL_TO_ALL + 2 ||
           i == ALL_TO_ALL + 5;
}

bool fr__system_has_parameter(const struct fr_system_info *info, size_t i)
{
    return info->has_nvls || i < NVLS || i >= ALL_TO_ALL;
}

double fr__system_parameter_low(size_t i)
{
    return is_rate(i) ? 1e8 : 1e-9;
}

double fr__system_parameter_high(size_t i)
{
    return is_rate(i) ? 1e13 : 1e-2;
}

void fr_system_free(struct fr_system *s)
{
    free(s);
}

const struct fr_system_info *fr_system_info(const struct fr_system *s)
{
    return &s->info;
}

/* t^-8, t in us. (a^-8 + b^-8)^(-1/8) is the smaller where they differ, a twelfth less where they are
 * equal. */
static double inverse_8(double t)
{
    double r = 1e-6 / t, r2 = r * r, r4 = r2 * r2;

    return r4 * r4;
}

/* Of n_ways ways side by side, each of base, hop and bandwidth; a sum for invert(). */
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

double fr_system_time_s(const struct fr_system *s, const struct fr_system_call *call)
{
    const double *p = s->info.parameters;
    double n = call->n_gpus, bytes = fmax(call->bytes, 1), steps = n - 1, sum;

    if (call->n_gpus < 2)
        return 0;
    if (call->op == FR_SYSTEM_ALL_TO_ALL)
        return invert(ways(p + ALL_TO_ALL, 2, steps, bytes / n));
    if (call->op == FR_SYSTEM_ALL_REDUCE)
        steps *= 2;
    sum = ways(p, RING_WAYS, steps, bytes / n);
    /* our assumption from the rows: two H100s reach 332 GB/s, eight with int8 352, with fp16 445 */
    if (s->info.has_nvls && call->op == FR_SYSTEM_ALL_REDUCE && call->n_gpus > 2 &&
        call->is_summed_in_switch)
        sum += inverse_8(p[NVLS] + bytes / p[NVLS + 1]);
    return invert(sum);
}
