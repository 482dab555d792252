/* results/parts/output.c - opens and closes files of results and looks for cancellation.
 *
 * It is separate because the tables of formats and the writers in the rooms all need it.
 */
#include "config.h"

#include "base/cancel.h"
#include "base/error.h"
#include "results/parts/output.h"

enum fr_status fr__open_output(struct fr__out *o, const char *path, struct fr_error *err)
{
    enum fr_status st = fr__out_open(o, path, err);

    if (st != FR_ENOENT)
        return st;
    err->code = FR_EIO;
    return FR_EIO;
}

enum fr_status fr__check_output(const char *path, struct fr_error *err)
{
    struct fr__out o;

    FR_TRY(fr__open_output(&o, path, err));
    fr__out_abort(&o);
    return FR_OK;
}

enum fr_status fr__check_cancel(const struct fr_context *ctx, struct fr_error *err)
{
    if (ctx && fr__flag_is_set(ctx->cancel))
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
    return FR_OK;
}

enum fr_status fr__close_output(struct fr__out *o, enum fr_status st, const struct fr_context *ctx,
                                struct fr_error *err)
{
    if (st == FR_OK)
        st = fr__check_cancel(ctx, err);
    if (st == FR_OK)
        st = fr__out_commit(o, err);
    fr__out_abort(o);
    return st;
}
