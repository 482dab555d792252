/* tests/lowering/schedules/test_schedules.c - schedules against the lists of the programs that they
 * come from, and replays against their figures; where these are not at hand, against what ours were
 * when they equalled them (tests/golden/facts/schedules.csv). */
#include "config.h"

#include "base/hash.h"
#include "lowering/schedules/schedule.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_schedule *make(const char *name, uint32_t p, uint32_t v, uint32_t m)
{
    const struct fr_schedule_spec spec = {
        .name = name, .n_ranks = p, .n_virtual = v, .n_micros = m};
    struct fr_schedule *s = NULL;
    struct fr_error err = {0};

    ck_assert_msg(fr_schedule_get(&s, &spec, &err) == FR_OK, "%s p%u v%u m%u: %s", name, p, v, m,
                  err.text);
    return s;
}

/* ---- the lists and figures in ../shared/data/schedules ---- */

static const struct family {
    const char *family, *name;
    enum fr_backward_order backward;
    bool is_search; /* the authors' list is a heuristic's: only its figures must be met */
} families[] = {
    {"GPipe", "gpipe", FR_BACKWARD_ASCENDING, false},
    {"1F1B", "1f1b", 0, false},
    {"Megatron1F1B", "1f1b", 0, false},
    {"Interleaved1F1B", "interleaved-1f1b", 0, false},
    {"MegatronInterleaved1F1B", "interleaved-1f1b", 0, false},
    {"MegatronInterleavedMoEOverlap", "moe-overlap", 0, false},
    {"LoopedBFS", "looped-bfs", 0, false},
    {"InterleavedZeroBubble", "interleaved-zero-bubble", 0, false},
    {"ZBVZeroBubble", "zb-v", 0, false},
    {"DualPipe", "dualpipe", 0, false},
    {"DualPipeV", "dualpipe-v", 0, false},
    {"DualPipeVAuthors", "dualpipe-v", 0, false},
    {"Chimera", "chimera", 0, false},
    {"ZBAuto1p", "zb-h1", 0, false}, /* at every size at hand */
    {"ZBAuto2p", "zb-h2", 0, true},
    {"ZBVAuto", "zb-v-auto", 0, true},
    {"VHalf", "v-half", 0, true},
    {"VMin", "v-min", 0, true},
};

enum { N_FAMILIES = sizeof(families) / sizeof(families[0]) };

static FILE *open_data(const char *name)
{
    const char *srcdir = getenv("srcdir");
    char path[512];

    snprintf(path, sizeof(path), "%s/../shared/data/schedules/%s", srcdir ? srcdir : ".", name);
    return fopen(path, "r");
}

/* One line of summary.csv. */
struct row {
    char name[80], family[40], live_weight[512], live_input[512];
    unsigned p, v, m, actions;
    double makespan, span, makespan_comm;
};

static bool read_row(FILE *f, struct row *r)
{
    char line[2048];

    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "%79[^,],%39[^,],%u,%u,%u,%u,%lf,%lf,%lf,%511[^,],%511[0-9;]", r->name,
                   r->family, &r->p, &r->v, &r->m, &r->actions, &r->makespan, &r->span,
                   &r->makespan_comm, r->live_weight, r->live_input) == 11)
            return true;
    return false;
}

static const struct family *family_of(const struct row *r)
{
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i].family, r->family) == 0)
            return &families[i];
    ck_abort_msg("unknown family '%s'", r->family);
}

static struct fr_schedule *make_row(const struct row *r)
{
    const struct family *k = family_of(r);
    const char *group = strstr(r->name, "_n");
    const struct fr_schedule_spec spec = {.name = k->name,
                                          .n_ranks = r->p,
                                          .n_virtual = r->v,
                                          .n_micros = r->m,
                                          .group = group ? (uint32_t)atoi(group + 2) : 0,
                                          .backward = k->backward};
    struct fr_schedule *s = NULL;
    struct fr_error err = {0};

    ck_assert_msg(fr_schedule_get(&s, &spec, &err) == FR_OK, "%s: %s", r->name, err.text);
    return s;
}

