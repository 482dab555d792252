/* tests/strategies/pipedream/test_pipedream_search.c - PipeDream's planner beside a plain search,
 * and beside what the published program answers (where the profiles are at hand). */
#include "config.h"

#include "strategies/pipedream/pipedream.h"

#include "base/rng.h"
#include "tests/support/base_check.h"
#include "tests/support/json_check.h"
#include "tests/support/native_case.h"
#include "tests/support/profile_case.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- beside a plain search ---- */

static struct fr_profile *random_profile(struct fr__rng *rng)
{
    uint32_t n = 2 + (uint32_t)fr__rng_below(rng, 9);
    struct profile_case t = {.n = 0};
    char name[2][16];

    for (uint32_t i = 0; i < n; i++) {
        snprintf(name[0], sizeof(name[0]), "n%u", i);
        profile_case_layer(&t, name[0], "x", (double)fr__rng_below(rng, 10),
                           (double)fr__rng_below(rng, 9000000),
                           (double)fr__rng_below(rng, 3) * 5e6);
    }
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i > 3 ? i - 3 : 0; k < i; k++) {
            snprintf(name[0], sizeof(name[0]), "n%u", k);
            snprintf(name[1], sizeof(name[1]), "n%u", i);
            if (k + 1 == i || fr__rng_below(rng, 3) == 0)
                profile_case_edge(&t, name[0], name[1]);
        }
    return profile_case_load(&t);
}

enum { MOST = 64, MOST_MACHINES = 5 };

/* What a level gives for every stretch of states and number of machines. */
struct plain {
    double a[MOST][MOST][MOST_MACHINES + 1]; /* [i][j][m] */
};

static double part(const double *sum, size_t i, size_t j)
{
    return i ? sum[j] - sum[i - 1] : sum[j];
}

/* The recurrence as it stands at the head of level.c, mode=code, cell by cell. */
static void plain_level(struct plain *out, const struct plain *below, const struct fr__pd_states *s,
                        const struct fr__pd_options *o, size_t level)
{
    uint32_t n = o->levels[level].n, within = level ? o->levels[level - 1].n : 1;
    double b = o->levels[level].bytes_per_s;

    for (size_t i = 0; i < s->n; i++)
        for (uint32_t m = 1; m <= n; m++)
            for (size_t j = i; j < s->n; j++) {
                double bytes = part(s->activation_bytes, i, j) + part(s->param_bytes, i, j);
                double t = below ? below->a[i][j][within] : part(s->both_s, i, j);
                double best = (t + 4 * (m - 1) * part(s->param_bytes, i, j) / (b * m) / within) / m;

                if ((o->is_straight && m > 1) ||
                    (o->memory_bytes > 0 && ceil((double)(n - m) / m) * bytes > o->memory_bytes))
                    best = INFINITY;
                if (o->uses_fewer && j > i && m > 1)
                    best = fmin(best, out->a[i][j][m - 1]);
                for (size_t k = i; k < j; k++)
                    for (uint32_t r = 1; r < (o->is_straight ? 2 : m) && r < m; r++) {
                        double p = part(s->param_bytes, k + 1, j), x;

                        if (!fr__pd_has(s->before + j * s->n_before_words, (uint32_t)k) ||
                            (o->memory_bytes > 0 &&
                             (part(s->activation_bytes, k + 1, j) + p) * ceil((double)(n - m) / r) >
                                 o->memory_bytes))
                            continue;
                        x = below ? below->a[k + 1][j][within] : part(s->both_s, k + 1, j);
                        x = fmax((x + 4 * (r - 1) * p / (b * r)) / r, out->a[i][k][m - r]);
                        if (o->compression > 0)
                            x = fmax(x, 2 * s->out_bytes[k] / (b * r) / o->compression);
                        if (o->compression > 0 && j + 1 < s->n)
                            x = fmax(x, 2 * s->out_bytes[j] / (b * r) / o->compression);
                        best = fmin(best, x);
                    }
                out->a[i][j][m] = best;
            }
}

static struct plain plains[2]; /* of tests alone: too large for the stack */

static double plain_s(const struct fr__pd_states *s, const struct fr__pd_options *o)
{
    for (size_t level = 0; level < o->n_levels; level++)
        plain_level(&plains[level % 2], level ? &plains[(level + 1) % 2] : NULL, s, o, level);
    return plains[(o->n_levels - 1) % 2].a[0][s->n - 1][o->levels[o->n_levels - 1].n];
}

