/* results/parts/endings.h - the choice of a writer by a file's ending.
 *
 * What a command answers has a table of endings, each with the function that writes such a file;
 * the longest ending that fits is taken, so that .scaling.png may stand beside .png.
 */
#ifndef FR_RESULTS_PARTS_ENDINGS_H
#define FR_RESULTS_PARTS_ENDINGS_H

#include "results/parts/output.h"

/* Writes `what`, of the type that the table is for, to the end of f. ctx may be NULL. */
typedef enum fr_status (*fr__ending_fn)(FILE *f, const void *what, const char *ending,
                                        const struct fr_context *ctx, struct fr_error *err);

struct fr__ending {
    const char *ending, *summary; /* summary: a line of help, or NULL */
    fr__ending_fn write;
};

struct fr__endings {
    const char *of;   /* "sweeps" */
    const char *hint; /* what else is said when no ending fits, or NULL */
    const struct fr__ending *rows;
    size_t n;
};

/* The i-th ending and its summary; NULL behind the last. */
const char *fr__ending_at(const struct fr__endings *e, size_t i, const char **summary);

/* Whether path has one of the endings and can be made. FR_EUSAGE: none of them, all are named;
 * FR_EIO. */
enum fr_status fr__ending_check(const struct fr__endings *e, const char *path,
                                struct fr_error *err);

/* Writes the file whole or not at all. Errors of fr__ending_check and of the writer;
 * FR_ECANCELLED, FR_EIO. */
enum fr_status fr__ending_write(const struct fr__endings *e, const void *what, const char *path,
                                const struct fr_context *ctx, struct fr_error *err);
#endif
