/* workloads/import/dax.c - Pegasus workflows in XML (DAX).
 *
 *   <adag>
 *     <job id="ID1" name="mProject" runtime="13.8">
 *       <uses file="a.fits" link="output" size="4222080"/>
 *     </job>
 *     <child ref="ID2"><parent ref="ID1"/></child>
 *   </adag>
 *
 * Between a parent and its child move the files that the one writes and the other reads. Files that
 * no job writes are there from the start and cost nothing.
 *
 * Source:  the DAX schema 2.1 to 3.6 of Pegasus; runtimes and sizes as its workflow generator and
 *          the workflow gallery write them (S. Bharathi et al., WORKS 2008).
 */
#include "config.h"

#include "workloads/import/import.h"

#include "base/error.h"
#include "base/xml.h"
#include "workloads/graph/builder.h"
#include "workloads/import/task_files.h"
#include "workloads/import/task_list.h"

#include <string.h>

#define MAX_FILE_BYTES ((size_t)16 << 20)

static bool is_called(const struct fr__xml *x, const char *name)
{
    const char *colon = strchr(x->name, ':');

    return strcmp(colon ? colon + 1 : x->name, name) == 0;
}

static enum fr_status read_uses(struct fr__task_files *files, uint32_t job, const struct fr__xml *x,
                                struct fr_error *err)
{
    const char *link = fr__xml_get(x, "link"), *name = fr__xml_get(x, "file");
    int64_t size = 0;

    if (!name)
        name = fr__xml_get(x, "name");
    if (!name)
        return fr__fail(err, FR_EPARSE, x->loc, "a <uses> without 'file' or 'name'");
    if (!link || (strcmp(link, "input") != 0 && strcmp(link, "output") != 0))
        return FR_OK; /* executables, checkpoints */
    FR_TRY(fr__xml_integer(x, "size", 0, 0, (int64_t)FR__MAX_BYTES, &size, err));
    return fr__task_files_add(files, job, name, (uint64_t)size, strcmp(link, "output") == 0, err);
}

static enum fr_status read_job(struct fr__task_list *l, struct fr__task_files *files,
                               const struct fr__xml *x, struct fr_error *err)
{
    const char *id;
    double runtime_s = 0;

    FR_TRY(fr__xml_text(x, "id", &id, err));
    if (!fr__xml_get(x, "runtime"))
        return fr__fail(err, FR_EPARSE, x->loc, "job '%.60s' has no 'runtime'", id);
    FR_TRY(fr__xml_number(x, "runtime", 0, 0, FR__MAX_TIME_S, &runtime_s, err));
    FR_TRY(fr__task_list_add(l, id, runtime_s, x->loc, err));
    for (size_t i = 0; i < x->n; i++)
        if (is_called(x->items[i], "uses"))
            FR_TRY(read_uses(files, (uint32_t)l->n_tasks - 1, x->items[i], err));
    return FR_OK;
}

static enum fr_status find_job(const struct fr__task_list *l, const struct fr__xml *x,
                               uint32_t *out, struct fr_error *err)
{
    const char *ref;

    FR_TRY(fr__xml_text(x, "ref", &ref, err));
    *out = fr__task_list_find(l, ref);
    return *out != FR_NONE
               ? FR_OK
               : fr__fail(err, FR_EPARSE, x->loc, "'ref' is \"%.60s\", which is no job", ref);
}

static enum fr_status read_child(struct fr__task_list *l, const struct fr__task_files *files,
                                 const struct fr__xml *x, struct fr_error *err)
{
    uint32_t child = FR_NONE, parent = FR_NONE;

    FR_TRY(find_job(l, x, &child, err));
    for (size_t i = 0; i < x->n; i++) {
        if (!is_called(x->items[i], "parent"))
            continue;
        FR_TRY(find_job(l, x->items[i], &parent, err));
        FR_TRY(fr__task_list_need(l, parent, child, fr__task_files_between(files, parent, child),
                                  x->items[i]->loc, err));
    }
    return FR_OK;
}

static enum fr_status read_all(struct fr__task_list *l, struct fr__task_files *files,
                               const struct fr__xml *top, struct fr_error *err)
{
    if (!is_called(top, "adag"))
        return fr__fail(err, FR_EPARSE, top->loc, "<%.40s>, expected <adag>", top->name);
    for (size_t i = 0; i < top->n; i++)
        if (is_called(top->items[i], "job"))
            FR_TRY(read_job(l, files, top->items[i], err));
    fr__task_files_finish(files);
    for (size_t i = 0; i < top->n; i++)
        if (is_called(top->items[i], "child"))
            FR_TRY(read_child(l, files, top->items[i], err));
    return FR_OK;
}

static enum fr_status load(struct fr_graph **out, const struct fr__import *in, struct fr_error *err)
{
    struct fr__task_list l = {.arena = in->arena};
    struct fr__task_files files = {.arena = in->arena};
    const struct fr__xml *top = NULL;
    enum fr_status st = fr__xml_load_text(in->arena, in->text, in->len, in->name, &top, err);

    if (st == FR_OK)
        st = read_all(&l, &files, top, err);
    if (st == FR_OK)
        st = fr__task_list_finish(&l, in->name, "a Pegasus workflow (DAX)", out, err);
    fr__task_files_fini(&files);
    fr__task_list_fini(&l);
    return st;
}

static bool recognises(const char *head, size_t len)
{
    (void)len;
    return strstr(head, "<adag") != NULL;
}

const struct fr__importer fr__importer_dax = {
    .name = "dax",
    .summary = "Pegasus workflow (DAX)",
    .recognises = recognises,
    .max_bytes = MAX_FILE_BYTES,
    .load = load,
};
