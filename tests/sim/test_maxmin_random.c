/* tests/sim/test_maxmin_random.c - the max-min solver on random jobs.
 *
 * Its rates are those of filling from scratch and keep the definition of max-min fairness. Apart
 * from test_maxmin.c, since it draws its jobs and takes seconds.
 */
#include "sim/network/maxmin_state.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { MAX_FLOWS = 100, CROWD = 400, MAX_RESOURCES = 96, MAX_PATH = 9 };

struct random_job {
    uint64_t state;
    uint32_t n_resources, max_path, n_live;
    double capacity_Bps[MAX_RESOURCES];
    bool is_tree,
        is_weighted; /* is_weighted: half of the flows take more or less than their rate */
    struct {
        uint32_t slot, user, n_path, path[MAX_PATH];
        double weights[MAX_PATH];
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

static void add_open(const struct random_job *j, uint32_t f, uint32_t h, double open[],
                     uint32_t n_open[], int n)
{
    open[j->flow[f].path[h]] += n * j->flow[f].weights[h];
    n_open[j->flow[f].path[h]] += (uint32_t)n;
}

/* Progressive filling as in Bertsekas & Gallager, without any cleverness. */
static void fill_from_scratch(struct random_job *j)
{
    double left[MAX_RESOURCES];
    double open[MAX_RESOURCES] = {0};
    uint32_t n_open[MAX_RESOURCES] = {0};
    bool is_frozen[CROWD] = {false};

    memcpy(left, j->capacity_Bps, sizeof(left));
    for (uint32_t f = 0; f < j->n_live; f++)
        for (uint32_t h = 0; h < j->flow[f].n_path; h++)
            add_open(j, f, h, open, n_open, 1);
    for (;;) {
        uint32_t full = FR_NONE;
        double share;

        for (uint32_t r = 0; r < j->n_resources; r++)
            if (n_open[r] && (full == FR_NONE || left[r] / open[r] < left[full] / open[full]))
                full = r;
        if (full == FR_NONE)
            return;
        share = left[full] / open[full];

        for (uint32_t f = 0; f < j->n_live; f++) {
            bool crosses = false;

            for (uint32_t h = 0; h < j->flow[f].n_path; h++)
                crosses |= j->flow[f].path[h] == full;
            if (!crosses || is_frozen[f])
                continue;
            is_frozen[f] = true;
            j->flow[f].rate_Bps = share;
            for (uint32_t h = 0; h < j->flow[f].n_path; h++) {
                add_open(j, f, h, open, n_open, -1);
                if (j->flow[f].path[h] != full)
                    left[j->flow[f].path[h]] -= j->flow[f].weights[h] * share;
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

            used[j->flow[f].path[h]] += j->flow[f].weights[h] * rate;
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

            left_Bps -= fr__maxmin_weight_of(m, q->entries[k]) * s->rate_Bps;
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
        if (fr__tournament_get(&m->ends, r) != end_s)
            ck_abort_msg("resource %u: end %g instead of %g", r, fr__tournament_get(&m->ends, r),
                         end_s);
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
    j->is_weighted = seed % 7 > 3;
    j->n_resources = j->is_tree ? 48 : 1 + below(j, MAX_RESOURCES);
    j->max_path = 1 + below(j, j->n_resources < MAX_PATH ? j->n_resources : MAX_PATH);
    for (uint32_t r = 0; r < j->n_resources; r++) {
        double c = KINDS_BPS[seed % 4 + below(j, 3)];

        j->capacity_Bps[r] = seed % 5 == 0 ? c : c * (1 + below(j, 1000) * 1e-3);
    }
}

/* Multiples of 2^-36, as maxmin.h asks for. */
static void draw_weights(struct random_job *j, uint32_t f)
{
    static const double WEIGHTS[] = {1, 1, 2, 8, 0.25, 3.5};
    bool is_other = j->is_weighted && below(j, 2) == 0;

    for (uint32_t h = 0; h < j->flow[f].n_path; h++)
        j->flow[f].weights[h] = !is_other         ? 1
                                : below(j, 4) > 0 ? WEIGHTS[below(j, 6)]
                                                  : (1 + below(j, 1 << 20)) * 0x1p-18;
}

static void add_one(struct random_job *j, struct fr__maxmin *m, double now, uint32_t user)
{
    uint32_t f = j->n_live++;

    j->flow[f].n_path = draw_path(j, j->flow[f].path);
    j->flow[f].bytes = below(j, 20) == 0 ? 0 : j->capacity_Bps[0] * (1 + below(j, 50));
    j->flow[f].user = user;
    draw_weights(j, f);
    j->flow[f].slot =
        fr__maxmin_add_weighted(m, now, j->flow[f].path, j->is_weighted ? j->flow[f].weights : NULL,
                                j->flow[f].n_path, j->flow[f].bytes, user);
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
    m = fr__maxmin_new(j.n_resources, fr__listed_capacities(j.capacity_Bps));
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

TEST(random_jobs_get_the_rates_of_filling_from_scratch)
{
    uint64_t checked = 0;

    for (uint64_t seed = 1; seed <= 3000; seed++)
        checked += play(seed);
    ck_assert_uint_gt(checked, 1000000);
}

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
    m = fr__maxmin_new(j.n_resources, fr__listed_capacities(j.capacity_Bps));
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

TEST(a_busy_network_stays_max_min_fair)
{
    for (uint64_t seed = 1; seed <= 300; seed++)
        play_long(seed);
}

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
    m = fr__maxmin_new(j.n_resources, fr__listed_capacities(j.capacity_Bps));
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

TEST(crowds_on_few_resources_get_the_rates_of_filling_from_scratch)
{
    for (uint64_t seed = 1; seed <= 120; seed++)
        play_crowd(seed);
}

/* The solver remembers earlier solves; a new one given the same flows has the same ends. */
TEST(the_same_job_twice_ends_at_the_same_times_to_the_bit)
{
    double ends[2][200];

    for (int run = 0; run < 2; run++) {
        struct random_job j;
        struct fr__maxmin *m;
        double now = 0;

        start_job(&j, 6);
        m = fr__maxmin_new(j.n_resources, fr__listed_capacities(j.capacity_Bps));
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

int main(void)
{
    TCase *random = tcase_create("random");

    add_tests(random);
    tcase_set_timeout(random, 300);
    return run_case(random, "sim_maxmin_random");
}
