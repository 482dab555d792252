/* api/verbs/topo_import.c - another tool's topology: what was read and assumed, as other files. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "api/verbs/verbs.h"

#include <string.h>

static bool is_simgrid(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".xml") == 0;
}

static enum fr_status check_path(const char *path, struct fr_error *err)
{
    size_t n = strlen(path);

    if (is_simgrid(path) || (n > 5 && strcmp(path + n - 5, ".yaml") == 0) ||
        (n > 4 && strcmp(path + n - 4, ".yml") == 0))
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' ends neither in .yaml (a topology of our own) nor in .xml (SimGrid)",
                    path);
}

static enum fr_status write_file(const struct fr_topo *t, const char *path, struct fr_error *err)
{
    enum fr_status status;
    struct fr__out out;

    FR_TRY(fr__out_open(&out, path, err));
    status =
        is_simgrid(path) ? fr_topo_write_simgrid(out.f, t, err) : fr_topo_write_yaml(out.f, t, err);
    if (status == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return status;
}

static enum fr_status write_files(const struct fr__options *o, const struct fr_topo *t,
                                  struct fr_error *err)
{
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(write_file(t, o->files[i], err));
    return FR_OK;
}

static enum fr_status check_paths(const struct fr__options *o, struct fr_error *err)
{
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(check_path(o->files[i], err));
    return FR_OK;
}

/* What is known of an import besides the topology itself. */
struct report {
    const char *format;
    const char *like; /* a preset with the same routes between GPUs, NULL: none */
    const char *line; /* what to give -t; in "4x LINE" too */
};

/* A preset is shorter where copies of it behave alike in a cluster; a file whose GPUs were said by
 * --gpu-type is not loaded without, so that what -o has written stands for it. NULL: nothing
 * does. */
static enum fr_status find_line(const struct fr__options *o, const struct fr_topo *t,
                                struct report *r, struct fr_error *err)
{
    bool is_same = false;

    r->line = o->gpu_type ? NULL : t->name;
    for (size_t i = 0; i < o->n_files && !r->line; i++)
        r->line = is_simgrid(o->files[i]) ? NULL : o->files[i];
    if (r->like)
        FR_TRY(fr_topo_preset_stands_for(t, r->like, &is_same, err));
    r->line = is_same ? r->like : r->line;
    return FR_OK;
}

static void print_report(FILE *f, const struct fr_topo *t, const struct report *r)
{
    fprintf(f, "%s\nformat: %s\n%s\n%zu machine%s, %zu GPUs, %zu links\nin one line: %s\n", t->name,
            r->format, t->summary, t->n_machines, t->n_machines == 1 ? "" : "s", t->n_gpus,
            t->n_links, r->line ? r->line : "as the file that -o BOX.yaml writes");
    if (r->like)
        fprintf(f, "routes between GPUs as in the preset %s%s\n", r->like,
                r->line && strcmp(r->line, r->like) == 0 ? "" : ", with other NICs");
    fr__topo_print_notes(f, t);
}

static void write_report(FILE *f, const struct fr_topo *t, const struct report *r)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "name", t->name);
    fr__json_string(&j, "format", r->format);
    fr__json_string(&j, "summary", t->summary);
    fr__json_count(&j, "machines", t->n_machines);
    fr__json_count(&j, "gpus", t->n_gpus);
    fr__json_count(&j, "links", t->n_links);
    fr__json_string(&j, "line", r->line);
    fr__json_string(&j, "like_preset", r->like);
    fr__topo_write_notes(&j, t);
    fr__json_close(&j, '}');
    putc('\n', f);
}

enum fr_status fr__verb_topo_import(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct report r = {NULL, NULL, NULL};
    struct fr_topo *t;
    enum fr_status st;

    FR_TRY(check_paths(o, err));
    FR_TRY(fr_topo_import(&t, o->arguments[0], o->gpu_type, &r.format, err));
    st = fr_topo_preset_like(t, &r.like, err);
    if (st == FR_OK)
        st = find_line(o, t, &r, err);
    if (st == FR_OK)
        st = write_files(o, t, err);
    if (st == FR_OK && o->json)
        write_report(s->out, t, &r);
    else if (st == FR_OK)
        print_report(s->out, t, &r);
    fr_topo_free(t);
    return st;
}

enum fr_status fr__verb_topo_export(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_topo *t;
    enum fr_status st;

    FR_TRY(check_paths(o, err));
    FR_TRY(fr_topo_load(&t, o->arguments[0], err));
    if (o->n_files > 0)
        st = write_files(o, t, err);
    else
        st = fr_topo_write_yaml(s->out, t, err);
    fr_topo_free(t);
    return st;
}
