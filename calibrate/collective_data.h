/* calibrate/collective_data.h - measured collectives from CSV files and logs of nccl-tests
 * (doc/collectives.md). */
#ifndef FR_CALIBRATE_COLLECTIVE_DATA_H
#define FR_CALIBRATE_COLLECTIVE_DATA_H

#include "calibrate/system.h"

struct fr__collective_row {
    struct fr_system_call call;
    double time_s;
    uint32_t file, line; /* file: index of the path */
    uint32_t source;     /* index into sources */
    uint64_t hash;       /* of (op, GPUs, bytes, dtype) */
};

struct fr__collective_data {
    struct fr__collective_row *rows;
    char **sources; /* distinct, first come first */
    size_t n_rows, cap, n_sources, sources_cap;
};

/* Appends the rows of that system inside one node, of the four ops, with a time, whose algorithm and
 * protocol NCCL chose; of a log (nccl_log.h), which knows no systems, all such rows. FR_EPARSE and FR_ERANGE with the place; FR_ENOENT, FR_EIO, FR_ENOMEM. */
enum fr_status fr__collective_data_read(struct fr__collective_data *d, const char *path,
                                        uint32_t file, const char *system, struct fr_error *err);
/* The same from memory; name stands for the path in messages and must outlive the call only. */
enum fr_status fr__collective_data_read_text(struct fr__collective_data *d, const char *text,
                                             size_t len, const char *name, const char *system,
                                             struct fr_error *err);
/* For readers: appends *row (call.n_gpus and bytes, time_s, file and line; the rest is set here) unless it is of
 * another operation than the four ("all_reduce", as nccl-tests has them) or of several nodes. */
enum fr_status fr__collective_data_add(struct fr__collective_data *d,
                                       struct fr__collective_row *row, const char *op,
                                       unsigned n_nodes, const char *dtype, const char *source,
                                       struct fr_error *err);
void fr__collective_data_fini(struct fr__collective_data *d);
#endif
