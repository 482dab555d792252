/* base/file.h - reads whole files, writes files that appear whole or not at all. */
#ifndef FR_BASE_FILE_H
#define FR_BASE_FILE_H

#include "base/base.h"

#include <stdio.h>

/* The whole file, with a NUL after it that is not counted; the caller frees. Refuses folders,
 * devices and files over max_bytes. FR_EPARSE for the former two, FR_ENOENT when it does not exist,
 * FR_EIO. */
enum fr_status fr__read_file(const char *path, size_t max_bytes, char **out, size_t *len,
                             struct fr_error *err);
/* The file for reading, block by block, with its size at that moment; the caller closes it. Refuses
 * folders, pipes and devices, and never waits for one. FR_ENOENT, FR_EIO. */
enum fr_status fr__file_open(const char *path, FILE **out, uint64_t *len, struct fr_error *err);
bool fr__is_folder(const char *path);
bool fr__exists(const char *path);
/* Whether both paths lead to one file: the same device and number, through symbolic and hard links,
 * or, where neither exists yet, the same name in the same folder, so that making the one makes the
 * other. */
bool fr__is_same_file(const char *a, const char *b);
/* "FOLDER/FILE" on the heap; NULL: out of memory. */
char *fr__path_join(const char *folder, const char *file);

/* An output file that is being written: a temporary file in the same folder, then fsync and
 * rename. A link is followed, and a replaced file keeps its permissions. What is no regular file,
 * and anything under /dev, is written directly. f is for the caller to write to, the rest is
 * private. */
struct fr__out {
    FILE *f;
    char *path, *temporary;
};

enum fr_status fr__out_open(struct fr__out *o, const char *path, struct fr_error *err);
/* Flushes, syncs and moves into place; on failure (disk full) nothing is left behind. Ends *o
 * either way. */
enum fr_status fr__out_commit(struct fr__out *o, struct fr_error *err);
/* Throws it away; fine after commit and after a failed open. Zeroed, *o counts as ended. */
void fr__out_abort(struct fr__out *o);

/* Whether a name stands before that ending: "a.csv" ends in ".csv", ".csv" alone does not. */
bool fr__ends_in(const char *path, const char *ending);
#endif
