/* The max-min solver against filling from scratch, the definition of max-min fairness, hand-made
 * cases and SimGrid. */
#include "sim/network/maxmin_state.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hand-made cases ---- */

START_TEST(one_flow_gets_the_narrowest_capacity)
{
    const double capacity_Bps[] = {10, 4, 7};
    const uint32_t path[] = {0, 1, 2};
    struct fr__maxmin *m = fr__maxmin_new(3, capacity_Bps);
    uint32_t slot = fr__maxmin_add(m, 1, path, 3, 8, 42), user = 0;

    ck_assert_double_eq(fr__maxmin_solve(m, 1), 3); /* 1 + 8 / 4 */
    ck_assert_double_eq(fr__maxmin_rate(m, slot), 4);
    ck_assert_double_eq(fr__maxmin_remaining(m, slot, 2), 4);
    ck_assert(!fr__maxmin_pop_finished(m, 2.5, &user));
    ck_assert(fr__maxmin_pop_finished(m, 3, &user));
    ck_assert_uint_eq(user, 42);
    ck_assert(!fr__maxmin_pop_finished(m, 3, &user));
    ck_assert(isinf(fr__maxmin_solve(m, 3)));
    fr__maxmin_free(m);
}
END_TEST

/* Bertsekas & Gallager 6.5.2's way: link 0 (10) has flows a, b, c; link 1 (2) has c alone with d:
 * c = d = 1, then a = b = (10 - 1) / 2 = 4.5. */
START_TEST(what_a_bottleneck_leaves_goes_to_the_others)
{
    const double capacity_Bps[] = {10, 2};
    const uint32_t p0[] = {0}, p01[] = {0, 1}, p1[] = {1};
    struct fr__maxmin *m = fr__maxmin_new(2, capacity_Bps);
    uint32_t a = fr__maxmin_add(m, 0, p0, 1, 100, 0), b = fr__maxmin_add(m, 0, p0, 1, 100, 1);
    uint32_t c = fr__maxmin_add(m, 0, p01, 2, 100, 2), d = fr__maxmin_add(m, 0, p1, 1, 100, 3);

    fr__maxmin_solve(m, 0);
    ck_assert_double_eq(fr__maxmin_rate(m, a), 4.5);
    ck_assert_double_eq(fr__maxmin_rate(m, b), 4.5);
    ck_assert_double_eq(fr__maxmin_rate(m, c), 1);
    ck_assert_double_eq(fr__maxmin_rate(m, d), 1);
    fr__maxmin_remove(m, d); /* c = 2, a = b = 4 */
    fr__maxmin_solve(m, 1);
    ck_assert_double_eq(fr__maxmin_rate(m, a), 4);
    ck_assert_double_eq(fr__maxmin_rate(m, c), 2);
    ck_assert_double_eq(fr__maxmin_remaining(m, a, 1), 95.5);
    fr__maxmin_free(m);
}
END_TEST

START_TEST(a_flow_of_no_bytes_ends_at_once)
{
    const double capacity_Bps[] = {10};
    const uint32_t path[] = {0};
    struct fr__maxmin *m = fr__maxmin_new(1, capacity_Bps);
    uint32_t user = 0;

    fr__maxmin_add(m, 2, path, 1, 30, 1);
    fr__maxmin_add(m, 2, path, 1, 0, 2);
    ck_assert_double_eq(fr__maxmin_solve(m, 2), 2);
    ck_assert(fr__maxmin_pop_finished(m, 2, &user));
    ck_assert_uint_eq(user, 2);
    ck_assert(!fr__maxmin_pop_finished(m, 2, &user));
    ck_assert_double_eq(fr__maxmin_solve(m, 2), 5);
    fr__maxmin_free(m);
}
END_TEST

/* 10 000 equal flows on one link end together, at bytes * n / capacity, in order of insertion, and
 * need one solve. */
START_TEST(equal_flows_on_one_link_end_in_one_instant)
{
    enum { N = 10000 };
    const double capacity_Bps[] = {12.5e9};
    const uint32_t path[] = {0};
    struct fr__maxmin *m = fr__maxmin_new(1, capacity_Bps);
    uint32_t user = 0, n = 0;
    double end_s;

    for (uint32_t i = 0; i < N; i++)
        ck_assert(fr__maxmin_add(m, 0, path, 1, 1e6, i) != FR_NONE);
    end_s = fr__maxmin_solve(m, 0);
    ck_assert_double_eq_tol(end_s, 1e6 * N / 12.5e9, 1e-12);
    for (; fr__maxmin_pop_finished(m, end_s, &user); n++)
        ck_assert_uint_eq(user, n);
    ck_assert_uint_eq(n, N);
    ck_assert_uint_eq(fr__maxmin_stats(m).live, 0);
    ck_assert_uint_eq(fr__maxmin_stats(m).live_max, N);
    ck_assert_uint_eq(fr__maxmin_stats(m).solves, 1);
    fr__maxmin_free(m);
}
END_TEST

