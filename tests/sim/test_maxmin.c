/* tests/sim/test_maxmin.c - the max-min solver where answers are known: by hand, and from
 * SimGrid. */
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
    struct fr__maxmin *m = fr__maxmin_new(3, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(2, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(1, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(1, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(3, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(2, fr__listed_capacities(capacity_Bps));
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
 * crosses resource 2 too, where z has what y leaves. Two flows in w's place get half of it each,
 * which leaves resource 1 the same but for rounding: x and y keep their rates and z is not looked
 * at. */
START_TEST(a_level_that_differs_by_rounding_reaches_no_further)
{
    const double capacity_Bps[] = {0.6, 3, 10};
    const uint32_t p01[] = {0, 1}, p1[] = {1}, p12[] = {1, 2}, p2[] = {2};
    struct fr__maxmin *m = fr__maxmin_new(3, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(2, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(2, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(4, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(2, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(1, fr__listed_capacities(capacity_Bps));
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
    struct fr__maxmin *m = fr__maxmin_new(1, fr__listed_capacities(capacity_Bps));

    fr__maxmin_add(m, 0, path, 1, 8, 1);
    fr__maxmin_remove(m, fr__maxmin_add(m, 0, path, 1, 8, 2));
    ck_assert_double_eq(fr__maxmin_solve(m, 0), 4);
    fr__maxmin_free(m);
}
END_TEST

/* Each resource carries scale + its number; how often that was asked for is counted. */
struct asked {
    double scale;
    uint32_t n;
};

static double count_and_say(const void *of, uint32_t resource)
{
    struct asked *asked;

    memcpy(&asked, of, sizeof(asked));
    asked->n++;
    return asked->scale + resource;
}

START_TEST(only_resources_that_flows_cross_are_asked_for_and_again_after_a_reset)
{
    enum { MANY = 1 << 22 };
    const uint32_t near[] = {1, 2}, far[] = {2, MANY - 1};
    struct asked asked = {8, 0}, *at = &asked;
    struct fr__maxmin *m = fr__maxmin_new(MANY, (struct fr__capacities){count_and_say, &at});
    uint32_t slot = fr__maxmin_add(m, 0, near, 2, 90, 1);

    ck_assert_uint_eq(asked.n, 2);
    ck_assert_double_eq(fr__maxmin_solve(m, 0), 10); /* 90 bytes at 8 + 1 */
    fr__maxmin_remove(m, slot);
    fr__maxmin_add(m, 0, far, 2, 90, 2);
    ck_assert_uint_eq(asked.n, 3);
    ck_assert_double_eq(fr__maxmin_solve(m, 0), 9);
    asked = (struct asked){28, 0};
    ck_assert(fr__maxmin_reset(m, false));
    ck_assert_uint_eq(asked.n, 3);
    ck_assert(isinf(fr__maxmin_solve(m, 0)));
    fr__maxmin_add(m, 0, near, 2, 90, 3);
    ck_assert_double_eq(fr__maxmin_solve(m, 0), 90.0 / 29);
    fr__maxmin_free(m);
}
END_TEST

START_TEST(a_solver_without_resources_or_flows_has_no_next_end)
{
    struct fr__maxmin *m = fr__maxmin_new(0, fr__listed_capacities(NULL));
    uint32_t user;

    ck_assert(isinf(fr__maxmin_solve(m, 0)));
    ck_assert(!fr__maxmin_pop_finished(m, 1e9, &user));
    fr__maxmin_free(m);
    fr__maxmin_free(NULL);
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
    struct fr__maxmin *m = fr__maxmin_new(t->n_links, fr__listed_capacities(t->capacity_Bps));
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

static double asked_Bps(const void *of, uint32_t resource)
{
    static const double capacity_Bps[] = {8, 9, 4, 7, 1};
    uint32_t *const *n_asked = of;

    ++**n_asked;
    return capacity_Bps[resource];
}

/* Resource 2 is full first, at 4 / 2. Its own limit is 1 / weight = 4, later 1. */
static const uint32_t WIDE[] = {0, 1, 2, 3};
static const double WIDE_WEIGHTS[] = {1, 2, 2, 1};

/* Ends of the flows in out, [4]: one alone, then one alone until a second one comes, and one with a
 * limit of its own. */
static void run_wide(struct fr__maxmin *m, uint32_t narrowest, double out[])
{
    struct fr__maxmin_path p = {.resources = WIDE,
                                .weights = WIDE_WEIGHTS,
                                .n = 4,
                                .narrowest = narrowest,
                                .has_own = true,
                                .own = 4,
                                .own_weight = 0.25};
    const uint32_t other[] = {3, 0};
    uint32_t user;

    fr__maxmin_add_path(m, 0, &p, 20, 0);
    out[0] = fr__maxmin_solve(m, 0);
    ck_assert(fr__maxmin_pop_finished(m, out[0], &user));
    ck_assert(!fr__maxmin_pop_finished(m, out[0], &user));
    fr__maxmin_add_path(m, 10, &p, 20, 1);
    fr__maxmin_solve(m, 10);
    fr__maxmin_add(m, 12, other, 2, 30, 2); /* gets 7 - 2 = 5 */
    out[1] = fr__maxmin_solve(m, 12);
    ck_assert(fr__maxmin_pop_finished(m, out[1], &user));
    ck_assert(!fr__maxmin_pop_finished(m, out[1], &user));
    out[2] = fr__maxmin_solve(m, out[1]);
    ck_assert(fr__maxmin_pop_finished(m, out[2], &user));
    ck_assert(!fr__maxmin_pop_finished(m, out[2], &user));
    p.own_weight = 1;
    fr__maxmin_add_path(m, 30, &p, 5, 3);
    out[3] = fr__maxmin_solve(m, 30);
}

START_TEST(the_only_flow_looks_at_its_narrowest_resource_until_another_comes)
{
    const double by_hand[] = {10, 18, 20, 35}; /* 20 / 2; 12 + 30 / 5; 10 + 20 / 2; 30 + 5 / 1 */
    uint32_t n_asked = 0, *const count = &n_asked;
    struct fr__maxmin *known = fr__maxmin_new(5, (struct fr__capacities){asked_Bps, &count});
    struct fr__maxmin *unknown = fr__maxmin_new(5, (struct fr__capacities){asked_Bps, &count});
    const struct fr__maxmin_path p = {
        .resources = WIDE, .weights = WIDE_WEIGHTS, .n = 4, .narrowest = 2};
    double a[4], b[4];

    fr__maxmin_remove(known, fr__maxmin_add_path(known, 0, &p, 1, 0));
    ck_assert_uint_eq(n_asked, 1);
    run_wide(known, 2, a);
    run_wide(unknown, FR_NONE, b);
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq(a[i], by_hand[i]);
        ck_assert_double_eq(b[i], by_hand[i]);
    }
    fr__maxmin_free(known);
    fr__maxmin_free(unknown);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sim_maxmin");
    TCase *hand = tcase_create("hand");
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
    tcase_add_test(hand, only_resources_that_flows_cross_are_asked_for_and_again_after_a_reset);
    tcase_add_test(hand, a_solver_without_resources_or_flows_has_no_next_end);
    tcase_add_test(hand, the_only_flow_looks_at_its_narrowest_resource_until_another_comes);
    tcase_add_test(simgrid, sixty_flows_on_a_fat_tree_end_when_simgrids_do);
    tcase_add_test(simgrid, a_hundred_and_a_thousand_flows_end_when_simgrids_do);
    suite_add_tcase(s, hand);
    suite_add_tcase(s, simgrid);
    return run_suite(s);
}
