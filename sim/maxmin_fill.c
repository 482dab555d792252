/* sim/maxmin_fill.c - progressive filling, resumed at the first level that can have changed and
 * done again only where something does change.
 *
 * Filling raises the rates of all open flows together until a resource is full, settles its flows
 * at that level and goes on with the others. Levels only rise. Therefore:
 *  - Taking out a flow of rate x leaves all that was settled below x as it was: up to x, the flow
 *    and its absence differ only by what it took itself, and no resource it crosses was full.
 *  - A new flow changes nothing below the least level at which one of its resources, given the old
 *    flows, would be full: the s with sum of min(rate, s) over the old flows + n_new s = capacity.
 * Filling resumes at the least of these levels, at the changed resources alone. From there on, in
 * order of level, a resource is reached - cut back to that level and filled again - only when the
 * rate of one of its flows turns out to change:
 *  - Where a resource is full at another level than before, or has other flows to give it to, the
 *    flows that get a new rate reach their other resources, at the lower of the two rates.
 *  - When the level passes the one at which a reached resource used to be full and it is not, its
 *    flows are free to grow, and reach their other resources at that level.
 *  - A flow whose bottleneck has not been reached by the time the level passes its rate keeps it:
 *    the bottleneck fills up as it did.
 * Loose resources were not full, so nothing is settled there and nothing is cut: what is counted is
 * how many flows are free to grow and what all others leave them. Only when the level comes to their
 * share, and most never see that, are they ordered and filled like the rest.
 * Resources stand in a queue by their share, what each open flow would get if none of them were
 * held back elsewhere; it is a lower bound of the level at which the resource is full and is worked
 * out again when its turn comes.
 */
#include "sim/maxmin_state.h"

#include <math.h>
#include <string.h>

/* Levels this close are one: a tie, computed on two ways. Ties then have one rate to the bit.
 * 2^-44, 6e-14, covers the rounding of some 500 subtractions. */
static const double TIE = 0x1p-44;

static bool is_reached(const struct fr__maxmin *m, uint32_t resource)
{
    return m->reached[resource] == m->epoch;
}

static bool is_kept(const struct fr__maxmin *m, uint32_t slot)
{
    return m->fates[slot].mark == m->epoch;
}

static bool is_given_new_rate(const struct fr__maxmin *m, uint32_t slot)
{
    return m->fates[slot].mark == m->epoch + 1;
}

/* It has no rate yet, or may get a greater one: counted as open where it crosses a loose resource. */
static bool is_free(const struct fr__maxmin *m, uint32_t slot)
{
    return m->fates[slot].mark == m->epoch + 2 || m->fates[slot].bottleneck == FR_NONE;
}

static bool is_loose(const struct fr__maxmin *m, uint32_t resource)
{
    return !m->rest[resource].is_ordered;
}

/* ---- lists ---- */

/* By key: insertion, at growing distances when there are many (D. L. Shell, Communications of the
 * ACM 2(7), 1959). The lists are nearly sorted. */
static void sort_items(struct fr__sort_item x[], uint32_t n)
{
    uint32_t gap = 1;

    while (n > 64 && gap < n / 3)
        gap = 3 * gap + 1;
    for (; gap; gap /= 3)
        for (uint32_t i = gap; i < n; i++) {
            struct fr__sort_item item = x[i];
            uint32_t j = i;

            for (; j >= gap && x[j - gap].key > item.key; j -= gap)
                x[j] = x[j - gap];
            x[j] = item;
        }
}

/* Sorts the entries from n_sorted on by rate, flows that have none yet last. */
static void sort_entries(struct fr__maxmin *m, struct fr__resource *q)
{
    struct fr__entry *e = q->entries + q->n_sorted;
    uint32_t n = q->n - q->n_sorted;
    bool is_sorted = true;
    double last = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = e[i].slot;
        double key = m->fates[slot].bottleneck == FR_NONE ? INFINITY : m->rate_Bps[slot];

        m->sorting[i] = (struct fr__sort_item){key, e[i]};
        is_sorted = is_sorted && key >= last;
        last = key;
    }
    if (is_sorted)
        return;
    sort_items(m->sorting, n);
    for (uint32_t i = 0; i < n; i++) {
        e[i] = m->sorting[i].entry;
        fr__maxmin_hops(m, e[i].slot)[e[i].hop].pos = q->n_sorted + i;
    }
}

