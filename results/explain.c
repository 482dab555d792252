/* results/explain.c - the files of explanations that are pictures: the plan over time, its graph,
 * the mesh of a plan whose ops are split.
 *
 * It is separate from the table of kinds because which of them there is depends on the strategy.
 */
#include "config.h"

#include "base/error.h"
#include "results/canvas/drawing.h"
#include "results/drawings/explain.h"
#include "results/drawings/mesh.h"
#include "results/kinds.h"
#include "results/parts/explanation.h"
#include "results/pictures/pictures.h"

/* The schedule of a plan whose ops are split. */
static enum fr_status draw_schedule(FILE *f, const struct fr_explanation *e, const char *ending,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_timed_schedule *all;
    enum fr_status st;

    FR_TRY(fr__replays_make(&all, &e, 1, err));
    st = fr__chart_draw(f, fr__chart_of_schedules, &(struct fr_schedules_answer){all, 1}, ending,
                        ctx, err);
    fr__replays_free(all, 1);
    return st;
}

enum fr_status fr__explanation_plan(FILE *f, const void *what, const char *ending,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_explanation_answer *a = what;

    if (!a->explanation->decisions->layout)
        return fr__chart_draw(f, fr__chart_of_explanation, a, ending, ctx, err);
    if (!fr_explanation_is_pipeline(a->explanation))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "without a pipeline there is no schedule to draw ('%s'), expected "
                        ".mesh.svg .mesh.png .mesh.pdf .mesh.dot for the mesh",
                        ending);
    return draw_schedule(f, a->explanation, ending, ctx, err);
}

static enum fr_status write(FILE *f, struct fr_drawing *d, const char *ending,
                            const struct fr_context *ctx, struct fr_error *err)
{
    enum fr_status st = fr__drawing_write(f, &(struct fr_drawing_answer){d}, ending, ctx, err);

    fr_drawing_free(d);
    return st;
}

enum fr_status fr__explanation_graph(FILE *f, const void *what, const char *ending,
                                     const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_explanation *e = ((const struct fr_explanation_answer *)what)->explanation;
    struct fr_drawing *d;

    if (e->decisions->layout)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a plan whose ops are split has no graph of operations ('%s'), expected "
                        ".mesh.svg .mesh.png .mesh.pdf .mesh.dot for its mesh",
                        ending);
    FR_TRY(fr__explain_graph(&d, e, err));
    return write(f, d, ending, ctx, err);
}

enum fr_status fr__explanation_mesh(FILE *f, const void *what, const char *ending,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_explanation *e = ((const struct fr_explanation_answer *)what)->explanation;
    struct fr_drawing *d;

    if (!e->decisions->layout)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "strategy '%s' has no mesh to draw ('%s')",
                        e->question.strategy, ending);
    FR_TRY(fr__mesh_draw(&d, e, err));
    return write(f, d, ending, ctx, err);
}
