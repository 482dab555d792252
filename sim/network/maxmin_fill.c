/* sim/network/maxmin_fill.c - progressive filling that resumes at the first level that can have
 * changed and repeats only what changes.
 *
 * Filling raises the rates of all open flows together until a resource is full. It settles the
 * flows of that resource at this level and goes on with the others, so levels only rise. Therefore:
 * - If a flow of rate x is removed, everything that was settled below x stays. Up to x, the flow
 *   took only its own share, and no resource that it crosses was full.
 * - A new flow changes nothing below the least level at which one of its resources would be full,
 *   given the old flows: the s with sum of min(rate, s) over the old flows + n_new s = capacity.
 *
 * Filling resumes at the least of these levels, at the changed resources only. From there, in the
 * order of levels, a resource is reached (cut back to that level and filled again) only if the rate
 * of one of its flows changes:
 * - If a resource is full at another level than before, or has other flows, then those of its flows
 *   that get a new rate reach their other resources, at the lower of the two rates.
 * - When the level passes the one at which a reached resource used to be full, and it is not full,
 *   its flows are free to grow. They reach their other resources at that level.
 * - A flow whose bottleneck was not reached by the time the level passes its rate keeps this rate,
 *   because the bottleneck fills up as before.
 *
 * Loose resources were not full, so nothing is settled or cut there. For them we count how many
 * flows are free to grow, and what all others leave them. They are ordered and filled like the rest
 * only when the level comes to their share, which for most never happens.
 *
 * Ordered resources wait in a queue. Their place is their old level until that is passed, or their
 * share if it is less. The share is what each open flow would get if no other resource held it
 * back. It is a lower bound of the level at which the resource is full, and is computed again when
 * its turn comes. Loose resources are in a list, of which only a lower bound of the least share is
 * kept, because few ever come near it.
 */
#include "sim/network/maxmin_state.h"

#include <math.h>

static bool is_reached(const struct fr__maxmin *m, const struct fr__resource *q)
{
    return q->reached == m->epoch;
}

static bool is_kept(const struct fr__maxmin *m, const struct fr__share *s)
{
    return s->mark == m->epoch;
}

static bool is_given_new_rate(const struct fr__maxmin *m, const struct fr__share *s)
{
    return s->mark == m->epoch + 1;
}

/* Whether the flow is settled in this solve, its rate kept or changed. */
static bool is_settled(const struct fr__maxmin *m, const struct fr__share *s)
{
    return s->mark - m->epoch <= 1;
}

/* Whether the flow has no rate yet or may get a greater one. A loose resource counts it as open. */
static bool is_free(const struct fr__maxmin *m, const struct fr__share *s)
{
    return s->mark == m->epoch + 2;
}

/* ---- waiting for the level ---- */

enum { OLD_LEVEL, SHARE }; /* why a resource is in the queue */

/* Puts a reached resource with open flows into the queue, which has room for all. It must not be in
 * the queue yet. */
static inline void wait_for_turn(struct fr__maxmin *m, struct fr__resource *q)
{
    double level_Bps = q->left_Bps / fr__maxmin_open(m, q);
    uint32_t why = SHARE;

    if (!q->is_past_old && q->level_Bps < level_Bps) {
        level_Bps = q->level_Bps;
        why = OLD_LEVEL;
    }
    if (level_Bps < m->from_Bps)
        level_Bps = m->from_Bps; /* by rounding */
    q->is_waiting = true;
    fr__event_queue_push(&m->queue, level_Bps, (uint32_t)(q - m->resources), why);
}

/* Moves a resource in the queue, if it is there, because its share is less than before. */
static void wait_less(struct fr__maxmin *m, struct fr__resource *q)
{
    if (q->is_waiting)
        fr__event_queue_remove(&m->queue, (uint32_t)(q - m->resources));
    wait_for_turn(m, q);
}

