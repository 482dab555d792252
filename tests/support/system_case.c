/* tests/support/system_case.c - makes systems with known parameters, for fits to find again. */
#include "config.h"

#include "tests/support/system_case.h"

#include <stdio.h>
#include <unistd.h>

double system_case_s(const struct fr_system *s, enum fr_system_op op, unsigned n, double bytes,
                     bool is_summed)
{
    return fr_system_time_s(s, &(struct fr_system_call){op, n, bytes, is_summed, 1});
}

struct fr_system system_case_one_node(bool has_nvls)
{
    struct fr_system s = {
        .info = {.most_gpus = 8,
                 .n_fitted = 1,
                 .has_rings = true,
                 .has_all_to_all = true,
                 .parameters = {7e-6, 0.9e-6, 30e9, 12e-6, 1.2e-6, 150e9, 30e-6, 2e-6, 300e9, 0, 0,
                                6e-6, 0.3e-6, 60e9, 20e-6, 0.2e-6, 250e9}}};

    if (has_nvls) {
        s.info.has_nvls = true;
        s.info.parameters[9] = 25e-6;
        s.info.parameters[10] = 400e9;
    }
    return s;
}

struct fr_system_nodes system_case_nodes(void)
{
    struct fr_system_nodes nodes = {.choice = {100e9, 100e9, 100e9, false}};

    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
        nodes.has_way[w] = true;
    return nodes;
}

struct fr_system_call system_case_over_nodes(enum fr_system_op op, unsigned n, unsigned nodes,
                                             double bytes)
{
    return (struct fr_system_call){.op = op, .n_gpus = n, .n_nodes = nodes, .bytes = bytes};
}

const char *system_case_path(void)
{
    static char path[64];

    snprintf(path, sizeof(path), "test_calibrate_system.%ld", (long)getpid());
    return path;
}
