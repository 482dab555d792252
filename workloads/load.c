/* workloads/load.c - finds out what a workload's name stands for, and loads it. */
#include "config.h"

#include "workloads/load.h"

#include "workloads/import/import.h"

#include "base/error.h"
#include "base/file.h"
#include "workloads/graph/builder.h"
#include "workloads/graph/formats.h"
#include "workloads/graph/native.h"
#include "workloads/passes/fuse.h"
#include "workloads/passes/keep_wide.h"
#include "workloads/passes/tune.h"
#include "workloads/zoo/zoo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* HEAD_BYTES: how much of a file the importers look at. */
enum { HEAD_BYTES = 65536, MAX_ZOO_NAMES = 256, LONGEST_PATH = 4096 };

#define IMPORTER_ADDRESS(name) &fr__importer_##name,
static const struct fr__importer *const importers[] = {FR__IMPORTERS(IMPORTER_ADDRESS)};
#undef IMPORTER_ADDRESS

static struct fr_loc whole(const char *path)
{
    return (struct fr_loc){path, 0, 0};
}

/* The first bytes of a file, NUL-terminated, into head[HEAD_BYTES + 1]. */
static enum fr_status read_head(const char *path, char *head, size_t *len, struct fr_error *err)
{
    struct stat status;
    FILE *f;

    /* reading a pipe would block, reading a device never end */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return fr__fail(err, FR_EPARSE, whole(path), "neither a file nor a folder");
    f = fopen(path, "rb");
    if (!f)
        return fr__fail(err, FR_EIO, whole(path), "cannot open: %s", strerror(errno));
    *len = fread(head, 1, HEAD_BYTES, f);
    fclose(f);
    head[*len] = '\0';
    return *len > 0 ? FR_OK : fr__fail(err, FR_EPARSE, whole(path), "the file is empty");
}

static enum fr_status fail_unrecognised(const char *path, struct fr_error *err)
{
    char known[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof(importers) / sizeof(importers[0]) && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
                                 importers[i]->summary);
    return fr__fail(err, FR_EPARSE, whole(path),
                    "no workload format that is known here (%s); a native workload is a folder",
                    known);
}

static enum fr_status run_importer(struct fr_graph **out, const struct fr__importer *importer,
                                   struct fr__import *in, struct fr_error *err)
{
    enum fr_status st;

    in->arena = fr__arena_new();
    if (!in->arena)
        return fr__fail_nomem(err);
    st = importer->load(out, in, err);
    fr__arena_free(in->arena);
    return st;
}

enum fr_status fr__import_text(struct fr_graph **out, const struct fr__importer *importer,
                               const char *text, size_t len, const char *name,
                               const struct fr_workload_options *opt, struct fr_error *err)
{
    struct fr__import in = {.text = text, .len = len, .name = name, .opt = opt};

    return run_importer(out, importer, &in, err);
}

/* more: options behind the path; NULL. */
static enum fr_status import(struct fr_graph **out, const struct fr__importer *importer,
                             const char *path, const char *more,
                             const struct fr_workload_options *opt, struct fr_error *err)
{
    struct fr__import in = {.name = path, .opt = opt, .more = more};
    enum fr_status st;
    char *text;

    if (more && !importer->is_model)
        return fr__fail(err, FR_EUSAGE, whole(path),
                        "a recorded workload takes no options, found '%.100s'", more);
    FR_TRY(fr__read_file(path, importer->max_bytes, &text, &in.len, err));
    in.text = text;
    st = run_importer(out, importer, &in, err);
    free(text);
    return st;
}

/* *is_model: the options have shaped it. */
static enum fr_status load_file(struct fr_graph **out, const char *path, const char *more,
                                const struct fr_workload_options *opt, bool *is_model,
                                struct fr_error *err)
{
    char *head = malloc(HEAD_BYTES + 1);
    const struct fr__importer *importer = NULL;
    enum fr_status st;
    size_t len = 0;

    if (!head)
        return fr__fail_nomem(err);
    st = read_head(path, head, &len, err);
    for (size_t i = 0; st == FR_OK && i < sizeof(importers) / sizeof(importers[0]); i++)
        if (!importer && importers[i]->recognises(head, len))
            importer = importers[i];
    free(head);
    FR_TRY(st);
    if (!importer)
        return fail_unrecognised(path, err);
    *is_model = importer->is_model;
    return import(out, importer, path, more, opt, err);
}

static bool is_forward_only(const struct fr_graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].phase > FR_PHASE_FORWARD)
            return false;
    return true;
}

/* A forward graph as it is trained. */
static enum fr_status train(struct fr_graph **out, const struct fr_graph *forward, const char *tune,
                            struct fr_error *err)
{
    struct fr__tuning how;
    struct fr_graph *tuned;
    enum fr_status st;

    if (!tune)
        return fr_graph_expand_training(forward, out, err);
    FR_TRY(fr__tuning_read(&how, tune, err));
    if (how.tokens > 0)
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "workload '%s' was recorded at its sequence length, so a prompt has no room",
            forward->name);
    FR_TRY(fr__tune(forward, &how, &tuned, err));
    st = fr_graph_expand_training(tuned, out, err);
    fr_graph_free(tuned);
    return st;
}

/* Loads a native folder. Where it holds a forward graph only, adds backward and update ops; *tune
 * is then done, and NULL. */
static enum fr_status load_folder(struct fr_graph **out, const char *folder, const char **tune,
                                  struct fr_error *err)
{
    struct fr_graph *g;
    enum fr_status st;

