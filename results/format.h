/* results/format.h - file formats: one struct and one row each. */
#ifndef FR_RESULTS_FORMAT_H
#define FR_RESULTS_FORMAT_H

#include "base/file.h"
#include "results/results.h"

struct fr__format {
    const char *ending; /* ".json"; the longest that fits a path wins */
    const char *summary;
    bool takes_comparison;
    bool shows_sensitivity; /* where the records have any */
    /* Writes to f, whose own failures (ferror) the caller notices. */
    enum fr_status (*write)(const struct fr_results *rs, FILE *f, const struct fr_context *ctx,
                            struct fr_error *err);
};

/* gives the declarations, the table, help and messages */
#define FR__FORMATS(X) X(json) X(csv) X(trace) X(html) X(png) X(svg) X(pdf)

#define FR__FORMAT_DECLARE(name) extern const struct fr__format fr__format_##name;
FR__FORMATS(FR__FORMAT_DECLARE)
#undef FR__FORMAT_DECLARE

/* Relative change of the resource itself when it is FR_FASTER times as fast: +0.25, or -0.2 of a
 * latency or launch time. */
static inline double fr__faster_change(const struct fr_record_sensitivity *s)
{
    return s->is_time ? -(FR_FASTER - 1) / FR_FASTER : FR_FASTER - 1;
}

/* What speed-ups are against: `single` where it is among the strategies, else the first. */
const struct fr_record *fr__speed_up_base(const struct fr_results *rs);

/* fr__out_open, but a folder that does not exist is FR_EIO: no bad input, the writing failed. */
enum fr_status fr__open_output(struct fr__out *o, const char *path, struct fr_error *err);

/* FR_ECANCELLED when the context says so; ctx may be NULL. */
enum fr_status fr__check_cancel(const struct fr_context *ctx, struct fr_error *err);
#endif
