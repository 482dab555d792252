/* lowering/schedules/v_pattern.c - V-Half and V-Min: a pattern of passes repeated, then
 * compressed.
 *
 * Rank r of p holds stages r and 2 p - 1 - r. A stable pattern says in which slot of one pass each
 * of the four passes F, F, I, I of micro-batch 0 runs on each rank; micro-batch k runs 6 k slots
 * later. A rank then holds a fixed number of activations. Gaps get weight gradients. The ends are
 * compressed: passes before the first backward is through and after the last forward has begun
 * move to the earliest free slot that no wait forbids and at which no rank holds more than before.
 * This is done twice, first with the weight gradients as passes of their own, then with them in
 * whatever is free.
 * Source: P. Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024 (building
 * blocks, squeezing and reordering), with the offsets of the authors' program for equal passes
 * (zero-bubble-pipeline-parallelism, zerobubble/scheduler/zbv_greedy.py).
 */
#include "config.h"

#include "base/error.h"
#include "lowering/schedules/maker.h"

#include <stdlib.h>
#include <string.h>

/* Passes of a rank in the order in which a micro-batch meets them: F of its first stage, F of its
 * second, I of the second, I of the first; then its weight gradients. */
enum { F0, F1, I1, I0, N_PASSES, W = N_PASSES, N_ROWS };

enum { EMPTY = -1, INTERVAL = 6 };

struct held {
    int32_t live, due; /* activations; weight gradients that may run */
};

/* How many input gradients a rank has up to a slot; -1: before the first. */
struct cursor {
    int32_t slot, n;
};

struct table {
    uint32_t p, n;         /* ranks, micro-batches */
    uint32_t n_slots;      /* that a rank's row of `what` has */
    int32_t *at;           /* [p][N_ROWS][2 n] the slot of each; n of the passes, 2 n of W */
    int8_t *what;          /* [p][n_slots] the pass there, or EMPTY */
    struct cursor *inputs; /* [p] */
    struct held *before;   /* [n_slots] scratch */
    struct held *held;     /* [p][n_slots] after each slot, while passes are moved */
    uint32_t *count;       /* [p][N_ROWS] scratch: passes met so far */
    bool has_w;            /* weight gradients have slots of their own */
    int32_t most_live;     /* activations of any rank */
};

static int32_t *slot_of(const struct table *t, uint32_t rank, int row, uint32_t k)
{
    return &t->at[((size_t)rank * N_ROWS + (size_t)row) * 2 * t->n + k];
}

static int8_t *row_of(const struct table *t, uint32_t rank)
{
    return &t->what[(size_t)rank * t->n_slots];
}

/* Of the four passes. */
static int32_t last_slot(const struct table *t, uint32_t rank)
{
    int32_t last = 0;

    for (int pass = 0; pass < N_PASSES; pass++) {
        int32_t slot = *slot_of(t, rank, pass, t->n - 1);

        last = slot > last ? slot : last;
    }
    return last;
}

static void clear_counts(struct table *t)
{
    memset(t->count, 0, (size_t)t->p * N_ROWS * sizeof(*t->count));
}

/* Which of its row the pass is that comes next in time. */
static uint32_t count_up(struct table *t, uint32_t rank, int row)
{
    return t->count[rank * N_ROWS + (unsigned)row]++;
}

/* Writes the slots of the passes into `what`, without weight gradients. */
static void lay_out(struct table *t)
{
    memset(t->what, EMPTY, (size_t)t->p * t->n_slots);
    for (uint32_t r = 0; r < t->p; r++)
        for (int pass = 0; pass < N_PASSES; pass++)
            for (uint32_t k = 0; k < t->n; k++)
                row_of(t, r)[*slot_of(t, r, pass, k)] = (int8_t)pass;
    t->has_w = false;
}

/* Gives weight gradients the free slots after their I, the rest the slots after the end. */
static void put_weights(struct table *t)
{
    for (uint32_t r = 0; r < t->p; r++) {
        int8_t *row = row_of(t, r);
        int32_t last = last_slot(t, r);
        uint32_t n_due = 0, n_put = 0;

        for (int32_t i = 0; i <= last || n_due > 0; i++) {
            if (row[i] == I0 || row[i] == I1) {
                n_due++;
            } else if (row[i] == EMPTY && n_due > 0) {
                row[i] = W;
                *slot_of(t, r, W, n_put++) = i;
                n_due--;
            }
        }
    }
    t->has_w = true;
}

