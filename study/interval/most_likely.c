/* study/interval/most_likely.c - Gauss-Newton on a function with a corner. */
#include "config.h"

#include "study/interval/most_likely.h"

#include <math.h>
#include <string.h>

/* Updates and messages may take less than predicted, but half of that is always done. */
static const double LEAST = -0.5;
/* The variance of what cannot move. */
static const double AT_END = 1e-8;
/* Degrees of freedom where three steps or more can contradict each other. */
static const double FREEDOM = 3;
enum { MOST_ROUNDS = 24 };
static const double SETTLED = 3e-3;
/* The factors that are believed: beyond, a time is a misprint. */
static const double MOST_LOG = 3;

/* Where the search is. */
struct place {
    double moved[FR__N_MOVED], covariance[FR__N_MOVED][FR__N_MOVED];
};

double fr__freedom_of(size_t n_steps)
{
    return n_steps > 2 ? FREEDOM : 0;
}

static enum fr_status look(const struct fr__seen *s, const struct place *at, struct fr__normal *out,
                           struct fr_error *err)
{
    *out = (struct fr__normal){.misfit = fr__prior_misfit(&s->prior, at->moved)};
    for (size_t i = 0; i < s->n; i++) {
        double miss, slope[FR__N_MOVED];

        FR_TRY(s->look(s->user, i, at->moved, &miss, slope, err));
        fr__normal_add(out, slope, miss, FR__NOISE * FR__NOISE, s->freedom);
    }
    return FR_OK;
}

/* How far each part may go. */
static void find_ends(const struct fr__seen *s, double least[FR__N_MOVED], double most[FR__N_MOVED])
{
    least[FR__COMPUTE] = least[FR__HOST] = -MOST_LOG;
    least[FR__EXCHANGE] = least[FR__STEP] = LEAST;
    least[FR__COPIES] = 0;
    most[FR__COMPUTE] = s->most_compute;
    most[FR__HOST] = MOST_LOG;
    most[FR__EXCHANGE] = most[FR__STEP] = most[FR__COPIES] = INFINITY;
}

/* Adds that part k is at `to`. */
static void pin(struct fr__normal *n, unsigned k, double to, double from)
{
    n->a[k][k] += 1 / AT_END;
    n->b[k] += (to - from) / AT_END;
}

/* Solves the equations and goes there. Where that passes the end of a part, the part stays at its
 * end and the others are solved for again. Keeps the covariance that is without ends. Returns the
 * largest part of the way. */
static double step(const struct fr__seen *s, struct place *at, const struct fr__normal *n)
{
    double least[FR__N_MOVED], most[FR__N_MOVED], d[FR__N_MOVED], moved = 0;
    double unused[FR__N_MOVED][FR__N_MOVED];
    bool is_at_end[FR__N_MOVED] = {false, false, false, false, false};
    struct fr__normal pinned = *n;

    find_ends(s, least, most);
    fr__normal_solve(n, at->moved, &s->prior, d, at->covariance);
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        double to = at->moved[k] + d[k];

        if (is_at_end[k] || (to >= least[k] && to <= most[k]))
            continue;
        is_at_end[k] = true;
        pin(&pinned, k, fmax(least[k], fmin(most[k], to)), at->moved[k]);
        fr__normal_solve(&pinned, at->moved, &s->prior, d, unused);
        k = (unsigned)-1; /* from the first again */
    }
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        double from = at->moved[k];

        at->moved[k] = fmax(least[k], fmin(most[k], from + d[k]));
        moved = fmax(moved, fabs(at->moved[k] - from));
    }
    return moved;
}

/* The equations at best that those of `over`, found at its place, are added to. */
static struct fr__normal join(const struct place *best, const struct fr__normal *at_best,
                              const struct place *over, const struct fr__normal *at_over)
{
    struct fr__normal both = *at_best;

    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        both.b[k] += at_over->b[k];
        for (unsigned l = 0; l < FR__N_MOVED; l++) {
            both.b[k] += at_over->a[k][l] * (over->moved[l] - best->moved[l]);
            both.a[k][l] += at_over->a[k][l];
        }
    }
    return both;
}

/* A step takes what is longer, the GPU's work or the host's, and slopes hold on one side of that
 * corner. Where a Gauss-Newton step makes the misfit worse, it has passed it: then the equations of
 * both sides are solved together, and if that is no better, half the way is gone, and so on. */
static enum fr_status search(const struct fr__seen *s, struct place *at, struct fr_error *err)
{
    struct place best = *at;
    struct fr__normal here, at_best = {.misfit = INFINITY};
    double moved = INFINITY;
    bool is_joined = false;

    for (unsigned round = 0; round < MOST_ROUNDS && moved > SETTLED; round++) {
        FR_TRY(look(s, at, &here, err));
        if (here.misfit <= at_best.misfit) {
            struct place from = *at;

            moved = step(s, at, &here);
            if (moved <= SETTLED)
                return FR_OK;
            at_best = here;
            best = from;
            memcpy(best.covariance, at->covariance, sizeof(best.covariance));
            is_joined = false;
        } else if (!is_joined) {
            struct fr__normal both = join(&best, &at_best, at, &here);

            *at = best;
            moved = step(s, at, &both);
            is_joined = true;
        } else {
            for (unsigned k = 0; k < FR__N_MOVED; k++)
                at->moved[k] = (at->moved[k] + best.moved[k]) / 2;
            moved /= 2;
        }
    }
    *at = best;
    return FR_OK;
}

enum fr_status fr__most_likely(double moved[FR__N_MOVED],
                               double covariance[FR__N_MOVED][FR__N_MOVED],
                               const struct fr__seen *seen, struct fr_error *err)
{
    struct place at = {.moved = {0}};

    FR_TRY(search(seen, &at, err));
    memcpy(moved, at.moved, sizeof(at.moved));
    memcpy(covariance, at.covariance, sizeof(at.covariance));
    return FR_OK;
}
