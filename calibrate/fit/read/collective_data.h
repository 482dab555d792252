/* calibrate/fit/read/collective_data.h - measured collectives and messages from CSV files and
 * logs of nccl-tests (doc/collectives.md). */
#ifndef FR_CALIBRATE_FIT_READ_COLLECTIVE_DATA_H
#define FR_CALIBRATE_FIT_READ_COLLECTIVE_DATA_H

#include "base/csv.h"
#include "calibrate/system.h"

struct fr__collective_row {
    struct fr_system_call call;
    double time_s;
    uint32_t file, line; /* file: index of the path */
    uint32_t source;     /* index into sources */
    uint64_t hash;       /* of (op, GPUs, bytes, dtype) */
};

/* One message over a link. */
struct fr__message_row {
    double bytes, time_s;
    uint32_t file, line;
    uint32_t source, link; /* index into sources, links */
    uint64_t hash;         /* of the bytes */
};

struct fr__collective_data {
    struct fr__collective_row *rows;
    struct fr__message_row *messages;
    char **sources, **links; /* distinct, first come first */
    size_t n_rows, rows_cap, n_messages, messages_cap, n_sources, sources_cap, n_links, links_cap;
};

/* Appends the rows of that system of the four ops, with a time, whose algorithm and protocol
 * NCCL chose, or its messages, when the CSV has a column `src`; of a log (nccl_log.h), which
 * knows no systems, all such rows. FR_EPARSE and FR_ERANGE with the place; FR_ENOENT, FR_EIO,
 * FR_ENOMEM. */
enum fr_status fr__collective_data_read(struct fr__collective_data *d, const char *path,
                                        uint32_t file, const char *system, struct fr_error *err);
/* The same from memory; name stands for the path in messages and must outlive the call only. */
enum fr_status fr__collective_data_read_text(struct fr__collective_data *d, const char *text,
                                             size_t len, const char *name, const char *system,
                                             struct fr_error *err);
void fr__collective_data_fini(struct fr__collective_data *d);

/* ---- for readers of one layout ---- */

/* Appends *row (call without op and is_summed_in_switch, time_s, file and line; the rest is set
 * here) unless it is of another operation than the four ("all_reduce", as nccl-tests has them). */
enum fr_status fr__collective_data_add(struct fr__collective_data *d,
                                       struct fr__collective_row *row, const char *op,
                                       const char *dtype, const char *source, struct fr_error *err);
/* Appends a message (bytes, time_s, file and line). */
enum fr_status fr__collective_data_add_message(struct fr__collective_data *d,
                                               struct fr__message_row *row, const char *link,
                                               const char *source, struct fr_error *err);

struct fr__collective_scan {
    struct fr__collective_data *data;
    const char *system;
    uint32_t file;
};
/* The CSV of messages (message_data.c); user: struct fr__collective_scan. */
extern const struct fr__csv_column fr__message_columns[];
enum fr_status fr__message_take_row(void *user, const struct fr__cell cells[],
                                    struct fr_error *err);
#endif
