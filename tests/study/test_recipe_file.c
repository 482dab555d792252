/* Recipes of training software: files, and what they do to a question. */
#include "config.h"

#include "study/recipes/recipe.h"
#include "study/recipes/usual.h"
#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define HEAD "recipe: r\nsummary: s\n"

static struct fr_recipe *read(const char *text)
{
    struct fr_recipe *r = NULL;
    struct fr_error err = {.code = FR_OK};

    ck_assert_msg(fr_recipe_read(&r, text, strlen(text), "r.yaml", &err) == FR_OK, "%s", err.text);
    return r;
}

TEST(every_shipped_recipe_reads_and_names_a_source_for_each_value)
{
    size_t n = 0;

    for (; fr_recipe_shipped(n); n++) {
        struct fr_recipe *r = NULL;
        struct fr_error err = {.code = FR_OK};
        size_t k = 0;

        ck_assert_msg(fr_recipe_load(&r, fr_recipe_shipped(n), &err) == FR_OK, "%s:%u: %s",
                      fr_recipe_shipped(n), err.line, err.text);
        ck_assert_str_eq(fr_recipe_name(r), fr_recipe_shipped(n));
        for (; fr_recipe_value(r, k); k++)
            ck_assert_uint_gt(strlen(fr_recipe_value(r, k)->source), 8);
        ck_assert_uint_gt(k, 0);
        fr_recipe_free(r);
        if (n > 0)
            ck_assert_int_lt(strcmp(fr_recipe_shipped(n - 1), fr_recipe_shipped(n)), 0);
    }
    ck_assert_uint_ge(n, 4);
}

TEST(a_file_that_is_wrong_is_refused_with_its_place)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "r.yaml:1:1:"},
        {"- a\n", "r.yaml:1:1:"},
        {"recipe: r\n", "summary"},
        {"recipe: ''\nsummary: s\n", "r.yaml:1:9: 'recipe' is empty"},
        {HEAD "strategies: []\n", "r.yaml:3:1:"},
        {HEAD "strategy: 3\n", "r.yaml:3:11:"},
        {HEAD "strategy:\n  - 3\n", "r.yaml:4:5:"},
        {HEAD "strategy:\n  - {option: first, value: 1MiB}\n", "source"},
        {HEAD "strategy:\n  - {option: fisrt, value: 1MiB, source: x}\n",
         "r.yaml:4:14: no strategy has an option 'fisrt'"},
        {HEAD "strategy:\n  - {option: first, value: 1, source: x}\n", "r.yaml:4:28:"},
        {HEAD "strategy:\n  - {option: copies-on, value: disk, source: x}\n", "r.yaml:4:32:"},
        {HEAD "strategy:\n  - {option: adds, value: 1, source: x}\n"
              "  - {option: adds, value: 2, source: x}\n",
         "r.yaml:5:14: option 'adds' is there twice"},
        {HEAD "question:\n  - {option: interfrence, value: 2, source: x}\n",
         "did you mean 'interference'?"},
        {HEAD "question:\n  - {option: interference, value: loud, source: x}\n", "r.yaml:4:35:"},
        {HEAD "question:\n  - {option: workload, value: lenet, source: x}\n",
         "no setting 'workload'"},
        {HEAD "left-out:\n  - [a]\n", "r.yaml:4:5:"},
        {HEAD "families: bert\n", "r.yaml:3:11:"},
        {HEAD "question:\n  - {option: fuse, value: glue, source: x}\n", "r.yaml:4:27:"},
        {HEAD "question:\n  - {option: nccl-version, value: 2.4, source: x}\n",
         "no NCCL '2.4'; known are 2.5 and later"},
        {HEAD "question:\n  - {option: input-rate, value: -1, source: x}\n", "r.yaml:4:33:"},
        {HEAD "base: pytorch-dpp\n",
         "r.yaml:3:7: no recipe 'pytorch-dpp', did you mean 'pytorch-ddp'?"},
        {HEAD "base: other.yaml\n", "r.yaml:3:7: 'other.yaml': only a file builds on a file"},
        {HEAD "base: ''\n", "r.yaml:3:7: 'base' is empty"},
        {HEAD "base: [a]\n", "r.yaml:3:7:"},
        {HEAD "strategy:\n  - {option: adds, value: 1, source: x, precision: amp}\n",
         "r.yaml:4:52:"},
        {HEAD "strategy:\n  - {option: adds, value: 1, source: x, precision: []}\n",
         "r.yaml:4:52: 'precision' names none"},
        {HEAD "strategy:\n  - {option: adds, value: 1, source: x, precision: [amp, fp12]}\n",
         "r.yaml:4:58: no precision is called 'fp12'"},
        {HEAD "strategy:\n  - {option: adds, value: 1, source: x, precision: [amp, fp16]}\n"
              "  - {option: adds, value: 2, source: x, precision: [fp16]}\n",
         "r.yaml:5:14: option 'adds' is there twice"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fr_recipe *r = NULL;
        struct fr_error err = {.code = FR_OK};
        char text[1024];

        ck_assert_int_eq(fr_recipe_read(&r, rows[i].text, strlen(rows[i].text), "r.yaml", &err),
                         FR_EPARSE);
        ck_assert_ptr_null(r);
        fr_error_string(&err, text, sizeof(text));
        ck_assert_msg(strstr(text, rows[i].says), "%s: %s", rows[i].says, text);
    }
}

