/* lowering/log.c - formats the lines of the decision log. */
#include "config.h"

#include "base/cancel.h"
#include "lowering/log.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

bool fr__wants_log(const struct fr_context *ctx)
{
    return ctx && ctx->log;
}

bool fr__is_cancelled(const struct fr_context *ctx)
{
    return ctx && fr__flag_is_set(ctx->cancel);
}

enum fr_status fr__check_cancelled(const struct fr_context *ctx, struct fr_error *err)
{
    return fr__is_cancelled(ctx) ? fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted") : FR_OK;
}

void fr__log(const struct fr_context *ctx, const char *fmt, ...)
{
    char line[1024];
    va_list ap;

    if (!fr__wants_log(ctx))
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    ctx->log(ctx->log_user, line);
}
