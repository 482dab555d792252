/* tests/support/shard_case.h - a model's training graph, split over a mesh as Megatron-LM would. */
#ifndef FR_TESTS_SUPPORT_SHARD_CASE_H
#define FR_TESTS_SUPPORT_SHARD_CASE_H

#include "workloads/passes/shard.h"

enum { SHARD_TP, SHARD_CP, SHARD_N_AXES };

struct shard_mesh {
    uint32_t tp, cp; /* 0: 1 */
    bool has_sequence_parallel, keeps_gathered, has_whole_vocabulary;
    enum fr__context context;
    struct fr__shard_experts experts; /* zero: all experts on every rank */
};

/* The model's training graph; fails the test where it cannot be loaded. batch 0: the model's. */
struct fr_graph *shard_load(const char *spec, uint32_t batch);
/* Splits g. */
enum fr_status shard_try(struct fr__sharded *out, const struct fr_graph *g,
                         const struct shard_mesh *mesh, struct fr_error *err);
/* The same; fails the test where it is refused. */
void shard_graph(struct fr__sharded *out, const struct fr_graph *g, const struct shard_mesh *mesh);

/* Number of the op with that name; fails the test where there is none. */
uint32_t shard_find(const struct fr_graph *g, const char *name);

/* Messages of a kind over an axis, of ops whose layer begins with `layer` ("" all of them), in the
 * forward pass or after it. */
struct shard_sum {
    size_t n;
    double bytes;
};
struct shard_sum shard_count(const struct fr__sharded *s, enum fr_op_kind kind, uint32_t axis,
                             const char *layer, bool is_forward);
/* Bytes that a rank sends over an axis of `ranks` by ring algorithms, over those of one all-gather
 * of a tensor of x_bytes: 2 for an all-reduce of it, 1 for a gather or a scatter. */
double shard_units(const struct fr__sharded *s, uint32_t axis, const char *layer, bool is_forward,
                   double x_bytes);
/* The graph whose layers "layer0..." run again in front of the backward pass, which reads the
 * copies. */
struct fr_graph *shard_run_again(const struct fr_graph *g);
#endif
