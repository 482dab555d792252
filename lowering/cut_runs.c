/* lowering/cut_runs.c - see cut_runs.h. */
#include "config.h"

#include "lowering/cut_runs.h"

#include <assert.h>
#include <math.h>

/* Choices of ours: where a run is that far from what was planned, some tenths of a second are
 * spent on it. A smaller difference is left, since another cut could hardly gain as much. */
static const double OFF_FRAC = 0.01;
enum { MOST_TASKS = 360000 }; /* of all further runs */

static unsigned most_kinds(const struct fr_cut_choice *c)
{
    double n = floor(MOST_TASKS / fmax(1, c->n_tasks));

    return n < FR_CUT_KINDS - 1 ? (unsigned)n : FR_CUT_KINDS - 1;
}

unsigned fr__cut_wants_runs(const struct fr_cut_choice *c, double made_s)
{
    if (!c->is_chosen || !(c->planned_s > 0) || !(fabs(made_s / c->planned_s - 1) > OFF_FRAC))
        return 0;
    return most_kinds(c);
}

bool fr__cut_may_want_runs(const struct fr_cut_choice *c)
{
    return c->is_chosen && most_kinds(c) > 0;
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
