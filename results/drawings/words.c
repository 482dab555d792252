/* results/drawings/words.c - titles, figures and colours of drawings of graphs.
 *
 * It is separate because graphs of layers, of ops and of explained plans all use them.
 */
#include "config.h"

#include "base/units.h"
#include "results/drawings/graph.h"
#include "results/drawings/snake.h"

#include <inttypes.h>

enum { NUMBER = 32 };

void fr__graph_title(struct fr__box *b, const struct fr_graph *g)
{
    fr__label_name(b, g->name, 70);
    fr__label(b, ", batch %" PRIu32, g->batch);
    if (g->seq_len)
        fr__label(b, ", sequence length %" PRIu32, g->seq_len);
    fr__label(b, ", %s", fr_dtype_name(g->dtype));
}

void fr__graph_figures(struct fr__box *b, const struct fr_graph *g, uint32_t output,
                       uint64_t params, const char *all, double flops)
{
    const struct fr_tensor *t = output == FR_NONE ? NULL : &g->tensors[output];
    char number[NUMBER];

    for (unsigned d = 0; t && d < t->n_dims; d++)
        fr__label(b, "%s%" PRIu32, d ? "x" : "\n", t->dims[d]);
    if (params)
        fr__label(b, "\n%s params%s", fr__format_count((double)params, number, sizeof(number)),
                  all);
    if (flops > 0)
        fr__label(b, "\n%s", fr__format_flops(flops, number, sizeof(number)));
}

void fr__graph_arrow(struct fr_drawing *d, const struct fr__box *from, const struct fr__box *to,
                     const struct fr__graph_arrow *a, size_t n_columns)
{
    bool is_past = n_columns && a->to != a->from + 1;
    struct fr__wire *w = fr__wire(d, from, to,
                                  a->is_tied ? FR__GRAPH_TIED
                                  : is_past  ? FR__GRAPH_SKIP
                                             : FR__WIRE_COLOUR,
                                  1);

    w->dash = a->is_tied ? FR__DASHED : FR__SOLID;
    if (a->is_tied)
        snprintf(w->text, sizeof(w->text), "shared parameters");
    else
        fr__format_bytes((double)a->bytes, w->text, sizeof(w->text));
    if (is_past)
        fr__snake_detour(w, n_columns, a->from, a->to);
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
