/* calibrate/fit/read/collective_data.h - measured collectives and messages from CSV files and
 * logs of nccl-tests (doc/collectives.md). */
#ifndef FR_CALIBRATE_FIT_READ_COLLECTIVE_DATA_H
#define FR_CALIBRATE_FIT_READ_COLLECTIVE_DATA_H

#include "base/csv.h"
#include "calibrate/messages/system.h"

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
    char **sources, **links; /* distinct, in the order of their first row */
    size_t n_rows, rows_cap, n_messages, messages_cap, n_sources, sources_cap, n_links, links_cap;
};

/* Appends rows of a file. Of a CSV file: rows of that system and of the four operations that have a
 * time and whose algorithm and protocol NCCL chose; or messages, if it has a column `src`. Of a log
 * (nccl_log.h), which does not name systems: all rows of the four operations. FR_EPARSE and
 * FR_ERANGE with the place; FR_ENOENT, FR_EIO, FR_ENOMEM. */
enum fr_status fr__collective_data_read(struct fr__collective_data *d, const char *path,
                                        uint32_t file, const char *system, struct fr_error *err);
/* The same from memory. name is used for the path in messages and must outlive the call only. */
enum fr_status fr__collective_data_read_text(struct fr__collective_data *d, const char *text,
                                             size_t len, const char *name, const char *system,
                                             struct fr_error *err);
void fr__collective_data_fini(struct fr__collective_data *d);

/* ---- for readers of one layout ---- */

/* Appends *row, unless its operation is not one of the four ("all_reduce", as nccl-tests writes
 * it). Of *row the caller sets call without op and is_summed_in_switch, time_s, file and line; the
 * rest is set here. */
enum fr_status fr__collective_data_add(struct fr__collective_data *d,
                                       struct fr__collective_row *row, const char *op,
                                       const char *dtype, const char *source, struct fr_error *err);
/* Appends a message, of which bytes, time_s, file and line are set. */
enum fr_status fr__collective_data_add_message(struct fr__collective_data *d,
                                               struct fr__message_row *row, const char *link,
                                               const char *source, struct fr_error *err);

struct fr__collective_scan {
    struct fr__collective_data *data;
    const char *system;
    uint32_t file;
};
/* Columns of the CSV of messages (message_data.c); user: struct fr__collective_scan. */
extern const struct fr__csv_column fr__message_columns[];
enum fr_status fr__message_take_row(void *user, const struct fr__cell cells[],
                                    struct fr_error *err);
#endif