/* ---- where to resume ---- */

/* The level at which an ordered resource with new flows is full, given the old ones. */
static double full_level(const struct fr__maxmin *m, const struct fr__resource *q)
{
    double left_Bps = q->left_Bps;
    uint32_t i = q->n_sorted;

    while (i && left_Bps <= m->rate_Bps[q->entries[i - 1].slot] * (q->n - i))
        left_Bps = q->left_before_Bps[--i];
    return left_Bps / (q->n - i);
}

/* A lower bound of the level at which a loose resource with open flows is full: the one at which it is
 * when all others keep their rates, less what rounding may have done to the sum. */
static double loose_share(const struct fr__maxmin *m, uint32_t resource)
{
    const struct fr__resource *q = &m->resources[resource];

    return (q->left_Bps - m->rest[resource].capacity_Bps * TIE) / q->n_open;
}

/* Makes a loose resource an ordered one, as it was when filling reached below_Bps. */
static void put_in_order(struct fr__maxmin *m, uint32_t resource, double below_Bps)
{
    struct fr__resource *q = &m->resources[resource];
    double left_Bps = m->rest[resource].capacity_Bps;
    uint32_t k = 0;

    sort_entries(m, q);
    for (; k < q->n; k++) {
        uint32_t slot = q->entries[k].slot;

        q->left_before_Bps[k] = left_Bps;
        if (m->fates[slot].bottleneck == FR_NONE || m->rate_Bps[slot] >= below_Bps)
            break;
        left_Bps -= m->rate_Bps[slot];
    }
    q->n_sorted = k;
    q->left_Bps = left_Bps;
    m->rest[resource].is_ordered = true;
}

/* The least level at which an ordered resource changes; *least_loose: of the loose ones, the one with
 * the least share, FR_NONE when there is none. */
static double first_ordered_level(const struct fr__maxmin *m, uint32_t *least_loose)
{
    double level_Bps = m->level_Bps, least_Bps = INFINITY;

    *least_loose = FR_NONE;
    for (uint32_t i = 0; i < m->n_changed; i++) {
        uint32_t r = m->changed[i];
        const struct fr__resource *q = &m->resources[r];

        if (!is_loose(m, r)) {
            double full_Bps = q->n > q->n_sorted ? full_level(m, q) : INFINITY;

            level_Bps = full_Bps < level_Bps ? full_Bps : level_Bps;
        } else if (q->n_open && loose_share(m, r) < least_Bps) {
            least_Bps = loose_share(m, r);
            *least_loose = r;
        }
    }
    return level_Bps;
}

/* A loose resource that may be full before any other is put in order; the one with the least share
 * first, since then there may be no need for the others. */
static double first_level(struct fr__maxmin *m)
{
    uint32_t r;
    double level_Bps = first_ordered_level(m, &r);

    for (uint32_t i = 0; r != FR_NONE; r = m->changed[i++]) {
        const struct fr__resource *q = &m->resources[r];

        if (is_loose(m, r) && q->n_open && loose_share(m, r) < level_Bps) {
            double full_Bps;

            put_in_order(m, r, INFINITY);
            full_Bps = full_level(m, q);
            level_Bps = full_Bps < level_Bps ? full_Bps : level_Bps;
        }
        if (i == m->n_changed)
            break;
    }
    return level_Bps * (1 - TIE);
}

/* ---- reaching and touching ---- */

/* Takes an open flow of a reached resource off what is left there. */
static void settle(struct fr__maxmin *m, struct fr__resource *q, double rate_Bps)
{
    q->left_Bps -= rate_Bps;
    q->n_open--;
    m->n_open--;
}

