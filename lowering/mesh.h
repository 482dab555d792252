/* lowering/mesh.h - ranks as an array with named axes, and the groups along its axes.
 *
 * A map is the order of the axes, innermost first: under "tp-cp-dp-pp" the ranks of a tensor group
 * follow each other. Frameworks' orders have names:
 *
 *     megatron      tp-cp-ep-dp-pp    Megatron-LM, megatron/core/parallel_state.py
 *     megatron-dp   tp-cp-ep-pp-dp    the same with use-tp-pp-dp-mapping
 *     deepspeed     tp-cp-dp-pp       PipeModelDataParallelTopology: model, then data, then pipe
 *     torchtitan    tp-cp-dp-pp       distributed/parallel_dims.py
 *     calculon      tp-cp-pp-dp       tensor, then pipeline, then data
 *
 * Experts have a grid of their own over the same ranks (Megatron's "parallel folding"): there the
 * axis `tp` is the experts' tensor degree, `cp` does not exist, `ep` is between, and `dp` is what
 * is left. The dense grid has no `ep`.
 */
#ifndef FR_LOWERING_MESH_H
#define FR_LOWERING_MESH_H

#include "base/base.h"

enum fr__mesh_axis {
    FR__MESH_TP,
    FR__MESH_CP,
    FR__MESH_EP,
    FR__MESH_DP,
    FR__MESH_PP,
    FR__N_MESH_AXES
};
const char *fr__mesh_axis_name(enum fr__mesh_axis a);

struct fr__mesh {
    uint32_t size[FR__N_MESH_AXES]; /* 1: the grid does not have the axis */
    uint32_t stride[FR__N_MESH_AXES];
    uint32_t n_ranks;
    enum fr__mesh_axis order[FR__N_MESH_AXES]; /* innermost first */
};

/* Axes by their numbers: 1 << FR__MESH_DP | 1 << FR__MESH_CP is the group that sums gradients. */
typedef unsigned fr__mesh_axes;

/* map: axes' names joined by '-', or a framework's name. Axes that are left out come last, in the
 * order of the enum. size: [FR__N_MESH_AXES], all at least 1. FR_EUSAGE: an unknown or doubled
 * axis. */
enum fr_status fr__mesh_make(struct fr__mesh *out, const char *map, const uint32_t size[],
                             struct fr_error *err);

/* coord: [FR__N_MESH_AXES]. */
uint32_t fr__mesh_rank(const struct fr__mesh *m, const uint32_t coord[]);
void fr__mesh_coord(const struct fr__mesh *m, uint32_t rank, uint32_t coord[]);

/* How many ranks the groups along those axes have. */
uint32_t fr__mesh_group_size(const struct fr__mesh *m, fr__mesh_axes axes);
/* The group of a rank along those axes, in increasing order. ranks: [group size]. Returns the
 * position of `rank` in it. */
uint32_t fr__mesh_group(const struct fr__mesh *m, fr__mesh_axes axes, uint32_t rank,
                        uint32_t ranks[]);
/* The number of a rank's group among all groups along those axes, in the order of their first
 * ranks' coordinates: below n_ranks / group size. */
uint32_t fr__mesh_group_index(const struct fr__mesh *m, fr__mesh_axes axes, uint32_t rank);

#endif