/* Three pairs share three links of a third each (0.1 + 0.2 is not 0.3 in binary): the ways to the
 * common end are rounded differently, the instant is one. */
START_TEST(ends_that_differ_by_rounding_are_one_instant)
{
    const double capacity_Bps[] = {0.1, 0.3, 0.7};
    struct fr__maxmin *m = fr__maxmin_new(3, capacity_Bps);
    uint32_t user = 0, n = 0;
    double end_s;

    for (uint32_t r = 0; r < 3; r++)
        for (uint32_t i = 0; i < 2 * r + 1; i++)
            fr__maxmin_add(m, 0, &r, 1, capacity_Bps[r] / (2 * r + 1) * 1.1, i);
    end_s = fr__maxmin_solve(m, 0);
    while (fr__maxmin_pop_finished(m, end_s, &user))
        n++;
    ck_assert_uint_eq(n, 9);
    fr__maxmin_free(m);
}
END_TEST

/* Two flows share 0.2, three 0.3: in binary 0.2 / 2 is 0.1 and 0.3 / 3 the double before it. Equal
 * shares have one rate, so that what is alike ends alike. */
START_TEST(shares_that_differ_by_rounding_are_one_rate)
{
    const double capacity_Bps[] = {0.2, 0.3};
    const uint32_t p0[] = {0}, p1[] = {1};
    struct fr__maxmin *m = fr__maxmin_new(2, capacity_Bps);
    uint32_t a = fr__maxmin_add(m, 0, p0, 1, 1, 0), b = fr__maxmin_add(m, 0, p1, 1, 1, 1);

    fr__maxmin_add(m, 0, p0, 1, 1, 2);
    fr__maxmin_add(m, 0, p1, 1, 1, 3);
    fr__maxmin_add(m, 0, p1, 1, 1, 4);
    ck_assert_double_ne(0.2 / 2, 0.3 / 3);
    fr__maxmin_solve(m, 0);
    ck_assert_double_eq_tol(fr__maxmin_rate(m, a), 0.1, 1e-15);
    ck_assert_double_eq(fr__maxmin_rate(m, a), fr__maxmin_rate(m, b));
    fr__maxmin_free(m);
}
END_TEST

/* Resource 1 (3) gives w what resource 0 (0.6) lets it have and shares the rest between x and y; y
 * crosses resource 2 too, where z has what y leaves. Two flows in w's place get half of it each, which
 * leaves resource 1 the same but for rounding: x and y keep their rates and z is not looked at. */
START_TEST(a_level_that_differs_by_rounding_reaches_no_further)
{
    const double capacity_Bps[] = {0.6, 3, 10};
    const uint32_t p01[] = {0, 1}, p1[] = {1}, p12[] = {1, 2}, p2[] = {2};
    struct fr__maxmin *m = fr__maxmin_new(3, capacity_Bps);
    uint32_t w = fr__maxmin_add(m, 0, p01, 2, 100, 0), x = fr__maxmin_add(m, 0, p1, 1, 100, 1);
    uint32_t y = fr__maxmin_add(m, 0, p12, 2, 100, 2), z = fr__maxmin_add(m, 0, p2, 1, 100, 3);
    double x_Bps, y_Bps;
    uint64_t visited;

    fr__maxmin_solve(m, 0);
    x_Bps = fr__maxmin_rate(m, x);
    y_Bps = fr__maxmin_rate(m, y);
    ck_assert_double_eq_tol(y_Bps, 1.2, 1e-15);
    ck_assert_double_eq_tol(fr__maxmin_rate(m, z), 10 - y_Bps, 1e-14);
    visited = fr__maxmin_stats(m).visited;
    fr__maxmin_remove(m, w);
    w = fr__maxmin_add(m, 1, p01, 2, 100, 4);
    fr__maxmin_add(m, 1, p01, 2, 100, 5);
    fr__maxmin_solve(m, 1);
    ck_assert_double_eq(fr__maxmin_rate(m, w), 0.3);
    ck_assert_double_gt(3 - 0.3 - 0.3, 3 - 0.6); /* in doubles */
    ck_assert_double_eq(fr__maxmin_rate(m, x), x_Bps);
    ck_assert_double_eq(fr__maxmin_rate(m, y), y_Bps);
    ck_assert_uint_eq(fr__maxmin_stats(m).visited - visited, 4); /* the two new ones, x and y */
    fr__maxmin_free(m);
}
END_TEST

/* Resource 0 (10) gives a the 1 that resource 1 lets it have, b and c 4.5 each. With d as a
 * fourth, all three get 3: nothing changes below that level. */
