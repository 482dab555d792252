/* cli/verbs/graph_draw.c - the verb that draws a workload. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"
#include "results/draw.h"

enum fr_status cli_graph_draw(struct session *s, struct fr_error *err)
{
    struct fr_graph *g;
    bool is_placed;
    FILE *dot;
    enum fr_status st;

    FR_TRY(cli_load_graph(s, &g, err));
    st = cli_open_drawing(s, &dot, err);
    if (st == FR_OK) {
        st = fr_draw_graph(dot, g, &s->options.drawing, &is_placed, err);
        if (st == FR_OK)
            st = cli_write_drawing(s, dot, is_placed, err);
        fclose(dot);
    }
    fr_graph_free(g);
    return st;
}