static void draw_options(struct fr__pd_options *o, struct fr__rng *rng)
{
    static const double memories[] = {0, 0, 2e7, 6e7}, ratios[] = {0, 0, 1, 3};

    *o = (struct fr__pd_options){.n_levels = 1 + fr__rng_below(rng, 3),
                                 .memory_bytes = memories[fr__rng_below(rng, 4)],
                                 .compression = ratios[fr__rng_below(rng, 4)],
                                 .is_straight = fr__rng_below(rng, 5) == 0,
                                 .uses_fewer = fr__rng_below(rng, 2) == 0,
                                 .max_states = 100};
    for (size_t i = 0; i < o->n_levels; i++)
        o->levels[i] = (struct fr__pd_level){1 + (uint32_t)fr__rng_below(rng, MOST_MACHINES),
                                             fr__rng_below(rng, 2) ? 1e9 : 4e9};
}

LOOP_TEST(the_search_gives_what_a_plain_one_gives, 0, 400)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_stage_plan *plan = NULL;
    struct fr__pd_options o;
    struct fr__pd_layers l;
    struct fr__pd_states s;
    struct fr_profile *p;
    struct fr__rng rng;
    struct fr_error err;
    enum fr_status st;
    double want_s, most_s = 0;

    fr__rng_init(&rng, 14, (uint64_t)_i);
    p = random_profile(&rng);
    draw_options(&o, &rng);
    ck_assert_int_eq(fr__pd_layers_make(arena, p, &l, &err), FR_OK);
    ck_assert_int_eq(fr__pd_states_make(arena, &l, MOST, NULL, &s, &err), FR_OK);
    if (s.n <= MOST) {
        want_s = plain_s(&s, &o);
        st = fr__pd_plan(p, &o, NULL, &plan, &err);
        ck_assert_int_eq(st, isinf(want_s) ? FR_ENOROOM : FR_OK);
        ck_assert(st != FR_OK || fabs(plan->pipeline_time_s - want_s) <= 1e-12 * want_s);
        ck_assert(st != FR_OK || plan->n_unreached == 0);
        for (size_t i = 0; st == FR_OK && i < plan->n_stages; i++)
            most_s = fmax(most_s, fmax(plan->stages[i].time_s, plan->stages[i].exchange_s));
        ck_assert(st != FR_OK || fabs(plan->pipeline_time_s - most_s) <= 1e-12 * most_s);
        if (st == FR_OK)
            fr_stage_plan_free(plan);
    }
    fr__arena_free(arena);
    fr_profile_free(p);
}

/* Stages' times explain the answer; the restricted plan is no
 * better than the whole, and the bound no worse than either. In the paper's mode, whose parts are
 * sets of layers. */
LOOP_TEST(restriction_and_bound_enclose_the_best, 0, 200)
{
    struct fr_stage_plan *whole = NULL, *few = NULL;
    struct fr__pd_options o;
    struct fr_profile *p;
    struct fr__rng rng;
    struct fr_error err;
    double most_s = 0;

    fr__rng_init(&rng, 15, (uint64_t)_i);
    p = random_profile(&rng);
    draw_options(&o, &rng);
    o.mode = FR__PD_PAPER;
    if (fr__pd_plan(p, &o, NULL, &whole, &err) == FR_OK && !whole->is_restricted) {
        for (size_t i = 0; i < whole->n_stages; i++)
            most_s = fmax(most_s, fmax(whole->stages[i].time_s, whole->stages[i].exchange_s));
        ck_assert(fabs(whole->pipeline_time_s - most_s) <= 1e-12 * most_s);
        ck_assert_uint_eq(whole->first_unreal, whole->n_stages);
        o.max_states = whole->n_states > 2 ? whole->n_states - 1 : 2;
        if (fr__pd_plan(p, &o, NULL, &few, &err) == FR_OK) {
            ck_assert(few->pipeline_time_s >= whole->pipeline_time_s);
            ck_assert(few->lower_bound_s <= whole->pipeline_time_s * (1 + 1e-12));
            fr_stage_plan_free(few);
        }
    }
    if (whole)
        fr_stage_plan_free(whole);
    fr_profile_free(p);
}

/* ---- the published program's answers ---- */

