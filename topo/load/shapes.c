/* topo/load/shapes.c - the shapes of fabrics by name. */
#include "config.h"

#include "topo/load/fabric.h"

const char *fr__fabric_shape_name(size_t i)
{
    static const char *const names[FR__N_SHAPES] = {
        [FR__SHAPE_RAILS] = "rails",       [FR__SHAPE_LEAVES] = "leaf-spine",
        [FR__SHAPE_FAT_TREE] = "fat-tree", [FR__SHAPE_DRAGONFLY] = "dragonfly",
        [FR__SHAPE_TORUS] = "torus",       [FR__SHAPE_MESH] = "mesh",
        [FR__SHAPE_RING] = "ring",         [FR__SHAPE_FULL] = "full",
    };

    return i < FR__N_SHAPES ? names[i] : NULL;
}
