/* results/draw.h - pictures of clusters and of training graphs, as DOT text and by graphviz.
 *
 * Text from inputs reaches the DOT text in quoted strings only, cut to a length that fits; graphviz
 * runs without a shell and sees no name of a file.
 */
#ifndef FORERUN_DRAW_H
#define FORERUN_DRAW_H

#include "results/results.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Draws a cluster: sockets on top, PCIe switches, GPUs in rows, NVSwitches, NICs at the bottom,
 * links coloured by kind and bandwidth, with a legend. Everything has a position, so `neato -n2`
 * draws it. Of several machines the first is drawn in full and the others are boxes; many boxes
 * become a few that count them. FR_ENOMEM; failures of writing are left to ferror(f). */
enum fr_status fr_draw_topo(FILE *f, const struct fr_topo *t, struct fr_error *err);

struct fr_draw_graph_options {
    bool has_phase[FR_N_PHASES]; /* which phases; all false: input and forward */
    bool is_ops;                 /* single ops rather than layers */
    const char *layer;           /* only this layer's ops, or its block's ("layer3"); NULL: all */
};

/* Draws a training graph: one node for each layer or block of layers with its output's shape,
 * parameters and FLOPs. Runs of equal blocks are folded into one ("x12") until all fit on a slide.
 * With a layer named, or is_ops, single layers or ops are drawn. *is_placed: everything has a
 * position, as in fr_draw_topo; otherwise `dot` is to place it. FR_EUSAGE: more than
 * FR_DRAW_MAX_OPS of them; FR_ENOENT: no such layer, with the nearest; FR_ENOMEM. */
#define FR_DRAW_MAX_OPS 300
enum fr_status fr_draw_graph(FILE *f, const struct fr_graph *g,
                             const struct fr_draw_graph_options *opt, bool *is_placed,
                             struct fr_error *err);

/* Whether a file of that ending can be drawn (.svg, .png, .pdf, or .dot for the text) and written.
 * FR_EUSAGE, FR_EIO. */
enum fr_status fr_draw_check_path(const char *path, struct fr_error *err);

/* Makes the file from the DOT text in `dot`. is_placed: its parts have positions. The file appears
 * whole or not at all. FR_EUSAGE; FR_EIO: graphviz is not installed, or failed, or writing did;
 * FR_ECANCELLED. */
enum fr_status fr_draw_write(FILE *dot, bool is_placed, const char *path,
                             const struct fr_context *ctx, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
