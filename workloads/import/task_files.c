/* workloads/import/task_files.c - files between the tasks of a workflow, found by searching in a
 * sorted list. */
#include "config.h"

#include "workloads/import/task_files.h"

#include "base/error.h"
#include "workloads/graph/builder.h"

#include <stdlib.h>

void fr__task_files_fini(struct fr__task_files *f)
{
    fr__strings_fini(&f->names);
    free(f->bytes);
    free(f->uses);
}

enum fr_status fr__task_files_add(struct fr__task_files *f, uint32_t task, const char *file,
                                  uint64_t bytes, bool is_output, struct fr_error *err)
{
    const char *copy = fr__arena_strdup(f->arena, file);
    bool is_new = false;
    uint32_t id = copy ? fr__strings_add(&f->names, copy, &is_new) : FR_NONE;

    if (id == FR_NONE || !fr__grow(&f->bytes, &f->cap_bytes, id + 1, sizeof(*f->bytes)) ||
        !fr__grow(&f->uses, &f->cap_uses, f->n_uses + 1, sizeof(*f->uses)))
        return fr__fail_nomem(err);
    if (is_new || bytes > f->bytes[id])
        f->bytes[id] = bytes;
    f->uses[f->n_uses++] = (struct fr__task_file){task, id, is_output};
    return FR_OK;
}

static int compare(const void *a, const void *b)
{
    const struct fr__task_file *x = a, *y = b;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->is_output != y->is_output)
        return x->is_output ? 1 : -1;
    return x->file < y->file ? -1 : x->file > y->file;
}

void fr__task_files_finish(struct fr__task_files *f)
{
    if (f->n_uses > 0)
        qsort(f->uses, f->n_uses, sizeof(*f->uses), compare);
}

/* The first use that is not before the wanted one. */
static size_t find(const struct fr__task_files *f, const struct fr__task_file *wanted)
{
    size_t low = 0, high = f->n_uses;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (compare(&f->uses[mid], wanted) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

uint64_t fr__task_files_between(const struct fr__task_files *f, uint32_t from, uint32_t to)
{
    uint64_t sum = 0;

    for (size_t i = find(f, &(struct fr__task_file){from, 0, true});
         i < f->n_uses && f->uses[i].task == from; i++) {
        const struct fr__task_file read = {to, f->uses[i].file, false};
        size_t at = find(f, &read);

        if (i > 0 && compare(&f->uses[i - 1], &f->uses[i]) == 0)
            continue; /* said twice */
        if (at < f->n_uses && compare(&f->uses[at], &read) == 0)
            sum += f->bytes[f->uses[i].file];
        if (sum > FR__MAX_BYTES)
            return FR__MAX_BYTES;
    }
    return sum;
}