/* Runs of the program on its own profiles, printed to nine digits behind the point. */
static const struct {
    const char *profile, *spec;
    double pipeline_s, per_dp; /* data parallelism over the pipeline; 0: not kept */
} runs[] = {
    {"gnmt", "pipedream:machines=10,bandwidth=1GB/s", 0.019032, 15.130547},
    {"gnmt", "pipedream:machines=5x5,bandwidth=800MB/s;1GB/s", 0.019032, 11.916510},
    {"vgg16", "pipedream:machines=4,bandwidth=1GB/s", 0.175732624, 3.318714},
    {"vgg16", "pipedream:machines=4,bandwidth=1GB/s,compression=1", 0.205520896, 2.837699},
    {"vgg16", "pipedream:machines=4,bandwidth=4GiB/s,compression=1", 0.172849377, 1.531827},
    {"vgg16", "pipedream:machines=4x4,bandwidth=10GB/s;10Gbps,compression=1", 0.067133997,
     2.017231},
    {"vgg16", "pipedream:machines=8x2,bandwidth=30GB/s;25Gbps,compression=1", 0.065766687,
     1.037092},
    {"vgg16", "pipedream:machines=16,bandwidth=10Gbps", 0.046587489, 3.129630},
    {"resnet50", "pipedream:machines=4x4,bandwidth=10GB/s;10Gbps,compression=1", 0.043208469,
     1.040645},
    {"resnet50", "pipedream:machines=8x2,bandwidth=30GB/s;25Gbps,compression=1", 0.031988747,
     1.017490},
    {"resnet50", "pipedream:machines=4,bandwidth=4GiB/s,compression=1", 0.112051364, 1.148635},
    {"alexnet", "pipedream:machines=4x4,bandwidth=10GB/s;10Gbps,compression=1", 0.015099494,
     3.084582},
    {"alexnet", "pipedream:machines=8x2,bandwidth=30GB/s;25Gbps,compression=1", 0.009682566,
     1.744455},
};
enum { N_RUNS = sizeof(runs) / sizeof(runs[0]) };

LOOP_TEST(the_published_program_gave_the_same, 0, N_RUNS)
{
    struct fr_profile *p = profile_case_shared(runs[_i].profile);
    struct fr_stage_plan *s;

    if (!p)
        return;
    s = profile_case_plan(p, runs[_i].spec);
    ck_assert_msg(fabs(s->pipeline_time_s - runs[_i].pipeline_s) <= 0.6e-9, "%.17g",
                  s->pipeline_time_s);
    ck_assert_msg(fabs(s->dp_time_s / s->pipeline_time_s - runs[_i].per_dp) <= 0.6e-6, "%.17g",
                  s->dp_time_s / s->pipeline_time_s);
    fr_stage_plan_free(s);
    fr_profile_free(p);
}

static void copy_string(const char *value, char *out, size_t n)
{
    size_t i = 0;

    ck_assert_ptr_nonnull(value);
    while (*value == ' ')
        value++;
    ck_assert_int_eq(*value, '"');
    for (value++; *value != '"' && i + 1 < n; value++)
        out[i++] = *value;
    out[i] = '\0';
}

/* The options of a run as the data has them. */
static void read_run(const char *line, struct fr__pd_options *o)
{
    const char *machines = json_member(line, "all_num_machines");
    const char *rates = json_member(line, "network_bandwidths");
    double ratio = json_number(json_member(line, "activation_compression_ratio"));

    *o = (struct fr__pd_options){.max_states = 4096};
    for (const char *at = json_item(machines, 0); at; at = json_next_item(at))
        o->levels[o->n_levels++].n = (uint32_t)json_number(at);
    for (size_t i = 0; i < o->n_levels; i++)
        o->levels[i].bytes_per_s = json_number(json_item(rates, i));
    if (json_is_word(json_member(line, "use_memory_constraint"), "true"))
        o->memory_bytes = json_number(json_member(line, "memory_size"));
    o->is_straight = json_is_word(json_member(line, "straight_pipeline"), "true");
    o->uses_fewer = json_is_word(json_member(line, "use_fewer_machines"), "true");
    o->compression = isnan(ratio) ? 0 : ratio;
}

