/* results/drawings/mesh.h - the picture of a mesh of ranks on its machines, as DOT text. */
#ifndef FR_RESULTS_DRAWINGS_MESH_H
#define FR_RESULTS_DRAWINGS_MESH_H

#include "results/parts/explanation.h"

/* Rows of GPUs, machine by machine, coloured by stage. The groups of rank 0 are drawn as lines, one
 * colour an axis, and the key says which links they cross. Of many machines those are drawn that
 * stand for the others. neato is to draw it as placed. FR_ENOMEM; FR_ENOENT. */
enum fr_status fr__mesh_draw(FILE *dot, const struct fr_explanation *e, struct fr_error *err);
#endif
