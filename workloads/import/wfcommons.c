/* workloads/import/wfcommons.c - workflow instances of WfCommons in JSON (WfFormat).
 *
 * Version 1.5 has what a task is in workflow.specification.tasks (its parents, the files that it
 * reads and writes) and how long it took in workflow.execution.tasks. Earlier versions have both in
 * workflow.tasks. Between a parent and its child move the files that the one writes and the other
 * reads.
 *
 * Source:  WfCommons' WfFormat 1.3 to 1.5 (T. Coleman et al., FGCS 128, 2022).
 */
#include "config.h"

#include "workloads/import/import.h"

#include "base/error.h"
#include "base/units.h"
#include "base/yaml.h"
#include "workloads/graph/builder.h"
#include "workloads/import/task_files.h"
#include "workloads/import/task_list.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)16 << 20)

struct reading {
    struct fr__task_list list;
    struct fr__task_files files;
    const struct fr__yaml *tasks; /* the list */
    struct fr__strings sizes;     /* ids of files, of version 1.5 */
    const struct fr__yaml **size; /* [sizes.n] their maps */
    size_t cap_size;
    struct fr__strings ran; /* ids of tasks that were executed, of version 1.5 */
    const struct fr__yaml **run;
    size_t cap_run;
    struct fr__strings names; /* of tasks that have ids too */
    uint32_t *named;          /* [names.n] tasks, the first of each name */
    size_t cap_named;
};

/* The list under key; NULL where there is none. FR_EPARSE: something else. */
static enum fr_status list_of(const struct fr__yaml *map, const char *key,
                              const struct fr__yaml **out, struct fr_error *err)
{
    *out = fr__yaml_get(map, key);
    return *out ? fr__yaml_expect(*out, FR__YAML_LIST, key, err) : FR_OK;
}

/* The first of two keys that is there. */
static enum fr_status text_of(const struct fr__yaml *map, const char *key, const char *other,
                              const char **out, struct fr_loc *loc, struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "an entry", err));
    return fr__yaml_text(map, fr__yaml_get(map, key) ? key : other, NULL, out, loc, err);
}

/* Maps of a list by their 'id'. */
static enum fr_status index_list(const struct fr__yaml *list, struct fr__strings *ids,
                                 const struct fr__yaml ***maps, size_t *cap, struct fr_error *err)
{
    for (size_t i = 0; list && i < list->n; i++) {
        const char *id;
        struct fr_loc loc;
        bool is_new = false;
        uint32_t k;

        FR_TRY(text_of(list->items[i], "id", "name", &id, &loc, err));
        k = fr__strings_add(ids, id, &is_new);
        if (k == FR_NONE || !fr__grow(maps, cap, k + 1, sizeof(**maps)))
            return fr__fail_nomem(err);
        if (!is_new)
            return fr__fail(err, FR_EPARSE, loc, "'%.60s' appears twice", id);
        (*maps)[k] = list->items[i];
    }
    return FR_OK;
}

/* ---- tasks ---- */

static enum fr_status read_runtime(const struct reading *r, const struct fr__yaml *task,
                                   const char *id, double *out, struct fr_error *err)
{
    uint32_t k = fr__strings_find(&r->ran, id);
    const struct fr__yaml *map = k == FR_NONE ? task : r->run[k];
    const char *text;
    struct fr_loc loc;

    if (!fr__yaml_get(map, "runtimeInSeconds") && !fr__yaml_get(map, "runtime"))
        return fr__fail(err, FR_EPARSE, task->loc, "task '%.60s' has no runtimeInSeconds", id);
    FR_TRY(text_of(map, "runtimeInSeconds", "runtime", &text, &loc, err));
    return fr__parse_number(text, "the task's runtime", loc, 0, FR__MAX_TIME_S, out, err);
}