/* A loose resource has open flows; it may be full at a lesser level than any known so far. */
static inline void wait_loosely(struct fr__maxmin *m, struct fr__resource *q)
{
    if (!q->is_waiting) {
        q->is_waiting = true;
        m->loose[m->n_loose++] = (uint32_t)(q - m->resources);
    }
    if (fr__maxmin_loose_left(q) < m->least_Bps * fr__maxmin_open(m, q))
        m->least_Bps = fr__maxmin_loose_share(m, q);
}

/* ---- reaching ---- */

/* Settles an open flow of a resource: takes its rate from what is left there. */
static void settle(struct fr__maxmin *m, struct fr__resource *q, double weight, double rate_Bps)
{
    q->left_Bps -= weight * rate_Bps;
    fr__maxmin_open_less(m, q, weight);
    m->n_open--;
}

/* Cuts a resource back to level_Bps; when that opens anything, then also the flows whose bottleneck
 * it is, which may be slower by rounding. When it has open flows left, wait_for_turn is next. */
static void reach(struct fr__maxmin *m, struct fr__resource *q, double level_Bps)
{
    uint32_t i = q->n_sorted;

    q->reached = m->epoch;
    q->is_waiting = false;
    q->is_past_old = !(q->level_Bps > 0);
    m->active[m->n_active++] = (uint32_t)(q - m->resources);
    while (i && fr__maxmin_rate_of(m, q->entries[i - 1]) >= level_Bps)
        i--;
    if (i < q->n && q->level_Bps > 0)
        while (i && fr__maxmin_rate_of(m, q->entries[i - 1]) >= q->level_Bps)
            i--;
    if (i < q->n_sorted) {
        q->n_sorted = i;
        q->left_Bps = q->left_before_Bps[i];
    }
    q->next = i;
    fr__maxmin_open_from(m, q, i);
    m->n_open += q->n_open;
}

/* Ties are not always taken in order: a flow that is to change may have been, by rounding, below
 * the level at which one of its resources was cut. Cuts there down to it, at pos; what is held back
 * by resources not reached stays settled. */
static void cut_deeper(struct fr__maxmin *m, struct fr__resource *q, uint32_t pos)
{
    while (q->n_sorted > pos) {
        struct fr__entry e = q->entries[--q->n_sorted];
        struct fr__share *s = &m->shares[e.slot];

        if (is_kept(m, s))
            continue;
        if (q->n_sorted == pos || is_reached(m, &m->resources[s->bottleneck])) {
            double weight = fr__maxmin_weight_of(m, e);

            q->left_Bps += weight * s->rate_Bps;
            fr__maxmin_open_more(m, q, weight);
            m->n_open++;
        } else {
            s->mark = m->epoch;
        }
    }
    if (q->n_open)
        wait_less(m, q);
}

/* Reaches a loose resource because the level has come to its share; it is cut at the level where
 * this solve began. */
static void tighten(struct fr__maxmin *m, struct fr__resource *q)
{
    fr__maxmin_put_in_order(m, q, m->from_Bps);
    q->reached = m->epoch;
    q->is_waiting = false;
    q->is_past_old = true;
    m->active[m->n_active++] = (uint32_t)(q - m->resources);
    q->next = q->n_sorted;
    fr__maxmin_open_from(m, q, q->n_sorted);
    m->n_open += q->n_open;
    for (uint32_t k = q->next; k < q->n; k++) {
        struct fr__entry e = q->entries[k];
        const struct fr__share *s = &m->shares[e.slot];

        if (is_given_new_rate(m, s))
            settle(m, q, fr__maxmin_weight_of(m, e), s->rate_Bps);
    }
}

static void reach_changed(struct fr__maxmin *m)
{
    for (uint32_t i = 0; i < m->n_changed; i++) {
        struct fr__resource *q = &m->resources[m->changed[i]];

        q->is_changed = false;
        if (q->is_ordered) {
            reach(m, q, m->from_Bps);
            if (q->n_sorted < q->n)
                q->left_before_Bps[q->n_sorted] = q->left_Bps;
            fr__maxmin_sort(m, q);
            if (q->n_open)
                wait_for_turn(m, q);
        } else if (q->n_open) {
            wait_loosely(m, q);
        }
    }
    m->n_changed = 0;
}

/* ---- filling ---- */

