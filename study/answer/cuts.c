/* study/answer/cuts.c - see cuts.h. */
#include "config.h"

#include "study/answer/cuts.h"

#include "base/error.h"
#include "base/units.h"
#include "lowering/cut_runs.h"
#include "lowering/log.h"
#include "study/answer/recut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct deciding {
    struct fr__making *m;
    const struct fr__replanner *by;
    struct fr__made_cut best; /* plan NULL: m has it */
    double *believed_bytes;   /* [n_devices] of the best; its own */
    double first_s, best_s;
    bool is_steady; /* the lead of hosts is found by several runs, of which the first is no bound */
    struct fr__cuts_seen seen;
};

static bool is_over(const struct fr__making *m)
{
    for (size_t d = 0; d < m->run->n_devices; d++)
        if (m->run->devices[d].is_over)
            return true;
    return false;
}

static size_t believed_size(const struct fr__making *m)
{
    return m->setting->topo->n_devices * sizeof(*m->cut_memory.believed_bytes);
}

static void keep(struct deciding *x)
{
    fr__made_cut_drop(&x->best);
    fr__made_cut_take(&x->best, x->m);
    memcpy(x->believed_bytes, x->m->cut_memory.believed_bytes, believed_size(x->m));
}

static void drop_made(struct fr__making *m)
{
    struct fr__made_cut other;

    fr__made_cut_take(&other, m);
    fr__made_cut_drop(&other);
}

/* A run of the plan at hand in place of the last one. */
static enum fr_status run_again(struct deciding *x, struct fr_error *err)
{
    struct fr__making *m = x->m;

    fr_run_free(m->run);
    m->run = NULL;
    free(m->ahead_s);
    free(m->is_inside);
    m->ahead_s = NULL;
    m->is_inside = NULL;
    m->host.is_inside = NULL;
    m->host.ahead_s = NULL;
    return x->by->run(m, err);
}

/* How long the plan at hand takes, by a run for that alone; INFINITY: no less than the best. */
static enum fr_status time_plan(struct deciding *x, double *iteration_s, struct fr_error *err)
{
    struct fr__making *m = x->m;
    unsigned want = m->options.want;
    double stop_s = m->options.stop_s;
    bool can_stop = !x->is_steady && fr_plan_view(m->plan)->n_iterations == 0;
    enum fr_status st;

    m->options.want = 0;
    m->options.stop_s = can_stop ? x->best_s : stop_s;
    st = x->by->run(m, err);
    m->options.want = want;
    m->options.stop_s = stop_s;
    if (st == FR_OK)
        *iteration_s = m->run->is_stopped ? INFINITY : m->run->iteration_s;
    return st;
}

/* The plan at hand is kept if it is faster than the best. Only then is it run for all that an
 * answer tells. */
static enum fr_status try_plan(struct deciding *x, struct fr_error *err)
{
    struct fr__making *m = x->m;
    double iteration_s;

    FR_TRY(time_plan(x, &iteration_s, err));
    if (iteration_s < x->best_s) {
        FR_TRY(run_again(x, err));
        if (!is_over(m)) {
            x->best_s = m->run->iteration_s;
            keep(x);
            return FR_OK;
        }
    }
    drop_made(m);
    return FR_OK;
}

/* The cut of one kind, run unless it was. */
static enum fr_status try_kind(struct deciding *x, unsigned kind, struct fr_error *err)
{
    struct fr__making *m = x->m;
    enum fr_status st;

    m->cut = (struct fr_cut_choice){.kind = kind, .seen = x->seen.signatures, .n_seen = x->seen.n};
    memset(m->cut_memory.believed_bytes, 0, believed_size(m));
    st = x->by->plan(m, x->by->user, err);
    m->cut.seen = NULL;
    if (st == FR_ENOROOM && !m->cut.is_useless) /* that cut alone has none */
        *m->question->is_overfull = false;
    if (st != FR_OK && st != FR_ENOROOM)
        return st;
    if (st == FR_ENOROOM || !fr__cut_is_new(&x->seen, &m->cut)) {
        drop_made(m);
        return FR_OK;
    }
    return try_plan(x, err);
}

static void say(const struct deciding *x)
{
    char made[32], before[32];

    if (fr__wants_log(x->m->context))
        fr__log(x->m->context, "%u cuts were run: the fastest takes %s, the one planned first %s",
                x->seen.n, fr__format_time(x->best_s, made, sizeof(made)),
                fr__format_time(x->first_s, before, sizeof(before)));
}

static enum fr_status try_all(struct deciding *x, unsigned n_kinds, struct fr_error *err)
{
    enum fr_status st = FR_OK;

    x->first_s = x->best_s = x->m->run->iteration_s;
    x->is_steady = x->m->ahead_s;
    (void)fr__cut_is_new(&x->seen, &x->m->cut);
    keep(x);
    for (unsigned kind = 1; st == FR_OK && kind <= n_kinds; kind++)
        st = try_kind(x, kind, err);
    if (st != FR_OK)
        return st;
    fr__made_cut_give(x->m, &x->best);
    memcpy(x->m->cut_memory.believed_bytes, x->believed_bytes, believed_size(x->m));
    say(x);
    return FR_OK;
}

static enum fr_status decide(struct deciding *x, struct fr_error *err)
{
    unsigned n_kinds = fr__cut_wants_runs(&x->m->cut, x->m->run->iteration_s);

    if (is_over(x->m) || n_kinds == 0)
        return FR_OK;
    x->believed_bytes = malloc(believed_size(x->m));
    return x->believed_bytes ? try_all(x, n_kinds, err) : fr__fail_nomem(err);
}

enum fr_status fr__cuts_decide(struct fr__making *m, const struct fr__replanner *by,
                               struct fr_error *err)
{
    struct deciding x = {.m = m, .by = by};
    const struct fr_run_options asked = m->options;
    bool is_plain = !(asked.jitter_cv > 0) && !(asked.device_cv > 0) && !asked.slowness;
    enum fr_status st = FR_OK;

    if (!fr__cut_may_want_runs(&m->cut))
        return FR_OK;
    m->options.jitter_cv = m->options.device_cv = 0;
    m->options.slowness = NULL;
    if (!is_plain)
        st = run_again(&x, err);
    if (st == FR_OK)
        st = decide(&x, err);
    m->options.jitter_cv = asked.jitter_cv;
    m->options.device_cv = asked.device_cv;
    m->options.slowness = asked.slowness;
    if (st == FR_OK && !is_plain)
        st = run_again(&x, err);
    fr__made_cut_drop(&x.best);
    free(x.believed_bytes);
    return st;
}