/* Cuts a resource back to level_Bps; when that opens anything, then also the flows whose bottleneck
 * it is, which may be slower by rounding. Returns whether that is new; then wait_for_turn is next. */
static bool reach(struct fr__maxmin *m, uint32_t resource, double level_Bps)
{
    struct fr__resource *q = &m->resources[resource];
    double old_Bps = m->rest[resource].level_Bps;
    uint32_t i = q->n_sorted;

    if (is_reached(m, resource))
        return false;
    m->reached[resource] = m->epoch;
    m->active[m->n_active++] = resource;
    while (i && m->rate_Bps[q->entries[i - 1].slot] >= level_Bps)
        i--;
    while (i && i < q->n && old_Bps > 0 && m->rate_Bps[q->entries[i - 1].slot] >= old_Bps)
        i--;
    if (i < q->n_sorted) {
        q->n_sorted = i;
        q->left_Bps = q->left_before_Bps[i];
    }
    q->next = i;
    q->n_open = q->n - i;
    m->n_open += q->n_open;
    return true;
}

static void wait_with_share(struct fr__maxmin *m, uint32_t resource)
{
    const struct fr__resource *q = &m->resources[resource];

    m->rest[resource].is_waiting = true;
    fr__radix_push(&m->queue, resource, q->left_Bps / q->n_open);
}

static void wait_for_turn(struct fr__maxmin *m, uint32_t resource)
{
    m->rest[resource].is_waiting = false;
    if (m->resources[resource].n_open == 0)
        return;
    if (m->rest[resource].level_Bps > 0)
        fr__radix_push(&m->queue, m->n_resources + resource, m->rest[resource].level_Bps);
    wait_with_share(m, resource);
}

/* Ties are not always taken in order: a flow that is to change may have been, by rounding, below
 * the level at which one of its resources was cut. Cuts there down to it, at pos; what is held back
 * by resources not reached stays settled. */
static void cut_deeper(struct fr__maxmin *m, uint32_t resource, uint32_t pos)
{
    struct fr__resource *q = &m->resources[resource];

    while (q->n_sorted > pos) {
        uint32_t slot = q->entries[--q->n_sorted].slot;

        if (is_kept(m, slot))
            continue;
        if (q->n_sorted == pos || is_reached(m, m->fates[slot].bottleneck)) {
            q->left_Bps += m->rate_Bps[slot];
            q->n_open++;
            m->n_open++;
        } else {
            m->fates[slot].mark = m->epoch;
        }
    }
    if (q->n_open && !m->rest[resource].is_waiting)
        wait_with_share(m, resource);
}

/* Opens the flow on another of its resources, from level_Bps on. */
static bool open_hop(struct fr__maxmin *m, const struct fr__hop *hop, double level_Bps)
{
    bool is_new = reach(m, hop->resource, level_Bps);

    if (!is_new && hop->pos < m->resources[hop->resource].n_sorted)
        cut_deeper(m, hop->resource, hop->pos);
    return is_new;
}

static void wait_loosely(struct fr__maxmin *m, uint32_t resource)
{
    if (m->rest[resource].is_waiting) {
        fr__radix_lower(&m->queue, resource, loose_share(m, resource));
    } else {
        m->rest[resource].is_waiting = true;
        fr__radix_push(&m->queue, resource, loose_share(m, resource));
    }
}

static void touch(struct fr__maxmin *m, uint32_t resource)
{
    if (m->reached[resource] == m->epoch + 1)
        return;
    m->reached[resource] = m->epoch + 1;
    m->active[m->n_active++] = resource;
    m->rest[resource].is_waiting = false;
}

/* A flow that crosses a loose resource is free to grow. */
static void open_loosely(struct fr__maxmin *m, uint32_t resource, double rate_Bps)
{
    struct fr__resource *q = &m->resources[resource];

    touch(m, resource);
    q->left_Bps += rate_Bps;
    q->n_open++;
    m->n_open++;
    wait_loosely(m, resource);
}

