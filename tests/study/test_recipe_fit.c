/* Recipes fitted to measured steps. The software is made up, so what must come out is known. */
#include "config.h"

#include "study/recipe_fit/recipe_fit.h"
#include "study/recipes/recipe.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS "id,workload,topology,gpus,strategy,global_batch,precision,options,iteration_s\n"
#define MACHINES "2x dgx1-v100 via ib:100Gbps"

/* ResNet-50 by dp on so many GPUs, 32 samples each unless said otherwise. */
static void ask(struct fr_question *q, unsigned gpus, unsigned batch)
{
    fr_question_init(q);
    q->workload = "resnet50";
    q->topology = MACHINES;
    q->strategy = gpus == 1 ? "single" : "dp";
    q->n_gpus = gpus;
    q->global_batch = batch;
    q->is_brief = q->no_timing = true;
}

static double answer(const struct fr_question *q, struct fr_record_interval *interval)
{
    struct fr_record *r = NULL;
    struct fr_error err;
    double s;

    ck_assert_msg(fr_answer(q, NULL, &r, &err) == FR_OK, "%s", err.text);
    s = r->iteration_s;
    if (interval)
        *interval = r->interval;
    fr_record_free(r);
    return s;
}

static double simulated(unsigned gpus, unsigned batch)
{
    struct fr_question q;

    ask(&q, gpus, batch);
    return answer(&q, NULL);
}

static struct fr_recipe_fit *fit_text(const char *text, enum fr_status expected,
                                      struct fr_error *err)
{
    char path[] = "./fit_XXXXXX.csv";
    int fd = mkstemps(path, 4);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    struct fr_recipe_fit *fit = NULL;
    enum fr_status st;

    ck_assert_ptr_nonnull(f);
    fprintf(f, COLUMNS "%s", text);
    fclose(f);
    st = fr_recipe_fit(&fit, path, &(struct fr_recipe_fit_options){.name = "mine"}, NULL, err);
    remove(path);
    ck_assert_msg(st == expected, "%s", st == FR_OK ? "accepted" : err->text);
    return fit;
}

/* A software that takes 1.06 times as long to compute, and 12 ms more a step. */
static double truth_s(unsigned gpus, unsigned batch)
{
    return 1.06 * simulated(gpus, batch) + 0.012;
}

/* Steps on one GPU and on eight; what sixteen take is asked. */
static struct fr_recipe_fit *fit_made_up(const char *more)
{
    char text[2048];
    struct fr_error err;

    snprintf(text, sizeof(text),
             "one,resnet50," MACHINES ",1,single,32,fp32,,%.9g\n"
             "large,resnet50," MACHINES ",1,single,96,fp32,,%.9g\n"
             "eight,resnet50," MACHINES ",8,dp,256,fp32,,%.9g\n"
             "asked,resnet50," MACHINES ",16,dp,512,fp32,,\n%s",
             truth_s(1, 32), truth_s(1, 96), truth_s(8, 256), more);
    return fit_text(text, FR_OK, &err);
}

static const struct fr_recipe_fit_row *row_of(const struct fr_recipe_fit *f, const char *id)
{
    for (size_t i = 0; i < f->n_rows; i++)
        if (strcmp(f->rows[i].id, id) == 0)
            return &f->rows[i];
    ck_abort_msg("no row '%s'", id);
}

TEST(made_up_software_is_found_and_foretells_more_gpus)
{
    struct fr_recipe_fit *f = fit_made_up("");
    const struct fr_recipe_fit_row *asked = row_of(f, "asked");

    ck_assert_uint_eq(f->n_steps, 3);
    ck_assert_uint_eq(f->n_rows, 4);
    ck_assert_ptr_null(f->base);
    for (size_t i = 0; i < 3; i++)
        ck_assert_double_lt(fabs(f->rows[i].error_after), 0.02);
    ck_assert_double_eq_tol(exp(f->parts[0].mean), 1.06, 0.03);
    ck_assert_double_lt(f->parts[0].deviation, f->parts[0].believed_deviation);
    ck_assert(isnan(asked->measured_s) && isnan(asked->error_after) && isnan(asked->weight));
    ck_assert_double_eq_tol(asked->after_s / truth_s(16, 512), 1, 0.04);
    ck_assert(asked->low_s < truth_s(16, 512) && asked->high_s > truth_s(16, 512));
    fr_recipe_fit_free(f);
}

/* Writes the recipe of a fit as a file. */
static void keep(const struct fr_recipe_fit *f, const char *path)
{
    FILE *out = fopen(path, "w");

    ck_assert_ptr_nonnull(out);
    fputs(f->yaml, out);
    fclose(out);
}

