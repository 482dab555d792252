/* collectives/nccl/tuner.h - NCCL's cost table: what it believes an algorithm and protocol
 * take, and which it chooses.
 *
 * Source:  NVIDIA/nccl src/graph/tuning.cc and src/enqueue.cc of 2.18.6, 2.21.5, 2.23 to 2.30.7.
 *          Blocks of older versions: constants.c.
 *          time = latency + bytes / bandwidth; the table has a latency and a bandwidth for each
 *          collective, algorithm and protocol.
 * Ignores: CollNet plug-ins, tuner plug-ins, symmetric-memory kernels, several operations in a
 * group.
 */
#ifndef FR_COLLECTIVES_NCCL_TUNER_H
#define FR_COLLECTIVES_NCCL_TUNER_H

#include "plan/plan.h"
#include "collectives/nccl/comm.h"

/* In the order in which NCCL tries them: the first of equals wins. */
enum fr__nccl_algorithm {
    FR__NCCL_ALGO_TREE,
    FR__NCCL_ALGO_RING,
    FR__NCCL_ALGO_NVLS,
    FR__NCCL_ALGO_NVLS_TREE,
    FR__NCCL_ALGO_PAT,
    FR__NCCL_N_ALGORITHMS
};
const char *fr__nccl_algorithm_name(enum fr__nccl_algorithm a); /* "NVLSTree" */

enum fr__nccl_protocol { FR__NCCL_LL, FR__NCCL_LL128, FR__NCCL_SIMPLE, FR__NCCL_N_PROTOCOLS };
const char *fr__nccl_protocol_name(enum fr__nccl_protocol p); /* "LL128" */
/* FR__NCCL_N_PROTOCOLS: unknown. Upper and lower case are one. */
enum fr__nccl_protocol fr__nccl_protocol_parse(const char *name);

struct fr__nccl_entry {
    double latency_us;
    double bw_GBps; /* of the algorithm: bytes / time; 0: not for this communicator */
};

struct fr__nccl_model {
    struct fr__nccl_comm comm;
    /* All-to-all is none of NCCL's collectives: its rows are 0. */
    struct fr__nccl_entry of[FR_N_COLLECTIVE_KINDS][FR__NCCL_N_ALGORITHMS][FR__NCCL_N_PROTOCOLS];
    /* of a channel; 0: always as many as there can be */
    unsigned max_threads[FR__NCCL_N_ALGORITHMS][FR__NCCL_N_PROTOCOLS];
};

/* The supported versions, oldest first; 0 past the end. */
unsigned fr__nccl_version_at(size_t i);
#define FR__NCCL_VERSION "2.30" /* where nobody says which */

/* The version whose constants a text "2.21" or "2.21.5" has; 0: before 2.5, or no version. Those
 * before 2.18 have its constants (constants.c). */
unsigned fr__nccl_version_parse(const char *text);
/* "2.5" for "2.7.3", of static storage; NULL: no version. */
const char *fr__nccl_version_name(const char *text);

void fr__nccl_model_make(struct fr__nccl_model *m, const struct fr__nccl_comm *comm);

/* Microseconds as NCCL estimates them; INFINITY: not for this communicator. bytes: the larger of
 * what a rank sends and receives in all (as in struct fr_collective). */
double fr__nccl_time_us(const struct fr__nccl_model *m, enum fr_collective_kind kind,
                        enum fr__nccl_algorithm a, enum fr__nccl_protocol p, double bytes);

struct fr__nccl_choice {
    enum fr__nccl_algorithm algorithm;
    enum fr__nccl_protocol protocol;
    unsigned channels, threads; /* a channel is a ring or a tree */
    double time_us;
};
/* What NCCL takes of all, or of the algorithm (FR__NCCL_N_ALGORITHMS: any) and protocol
 * (FR__NCCL_N_PROTOCOLS: any) that it is told to take. false: none of them. */
bool fr__nccl_choose(const struct fr__nccl_model *m, enum fr_collective_kind kind, double bytes,
                     enum fr__nccl_algorithm a, enum fr__nccl_protocol p,
                     struct fr__nccl_choice *out);

/* The same of all algorithms; can_switch_sum: false leaves out NVLS, which needs a number format
 * that the switch can add (src/transport/nvls.cc, ncclNvlsSupported). */
bool fr__nccl_choose_for(const struct fr__nccl_model *m, enum fr_collective_kind kind, double bytes,
                         enum fr__nccl_protocol p, bool can_switch_sum,
                         struct fr__nccl_choice *out);

/* Least seconds of an all-reduce over machines by a Simple tree, where a channel's block of threads
 * does its sums first and its copies afterwards (before 2.10); 0: the links alone decide. No part
 * of the table, so NCCL chooses without it. */
double fr__nccl_tree_in_turn_s(const struct fr__nccl_model *m, double bytes);

/* Latency of one hop by a protocol, us, as the table has it. */
enum fr__nccl_hop { FR__NCCL_HOP_NVLINK, FR__NCCL_HOP_PCI, FR__NCCL_HOP_NET, FR__NCCL_N_HOPS };
double fr__nccl_hop_us(unsigned version, enum fr__nccl_hop hop, enum fr__nccl_algorithm a,
                       enum fr__nccl_protocol p);
double fr__nccl_base_us(unsigned version, enum fr__nccl_algorithm a, enum fr__nccl_protocol p);
/* Bytes on the wire for each byte of data: 2, 16/15, 1 (src/device/prims_ll.h: 4 of 8 bytes are
 * data; prims_ll128.h: 120 of 128). */
double fr__nccl_wire_factor(enum fr__nccl_protocol p);

#endif