/* Settles the flows of a reached resource that are held back elsewhere, at level_Bps or below, as
 * they were before. */
static inline void advance(struct fr__maxmin *m, struct fr__resource *q, double level_Bps)
{
    for (; q->next < q->n; q->next++) {
        struct fr__entry e = q->entries[q->next];
        struct fr__share *s = &m->shares[e.slot];

        if (is_given_new_rate(m, s))
            continue;
        if (s->rate_Bps > level_Bps)
            return;
        if (!is_kept(m, s)) {
            if (is_reached(m, &m->resources[s->bottleneck]))
                continue;
            s->mark = m->epoch;
        }
        settle(m, q, fr__maxmin_weight_of(m, e), s->rate_Bps);
    }
}

/* The flow keeps its rate, since its bottleneck is full as before. If it was skipped, it is settled
 * now. */
static void keep_rate(struct fr__maxmin *m, struct fr__entry e)
{
    const struct fr__hop *hops = fr__maxmin_hops(m, e.slot);
    struct fr__share *s = &m->shares[e.slot];

    s->mark = m->epoch;
    for (uint32_t h = 0; h < m->flows[e.slot].n_hops; h++) {
        struct fr__resource *q = &m->resources[hops[h].resource];

        if (h != e.hop && is_reached(m, q) && hops[h].pos >= q->n_sorted && hops[h].pos < q->next)
            settle(m, q, fr__maxmin_weight(m, e.slot, h), s->rate_Bps);
    }
}

/* The flow is to change and crosses an ordered resource: reaches that, from level_Bps on. Returns
 * whether that is new; wait_for_turn is next then. */
static bool open_hop(struct fr__maxmin *m, struct fr__resource *q, uint32_t pos, double level_Bps)
{
    if (!is_reached(m, q)) {
        reach(m, q, level_Bps);
        return true;
    }
    if (pos < q->n_sorted)
        cut_deeper(m, q, pos);
    return false;
}

/* Gives the flow a new rate, which reaches its other resources. */
static void give_rate(struct fr__maxmin *m, struct fr__entry e, uint32_t bottleneck,
                      double rate_Bps, double now)
{
    struct fr__flow *f = &m->flows[e.slot];
    const struct fr__hop *hops = fr__maxmin_hops(m, e.slot);
    struct fr__share *s = &m->shares[e.slot];
    uint32_t was_free = is_free(m, s), is_new = s->bottleneck == FR_NONE;
    double old_Bps = is_new ? 0 : s->rate_Bps, more_Bps = was_free ? rate_Bps : rate_Bps - old_Bps;
    double from_Bps = old_Bps < rate_Bps ? old_Bps : rate_Bps, left_bytes;

    m->n_open -= is_new;
    left_bytes = f->remaining_bytes - old_Bps * (now - f->since_s);
    f->remaining_bytes = left_bytes > 0 ? left_bytes : 0;
    f->since_s = now;
    f->end_s = now + f->remaining_bytes / rate_Bps;
    for (uint32_t h = 0; h < f->n_hops; h++) {
        struct fr__resource *q = &m->resources[hops[h].resource];
        double weight = fr__maxmin_weight(m, e.slot, h);
        bool is_first;

        if (!q->is_ordered) {
            q->left_Bps -= weight * more_Bps;
            if (was_free)
                fr__maxmin_open_less(m, q, weight);
            q->next++;
            continue;
        }
        is_first = open_hop(m, q, hops[h].pos, from_Bps);
        settle(m, q, weight, rate_Bps);
        if (is_first && q->n_open)
            wait_for_turn(m, q);
    }
    *s = (struct fr__share){rate_Bps, bottleneck, m->epoch + 1};
    fr__maxmin_note_rate(m, e.slot);
}

