/* tests/bench/simgrid_common.h - what the SimGrid programs share: the model, CPU time, one
 * result line. */
#ifndef FR_TESTS_BENCH_SIMGRID_COMMON_H
#define FR_TESTS_BENCH_SIMGRID_COMMON_H

#include "tests/bench/bench.h"

#include <simgrid/s4u.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

/* Pure fluid max-min sharing with equal weights: no bandwidth or latency factors, no weight by
 * round-trip time, no cross traffic, no window. Full updates: the default, Lazy, is inexact when
 * links have latency and flows share. */
inline void use_fluid_model(const char *stack_KiB)
{
    for (const char *option : {"network/model:CM02", "network/weight-S:0", "network/crosstraffic:0",
                               "network/TCP-gamma:1e18", "network/optim:Full",
                               "maxmin/precision:1e-9", "surf/precision:1e-12"})
        sg4::Engine::set_config(option);
    sg4::Engine::set_config(std::string("contexts/stack-size:") + stack_KiB);
}

inline std::vector<sg4::Host *> hosts_of(sg4::Engine &e)
{
    std::vector<sg4::Host *> hosts(e.get_host_count());

    for (size_t i = 0; i < hosts.size(); i++)
        hosts[i] = e.host_by_name("h" + std::to_string(i));
    return hosts;
}

/* Opens a CSV file and skips its header. */
inline FILE *open_csv(const char *path)
{
    FILE *f = std::fopen(path, "r");
    int c;

    if (!f) {
        std::perror(path);
        std::exit(1);
    }
    while ((c = std::getc(f)) != EOF && c != '\n')
        continue;
    return f;
}

inline void write_times(const char *path, const std::vector<double> &start_s,
                        const std::vector<double> &finish_s)
{
    FILE *f = std::fopen(path, "w");

    if (!f) {
        std::perror(path);
        std::exit(1);
    }
    std::fprintf(f, "id,start,finish\n");
    for (size_t i = 0; i < start_s.size(); i++)
        std::fprintf(f, "%zu,%.9f,%.9f\n", i, start_s[i], finish_s[i]);
    std::fclose(f);
}

/* Prints the result line and leaves at once: taking SimGrid down takes long and tells nothing. */
[[noreturn]] inline void report(const char *job, size_t n, double makespan_s, double run_cpu_s)
{
    std::printf("%-28s n=%zu makespan_s=%.9f run_cpu_s=%.3f rate=%.0f peak_MB=%.0f\n", job, n,
                makespan_s, run_cpu_s, static_cast<double>(n) / run_cpu_s, bench_peak_MB());
    std::fflush(stdout);
    std::_Exit(0);
}

#endif
