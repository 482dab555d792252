/* collectives/nccl/trees.c - see trees.h.
 *
 * Tree 0: with b the lowest set bit of r, the parent of r is r with bit b cleared and bit 2b set if
 * that is below n, else r with bit b cleared. Its children are r - b/2 and r + b/2, the second step
 * halved again while it leads beyond n. The root 0 has one child, the highest power of two below n.
 * Tree 1 is tree 0 mirrored (n even) or shifted by one (n odd).
 */
#include "config.h"

#include "collectives/nccl/trees.h"

static uint32_t high_child(uint32_t n, uint32_t r, uint32_t half)
{
    while (half > 0 && r + half >= n)
        half >>= 1;
    return half > 0 ? r + half : FR__NO_NODE;
}

static struct fr__tree_node first_tree(uint32_t n, uint32_t r)
{
    struct fr__tree_node k = {FR__NO_NODE, {FR__NO_NODE, FR__NO_NODE}, 0};
    uint32_t bit = 1, up;

    while (bit < n && !(bit & r))
        bit <<= 1;
    if (r == 0) {
        k.child[1] = n > 1 ? bit >> 1 : FR__NO_NODE;
        return k;
    }
    up = (r ^ bit) | bit << 1;
    k.parent = up < n ? up : r ^ bit;
    k.child_no = r < k.parent ? 0 : 1;
    k.child[0] = bit > 1 ? r - (bit >> 1) : FR__NO_NODE;
    k.child[1] = high_child(n, r, bit >> 1);
    return k;
}

static uint32_t moved(uint32_t n, uint32_t node)
{
    if (node == FR__NO_NODE)
        return node;
    return n % 2 ? (node + 1) % n : n - 1 - node;
}

struct fr__tree_node fr__nccl_tree(uint32_t n, unsigned tree, uint32_t node)
{
    struct fr__tree_node k;

    if (tree == 0)
        return first_tree(n, node);
    k = first_tree(n, n % 2 ? (node + n - 1) % n : n - 1 - node);
    k.parent = moved(n, k.parent);
    k.child[0] = moved(n, k.child[0]);
    k.child[1] = moved(n, k.child[1]);
    return k;
}

uint32_t fr__nccl_tree_depth(uint32_t n, unsigned tree)
{
    uint32_t deepest = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t depth = 0;

        for (uint32_t at = i; (at = fr__nccl_tree(n, tree, at).parent) != FR__NO_NODE;)
            depth++;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}