static const char *usual_of(const char *workload, const char *strategy, enum fr_dtype dtype,
                            const char *recipe)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = workload;
    q.strategy = strategy;
    q.dtype = dtype;
    q.recipe = recipe;
    return fr_recipe_usual(&q);
}

TEST(the_usual_recipe_follows_model_division_and_format)
{
    static const struct {
        const char *workload, *strategy;
        enum fr_dtype dtype;
        const char *recipe; /* NULL: none */
    } rows[] = {
        {"bert-large:head=pooler", "dp", FR_AMP, "nvidia-pytorch-bert"},
        {"gpt3-175b", "hybrid:tp=8,pp=8,dp=2", FR_FP16, "megatron-lm"},
        {"gpt3-175b", "hybrid:tp=8,pp=8,dp=2", FR_BF16, "megatron-core"},
        {"llama3-8b", "hybrid:cp=2", FR_FP8, "megatron-core"},
        {"llama3-8b", "fsdp", FR_BF16, "torchtitan"},
        {"gpt3-13b", "hybrid:zero=3", FR_BF16, "torchtitan"},
        {"gpt3-13b", "hybrid:zero=1", FR_BF16, "megatron-core"},
        {"gpt2-small", "ddp", FR_FP32, "megatron-lm"},
        {"resnet50", "dp", FR_FP32, "pytorch-ddp"},
        {"wresnet-50-4", "single", FR_AMP, "pytorch-ddp"},
        /* nobody's software but the paper's */
        {"resnet50", "dp:sync=ps-cpu", FR_FP32, NULL},
        {"resnet50", "os-dpos", FR_FP32, NULL},
        {"bert-large", "pp:stages=4", FR_FP32, NULL},
        {"bert-large", "no-such-strategy", FR_FP32, NULL},
        {"bert-large", NULL, FR_FP32, NULL},
        {"folder/of/bert", "dp", FR_FP32, NULL},
        {NULL, "dp", FR_FP32, NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *recipe =
            usual_of(rows[i].workload, rows[i].strategy, rows[i].dtype, FR_RECIPE_DEFAULT);

        ck_assert_msg(recipe == rows[i].recipe ||
                          (recipe && rows[i].recipe && strcmp(recipe, rows[i].recipe) == 0),
                      "row %zu: %s", i, recipe ? recipe : "none");
    }
}

TEST(asked_for_each_model_has_a_usual_recipe)
{
    for (size_t i = 0; fr_zoo_name(i); i++)
        ck_assert_ptr_nonnull(usual_of(fr_zoo_name(i), "os-dpos", FR_FP32, "usual"));
    ck_assert_ptr_null(usual_of("folder/of/mine", "dp", FR_FP32, "usual"));
}

/* Each row of the table names a recipe that is shipped, or it would never be found. */
TEST(what_is_usual_is_shipped)
{
    char text[256];
    size_t n = 0;

    for (size_t i = 0; fr_recipe_shipped(i); i++)
        for (size_t k = 0; fr_recipe_usual_for(fr_recipe_shipped(i), k, text, sizeof(text)); k++)
            n++;
    ck_assert_uint_eq(n, fr__n_usual_software);
    ck_assert(!fr_recipe_usual_for("mine", 0, text, sizeof(text)));
}

/* What is assumed is the recipe itself, with a wider range, since nobody said that it is it. */
TEST(an_assumed_recipe_takes_the_time_of_the_one_that_is_named)
{
    const struct fr_context nothing = {0};
    struct fr_question q;
    struct fr_record *assumed, *named, *none;

    fr_question_init(&q);
    q.workload = "resnet18";
    q.topology = "dgx1-v100";
    q.n_gpus = 2;
    q.strategy = "dp";
    q.global_batch = 64;
    q.recipe = FR_RECIPE_DEFAULT;
    ck_assert_int_eq(fr_answer(&q, &nothing, &assumed, NULL), FR_OK);
    q.recipe = "pytorch-ddp";
    ck_assert_int_eq(fr_answer(&q, &nothing, &named, NULL), FR_OK);
    q.recipe = NULL;
    ck_assert_int_eq(fr_answer(&q, &nothing, &none, NULL), FR_OK);
    ck_assert_str_eq(assumed->recipe, "pytorch-ddp");
    ck_assert(assumed->is_recipe_assumed && !named->is_recipe_assumed);
    ck_assert(assumed->iteration_s == named->iteration_s); /* to the bit */
    ck_assert(assumed->iteration_s > none->iteration_s);
    ck_assert_ptr_null(none->recipe);
    fr_record_free(assumed);
    fr_record_free(named);
    fr_record_free(none);
}

TEST(a_recipe_without_values_is_one)
{
    struct fr_recipe *r = read(HEAD);

    ck_assert_ptr_null(fr_recipe_value(r, 0));
    ck_assert_ptr_null(fr_recipe_left_out(r, 0));
    fr_recipe_free(r);
}

static const struct fr_recipe_value *value_of(const struct fr_recipe *r, const char *option)
{
    const struct fr_recipe_value *v, *found = NULL;

    for (size_t i = 0; (v = fr_recipe_value(r, i)); i++)
        if (strcmp(v->option, option) == 0) {
            ck_assert_ptr_null(found);
            found = v;
        }
    return found;
}

TEST(a_recipe_has_the_values_of_its_base_but_for_its_own)
{
    struct fr_recipe *r = read(HEAD "base: pytorch-ddp\nstrategy:\n"
                                    "  - {option: bucket, value: 1GiB, source: x}\n");

    ck_assert_str_eq(fr_recipe_name(r), "r");
    ck_assert_str_eq(fr_recipe_base(r), "pytorch-ddp");
    ck_assert_str_eq(value_of(r, "bucket")->text, "1GiB");
    ck_assert_str_eq(value_of(r, "bucket")->from, "r");
    ck_assert_str_eq(value_of(r, "first")->from, "pytorch-ddp");
    ck_assert_str_eq(value_of(r, "gpu-variation")->from, "synchronous"); /* two levels down */
    ck_assert_ptr_nonnull(fr_recipe_left_out(r, 0));
    fr_recipe_free(r);
    r = read(HEAD "base: pytorch-ddp\nleft-out: []\n");
    ck_assert_ptr_null(fr_recipe_left_out(r, 0));
    fr_recipe_free(r);
}

/* A file of the test's folder with one line more than HEAD. */
static void write_recipe(const char *name, const char *line)
{
    FILE *f = fopen(name, "w");

    ck_assert_ptr_nonnull(f);
    fprintf(f, HEAD "%s\n", line);
    fclose(f);
}

TEST(bases_that_close_a_circle_or_are_deep_are_refused)
{
    struct fr_recipe *r = NULL;
    struct fr_error err;
    char name[64], line[80];

    write_recipe("./circle_a.yaml", "base: circle_b.yaml");
    write_recipe("./circle_b.yaml", "base: circle_a.yaml");
    ck_assert_int_eq(fr_recipe_load(&r, "./circle_a.yaml", &err), FR_EPARSE);
    assert_message(&err, "./circle_b.yaml:3:7: recipe './circle_a.yaml' builds on itself");
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "./deep_%d.yaml", i);
        snprintf(line, sizeof(line), i < 9 ? "base: deep_%d.yaml" : "left-out: [a]", i + 1);
        write_recipe(name, line);
    }
    ck_assert_int_eq(fr_recipe_load(&r, "./deep_0.yaml", &err), FR_EPARSE);
    assert_message(&err, "./deep_8.yaml:3:7: more than 8 recipes build on each other");
    ck_assert_int_eq(fr_recipe_load(&r, "./deep_1.yaml", &err), FR_OK);
    ck_assert_str_eq(fr_recipe_left_out(r, 0), "a");
    fr_recipe_free(r);
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "./deep_%d.yaml", i);
        remove(name);
    }
    remove("./circle_a.yaml");
    remove("./circle_b.yaml");
}

