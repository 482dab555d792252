/* results/draw.h - drawings of clusters and of training graphs, and their files.
 *
 * What is placed is written as SVG here; librsvg's program makes pixels and print of it. Graphviz
 * places what is not. Both run without a shell and see no name of a file.
 */
#ifndef FORERUN_DRAW_H
#define FORERUN_DRAW_H

#include "results/results.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_drawing;
void fr_drawing_free(struct fr_drawing *d);

/* Draws a cluster: sockets on top, PCIe switches, GPUs in rows, NVSwitches, NICs at the bottom,
 * links coloured by kind and bandwidth, with a legend. Of several machines the first is drawn in
 * full and the others are boxes; many boxes become a few that count them. FR_ENOMEM. */
enum fr_status fr_draw_topo(struct fr_drawing **out, const struct fr_topo *t, struct fr_error *err);

struct fr_draw_graph_options {
    bool has_phase[FR_N_PHASES]; /* which phases; all false: input and forward */
    bool is_ops;                 /* single ops rather than layers */
    const char *layer;           /* only this layer's ops, or its block's ("layer3"); NULL: all */
};

/* Draws a training graph: one node for each layer or block of layers with its output's shape,
 * parameters and FLOPs. Runs of equal blocks are folded into one ("x12") until all fit on a slide.
 * With a layer named, or is_ops, single layers or ops are drawn, which graphviz places unless they
 * are a chain. FR_EUSAGE: more than FR_DRAW_MAX_OPS of them; FR_ENOENT: no such layer, with the
 * nearest; FR_ENOMEM. */
#define FR_DRAW_MAX_OPS 300
enum fr_status fr_draw_graph(struct fr_drawing **out, const struct fr_graph *g,
                             const struct fr_draw_graph_options *opt, struct fr_error *err);

/* Its graph as DOT text: boxes with their names and colours, and wires; no places. */
void fr_drawing_print(FILE *f, const struct fr_drawing *d, bool is_grey);
/* What fr_show_file makes files of. */
struct fr_drawing_answer {
    struct fr_drawing *drawing; /* graphviz places it once */
};

#ifdef __cplusplus
}
#endif
#endif
