/* results/drawings/graph.h - how a training graph is folded, and what its drawings share. */
#ifndef FR_RESULTS_DRAWINGS_GRAPH_H
#define FR_RESULTS_DRAWINGS_GRAPH_H

#include "results/canvas/drawing.h"

enum { FR__FOLD_MAX = 42 }; /* nodes that a slide takes */

/* One node: consecutive blocks of layers. A block is a layer, or the layers that share a numbered
 * part of their names ("layer1.0.conv1" and "layer1.0.conv2" are of block "layer1.0"). */
struct fr__fold {
    const char *first, *last; /* names of the first block and of the last; not always terminated */
    size_t first_len, last_len;
    uint32_t n_blocks;
    bool is_alike;        /* all blocks have the same shapes, parameters and FLOPs */
    uint32_t last_layer;  /* whose output it is */
    uint64_t params;      /* of all blocks */
    double flops;         /* of all blocks, of the phases asked for */
    enum fr_op_kind kind; /* that does most of the FLOPs, or the first */
    bool has_skip;        /* an addition in it reads what skipped a layer */
};

struct fr__folding {
    struct fr__fold *folds;
    size_t n;
    uint32_t *fold_of;              /* [n_layers] */
    struct fr_layer_totals *totals; /* [n_layers] */
    double *flops;                  /* [n_layers] of the phases asked for */
};

/* Folds runs of equal blocks into one node each. If there are still more than FR__FOLD_MAX, folds
 * runs of blocks of one name ("denselayer1", "denselayer2"), and then any neighbours. All memory is
 * the arena's. FR_ENOMEM. O(ops + edges). */
enum fr_status fr__fold_layers(struct fr__folding *out, struct fr__arena *a,
                               const struct fr_graph *g, const bool has_phase[FR_N_PHASES],
                               struct fr_error *err);

/* Single layers or ops (ops.c); otherwise as fr_draw_graph. */
enum fr_status fr__draw_ops(struct fr_drawing *d, const struct fr_graph *g,
                            const struct fr_draw_graph_options *opt, struct fr_error *err);

/* ---- shared by all drawings of graphs (words.c) ---- */

/* "bert-base, batch 32, ..." */
void fr__graph_title(struct fr__box *b, const struct fr_graph *g);
/* Lines for an output's shape, parameters (all: words behind them) and FLOPs, where there are. */
void fr__graph_figures(struct fr__box *b, const struct fr_graph *g, uint32_t output,
                       uint64_t params, const char *all, double flops);
const char *fr__graph_colour(enum fr_op_kind kind);
/* Arrows past other boxes, and between those that share parameters. */
#define FR__GRAPH_SKIP "#0072B2"
#define FR__GRAPH_TIED "#CC79A7"

/* An arrow between nodes `from` and `to` of a snake, or of none (no columns): past others in a
 * colour of its own. is_tied: parameters are shared, no tensor of bytes. */
struct fr__graph_arrow {
    size_t from, to;
    uint64_t bytes;
    bool is_tied;
};
void fr__graph_arrow(struct fr_drawing *d, const struct fr__box *from, const struct fr__box *to,
                     const struct fr__graph_arrow *a, size_t n_columns);

/* key.c: what the colours mean that are there; the title is the first box. */
void fr__graph_key(struct fr_drawing *d);
#endif