static void check_run(const char *line)
{
    double want_s = json_number(json_member(line, "pipeline_time"));
    double dp_s = json_number(json_member(line, "data_parallel_time"));
    struct fr__pd_options o;
    struct fr_stage_plan *s = NULL;
    struct fr_profile *p;
    struct fr_error err;
    char name[64];

    copy_string(json_member(line, "profile"), name, sizeof(name));
    p = profile_case_shared(name);
    if (!p)
        return;
    read_run(line, &o);
    ck_assert_int_eq(fr__pd_plan(p, &o, NULL, &s, &err), FR_OK);
    ck_assert(fabs(s->pipeline_time_s - want_s) <= 1e-9 * want_s);
    ck_assert(fabs(s->dp_time_s - dp_s) <= 1e-9 * dp_s);
    ck_assert_uint_eq(s->n_states, (size_t)json_number(json_member(line, "num_states")));
    fr_stage_plan_free(s);
    fr_profile_free(p);
}

TEST(the_kept_runs_are_met_to_nine_digits)
{
    static char line[1 << 16];
    char path[1024];
    size_t n = 0;
    FILE *f;

    native_case_source("../shared/data/pipedream-profiles/expected.jsonl", path, sizeof(path));
    f = fopen(path, "r");
    if (!f) {
        printf("SKIPPED: %s is not there\n", path);
        return;
    }
    for (; fgets(line, sizeof(line), f); n++)
        check_run(line);
    fclose(f);
    ck_assert_uint_gt(n, 0);
}

enum { N_GNMT = 99 };

static void expect_cells(const struct fr__pd_row *row, size_t n, const double want[][5])
{
    for (size_t j = 0; j < n; j++)
        for (size_t m = 0; m < 5; m++)
            ck_assert(fabs(row->time_s[m * N_GNMT + j] - want[j][m]) < 1e-15);
}

/* Rows 0 and 1 of GNMT's tables, as its authors' walk-through prints them. */
TEST(the_first_cells_of_gnmt_are_the_published_ones)
{
    static const double inner[4][5] = {
        {0.007022, 0.1689894, 0.14943257777777777, 0.1258643, 0.107310576},
        {0.012285, 0.007022, 0.0865995, 0.07639255555555556, 0.06429175},
        {0.012558, 0.007022, 0.007022, 0.007022, 0.007022},
        {0.021096, 0.012285, 0.008538, 0.008538, 0.008538}};
    static const double outer[2][5] = {
        {0.107310576, 0.080131832, 0.05930489777777778, 0.046685052, 0.03840710336},
        {0.06429175, 0.072057299, 0.05690740466666667, 0.0460065055, 0.03840166136}};
    struct fr__pd_options o = {.n_levels = 2, .levels = {{5, 0.8e9}, {5, 1e9}}, .max_states = 100};
    struct fr_profile *p = profile_case_shared("gnmt");
    struct fr__arena *arena = NULL;
    double below_s[N_GNMT * N_GNMT], floor_s[N_GNMT * N_GNMT];
    struct fr__pd_table t = {.options = &o};
    struct fr__pd_layers l;
    struct fr__pd_states s;
    struct fr__pd_row row;
    struct fr_error err;

    if (!p)
        return;
    arena = fr__arena_new();
    ck_assert_int_eq(fr__pd_layers_make(arena, p, &l, &err), FR_OK);
    ck_assert_int_eq(fr__pd_states_make(arena, &l, 100, NULL, &s, &err), FR_OK);
    ck_assert_uint_eq(s.n, N_GNMT);
    t.states = &s;
    ck_assert_int_eq(fr__pd_row_init(&row, &t, &err), FR_OK);
    for (uint32_t i = N_GNMT; i-- > 0;) { /* row 0 last */
        fr__pd_row_fill(&row, i, N_GNMT);
        for (size_t j = i; j < s.n; j++)
            below_s[i * s.n + j] = row.time_s[4 * s.n + j];
    }
    expect_cells(&row, 4, inner);
    fr__pd_row_fini(&row);
    for (size_t k = 0; k < N_GNMT * N_GNMT; k++)
        floor_s[k] = -INFINITY; /* no help to the search */
    t.level = 1;
    t.below_s = below_s;
    t.floor_s = floor_s;
    ck_assert_int_eq(fr__pd_row_init(&row, &t, &err), FR_OK);
    fr__pd_row_fill(&row, 0, N_GNMT);
    expect_cells(&row, 2, outer);
    fr__pd_row_fini(&row);
    fr__arena_free(arena);
    fr_profile_free(p);
}

int main(void)
{
    TCase *c = tcase_create("pipedream_search");

    add_tests(c);
    return run_case(c, "strategies/pipedream_search");
}
