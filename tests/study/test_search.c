/* tests/study/test_search.c - searches of layouts: what they prove, and that nothing but the
 * question changes the answer. */
#include "config.h"

#include "study/layouts/search.h"
#include "tests/support/base_check.h"
#include "tests/support/json_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const small = "gpt:layers=8,hidden=2048,heads=16,seq=1024,vocab=8192";

struct asked {
    const char *axes; /* NULL: the usual space */
    size_t n_best;
    double within_frac;
    bool is_exhaustive;
    unsigned n_threads;
    struct fr_store *store;
    const char *workload, *topology; /* NULL: a small GPT, one machine */
    uint32_t global_batch;           /* 0: 16 */
};

static struct fr_search *search(const struct asked *a)
{
    const struct fr_search_options o = {.n_best = a->n_best ? a->n_best : 1,
                                        .within_frac = a->within_frac,
                                        .is_exhaustive = a->is_exhaustive,
                                        .n_threads = a->n_threads ? a->n_threads : 1,
                                        .store = a->store};
    struct fr_search *s = fr_search_new();
    struct fr_question q;
    struct fr_error err;

    ck_assert_ptr_nonnull(s);
    fr_question_init(&q);
    q.workload = a->workload ? a->workload : small;
    q.topology = a->topology ? a->topology : "dgx-a100-80g";
    q.global_batch = a->global_batch ? a->global_batch : 16;
    q.dtype = FR_BF16;
    q.optimizer = FR_ADAM;
    if (a->axes)
        ck_assert_msg(fr_search_axis(s, a->axes, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_search_run(s, &q, &o, NULL, &err) == FR_OK, "%s", err.text);
    return s;
}

static const struct fr_search_row *best(const struct fr_search *s)
{
    ck_assert_uint_gt(fr_search_summary(s)->n_ranked, 0);
    return fr_search_row(s, fr_search_summary(s)->ranked[0]);
}

static const char *const narrow = "micro=1,2;zero=0,1;recompute=none,full";

TEST(bounds_leave_the_best_where_it_is)
{
    struct fr_search *quick = search(&(struct asked){.axes = narrow, .n_best = 3});
    struct fr_search *whole =
        search(&(struct asked){.axes = narrow, .n_best = 3, .is_exhaustive = true});
    const struct fr_search_summary *m = fr_search_summary(quick), *n = fr_search_summary(whole);
    const struct fr_search_row *r;

    ck_assert_uint_eq(m->n_rows, n->n_rows);
    ck_assert_uint_gt(m->n[FR_LAYOUT_BOUNDED], 0);
    ck_assert_uint_eq(n->n[FR_LAYOUT_BOUNDED], 0);
    ck_assert_double_eq(m->best_coarse_s, n->best_coarse_s);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(m->ranked[i], n->ranked[i]);
    /* and no bound is above what it bounds */
    for (size_t i = 0; (r = fr_search_row(whole, i)); i++)
        if (r->coarse_s > 0)
            ck_assert_msg(r->bound_s <= r->coarse_s * (1 + 1e-9), "row %zu: %g > %g", i, r->bound_s,
                          r->coarse_s);
    fr_search_free(quick);
    fr_search_free(whole);
}

TEST(threads_change_nothing)
{
    struct fr_search *one = search(&(struct asked){.axes = narrow, .n_best = 2});
    struct fr_search *three = search(&(struct asked){.axes = narrow, .n_best = 2, .n_threads = 3});
    const struct fr_search_row *a, *b;

    for (size_t i = 0; (a = fr_search_row(one, i)); i++) {
        b = fr_search_row(three, i);
        ck_assert_int_eq(a->fate, b->fate);
        ck_assert_double_eq(a->bound_s, b->bound_s);
        ck_assert_double_eq(a->coarse_s, b->coarse_s);
        ck_assert_double_eq(a->exact_s, b->exact_s);
        ck_assert_double_eq(a->over_bytes, b->over_bytes);
    }
    fr_search_free(one);
    fr_search_free(three);
}

TEST(every_layout_has_a_reason)
{
    struct fr_search *s = search(&(struct asked){.axes = "micro=1;dp=1,2,4;pp=2,4,8"});
    const struct fr_search_summary *m = fr_search_summary(s);
    const struct fr_search_row *r;
    char why[FR_SEARCH_REASON];
    size_t n = 0;

    ck_assert_uint_eq(m->n[FR_LAYOUT_PENDING], 0);
    for (int k = 0; k < FR_N_LAYOUT_FATES; k++)
        n += m->n[k];
    ck_assert_uint_eq(n, m->n_rows);
    for (size_t i = 0; (r = fr_search_row(s, i)); i++) {
        ck_assert_uint_gt(strlen(fr_search_reason(r, why)), 0);
        ck_assert_uint_eq(r->layout.dp * r->layout.tp * r->layout.pp * r->layout.cp, 8);
        ck_assert_uint_eq(r->layout.micro, 1);
    }
    fr_search_free(s);
}

TEST(coarse_and_exact_times_agree)
{
    struct fr_search *s =
        search(&(struct asked){.axes = narrow, .n_best = 12, .is_exhaustive = true});
    const struct fr_search_summary *m = fr_search_summary(s);
    double sum = 0;

    for (size_t i = 0; i < m->n_ranked; i++) {
        const struct fr_search_row *r = fr_search_row(s, m->ranked[i]);

        sum += fabs(r->coarse_s / r->exact_s - 1);
    }
    ck_assert_uint_ge(m->n_ranked, 12);
    ck_assert_double_lt(sum / (double)m->n_ranked, 0.04);
    fr_search_free(s);
}

/* DualPipe's forward and backward passes wait for messages of a tensor group. How much of that the
 * other one fills depends on where the messages are: as if it were all, steps are up to 21 % short.
 */
TEST(overlapped_passes_take_coarsely_what_they_take_op_by_op)
{
    struct fr_search *s = search(&(struct asked){
        .axes = "schedule=dualpipe-v;virtual=2;tp=8;pp=2;micro=1;recompute=none,full",
        .topology = "2x dgx-a100-80g",
        .n_best = 4,
        .is_exhaustive = true});
    const struct fr_search_summary *m = fr_search_summary(s);

    ck_assert_uint_ge(m->n_ranked, 2);
    for (size_t i = 0; i < m->n_ranked; i++) {
        const struct fr_search_row *r = fr_search_row(s, m->ranked[i]);

        ck_assert_double_lt(fabs(r->coarse_s / r->exact_s - 1), 0.02);
        ck_assert_double_le(r->bound_s, r->coarse_s * (1 + 1e-9));
    }
    fr_search_free(s);
}

/* An allocator's own bytes come on top of the tensors', so no layout is excluded by memory that
 * fits. */
static void agree(const struct asked *a, size_t least, double time_frac, double bytes_frac)
{
    struct fr_search *s = search(a);
    const struct fr_search_summary *m = fr_search_summary(s);

    ck_assert_uint_ge(m->n_ranked, least);
    for (size_t i = 0; i < m->n_ranked; i++) {
        const struct fr_search_row *r = fr_search_row(s, m->ranked[i]);
        double bytes = r->coarse_bytes / r->exact_bytes - 1;
        char text[FR_LAYOUT_TEXT];

        ck_assert_msg(fabs(r->coarse_s / r->exact_s - 1) < time_frac, "%s: %g s, exact %g s",
                      fr_layout_text(&r->layout, text), r->coarse_s, r->exact_s);
        ck_assert_msg(bytes < 1e-3 && bytes > -bytes_frac, "%s: %g bytes, exact %g",
                      fr_layout_text(&r->layout, text), r->coarse_bytes, r->exact_bytes);
    }
    fr_search_free(s);
}

/* Schedules that keep all micro-batches, that cut the backward pass in two, that fold the stages;
 * full recomputation, whose results wait for the gradients of weights. */
TEST(other_schedules_agree_too)
{
    agree(&(struct asked){.axes = "micro=1;zero=0;recompute=none,full;pp=2;tp=2;virtual=1,2;"
                                  "schedule=gpipe,zb-h1,zb-h2,zb-v,v-half,looped-bfs,"
                                  "interleaved-zero-bubble",
                          .n_best = 40,
                          .is_exhaustive = true},
          18, 0.03, 0.1);
}

/* Three machines: two of three pairs of stages are in one, so that no device stands for others. */
TEST(a_mesh_that_is_not_folded_is_read_by_its_ranks)
{
    agree(&(struct asked){.axes = "micro=1;zero=0;recompute=none;pp=4;tp=2;virtual=1,2",
                          .n_best = 4,
                          .is_exhaustive = true,
                          .topology = "3x dgx-a100-80g",
                          .global_batch = 24},
          2, 0.03, 0.1);
}

/* Words of a large vocabulary: the head's results are most of what its stage holds. */
TEST(a_large_vocabulary_is_held_once_for_each_micro_batch)
{
    agree(
        &(struct asked){.axes = "micro=1,2;dp=1;pp=4;tp=2;recompute=none;virtual=1;"
                                "schedule=1f1b,gpipe",
                        .n_best = 8,
                        .is_exhaustive = true,
                        .workload =
                            "llama:layers=8,hidden=1024,heads=16,kv_heads=8,seq=2048,vocab=128256"},
        4, 0.05, 0.1);
}

/* Messages of a tensor group stand among a convolutional model's layers, some of which are alike no
 * more: stages are cut at the model's layers, and read off by them. Times agree less where layers
 * are so unlike. */
TEST(stages_of_a_split_model_are_those_of_the_model)
{
    agree(&(struct asked){.axes = "micro=1;zero=0;recompute=none;pp=2,4;tp=2,4;virtual=1",
                          .n_best = 8,
                          .is_exhaustive = true,
                          .workload = "alexnet",
                          .topology = "dgx-a100-80g",
                          .global_batch = 8},
          3, 0.05, 0.1);
}

TEST(a_search_goes_on_from_its_store)
{
    char path[] = "search-test-XXXXXX.csv";
    int fd = mkstemps(path, 4);
    struct fr_store *store;
    struct fr_search *first, *again;
    struct fr_error err;

    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_msg(fr_store_open(&store, path, &err) == FR_OK, "%s", err.text);
    first = search(&(struct asked){.axes = narrow, .n_best = 2, .store = store});
    again = search(&(struct asked){.axes = narrow, .n_best = 2, .store = store});
    ck_assert_uint_eq(fr_search_summary(first)->n_found, 0);
    ck_assert_uint_eq(fr_search_summary(again)->n_found, fr_search_summary(again)->n_exact);
    ck_assert_double_eq(best(first)->exact_s, best(again)->exact_s);
    ck_assert_double_eq(best(first)->exact_bytes, best(again)->exact_bytes);
    fr_search_free(first);
    fr_search_free(again);
    ck_assert_int_eq(fr_store_close(store, &err), FR_OK);
    unlink(path);
}

TEST(the_frontier_falls_in_memory_as_it_rises_in_time)
{
    struct fr_search *s = search(&(struct asked){.axes = narrow, .is_exhaustive = true});
    const struct fr_search_summary *m = fr_search_summary(s);

    ck_assert_uint_gt(m->n_frontier, 1);
    for (size_t i = 1; i < m->n_frontier; i++) {
        const struct fr_search_row *a = fr_search_row(s, m->frontier[i - 1]);
        const struct fr_search_row *b = fr_search_row(s, m->frontier[i]);

        ck_assert_double_gt(b->coarse_s, a->coarse_s);
        ck_assert_double_lt(b->coarse_bytes, a->coarse_bytes);
    }
    fr_search_free(s);
}

/* Left unsaid, an interleaved schedule would have two parts a rank. */
TEST(one_part_a_rank_is_said_where_a_schedule_takes_any_number)
{
    struct fr_search *s = search(&(struct asked){.axes = "micro=1;zero=0;recompute=none;pp=2;tp=1;"
                                                         "virtual=1;schedule=looped-bfs",
                                                 .is_exhaustive = true});
    const struct fr_search_row *r = best(s);
    char text[FR_LAYOUT_TEXT];

    ck_assert_ptr_nonnull(strstr(fr_layout_text(&r->layout, text), "virtual=1"));
    ck_assert_msg(fabs(r->coarse_s / r->exact_s - 1) < 0.03, "%g s, exact %g s", r->coarse_s,
                  r->exact_s);
    fr_search_free(s);
}

TEST(what_became_of_a_layout_is_found_by_its_values)
{
    struct fr_search *s = search(&(struct asked){.axes = "micro=1,2;zero=0,1"});
    size_t rows[100], n = 0;
    struct fr_error err;

    ck_assert_int_eq(fr_search_match(s, "tp=2,pp=2,zero=1,recompute=full", 100, rows, &n, &err),
                     FR_OK);
    ck_assert_uint_gt(n, 1);
    for (size_t i = 0; i < n && i < 100; i++) {
        const struct fr_search_layout *l = &fr_search_row(s, rows[i])->layout;

        ck_assert_uint_eq(l->tp, 2);
        ck_assert_uint_eq(l->pp, 2);
        ck_assert_uint_eq(l->zero, 1);
        ck_assert_int_eq(l->recompute, FR_LAYOUT_FULL);
    }
    ck_assert_int_eq(fr_search_match(s, "tp=3", 100, rows, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(fr_search_check_match("tpp=3", &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "did you mean 'tp='"));
    ck_assert_int_eq(fr_search_check_match("tp=", &err), FR_EUSAGE);
    ck_assert_int_eq(fr_search_check_match("tp=8,,pp=2", &err), FR_EUSAGE);
    fr_search_free(s);
}

static void refuses(const char *text, const char *part)
{
    struct fr_search *s = fr_search_new();
    struct fr_error err;

    ck_assert_ptr_nonnull(s);
    ck_assert_int_ne(fr_search_axis(s, text, &err), FR_OK);
    ck_assert_msg(strstr(err.text, part) != NULL, "%s", err.text);
    fr_search_free(s);
}

TEST(wrong_axes_are_refused_by_name)
{
    refuses("tpp=8", "did you mean 'tp='");
    refuses("tp", "is not AXIS=VALUE");
    refuses("tp=", "is not AXIS=VALUE");
    refuses("tp=0", "tp");
    refuses("zero=4", "zero");
    refuses("recompute=some", "none, selective or full");
    refuses("schedule=1f2b", "schedule list");
}

static void flags_of(enum fr_optimizer optimizer, enum fr_framework framework,
                     const struct fr_search_layout *l, const char *part)
{
    const struct fr_flags_job job = {
        .global_batch = 1536, .seq_len = 2048, .n_layers = 96, .optimizer = optimizer};
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(f);
    fr_layout_print_flags(f, framework, l, &job);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_msg(strstr(text, part) != NULL, "no %s in:\n%s", part, text);
    free(text);
}

static void flags_have(enum fr_framework framework, const struct fr_search_layout *l,
                       const char *part)
{
    flags_of(FR_ADAM, framework, l, part);
}

TEST(a_layout_is_written_in_each_frameworks_words)
{
    const struct fr_search_layout l = {.dp = 16,
                                       .tp = 8,
                                       .pp = 8,
                                       .cp = 1,
                                       .ep = 1,
                                       .micro = 1,
                                       .n_micros = 96,
                                       .n_virtual = 3,
                                       .zero = 1,
                                       .recompute = FR_LAYOUT_FULL,
                                       .schedule = "interleaved-1f1b"};

    flags_have(FR_MEGATRON, &l, "--tensor-model-parallel-size 8\n");
    flags_have(FR_MEGATRON, &l, "--num-virtual-stages-per-pipeline-rank 3\n");
    flags_have(FR_MEGATRON, &l, "--use-distributed-optimizer\n");
    flags_of(FR_MUON, FR_MEGATRON, &l, "--optimizer dist_muon\n");
    flags_have(FR_DEEPSPEED, &l, "\"gradient_accumulation_steps\": 96");
    flags_have(FR_DEEPSPEED, &l, "{\"stage\": 1,");
    flags_have(FR_TORCHTITAN, &l, "--parallelism.pipeline_parallel_schedule=Interleaved1F1B\n");
    flags_have(FR_TORCHTITAN, &l, "--parallelism.pipeline_parallel_layers_per_stage=4\n");
    flags_have(FR_TORCHTITAN, &l, "--parallelism.fsdp_reshard_after_forward=never\n");
    flags_have(FR_TORCHTITAN, &l, "zero=1 is not to be had");
}

TEST(stages_that_divide_with_the_ends_say_so)
{
    const struct fr_search_layout l = {.dp = 2,
                                       .tp = 2,
                                       .pp = 7,
                                       .cp = 1,
                                       .ep = 1,
                                       .micro = 1,
                                       .n_micros = 14,
                                       .n_virtual = 2,
                                       .schedule = "interleaved-1f1b"};

    flags_have(FR_MEGATRON, &l, "--account-for-embedding-in-pipeline-split\n");
    flags_have(FR_MEGATRON, &l, "--account-for-loss-in-pipeline-split\n");
    flags_have(FR_TORCHTITAN, &l, "pipeline_parallel_first_stage_less_layers=1\n");
    flags_have(FR_TORCHTITAN, &l, "pipeline_parallel_layers_per_stage=7\n");
}

TEST(deepspeeds_configuration_is_json_with_its_remarks)
{
    const struct fr_search_layout l = {.dp = 2,
                                       .tp = 2,
                                       .pp = 2,
                                       .cp = 2,
                                       .ep = 4,
                                       .etp = 1,
                                       .micro = 1,
                                       .n_micros = 8,
                                       .n_virtual = 2,
                                       .recompute = FR_LAYOUT_SELECTIVE,
                                       .schedule = "interleaved-1f1b"};
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(f);
    fr_layout_print_flags(f, FR_DEEPSPEED, &l, &(struct fr_flags_job){.global_batch = 16});
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_msg(is_json(text), "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "ep_size=4"));
    ck_assert_ptr_nonnull(strstr(text, "not interleaved-1f1b"));
    ck_assert_ptr_nonnull(strstr(text, "selective recomputation"));
    free(text);
}

static struct fr_question cluster(struct fr_search_clusters *c, size_t i, const char *topology)
{
    struct fr_question q, out;
    struct fr_error err;

    fr_question_init(&q);
    q.topology = topology;
    ck_assert_msg(fr_search_clusters_question(c, i, &q, &out, &err) == FR_OK, "%s", err.text);
    return out;
}

TEST(clusters_are_all_networks_with_all_numbers_of_gpus)
{
    struct fr_search_clusters *c = fr_search_clusters_new();
    struct fr_error err;
    bool is_cluster;

    ck_assert_ptr_nonnull(c);
    ck_assert_uint_eq(fr_search_clusters_count(c), 1);
    ck_assert_str_eq(cluster(c, 0, "dgx2").topology, "dgx2");
    ck_assert_int_eq(
        fr_search_clusters_axis(c, "nic=roce:25Gbps,4us,ib:100Gbps", &is_cluster, &err), FR_OK);
    ck_assert(is_cluster);
    ck_assert_int_eq(fr_search_clusters_axis(c, "gpus=8,16,32", &is_cluster, &err), FR_OK);
    ck_assert_int_eq(fr_search_clusters_axis(c, "tp=4", &is_cluster, &err), FR_OK);
    ck_assert(!is_cluster);
    ck_assert_uint_eq(fr_search_clusters_count(c), 6);
    ck_assert_str_eq(cluster(c, 0, "4x dgx2").topology, "4x dgx2 via roce:25Gbps,4us");
    ck_assert_uint_eq(cluster(c, 1, "4x dgx2").n_gpus, 16);
    ck_assert_str_eq(cluster(c, 3, "4x dgx2 via eth:1Gbps less n0.gpu1").topology,
                     "4x dgx2 via ib:100Gbps less n0.gpu1");
    ck_assert_int_ne(fr_search_clusters_axis(c, "gpus=8,", &is_cluster, &err), FR_OK);
    ck_assert_int_ne(fr_search_clusters_axis(c, "nic=", &is_cluster, &err), FR_OK);
    fr_search_clusters_free(c);
}

/* ---- a search that is interrupted ---- */

static volatile int wanted_end; /* set by the progress, as a signal would */

static void end_after_layouts(void *user, const char *what, uint64_t done, uint64_t total)
{
    (void)user;
    (void)total;
    if (strcmp(what, "layouts") == 0 && done > 0)
        wanted_end = 1;
}

/* It keeps what it has, and says of the rest that it was not looked at. */
TEST(an_interrupted_search_has_the_best_so_far)
{
    const struct fr_search_options o = {.n_best = 1, .n_threads = 1};
    const struct fr_context ctx = {.cancel = &wanted_end, .progress = end_after_layouts};
    struct fr_search *s = fr_search_new(), *whole = search(&(struct asked){.axes = narrow});
    const struct fr_search_summary *m = fr_search_summary(s);
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = small;
    q.topology = "dgx-a100-80g";
    q.global_batch = 16;
    q.dtype = FR_BF16;
    q.optimizer = FR_ADAM;
    wanted_end = 0;
    ck_assert_int_eq(fr_search_axis(s, narrow, &err), FR_OK);
    ck_assert_int_eq(fr_search_run(s, &q, &o, &ctx, &err), FR_ECANCELLED);
    ck_assert_str_eq(m->topology, "dgx-a100-80g");
    ck_assert_uint_eq(m->n_rows, fr_search_summary(whole)->n_rows);
    ck_assert_uint_gt(m->n[FR_LAYOUT_COARSE], 0);
    ck_assert_uint_gt(m->n[FR_LAYOUT_PENDING], 0);
    ck_assert_uint_gt(m->n_frontier, 0);
    ck_assert_double_gt(fr_search_row(s, m->frontier[0])->coarse_s, 0);
    ck_assert_uint_eq(m->n_ranked, 0); /* nothing was simulated op by op */
    fr_search_free(s);
    fr_search_free(whole);
}

int main(void)
{
    TCase *tc = tcase_create("search");

    tcase_set_timeout(tc, 120);
    add_tests(tc);
    return run_case(tc, "search");
}
