/* plan/room.c - what a question takes of our own machine's memory, by the size of its plan.
 *
 * It is separate from the building of plans, which asks it before arrays grow: a question that this
 * machine cannot answer is refused while it is small.
 */
#include "config.h"

#include "plan/internal.h"

#include "base/error.h"
#include "base/units.h"

#include <stdint.h>

/* Bytes of the process at its peak for each part of a plan, while the plan is indexed or run: the
 * array, of which up to half is room to grow, the compressed rows, the engine's state, the result.
 * Measured with simulate (doc/manual.md, "What a question takes"). */
static const double A_TASK = 85, A_DEP = 14, A_BUFFER = 57, A_FREE = 14;

/* What the program takes without a plan. */
static const double FIXED = 3e7;

/* Bytes that a process takes at its peak to make and run a plan of this size; measured, within a
 * factor of two. */
static double plan_needs_bytes(const struct fr__plan_size *n)
{
    return FIXED + A_TASK * (double)n->tasks + A_DEP * (double)n->deps +
           A_BUFFER * (double)n->buffers + A_FREE * (double)n->frees;
}

void fr__plan_limit(struct fr_plan *p, double bytes)
{
    p->limit_bytes = bytes;
}

bool fr__plan_has_room(struct fr_plan *p, const struct fr__plan_size *more)
{
    struct fr__plan_size all = *more;
    double bytes;

    /* more than can be numbered: the strategy's own sentence says so */
    if (p->limit_bytes <= 0 || more->tasks >= INT32_MAX / 4)
        return true;
    all.tasks += p->n_tasks.n;
    all.deps += p->n_deps.n;
    all.buffers += p->n_buffers.n;
    all.frees += p->n_frees.n;
    bytes = plan_needs_bytes(&all);
    if (bytes > p->limit_bytes && bytes > p->needed_bytes)
        p->needed_bytes = bytes;
    return p->needed_bytes <= 0;
}

enum fr_status fr__plan_check_room(const struct fr_plan *p, struct fr_error *err)
{
    char needed[32], limit[32];

    if (p->needed_bytes <= 0)
        return FR_OK;
    return fr__fail(err, FR_ENOMEM, FR_NOWHERE,
                    "out of memory: the question needs about %s of this machine's memory, "
                    "and may take %s; --memory-limit sets how much",
                    fr__format_bytes(p->needed_bytes, needed, sizeof(needed)),
                    fr__format_bytes(p->limit_bytes, limit, sizeof(limit)));
}
