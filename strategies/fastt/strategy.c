/* strategies/fastt/strategy.c - dpos and os-dpos as strategies: their own plan, or that of a plain
 * strategy where the engine makes it faster, added to the caller's plan. */
#include "config.h"

#include "strategies/fastt/fastt.h"

#include "base/error.h"
#include "base/units.h"
#include "lowering/dag/plan.h"
#include "strategies/fastt/tell.h"
#include "lowering/log.h"
#include "lowering/check_problem.h"
#include "lowering/values.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* ---- the log ---- */

static void log_tries(const struct fr__fastt *f, const struct fr_context *ctx)
{
    static const char *const dims[] = {"whole", "batch", "channels"};
    char name[160], after[48];

    for (size_t i = 0; i < f->result.n_tries; i++) {
        const struct fr__os_dpos_try *t = &f->result.tries[i];

        if (isnan(t->after_s))
            snprintf(after, sizeof(after), "no shorter than the best");
        else if (isinf(t->after_s))
            snprintf(after, sizeof(after), "does not fit");
        else
            snprintf(after, sizeof(after), "%.6f s", t->after_s);
        fr__log(ctx, "split %s along the %s in %u: %.6f s -> %s%s",
                fr__dag_name(f->start, t->op, name, sizeof(name)), dims[t->dim], t->n, t->before_s,
                after, t->is_kept ? ", kept" : "");
    }
}

static void log_plan(const struct fr__fastt *f, const struct fr__placer *pl)
{
    const struct fr__os_dpos_result *r = &f->result;
    char bytes[32];

    if (!fr__wants_log(pl->ctx))
        return;
    fr__log(pl->ctx, "from %s of %zu operations, %zu of them on the critical path",
            f->is_data_parallel ? "replicas that share their variables: a dag" : "the model: a dag",
            f->start->n_ops, r->plan.n_path);
    log_tries(f, pl->ctx);
    if (isfinite(f->replicas_s))
        fr__log(pl->ctx, "replicas left alone: %.6f s%s", f->replicas_s,
                f->keeps_replicas ? ", kept" : "");
    for (size_t d = 0; d < f->machine.n_devices; d++) {
        size_t n = 0;

        for (size_t i = 0; i < r->dag->n_ops; i++)
            n += r->plan.device[i] == d;
        fr__log(pl->ctx, "%s: %zu operations, %s held for long",
                pl->in->topo->devices[pl->in->devices[d]].name, n,
                fr__format_bytes((double)r->plan.used_bytes[d], bytes, sizeof(bytes)));
    }
    fr__log(pl->ctx, "planned: %.6f s, at least %.6f s", r->plan.makespan_s, f->bounds.best_s);
    for (size_t k = 0; k < f->n_plain; k++)
        fr__log(pl->ctx, "plain %s: made %.6f s", f->plain[k].strategy->name, f->plain[k].made_s);
    if (f->plan_of)
        fr__log(pl->ctx, "handed over: the plan of %s", f->plan_of->name);
}

/* ---- plain strategies ---- */

/* Asks the engine about the plain strategies. A run of one stops when it passes the best. */
static enum fr_status compare_plain(struct fr__fastt *f, struct fr__placer *pl,
                                    const struct fr__fastt_asked *asked, struct fr_error *err)
{
    double best_s = f->own_s;
    struct fr__referee referee;
    enum fr_status st = fr__referee_init(&referee, pl->in, pl->ctx, err);

    assert(asked->n_plain <= FR__FASTT_MOST_PLAIN);
    for (size_t k = 0; st == FR_OK && k < asked->n_plain; k++) {
        struct fr__made made = {.s = INFINITY};
        unsigned cut = 0;

        st = fr__referee_ask_strategy(&referee, asked->plain[k], best_s, &made, &cut, err);
        f->plain[f->n_plain++] = (struct fr__fastt_plain){asked->plain[k], made.s, cut};
        if (!(made.s < best_s))
            continue;
        best_s = made.s;
        f->plan_of = asked->plain[k];
        f->cut = cut;
    }
    f->n_runs += referee.n_runs;
    f->n_stopped += referee.n_stopped;
    fr__referee_fini(&referee);
    return st;
}

/* Adds the plan of another strategy with its default options. */
static enum fr_status hand_over(const struct fr__fastt *f, struct fr__placer *pl,
                                struct fr_error *err)
{
    struct fr_problem in = *pl->in;
    struct fr_cut_choice cut = {.kind = f->cut};
    struct fr_option_values values;

    FR_TRY(fr__values_default(f->plan_of->name, f->plan_of->options, &values, err));
    in.options = &values;
    in.decisions = NULL;
    in.cut = &cut;
    return f->plan_of->plan(&in, pl->ctx, pl->plan, err);
}

/* ---- the plan ---- */

static enum fr_status place(struct fr__fastt *f, struct fr__placer *pl,
                            const struct fr__fastt_asked *asked, struct fr_error *err)
{
    const struct fr__fastt_options o = fr__fastt_options(pl->in->options, asked->splits);
    struct fr__placed_dag placed;
    uint32_t *tasks = NULL;

    FR_TRY(fr__fastt_run(f, pl, &o, err));
    f->name = asked->name;
    if (!isnan(f->own_s) && o.compares_plain)
        FR_TRY(compare_plain(f, pl, asked, err));
    if (!f->plan_of)
        FR_TRY(fr__fastt_check_fits(f, pl, err));
    if (f->plan_of) {
        FR_TRY(hand_over(f, pl, err));
    } else {
        tasks = fr__arena_alloc(pl->arena, f->result.dag->n_ops, sizeof(*tasks));
        if (!tasks)
            return fr__fail_nomem(err);
        placed = fr__fastt_placed(f);
        FR_TRY(fr__dag_plan(pl, &placed, tasks, err));
    }
    log_plan(f, pl);
    return pl->in->decisions ? fr__tell_answer(pl->in->decisions, f, pl->in, tasks, err) : FR_OK;
}

enum fr_status fr__fastt_plan(const struct fr_problem *in, const struct fr_context *ctx,
                              struct fr_plan *out, const struct fr__fastt_asked *asked,
                              struct fr_error *err)
{
    struct fr__fastt f = {.own_s = NAN};
    struct fr__placer pl;
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    st = fr__placer_init(&pl, in, ctx, out, err);
    if (st == FR_OK)
        st = place(&f, &pl, asked, err);
    fr__fastt_fini(&f);
    fr__placer_fini(&pl);
    return st;
}
