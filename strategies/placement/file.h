/* strategies/placement/file.h - a placement that somebody's script wrote: which op goes where, and
 * in which order.
 *
 *   op,device,order,start_s
 *   *,n0.gpu0,,               a pattern (* ? [a-z]); of several that match the last one decides
 *   fc6,n0.gpu1,3,            an op by its name, which goes before patterns
 *
 * `order` and `start_s` may be left out, as columns or in a row.
 */
#ifndef FR_STRATEGIES_PLACEMENT_FILE_H
#define FR_STRATEGIES_PLACEMENT_FILE_H

#include "base/base.h"

struct fr__placement_row {
    const char *op, *device;
    struct fr_loc op_loc, device_loc, loc; /* loc: of the row */
    bool is_pattern;
    bool has_order, has_start;
    double order, start_s;
    bool is_used; /* by fr__placement_find */
};

struct fr__placement;
/* FR_EIO; FR_EPARSE, FR_ERANGE with line and column: an op that stands there twice, no device, too
 * many patterns; FR_ENOMEM. The caller frees *out. */
enum fr_status fr__placement_load(struct fr__placement **out, const char *path,
                                  struct fr_error *err);
/* The same from memory: len bytes and a NUL after them; name stands for the path. */
enum fr_status fr__placement_load_text(struct fr__placement **out, const char *text, size_t len,
                                       const char *name, struct fr_error *err);
void fr__placement_free(struct fr__placement *p);

/* The row that decides for an op of that name, and marks it as used; NULL: none. Cost: O(1), and
 * the patterns where no row has the name. */
const struct fr__placement_row *fr__placement_find(struct fr__placement *p, const char *op);
/* The row with that number, in the order of the file; NULL past the end. */
const struct fr__placement_row *fr__placement_row(const struct fr__placement *p, size_t i);
#endif
