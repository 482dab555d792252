/* results/drawings/mesh.h - the drawing of a mesh of ranks on its machines. */
#ifndef FR_RESULTS_DRAWINGS_MESH_H
#define FR_RESULTS_DRAWINGS_MESH_H

#include "results/draw.h"
#include "results/parts/explanation.h"

/* Rows of GPUs, machine by machine, coloured by stage. The groups of rank 0 are drawn as lines, one
 * colour an axis, and the key says which links they cross. Of many machines those are drawn that
 * stand for the others. FR_ENOMEM; FR_ENOENT. */
enum fr_status fr__mesh_draw(struct fr_drawing **out, const struct fr_explanation *e,
                             struct fr_error *err);
#endif