/* One that crosses it has a new rate. */
static void settle_loosely(struct fr__maxmin *m, uint32_t resource, uint32_t slot, double rate_Bps)
{
    struct fr__resource *q = &m->resources[resource];

    touch(m, resource);
    if (is_free(m, slot))
        settle(m, q, rate_Bps);
    else
        q->left_Bps += m->rate_Bps[slot] - rate_Bps;
}

/* The level has come to a loose resource's share: reaches it, cut where this solve began. */
static void tighten(struct fr__maxmin *m, uint32_t resource)
{
    struct fr__resource *q = &m->resources[resource];

    m->n_open -= q->n_open;
    put_in_order(m, resource, m->from_Bps);
    m->reached[resource] = m->epoch;
    q->next = q->n_sorted;
    q->n_open = q->n - q->n_sorted;
    m->n_open += q->n_open;
    for (uint32_t k = q->next; k < q->n; k++)
        if (is_given_new_rate(m, q->entries[k].slot))
            settle(m, q, m->rate_Bps[q->entries[k].slot]);
}

static void reach_ordered(struct fr__maxmin *m, uint32_t resource)
{
    struct fr__resource *q = &m->resources[resource];

    reach(m, resource, m->from_Bps);
    if (q->n_sorted < q->n)
        q->left_before_Bps[q->n_sorted] = q->left_Bps;
    sort_entries(m, q);
    wait_for_turn(m, resource);
}

static void reach_changed(struct fr__maxmin *m)
{
    for (uint32_t i = 0; i < m->n_changed; i++) {
        uint32_t r = m->changed[i];

        m->rest[r].is_changed = false;
        if (!is_loose(m, r)) {
            reach_ordered(m, r);
        } else if (m->resources[r].n_open) {
            touch(m, r);
            m->n_open += m->resources[r].n_open;
            wait_loosely(m, r);
        }
    }
}

/* ---- filling ---- */

/* Settles the flows of a reached resource that are held back elsewhere, at level_Bps or below, as
 * they were before. */
static void advance(struct fr__maxmin *m, struct fr__resource *q, double level_Bps)
{
    for (; q->next < q->n; q->next++) {
        uint32_t slot = q->entries[q->next].slot;
        struct fr__fate *fate = &m->fates[slot];

        if (is_given_new_rate(m, slot))
            continue;
        if (fate->bottleneck == FR_NONE || m->rate_Bps[slot] > level_Bps)
            return;
        if (!is_kept(m, slot)) {
            if (is_reached(m, fate->bottleneck))
                continue;
            fate->mark = m->epoch;
        }
        settle(m, q, m->rate_Bps[slot]);
    }
}

/* The flow's bottleneck is full as before: where it was passed over, settle it after all. */
static void keep_rate(struct fr__maxmin *m, struct fr__entry e)
{
    const struct fr__hop *hops = fr__maxmin_hops(m, e.slot);

    m->fates[e.slot].mark = m->epoch;
    for (uint32_t h = 0; h < m->flows[e.slot].n_hops; h++) {
        struct fr__resource *q = &m->resources[hops[h].resource];

        if (h != e.hop && is_reached(m, hops[h].resource) && hops[h].pos >= q->n_sorted &&
            hops[h].pos < q->next)
            settle(m, q, m->rate_Bps[e.slot]);
    }
}

