/* workloads/import/task_list.h - tasks and what each needs, as other programs' task graphs say, on
 * the way to a graph. */
#ifndef FR_WORKLOADS_IMPORT_TASK_LIST_H
#define FR_WORKLOADS_IMPORT_TASK_LIST_H

#include "base/arena.h"
#include "base/hash.h"
#include "workloads/workloads.h"

struct fr__task_item {
    const char *name;
    struct fr_loc loc;
    double time_s;
};

/* Task `after` reads so many bytes of `before`; 0: it only waits. */
struct fr__task_need {
    uint32_t before, after;
    uint64_t bytes;
};

struct fr__task_list {
    struct fr__arena *arena; /* of names; the caller's */
    struct fr__strings names;
    struct fr__task_item *tasks;
    struct fr__task_need *needs;
    size_t n_tasks, n_needs, cap_tasks, cap_needs;
};

void fr__task_list_fini(struct fr__task_list *l);
/* The name is copied, blanks in it become '_'. FR_EPARSE: it is there already, or empty; FR_ERANGE:
 * a time that is no time below 1e9 s, too many tasks; FR_ENOMEM. */
enum fr_status fr__task_list_add(struct fr__task_list *l, const char *name, double time_s,
                                 struct fr_loc loc, struct fr_error *err);
/* FR_NONE: there is none. */
uint32_t fr__task_list_find(const struct fr__task_list *l, const char *name);
/* Several needs of one pair become one with the sum of their bytes. FR_EPARSE: of itself;
 * FR_ERANGE; FR_ENOMEM. */
enum fr_status fr__task_list_need(struct fr__task_list *l, uint32_t before, uint32_t after,
                                  uint64_t bytes, struct fr_loc loc, struct fr_error *err);
/* What a graph from a file is called, "montage" of "examples/montage.dax"; in the arena. NULL: out
 * of memory. */
const char *fr__task_list_name(struct fr__arena *arena, const char *path);
/* path: names the graph. FR_EPARSE: no tasks, or a circle. */
enum fr_status fr__task_list_finish(struct fr__task_list *l, const char *path, const char *source,
                                    struct fr_graph **out, struct fr_error *err);
#endif
