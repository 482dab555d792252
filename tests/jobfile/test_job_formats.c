/* tests/jobfile/test_job_formats.c - which number formats a job asks for: Megatron-LM's recipes and
 * torchtitan's converters, what is kept of parameters. */
#include "config.h"

#include "jobfile/facts.h"
#include "jobfile/read.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <string.h>

static struct fr_job *read_job(const char *name, const char *text)
{
    const struct fr__shell_text file = {name, text, strlen(text)};
    const struct fr_job_options o = {.files = &file.name, .n_files = 1};
    struct fr_job *j = NULL;
    struct fr_error err;

    if (fr__job_read_texts(&j, &o, &file, &err) != FR_OK)
        ck_abort_msg("%u:%u: %s", err.line, err.col, err.text);
    return j;
}

static const char *setting(const struct fr_job *j, const char *name)
{
    size_t n;
    const struct fr_job_setting *s = fr_job_setting(j, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(s[i].name, name) == 0)
            return s[i].text;
    return "not asked";
}

/* Megatron-Core's names of recipes, and torchtitan's converters. */
static const struct {
    const char *flags, *precision;
} recipes[] = {
    {"--fp8-format hybrid", "fp8"},
    {"--fp8-format hybrid --fp8-recipe delayed", "fp8-delayed"},
    {"--fp8-format hybrid --fp8-recipe tensorwise", "fp8-current"},
    {"--fp8-format e4m3 --fp8-recipe blockwise", "fp8-blockwise"},
    {"--fp8-format e4m3 --fp8-recipe mxfp8", "mxfp8"},
    {"--fp4-format e2m1 --fp4-recipe nvfp4", "nvfp4"},
    {"--fp8-recipe mxfp8", "bf16"}, /* no format: it is not on */
    {"--fp4-format e2m1 --first-last-layers-bf16", "nvfp4:first=1,last=1"},
    {"--fp4-format e2m1 --first-last-layers-bf16 --num-layers-at-start-in-bf16 2 "
     "--num-layers-at-end-in-bf16 0",
     "nvfp4:first=2,last=0"},
    {"--fp8-format e4m3 --fp8-recipe mxfp8 --no-fp8-wgrad", "mxfp8:wgrad=16"},
    {"--fp8-format hybrid --first-last-layers-bf16", "fp8-delayed:first=1,last=1"},
};

TEST(megatrons_number_format_recipes_are_asked)
{
    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
        char text[512];
        struct fr_job *j;

        snprintf(text, sizeof(text),
                 "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 256 "
                 "--num-attention-heads 4 --seq-length 128 --max-position-embeddings 128 "
                 "--micro-batch-size 1 --global-batch-size 8 --vocab-size 1024 --bf16 %s\n",
                 recipes[i].flags);
        j = read_job("a.sh", text);
        ck_assert_str_eq(fr_job_fact_value(j, "precision"), recipes[i].precision);
        fr_job_free(j);
    }
}

static const struct {
    const char *flags, *strategy; /* what its strategy has; NULL: no recipe */
} kept[] = {
    {"--fp8-format hybrid --fp8-recipe tensorwise --fp8-param-gather", "recipe=fp8-weights"},
    {"--fp8-format e4m3 --fp8-recipe mxfp8 --fp8-param-gather --grad-reduce-in-bf16",
     "recipe=fp8-nemo"},
    {"--fp4-format e2m1 --grad-reduce-in-bf16", "recipe=master16"},
    {"--grad-reduce-in-bf16", "recipe=master16"},
    {"--fp8-param-gather", NULL}, /* no format: it is not on */
    {"--fp8-format hybrid --grad-reduce-in-bf16", NULL},
};

TEST(weights_in_8_bits_and_gradients_in_16_are_asked)
{
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        char text[512];
        const char *strategy;
        struct fr_error err;
        struct fr_job *j;

        snprintf(text, sizeof(text),
                 "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 256 "
                 "--num-attention-heads 4 --seq-length 128 --max-position-embeddings 128 "
                 "--micro-batch-size 1 --global-batch-size 8 --vocab-size 1024 --bf16 %s\n",
                 kept[i].flags);
        j = read_job("a.sh", text);
        ck_assert_msg(fr_job_ask(j, &(struct fr_job_ask){.has_workload = false}, &err) == FR_OK,
                      "%s", err.text);
        strategy = setting(j, "strategy");
        ck_assert_msg(kept[i].strategy ? strstr(strategy, kept[i].strategy) != NULL
                                       : strstr(strategy, "recipe=") == NULL,
                      "%s: %s", kept[i].flags, strategy);
        fr_job_free(j);
    }
}

TEST(torchtitans_mx_converter_is_mxfp8)
{
    struct fr_job *j =
        read_job("a.toml", "[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = [\"mx\"]\n"
                           "[training]\nlocal_batch_size = 2\nseq_len = 8192\n"
                           "[parallelism]\ndata_parallel_shard_degree = 8\n");

    ck_assert_str_eq(fr_job_fact_value(j, "precision"), "mxfp8");
    fr_job_free(j);
}

int main(void)
{
    TCase *c = tcase_create("job formats");

    add_tests(c);
    return run_case(c, "job formats");
}