/* Which software sums gradients while the backward pass runs, and which at its end. */
TEST(recipes_say_what_hides_an_exchange)
{
    static const char *const rows[][3] = {
        {"nvidia-pytorch-bert", "0", "2.6.3"},
        {"tf2-mirrored", "0", "2.8.3"},
        {"tf2-bert", "0", "2.8.3"},
        {"tf2-bert-xla", "0", "2.8.3"},
        {"tf2-bert-multiworker", "0", "2.8.3"},
        {"mindspore-bert-fused", "0", "2.7.6"},
        {"tf-horovod-xla", "0", "2.6.3"},
        {"nvidia-tf-bert", "0", "2.6.3"},
        {"mindspore-bert", "1", "2.7.6"},
        {"tf-horovod", "1", "2.6.3"},
        {"gluonnlp-bert", "1", "2.6.3"},
        {"oneflow", "1", "2.9.8"},
        {"paddle1-bert", "1", "none"},
        {"pytorch-ddp", "1", "none"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct fr_recipe_value *v;
        struct fr_recipe *r = NULL;
        struct fr_error err;

        ck_assert_int_eq(fr_recipe_load(&r, rows[i][0], &err), FR_OK);
        ck_assert_msg(strcmp(value_of(r, "overlap")->text, rows[i][1]) == 0, "%s", rows[i][0]);
        v = value_of(r, "nccl-version");
        ck_assert_msg(strcmp(v ? v->text : "none", rows[i][2]) == 0, "%s", rows[i][0]);
        fr_recipe_free(r);
    }
}

/* Whose host launches updates when it knows that sums have ended, and whose for several GPUs. */
TEST(recipes_say_how_the_host_takes_part_in_an_exchange)
{
    static const char *const rows[][3] = {
        {"tf2-mirrored", "scaler+sum+step", "machine"},
        {"tf2-bert-multiworker", "scaler+sum+step", "machine"},
        {"tf2-multiworker", "scaler+sum+step", "machine"},
        {"paddle1-bert", "sum+step", "machine"},
        {"nvidia-tf-bert", "sum+step", "none"},
        {"gluonnlp-bert", "sum+step", "none"},
        {"mxnet-horovod", "sum", "none"},
        {"oneflow", "sum", "none"},
        {"pytorch-ddp", "scaler", "none"},
        {"mindspore-bert", "none", "none"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct fr_recipe_value *sync, *process;
        struct fr_recipe *r = NULL;
        struct fr_error err;

        ck_assert_int_eq(fr_recipe_load(&r, rows[i][0], &err), FR_OK);
        sync = value_of(r, "host-sync");
        process = value_of(r, "host-process");
        ck_assert_msg(strcmp(sync ? sync->text : "none", rows[i][1]) == 0, "%s", rows[i][0]);
        ck_assert_msg(strcmp(process ? process->text : "none", rows[i][2]) == 0, "%s", rows[i][0]);
        fr_recipe_free(r);
    }
}

/* A recipe decides it before the topology is loaded. */
TEST(a_recipe_may_say_that_messages_go_over_sockets)
{
    static const char text[] = "recipe: s\nsummary: s\nquestion:\n"
                               "  - {option: transport, value: sockets, source: x}\n";
    struct fr_record *plain, *slow;
    struct fr_error err = {.text = ""};
    struct fr_question q;
    FILE *f = fopen("./sockets.yaml", "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    fr_question_init(&q);
    q.workload = "vgg16";
    q.topology = "2x p3.16xlarge via ib:100Gbps";
    q.strategy = "dp";
    q.batch_per_gpu = 4;
    ck_assert_int_eq(fr_answer(&q, NULL, &plain, &err), FR_OK);
    q.recipe = "./sockets.yaml";
    ck_assert_msg(fr_answer(&q, NULL, &slow, &err) == FR_OK, "%s", err.text);
    ck_assert_double_gt(slow->iteration_s, 1.5 * plain->iteration_s);
    fr_record_free(slow);
    q.transport = FR_TRANSPORT_VERBS; /* what is typed goes before */
    ck_assert_int_eq(fr_answer(&q, NULL, &slow, &err), FR_OK);
    ck_assert_double_eq(slow->iteration_s, plain->iteration_s);
    fr_record_free(slow);
    fr_record_free(plain);
    remove("./sockets.yaml");
}

TEST(an_unknown_name_has_the_nearest_beside_it)
{
    struct fr_recipe *r = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_recipe_load(&r, "pytorch-dpp", &err), FR_EUSAGE);
    assert_message(&err, "no recipe 'pytorch-dpp', did you mean 'pytorch-ddp'?");
}

static double seconds_in(enum fr_dtype dtype, const char *strategy, const char *recipe,
                         unsigned gpus)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;
    double s;

    fr_question_init(&q);
    q.workload = "lenet";
    q.topology = "dgx1-v100";
    q.strategy = strategy;
    q.recipe = recipe;
    q.gpu_variation = -1; /* GPUs are alike */
    q.dtype = dtype;
    q.n_gpus = gpus;
    q.global_batch = 64;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    s = r->iteration_s;
    fr_record_free(r);
    return s;
}

static double seconds(const char *strategy, const char *recipe, unsigned gpus)
{
    return seconds_in(FR_N_DTYPES, strategy, recipe, gpus);
}

TEST(a_value_of_some_precisions_holds_in_these_alone)
{
    const char *name = "./precisions.yaml";

    write_recipe(name, "strategy:\n"
                       "  - {option: passes, value: 5, source: x, precision: [amp, fp16]}\n"
                       "  - {option: passes, value: 2, source: x, precision: [bf16]}");
    ck_assert_double_eq(seconds_in(FR_AMP, "single", name, 1),
                        seconds_in(FR_AMP, "single:passes=5", NULL, 1));
    ck_assert_double_eq(seconds_in(FR_BF16, "single", name, 1),
                        seconds_in(FR_BF16, "single:passes=2", NULL, 1));
    ck_assert_double_eq(seconds("single", name, 1), seconds("single", NULL, 1));
    ck_assert_double_gt(seconds("single:passes=2", NULL, 1), seconds("single", NULL, 1));
    remove(name);
}

TEST(a_recipe_is_its_options)
{
    double typed = seconds("dp:overlap=0,bucket=1TiB,passes=3", NULL, 4);

    ck_assert_double_eq(seconds("dp", "nvidia-paddle-bert", 4), typed);
    ck_assert_double_gt(typed, seconds("dp", NULL, 4));
}

static double llama_s(const char *strategy, const char *recipe, const char *fuse)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;
    double s;

    fr_question_init(&q);
    q.workload = "llama:layers=4,hidden=512,ffn=1024,heads=8,kv_heads=4,seq=256,vocab=1000";
    q.topology = "hgx-h100";
    q.strategy = strategy;
    q.recipe = recipe;
    q.gpu_variation = -1;
    q.dtype = FR_BF16;
    q.global_batch = 8;
    ck_assert_int_eq(fr_question_set(&q, "optimizer", "adam", &err), FR_OK);
    if (fuse) {
        ck_assert_int_eq(fr_question_set(&q, "fuse", fuse, &err), FR_OK);
        ck_assert_int_eq(fr_question_set(&q, "update", "apex-adam", &err), FR_OK);
        ck_assert_int_eq(fr_question_set(&q, "host-sync", "norm", &err), FR_OK);
        ck_assert_int_eq(fr_question_set(&q, "interference", "measured-or-published", &err), FR_OK);
    }
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    s = r->iteration_s;
    fr_record_free(r);
    return s;
}

