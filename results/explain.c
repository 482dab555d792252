/* results/explain.c - asks a strategy for its decisions and chooses a writer by a file's ending.
 *
 * It is separate from the writers, each of which shows decisions in its own way and knows no other.
 */
#include "config.h"

#include "base/error.h"
#include "results/draw.h"
#include "results/drawings/explain.h"
#include "results/drawings/mesh.h"
#include "results/parts/explanation.h"
#include "results/parts/output.h"
#include "results/parts/program.h"
#include "results/pictures/explain.h"
#include "strategies/list.h"
#include "study/recipes/recipes.h"
#include "study/answer/record.h"

#include <stdlib.h>

/* ---- asking ---- */

static bool explains(const struct fr_strategy *s)
{
    return s->explain;
}

static enum fr_status explain(struct fr_explanation *e, const struct fr_context *ctx,
                              struct fr_error *err)
{
    const struct fr_strategy *strategy = NULL;
    char names[160];

    if (!e->question.strategy)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no strategy given (-s, --strategy)");
    FR_TRY(fr_strategy_parse(e->question.strategy, &strategy, &e->values, err));
    FR_TRY(fr__recipe_apply(&e->question, strategy, &e->values, err));
    if (!strategy->explain)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "strategy '%s' has nothing to explain, expected %s", strategy->name,
                        fr__strategy_names(explains, " or ", names, sizeof(names)));
    FR_TRY(fr_setting_load(&e->setting, &e->question, err));
    FR_TRY(fr__problem_make(&e->problem, &e->devices, &e->setting, &e->question, err));
    e->problem.options = &e->values;
    FR_TRY(strategy->explain(&e->problem, ctx, &e->decisions, err));
    if (!e->decisions->layout)
        return FR_OK;
    e->question.iterations = 1;
    return fr_answer_on(&e->setting, &e->question, ctx, &e->record, err); /* for its times */
}

enum fr_status fr_explain(struct fr_explanation **out, const struct fr_question *q,
                          const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_context nothing = {0};
    struct fr_explanation *e = calloc(1, sizeof(*e));
    enum fr_status st;

    if (!e)
        return fr__fail_nomem(err);
    e->question = *q;
    st = explain(e, ctx ? ctx : &nothing, err);
    if (st == FR_OK)
        *out = e;
    else
        fr_explanation_free(e);
    return st;
}

void fr_explanation_free(struct fr_explanation *e)
{
    if (!e)
        return;
    fr_record_free(e->record);
    fr_decisions_free(e->decisions);
    free(e->devices);
    fr_setting_fini(&e->setting);
    free(e);
}

/* ---- files ---- */

static const struct {
    const char *ending, *picture; /* picture: the kind of file of a plan over time; NULL: a graph */
    bool is_mesh;                 /* of a plan whose ops are split */
} endings[] = {
    {".mesh.svg", NULL, true},   {".mesh.png", NULL, true},   {".mesh.pdf", NULL, true},
    {".mesh.dot", NULL, true},   {".graph.svg", NULL, false}, {".graph.png", NULL, false},
    {".graph.pdf", NULL, false}, {".dot", NULL, false},       {".svg", ".svg", false},
    {".png", ".png", false},     {".pdf", ".pdf", false}};

enum { N_ENDINGS = sizeof(endings) / sizeof(endings[0]) };

/* The first that fits; longer ones come first in the table. N_ENDINGS: none. */
static size_t find_ending(const char *path)
{
    size_t i = 0;

    while (i < N_ENDINGS && !fr__ends_in(path, endings[i].ending))
        i++;
    return i;
}

enum fr_status fr_explanation_check_path(const char *path, struct fr_error *err)
{
    if (find_ending(path) == N_ENDINGS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no ending that names a picture, expected .svg .png .pdf for the "
                        "plan over time, .graph.svg .graph.png .graph.pdf .dot for the graph, "
                        ".mesh.svg .mesh.png .mesh.pdf .mesh.dot for the mesh of a hybrid",
                        path);
    return fr__check_output(path, err);
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

static enum fr_status write_mesh(const struct fr_explanation *e, const char *path,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    FILE *dot;
    enum fr_status st;

    FR_TRY(fr__program_file(&dot, err));
    st = fr__mesh_draw(dot, e, err);
    if (st == FR_OK)
        st = fr_draw_write(dot, true, path, ctx, err);
    fclose(dot);
    return st;
}

/* A mesh, or its schedule over time. */
static enum fr_status write_layout(const struct fr_explanation *e, size_t ending, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    if (endings[ending].is_mesh)
        return write_mesh(e, path, ctx, err);
    if (!endings[ending].picture)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': a plan whose ops are split has no graph of operations, expected "
                        ".mesh.svg .mesh.png .mesh.pdf .mesh.dot for its mesh",
                        path);
    if (!fr_explanation_is_pipeline(e))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s': without a pipeline there is no schedule to draw, expected .mesh.svg "
                        ".mesh.png .mesh.pdf .mesh.dot for the mesh",
                        path);
    return fr_explanation_write_pipelines(&e, 1, path, ctx, err);
}

enum fr_status fr_explanation_write(const struct fr_explanation *e, const char *path,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__out o;
    size_t i = find_ending(path);
    enum fr_status st;

    FR_TRY(fr_explanation_check_path(path, err));
    if (e->decisions->layout)
        return write_layout(e, i, path, ctx, err);
    if (endings[i].is_mesh)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s': strategy '%s' has no mesh to draw", path,
                        e->question.strategy);
    if (!endings[i].picture)
        return write_graph(e, path, ctx, err);
    FR_TRY(fr__open_output(&o, path, err));
    st = fr__explain_draw(o.f, e, endings[i].picture, ctx, err);
    return fr__close_output(&o, st, ctx, err);
}
