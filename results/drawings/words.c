/* results/drawings/words.c - how drawings of graphs open, and their titles, shapes and colours.
 *
 * It is separate because graphs of layers, of ops and of explained plans all use them.
 */
#include "config.h"

#include "results/drawings/dot.h"
#include "results/drawings/graph.h"

#include <inttypes.h>

void fr__graph_open(FILE *f, bool is_placed)
{
    fprintf(f,
            "// %s -Tsvg draws this\n"
            "digraph training_graph {\n"
            "  bgcolor=white; pad=0.2; %s\n"
            "  node [shape=box, style=\"filled,rounded\", fontname=" FR__DOT_FONT
            ", fontsize=10,\n        color=\"#777777\", fontcolor=\"#222222\"];\n"
            "  edge [fontname=" FR__DOT_FONT ", fontsize=9, color=\"#555555\", arrowsize=0.7];\n",
            is_placed ? "neato -n2" : "dot",
            is_placed ? "layout=neato; inputscale=72; splines=line; outputorder=edgesfirst;"
                      : "rankdir=LR; nodesep=0.15; ranksep=0.35;");
}

void fr__graph_title(FILE *f, const struct fr_graph *g)
{
    fr__dot_text(f, g->name, 70);
    fprintf(f, ", batch %" PRIu32, g->batch);
    if (g->seq_len)
        fprintf(f, ", sequence length %" PRIu32, g->seq_len);
    fprintf(f, ", %s", fr_dtype_name(g->dtype));
}

void fr__graph_shape(FILE *f, const struct fr_graph *g, uint32_t tensor)
{
    const struct fr_tensor *t = tensor == FR_NONE ? NULL : &g->tensors[tensor];

    for (unsigned d = 0; t && d < t->n_dims; d++)
        fprintf(f, "%s%" PRIu32, d ? "x" : "", t->dims[d]);
}

const char *fr__graph_colour(enum fr_op_kind kind)
{
    static const char *const colours[FR_N_OP_KINDS] = {
        [FR_OP_INPUT] = "#F2F2F2",     [FR_OP_CONV2D] = "#CFE3F2",
        [FR_OP_MATMUL] = "#DDF0D0",    [FR_OP_BATCH_MATMUL] = "#DDF0D0",
        [FR_OP_ATTENTION] = "#F9E2C0", [FR_OP_SOFTMAX] = "#F9E2C0",
        [FR_OP_LSTM] = "#E5DAF0",      [FR_OP_EMBEDDING] = "#E5DAF0",
        [FR_OP_LOSS] = "#F3DDE9",      [FR_OP_LOG_SOFTMAX] = "#F3DDE9",
    };

    return kind < FR_N_OP_KINDS && colours[kind] ? colours[kind] : "#ECECEC";
}