/* Where nothing is split by tensors, or sp=0 is typed, tensor messages cannot overlap, and the
 * recipe refuses nothing. */
TEST(megatron_core_is_its_settings)
{
    static const char fuse[] =
        "bias-activation+gated-activation+bias-dropout-add+scale-mask-softmax";

    ck_assert_double_eq(
        llama_s("hybrid:tp=2,pp=2,micro=1", "megatron-core", NULL),
        llama_s("hybrid:tp=2,pp=2,micro=1,zero=1,sp=1,overlap-gather=1,adds=1,passes=3", NULL,
                fuse));
    ck_assert_double_eq(llama_s("hybrid:tp=2,pp=2,micro=1", "megatron-bridge", NULL),
                        llama_s("hybrid:tp=2,pp=2,micro=1,tp-overlap=1", "megatron-core", NULL));
    ck_assert_double_eq(llama_s("hybrid:tp=2,sp=0,micro=1", "megatron-bridge", NULL),
                        llama_s("hybrid:tp=2,sp=0,micro=1", "megatron-core", NULL));
    ck_assert_double_eq(llama_s("hybrid:micro=1", "megatron-bridge", NULL),
                        llama_s("hybrid:micro=1", "megatron-core", NULL));
    ck_assert_double_gt(llama_s("hybrid:zero=3,micro=1", "megatron-bridge", NULL), 0);
}