/* ---- memory ---- */

static struct held *held_of(const struct table *t, uint32_t rank)
{
    return &t->held[(size_t)rank * t->n_slots];
}

/* What a rank holds after a slot. Where weight gradients have no slots, one runs in each free slot
 * for which one is due. */
static struct held step(const struct table *t, struct held h, int what)
{
    if (what == F0 || what == F1) {
        h.live++;
    } else if (what == W || (what == EMPTY && !t->has_w && h.due > 0)) {
        h.live--;
        h.due--;
    } else if (what != EMPTY) {
        h.due++;
    }
    return h;
}

/* Counts for every slot; returns the most activations that the rank holds. */
static int32_t count_held(const struct table *t, uint32_t rank)
{
    struct held h = {0, 0}, *held = held_of(t, rank);
    int32_t most = 0;

    for (uint32_t i = 0; i < t->n_slots; i++) {
        held[i] = h = step(t, h, row_of(t, rank)[i]);
        most = h.live > most ? h.live : most;
    }
    return most;
}

/* The counts after something changed in the slots from first to last: until they are as before.
 * Whether nowhere more is held than allowed; else the counts are as they were. */
static bool recount(const struct table *t, uint32_t rank, int32_t first, int32_t last)
{
    struct held *held = held_of(t, rank), h = first > 0 ? held[first - 1] : (struct held){0, 0};
    const int8_t *row = row_of(t, rank);
    int32_t i = first;

    for (; i < (int32_t)t->n_slots; i++) {
        h = step(t, h, row[i]);
        if (h.live > t->most_live || (i >= last && h.live == held[i].live && h.due == held[i].due))
            break;
        t->before[i - first] = held[i];
        held[i] = h;
    }
    if (i == (int32_t)t->n_slots || h.live <= t->most_live)
        return true;
    memcpy(held + first, t->before, (size_t)(i - first) * sizeof(*held));
    return false;
}

/* The first slot at which another forward, gone from `slot`, is not too much at once: it adds one
 * to what is held up to there. */
static int32_t first_with_room(const struct table *t, uint32_t rank, int row, int32_t from,
                               int32_t slot)
{
    const struct held *held = held_of(t, rank);
    int32_t i = slot;

    if (row != F0 && row != F1)
        return from;
    while (i > from && held[i - 1].live < t->most_live)
        i--;
    return i;
}

/* ---- compression ---- */

