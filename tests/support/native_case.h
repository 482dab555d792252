/* tests/support/native_case.h - a native workload folder to write, load and compare. */
#ifndef FR_TESTS_SUPPORT_NATIVE_CASE_H
#define FR_TESTS_SUPPORT_NATIVE_CASE_H

#include "workloads/workloads.h"

/* A folder of its own in the working folder. */
struct native_case {
    char folder[64];
};

void native_case_make(struct native_case *c);
/* Deletes the folder and the four files that it may have. */
void native_case_remove(struct native_case *c);
void native_case_path(const struct native_case *c, const char *file, char *path, size_t n);
void native_case_write(const struct native_case *c, const char *file, const char *text);

/* A file or folder of the source tree. */
void native_case_source(const char *file, char *path, size_t n);
/* Loads a workload; asserts success. The caller frees the graph. */
struct fr_graph *native_case_load(const char *spec);
/* Exports the graph, loads it again and asserts that both are the same. */
void native_case_check_export(const struct fr_graph *g);
#endif