TEST(what_the_user_types_goes_before_the_recipe)
{
    ck_assert_double_eq(seconds("dp:overlap=1,copies-in=0,copies-out=0,passes=0,bucket=25MiB",
                                "nvidia-paddle-bert", 4),
                        seconds("dp", NULL, 4));
}

TEST(strategies_without_an_option_are_as_before)
{
    const char *name = "./copies.yaml";

    write_recipe(name, "strategy:\n"
                       "  - {option: overlap, value: 0, source: x}\n"
                       "  - {option: copies-in, value: 2, source: x}");
    ck_assert_double_eq(seconds("mp", name, 2), seconds("mp", NULL, 2));
    ck_assert_double_eq(seconds("dp:sync=ps-cpu,overlap=1", name, 2),
                        seconds("dp:sync=ps-cpu", NULL, 2));
    remove(name);
}

TEST(keys_of_questions_without_a_recipe_stay)
{
    struct fr_question q;
    char *key;

    fr_question_init(&q);
    key = fr_question_key(&q);
    ck_assert_ptr_null(strstr(key, "recipe"));
    free(key);
    q.recipe = "pytorch-ddp";
    key = fr_question_key(&q);
    ck_assert_ptr_nonnull(strstr(key, "|recipe=pytorch-ddp"));
    free(key);
}

int main(void)
{
    TCase *c = tcase_create("recipe");

    add_tests(c);
    return run_case(c, "study/recipe_file");
}