static void compare_list(const struct row *r, const struct fr_schedule *s)
{
    char name[96], theirs[256];
    FILE *f;

    snprintf(name, sizeof(name), "%s.csv", r->name);
    f = open_data(name);
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(theirs, sizeof(theirs), f)); /* the header */
    for (uint32_t rank = 0; rank < s->n_ranks; rank++)
        for (size_t i = s->first[rank]; i < s->first[rank + 1]; i++) {
            char action[FR_ACTION_TEXT], ours[256];

            snprintf(ours, sizeof(ours), "%u,%zu,%s\n", rank, i - s->first[rank],
                     fr_action_text(&s->actions[i], action));
            ck_assert_msg(fgets(theirs, sizeof(theirs), f) && strcmp(ours, theirs) == 0,
                          "%s: %s instead of %s", r->name, ours, theirs);
        }
    ck_assert_msg(!fgets(theirs, sizeof(theirs), f), "%s: %s is missing", r->name, theirs);
    fclose(f);
}

TEST(every_list_is_that_of_its_source)
{
    FILE *f = open_data("summary.csv");
    struct row r;
    unsigned n = 0;

    if (!f) {
        printf("SKIP every_list_is_that_of_its_source: no schedules beside the sources\n");
        return;
    }
    while (read_row(f, &r))
        if (!family_of(&r)->is_search) {
            struct fr_schedule *s = make_row(&r);

            compare_list(&r, s);
            fr_schedule_free(s);
            n++;
        }
    ck_assert_uint_gt(n, 300);
    fclose(f);
}

TEST(communication_stands_where_pytorch_puts_it)
{
    static const struct {
        const char *file, *name;
        uint32_t p, v, m;
    } cases[] = {
        {"DualPipeV_p2_v2_m4", "dualpipe-v", 2, 2, 4},
        {"DualPipeV_p3_v2_m6", "dualpipe-v", 3, 2, 6},
        {"DualPipeV_p4_v2_m8", "dualpipe-v", 4, 2, 8},
        {"Interleaved1F1B_p2_v2_m4", "interleaved-1f1b", 2, 2, 4},
        {"Interleaved1F1B_p3_v2_m6", "interleaved-1f1b", 3, 2, 6},
        {"Interleaved1F1B_p4_v2_m8", "interleaved-1f1b", 4, 2, 8},
        {"Interleaved1F1B_p4_v2_m10", "interleaved-1f1b", 4, 2, 10},
        {"Interleaved1F1B_p4_v4_m16", "interleaved-1f1b", 4, 4, 16},
        {"Interleaved1F1B_p8_v2_m16", "interleaved-1f1b", 8, 2, 16},
        {"InterleavedZeroBubble_p3_v2_m6", "interleaved-zero-bubble", 3, 2, 6},
        {"InterleavedZeroBubble_p4_v2_m10", "interleaved-zero-bubble", 4, 2, 10},
        {"InterleavedZeroBubble_p8_v2_m16", "interleaved-zero-bubble", 8, 2, 16},
        {"LoopedBFS_p3_v2_m7", "looped-bfs", 3, 2, 7},
        {"LoopedBFS_p4_v2_m8", "looped-bfs", 4, 2, 8},
        {"LoopedBFS_p4_v4_m8", "looped-bfs", 4, 4, 8},
        {"ZBVZeroBubble_p2_v2_m4", "zb-v", 2, 2, 4},
        {"ZBVZeroBubble_p3_v2_m6", "zb-v", 3, 2, 6},
        {"ZBVZeroBubble_p4_v2_m8", "zb-v", 4, 2, 8},
        {"ZBVZeroBubble_p8_v2_m16", "zb-v", 8, 2, 16},
    };
    FILE *f = open_data("summary.csv");

    if (!f) {
        printf("SKIP communication_stands_where_pytorch_puts_it: no schedules\n");
        return;
    }
    fclose(f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_schedule *s = make(cases[i].name, cases[i].p, cases[i].v, cases[i].m), *with;
        struct row r;
        struct fr_error err;

        ck_assert_int_eq(fr_schedule_add_comms(&with, s, &err), FR_OK);
        ck_assert_int_eq(fr_schedule_check(with, &err), FR_OK);
        snprintf(r.name, sizeof(r.name), "with_comms/%s", cases[i].file);
        compare_list(&r, with);
        fr_schedule_free(s);
        fr_schedule_free(with);
    }
}

