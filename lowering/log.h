/* lowering/log.h - the decision log: one line a decision, to whoever asked for it. */
#ifndef FR_LOWERING_LOG_H
#define FR_LOWERING_LOG_H

#include "base/base.h"
#include "base/error.h"

/* Does nothing when ctx is NULL or wants no log. Lines over 1023 bytes are cut. */
void fr__log(const struct fr_context *ctx, const char *fmt, ...) FR_PRINTF(2, 3);
/* Whether a line would be read: saves the work of making it. */
bool fr__wants_log(const struct fr_context *ctx);
bool fr__is_cancelled(const struct fr_context *ctx);
/* The same as a status: FR_ECANCELLED. */
enum fr_status fr__check_cancelled(const struct fr_context *ctx, struct fr_error *err);
#endif
