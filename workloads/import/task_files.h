/* workloads/import/task_files.h - which task of a workflow writes and reads which files, and so
 * what moves between two of them. */
#ifndef FR_WORKLOADS_IMPORT_TASK_FILES_H
#define FR_WORKLOADS_IMPORT_TASK_FILES_H

#include "base/arena.h"
#include "base/hash.h"

/* A task and a file that it reads or writes. */
struct fr__task_file {
    uint32_t task, file;
    bool is_output;
};

struct fr__task_files {
    struct fr__arena *arena; /* of names; the caller's */
    struct fr__strings names;
    uint64_t *bytes; /* [names.n] the largest size that is said of a file */
    struct fr__task_file *uses;
    size_t n_uses, cap_uses, cap_bytes;
};

void fr__task_files_fini(struct fr__task_files *f);
/* FR_ENOMEM. */
enum fr_status fr__task_files_add(struct fr__task_files *f, uint32_t task, const char *file,
                                  uint64_t bytes, bool is_output, struct fr_error *err);
/* After the last one was added. */
void fr__task_files_finish(struct fr__task_files *f);
/* Bytes of the files that `from` writes and `to` reads, at most 2^53. Cost: O(what `from` writes,
 * times the logarithm of all). */
uint64_t fr__task_files_between(const struct fr__task_files *f, uint32_t from, uint32_t to);
#endif