START_TEST(filling_resumes_at_the_level_that_changes)
{
    const double capacity_Bps[] = {10, 1};
    const uint32_t p0[] = {0}, p01[] = {0, 1};
    struct fr__maxmin *m = fr__maxmin_new(2, capacity_Bps);
    uint32_t a = fr__maxmin_add(m, 0, p01, 2, 100, 0), d;

    fr__maxmin_add(m, 0, p0, 1, 100, 1);
    fr__maxmin_add(m, 0, p0, 1, 100, 2);
    fr__maxmin_solve(m, 0);
    d = fr__maxmin_add(m, 0, p0, 1, 100, 3);
    fr__maxmin_solve(m, 0);
    ck_assert_double_eq(fr__maxmin_rate(m, a), 1);
    ck_assert_double_eq(fr__maxmin_rate(m, d), 3);
    ck_assert_double_eq_tol(m->from_Bps, 3, 1e-12);
    fr__maxmin_remove(m, d); /* what was settled below its rate stays */
    fr__maxmin_solve(m, 0);
    ck_assert_double_eq_tol(m->from_Bps, 3, 1e-12);
    fr__maxmin_free(m);
}
END_TEST

/* Resource 0 (1000) is never full. What its flows leave is added up as they come and go, and
 * anew after 256 changes (MOST_CHANGES), of which one solve makes a few. */
START_TEST(a_sum_is_made_anew_when_it_has_changed_often_enough)
{
    const double capacity_Bps[] = {1000, 1};
    const uint32_t path[] = {0, 1};
    struct fr__maxmin *m = fr__maxmin_new(2, capacity_Bps);
    uint32_t most = 0;

    fr__maxmin_add(m, 0, path, 2, 1e9, 0);
    for (uint32_t i = 1; i < 600; i++) {
        uint32_t other = fr__maxmin_add(m, 0, path, 2, 1e9, i);

        fr__maxmin_solve(m, 0);
        most = m->resources[0].next > most ? m->resources[0].next : most;
        fr__maxmin_remove(m, other);
        fr__maxmin_solve(m, 0);
        most = m->resources[0].next > most ? m->resources[0].next : most;
    }
    ck_assert_uint_ge(most, 250);
    ck_assert_uint_le(most, 262);
    fr__maxmin_free(m);
}
END_TEST

START_TEST(flows_that_share_nothing_need_no_solve)
{
    const double capacity_Bps[] = {1, 2, 3, 4};
    struct fr__maxmin *m = fr__maxmin_new(4, capacity_Bps);
    uint32_t user = 0;

    for (uint32_t i = 0; i < 2; i++) {
        uint32_t path[] = {2 * i + 1, 2 * i};

        fr__maxmin_add(m, 0, path, 2, 12, i);
    }
    ck_assert_double_eq(fr__maxmin_solve(m, 0), 4);
    ck_assert(fr__maxmin_pop_finished(m, 4, &user));
    ck_assert_uint_eq(user, 1);
    ck_assert_double_eq(fr__maxmin_solve(m, 4), 12);
    ck_assert_uint_eq(fr__maxmin_stats(m).solves, 0);
    fr__maxmin_free(m);
}
END_TEST

START_TEST(capacities_may_differ_by_thirty_orders_of_magnitude)
{
    const double capacity_Bps[] = {1e-15, 1e15};
    const uint32_t both[] = {0, 1}, wide[] = {1};
    struct fr__maxmin *m = fr__maxmin_new(2, capacity_Bps);
    uint32_t a = fr__maxmin_add(m, 0, both, 2, 1, 0), b = fr__maxmin_add(m, 0, wide, 1, 1, 1);
    uint32_t c = fr__maxmin_add(m, 0, both, 2, 1, 0);

    ck_assert_double_eq(fr__maxmin_solve(m, 0), 1e-15);
    ck_assert_double_eq(fr__maxmin_rate(m, a), 0.5e-15);
    ck_assert_double_eq(fr__maxmin_rate(m, b), 1e15);
    ck_assert_double_eq(fr__maxmin_rate(m, c), 0.5e-15);
    fr__maxmin_free(m);
}
END_TEST

START_TEST(a_flow_removed_in_the_instant_of_its_end_is_not_handed_out)
{
    const double capacity_Bps[] = {2};
    const uint32_t path[] = {0};
    struct fr__maxmin *m = fr__maxmin_new(1, capacity_Bps);
    uint32_t user = 0, last;

    fr__maxmin_add(m, 0, path, 1, 5, 1);
    last = fr__maxmin_add(m, 0, path, 1, 5, 2);
    ck_assert_double_eq(fr__maxmin_solve(m, 0), 5);
    ck_assert(fr__maxmin_pop_finished(m, 5, &user));
    ck_assert_uint_eq(user, 1);
    fr__maxmin_remove(m, last);
    ck_assert(!fr__maxmin_pop_finished(m, 5, &user));
    fr__maxmin_free(m);
}
END_TEST

