/* The memory of a training step, tensors only, against PyTorch.
 *
 * Measured with PyTorch 1.13.1 and torchvision 0.14.1 on a CPU, fp32, every allocator event logged: the
 * peak of a steady step above parameters and buffers, temporaries inside an operator left out. Rows
 * marked `law` are the straight lines that fit the measured peaks at batches 1, 2 and 4. On the CPU a
 * dropout mask has 4 bytes an element, on CUDA and here 1: at a peak in which all that was saved is
 * alive (the loss) the difference is that of the saved bytes, and is taken off.
 */
#include "config.h"

#include "calibrate/calibrate.h"
#include "strategies/strategies.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct row {
    const char *model;
    uint32_t seq_len, batch;
    enum fr_optimizer optimizer;
    bool keeps_gradients;
    double measured_bytes;
    double mask_bytes; /* what masks have too much, a sample */
    double within_frac;
};

static const double BERT_MASKS = 114456576 - 100005888;
static const double TRANSFORMER_MASKS = 57199104 - 47565312;

static struct fr_run *step(const struct fr_topo *t, const struct fr_graph *g, const struct row *row,
                           struct fr_plan **plan)
{
    static const uint32_t device = 0;
    struct fr_option_values values;
    const struct fr_strategy *s;
    struct fr_run_options o;
    struct fr_run *r = NULL;
    struct fr_error err;
    struct fr_problem in = {.topo = t,
                            .graph = g,
                            .devices = &device,
                            .n_devices = 1,
                            .global_batch = row->batch,
                            .optimizer = row->optimizer,
                            .keeps_gradients = row->keeps_gradients,
                            .options = &values};

    ck_assert_int_eq(fr_strategy_parse("single", &s, &values, &err), FR_OK);
    *plan = fr_plan_new(t, g);
    ck_assert_msg(s->plan(&in, NULL, *plan, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_plan_finish(*plan, &err) == FR_OK, "%s", err.text);
    fr_run_options_init(&o);
    ck_assert_msg(fr_simulate(*plan, &o, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

/* Peak of a step above the parameters. */
static double peak_bytes(const struct row *row)
{
    struct fr_workload_options opt = {
        .batch = row->batch, .seq_len = row->seq_len, .dtype = FR_N_DTYPES};
    struct fr_graph_totals totals;
    struct fr_topo *t = NULL;
    struct fr_graph *g = NULL;
    struct fr_plan *p;
    struct fr_run *r;
    struct fr_error err;
    double bytes;

    ck_assert_msg(fr_topo_load(&t, "dgx-a100-80g", &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_workload_load(&g, row->model, &opt, &err) == FR_OK, "%s", err.text);
    fr_graph_totals(g, &totals);
    r = step(t, g, row, &p);
    bytes = (double)r->devices[0].peak_bytes - (double)totals.param_bytes -
            (double)r->devices[0].peak_by_kind[FR_BUFFER_CONTEXT];
    fr_run_free(r);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
    return bytes;
}

static void compare(const struct row rows[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        double want = r->measured_bytes - r->mask_bytes * r->batch, got = peak_bytes(r);

        printf("%-24s batch %2u %-8s %-4s %11.0f of %11.0f bytes, %+.4f %%\n", r->model, r->batch,
               fr_optimizer_name(r->optimizer), r->keeps_gradients ? "zero" : "none", got, want,
               100 * (got / want - 1));
        ck_assert_double_le(fabs(got / want - 1), r->within_frac);
    }
}

/* The peak is in the backward pass. 8 bytes are the loss and a scalar of it. */
START_TEST(peaks_of_convolutional_nets_equal_pytorchs)
{
    static const struct row rows[] = {
        {"alexnet", 0, 16, FR_MOMENTUM, false, 545404104, 0, 1e-6},
        {"alexnet", 0, 64, FR_MOMENTUM, false, 724780616, 0, 1e-6},
        {"vgg16", 0, 16, FR_MOMENTUM, false, 2254917320, 0, 1e-6},
        {"resnet50", 0, 16, FR_MOMENTUM, false, 1509566664, 0, 1e-6},
        {"resnet50", 0, 32, FR_MOMENTUM, false, 2885296968, 0, 1e-6},
        {"vgg16", 0, 2, FR_MOMENTUM, false, 1099918408 + 2 * 69648296.0, 0, 1e-6}, /* law */
        {"vgg16", 0, 4, FR_MOMENTUM, false, 1099918408 + 4 * 69648296.0, 0, 1e-6}, /* law */
    };

    compare(rows, sizeof(rows) / sizeof(rows[0]));
}
END_TEST

/* With Adam the peak of nets heavy with parameters is in the step itself: two temporaries of the
 * largest parameter. PyTorch also keeps a step count of 4 bytes for each parameter. All are laws. */
START_TEST(peaks_of_adams_step_equal_pytorchs)
{
    static const struct row rows[] = {
        {"alexnet", 0, 4, FR_ADAM, false, 1035201068 + 4 * 606120.0, 0, 1e-5},
        {"vgg16", 0, 4, FR_ADAM, false, 2482376300 + 4 * 606120.0, 0, 1e-5},
        {"resnet50", 0, 4, FR_ADAM, false, 273060204 + 4 * 83591080.0, 0, 1e-5},
        {"bert-base:head=pooler", 128, 2, FR_ADAM, false, 1501314856 + 2 * 398848.0, 0, 1e-3},
    };

    compare(rows, sizeof(rows) / sizeof(rows[0]));
}
END_TEST

/* Gradients set to zero are there from the start, and each new one beside its kept one. Laws. */
START_TEST(peaks_with_gradients_kept_equal_pytorchs)
{
    static const struct row rows[] = {
        {"alexnet", 0, 4, FR_MOMENTUM, true, 639818056 + 4 * 3732904.0, 0, 3e-4},
        {"vgg16", 0, 4, FR_MOMENTUM, true, 1517918536 + 4 * 73377704.0, 0, 3e-5},
        {"resnet50", 0, 2, FR_MOMENTUM, true, 213618984 + 2 * 85737144.0, 0, 1e-5},
        {"bert-base:head=pooler", 128, 4, FR_MOMENTUM, true, 885298280 + 4 * 116028928.0,
         114456576 - 100005888, 1e-3},
    };

    compare(rows, sizeof(rows) / sizeof(rows[0]));
}
END_TEST

/* The peak is at the loss: all that was saved, the logits, which the loop holds, and the gradients of
 * the log-probabilities and of the logits. */
START_TEST(peaks_of_transformers_equal_pytorchs)
{
    const struct row rows[] = {
        {"transformer-base", 64, 32, FR_MOMENTUM, false, 2992013480, TRANSFORMER_MASKS, 1e-6},
        {"bert-base:head=pooler", 128, 8, FR_MOMENTUM, false, 1377969256, BERT_MASKS, 1e-3},
        {"bert-base:head=pooler", 128, 16, FR_MOMENTUM, false, 2306200680, BERT_MASKS, 1e-3},
    };

    compare(rows, sizeof(rows) / sizeof(rows[0]));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("strategies/memory");
    TCase *c = tcase_create("all");
    SRunner *sr;
    int n_failed;

    tcase_add_test(c, peaks_of_convolutional_nets_equal_pytorchs);
    tcase_add_test(c, peaks_of_adams_step_equal_pytorchs);
    tcase_add_test(c, peaks_with_gradients_kept_equal_pytorchs);
    tcase_add_test(c, peaks_of_transformers_equal_pytorchs);
    suite_add_tcase(s, c);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    n_failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