static bool is_same_list(const struct fr_schedule *a, const struct fr_schedule *b)
{
    if (a->n_actions != b->n_actions || a->n_ranks != b->n_ranks)
        return false;
    for (size_t i = 0; i < a->n_actions; i++)
        if (a->actions[i].kind != b->actions[i].kind ||
            a->actions[i].stage != b->actions[i].stage ||
            a->actions[i].micro != b->actions[i].micro)
            return false;
    return true;
}

/* With up to two units a direction, or four ranks, nothing overlaps. Then the figures are those of
 * the lists that the generator's own class makes, run with the program of the summary (F = 1, B =
 * 2): 8 ranks and 32 micro-batches take 109 with 20 live on a rank, where units that follow each
 * other take 126 with 8. */
TEST(chimera_as_released_overlaps_its_units_from_three_of_them_on)
{
    static const struct {
        uint32_t p, m;
        double released, paper; /* makespans */
        uint32_t live, live_paper;
    } rows[] = {
        {2, 2, 6, 6, 2, 2},         {4, 16, 58, 58, 4, 4},      {8, 16, 66, 66, 8, 8},
        {16, 32, 138, 138, 16, 16}, {6, 18, 63, 70, 10, 6},     {8, 24, 85, 96, 14, 8},
        {8, 32, 109, 126, 20, 8},   {16, 64, 221, 262, 44, 16},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fr_schedule *a = make("chimera-released", rows[i].p, 2, rows[i].m);
        struct fr_schedule *b = make("chimera", rows[i].p, 2, rows[i].m);
        struct fr_replay x, y;
        struct fr_error err;
        uint32_t most[2] = {0, 0};

        ck_assert_int_eq(fr_schedule_replay(&x, a, NULL, &err), FR_OK);
        ck_assert_int_eq(fr_schedule_replay(&y, b, NULL, &err), FR_OK);
        for (uint32_t r = 0; r < rows[i].p; r++) {
            most[0] = x.live_weight[r] > most[0] ? x.live_weight[r] : most[0];
            most[1] = y.live_weight[r] > most[1] ? y.live_weight[r] : most[1];
        }
        ck_assert_double_eq(x.makespan, rows[i].released);
        ck_assert_double_eq(y.makespan, rows[i].paper);
        ck_assert_uint_eq(most[0], rows[i].live);
        ck_assert_uint_eq(most[1], rows[i].live_paper);
        ck_assert(is_same_list(a, b) == (rows[i].p <= 4 || rows[i].m <= 2 * rows[i].p));
        fr_replay_fini(&x);
        fr_replay_fini(&y);
        fr_schedule_free(a);
        fr_schedule_free(b);
    }
}

TEST(two_directions_get_no_communication)
{
    struct fr_schedule *s = make("chimera", 2, 2, 2), *with = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_schedule_add_comms(&with, s, &err), FR_EUNSUPPORTED);
    assert_message(&err, "communication is added to schedules of one direction, and 'chimera' has "
                         "stage 0 on ranks 0 and 1");
    fr_schedule_free(s);
}

/* Reads "4;3;2" and says whether ours is the same, or nowhere more. */
static void compare_live(const struct row *r, const char *text, const uint32_t ours[], uint32_t n,
                         bool is_most)
{
    for (uint32_t i = 0; i < n; i++) {
        char *end;
        unsigned long theirs = strtoul(text, &end, 10);

        ck_assert_msg(is_most ? ours[i] <= theirs : ours[i] == theirs,
                      "%s: rank %u holds %u, not %lu", r->name, i, ours[i], theirs);
        text = end + (*end == ';');
    }
}

