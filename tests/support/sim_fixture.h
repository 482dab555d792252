/* tests/support/sim_fixture.h - small clusters and plans by hand, for the tests and benchmarks
 * of sim/. */
#ifndef FR_TESTS_SUPPORT_SIM_FIXTURE_H
#define FR_TESTS_SUPPORT_SIM_FIXTURE_H

#include "sim/sim.h"

/* n GPUs h0 .. on one switch; every link direction has bw_Bps and latency_s. */
struct fr_topo *fixture_star(uint32_t n, double bw_Bps, double latency_s);
/* leaves x per_leaf GPUs and `spines` spines, all links bw_Bps and latency_s. */
struct fr_topo *fixture_fat_tree(uint32_t leaves, uint32_t per_leaf, uint32_t spines, double bw_Bps,
                                 double latency_s);
/* Two GPUs a, b with n_links duplex cables' worth of one link. */
struct fr_topo *fixture_pair(double bw_Bps, double latency_s);

uint32_t fixture_cost(struct fr_plan *p, double s);
uint32_t fixture_launched_cost(struct fr_plan *p, double s, double launch_s);
uint32_t fixture_compute(struct fr_plan *p, uint32_t device, uint32_t cost, int32_t priority);
/* A send and a receive on the free stream, both after `after` (FR_NONE: at once); returns the
 * receive. */
uint32_t fixture_message(struct fr_plan *p, uint32_t src, uint32_t dst, double bytes,
                         uint32_t after);
/* One collective over the n first devices on the communication stream; members[] gets the tasks. */
uint32_t fixture_collective(struct fr_plan *p, enum fr_collective_kind kind, uint32_t n,
                            double bytes, uint32_t members[]);
/* The same with a cost of its own, of which `bytes_s` grow with the bytes. */
uint32_t fixture_priced_collective(struct fr_plan *p, enum fr_collective_kind kind, uint32_t n,
                                   double bytes, double s, double bytes_s, uint32_t members[]);
/* The two die with the program: finish and simulate must succeed. */
void fixture_finish(struct fr_plan *p);
struct fr_run *fixture_run(struct fr_plan *p, const struct fr_run_options *o);

/* The first part of the result in which two runs of a plan differ by a bit, whoever worked it
 * out (the searches that the stats count apart); NULL: none. */
const char *fixture_difference(const struct fr_plan *p, const struct fr_run *a,
                               const struct fr_run *b);

/* The task graph of tests/golden/simgrid or ../shared/data/simgrid/dag: see gen_simgrid.py.
 * *compute: task of each row, owned by the caller. NULL when tasks_path does not exist. */
struct fr_plan *fixture_dag(const struct fr_topo *topo, const char *tasks_path,
                            const char *edges_path, uint32_t **compute, uint32_t *n);
#endif
