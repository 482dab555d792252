/* strategies/fastt/explain.c - runs the planner again with its record on, and reports what it saw.
 *
 * Only the gap that an operation was put into is computed a second time: it is what the operations
 * before it in the list left free on its device (tell.c).
 */
#include "config.h"

#include "strategies/fastt/tell.h"

#include "base/error.h"
#include "lowering/check_problem.h"

#include <string.h>

struct telling {
    struct fr__placer pl;
    struct fr_plan *plan; /* empty; the placer needs a plan */
    struct fr__fastt fastt;
    struct fr__arena *scratch;      /* what the planner writes down */
    struct fr_decisions *decisions; /* the record to hand out */
    struct fr__arena *arena;        /* the record's */
    struct fr_decided_plan *plans;  /* [2] of the record */
    struct fr__tell_words words;    /* of a rule that is not the paper's */
};

static void fini(struct telling *t)
{
    fr__fastt_fini(&t->fastt);
    if (t->pl.arena)
        fr__placer_fini(&t->pl);
    fr_plan_free(t->plan);
    if (t->scratch)
        fr__arena_free(t->scratch);
}

/* ---- one run ---- */

/* Which plan it is. */
enum kind {
    START,   /* the start, planned by DPOS */
    SPLITS,  /* with the splits that were kept */
    REPLICAS /* replicas left alone, where these are the plan */
};

static void describe(struct fr_decided_plan *p, enum kind kind, bool is_first,
                     bool is_data_parallel)
{
    static const struct {
        const char *token, *caption, *title;
    } words[] = {
        [START] = {"start", "planned by DPOS", ""},
        [SPLITS] = {"splits", "with the splits that were kept", "With the splits that were kept"},
        [REPLICAS] = {"replicas", "replicas left alone, the plan",
                      "In replicas left alone, the plan"},
    };

    p->token = words[kind].token;
    p->caption = words[kind].caption;
    p->title = words[kind].title;
    p->is_given = kind == REPLICAS;
    p->heading = kind == SPLITS     ? "The dag with the splits that were kept:"
                 : is_data_parallel ? "The dag: a replica on each device, one set of variables,"
                                    : "The dag: one model,";
    if (kind == REPLICAS && is_first)
        p->note = "DPOS finds no room for all of it; replicas left alone, one whole on each "
                  "device, fit and\nare the plan.";
}

static bool make_record(struct fr__dpos_record *r, struct fr__arena *a, size_t n_ops,
                        size_t n_devices, bool looks_ahead)
{
    if (!fr__dpos_record_make(r, a, n_ops, n_devices))
        return false;
    if (looks_ahead)
        r->ahead_s = fr__arena_alloc(a, n_ops * n_devices, sizeof(*r->ahead_s));
    r->prefixes = fr__arena_alloc(a, n_devices * n_devices, sizeof(*r->prefixes));
    r->round_device = fr__arena_alloc(a, n_devices, sizeof(*r->round_device));
    return r->prefixes && r->round_device && (r->ahead_s || !looks_ahead);
}

static enum fr_status tell_plan(struct telling *t, enum kind kind, const struct fr__dag *dag,
                                const struct fr__dpos_result *result,
                                const struct fr__dpos_record *record, struct fr_error *err)
{
    struct fr_decided_plan *p = &t->plans[t->decisions->n_plans];
    struct fr__dpos_bounds bounds;
    const struct fr__tell_run run = {.dag = dag,
                                     .machine = &t->fastt.machine,
                                     .result = result,
                                     .bounds = &bounds,
                                     .record = record,
                                     .words = t->fastt.rule->is_paper ? NULL : &t->words};

    FR_TRY(fr__dpos_bounds(&bounds, dag, &t->fastt.machine, err));
    if (!fr__tell_run(p, t->arena, &run))
        return fr__fail_nomem(err);
    describe(p, kind, t->decisions->n_plans == 0, t->fastt.is_data_parallel);
    t->decisions->n_plans++;
    return FR_OK;
}

/* Adds the plan of a dag, unless it does not fit. way: how it was planned. */
static enum fr_status follow(struct telling *t, enum kind kind, const struct fr__dag *dag,
                             const struct fr__dpos_options *way, struct fr_error *err)
{
    struct fr__dpos *planner = fr__dpos_new(&t->fastt.machine);
    struct fr__dpos_record record;
    struct fr__dpos_options how = *way;
    struct fr__dpos_result result;
    enum fr_status st;

    how.record = &record;
    if (!planner || !make_record(&record, t->scratch, dag->n_ops, t->fastt.machine.n_devices,
                                 how.looks_ahead && !how.placed)) {
        fr__dpos_free(planner);
        return fr__fail_nomem(err);
    }
    st = fr__dpos_run(planner, dag, &how, &result, err);
    if (st == FR_OK && result.outcome == FR__DPOS_DONE)
        st = tell_plan(t, kind, dag, &result, &record, err);
    fr__dpos_free(planner);
    return st;
}

/* ---- rules of ours ---- */

/* How operations are taken one after the other. */
static const char *list_rule(const struct fr__dpos_options *way)
{
    if (way->placed)
        return "Of several ways this one was the shortest: operations were put, or moved one by "
               "one, "
               "to\nthese devices. When inputs could be there, and when they run:";
    if (way->looks_ahead)
        return "Operation by operation: when its inputs could be there (ready), its earliest "
               "start\n"
               "(EST) and end (EFT), and the longest move from there to readers whose device is "
               "known\n(ahead). It goes where EFT and ahead together are least, into the first gap "
               "that is long\nenough:";
    return "Operation by operation: when its inputs could be there (ready), its earliest start\n"
           "(EST) and end (EFT). It goes where it ends first, into the first gap that is long "
           "enough:";
}

