/* plan/orders/order.h - orders that change a plan: control dependencies, and transfers in a given
 * order.
 *
 * Most orders are how the engine takes ready tasks from its streams. The others are passes: they
 * make of a plan a new one with more dependencies and other priorities, which then runs in the
 * order `priority`. Two kinds:
 *
 *   control   on each device every compute task waits for the end of the one before it, in the
 *             order (priority, task), whatever stream they are on. Transfers and collectives are
 *             not chained, as TensorFlow adds those after such dependencies. Source: the
 *             alternative that FastT (X. Yi et al., Middleware 2020) rejects for its priority
 *             queues.
 *
 *   random    the tensors that a device receives are sent in an order. fr__number_* find the
 *   tic, tac  order, fr__gate keeps it. Source: S. H. Hashemi et al., TicTac, MLSys 2019; where
 *             its text leaves a choice, the authors' code.
 *
 * What is ordered: every transfer but those of parameter gradients, which the paper leaves alone
 * (its partitions are the workers', and to hold a gradient back for one that is computed later
 * would take the backward pass's overlap away). A device with what runs on it is a partition: its
 * receives are where it begins, and only dependencies inside it count.
 *
 * Waves. The paper's receives are all there from the beginning. Where some are not (activations
 * between stages), holding one back for a more urgent one that in the end depends on it would be a
 * dead lock. So receives are ordered by wave first: the most ordered transfers, one after another,
 * that must have ended before. Within a wave nothing depends on anything, and for parameter servers
 * there is one wave.
 */
#ifndef FR_PLAN_ORDERS_ORDER_H
#define FR_PLAN_ORDERS_ORDER_H

#include "plan/internal.h"

/* What all partitions of a plan share. */
struct fr__receives {
    const struct fr_plan_view *v;
    const double *compute_s;      /* [n_tasks] of compute tasks; NULL: their costs' means */
    size_t n_ordered;             /* transfers */
    bool *is_ordered;             /* [n_transfers] */
    uint32_t *wave;               /* [n_transfers] of the ordered ones */
    uint32_t *task_first, *tasks; /* [n_devices + 1]: its tasks, each after its predecessors */
    uint32_t *pred_first, *preds; /* [n_tasks + 1] on the same device, but for turns */
};

/* Memory comes from the arena. A plan whose messages wait for each other (it cannot run) has
 * nothing ordered. Cost: O(tasks + dependencies). */
enum fr_status fr__receives_find(struct fr__receives *out, const struct fr_plan *p,
                                 struct fr__arena *arena, struct fr_error *err);

/* Whether a dependency only puts one ordered transfer behind another of the same channel (source
 * and destination). It is no need of the data, so the order asked for takes its place; unless the
 * first makes a buffer or the second frees one, which may be what it is for. */
static inline bool fr__is_turn(const struct fr_plan_view *v, const bool is_ordered[],
                               uint32_t before, uint32_t after)
{
    const struct fr_task *a = &v->tasks[before], *b = &v->tasks[after];
    const struct fr_transfer *x, *y;

    if (a->kind != FR_TASK_SEND || (b->kind != FR_TASK_SEND && b->kind != FR_TASK_RECV) ||
        a->transfer == b->transfer || !is_ordered[a->transfer] || !is_ordered[b->transfer] ||
        v->alloc_first[before] < v->alloc_first[before + 1] ||
        v->free_first[after] < v->free_first[after + 1])
        return false;
    x = &v->transfers[a->transfer];
    y = &v->transfers[b->transfer];
    return v->tasks[x->send].device == v->tasks[y->send].device &&
           v->tasks[x->recv].device == v->tasks[y->recv].device;
}

/* The receives of one device and what computes from them. Ops that need the same receives, directly
 * or not, are one class. Times are whole ticks, small enough that no sum of them is rounded. */
struct fr__partition {
    uint32_t n, n_classes;
    uint32_t n_words;    /* of a set */
    uint32_t *transfers; /* [n] by wave, then the plan's order: (priority of the send, its task) */
    uint32_t *wave;      /* [n] */
    int64_t *ticks;      /* [n] of the transfer, alone on its route */
    uint64_t *sets;      /* [n_classes][n_words] bit r: receive r is needed; none is empty */
    int64_t *work;       /* [n_classes] ticks of its ops together */
    double tick_s;
};

/* time_s: [n_transfers] alone; NULL: not known, and all ticks of transfers are 0. Cost: O(tasks +
 * dependencies + classes x n / 64). */
enum fr_status fr__partition_make(struct fr__partition *out, const struct fr__receives *r,
                                  uint32_t device, const double time_s[], struct fr__arena *arena,
                                  struct fr_error *err);

/* The receives' numbers, 0 to n - 1: [n], those of equal rank have the same (that of the first).
 *   tic   without times: a receive counts 1 and an op 0. By Mp, the fewest receives that an op
 *         which needs this one and others waits for. O(sets x n / 64).
 *   tac   one after the other the least of those not numbered, in one pass over them, by
 *             a before b  if  min(P_b, M_a) < min(P_a, M_b), or they are equal and Mp_a < Mp_b
 *         where M is the receive's time, P that of the ops that need it alone, Mp the least time of
 *         the receives together that an op needs which needs this one and others: all of receives
 *         not numbered yet. Equal ones in the plan's order. The plain way costs O(n^2 x ops).
 *         Here only the classes with the receive just numbered change, their sums are exact, and
 *         they stay sorted: O(n x classes x n / 64).
 *   random  any order, drawn from the seed and the device. */
enum fr_status fr__number_tic(const struct fr__partition *k, uint32_t number[],
                              struct fr__arena *arena, struct fr_error *err);
enum fr_status fr__number_tac(const struct fr__partition *k, uint32_t number[],
                              struct fr__arena *arena, struct fr_error *err);
enum fr_status fr__number_random(const struct fr__partition *k, uint64_t seed, uint32_t device,
                                 uint32_t number[], struct fr__arena *arena, struct fr_error *err);

/* Keeps the numbers ([n_transfers], of the ordered ones) in `out`, a copy of the plan that is not
 * finished. On each channel (source and destination) a transfer is handed to the network only when
 * all with lower numbers have been: it need not wait for their ends. Where the plan sends the
 * transfers of a channel one after the other it still does, in the new order. Priorities are dealt
 * out anew among a channel's transfers. */
enum fr_status fr__gate(struct fr_plan *out, const struct fr__receives *r, const uint32_t number[],
                        struct fr__arena *arena, struct fr_error *err);

/* Adds the dependencies of `control` to a copy of plan p that is not finished. */
enum fr_status fr__chain_devices(struct fr_plan *out, const struct fr_plan *p,
                                 struct fr_error *err);
#endif