/* The link is changed, then as it was: the flow that stays has its end all the same. */
START_TEST(a_flow_taken_back_before_any_solve_leaves_the_others_ends)
{
    const double capacity_Bps[] = {2};
    const uint32_t path[] = {0};
    struct fr__maxmin *m = fr__maxmin_new(1, capacity_Bps);

    fr__maxmin_add(m, 0, path, 1, 8, 1);
    fr__maxmin_remove(m, fr__maxmin_add(m, 0, path, 1, 8, 2));
    ck_assert_double_eq(fr__maxmin_solve(m, 0), 4);
    fr__maxmin_free(m);
}
END_TEST

START_TEST(a_solver_without_resources_or_flows_has_no_next_end)
{
    struct fr__maxmin *m = fr__maxmin_new(0, NULL);
    uint32_t user;

    ck_assert(isinf(fr__maxmin_solve(m, 0)));
    ck_assert(!fr__maxmin_pop_finished(m, 1e9, &user));
    fr__maxmin_free(m);
    fr__maxmin_free(NULL);
}
END_TEST

/* ---- random jobs against filling from scratch ---- */

enum { MAX_FLOWS = 100, CROWD = 400, MAX_RESOURCES = 96, MAX_PATH = 9 };

struct random_job {
    uint64_t state;
    uint32_t n_resources, max_path, n_live;
    double capacity_Bps[MAX_RESOURCES];
    bool is_tree;
    struct {
        uint32_t slot, user, n_path, path[MAX_PATH];
        double bytes, rate_Bps; /* of the reference */
    } flow[CROWD];
};

/* G. Marsaglia, Xorshift RNGs, Journal of Statistical Software 8(14), 2003. */
static uint32_t below(struct random_job *j, uint32_t n)
{
    j->state ^= j->state << 13;
    j->state ^= j->state >> 7;
    j->state ^= j->state << 17;
    return (uint32_t)((j->state >> 16) % n);
}

/* Progressive filling as in Bertsekas & Gallager, without any cleverness. */
static void fill_from_scratch(struct random_job *j)
{
    double left[MAX_RESOURCES];
    uint32_t open[MAX_RESOURCES] = {0};
    bool is_frozen[CROWD] = {false};

    memcpy(left, j->capacity_Bps, sizeof(left));
    for (uint32_t f = 0; f < j->n_live; f++)
        for (uint32_t h = 0; h < j->flow[f].n_path; h++)
            open[j->flow[f].path[h]]++;
    for (;;) {
        uint32_t full = FR_NONE;

        for (uint32_t r = 0; r < j->n_resources; r++)
            if (open[r] && (full == FR_NONE || left[r] / open[r] < left[full] / open[full]))
                full = r;
        if (full == FR_NONE)
            return;
        for (uint32_t f = 0, n = open[full]; f < j->n_live; f++) {
            double share = left[full] / n;
            bool crosses = false;

            for (uint32_t h = 0; h < j->flow[f].n_path; h++)
                crosses |= j->flow[f].path[h] == full;
            if (!crosses || is_frozen[f])
                continue;
            is_frozen[f] = true;
            j->flow[f].rate_Bps = share;
            for (uint32_t h = 0; h < j->flow[f].n_path; h++) {
                open[j->flow[f].path[h]]--;
                if (j->flow[f].path[h] != full)
                    left[j->flow[f].path[h]] -= share;
            }
        }
    }
}

/* Every flow crosses a full resource where none is faster; no resource carries too much. */
static void check_is_max_min(const struct random_job *j, const struct fr__maxmin *m)
{
    double used[MAX_RESOURCES] = {0}, fastest[MAX_RESOURCES] = {0};

    for (uint32_t f = 0; f < j->n_live; f++)
        for (uint32_t h = 0; h < j->flow[f].n_path; h++) {
            double rate = fr__maxmin_rate(m, j->flow[f].slot);

            used[j->flow[f].path[h]] += rate;
            fastest[j->flow[f].path[h]] = fmax(fastest[j->flow[f].path[h]], rate);
        }
    for (uint32_t r = 0; r < j->n_resources; r++)
        if (used[r] > j->capacity_Bps[r] * (1 + 1e-12))
            ck_abort_msg("resource %u carries %.17g of %.17g", r, used[r], j->capacity_Bps[r]);
    for (uint32_t f = 0; f < j->n_live; f++) {
        double rate = fr__maxmin_rate(m, j->flow[f].slot);
        bool has_bottleneck = false;

        for (uint32_t h = 0; h < j->flow[f].n_path; h++) {
            uint32_t r = j->flow[f].path[h];

            has_bottleneck |=
                used[r] >= j->capacity_Bps[r] * (1 - 1e-12) && rate >= fastest[r] * (1 - 1e-12);
        }
        if (!has_bottleneck)
            ck_abort_msg("flow %u could be faster than %.17g", f, rate);
    }
}

