/* results/parts/output.h - files of results: how they are opened, cancellation. */
#ifndef FR_RESULTS_PARTS_OUTPUT_H
#define FR_RESULTS_PARTS_OUTPUT_H

#include "base/file.h"
#include "results/results.h"

/* Opens a file that appears whole or not at all, as fr__out_open does, but a missing folder is
 * FR_EIO: the input is right and the writing fails. */
enum fr_status fr__open_output(struct fr__out *o, const char *path, struct fr_error *err);

/* Whether the file can be made; nothing is left there. FR_EIO. */
enum fr_status fr__check_output(const char *path, struct fr_error *err);

/* Ends the writing of o, whose writer returned st: the file appears when st is FR_OK and nobody
 * cancelled (ctx may be NULL); else nothing is left there. FR_ECANCELLED, FR_EIO. */
enum fr_status fr__close_output(struct fr__out *o, enum fr_status st, const struct fr_context *ctx,
                                struct fr_error *err);

/* FR_ECANCELLED when the context says so; ctx may be NULL. */
enum fr_status fr__check_cancel(const struct fr_context *ctx, struct fr_error *err);
#endif
