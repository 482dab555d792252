/* tests/support/model_case.h - a zoo model's step on the first GPUs of a machine, as a problem
 * for strategies. */
#ifndef FR_TESTS_SUPPORT_MODEL_CASE_H
#define FR_TESTS_SUPPORT_MODEL_CASE_H

#include "strategies/fastt/dpos.h"

enum { MODEL_CASE_DEVICES = 8 };

/* The problem points into the case, which must stay where it is. */
struct model_case {
    struct fr_topo *topo;
    struct fr_graph *graph;
    struct fr_cost_model *costs;
    struct fr_problem in;
    uint32_t devices[MODEL_CASE_DEVICES];
};

/* On a DGX-1; on another machine. Calibrated costs, sgd. Fails the test on errors. */
void model_case_open(struct model_case *c, const char *model, size_t n_devices, uint32_t batch);
void model_case_open_on(struct model_case *c, const char *topology, const char *model,
                        size_t n_devices, uint32_t batch);
void model_case_close(struct model_case *c);

/* The dag of n_replicas, and the machine as planners see it: rooms of a TiB, since the paper counts
 * all that a step makes at once. */
struct dag_case {
    struct model_case model;
    struct fr_plan *plan;
    struct fr__placer pl;
    struct fr__dag *dag;
    struct fr__dag_links links;
    uint32_t type[MODEL_CASE_DEVICES];
    uint64_t room_bytes[MODEL_CASE_DEVICES];
    struct fr__dpos_machine machine;
};

void dag_case_open(struct dag_case *c, const char *model, size_t n_devices, size_t n_replicas,
                   uint32_t batch);
void dag_case_close(struct dag_case *c);
/* The first operation of that name; none fails the test. */
uint32_t dag_case_op(const struct dag_case *c, const char *name);
#endif