/* The flow is no longer held back at level_Bps and may grow. */
static void free_flow(struct fr__maxmin *m, struct fr__entry e, double level_Bps)
{
    const struct fr__hop *hops = fr__maxmin_hops(m, e.slot);
    double rate_Bps = fr__maxmin_rate_of(m, e);

    m->shares[e.slot].mark = m->epoch + 2;
    for (uint32_t h = 0; h < m->flows[e.slot].n_hops; h++) {
        struct fr__resource *q = &m->resources[hops[h].resource];
        double weight = fr__maxmin_weight(m, e.slot, h);

        if (q->is_ordered) {
            if (open_hop(m, q, hops[h].pos, level_Bps) && q->n_open)
                wait_for_turn(m, q);
            continue;
        }
        if (q->n_open == 0)
            fr__maxmin_sum_up_if_rough(m, q);
        q->left_Bps += weight * rate_Bps;
        fr__maxmin_open_more(m, q, weight);
        q->next++;
        wait_loosely(m, q);
    }
}

/* A reached resource is full at rate_Bps: settles all its open flows. */
static void fill_up(struct fr__maxmin *m, struct fr__resource *q, double rate_Bps, double now)
{
    uint32_t resource = (uint32_t)(q - m->resources);

    for (uint32_t k = q->n_sorted; k < q->n; k++) {
        struct fr__entry e = q->entries[k];
        const struct fr__share *s = &m->shares[e.slot];

        if (is_settled(m, s))
            continue;
        m->stats.visited++;
        if (s->bottleneck == resource && s->rate_Bps == rate_Bps && !is_free(m, s))
            keep_rate(m, e);
        else
            give_rate(m, e, resource, rate_Bps, now);
    }
    m->n_open -= q->n_open;
    fr__maxmin_open_none(m, q);
    q->next = q->n;
}

/* The level passes the one at which the resource used to be full. */
static void pass_old_level(struct fr__maxmin *m, struct fr__resource *q, double now)
{
    uint32_t resource = (uint32_t)(q - m->resources);
    double level_Bps = q->level_Bps;

    q->is_past_old = true;
    advance(m, q, level_Bps);
    if (q->n_open == 0)
        return;
    if (q->left_Bps <= (level_Bps + level_Bps * FR__TIE) * fr__maxmin_open(m, q)) {
        fill_up(m, q, level_Bps, now);
        return;
    }
    for (uint32_t k = q->n_sorted; k < q->n; k++) {
        struct fr__entry e = q->entries[k];
        const struct fr__share *s = &m->shares[e.slot];

        if (s->bottleneck == resource && !is_settled(m, s))
            free_flow(m, e, level_Bps);
    }
    wait_for_turn(m, q);
}

/* The level has come to a resource's share, as it was when last worked out. */
static void pass_share(struct fr__maxmin *m, struct fr__resource *q, double *level_Bps, double now)
{
    double share_Bps;

    advance(m, q, *level_Bps);
    if (q->n_open == 0)
        return;
    share_Bps = q->left_Bps / fr__maxmin_open(m, q);
    if (share_Bps > *level_Bps + *level_Bps * FR__TIE) {
        wait_for_turn(m, q);
        return;
    }
    if (q->level_Bps > *level_Bps && q->level_Bps <= *level_Bps + *level_Bps * FR__TIE)
        *level_Bps = q->level_Bps;
    fill_up(m, q, *level_Bps, now);
}

/* The level has come to what was the least share of the loose resources: one that has that share
 * now goes on as an ordered one. */
static void pass_loose_share(struct fr__maxmin *m, double level_Bps)
{
    double least_Bps = INFINITY, next_Bps = INFINITY;
    uint32_t least = 0;
    struct fr__resource *q;

    for (uint32_t i = 0; i < m->n_loose;) {
        double share_Bps;

        q = &m->resources[m->loose[i]];
        if (q->n_open == 0) {
            q->is_waiting = false;
            m->loose[i] = m->loose[--m->n_loose];
            continue;
        }
        share_Bps = fr__maxmin_loose_share(m, q);
        if (share_Bps < least_Bps) {
            next_Bps = least_Bps;
            least_Bps = share_Bps;
            least = i;
        } else if (share_Bps < next_Bps) {
            next_Bps = share_Bps;
        }
        i++;
    }
    m->least_Bps = least_Bps;
    if (!(least_Bps < level_Bps))
        return;
    m->least_Bps = next_Bps;
    q = &m->resources[m->loose[least]];
    m->loose[least] = m->loose[--m->n_loose];
    tighten(m, q);
    if (q->n_open)
        wait_for_turn(m, q);
}

