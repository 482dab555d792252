/* workloads/import/task_list.c - from a list of tasks and needs to a graph.
 *
 * It is separate because the importers of STG, DAX and WfCommons share it.
 */
#include "config.h"

#include "workloads/import/task_list.h"

#include "base/error.h"
#include "workloads/graph/builder.h"

#include <stdlib.h>
#include <string.h>

void fr__task_list_fini(struct fr__task_list *l)
{
    fr__strings_fini(&l->names);
    free(l->tasks);
    free(l->needs);
}

enum fr_status fr__task_list_add(struct fr__task_list *l, const char *name, double time_s,
                                 struct fr_loc loc, struct fr_error *err)
{
    char *copy = fr__arena_strdup(l->arena, name);
    bool is_new = false;
    uint32_t id;

    if (!copy)
        return fr__fail_nomem(err);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            *c = '_';
    if (!copy[0])
        return fr__fail(err, FR_EPARSE, loc, "a task without a name");
    if (!(time_s >= 0 && time_s <= FR__MAX_TIME_S))
        return fr__fail(err, FR_ERANGE, loc, "task '%.60s' takes %g s, expected 0 to %g", copy,
                        time_s, FR__MAX_TIME_S);
    if (l->n_tasks >= FR__MAX_OPS)
        return fr__fail(err, FR_ERANGE, loc, "more than %zu tasks", FR__MAX_OPS);
    id = fr__strings_add(&l->names, copy, &is_new);
    if (id == FR_NONE || !fr__grow(&l->tasks, &l->cap_tasks, l->n_tasks + 1, sizeof(*l->tasks)))
        return fr__fail_nomem(err);
    if (!is_new)
        return fr__fail(err, FR_EPARSE, loc, "task '%.60s' appears twice, first at line %u", copy,
                        l->tasks[id].loc.line);
    l->tasks[l->n_tasks++] = (struct fr__task_item){copy, loc, time_s};
    return FR_OK;
}

uint32_t fr__task_list_find(const struct fr__task_list *l, const char *name)
{
    char copy[512];
    size_t n = strlen(name);

    if (n >= sizeof(copy))
        return FR_NONE;
    for (size_t i = 0; i <= n; i++) {
        unsigned char c = (unsigned char)name[i];

        copy[i] = c && (c <= ' ' || c == 0x7f) ? '_' : name[i];
    }
    return fr__strings_find(&l->names, copy);
}

enum fr_status fr__task_list_need(struct fr__task_list *l, uint32_t before, uint32_t after,
                                  uint64_t bytes, struct fr_loc loc, struct fr_error *err)
{
    if (before == after)
        return fr__fail(err, FR_EPARSE, loc, "task '%.60s' comes after itself",
                        l->tasks[after].name);
    if (bytes > FR__MAX_BYTES)
        return fr__fail(err, FR_ERANGE, loc, "more than 8 PiB move to '%.60s'",
                        l->tasks[after].name);
    if (l->n_needs >= FR__MAX_OPS)
        return fr__fail(err, FR_ERANGE, loc, "more than %zu dependencies", FR__MAX_OPS);
    if (!fr__grow(&l->needs, &l->cap_needs, l->n_needs + 1, sizeof(*l->needs)))
        return fr__fail_nomem(err);
    l->needs[l->n_needs++] = (struct fr__task_need){before, after, bytes};
    return FR_OK;
}

static int compare_needs(const void *a, const void *b)
{
    const struct fr__task_need *x = a, *y = b;

    if (x->before != y->before)
        return x->before < y->before ? -1 : 1;
    if (x->after != y->after)
        return x->after < y->after ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static void join_needs(struct fr__task_list *l)
{
    size_t kept = 0;

    if (l->n_needs > 0)
        qsort(l->needs, l->n_needs, sizeof(*l->needs), compare_needs);
    for (size_t i = 0; i < l->n_needs; i++) {
        struct fr__task_need *last = kept ? &l->needs[kept - 1] : NULL;

        if (last && last->before == l->needs[i].before && last->after == l->needs[i].after)
            last->bytes = last->bytes > FR__MAX_BYTES - l->needs[i].bytes
                              ? FR__MAX_BYTES
                              : last->bytes + l->needs[i].bytes;
        else
            l->needs[kept++] = l->needs[i];
    }
    l->n_needs = kept;
}

/* bytes: [n_tasks] that the output of each has. */
static enum fr_status build(const struct fr__task_list *l, struct fr_graph_builder *b,
                            const uint64_t bytes[], uint32_t tensor[], struct fr_error *err)
{
    uint32_t n_tensors = 0;

    for (size_t i = 0; i < l->n_tasks; i++) {
        const struct fr_op op = {.name = l->tasks[i].name,
                                 .loc = l->tasks[i].loc,
                                 .kind = FR_OP_OTHER,
                                 .phase = FR_PHASE_FORWARD,
                                 .forward = (uint32_t)i};
        const struct fr_tensor output = {.bytes = bytes[i], .alias = FR_NONE};
        uint32_t id = fr_graph_builder_op(b, &op, op.name, &output, bytes[i] ? 1 : 0);

        if (id == FR_NONE)
            return fr__fail_nomem(err);
        tensor[i] = bytes[i] ? n_tensors++ : FR_NONE;
        fr_graph_builder_sample(b, id, "*", 1, l->tasks[i].time_s);
    }
    for (size_t i = 0; i < l->n_needs; i++) {
        const struct fr__task_need *need = &l->needs[i];

        fr_graph_builder_edge(b, need->before, need->after,
                              need->bytes ? tensor[need->before] : FR_NONE, need->bytes);
    }
    return FR_OK;
}

const char *fr__task_list_name(struct fr__arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return dot && dot > name ? fr__arena_strndup(arena, name, (size_t)(dot - name))
                             : fr__arena_strdup(arena, name);
}

enum fr_status fr__task_list_finish(struct fr__task_list *l, const char *path, const char *source,
                                    struct fr_graph **out, struct fr_error *err)
{
    struct fr_graph info = {.name = fr__task_list_name(l->arena, path),
                            .source = source,
                            .batch = 1,
                            .dtype = FR_FP32,
                            .param_elem_bytes = 4,
                            .is_tasks = true};
    uint64_t *bytes = fr__arena_alloc(l->arena, l->n_tasks, sizeof(*bytes));
    uint32_t *tensor = fr__arena_alloc(l->arena, l->n_tasks, sizeof(*tensor));
    struct fr_graph_builder *b;
    enum fr_status st;

    if (!info.name || !bytes || !tensor)
        return fr__fail_nomem(err);
    if (l->n_tasks == 0)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){path, 0, 0}, "has no tasks");
    join_needs(l);
    for (size_t i = 0; i < l->n_needs; i++)
        if (l->needs[i].bytes > bytes[l->needs[i].before])
            bytes[l->needs[i].before] = l->needs[i].bytes;
    b = fr_graph_builder_new();
    st = b ? build(l, b, bytes, tensor, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        st = fr_graph_builder_finish(b, &info, out, err);
    fr_graph_builder_free(b);
    return st;
}