/* false: out of memory. */
static bool choose_words(struct telling *t, const struct fr__dpos_options *way)
{
    struct fr_reason *reasons = fr__arena_alloc(t->arena, FR__DPOS_PLACED + 1, sizeof(*reasons));

    if (!reasons)
        return false;
    for (int k = 0; k <= FR__DPOS_PLACED; k++)
        reasons[k] = *fr__tell_reason((enum fr__dpos_why)k);
    reasons[FR__DPOS_WITH_READER].words =
        "takes no time and reads nothing, stands with the first of its readers";
    reasons[FR__DPOS_PLACED].words = "put there";
    if (t->fastt.rule->keeps_together)
        reasons[FR__DPOS_OF_GROUP].words = "stands with its replica or its piece of a variable";
    if (way->looks_ahead)
        reasons[FR__DPOS_ENDS_FIRST].picked = "EFT and ahead are least";
    t->words = (struct fr__tell_words){
        .reasons = reasons,
        .rank_rule =
            way->ranks_of_means
                ? "Ranks: w, the mean cost, and the most of c + rank over the readers, c the mean\n"
                  "move to them. By falling rank, which is the order in which operations are "
                  "placed:"
                : "Ranks: w, the longest cost, and the most of c + rank over the readers, c the "
                  "slowest\nmove to them. By falling rank, which is the order in which operations "
                  "are placed:",
        .list_rule = list_rule(way),
        .path_rule =
            way->ignores_path || way->placed
                ? "The critical path, which binds nothing here:"
                : "The critical path: from the source of the highest rank on to the reader "
                  "of the highest\nrank, and so on:"};
    return true;
}

/* What a reader of the plan must know of the rule before the first table. */
static const char *note_of(const struct telling *t)
{
    return t->fastt.waits_for_slots ? "A message waits for a slot of time on each link of its way, "
                                      "which others may have "
                                      "taken;\n\"ready\" has these waits."
                                    : "A message takes what it takes alone on its links.";
}

static enum fr_status tell_rule(struct telling *t, struct fr_error *err)
{
    const struct fr__fastt *f = &t->fastt;
    const struct fr__dpos_options of_search = {.inputs_wait = f->rule->inputs_wait,
                                               .looks_ahead = f->rule->looks_ahead};
    const struct fr__dpos_options *way = f->search ? &of_search : &f->way;

    if (!choose_words(t, way))
        return fr__fail_nomem(err);
    FR_TRY(follow(t, START, f->start, way, err));
    if (t->decisions->n_plans > 0)
        t->plans[0].note = note_of(t);
    return f->result.n_splits > 0 ? follow(t, SPLITS, f->result.dag, way, err) : FR_OK;
}

/* ---- the whole ---- */

static enum fr_status tell(struct telling *t, const struct fr_problem *in, bool splits,
                           struct fr_error *err)
{
    const struct fr__fastt *f = &t->fastt;
    const struct fr__dpos_options paper = {.placed = NULL}, placed = {.placed = f->placed};

    splits = splits && f->search;
    t->decisions = fr__tell_fastt(f, in, &t->arena);
    t->plans = t->decisions ? fr__arena_alloc(t->arena, 2, sizeof(*t->plans)) : NULL;
    if (!t->plans || (splits && !fr__tell_search(t->decisions, f, t->arena)))
        return fr__fail_nomem(err);
    t->decisions->plans = t->plans;
    if (!f->rule->is_paper)
        return tell_rule(t, err);
    FR_TRY(follow(t, START, f->start, &paper, err));
    if (f->keeps_replicas)
        return follow(t, REPLICAS, f->start, &placed, err);
    return f->result.n_splits > 0 ? follow(t, SPLITS, f->result.dag, &paper, err) : FR_OK;
}

static enum fr_status plan_and_tell(struct telling *t, const struct fr_problem *in,
                                    const struct fr_context *ctx, bool splits, struct fr_error *err)
{
    const struct fr__fastt_options o = fr__fastt_options(in->options, splits);

    t->plan = fr_plan_new(in->topo, in->graph);
    t->scratch = fr__arena_new();
    if (!t->plan || !t->scratch)
        return fr__fail_nomem(err);
    FR_TRY(fr__placer_init(&t->pl, in, ctx, t->plan, err));
    if (o.rule && !o.rule->is_paper)
        FR_TRY(fr__fastt_by_rule(&t->fastt, &t->pl, &o, o.rule, false, err));
    else
        FR_TRY(fr__fastt_run(&t->fastt, &t->pl, &o, err));
    if (t->fastt.result.plan.outcome != FR__DPOS_DONE)
        return fr__fastt_fail_no_room(&t->fastt, &t->pl, err);
    return tell(t, in, splits, err);
}

enum fr_status fr__explain(struct fr_decisions **out, const struct fr_problem *in,
                           const struct fr_context *ctx, bool splits, struct fr_error *err)
{
    struct telling t = {.plan = NULL};
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    st = plan_and_tell(&t, in, ctx, splits, err);
    if (st == FR_OK)
        *out = t.decisions;
    else
        fr_decisions_free(t.decisions);
    fini(&t);
    return st;
}
