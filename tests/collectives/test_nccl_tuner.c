/* tests/collectives/test_nccl_tuner.c - NCCL's cost table and choice, given the graphs that its
 * search found, against what NCCL 2.21.5 and 2.30.7 print for 41 machines (../shared/data/nccl). */
#include "config.h"

#include "collectives/nccl/tuner.h"
#include "tests/support/base_check.h"
#include "tests/support/nccl_case.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum fr_collective_kind kind_of(const char *name)
{
    static const char *const NAMES[FR_N_COLLECTIVE_KINDS] = {
        [FR_ALL_REDUCE] = "AllReduce",         [FR_ALL_GATHER] = "AllGather",
        [FR_REDUCE_SCATTER] = "ReduceScatter", [FR_ALL_TO_ALL] = "-",
        [FR_BROADCAST] = "Broadcast",          [FR_REDUCE] = "Reduce"};
    unsigned kind = 0;

    while (kind < FR_N_COLLECTIVE_KINDS && strcmp(NAMES[kind], name) != 0)
        kind++;
    ck_assert_msg(kind < FR_N_COLLECTIVE_KINDS, "%s", name);
    return (enum fr_collective_kind)kind;
}

static enum fr__nccl_algorithm algorithm_of(const char *name)
{
    unsigned a = 0;

    while (a < FR__NCCL_N_ALGORITHMS &&
           strcmp(fr__nccl_algorithm_name((enum fr__nccl_algorithm)a), name) != 0)
        a++;
    ck_assert_msg(a < FR__NCCL_N_ALGORITHMS, "%s", name);
    return (enum fr__nccl_algorithm)a;
}

static bool is_near(double ours, double theirs)
{
    return fabs(ours - theirs) <= 1e-3 * fabs(theirs) + 1e-4;
}

/* The model of a row's communicator, made when the row before was of another one. */
static const struct fr__nccl_model *model_of(const struct nccl_data *d, const struct nccl_row *row,
                                             struct fr__nccl_model *kept, struct nccl_row *of)
{
    struct fr__nccl_comm comm;

    if (nccl_same_comm(row, of))
        return kept;
    if (!nccl_data_comm(d, row, &comm))
        return NULL;
    fr__nccl_model_make(kept, &comm);
    *of = *row;
    return kept;
}

TEST(latencies_and_bandwidths_are_nccls)
{
    struct nccl_data *d = nccl_data_load();
    struct nccl_row row, of = {.nodes = 0};
    struct fr__nccl_model kept;
    const struct fr__nccl_model *m;
    unsigned n = 0, n_good = 0;
    FILE *f = d ? nccl_data_open("model.csv") : NULL;

    while (f && nccl_row_read(f, &row)) {
        const struct fr__nccl_entry *e;

        m = model_of(d, &row, &kept, &of);
        if (!m)
            continue;
        e = &m->of[kind_of(row.field[4])][algorithm_of(row.field[5])]
                  [fr__nccl_protocol_parse(row.field[6])];
        n++;
        if (is_near(e->latency_us, atof(row.field[7])) && is_near(e->bw_GBps, atof(row.field[8])))
            n_good++;
        else if (n - n_good < 40)
            printf("%s: ours %g %g\n", row.line, e->latency_us, e->bw_GBps);
        ck_assert_int_eq(
            (int)m->max_threads[algorithm_of(row.field[5])][fr__nccl_protocol_parse(row.field[6])],
            atoi(row.field[9]));
    }
    if (f) {
        fclose(f);
        printf("%u of %u rows\n", n_good, n);
        ck_assert_uint_gt(n, 5000);
        ck_assert_uint_eq(n, n_good);
    }
    nccl_data_free(d);
}

TEST(choices_and_times_are_nccls)
{
    struct nccl_data *d = nccl_data_load();
    struct nccl_row row, of = {.nodes = 0};
    struct fr__nccl_model kept;
    const struct fr__nccl_model *m;
    unsigned n_times = 0, n_good = 0, n_chosen = 0, n_equal = 0, n_sized = 0;
    FILE *f = d ? nccl_data_open("tuning.csv") : NULL;

    while (f && nccl_row_read(f, &row)) {
        enum fr_collective_kind kind;
        struct fr__nccl_choice c;
        double bytes = atof(row.field[5]), time_us;
        enum fr__nccl_algorithm a = algorithm_of(row.field[6]);
        enum fr__nccl_protocol p = fr__nccl_protocol_parse(row.field[7]);

        m = model_of(d, &row, &kept, &of);
        if (!m)
            continue;
        kind = kind_of(row.field[4]);
        time_us = fr__nccl_time_us(m, kind, a, p, bytes);
        n_times++;
        if (is_near(time_us, atof(row.field[8])))
            n_good++;
        else if (n_times - n_good < 20)
            printf("%s: ours %g\n", row.line, time_us);
        if (atoi(row.field[9]) == 0)
            continue;
        n_chosen++;
        ck_assert(fr__nccl_choose(m, kind, bytes, FR__NCCL_N_ALGORITHMS, FR__NCCL_N_PROTOCOLS, &c));
        if (c.algorithm == a && c.protocol == p) {
            n_equal++;
            if (c.channels == (unsigned)atoi(row.field[10]) &&
                c.threads == (unsigned)atoi(row.field[11]))
                n_sized++;
            else if (n_equal - n_sized < 20)
                printf("%s: ours %u %u\n", row.line, c.channels, c.threads);
        } else if (n_chosen - n_equal < 20) {
            printf("%s: ours %s %s %g\n", row.line, fr__nccl_algorithm_name(c.algorithm),
                   fr__nccl_protocol_name(c.protocol), c.time_us);
        }
    }
    if (f) {
        fclose(f);
        printf("%u of %u times, %u of %u choices, %u channels and threads\n", n_good, n_times,
               n_equal, n_chosen, n_sized);
        ck_assert_uint_gt(n_times, 40000);
        ck_assert_uint_eq(n_good, n_times);
        ck_assert_uint_eq(n_equal, n_chosen);
    }
    nccl_data_free(d);
}

TEST(versions_are_those_whose_constants_they_have)
{
    ck_assert_uint_eq(fr__nccl_version_parse("2.18"), 218);
    ck_assert_uint_eq(fr__nccl_version_parse("2.21.5"), 221);
    ck_assert_uint_eq(fr__nccl_version_parse("2.22"), 221);
    ck_assert_uint_eq(fr__nccl_version_parse("2.30"), 230);
    ck_assert_uint_eq(fr__nccl_version_parse("2.31"), 230);
    ck_assert_uint_eq(fr__nccl_version_parse("2.17"), 210);
    ck_assert_uint_eq(fr__nccl_version_parse("2.9.9"), 205);
    ck_assert_uint_eq(fr__nccl_version_parse("2.4"), 0);
    ck_assert_str_eq(fr__nccl_version_name("2.7.3"), "2.5");
    ck_assert_str_eq(fr__nccl_version_name("2.31"), "2.30");
    ck_assert_ptr_null(fr__nccl_version_name("2.4.8"));
    ck_assert_uint_eq(fr__nccl_version_parse("2."), 0);
    ck_assert_uint_eq(fr__nccl_version_parse("2.18x"), 0);
    ck_assert_uint_eq(fr__nccl_version_parse("3.18"), 0);
    ck_assert_int_eq(fr__nccl_protocol_parse("ll128"), FR__NCCL_LL128);
    ck_assert_int_eq(fr__nccl_protocol_parse("LL1"), FR__NCCL_N_PROTOCOLS);
}

int main(void)
{
    TCase *c = tcase_create("nccl_tuner");

    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "sim/nccl_tuner");
}