static void check_rates(struct random_job *j, const struct fr__maxmin *m)
{
    fill_from_scratch(j);
    for (uint32_t f = 0; f < j->n_live; f++) {
        double rate = fr__maxmin_rate(m, j->flow[f].slot), wanted = j->flow[f].rate_Bps;

        if (!(fabs(rate - wanted) <= wanted * 1e-12)) /* Check's own asserts are slow */
            ck_abort_msg("flow %u has rate %.17g, not %.17g", f, rate, wanted);
    }
    check_is_max_min(j, m);
    ck_assert_uint_eq(fr__maxmin_stats(m).live, j->n_live);
}

/* What the solver keeps of each resource between two solves is what its flows say: none is open,
 * what they leave of the capacity, whether it holds one back, when the first that it does ends,
 * and where each flow is listed. Wrong, most of it costs time only, as filling then begins too
 * early. */
static void check_state(const struct fr__maxmin *m)
{
    for (uint32_t r = 0; r < m->n_resources; r++) {
        const struct fr__resource *q = &m->resources[r];
        double left_Bps = q->capacity_Bps, end_s = INFINITY;
        bool is_full = false;

        for (uint32_t k = 0; k < q->n; k++) {
            const struct fr__share *s = &m->shares[q->entries[k].slot];
            const struct fr__hop *hop = fr__maxmin_hops(m, q->entries[k].slot) + q->entries[k].hop;

            left_Bps -= s->rate_Bps;
            is_full |= s->bottleneck == r;
            if (s->bottleneck == r)
                end_s = fmin(end_s, m->flows[q->entries[k].slot].end_s);
            if (hop->resource != r || hop->pos != k)
                ck_abort_msg("resource %u: entry %u is listed as %u", r, k, hop->pos);
        }
        if (q->n_open != 0 || q->is_ordered != is_full ||
            fabs(q->left_Bps - left_Bps) > 1e-12 * q->capacity_Bps)
            ck_abort_msg("resource %u: %u open, %.17g left instead of %.17g", r, q->n_open,
                         q->left_Bps, left_Bps);
        if (m->ends.level[0][r] != end_s)
            ck_abort_msg("resource %u: end %g instead of %g", r, m->ends.level[0][r], end_s);
    }
}

/* A path of distinct resources; in a tree of 4 leaves x 4 hosts x 2 spines, a real route. */
static uint32_t draw_path(struct random_job *j, uint32_t path[])
{
    uint32_t n = 0, want = 1 + below(j, j->max_path);

    if (j->is_tree) {
        uint32_t src = below(j, 16), dst = (src + 1 + below(j, 15)) % 16;

        path[n++] = src;
        if (src / 4 != dst / 4) {
            path[n++] = 32 + src / 4 * 2 + dst % 2;
            path[n++] = 40 + dst / 4 * 2 + dst % 2;
        }
        path[n++] = 16 + dst;
        return n;
    }
    while (n < want) {
        uint32_t r = below(j, j->n_resources), k = 0;

        while (k < n && path[k] != r)
            k++;
        if (k < n)
            want--; /* drawn twice: a shorter path */
        else
            path[n++] = r;
    }
    return n;
}

static void start_job(struct random_job *j, uint64_t seed)
{
    static const double KINDS_BPS[] = {1, 1, 2, 0.3, 1e9, 12.5e9};

    memset(j, 0, sizeof(*j));
    j->state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    j->is_tree = seed % 3 == 0;
    j->n_resources = j->is_tree ? 48 : 1 + below(j, MAX_RESOURCES);
    j->max_path = 1 + below(j, j->n_resources < MAX_PATH ? j->n_resources : MAX_PATH);
    for (uint32_t r = 0; r < j->n_resources; r++) {
        double c = KINDS_BPS[seed % 4 + below(j, 3)];

        j->capacity_Bps[r] = seed % 5 == 0 ? c : c * (1 + below(j, 1000) * 1e-3);
    }
}

static void add_one(struct random_job *j, struct fr__maxmin *m, double now, uint32_t user)
{
    uint32_t f = j->n_live++;

    j->flow[f].n_path = draw_path(j, j->flow[f].path);
    j->flow[f].bytes = below(j, 20) == 0 ? 0 : j->capacity_Bps[0] * (1 + below(j, 50));
    j->flow[f].user = user;
    j->flow[f].slot =
        fr__maxmin_add(m, now, j->flow[f].path, j->flow[f].n_path, j->flow[f].bytes, user);
    ck_assert_uint_ne(j->flow[f].slot, FR_NONE);
}

