/* lowering/cut_runs.c - see cut_runs.h. */
#include "config.h"

#include "lowering/cut_runs.h"

#include <assert.h>
#include <math.h>

/* Choices of ours: where a run is that far from what was planned, some tenths of a second are
 * spent on it. A smaller difference is left, since another cut could hardly gain as much. */
static const double OFF_FRAC = 0.01;
enum { MOST_TASKS = 360000 }; /* of all further runs */

unsigned fr__cut_wants_runs(const struct fr_cut_choice *c, double made_s, size_t n_tasks)
{
    if (!c->is_chosen || !(c->planned_s > 0) || !(fabs(made_s / c->planned_s - 1) > OFF_FRAC))
        return 0;
    if (n_tasks <= MOST_TASKS / (FR_CUT_KINDS - 1))
        return FR_CUT_KINDS - 1;
    return (unsigned)(MOST_TASKS / n_tasks);
}

bool fr__cut_may_want_runs(const struct fr_cut_choice *c)
{
    return c->is_chosen && c->least_tasks <= MOST_TASKS;
}

bool fr__cut_is_new(struct fr__cuts_seen *seen, const struct fr_cut_choice *c)
{
    for (unsigned i = 0; i < seen->n; i++)
        if (seen->signatures[i] == c->signature)
            return false;
    if (!c->is_chosen || !c->fits)
        return false;
    assert(seen->n < FR_CUT_KINDS);
    seen->signatures[seen->n++] = c->signature;
    return true;
}