TEST(its_recipe_answers_as_the_fit_did)
{
    static const char path[] = "./test_recipe_fit_mine.yaml";
    struct fr_recipe_fit *f = fit_made_up("");
    struct fr_record_interval here, elsewhere, plain;
    struct fr_question q;
    double s;

    keep(f, path);
    ask(&q, 16, 512);
    answer(&q, &plain);
    q.recipe = path;
    s = answer(&q, &here);
    ck_assert_double_eq_tol(s / row_of(f, "asked")->after_s, 1, 1e-5);
    ck_assert_str_eq(here.name, "machines fp32 convolutions recipe anchored by several");
    ck_assert_double_lt((here.high_s - here.low_s) / s, (plain.high_s - plain.low_s) / s);
    /* of another model nobody measured how long its kernels take */
    q.workload = "vgg16";
    s = answer(&q, &elsewhere);
    ck_assert_double_gt((elsewhere.high_s - elsewhere.low_s) / s,
                        1.2 * (here.high_s - here.low_s) / row_of(f, "asked")->after_s);
    remove(path);
    fr_recipe_fit_free(f);
}

/* A step of one's own is weighed against what the recipe knows, so it moves the answer less than
 * without the recipe. */
TEST(a_step_of_ones_own_goes_on_from_there)
{
    static const char path[] = "./test_recipe_fit_more.yaml";
    struct fr_recipe_fit *f = fit_made_up("");
    struct fr_question q;
    char measured[32];
    double with_recipe, with_both, with_step;

    keep(f, path);
    snprintf(measured, sizeof(measured), "%.9gs@8", 1.1 * truth_s(8, 256));
    ask(&q, 16, 512);
    q.measured = measured;
    with_step = answer(&q, NULL);
    q.recipe = path;
    with_both = answer(&q, NULL);
    q.measured = NULL;
    with_recipe = answer(&q, NULL);
    ck_assert_double_gt(with_both, 1.02 * with_recipe);
    ck_assert_double_lt(with_both, with_step);
    remove(path);
    fr_recipe_fit_free(f);
}

TEST(the_next_measurement_leaves_what_was_foretold)
{
    struct fr_recipe_fit *f = fit_made_up(""), *g;
    const struct fr_recipe_fit_next *best = &f->next[0];
    char row[160];
    double width;

    ck_assert_uint_ge(f->n_next, 2);
    for (size_t i = 0; i < f->n_next; i++) {
        ck_assert_double_lt(f->next[i].width_after, f->next[i].width_before);
        ck_assert(i == 0 || f->next[i - 1].width_after <= f->next[i].width_after);
    }
    ck_assert_uint_gt(best->gpus, 1); /* steps on one GPU say nothing of an exchange */
    snprintf(row, sizeof(row), "next,resnet50," MACHINES ",%u,%s,%u,fp32,,%.9g\n",
             (unsigned)best->gpus, best->strategy, (unsigned)best->global_batch,
             truth_s((unsigned)best->gpus, (unsigned)best->global_batch));
    g = fit_made_up(row);
    width = (row_of(g, "asked")->high_s - row_of(g, "asked")->low_s) / row_of(g, "asked")->after_s;
    ck_assert_double_eq_tol(width / best->width_after, 1, 0.15);
    fr_recipe_fit_free(g);
    fr_recipe_fit_free(f);
}

/* Steps inside one machine say little of a network; one step on two machines says it. */
TEST(what_no_step_says_of_a_network_is_uncertain)
{
    struct fr_recipe_fit *inside = fit_made_up(""), *across;
    double width_inside, width_across;
    char row[160];

    snprintf(row, sizeof(row), "two,resnet50," MACHINES ",16,dp,1024,fp32,,%.9g\n",
             truth_s(16, 1024));
    across = fit_made_up(row);
    ck_assert(inside->lacks_network);
    ck_assert(!across->lacks_network);
    width_inside = log(row_of(inside, "asked")->high_s / row_of(inside, "asked")->low_s);
    width_across = log(row_of(across, "asked")->high_s / row_of(across, "asked")->low_s);
    ck_assert_double_gt(width_inside, 1.05 * width_across);
    ck_assert_ptr_nonnull(strstr(inside->yaml, "machines: 1\n"));
    ck_assert_ptr_nonnull(strstr(across->yaml, "machines: 2\n"));
    fr_recipe_fit_free(across);
    fr_recipe_fit_free(inside);
}

/* VGG-16 exchanges much, so that is what is least known of sixteen GPUs. */
TEST(a_step_on_two_machines_is_advised_where_none_was)
{
    struct fr_recipe_fit *f;
    struct fr_question q;
    struct fr_error err;
    char text[512];

    ask(&q, 8, 256);
    q.workload = "vgg16";
    snprintf(text, sizeof(text),
             "eight,vgg16," MACHINES ",8,dp,256,fp32,,%.9g\n"
             "asked,vgg16," MACHINES ",16,dp,256,fp32,,\n",
             1.06 * answer(&q, NULL) + 0.012);
    f = fit_text(text, FR_OK, &err);
    ck_assert(f->lacks_network);
    ck_assert_uint_eq(f->next[0].gpus, 16);
    fr_recipe_fit_free(f);
}

TEST(a_step_that_contradicts_the_rest_counts_little)
{
    char row[160];
    struct fr_recipe_fit *f;

    snprintf(row, sizeof(row),
             "odd,resnet50," MACHINES ",8,dp,512,fp32,,%.9g\n"
             "even,resnet50," MACHINES ",1,single,64,fp32,,%.9g\n",
             1.5 * truth_s(8, 512), truth_s(1, 64));
    f = fit_made_up(row);
    ck_assert_double_lt(row_of(f, "odd")->weight, 0.1);
    ck_assert_double_gt(row_of(f, "one")->weight, 0.5);
    ck_assert_double_lt(fabs(row_of(f, "one")->error_after), 0.03);
    fr_recipe_fit_free(f);
}

