/* api/verbs/graph_draw.c - the verb that draws a workload. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"
#include "results/draw.h"

enum fr_status fr__verb_graph_draw(struct fr__call *s, struct fr_error *err)
{
    struct fr_graph *g;
    struct fr_drawing *d;
    enum fr_status st;

    FR_TRY(fr__load_graph(s, &g, err));
    st = fr__check_files(&s->options, FR_KIND_DRAWING, err);
    if (st == FR_OK)
        st = fr_draw_graph(&d, g, &s->options.drawing, err);
    if (st == FR_OK)
        st = fr__write_drawing(s, d, err);
    fr_graph_free(g);
    return st;
}
