/* results/explain.c - chooses the writer of an explanation by a file's ending.
 *
 * It is separate from the writers, each of which shows decisions in its own way and knows no other.
 */
#include "config.h"

#include "base/error.h"
#include "results/draw.h"
#include "results/drawings/explain.h"
#include "results/drawings/mesh.h"
#include "results/kinds.h"
#include "results/parts/explanation.h"
#include "results/parts/output.h"
#include "results/parts/program.h"
#include "results/pictures/pictures.h"

static bool is_text(const char *path)
{
    return fr__kind_find(fr__kind(FR_KIND_EXPLANATION), path) != NULL;
}

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
    if (is_text(path))
        return fr__check_output(path, err);
    if (find_ending(path) == N_ENDINGS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no ending that names a picture, expected .svg .png .pdf for the "
                        "plan over time, .graph.svg .graph.png .graph.pdf .dot for the graph, "
                        ".mesh.svg .mesh.png .mesh.pdf .mesh.dot for the mesh of a hybrid, .md or "
                        ".html for its text",
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

static enum fr_status draw_plan(FILE *f, const struct fr_explanation_answer *a, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__chart *c = fr__chart_new();

    return fr__chart_finish(c, c ? fr__chart_of_explanation(c, a, err) : FR_OK, f, ending, ctx,
                            err);
}

enum fr_status fr_explanation_write(const struct fr_explanation_answer *a, const char *path,
                                    const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_explanation *e = a->explanation;
    struct fr__out o;
    size_t i = find_ending(path);
    enum fr_status st;

    if (is_text(path))
        return fr_show_file(fr_shown_explanation(a), path, ctx, err);
    FR_TRY(fr_explanation_check_path(path, err));
    if (e->decisions->layout)
        return write_layout(e, i, path, ctx, err);
    if (endings[i].is_mesh)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s': strategy '%s' has no mesh to draw", path,
                        e->question.strategy);
    if (!endings[i].picture)
        return write_graph(e, path, ctx, err);
    FR_TRY(fr__open_output(&o, path, err));
    st = draw_plan(o.f, a, endings[i].picture, ctx, err);
    return fr__close_output(&o, st, ctx, err);
}