static enum fr_status read_size(const struct fr__yaml *file, uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    double bytes = 0;

    *out = 0;
    if (!fr__yaml_get(file, "sizeInBytes") && !fr__yaml_get(file, "size"))
        return FR_OK;
    FR_TRY(text_of(file, "sizeInBytes", "size", &text, &loc, err));
    FR_TRY(fr__parse_number(text, "the file's size", loc, 0, (double)FR__MAX_BYTES, &bytes, err));
    *out = (uint64_t)bytes;
    return FR_OK;
}

/* Ids of files, of version 1.5. */
static enum fr_status read_file_ids(struct reading *r, uint32_t task, const struct fr__yaml *map,
                                    const char *key, bool is_output, struct fr_error *err)
{
    const struct fr__yaml *list;

    FR_TRY(list_of(map, key, &list, err));
    for (size_t i = 0; list && i < list->n; i++) {
        uint64_t bytes = 0;
        uint32_t k;

        FR_TRY(fr__yaml_expect(list->items[i], FR__YAML_SCALAR, "a file's id", err));
        k = fr__strings_find(&r->sizes, list->items[i]->text);
        if (k != FR_NONE)
            FR_TRY(read_size(r->size[k], &bytes, err));
        FR_TRY(fr__task_files_add(&r->files, task, list->items[i]->text, bytes, is_output, err));
    }
    return FR_OK;
}

/* Files with their sizes and directions, of earlier versions. */
static enum fr_status read_files(struct reading *r, uint32_t task, const struct fr__yaml *map,
                                 struct fr_error *err)
{
    const struct fr__yaml *list;

    FR_TRY(list_of(map, "files", &list, err));
    for (size_t i = 0; list && i < list->n; i++) {
        const char *name, *link;
        struct fr_loc loc;
        uint64_t bytes = 0;

        FR_TRY(text_of(list->items[i], "name", "id", &name, &loc, err));
        FR_TRY(fr__yaml_text(list->items[i], "link", NULL, &link, &loc, err));
        FR_TRY(read_size(list->items[i], &bytes, err));
        FR_TRY(fr__task_files_add(&r->files, task, name, bytes, strcmp(link, "output") == 0, err));
    }
    return FR_OK;
}

static enum fr_status note_name(struct reading *r, uint32_t task, const struct fr__yaml *map,
                                struct fr_error *err)
{
    const struct fr__yaml *name = fr__yaml_get(map, "name");
    bool is_new = false;
    uint32_t k;

    if (!name || name->kind != FR__YAML_SCALAR)
        return FR_OK;
    k = fr__strings_add(&r->names, name->text, &is_new);
    if (k == FR_NONE || !fr__grow(&r->named, &r->cap_named, k + 1, sizeof(*r->named)))
        return fr__fail_nomem(err);
    if (is_new)
        r->named[k] = task;
    return FR_OK;
}

static enum fr_status read_tasks(struct reading *r, struct fr_error *err)
{
    for (size_t i = 0; i < r->tasks->n; i++) {
        const struct fr__yaml *task = r->tasks->items[i];
        const char *id;
        struct fr_loc loc;
        double runtime_s = 0;

        FR_TRY(text_of(task, "id", "name", &id, &loc, err));
        FR_TRY(read_runtime(r, task, id, &runtime_s, err));
        FR_TRY(fr__task_list_add(&r->list, id, runtime_s, task->loc, err));
        FR_TRY(note_name(r, (uint32_t)i, task, err));
        FR_TRY(read_file_ids(r, (uint32_t)i, task, "inputFiles", false, err));
        FR_TRY(read_file_ids(r, (uint32_t)i, task, "outputFiles", true, err));
        FR_TRY(read_files(r, (uint32_t)i, task, err));
    }
    fr__task_files_finish(&r->files);
    return FR_OK;
}

