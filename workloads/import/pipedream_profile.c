/* workloads/import/pipedream_profile.c - a PipeDream profile as layers (workloads/profile.h), and
 * back to text with stages. */
#include "config.h"

#include "workloads/profile.h"

#include "base/error.h"
#include "base/file.h"
#include "workloads/import/import.h"
#include "workloads/import/pipedream.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 30)

/* The profile, the arena that it lies in, and the lines of the file. */
struct loaded {
    struct fr_profile view;
    struct fr__arena *arena;
    const char **lines; /* [n_layers] without stage */
};

static enum fr_status view_of(struct loaded *l, const struct fr__profile *p, struct fr_error *err)
{
    struct fr_profile_layer *layers = fr__arena_alloc(l->arena, p->n_nodes, sizeof(*layers));

    l->lines = fr__arena_alloc(l->arena, p->n_nodes, sizeof(*l->lines));
    if (!layers || !l->lines)
        return fr__fail_nomem(err);
    for (size_t v = 0; v < p->n_nodes; v++) {
        const struct fr__profile_node *node = &p->nodes[v];

        l->lines[v] = node->line;
        layers[v] = (struct fr_profile_layer){.name = node->id,
                                              .description = node->desc,
                                              .forward_s = node->forward_s,
                                              .backward_s = node->backward_s,
                                              .both_s = node->both_s,
                                              .activation_bytes = node->activation_bytes,
                                              .param_bytes = node->parameter_bytes};
    }
    l->view = (struct fr_profile){.n_layers = p->n_nodes,
                                  .n_edges = p->n_edges,
                                  .layers = layers,
                                  .edges = (const uint32_t(*)[2])p->edges,
                                  .priv = l};
    return fr__profile_name(l->arena, p->name, &l->view.name, err);
}

enum fr_status fr_profile_load_text(struct fr_profile **out, const char *text, size_t len,
                                    const char *name, struct fr_error *err)
{
    struct loaded *l = calloc(1, sizeof(*l));
    struct fr__profile parsed = {0};
    enum fr_status st;

    if (!l)
        return fr__fail_nomem(err);
    l->arena = fr__arena_new();
    st =
        l->arena ? fr__profile_parse(l->arena, text, len, name, &parsed, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        st = view_of(l, &parsed, err);
    if (st != FR_OK) {
        fr__arena_free(l->arena);
        free(l);
        return st;
    }
    *out = &l->view;
    return FR_OK;
}

static enum fr_status load_file(struct fr_profile **out, const char *path, struct fr_error *err)
{
    enum fr_status st;
    char *text;
    size_t len;

    FR_TRY(fr__read_file(path, MAX_FILE_BYTES, &text, &len, err));
    if (fr__importer_pipedream.recognises(text, len))
        st = fr_profile_load_text(out, text, len, path, err);
    else
        st = fr__fail(err, FR_EPARSE, (struct fr_loc){path, 0, 0},
                      "no PipeDream profile: no line holds \" -- forward_compute_time=\"");
    free(text);
    return st;
}

enum fr_status fr_profile_load(struct fr_profile **out, const char *path, struct fr_error *err)
{
    enum fr_status st;
    char *inside;

    if (!fr__is_folder(path) && !fr__exists(path))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%.200s' is no PipeDream profile (graph.txt)",
                        path);
    if (!fr__is_folder(path))
        return load_file(out, path, err);
    inside = fr__path_join(path, "graph.txt");
    if (!inside)
        return fr__fail_nomem(err);
    if (fr__exists(inside))
        st = load_file(out, inside, err);
    else
        st = fr__fail(err, FR_EUSAGE, FR_NOWHERE, "the folder '%.200s' holds no graph.txt", path);
    free(inside);
    return st;
}

void fr_profile_free(struct fr_profile *p)
{
    struct loaded *l;

    if (!p)
        return;
    l = p->priv;
    fr__arena_free(l->arena);
    free(l);
}

/* A layer of a profile that was made, not loaded. */
static void write_layer(FILE *f, const struct fr_profile_layer *l)
{
    fprintf(f,
            "%s -- %s -- forward_compute_time=%.17g, backward_compute_time=%.17g, "
            "activation_size=%.17g, parameter_size=%.17g",
            l->name, l->description, 1e3 * l->forward_s, 1e3 * l->backward_s, l->activation_bytes,
            l->param_bytes);
}

void fr_profile_write(FILE *f, const struct fr_profile *p, const uint32_t stage_of[])
{
    const struct loaded *l = p->priv;

    for (size_t v = 0; v < p->n_layers; v++) {
        if (stage_of[v] == FR_PROFILE_LEFT_OUT)
            continue;
        if (l)
            fputs(l->lines[v], f);
        else
            write_layer(f, &p->layers[v]);
        if (stage_of[v] != FR_PROFILE_NO_STAGE)
            fprintf(f, " -- stage_id=%u", (unsigned)stage_of[v]);
        putc('\n', f);
    }
    for (size_t e = 0; e < p->n_edges; e++) {
        uint32_t from = p->edges[e][0], to = p->edges[e][1];

        if (stage_of[from] != FR_PROFILE_LEFT_OUT && stage_of[to] != FR_PROFILE_LEFT_OUT)
            fprintf(f, "\t%s -- %s\n", p->layers[from].name, p->layers[to].name);
    }
}
