/* api/verbs/calibrate_system.c - fit, check and show systems: collectives and links. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "calibrate/messages/system.h"
#include "api/verbs/verbs.h"
#include "results/fits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_misses(FILE *f, const struct fr_misses *m)
{
    if (m->n == 0)
        fprintf(f, " %8s %8s %8s %8s\n", "-", "-", "-", "-");
    else
        fprintf(f, " %6.1f %% %6.1f %% %6.1f %% %+6.1f %%\n", 100 * m->median, 100 * m->p90,
                100 * m->worst, 100 * m->bias);
}

enum { CLASS = 192 };

static int widest_class(const struct fr_system *s)
{
    char name[CLASS];
    int widest = 16;

    for (size_t i = 0; i < FR_SYSTEM_CLASSES; i++)
        if (fr_system_class_name(s, i, name, sizeof(name)) && (int)strlen(name) > widest)
            widest = (int)strlen(name);
    return widest;
}

static void print_system(FILE *f, const struct fr_system *s)
{
    const struct fr_system_info *info = fr_system_info(s);
    int width = widest_class(s);
    char name[CLASS];

    fprintf(f, "%s: misses on rows that were held out%s%s\n\n", info->name,
            info->source[0] ? ", from " : "", info->source);
    fprintf(f, "  %-*s %8s %8s %8s %8s %8s\n", width, "class", "held out", "median", "p90", "worst",
            "bias");
    for (size_t i = 0; i < FR_SYSTEM_CLASSES; i++) {
        if (!fr_system_class_name(s, i, name, sizeof(name)))
            continue;
        fprintf(f, "  %-*s %8" PRIu64, width, name, fr_system_class_misses(s, i)->n);
        print_misses(f, fr_system_class_misses(s, i));
    }
}

enum fr_status fr__system_fit(FILE *f, const struct fr__options *o, struct fr_error *err)
{
    struct fr_system *s;
    enum fr_status st;

    if (o->device || o->n_gpus > 0 || o->n_files != 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun calibrate fit --system' takes one -o FILE.yaml, neither -d nor "
                        "--gpu");
    FR_TRY(fr_system_fit(&s, o->system, o->arguments, o->n_arguments, err));
    st = fr_system_write(s, o->files[0], err);
    if (st == FR_OK && !o->quiet)
        print_system(f, s);
    fr_system_free(s);
    return st;
}

/* ---- check ---- */

static void write_checks(FILE *f, const struct fr_system *s, const struct fr_system_check checks[])
{
    struct fr__json j;
    char name[CLASS];

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '[', false);
    for (size_t i = 0; i < FR_SYSTEM_CLASSES; i++) {
        const struct fr_misses *m = &checks[i].misses;

        if (m->n == 0 || !fr_system_class_name(s, i, name, sizeof(name)))
            continue;
        fr__json_open(&j, NULL, '{', true);
        fr__json_string(&j, "class", name);
        fr__json_string(&j, "dtype", "any");
        fr__json_count(&j, "n", m->n);
        fr__json_number(&j, "median", m->median);
        fr__json_number(&j, "p90", m->p90);
        fr__json_number(&j, "worst", m->worst);
        fr__json_number(&j, "bias", m->bias);
        fr__json_close(&j, '}');
    }
    fr__json_close(&j, ']');
}

static void print_worst(FILE *f, const char *class_name, const struct fr_system_row *r)
{
    fprintf(f, "    %s:%u: %s of %.0f bytes", r->file, r->line, class_name, r->call.bytes);
    if (r->call.n_gpus > 0)
        fprintf(f, " on %u GPUs", r->call.n_gpus);
    if (r->call.n_nodes > 1)
        fprintf(f, " of %u nodes", r->call.n_nodes);
    fprintf(f, ": %.4g us measured, %.4g us predicted\n", 1e6 * r->measured_s,
            1e6 * r->predicted_s);
}

static void print_checks(FILE *f, const struct fr_system *s, const struct fr_system_check checks[],
                         bool is_all)
{
    int width = widest_class(s);
    char name[CLASS];

    fprintf(f, "%s, %s\n\n  %-*s %8s %8s %8s %8s %8s %8s\n", fr_system_info(s)->name,
            is_all ? "all rows, also those that a fit may have seen"
                   : "only rows that no fit sees (--all: the others too)",
            width, "class", "rows", "left out", "median", "p90", "worst", "bias");
    for (size_t i = 0; i < FR_SYSTEM_CLASSES; i++) {
        if (!fr_system_class_name(s, i, name, sizeof(name)))
            continue;
        fprintf(f, "  %-*s %8" PRIu64 " %8" PRIu64, width, name, checks[i].misses.n,
                checks[i].n_left_out);
        print_misses(f, &checks[i].misses);
    }
    fputs("\n  worst rows\n", f);
    for (size_t i = 0; i < FR_SYSTEM_CLASSES; i++)
        if (checks[i].misses.n > 0 && fr_system_class_name(s, i, name, sizeof(name)))
            print_worst(f, name, &checks[i].worst);
}

static enum fr_status require_rows(const struct fr_system_check checks[], struct fr_error *err)
{
    uint64_t n = 0, n_left_out = 0;

    for (size_t i = 0; i < FR_SYSTEM_CLASSES; i++) {
        n += checks[i].misses.n;
        n_left_out += checks[i].n_left_out;
    }
    if (n > 0)
        return FR_OK;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "the data have no row to judge (%" PRIu64
                    " left out); --rows-of names another system in the data, --all takes every row",
                    n_left_out);
}