    FR_TRY(fr__native_load(&g, folder, err));
    if (!is_forward_only(g)) {
        *out = g;
        return FR_OK;
    }
    st = train(out, g, *tune, err);
    *tune = NULL;
    fr_graph_free(g);
    return st;
}

static enum fr_status fail_unknown(const char *spec, struct fr_error *err)
{
    const char *names[MAX_ZOO_NAMES];
    char model[64], hint[96];
    size_t n = 0;

    while (n < MAX_ZOO_NAMES && (names[n] = fr_zoo_name(n)) != NULL)
        n++;
    snprintf(model, sizeof(model), "%.*s", (int)strcspn(spec, ":"), spec);
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no model, folder or file named '%.200s'%s", spec,
                    fr__did_you_mean(model, names, n, hint, sizeof(hint)));
}

/* A recorded workload has one sequence length, image size and precision. Its batch may differ from
 * what is asked for: the strategies scale it. */
static enum fr_status check_options(const struct fr_graph *g, const struct fr_workload_options *opt,
                                    const char *tune, struct fr_error *err)
{
    if (tune)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "workload '%s' was recorded as it was trained and cannot be tuned: that "
                        "takes a model, or a folder of a forward pass alone",
                        g->name);
    if (opt && opt->seq_len && opt->seq_len != g->seq_len)
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "workload '%s' was recorded at sequence length %u and cannot be changed to %u", g->name,
            g->seq_len, opt->seq_len);
    if (opt && opt->image_size)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "workload '%s' was recorded and cannot be changed to another image size",
                        g->name);
    if (opt && opt->dtype < FR_N_DTYPES && opt->dtype != g->dtype)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "workload '%s' was recorded in %s and cannot be changed to %s", g->name,
                        fr_dtype_name(g->dtype), fr_dtype_name(opt->dtype));
    return FR_OK;
}

/* "config.json:mtp=1", where there is such a file before the last ':'. */
static bool has_options(const char *spec, char path[], size_t size, const char **more)
{
    const char *colon = strrchr(spec, ':');

    if (!colon || !strchr(colon, '=') || (size_t)(colon - spec) >= size)
        return false;
    memcpy(path, spec, (size_t)(colon - spec));
    path[colon - spec] = '\0';
    *more = colon + 1;
    return fr__exists(path) && !fr__is_folder(path);
}

static enum fr_status load(struct fr_graph **out, const char *spec,
                           const struct fr_workload_options *opt, struct fr_error *err)
{
    struct fr_graph *g;
    const char *tune = opt ? opt->tune : NULL;
    bool is_model = false;
    enum fr_status st;
    char path[LONGEST_PATH];
    const char *more;

    if (fr__zoo_find(spec))
        return fr__zoo_load(out, spec, opt, err);
    if (fr__is_folder(spec))
        FR_TRY(load_folder(&g, spec, &tune, err));
    else if (fr__exists(spec))
        FR_TRY(load_file(&g, spec, NULL, opt, &is_model, err));
    else if (has_options(spec, path, sizeof(path), &more))
        FR_TRY(load_file(&g, path, more, opt, &is_model, err));
    else
        return fail_unknown(spec, err);
    if (is_model) {
        *out = g;
        return FR_OK;
    }
    st = check_options(g, opt, tune, err);
    if (st == FR_OK && opt && opt->profile_device)
        st = fr__graph_name_device(g, opt->profile_device, err);
    if (st == FR_OK)
        *out = g;
    else
        fr_graph_free(g);
    return st;
}

/* Frees the graph where it fails. */
static enum fr_status keep_formats(struct fr_graph **g, const struct fr_formats *f,
                                   struct fr_error *err)
{
    struct fr_graph *given = *g;
    enum fr_status st = fr__graph_set_formats(given, f) ? FR_OK : fr__fail_nomem(err);

    if (st == FR_OK && f->wide_first + f->wide_last == 0)
        return FR_OK;
    if (st == FR_OK)
        st = fr__keep_wide(given, f->wide_first, f->wide_last, g, err);
    fr_graph_free(given);
    return st;
}

enum fr_status fr_workload_load(struct fr_graph **out, const char *spec,
                                const struct fr_workload_options *opt, struct fr_error *err)
{
    struct fr_graph *g;
    enum fr_status st;

    FR_TRY(load(&g, spec, opt, err));
    if (opt && opt->formats)
        FR_TRY(keep_formats(&g, opt->formats, err));
    if (opt && opt->layout != FR_LAYOUT_DEFAULT)
        g->layout = opt->layout;
    if (!opt || opt->fusions == 0) {
        *out = g;
        return FR_OK;
    }
    st = fr__fuse(g, opt->fusions, out, err);
    fr_graph_free(g);
    return st;
}

enum fr_status fr__workload_load_in(struct fr_graph **out, const char *spec,
                                    const struct fr_workload_options *opt, const char *formats,
                                    struct fr_error *err)
{
    struct fr_workload_options in = *opt;
    struct fr__formats_file *owned;
    enum fr_status st;

    if (!formats)
        return fr_workload_load(out, spec, opt, err);
    FR_TRY(fr__formats_load(&in.formats, &owned, formats, err));
    in.dtype = in.formats->dtype;
    st = fr_workload_load(out, spec, &in, err);
    fr__formats_free(owned);
    return st;
}

const char *fr_workload_model(const char *spec)
{
    char path[LONGEST_PATH];
    const char *more;

    if (fr__zoo_find(spec))
        return spec;
    if (has_options(spec, path, sizeof(path), &more))
        return fr__hf_model(path);
    return fr__exists(spec) ? fr__hf_model(spec) : NULL;
}