static void remove_one(struct random_job *j, struct fr__maxmin *m)
{
    uint32_t f = below(j, j->n_live);

    fr__maxmin_remove(m, j->flow[f].slot);
    j->flow[f] = j->flow[--j->n_live];
}

/* Takes what has ended out of the job too; what ends must have moved all its bytes. */
static void pop_all(struct random_job *j, struct fr__maxmin *m, double now)
{
    uint32_t user, last = 0;

    while (fr__maxmin_pop_finished(m, now, &user)) {
        uint32_t f = 0;

        ck_assert_uint_ge(user, last); /* users count up here: the order of insertion */
        last = user;
        while (f < j->n_live && j->flow[f].user != user)
            f++;
        ck_assert_uint_lt(f, j->n_live);
        j->flow[f] = j->flow[--j->n_live];
    }
}

/* Adds, removes and waits at random for 60 instants; then everything must come to its end. */
static uint64_t play(uint64_t seed)
{
    struct random_job j;
    struct fr__maxmin *m;
    uint32_t users = 0;
    double now = 0, next;
    uint64_t checked = 0;

    start_job(&j, seed);
    m = fr__maxmin_new(j.n_resources, j.capacity_Bps);
    for (uint32_t step = 0; step < 60 || j.n_live; step++) {
        uint32_t what = step < 60 ? below(&j, 8) : 0;

        ck_assert_uint_lt(step, 1000);
        if (what >= 2)
            for (uint32_t n = 1 + below(&j, 1 + (uint32_t)(seed % 7));
                 n-- && j.n_live < MAX_FLOWS && what > 2;)
                add_one(&j, m, now, users++);
        if (what == 2 && j.n_live)
            remove_one(&j, m);
        next = fr__maxmin_solve(m, now);
        ck_assert(next >= now && (next < INFINITY || j.n_live == 0));
        check_rates(&j, m);
        checked += j.n_live;
        if (isinf(next) || what > 5)
            continue;
        now = what == 5 ? now + (next - now) / 2 : next;
        pop_all(&j, m, now);
    }
    ck_assert(isinf(fr__maxmin_solve(m, now)));
    fr__maxmin_free(m);
    return checked;
}

START_TEST(random_jobs_get_the_rates_of_filling_from_scratch)
{
    uint64_t checked = 0;

    for (uint64_t seed = 1; seed <= 3000; seed++)
        checked += play(seed);
    ck_assert_uint_gt(checked, 1000000);
}
END_TEST

/* A network kept busy: flows start in bursts as others end; now and then one is taken out, which
 * may have started in the same instant. */
static void play_long(uint64_t seed)
{
    struct random_job j;
    struct fr__maxmin *m;
    uint32_t users = 0, most;
    double now = 0, next;

    start_job(&j, seed);
    most = 2 + below(&j, MAX_FLOWS - 2);
    m = fr__maxmin_new(j.n_resources, j.capacity_Bps);
    for (uint32_t step = 0; step < 500; step++) {
        for (uint32_t n = step ? 1 + below(&j, 6) : most; n-- && j.n_live < most;)
            add_one(&j, m, now, users++);
        if (below(&j, 20) == 0)
            remove_one(&j, m);
        next = fr__maxmin_solve(m, now);
        if (!(next >= now && (next < INFINITY || j.n_live == 0)))
            ck_abort_msg("seed %u, step %u: next end %g", (unsigned)seed, step, next);
        check_is_max_min(&j, m);
        if (isinf(next))
            continue;
        now = below(&j, 4) == 0 ? now + (next - now) / 2 : next;
        pop_all(&j, m, now);
    }
    fr__maxmin_free(m);
}

START_TEST(a_busy_network_stays_max_min_fair)
{
    for (uint64_t seed = 1; seed <= 300; seed++)
        play_long(seed);
}
END_TEST

/* Few resources and hundreds of flows, so that each resource has long lists; flows come and go in
 * crowds or one by one, and equal capacities make many rates alike. */
static void play_crowd(uint64_t seed)
{
    struct random_job j;
    struct fr__maxmin *m;
    uint32_t users = 0;
    double now = 0, next;

    start_job(&j, seed);
    if (!j.is_tree) {
        j.n_resources = 1 + below(&j, j.n_resources < 12 ? j.n_resources : 12);
        j.max_path = 1 + below(&j, j.n_resources < MAX_PATH ? j.n_resources : MAX_PATH);
    }
    m = fr__maxmin_new(j.n_resources, j.capacity_Bps);
    for (uint32_t step = 0; step < 100; step++) {
        for (uint32_t n = step % 25 == 0 ? CROWD : 1 + below(&j, 3); n-- && j.n_live < CROWD;)
            add_one(&j, m, now, users++);
        for (uint32_t n = step % 40 == 39 ? CROWD / 2 : below(&j, 3); n-- && j.n_live;)
            remove_one(&j, m);
        next = fr__maxmin_solve(m, now);
        check_rates(&j, m);
        check_state(m);
        if (isinf(next))
            continue;
        now = below(&j, 4) == 0 ? now + (next - now) / 2 : next;
        pop_all(&j, m, now);
    }
    fr__maxmin_free(m);
}

