/* tests/support/dpos_case.h - dags and machines made by hand or at random, and checks that hold for
 * any plan. */
#ifndef FR_TESTS_SUPPORT_DPOS_CASE_H
#define FR_TESTS_SUPPORT_DPOS_CASE_H

#include "base/rng.h"
#include "strategies/fastt/dpos.h"

enum { DPOS_CASE_DEVICES = 8 };

/* n_types is the number of devices: each has costs of its own. Row i is of op i. */
struct dpos_case {
    struct fr__dag dag;
    struct fr__dpos_machine m;
    uint32_t type[DPOS_CASE_DEVICES];
    uint64_t room_bytes[DPOS_CASE_DEVICES];
    double latency_s[DPOS_CASE_DEVICES * DPOS_CASE_DEVICES];
    double s_per_byte[DPOS_CASE_DEVICES * DPOS_CASE_DEVICES];
};

/* Ops of no cost, no bytes and no edges; devices with all the room there is, a second a byte. */
void dpos_case_init(struct dpos_case *c, size_t n_ops, size_t n_devices, size_t max_edges);
void dpos_case_fini(struct dpos_case *c);
/* Edges in any order, then index. */
void dpos_case_edge(struct dpos_case *c, uint32_t src, uint32_t dst, uint64_t bytes);
void dpos_case_index(struct dpos_case *c);
double *dpos_case_cost(struct dpos_case *c, uint32_t op); /* [n_devices] */

struct dpos_random {
    size_t n_ops, n_devices;
    double edges_an_op;
    uint64_t max_cost, max_bytes; /* drawn from 0..max, whole seconds */
    bool is_heterogeneous;
};
void dpos_case_random(struct dpos_case *c, const struct dpos_random *r, uint64_t seed);

/* Asserts: inputs are there before an op begins, no two ops at once on a device, no device over its
 * room, groups together, order sorted by start. */
void dpos_case_check(const struct dpos_case *c, const struct fr__dpos_result *r);

#endif