TEST(every_replay_gives_the_figures_of_the_summary)
{
    FILE *f = open_data("summary.csv");
    struct fr_schedule_times with_comm = fr_schedule_unit_times();
    struct row r;

    if (!f) {
        printf("SKIP every_replay_gives_the_figures_of_the_summary: no schedules\n");
        return;
    }
    with_comm.comm = 0.25;
    while (read_row(f, &r)) {
        bool is_search = family_of(&r)->is_search;
        struct fr_schedule *s = make_row(&r);
        struct fr_replay x;
        struct fr_error err;

        ck_assert_int_eq(fr_schedule_replay(&x, s, NULL, &err), FR_OK);
        ck_assert_msg(x.makespan == r.makespan, "%s: %g, not %g", r.name, x.makespan, r.makespan);
        ck_assert_msg(x.longest_span == r.span, "%s: span %g", r.name, x.longest_span);
        compare_live(&r, r.live_weight, x.live_weight, s->n_ranks, is_search);
        compare_live(&r, r.live_input, x.live_input, s->n_ranks, is_search);
        ck_assert_uint_eq(s->n_actions, r.actions);
        fr_replay_fini(&x);
        ck_assert_int_eq(fr_schedule_replay(&x, s, &with_comm, &err), FR_OK);
        ck_assert_msg(is_search || x.makespan == r.makespan_comm, "%s: with transfers %g", r.name,
                      x.makespan);
        fr_replay_fini(&x);
        fr_schedule_free(s);
    }
    fclose(f);
}

/* ---- what ours were when they equalled these ---- */

static void print_live(FILE *f, const uint32_t live[], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%s%u", i > 0 ? ";" : ",", live[i]);
}

/* A line of summary.csv by our own schedule and replays, and a digest of its actions. */
static void print_fact(FILE *f, const struct row *r)
{
    struct fr_schedule_times with_comm = fr_schedule_unit_times();
    struct fr_schedule *s = make_row(r);
    struct fr_replay plain, spread;
    struct fr_error err;
    uint64_t digest = 0;

    with_comm.comm = 0.25;
    ck_assert_int_eq(fr_schedule_replay(&plain, s, NULL, &err), FR_OK);
    ck_assert_int_eq(fr_schedule_replay(&spread, s, &with_comm, &err), FR_OK);
    fprintf(f, "%s,%s,%u,%u,%u,%zu,%.12g,%.12g,%.12g", r->name, r->family, r->p, r->v, r->m,
            (size_t)s->n_actions, plain.makespan, plain.longest_span, spread.makespan);
    print_live(f, plain.live_weight, s->n_ranks);
    print_live(f, plain.live_input, s->n_ranks);
    for (uint32_t rank = 0; rank < s->n_ranks; rank++)
        for (size_t i = s->first[rank]; i < s->first[rank + 1]; i++) {
            char action[FR_ACTION_TEXT], text[FR_ACTION_TEXT + 48];

            snprintf(text, sizeof(text), "%llx %u %s", (unsigned long long)digest, rank,
                     fr_action_text(&s->actions[i], action));
            digest = fr__hash_string(text);
        }
    fprintf(f, ",%016llx\n", (unsigned long long)digest);
    fr_replay_fini(&plain);
    fr_replay_fini(&spread);
    fr_schedule_free(s);
}

static FILE *open_facts(const char *mode)
{
    const char *srcdir = getenv("srcdir");
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/golden/facts/schedules.csv", srcdir ? srcdir : ".");
    return fopen(path, mode);
}

/* GOLDEN_UPDATE=1 writes them anew, where the lists are at hand that they are compared with. */
static void update_facts(void)
{
    FILE *from = open_data("summary.csv"), *to;
    struct row r;

    if (!from)
        return;
    to = open_facts("w");
    ck_assert_ptr_nonnull(to);
    while (read_row(from, &r))
        print_fact(to, &r);
    fclose(from);
    ck_assert_int_eq(fclose(to), 0);
}

TEST(every_list_is_what_it_was_when_it_equalled_its_source)
{
    char line[2048], found[2048];
    struct row r;
    unsigned n = 0;
    FILE *f;

    if (getenv("GOLDEN_UPDATE"))
        update_facts();
    f = open_facts("r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        FILE *one = fmemopen(line, strlen(line), "r"), *out = fmemopen(found, sizeof(found), "w");

        ck_assert(one && out && read_row(one, &r));
        print_fact(out, &r);
        fclose(one);
        fclose(out);
        ck_assert_str_eq(found, line);
        n++;
    }
    fclose(f);
    ck_assert_uint_gt(n, 300);
}

int main(void)
{
    TCase *t = tcase_create("schedules");

    tcase_set_timeout(t, 60);
    add_tests(t);
    return run_case(t, "schedules");
}