START_TEST(crowds_on_few_resources_get_the_rates_of_filling_from_scratch)
{
    for (uint64_t seed = 1; seed <= 120; seed++)
        play_crowd(seed);
}
END_TEST

/* The solver remembers earlier solves; a new one given the same flows has the same ends. */
START_TEST(the_same_job_twice_ends_at_the_same_times_to_the_bit)
{
    double ends[2][200];

    for (int run = 0; run < 2; run++) {
        struct random_job j;
        struct fr__maxmin *m;
        double now = 0;

        start_job(&j, 6);
        m = fr__maxmin_new(j.n_resources, j.capacity_Bps);
        for (uint32_t step = 0; step < 200; step++) {
            while (j.n_live < 40)
                add_one(&j, m, now, step * 64 + j.n_live);
            ends[run][step] = now = fr__maxmin_solve(m, now);
            pop_all(&j, m, now);
        }
        fr__maxmin_free(m);
    }
    ck_assert_mem_eq(ends[0], ends[1], sizeof(ends[0]));
}
END_TEST

/* ---- against SimGrid ---- */

enum { MAX_TRUTH = 1000, MAX_NAME = 40, MAX_TRUTH_LINKS = 1024 };

struct truth {
    uint32_t n_flows, n_links;
    char link[MAX_TRUTH_LINKS][MAX_NAME];
    double capacity_Bps[MAX_TRUTH_LINKS], bytes[MAX_TRUTH], finish_s[MAX_TRUTH];
    uint32_t path[MAX_TRUTH][4], n_path[MAX_TRUTH], src[MAX_TRUTH], dst[MAX_TRUTH];
};

static FILE *open_truth(const char *dir, const char *name, const char *what)
{
    const char *srcdir = getenv("srcdir");
    char path[512];
    FILE *f;
    int c;

    snprintf(path, sizeof(path), "%s/%s/%s.%s.csv", srcdir ? srcdir : ".", dir, name, what);
    f = fopen(path, "r");
    if (!f)
        printf("SKIPPED: %s is not there\n", path);
    while (f && (c = getc(f)) != '\n')
        ck_assert_int_ne(c, EOF);
    return f;
}

static bool read_flows(struct truth *t, const char *dir, const char *name)
{
    FILE *f = open_truth(dir, name, "flows");
    unsigned k;
    double start_s;

    if (!f)
        return false;
    while (t->n_flows < MAX_TRUTH &&
           fscanf(f, "%u,%lf,%u,%u,%lf", &k, &start_s, &t->src[t->n_flows], &t->dst[t->n_flows],
                  &t->bytes[t->n_flows]) == 5)
        ck_assert_uint_eq(k, t->n_flows++);
    fclose(f);
    f = open_truth(dir, name, "finish");
    ck_assert_ptr_nonnull(f);
    for (uint32_t i = 0; i < t->n_flows; i++)
        ck_assert_int_eq(fscanf(f, "%u,%lf,%lf", &k, &start_s, &t->finish_s[i]), 3);
    fclose(f);
    return true;
}

static uint32_t find_link(const struct truth *t, const char *name)
{
    uint32_t l = 0;

    while (l < t->n_links && strcmp(t->link[l], name) != 0)
        l++;
    ck_assert_uint_lt(l, t->n_links);
    return l;
}

/* Routes as SimGrid names them: "id,link|link|...". */
static void read_routes(struct truth *t, const char *dir, const char *name)
{
    FILE *f = open_truth(dir, name, "links");
    char link[MAX_NAME];
    double latency_s;
    unsigned k;

    ck_assert_ptr_nonnull(f);
    while (t->n_links < MAX_TRUTH_LINKS && fscanf(f, " %39[^,],%lf,%lf", t->link[t->n_links],
                                                  &t->capacity_Bps[t->n_links], &latency_s) == 3)
        t->n_links++;
    fclose(f);
    f = open_truth(dir, name, "routes");
    ck_assert_ptr_nonnull(f);
    for (uint32_t i = 0; i < t->n_flows; i++) {
        ck_assert_int_eq(fscanf(f, "%u", &k), 1);
        while (t->n_path[i] < 4 && fscanf(f, "%*1[,|]%39[^|\n]", link) == 1)
            t->path[i][t->n_path[i]++] = find_link(t, link);
    }
    fclose(f);
}