static enum fr_status draw_fits(struct fr__call *session, const struct fr_system *s,
                                const struct fr_system_check checks[], struct fr_error *err)
{
    const struct fr__options *o = &session->options;
    struct fr_system_fits fits = {.system = s,
                                  .checks = checks,
                                  .rows_of = o->rows_of,
                                  .paths = o->arguments,
                                  .n_paths = o->n_arguments,
                                  .min_bytes = (double)o->min_bytes,
                                  .is_all = o->all};

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr__file_done(session,
                             fr_system_fits_draw(&fits, o->files[i], &session->context, err), err));
    return FR_OK;
}

enum fr_status fr__system_check(struct fr__call *session, struct fr_error *err)
{
    const struct fr__options *o = &session->options;
    struct fr_system_check *checks;
    struct fr_system *s;
    enum fr_status st;

    if (o->device || o->n_gpus > 0 || o->from)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun calibrate check --system' takes neither -d, --gpu nor --from");
    FR_TRY(fr_system_load(&s, o->system, err));
    checks = calloc(FR_SYSTEM_CLASSES, sizeof(*checks));
    st = checks ? fr_system_check(s, o->rows_of, o->arguments, o->n_arguments, (double)o->min_bytes,
                                  o->all, checks, err)
                : fr__fail_nomem(err);
    if (st == FR_OK)
        st = require_rows(checks, err);
    if (st == FR_OK)
        st = draw_fits(session, s, checks, err);
    if (st == FR_OK && o->json)
        write_checks(session->out, s, checks);
    else if (st == FR_OK)
        print_checks(session->out, s, checks, o->all);
    free(checks);
    fr_system_free(s);
    return st;
}

/* ---- show ---- */

/* "collectives of one node, of 512 nodes; 2 links" */
static void print_contents(FILE *f, const struct fr_system_info *info)
{
    const char *before = "";

    if (info->n_fitted > 0) {
        fputs("collectives inside a machine", f);
        before = ", ";
    }
    if (info->nodes.n_fitted > 0) {
        fprintf(f, "%sover %u nodes", info->n_fitted > 0 ? " and " : "collectives ",
                info->nodes.most_nodes);
        before = ", ";
    }
    if (info->n_links > 0)
        fprintf(f, "%s%zu link%s", before, info->n_links, info->n_links > 1 ? "s" : "");
    putc('\n', f);
}

enum fr_status fr__system_list(FILE *f, struct fr_error *err)
{
    for (size_t i = 0; fr_system_shipped(i); i++) {
        struct fr_system *s;

        FR_TRY(fr_system_load(&s, fr_system_shipped(i), err));
        fprintf(f, "%-18s ", fr_system_shipped(i));
        print_contents(f, fr_system_info(s));
        fr_system_free(s);
    }
    return FR_OK;
}

/* A file that begins as a system's does: with comments, then its name. */
static bool is_system_file(const char *path)
{
    enum { MAX_BYTES = 16 << 20 };
    struct fr_error ignored;
    size_t len;
    char *text;
    const char *at;
    bool is_system;

    if (!fr__exists(path) || fr__read_file(path, MAX_BYTES, &text, &len, &ignored) != FR_OK)
        return false;
    at = text;
    while (*at == '#' || *at == '\n')
        at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
    is_system = strncmp(at, "system:", 7) == 0;
    free(text);
    return is_system;
}

bool fr__is_system(const char *name_or_path)
{
    for (size_t i = 0; fr_system_shipped(i); i++)
        if (strcmp(fr_system_shipped(i), name_or_path) == 0)
            return true;
    return is_system_file(name_or_path);
}

static void print_parameter(FILE *f, const char *name, double value, double error)
{
    fprintf(f, "  %-24s %10.4g  +- %.2g\n", name, value, error);
}

static void print_nodes(FILE *f, const struct fr_system_nodes *nodes)
{
    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++) {
        enum fr_system_way way = (enum fr_system_way)w;

        if (!nodes->has_way[w])
            continue;
        fprintf(f, "\nover nodes, %s\n", fr_system_way_name(way));
        for (size_t i = 0; fr_system_way_parameter_name(way, i); i++)
            print_parameter(f, fr_system_way_parameter_name(way, i), nodes->ways[w][i],
                            nodes->way_errors[w][i]);
    }
    if (nodes->has_all_to_all)
        fputs("\nover nodes, all-to-all\n", f);
    for (size_t i = 0; nodes->has_all_to_all && fr_system_nodes_all_to_all_name(i); i++)
        print_parameter(f, fr_system_nodes_all_to_all_name(i), nodes->all_to_all[i],
                        nodes->all_to_all_errors[i]);
}

static void print_link(FILE *f, const struct fr_system_link *link)
{
    fprintf(f, "\nsend: %s, from %s\n", link->name, link->source);
    for (size_t i = 0; fr_system_link_parameter_name(i); i++)
        print_parameter(f, fr_system_link_parameter_name(i), link->parameters[i], link->errors[i]);
}

enum fr_status fr__system_show(FILE *f, const char *name, struct fr_error *err)
{
    const struct fr_system_info *info;
    struct fr_system *s;

    FR_TRY(fr_system_load(&s, name, err));
    info = fr_system_info(s);
    print_system(f, s);
    if (info->n_fitted > 0)
        fputs("\ninside a node\n", f);
    for (size_t i = 0; fr_system_parameter_name(i); i++)
        if (info->parameters[i] > 0)
            print_parameter(f, fr_system_parameter_name(i), info->parameters[i], info->errors[i]);
    print_nodes(f, &info->nodes);
    for (size_t i = 0; i < info->n_links; i++)
        print_link(f, &info->links[i]);
    fr_system_free(s);
    return FR_OK;
}
