/* results/formats.h - what a file format of records is, and the list of all of them.
 */
#ifndef FR_RESULTS_FORMATS_H
#define FR_RESULTS_FORMATS_H

#include "results/results.h"

struct fr__format {
    const char *ending; /* ".json"; of several that fit a path the longest is chosen */
    const char *summary;
    bool takes_comparison;
    bool shows_sensitivity; /* where the records hold sensitivities */
    /* Writes to f, whose own failures (ferror) the caller notices. */
    enum fr_status (*write)(const struct fr_results *rs, FILE *f, const struct fr_context *ctx,
                            struct fr_error *err);
};

/* The formats: gives their declarations, the table (formats.c), help and messages. */
#define FR__FORMATS(X)                                                                             \
    X(json) X(csv) X(trace) X(html) X(markdown) X(stage_profile) X(png) X(svg) X(pdf)

#define FR__FORMAT_DECLARE(name) extern const struct fr__format fr__format_##name;
FR__FORMATS(FR__FORMAT_DECLARE)
#undef FR__FORMAT_DECLARE
#endif