static int32_t later(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static bool is_input(int8_t what)
{
    return what == I0 || what == I1;
}

/* The slot of the k-th input gradient of the rank, of either stage. Weight gradients ask in their
 * order, so the place of the last answer is near. */
static int32_t slot_of_input(struct table *t, uint32_t rank, uint32_t k)
{
    const int8_t *row = row_of(t, rank);
    struct cursor *at = &t->inputs[rank];

    while (at->n < (int32_t)k + 1)
        at->n += is_input(row[++at->slot]);
    while (at->n > (int32_t)k + 1 || !is_input(row[at->slot]))
        at->n -= is_input(row[at->slot--]);
    return at->slot;
}

/* A pass has gone from one slot to an earlier one. */
static void note_move(struct table *t, uint32_t rank, int row, int32_t from, int32_t to)
{
    struct cursor *at = &t->inputs[rank];

    if (is_input((int8_t)row))
        at->n += (to <= at->slot) - (from <= at->slot);
}

/* The last slot of what the k-th of its row waits for; -1: for nothing. */
static int32_t waits_for(const struct table *t, uint32_t rank, int row, uint32_t k)
{
    int32_t slot = k > 0 ? *slot_of(t, rank, row, k - 1) : -1;

    if ((row == F0 || row == I1) && rank > 0)
        slot = later(slot, *slot_of(t, rank - 1, row, k));
    if ((row == F1 || row == I0) && rank + 1 < t->p)
        slot = later(slot, *slot_of(t, rank + 1, row, k));
    if (row > F0 && row < N_PASSES)
        slot = later(slot, *slot_of(t, rank, row - 1, k));
    return slot;
}

/* Moves the pass in `slot` to the earliest free one. */
static void move_early(struct table *t, uint32_t rank, int row, uint32_t k, int32_t slot)
{
    int8_t *what = row_of(t, rank);
    int32_t from = waits_for(t, rank, row, k);

    if (row == W)
        from = later(from, slot_of_input(t, rank, k));
    for (int32_t i = first_with_room(t, rank, row, from + 1, slot); i < slot; i++) {
        if (what[i] != EMPTY)
            continue;
        what[i] = (int8_t)row;
        what[slot] = EMPTY;
        *slot_of(t, rank, row, k) = i;
        if (recount(t, rank, i, slot)) {
            note_move(t, rank, row, slot, i);
            return;
        }
        what[i] = EMPTY;
        what[slot] = (int8_t)row;
        *slot_of(t, rank, row, k) = slot;
    }
}

/* Which parts of the run are compressed: up to the end of the first backward, then none of it until
 * the last micro-batch enters, then all. */
enum part { PART_BEGIN, PART_MIDDLE, PART_END };

static void compress(struct table *t)
{
    enum part part = PART_BEGIN;

    t->most_live = 0;
    for (uint32_t r = 0; r < t->p; r++) {
        t->most_live = later(t->most_live, count_held(t, r));
        t->inputs[r] = (struct cursor){-1, 0};
    }
    clear_counts(t);
    for (int32_t slot = 0; slot < (int32_t)t->n_slots; slot++)
        for (uint32_t r = 0; r < t->p; r++) {
            int row = row_of(t, r)[slot];
            uint32_t k;

            if (row == EMPTY)
                continue;
            k = count_up(t, r, row);
            if (part == PART_BEGIN && row == I0 && r == 0)
                part = PART_MIDDLE;
            if (part == PART_MIDDLE) {
                if (row == F0 && k == t->n - 1)
                    part = PART_END;
                continue;
            }
            if (part == PART_END || t->has_w)
                move_early(t, r, row, k, slot);
        }
}

/* Runs all as early as waits and each rank's order let it: the new slots are the steps. */
static enum fr_status run_early(struct table *t, struct fr_error *err)
{
    int32_t *end = calloc(t->p, sizeof(*end)); /* the step after the rank's last pass */

    if (!end)
        return fr__fail_nomem(err);
    clear_counts(t);
    for (int32_t slot = 0; slot < (int32_t)t->n_slots; slot++)
        for (uint32_t r = 0; r < t->p; r++) {
            int row = row_of(t, r)[slot];

            if (row != EMPTY) {
                uint32_t k = count_up(t, r, row);

                end[r] = later(end[r], waits_for(t, r, row, k) + 1);
                *slot_of(t, r, row, k) = end[r]++;
            }
        }
    free(end);
    return FR_OK;
}

/* ---- the list ---- */

static void add_weights(struct fr_schedule *out, const uint32_t stage[2], uint32_t n_due[2],
                        uint32_t n_put[2])
{
    unsigned c = n_due[1] > 0; /* the second stage first */

    if (n_due[c] == 0)
        return;
    n_due[c]--;
    fr__schedule_add(out, FR_ACTION_W, stage[c], n_put[c]++);
}

static void add_rank(struct fr_schedule *out, const struct table *t, uint32_t r)
{
    static const enum fr_action_kind kind[] = {FR_ACTION_F, FR_ACTION_F, FR_ACTION_I, FR_ACTION_I};
    const uint32_t stage[2] = {r, 2 * t->p - 1 - r};
    uint32_t n_done[N_PASSES] = {0}, n_due[2] = {0}, n_put[2] = {0};
    int32_t last = last_slot(t, r);

    for (int32_t slot = 0; slot <= last || n_due[0] + n_due[1] > 0; slot++) {
        int pass = slot <= last ? row_of(t, r)[slot] : EMPTY;
        unsigned c = pass == F1 || pass == I1;

        if (pass == EMPTY) {
            add_weights(out, stage, n_due, n_put);
            continue;
        }
        fr__schedule_add(out, kind[pass], stage[c], n_done[pass]++);
        n_due[c] += kind[pass] == FR_ACTION_I;
    }
}

/* ---- one kind ---- */

/* Fills offset[N_PASSES], slots of micro-batch 0 on rank r of p. */
typedef void (*offsets_fn)(uint32_t p, uint32_t r, int32_t offset[]);

static void half_offsets(uint32_t p, uint32_t r, int32_t offset[])
{
    uint32_t gap = p % 2 == 0 ? 3 : 0;

    offset[F0] = (int32_t)(2 * r);
    offset[F1] = (int32_t)(3 * p - r - 2);
    offset[I1] = (int32_t)(3 * p + gap + 2 * r - 1);
    offset[I0] = (int32_t)(6 * p + gap - r - 2);
}

static void min_offsets(uint32_t p, uint32_t r, int32_t offset[])
{
    uint32_t gap = p % 3 == 0 ? 2 : 0;

    offset[F0] = (int32_t)r;
    offset[F1] = (int32_t)(2 * p - r - 1);
    offset[I1] = (int32_t)(2 * p + gap + r);
    offset[I0] = (int32_t)(4 * p + gap - r - 1);
}

static enum fr_status search(struct table *t, offsets_fn offsets, struct fr_schedule *out,
                             struct fr_error *err)
{
    for (uint32_t r = 0; r < t->p; r++) {
        int32_t offset[N_PASSES];

        offsets(t->p, r, offset);
        for (int pass = 0; pass < N_PASSES; pass++)
            for (uint32_t k = 0; k < t->n; k++)
                *slot_of(t, r, pass, k) = offset[pass] + (int32_t)(INTERVAL * k);
    }
    lay_out(t);
    put_weights(t);
    compress(t);
    FR_TRY(run_early(t, err));
    lay_out(t);
    compress(t);
    put_weights(t);
    FR_TRY(run_early(t, err));
    lay_out(t);
    for (uint32_t r = 0; r < t->p; r++) {
        fr__schedule_rank(out, r);
        add_rank(out, t, r);
    }
    return FR_OK;
}

static enum fr_status make(const struct fr_schedule_spec *spec, offsets_fn offsets,
                           struct fr_schedule *out, struct fr_error *err)
{
    struct table t = {.p = spec->n_ranks, .n = spec->n_micros};
    enum fr_status st;

    t.n_slots = INTERVAL * (t.p + t.n + 1) + 2 * t.n;
    t.at = calloc((size_t)t.p * N_ROWS * 2 * t.n, sizeof(*t.at));
    t.what = calloc((size_t)t.p * t.n_slots, sizeof(*t.what));
    t.count = calloc((size_t)t.p * N_ROWS, sizeof(*t.count));
    t.held = calloc((size_t)t.p * t.n_slots, sizeof(*t.held));
    t.before = calloc(t.n_slots, sizeof(*t.before));
    t.inputs = calloc(t.p, sizeof(*t.inputs));
    st = t.at && t.what && t.count && t.held && t.before && t.inputs ? search(&t, offsets, out, err)
                                                                     : fr__fail_nomem(err);
    free(t.inputs);
    free(t.before);
    free(t.held);
    free(t.count);
    free(t.what);
    free(t.at);
    return st;
}

static enum fr_status make_half(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                                struct fr_error *err)
{
    return make(spec, half_offsets, out, err);
}

static enum fr_status make_min(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                               struct fr_error *err)
{
    return make(spec, min_offsets, out, err);
}

const struct fr_schedule_kind fr__schedule_v_half = {
    .name = "v-half",
    .summary = "two stages a rank in a V: about half the memory of 1F1B",
    .source = "Qi et al., Controllable Memory, NeurIPS 2024",
    .placement = FR_STAGES_V,
    .least_virtual = 2,
    .most_virtual = 2,
    .make = make_half,
};

const struct fr_schedule_kind fr__schedule_v_min = {
    .name = "v-min",
    .summary = "two stages a rank in a V: about a third of the memory of 1F1B",
    .source = "Qi et al., Controllable Memory, NeurIPS 2024",
    .placement = FR_STAGES_V,
    .least_virtual = 2,
    .most_virtual = 2,
    .make = make_min,
};