/* The fat tree of 8 leaves x 8 hosts and 4 spines: up, leaf to spine, spine to leaf, down. */
static void make_routes(struct truth *t)
{
    t->n_links = 2 * 64 + 2 * 32;
    for (uint32_t l = 0; l < t->n_links; l++)
        t->capacity_Bps[l] = 12.5e9;
    for (uint32_t i = 0; i < t->n_flows; i++) {
        uint32_t src = t->src[i], dst = t->dst[i], *p = t->path[i], n = 0;

        p[n++] = src;
        if (src / 8 != dst / 8) {
            p[n++] = 128 + src / 8 * 4 + dst % 4;
            p[n++] = 160 + dst / 8 * 4 + dst % 4;
        }
        p[n++] = 64 + dst;
        t->n_path[i] = n;
    }
}

/* All flows start at 0; SimGrid's ends are printed with nine decimals. */
static void compare_ends(const struct truth *t)
{
    struct fr__maxmin *m = fr__maxmin_new(t->n_links, t->capacity_Bps);
    double now = 0, worst_s = 0;
    uint32_t user, n = 0;

    for (uint32_t i = 0; i < t->n_flows; i++)
        ck_assert_uint_ne(fr__maxmin_add(m, 0, t->path[i], t->n_path[i], t->bytes[i], i), FR_NONE);
    while ((now = fr__maxmin_solve(m, now)) < INFINITY)
        for (; fr__maxmin_pop_finished(m, now, &user); n++)
            worst_s = fmax(worst_s, fabs(now - t->finish_s[user]));
    ck_assert_uint_eq(n, t->n_flows);
    ck_assert_double_le(worst_s, 1e-9);
    fr__maxmin_free(m);
}

START_TEST(sixty_flows_on_a_fat_tree_end_when_simgrids_do)
{
    struct truth *t = calloc(1, sizeof(*t));

    ck_assert_ptr_nonnull(t);
    ck_assert(read_flows(t, "tests/golden/simgrid", "flows_f60"));
    make_routes(t);
    ck_assert_uint_eq(t->n_flows, 60);
    compare_ends(t);
    free(t);
}
END_TEST

START_TEST(a_hundred_and_a_thousand_flows_end_when_simgrids_do)
{
    static const char *const NAMES[] = {"flows_f100", "flows_f1000"};
    static const char DIR[] = "../shared/data/simgrid/flows";

    for (int i = 0; i < 2; i++) {
        struct truth *t = calloc(1, sizeof(*t));

        ck_assert_ptr_nonnull(t);
        if (read_flows(t, DIR, NAMES[i])) {
            read_routes(t, DIR, NAMES[i]);
            ck_assert_uint_eq(t->n_flows, i ? 1000 : 100);
            compare_ends(t);
        }
        free(t);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sim_maxmin");
    TCase *hand = tcase_create("hand"), *random = tcase_create("random");
    TCase *simgrid = tcase_create("simgrid");

    tcase_add_test(hand, one_flow_gets_the_narrowest_capacity);
    tcase_add_test(hand, what_a_bottleneck_leaves_goes_to_the_others);
    tcase_add_test(hand, a_flow_of_no_bytes_ends_at_once);
    tcase_add_test(hand, equal_flows_on_one_link_end_in_one_instant);
    tcase_add_test(hand, ends_that_differ_by_rounding_are_one_instant);
    tcase_add_test(hand, shares_that_differ_by_rounding_are_one_rate);
    tcase_add_test(hand, a_level_that_differs_by_rounding_reaches_no_further);
    tcase_add_test(hand, filling_resumes_at_the_level_that_changes);
    tcase_add_test(hand, a_sum_is_made_anew_when_it_has_changed_often_enough);
    tcase_add_test(hand, flows_that_share_nothing_need_no_solve);
    tcase_add_test(hand, capacities_may_differ_by_thirty_orders_of_magnitude);
    tcase_add_test(hand, a_flow_removed_in_the_instant_of_its_end_is_not_handed_out);
    tcase_add_test(hand, a_flow_taken_back_before_any_solve_leaves_the_others_ends);
    tcase_add_test(hand, a_solver_without_resources_or_flows_has_no_next_end);
    tcase_add_test(random, random_jobs_get_the_rates_of_filling_from_scratch);
    tcase_add_test(random, a_busy_network_stays_max_min_fair);
    tcase_add_test(random, crowds_on_few_resources_get_the_rates_of_filling_from_scratch);
    tcase_add_test(random, the_same_job_twice_ends_at_the_same_times_to_the_bit);
    tcase_set_timeout(random, 300);
    tcase_add_test(simgrid, sixty_flows_on_a_fat_tree_end_when_simgrids_do);
    tcase_add_test(simgrid, a_hundred_and_a_thousand_flows_end_when_simgrids_do);
    suite_add_tcase(s, hand);
    suite_add_tcase(s, random);
    suite_add_tcase(s, simgrid);
    return run_suite(s);
}
