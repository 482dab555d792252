/* results/pictures/explain_write.c - the pictures of an explanation, by the endings of their files. */
#include "config.h"

#include "results/text/explain.h"

#include "base/error.h"
#include "results/draw.h"
#include "results/format.h"
#include "results/pictures/gnuplot.h"
#include "results/program.h"

#include <string.h>

static const struct {
    const char *ending, *terminal; /* of fr__plot_frame; NULL: a graph */
} endings[] = {{".graph.svg", NULL}, {".graph.png", NULL}, {".graph.pdf", NULL}, {".dot", NULL},
               {".svg", ".svg"},     {".png", ".png"},     {".pdf", ".pdf"}};

enum { N_ENDINGS = sizeof(endings) / sizeof(endings[0]) };

static bool has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);

    return n > m && strcmp(path + n - m, ending) == 0;
}

/* The first that fits, longer ones standing before; N_ENDINGS: none. */
static size_t find_ending(const char *path)
{
    size_t i = 0;

    while (i < N_ENDINGS && !has_ending(path, endings[i].ending))
        i++;
    return i;
}

enum fr_status fr_explanation_check_path(const char *path, struct fr_error *err)
{
    struct fr__out o;

    if (find_ending(path) == N_ENDINGS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no ending that names a picture, expected .svg .png .pdf for the "
                        "plan over time, .graph.svg .graph.png .graph.pdf .dot for the graph",
                        path);
    FR_TRY(fr__open_output(&o, path, err));
    fr__out_abort(&o);
    return FR_OK;
}

static enum fr_status write_graph(const struct fr_explanation *e, const char *path,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    bool is_placed = false;
    FILE *dot;
    enum fr_status st;

    FR_TRY(fr__program_file(&dot, err));
    st = fr__explain_graph(dot, e, &is_placed, err);
    if (st == FR_OK)
        st = fr_draw_write(dot, is_placed, path, ctx, err);
    fclose(dot);
    return st;
}

static enum fr_status draw_times(const struct fr_explanation *e, const struct fr__plot_frame *frame,
                                 FILE *picture, const struct fr_context *ctx, struct fr_error *err)
{
    FILE *script;
    enum fr_status st;

    FR_TRY(fr__gnuplot_script(&script, err));
    fputs(frame->terminal, script);
    st = fr__explain_plot(script, e, frame, err);
    if (st == FR_OK)
        st = fr__gnuplot_run(script, picture, ctx, err);
    fclose(script);
    return st;
}

enum fr_status fr_explanation_write(const struct fr_explanation *e, const char *path,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__out o;
    size_t i = find_ending(path);
    enum fr_status st;

    FR_TRY(fr_explanation_check_path(path, err));
    if (!endings[i].terminal)
        return write_graph(e, path, ctx, err);
    FR_TRY(fr__open_output(&o, path, err));
    st = draw_times(e, fr__plot_frame(endings[i].terminal), o.f, ctx, err);
    if (st == FR_OK)
        st = fr__out_commit(&o, err);
    fr__out_abort(&o);
    return st;
}