/* The flow has a new rate, which reaches its other resources. */
static void give_rate(struct fr__maxmin *m, struct fr__entry e, uint32_t bottleneck,
                      double rate_Bps, double now)
{
    const struct fr__hop *hops = fr__maxmin_hops(m, e.slot);
    struct fr__flow *f = &m->flows[e.slot];
    double old_Bps = m->rate_Bps[e.slot], left_bytes;
    double from_Bps = old_Bps < rate_Bps ? old_Bps : rate_Bps;

    left_bytes = f->remaining_bytes - old_Bps * (now - f->since_s);
    f->remaining_bytes = left_bytes > 0 ? left_bytes : 0;
    f->since_s = now;
    for (uint32_t h = 0; h < f->n_hops; h++) {
        bool is_new;

        if (h == e.hop)
            continue;
        if (is_loose(m, hops[h].resource)) {
            settle_loosely(m, hops[h].resource, e.slot, rate_Bps);
            continue;
        }
        is_new = open_hop(m, &hops[h], from_Bps);
        settle(m, &m->resources[hops[h].resource], rate_Bps);
        if (is_new)
            wait_for_turn(m, hops[h].resource);
    }
    m->rate_Bps[e.slot] = rate_Bps;
    fr__maxmin_note_rate(m, e.slot);
    m->fates[e.slot] = (struct fr__fate){bottleneck, m->epoch + 1};
}

/* The flow is no longer held back at level_Bps and may grow. */
static void free_flow(struct fr__maxmin *m, struct fr__entry e, double level_Bps)
{
    const struct fr__hop *hops = fr__maxmin_hops(m, e.slot);

    m->fates[e.slot].mark = m->epoch + 2;
    for (uint32_t h = 0; h < m->flows[e.slot].n_hops; h++) {
        if (h == e.hop)
            continue;
        if (is_loose(m, hops[h].resource))
            open_loosely(m, hops[h].resource, m->rate_Bps[e.slot]);
        else if (open_hop(m, &hops[h], level_Bps))
            wait_for_turn(m, hops[h].resource);
    }
}

/* A reached resource is full at rate_Bps: settles all its open flows. */
static void fill_up(struct fr__maxmin *m, uint32_t resource, double rate_Bps, double now)
{
    struct fr__resource *q = &m->resources[resource];

    for (uint32_t k = q->n_sorted; k < q->n; k++) {
        struct fr__entry e = q->entries[k];

        if (is_kept(m, e.slot) || is_given_new_rate(m, e.slot))
            continue;
        m->stats.visited++;
        if (m->fates[e.slot].bottleneck == resource && m->rate_Bps[e.slot] == rate_Bps &&
            !is_free(m, e.slot))
            keep_rate(m, e);
        else
            give_rate(m, e, resource, rate_Bps, now);
    }
    m->n_open -= q->n_open;
    q->n_open = 0;
    q->next = q->n;
}

/* The level passes the one at which the resource used to be full. */
static void pass_old_level(struct fr__maxmin *m, uint32_t resource, double now)
{
    struct fr__resource *q = &m->resources[resource];
    double level_Bps = m->rest[resource].level_Bps;

    advance(m, q, level_Bps);
    if (q->n_open == 0)
        return;
    if (q->left_Bps <= (level_Bps + level_Bps * TIE) * q->n_open) {
        fill_up(m, resource, level_Bps, now);
        return;
    }
    for (uint32_t k = q->n_sorted; k < q->n; k++) {
        struct fr__entry e = q->entries[k];

        if (m->fates[e.slot].bottleneck == resource && !is_kept(m, e.slot) &&
            !is_given_new_rate(m, e.slot))
            free_flow(m, e, level_Bps);
    }
}

/* The level has come to a loose resource's share, as it was; when it still is that, the resource goes
 * on as an ordered one. */
static void pass_loose_share(struct fr__maxmin *m, uint32_t resource, double level_Bps)
{
    m->rest[resource].is_waiting = false;
    if (m->resources[resource].n_open == 0)
        return;
    if (loose_share(m, resource) > level_Bps) {
        wait_loosely(m, resource);
        return;
    }
    tighten(m, resource);
    wait_with_share(m, resource);
}