TEST(tables_that_cannot_be_fitted_say_why)
{
    static const struct {
        const char *text;
        enum fr_status st;
        const char *says;
    } rows[] = {
        {"a,resnet50,dgx1-v100,1,single,32,fp32,,\n", FR_EUSAGE, "no row has a time"},
        {"a,resnet50,dgx1-v100,1,single,32,fp32,,0.1\nb,resnet50,dgx1-v100,1,single,64,fp32,--"
         "recipe "
         "timm,0.2\n",
         FR_EUSAGE, "different recipes (none, timm)"},
        {"a,resnet50,dgx1-v100,1,single,32,fp32,--recipe ./x.yaml,0.1\n", FR_EUSAGE, "x.yaml"},
        {"a,resnet5,dgx1-v100,1,single,32,fp32,,0.1\n", FR_ENOENT, "row 'a': "},
        {"a,resnet50,dgx1-v100,9,dp,32,fp32,,0.1\n", FR_ERANGE, "row 'a': "},
        {"a,resnet50,dgx1-v100 + dgx-a100,16,dp,32,fp32,,0.1\n", FR_EUSAGE, "row 'a': "},
        {"a,resnet50,dgx1-v100,1,single,32,fp32,,-1\n", FR_ERANGE, "iteration_s"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fr_error err = {.code = FR_OK};

        fit_text(rows[i].text, rows[i].st, &err);
        ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%zu: %s", i, err.text);
    }
}

TEST(a_name_that_would_need_quotes_is_refused)
{
    struct fr_recipe_fit *f = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_recipe_fit(&f, "no.csv",
                                   &(struct fr_recipe_fit_options){.name = "my: recipe"}, NULL,
                                   &err),
                     FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "no name of a recipe"));
}

#define PART(name, a, b, c, d, e)                                                                  \
    "    - {part: " name ", mean: 0.1, covariance: [" a ", " b ", " c ", " d ", " e "]}\n"
#define BEGIN                                                                                      \
    "recipe: r\nsummary: s\nmeasured:\n  steps: 3\n  models: [resnet50]\n  gpus: [v100]\n"         \
    "  precisions: [fp32]\n  gpu-counts: [1, 8]\n  machines: 1\n  parts:\n"
#define SECOND PART("host", "0", "1", "0", "0", "0")
#define THIRD PART("exchange", "0", "0", "1", "0", "0")
#define FOURTH PART("software", "0.1", "0", "0", "1", "0")
#define LAST FOURTH PART("copies", "0", "0", "0", "0", "1")
#define GOOD BEGIN PART("compute", "1", "0", "0", "0.1", "0") SECOND THIRD LAST

TEST(what_a_recipe_says_was_measured_is_read_with_care)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"recipe: r\nsummary: s\nmeasured: 3\n", "r.yaml:3:11:"},
        {"recipe: r\nsummary: s\nmeasured: {steps: 0}\n", "steps"},
        {"recipe: r\nsummary: s\nmeasured: {steps: 1}\n", "'models' is missing"},
        {"recipe: r\nsummary: s\nmeasured: {step: 1}\n", "step"},
        {BEGIN, "r.yaml"},
        {BEGIN SECOND, "'parts' are 1 and not 5"},
        {BEGIN SECOND SECOND THIRD LAST, "part 1 is 'host' where it must be 'compute'"},
        {BEGIN PART("compute", "1", "0", "0", "0.2", "0") SECOND THIRD LAST,
         "the covariance of compute and software stands there twice"},
        {BEGIN PART("compute", "-1", "0", "0", "0.1", "0") SECOND THIRD LAST, "is no covariance"},
        {BEGIN PART("compute", "nan", "0", "0", "0.1", "0") SECOND THIRD LAST, "r.yaml:11:"},
        {BEGIN "    - {part: compute, mean: 0, covariance: [1, 0]}\n" SECOND THIRD LAST,
         "'covariance' has 2 numbers and not 5"},
    };
    struct fr_recipe *r = NULL;
    struct fr_error err;

    ck_assert_msg(fr_recipe_read(&r, GOOD, strlen(GOOD), "r.yaml", &err) == FR_OK, "%s", err.text);
    fr_recipe_free(r);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[1024];

        err = (struct fr_error){.code = FR_OK};
        ck_assert(fr_recipe_read(&r, rows[i].text, strlen(rows[i].text), "r.yaml", &err) != FR_OK);
        fr_error_string(&err, text, sizeof(text));
        ck_assert_msg(strstr(text, rows[i].says) != NULL, "%zu: %s", i, text);
    }
}

int main(void)
{
    TCase *tc = tcase_create("recipe_fit");

    add_tests(tc);
    tcase_set_timeout(tc, 60);
    return run_case(tc, "recipe_fit");
}