/* Parents are named by id, or by name in files whose tasks have both. */
static enum fr_status find_parent(const struct reading *r, const struct fr__yaml *node,
                                  uint32_t *out, struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, "a parent", err));
    *out = fr__task_list_find(&r->list, node->text);
    if (*out == FR_NONE) {
        uint32_t k = fr__strings_find(&r->names, node->text);

        *out = k == FR_NONE ? FR_NONE : r->named[k];
    }
    return *out != FR_NONE
               ? FR_OK
               : fr__fail(err, FR_EPARSE, node->loc, "parent '%.60s' is no task", node->text);
}

static enum fr_status read_parents(struct reading *r, struct fr_error *err)
{
    for (uint32_t i = 0; i < r->tasks->n; i++) {
        const struct fr__yaml *parents;

        FR_TRY(list_of(r->tasks->items[i], "parents", &parents, err));
        for (size_t k = 0; parents && k < parents->n; k++) {
            uint32_t parent = FR_NONE;

            FR_TRY(find_parent(r, parents->items[k], &parent, err));
            FR_TRY(fr__task_list_need(&r->list, parent, i,
                                      fr__task_files_between(&r->files, parent, i),
                                      parents->items[k]->loc, err));
        }
    }
    return FR_OK;
}

static enum fr_status map_of(const struct fr__yaml *map, const char *key,
                             const struct fr__yaml **out, struct fr_error *err)
{
    *out = fr__yaml_get(map, key);
    return *out ? fr__yaml_expect(*out, FR__YAML_MAP, key, err) : FR_OK;
}

static enum fr_status read_all(struct reading *r, const struct fr__yaml *top, struct fr_error *err)
{
    const struct fr__yaml *workflow = NULL, *said = NULL, *ran = NULL, *list = NULL;

    FR_TRY(fr__yaml_expect(top, FR__YAML_MAP, "a workflow", err));
    FR_TRY(map_of(top, "workflow", &workflow, err));
    if (!workflow)
        return fr__fail(err, FR_EPARSE, top->loc, "no \"workflow\", expected one of WfFormat");
    FR_TRY(map_of(workflow, "specification", &said, err));
    FR_TRY(map_of(workflow, "execution", &ran, err));
    if (said) {
        FR_TRY(list_of(said, "files", &list, err));
        FR_TRY(index_list(list, &r->sizes, &r->size, &r->cap_size, err));
    }
    if (ran) {
        FR_TRY(list_of(ran, "tasks", &list, err));
        FR_TRY(index_list(list, &r->ran, &r->run, &r->cap_run, err));
    }
    FR_TRY(list_of(said ? said : workflow, "tasks", &r->tasks, err));
    if (!r->tasks)
        return fr__fail(err, FR_EPARSE, workflow->loc, "the workflow has no \"tasks\"");
    FR_TRY(read_tasks(r, err));
    return read_parents(r, err);
}

static enum fr_status load(struct fr_graph **out, const struct fr__import *in, struct fr_error *err)
{
    struct reading r = {.list = {.arena = in->arena}, .files = {.arena = in->arena}};
    const struct fr__yaml *top = NULL;
    enum fr_status st = fr__yaml_load_text(in->arena, in->text, in->len, in->name, &top, err);

    if (st == FR_OK)
        st = read_all(&r, top, err);
    if (st == FR_OK)
        st = fr__task_list_finish(&r.list, in->name, "a workflow of WfCommons", out, err);
    fr__task_files_fini(&r.files);
    fr__task_list_fini(&r.list);
    fr__strings_fini(&r.sizes);
    fr__strings_fini(&r.ran);
    fr__strings_fini(&r.names);
    free(r.named);
    free(r.size);
    free(r.run);
    return st;
}

static bool recognises(const char *head, size_t len)
{
    (void)len;
    head += strspn(head, " \t\r\n");
    return *head == '{' && (strstr(head, "\"workflow\"") || strstr(head, "\"schemaVersion\""));
}

const struct fr__importer fr__importer_wfcommons = {
    .name = "wfcommons",
    .summary = "WfCommons workflow (JSON)",
    .recognises = recognises,
    .max_bytes = MAX_FILE_BYTES,
    .load = load,
};
