/* workloads/passes/keep_wide.c - copies a graph; products of some units keep 16 bits. */
#include "config.h"

#include "workloads/passes/keep_wide.h"

#include "base/error.h"
#include "workloads/graph/rewriter.h"
#include "workloads/passes/units.h"

#include <inttypes.h>

static bool is_at_an_end(const struct fr__units *u, const struct fr_op *op, uint64_t first,
                         uint64_t last)
{
    uint32_t unit = u->unit_of_layer[op->layer];

    return unit != FR_NONE && (unit < first || unit + last >= u->n_units);
}

static void copy(struct fr__rewriter *w, const struct fr__units *u, uint64_t first, uint64_t last)
{
    const struct fr_graph *g = w->g;

    for (uint32_t o = 0; o < g->n_ops && !fr__rewriter_has_failed(w); o++) {
        struct fr_op op = fr__rewriter_op(w, o);

        if (op.shape.of == FR_SHAPE_PRODUCT && is_at_an_end(u, &op, first, last))
            op.shape.product.is_wide = true;
        fr__rewriter_put(w, &w->now, o, &op, fr__rewriter_outputs(w, o));
    }
    for (size_t i = 0; i < g->n_edges; i++)
        fr__rewriter_keep_edge(w, &g->edges[i]);
    fr__rewriter_keep_samples(w);
}

enum fr_status fr__keep_wide(const struct fr_graph *g, uint64_t first, uint64_t last,
                             struct fr_graph **out, struct fr_error *err)
{
    struct fr__rewriter w;
    struct fr__units units;
    enum fr_status st;

    FR_TRY(fr__units_find(&units, g, err));
    if (first + last > units.n_units) {
        st = fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                      "%" PRIu64 " layers keep 16 bits, but '%.80s' has %zu", first + last, g->name,
                      units.n_units);
        fr__units_free(&units);
        return st;
    }
    st = fr__rewriter_init(&w, g, err);
    if (st == FR_OK) {
        copy(&w, &units, first, last);
        st = fr__rewriter_finish(&w, g, out, err);
        fr__rewriter_fini(&w);
    }
    fr__units_free(&units);
    return st;
}
