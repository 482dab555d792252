/* collectives/nccl/trees.h - NCCL's double binary trees.
 *
 * Source: P. Sanders, J. Speck and J. L. Traeff, Parallel Computing 35(12), 2009 (two trees, each
 * rank a leaf of at least one); the construction is that of NCCL, src/graph/trees.cc, which is the
 * same in 2.18 to 2.30.
 */
#ifndef FR_COLLECTIVES_NCCL_TREES_H
#define FR_COLLECTIVES_NCCL_TREES_H

#include <stdint.h>

#define FR__NO_NODE UINT32_MAX

struct fr__tree_node {
    uint32_t parent, child[2]; /* FR__NO_NODE: none */
    uint32_t child_no;         /* which child of its parent it is; 0 for the root */
};

/* A node's neighbours in tree 0 or 1 of n nodes, n < 2^31. */
struct fr__tree_node fr__nccl_tree(uint32_t n, unsigned tree, uint32_t node);
/* Edges from the root to the deepest node: ceil(log2 n) of both trees. */
uint32_t fr__nccl_tree_depth(uint32_t n, unsigned tree);

#endif
