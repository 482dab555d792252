/* strategies/lists/heft.c - HEFT: by falling upward rank, each operation where it ends first.
 *
 * Ranks are of means over devices and pairs of devices; an operation may go into a gap.
 *
 * Ties:    at equal ranks the lower index, at equal ends the lower device.
 * Source:  H. Topcuoglu, S. Hariri, M.-Y. Wu, "Performance-Effective and Low-Complexity Task
 *          Scheduling for Heterogeneous Computing", IEEE TPDS 13(3), 2002, section 4.
 */
#include "config.h"

#include "base/error.h"
#include "strategies/list.h"
#include "strategies/lists/lists.h"
#include "strategies/lists/ranks.h"
#include "lowering/log.h"

/* The operations that are decided, by falling rank; *n of them. NULL: out of memory. */
static struct fr__ranked *make_list(struct fr__timetable *t, size_t *n)
{
    struct fr__ranked *list = fr__arena_alloc(t->arena, t->dag->n_ops, sizeof(*list));

    *n = 0;
    for (uint32_t i = 0; list && i < t->dag->n_ops; i++)
        if (!t->waits[i])
            list[(*n)++] = (struct fr__ranked){-t->rank_s[i], i};
    if (list)
        fr__sort_ranked(list, *n);
    return list;
}

enum fr_status fr__heft_run(struct fr__timetable *t, const struct fr_problem *in,
                            const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__ranked *list;
    size_t n;

    (void)in;
    fr__rank_up(t, true, t->rank_s);
    list = make_list(t, &n);
    if (!list)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct fr__spot spot = fr__timetable_choose(t, list[i].op, FR__SPOT_ENDS_FIRST, true);

        FR_TRY(fr__check_cancelled(ctx, err));
        fr__timetable_place(t, list[i].op, &spot, FR__DPOS_ENDS_FIRST);
    }
    return FR_OK;
}

static const struct fr__list_method method = {
    .run = fr__heft_run,
    .caption = "planned by HEFT",
    .reasons = fr__lists_ends_first,
    .rank_rule = "Upward ranks: w, the mean cost over the devices, and the most of c + rank over\n"
                 "the readers, c the mean move over all pairs. By falling rank:",
    .list_rule = "Operation by operation: when its inputs could be there (ready), its earliest "
                 "start\n(EST) and end (EFT). It goes where it ends first, into the first gap that "
                 "is long\nenough:",
};

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    return fr__lists_plan(&method, in, ctx, out, err);
}

static enum fr_status explain(const struct fr_problem *in, const struct fr_context *ctx,
                              struct fr_decisions **out, struct fr_error *err)
{
    return fr__lists_explain(&method, in, ctx, out, err);
}

const struct fr_strategy fr__strategy_heft = {
    .name = "heft",
    .summary = "list scheduling: by upward rank, each op where it ends first",
    .source = "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002",
    .options = fr__lists_options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
};