/* Puts a reached resource in order for the time between solves. left_before_Bps of the first
 * entry that was cut off still stands. */
static void tidy(struct fr__maxmin *m, struct fr__resource *q)
{
    uint32_t resource = (uint32_t)(q - m->resources), k = q->n_sorted;
    double end_s = INFINITY, level_Bps = 0, last_Bps = 0;
    double left_Bps = k < q->n ? q->left_before_Bps[k] : q->left_Bps;

    if (k == q->n) { /* nothing was opened; does the group still exist? */
        while (k && m->shares[q->entries[k - 1].slot].bottleneck != resource)
            k--;
        if (k)
            return;
        k = q->n;
    }
    for (; k < q->n; k++) {
        uint32_t slot = q->entries[k].slot;
        const struct fr__share *s = &m->shares[slot];

        if (s->rate_Bps < last_Bps) { /* start again, sorted */
            fr__maxmin_sort(m, q);
            tidy(m, q);
            return;
        }
        last_Bps = s->rate_Bps;
        q->left_before_Bps[k] = left_Bps;
        left_Bps -= fr__maxmin_weight_of(m, q->entries[k]) * last_Bps;
        if (s->bottleneck == resource) {
            end_s = m->flows[slot].end_s < end_s ? m->flows[slot].end_s : end_s;
            level_Bps = level_Bps > 0 ? level_Bps : last_Bps; /* the least, if they differ */
        }
    }
    q->left_Bps = left_Bps;
    q->next = 0;
    q->is_ordered = level_Bps > 0;
    q->is_waiting = false; /* it may still be in the queue, with nothing open */
    q->n_sorted = q->is_ordered ? q->n : 0;
    q->level_Bps = level_Bps;
    fr__tournament_set(&m->ends, resource, end_s);
}

static void next_epoch(struct fr__maxmin *m)
{
    m->epoch += 4;
    if (m->epoch)
        return;
    for (uint32_t s = 0; s < m->n_slots; s++) /* marks of 2^30 solves ago would look new */
        m->shares[s].mark = m->shares[s].bottleneck == FR_NONE ? 6 : 0;
    for (uint32_t i = 0; i < m->n_crossed; i++)
        m->resources[m->crossed[i]].reached = 0;
    m->epoch = 4;
}

static void fill(struct fr__maxmin *m, double now)
{
    double level_Bps = 0;

    while (m->n_open) {
        struct fr__event next;
        struct fr__resource *q;
        double key_Bps = fr__event_queue_is_empty(&m->queue)
                             ? (double)INFINITY
                             : fr__event_time(fr__event_queue_top(&m->queue));

        if (m->least_Bps < key_Bps) {
            pass_loose_share(m, key_Bps);
            continue;
        }
        next = fr__event_queue_pop(&m->queue);
        q = &m->resources[fr__event_id(next)];
        q->is_waiting = false;
        if (q->n_open == 0)
            continue;
        if (key_Bps > level_Bps + level_Bps * FR__TIE)
            level_Bps = key_Bps;
        if (fr__event_what(next) == OLD_LEVEL)
            pass_old_level(m, q, now);
        else
            pass_share(m, q, &level_Bps, now);
    }
}

void fr__maxmin_refill(struct fr__maxmin *m, double now)
{
    next_epoch(m);
    m->stats.solves++;
    m->n_active = m->n_loose = 0;
    m->n_open = m->n_new;
    m->n_new = 0;
    m->least_Bps = INFINITY;
    fr__event_queue_clear(&m->queue);
    m->from_Bps = fr__maxmin_first_level(m);
    reach_changed(m);
    fill(m, now);
    for (uint32_t i = 0; i < m->n_loose; i++)
        m->resources[m->loose[i]].is_waiting = false;
    for (uint32_t i = 0; i < m->n_active; i++)
        tidy(m, &m->resources[m->active[i]]);
    m->level_Bps = INFINITY;
}
