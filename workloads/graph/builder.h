/* workloads/graph/builder.h - what a graph builder holds, and what is private in a graph. */
#ifndef FR_WORKLOADS_GRAPH_BUILDER_H
#define FR_WORKLOADS_GRAPH_BUILDER_H

#include "base/arena.h"
#include "base/hash.h"
#include "workloads/workloads.h"

/* Limits of a graph. No single size passes 2^53 (exact in a double), no sum 2^60, so that sums and
 * small multiples of them stay inside 64 bits. */
#define FR__MAX_OPS ((size_t)1 << 24)
#define FR__MAX_TENSORS ((size_t)1 << 26)
#define FR__MAX_EDGES ((size_t)1 << 27)
#define FR__MAX_SAMPLES ((size_t)1 << 27)
#define FR__MAX_BYTES (UINT64_C(1) << 53)
#define FR__MAX_SUM_BYTES (UINT64_C(1) << 60)
#define FR__MAX_FLOPS 1e21
#define FR__MAX_TIME_S 1e9
#define FR__MAX_BATCH (UINT32_C(1) << 31)
#define FR__MAX_SEQ_LEN (UINT32_C(1) << 31)
#define FR__MAX_PARAMS 1000000u /* parameter tensors of one op */
#define FR__MAX_ELEM_BYTES 16u

/* `bytes` of an edge that ties weights, until the graph is finished and takes the owner's. */
#define FR__TIE UINT64_MAX

struct fr_graph_builder {
    struct fr__arena *arena; /* strings; the finished graph takes it over */
    struct fr_op *ops;       /* layer: number in `layers`, in order of coming */
    struct fr_tensor *tensors;
    struct fr_edge *edges;
    struct fr_sample *samples;
    size_t n_ops, n_tensors, n_edges, n_samples;
    size_t cap_ops, cap_tensors, cap_edges, cap_samples;
    struct fr__strings names, layers, devices;
    const char *last_file; /* the copy of the loc's file name used last */
    bool is_out_of_memory;
    bool has_fault;
    struct fr_error fault; /* the first one */
};

struct fr__graph_priv {
    struct fr__arena *arena; /* holds the graph itself too */
    uint64_t saved_bytes;
    struct fr_fusion_effect effects[FR_N_FUSIONS];
};

/* The order in which `ops` run, each after what it reads; the smallest number first among those
 * that could be next, so an order that is right already stays. first, next: the edges of op o lead
 * to dst[first[o]] .. dst[first[o + 1] - 1]. order: [n]. FR_EPARSE: a cycle, its ops named.
 * O(edges + n log n). */
enum fr_status fr__topological_order(const struct fr_op ops[], size_t n, const uint32_t first[],
                                     const uint32_t dst[], uint32_t order[], struct fr_error *err);

/* Sets is_saved of each storage that a forward op (or input) fills and a backward op reads; a
 * storage goes by the tensor at the root of its aliases. is_saved: [n_tensors], all false.
 * O(edges). */
void fr__mark_saved(const struct fr_graph *g, bool is_saved[]);

/* Refuses what the builder was given wrongly. */
enum fr_status fr__builder_check(const struct fr_graph_builder *b, const struct fr_graph *info,
                                 struct fr_error *err);

/* Gives it a copy of a number-format recipe. false: out of memory. */
bool fr__graph_set_formats(struct fr_graph *g, const struct fr_formats *f);
/* Says of the samples of device "*" that they were measured on that type. FR_ENOMEM. */
enum fr_status fr__graph_name_device(struct fr_graph *g, const char *device, struct fr_error *err);
#endif