/* The level has come to a resource's share, as it was when last worked out. */
static void pass_share(struct fr__maxmin *m, uint32_t resource, double *level_Bps, double now)
{
    struct fr__resource *q = &m->resources[resource];
    double share_Bps, old_Bps = m->rest[resource].level_Bps;

    m->rest[resource].is_waiting = false;
    advance(m, q, *level_Bps);
    if (q->n_open == 0)
        return;
    share_Bps = q->left_Bps / q->n_open;
    if (share_Bps > *level_Bps + *level_Bps * TIE) {
        wait_with_share(m, resource);
        return;
    }
    if (old_Bps > *level_Bps && old_Bps <= *level_Bps + *level_Bps * TIE)
        *level_Bps = old_Bps;
    fill_up(m, resource, *level_Bps, now);
}

/* Puts a reached resource in order for the time between solves. left_before_Bps of the first
 * entry that was cut off still stands. */
static void tidy(struct fr__maxmin *m, uint32_t resource)
{
    struct fr__resource *q = &m->resources[resource];
    double end_s = INFINITY, level_Bps = 0, left_Bps, last_Bps = 0;
    uint32_t k = q->n_sorted;

    if (k == q->n) { /* nothing was opened; is the group still there? */
        while (k && m->fates[q->entries[k - 1].slot].bottleneck != resource)
            k--;
        if (k)
            return;
        k = q->n;
    }
    left_Bps = k < q->n ? q->left_before_Bps[k] : q->left_Bps;
    for (; k < q->n; k++) {
        uint32_t slot = q->entries[k].slot;
        double rate_Bps = m->rate_Bps[slot];

        if (rate_Bps < last_Bps) { /* start again, sorted */
            sort_entries(m, q);
            tidy(m, resource);
            return;
        }
        last_Bps = rate_Bps;
        q->left_before_Bps[k] = left_Bps;
        left_Bps -= rate_Bps;
        if (m->fates[slot].bottleneck == resource) {
            const struct fr__flow *f = &m->flows[slot];
            double s = f->since_s + f->remaining_bytes / rate_Bps;

            end_s = s < end_s ? s : end_s;
            level_Bps = level_Bps > 0 ? level_Bps : rate_Bps; /* the least, if they differ */
        }
    }
    q->left_Bps = left_Bps;
    q->n_sorted = level_Bps > 0 ? q->n : 0;
    m->rest[resource].is_ordered = level_Bps > 0;
    m->rest[resource].level_Bps = level_Bps;
    if (end_s < INFINITY || m->end_s[resource] < INFINITY)
        fr__maxmin_set_end(m, resource, end_s);
}

static void next_epoch(struct fr__maxmin *m)
{
    m->epoch += 4;
    if (m->epoch)
        return;
    for (uint32_t s = 0; s < m->n_slots; s++) /* marks of 2^30 solves ago look new */
        m->fates[s].mark = 0;
    memset(m->reached, 0, m->n_resources * sizeof(*m->reached));
    m->epoch = 4;
}

void fr__maxmin_refill(struct fr__maxmin *m, double now)
{
    double level_Bps = 0, key_Bps;

    m->from_Bps = first_level(m);
    next_epoch(m);
    m->stats.solves++;
    m->n_active = 0;
    m->n_open = 0;
    fr__radix_reset(&m->queue, m->from_Bps);
    reach_changed(m);
    while (m->n_open) {
        uint32_t id = fr__radix_pop(&m->queue, &key_Bps);

        if (id < m->n_resources && is_loose(m, id)) {
            pass_loose_share(m, id, key_Bps);
            continue;
        }
        if (key_Bps > level_Bps + level_Bps * TIE)
            level_Bps = key_Bps;
        if (id < m->n_resources)
            pass_share(m, id, &level_Bps, now);
        else
            pass_old_level(m, id - m->n_resources, now);
    }
    for (uint32_t i = 0; i < m->n_active; i++)
        if (is_loose(m, m->active[i]))
            fr__maxmin_sum_up(m, m->active[i]);
        else
            tidy(m, m->active[i]);
    m->n_changed = 0;
    m->level_Bps = INFINITY;
}
