/* tests/jobfile/test_job.c - jobs of our own: which facts they state, what is asked for them, and
 * what stands in the way. */
#include "config.h"

#include "jobfile/facts.h"
#include "jobfile/read.h"
#include "study/study.h"
#include "tests/support/base_check.h"
#include "workloads/workloads.h"

#include <stdio.h>
#include <string.h>

static const char script[] =
    "#!/bin/bash\n"
    "#SBATCH --nodes=4\n"
    "TP=8\n"
    "MODEL_ARGS=(\n"
    "  --num-layers 32 --hidden-size 4096 --num-attention-heads 32\n"
    "  --group-query-attention --num-query-groups 8\n"
    "  --ffn-hidden-size 14336 --swiglu --normalization RMSNorm\n"
    "  --position-embedding-type rope --disable-bias-linear\n"
    "  --untie-embeddings-and-output-weights\n"
    "  --vocab-size 100000 # padded to 128 x 8\n"
    ")\n"
    "torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 pretrain_gpt.py \\\n"
    "  ${MODEL_ARGS[@]} --seq-length 4096 --micro-batch-size 1 \\\n"
    "  --global-batch-size $((64*4)) --tensor-model-parallel-size $TP \\\n"
    "  --pipeline-model-parallel-size 2 --use-distributed-optimizer \\\n"
    "  --num-layers-per-virtual-pipeline-stage 4 --sequence-parallel \\\n"
    "  --bf16 --lr 1e-4 --overlap-grad-reduce --recompute-granularity "
    "full --recompute-method uniform --recompute-num-layers 1\n";

static enum fr_status read_as(struct fr_job **out, const char *name, const char *text,
                              const char *value, bool is_lenient, struct fr_error *err)
{
    const struct fr__shell_text file = {name, text, strlen(text)};
    const struct fr_job_options o = {.files = &file.name,
                                     .n_files = 1,
                                     .values = &value,
                                     .n_values = value != NULL,
                                     .is_lenient = is_lenient};

    *err = (struct fr_error){.code = FR_OK};
    return fr__job_read_texts(out, &o, &file, err);
}

static struct fr_job *read_job(const char *name, const char *text)
{
    struct fr_job *j = NULL;
    struct fr_error err;

    if (read_as(&j, name, text, NULL, false, &err) != FR_OK)
        ck_abort_msg("%u:%u: %s", err.line, err.col, err.text);
    return j;
}

static void assert_fact(const struct fr_job *j, const char *name, const char *value)
{
    const char *is = fr_job_fact_value(j, name);

    ck_assert_msg((!is && !value) || (is && value && strcmp(is, value) == 0),
                  "%s is %s, expected %s", name, is ? is : "not set", value ? value : "not set");
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

static void assert_asks(struct fr_job *j, const char *const pairs[][2], size_t n)
{
    struct fr_error err = {.code = FR_OK};
    struct fr_question q;

    if (fr_job_ask(j, &(struct fr_job_ask){.has_workload = false}, &err) != FR_OK)
        ck_abort_msg("%u:%u: %s", err.line, err.col, err.text);
    fr_question_init(&q);
    for (size_t i = 0; i < n; i++) {
        ck_assert_str_eq(setting(j, pairs[i][0]), pairs[i][1]);
        ck_assert_int_eq(fr_question_set(&q, pairs[i][0], pairs[i][1], &err), FR_OK);
    }
}

TEST(a_script_states_its_facts)
{
    static const char *const facts[][2] = {
        {"tp", "8"},           {"pp", "2"},           {"dp", "2"},          {"gpus", "32"},
        {"batch", "256"},      {"micro_batch", "1"},  {"sequence", "4096"}, {"precision", "bf16"},
        {"recompute", "full"}, {"optimizer", "adam"}, {"zero", "1"},        {"virtual", "4"},
        {"kv_heads", "8"},     {"vocab", "100352"},   {"cp", "1"},          {"expert_layers", NULL},
    };
    struct fr_job *j = read_job("a.sh", script);

    ck_assert_str_eq(fr_job_summary(j)->framework, "megatron-lm");
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        assert_fact(j, facts[i][0], facts[i][1]);
    ck_assert_uint_eq(fr_job_summary(j)->n[FR_JOB_NO_EFFECT], 1); /* --lr */
    ck_assert_uint_eq(fr_job_summary(j)->n[FR_JOB_NOT_MODELLED], 0);
    fr_job_free(j);
}

TEST(a_script_becomes_a_question)
{
    static const char *const asked[][2] = {
        {"workload", "llama:layers=32,attention=flash,hidden=4096,ffn=14336,heads=32,kv_heads=8,"
                     "vocab=100352,tied=0"},
        {"strategy", "hybrid:tp=8,pp=2,sp=1,micro=1,virtual=4,zero=1,overlap=1,overlap-gather=0,"
                     "recompute=full"},
        {"batch", "256"},
        {"seq-len", "4096"},
        {"precision", "bf16"},
        {"optimizer", "adam"},
        {"recipe", "megatron-core"},
        {"gpus", "32"},
    };
    struct fr_job *j = read_job("a.sh", script);

    assert_asks(j, asked, sizeof(asked) / sizeof(asked[0]));
    fr_job_free(j);
}

TEST(values_from_outside_hold)
{
    struct fr_job *j = NULL;
    struct fr_error err;

    ck_assert_int_eq(read_as(&j, "a.sh", script, "TP=4", false, &err), FR_OK);
    assert_fact(j, "tp", "4");
    assert_fact(j, "dp", "4");
    assert_fact(j, "vocab", "100352"); /* padded to 128 x 4 alike */
    fr_job_free(j);
}

TEST(megatrons_yaml_has_the_same_arguments)
{
    static const char text[] = "TEST_TYPE: release\n"
                               "MODEL_ARGS:\n"
                               "  --num-layers: 14 # of 61\n"
                               "  --moe-layer-freq: ([0]*3+[1]*11)\n"
                               "  --num-experts: 64\n"
                               "  --tensor-model-parallel-size: 2\n"
                               "  --swiglu: true\n"
                               "  --bf16: false\n"
                               "  --data-path: ${DATA}\n"
                               "  --micro-batch-size: 1\n";
    struct fr_job *j = read_job("a.yaml", text);

    assert_fact(j, "layers", "14");
    assert_fact(j, "tp", "2");
    assert_fact(j, "gated", "1");
    assert_fact(j, "precision", "fp32");
    assert_fact(j, "dense_first", "3");
    assert_fact(j, "expert_layers", "1");
    fr_job_free(j);
}

TEST(deepspeeds_fork_says_more)
{
    static const char text[] =
        "A=\" --deepspeed --zero-stage 3 --checkpoint-activations \"\n"
        "deepspeed --num_nodes=2 --num_gpus 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 "
        "--num-attention-heads 16 --seq-length 1024 --micro-batch-size 4 --global-batch-size 64 "
        "--fp16 --merge-file m.txt --max-position-embeddings 1024 $A\n";
    struct fr_job *j = read_job("a.sh", text);

    ck_assert_str_eq(fr_job_summary(j)->framework, "megatron-deepspeed");
    assert_fact(j, "zero", "3");
    assert_fact(j, "recompute", "full");
    assert_fact(j, "gpus", "16");
    assert_fact(j, "precision", "fp16");
    assert_fact(j, "recipe", "deepspeed-zero3");
    assert_fact(j, "vocab", "50304"); /* 50257 words of GPT-2, padded to 128 */
    fr_job_free(j);
}

static void assert_refused(const char *text, enum fr_status st, unsigned line, unsigned col,
                           const char *part)
{
    struct fr_job *j = NULL;
    struct fr_error err;

    ck_assert_int_eq(read_as(&j, "a.sh", text, NULL, false, &err), st);
    ck_assert_msg(err.line == line && err.col == col, "%u:%u: %s", err.line, err.col, err.text);
    ck_assert_msg(strstr(err.text, part) != NULL, "%s", err.text);
    ck_assert_ptr_null(j);
}

TEST(what_is_unknown_is_refused_where_it_stands)
{
#define KNOWN "python t.py --num-layers 2 --hidden-size 8 --bf16 "
    assert_refused(KNOWN "\\\n --num-layrs 3\n", FR_EPARSE, 2, 2, "num-layers");
    assert_refused(KNOWN "--micro-batch-size two\n", FR_EPARSE, 1, 51, "\"two\"");
    assert_refused(KNOWN "--micro-batch-size\n", FR_EPARSE, 1, 51, "no value");
    assert_refused(KNOWN "--micro-batch-size 0\n", FR_EPARSE, 1, 51, "at least 1");
    assert_refused(KNOWN "--recompute-granularity some\n", FR_EPARSE, 1, 51, "full");
    assert_refused("echo --num-layers 2\n", FR_EPARSE, 0, 0, "none of the 0 commands");
}

/* dist_muon shares out whole matrices by itself. */
TEST(a_layer_wise_optimizer_shares_its_states_out)
{
    struct fr_job *j = read_job("a.sh", KNOWN "--optimizer dist_muon --muon-momentum 0.9\n");

    assert_fact(j, "optimizer", "muon");
    assert_fact(j, "zero", "1");
    fr_job_free(j);
}

/* One value of an argument may be what is counted, and others not. */
TEST(a_value_of_an_argument_may_have_a_verdict)
{
    struct fr_job *j = read_job("a.sh", KNOWN "--moe-token-dispatcher-type alltoall "
                                              "--empty-unused-memory-level 1\n");

    ck_assert_uint_eq(fr_job_summary(j)->n[FR_JOB_NOT_MODELLED], 1); /* the memory level */
    ck_assert_uint_eq(fr_job_summary(j)->n[FR_JOB_NO_EFFECT], 1);
    fr_job_free(j);
    j = read_job("a.sh", KNOWN "--moe-token-dispatcher-type flex\n");
    ck_assert_uint_eq(fr_job_summary(j)->n[FR_JOB_NOT_MODELLED], 1);
    fr_job_free(j);
    j = read_job("a.yml", "base_model: m\nmicro_batch_size: 1\nsequence_len: 8\nfsdp:\n"
                          "pad_to_sequence_len: true\n");
    ck_assert_uint_eq(fr_job_summary(j)->n[FR_JOB_NOT_MODELLED], 1);
    ck_assert_uint_eq(fr_job_summary(j)->n[FR_JOB_NO_EFFECT], 1); /* fsdp, which is empty */
    fr_job_free(j);
}

TEST(a_lenient_reading_notes_what_is_unknown)
{
    struct fr_job *j = NULL;
    struct fr_error err;

    ck_assert_int_eq(read_as(&j, "a.sh", KNOWN "--num-layrs 3\n", NULL, true, &err), FR_OK);
    ck_assert_uint_eq(fr_job_summary(j)->n[FR_JOB_UNKNOWN], 1);
    ck_assert_uint_eq(fr_job_summary(j)->n_notes, 1);
    ck_assert_ptr_nonnull(strstr(fr_job_summary(j)->notes[0], "--num-layrs"));
    assert_fact(j, "layers", "2");
    fr_job_free(j);
}

TEST(a_fact_that_waits_for_a_variable_is_noted)
{
    struct fr_job *j = read_job("a.sh", KNOWN "--micro-batch-size $MBS\n");

    assert_fact(j, "micro_batch", NULL);
    ck_assert_uint_eq(fr_job_summary(j)->n_notes, 1);
    ck_assert_ptr_nonnull(strstr(fr_job_summary(j)->notes[0], "--set 'MBS=VALUE'"));
    fr_job_free(j);
}

static void assert_not_asked(const char *more, const char *part)
{
    char text[2048];
    struct fr_job *j;
    struct fr_error err;

    snprintf(text, sizeof(text), "%.*s %s\n", (int)strlen(script) - 1, script, more);
    j = read_job("a.sh", text);
    ck_assert_msg(fr_job_ask(j, &(struct fr_job_ask){.has_workload = false}, &err) != FR_OK, "%s",
                  more);
    ck_assert_msg(err.line == 17, "%u: %s", err.line, err.text);
    ck_assert_msg(strstr(err.text, part) != NULL, "%s", err.text);
    fr_job_free(j);
}

/* What is read need not be askable; the argument in the way is named. */
TEST(what_cannot_be_asked_names_its_argument)
{
    assert_not_asked("--is-hybrid-model", "--is-hybrid-model");
    assert_not_asked("--softmax-type off-by-one", "--softmax-type");
    assert_not_asked("--window-size 128,128", "--window-size");
    assert_not_asked("--num-experts 8 --moe-layer-freq [0,1,1,0]", "--moe-layer-freq");
    assert_not_asked("--num-experts 8 --moe-ffn-hidden-size 512 "
                     "--moe-shared-expert-intermediate-size 700",
                     "--moe-shared-expert-intermediate-size");
    assert_not_asked("--optimizer lamb", "lamb");
    assert_not_asked("--global-batch-size $GBS", "--set 'GBS=VALUE'");
}

/* ---- which model ---- */

#define MODEL                                                                                      \
    "python pretrain_gpt.py --num-layers 8 --hidden-size 512 --ffn-hidden-size 1024 "              \
    "--num-attention-heads 40 --kv-channels 64 --swiglu --normalization RMSNorm --seq-length "     \
    "4096 --position-embedding-type rope --micro-batch-size 1 --global-batch-size 8 --bf16 "       \
    "--padded-vocab-size 1000 --untie-embeddings-and-output-weights "
#define SIZES "layers=8,attention=flash,hidden=512,ffn=1024,heads=40,"

static void assert_workload(const char *name, const char *text, const char *workload)
{
    struct fr_job *j = read_job(name, text);
    const char *const asked[][2] = {{"workload", workload}};

    assert_asks(j, asked, 1);
    fr_job_free(j);
}

/* A model that has as many heads of keys and values as of queries says so: else the zoo's number
 * would stand. */
TEST(a_model_says_its_heads)
{
    assert_workload("a.sh", MODEL "--disable-bias-linear\n",
                    "llama:" SIZES "kv_heads=40,head_width=64,vocab=1000,tied=0");
}

TEST(latent_attention_becomes_a_decoder)
{
    assert_workload("a.sh",
                    MODEL "--disable-bias-linear --multi-latent-attention --qk-layernorm "
                          "--q-lora-rank 96 --kv-lora-rank 48 --qk-head-dim 32 "
                          "--qk-pos-emb-head-dim 16 --v-head-dim 24 --mtp-num-layers 1 "
                          "--num-experts 16 --moe-router-topk 4 --moe-ffn-hidden-size 128 "
                          "--moe-shared-expert-intermediate-size 256 --moe-layer-freq "
                          "[0]*2+[1]*6 --moe-router-score-function sigmoid "
                          "--moe-router-num-groups 4 --rotary-percent 1.0\n",
                    "decoder:" SIZES
                    "kv_heads=40,vocab=1000,tied=0,q_rank=96,kv_rank=48,rope_width=16,"
                    "nope_width=32,value_width=24,experts=16,chosen=4,expert_ffn=128,"
                    "shared_experts=2,dense_first=2,router=sigmoid,groups=4,mtp=1");
}

TEST(windows_sinks_and_biases_become_a_decoder)
{
    assert_workload("a.sh",
                    MODEL "--group-query-attention --num-query-groups 8 --window-size 127,0 "
                          "--window-attn-skip-freq 2 --softmax-type learnable --quick-geglu "
                          "--num-experts 4 --moe-router-topk 2 --rotary-percent 0.5\n",
                    "decoder:" SIZES
                    "kv_heads=8,head_width=64,vocab=1000,tied=0,experts=4,chosen=2,"
                    "expert_ffn=1024,mixers=w,full_every=2,window=128,rotary=50,sinks=1,"
                    "qkv_bias=1,o_bias=1,mlp_bias=1,expert_bias=1,router_bias=1");
}

/* The ranks of a stage must hold all experts: an example that says one machine is asked of the
 * whole cluster. */
TEST(machines_that_hold_no_replica_are_not_taken)
{
#define EXPERTS                                                                                    \
    "torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 "     \
    "--micro-batch-size 1 --global-batch-size 32 --bf16 --num-experts 8 "                          \
    "--expert-model-parallel-size 8 "
    struct fr_job *j = read_job("a.sh", EXPERTS "--pipeline-model-parallel-size 4\n");

    assert_fact(j, "gpus", NULL);
    assert_fact(j, "dp", NULL);
    ck_assert_ptr_nonnull(strstr(fr_job_summary(j)->notes[0], "a replica of 32 ranks"));
    fr_job_free(j);
    j = read_job("a.sh", EXPERTS "\n");
    assert_fact(j, "gpus", "8");
    assert_fact(j, "dp", "8");
    fr_job_free(j);
}

/* A shared expert with a gate is another one than those without (Qwen2). */
TEST(a_shared_expert_may_have_a_gate)
{
    assert_workload("a.sh",
                    MODEL "--disable-bias-linear --num-experts 4 --moe-ffn-hidden-size 128 "
                          "--moe-shared-expert-intermediate-size 700 --moe-shared-expert-gate\n",
                    "mixtral:layers=8,attention=flash,hidden=512,ffn=128,heads=40,kv_heads=40,"
                    "head_width=64,vocab=1000,tied=0,experts=4,chosen=2,shared=700");
}

TEST(experts_in_some_layers_become_a_decoder)
{
#define SPARSE MODEL "--disable-bias-linear --num-experts 4 --qk-layernorm --moe-layer-freq "
#define SPARSE_SIZES                                                                               \
    "decoder:" SIZES "kv_heads=40,head_width=64,vocab=1000,tied=0,qk_norm=1,experts=4,chosen=2,"   \
    "expert_ffn=1024,experts_every=2,"
    assert_workload("a.sh", SPARSE "2\n", SPARSE_SIZES "experts_at=0");
    assert_workload("a.sh", SPARSE "'([1,0]*4)'\n", SPARSE_SIZES "experts_at=0");
    assert_workload("a.sh", SPARSE "'([0,1]*4)'\n", SPARSE_SIZES "experts_at=1");
}

TEST(a_share_is_of_whole_hundredths)
{
    struct fr_job *j = NULL;
    struct fr_error err;

    ck_assert_int_eq(read_as(&j, "a.sh",
                             "python t.py --num-layers 2 --hidden-size 8 --bf16 --rotary-percent "
                             "0.333\n",
                             NULL, false, &err),
                     FR_EPARSE);
    ck_assert_ptr_nonnull(strstr(err.text, "hundredths"));
}

/* Parameters of a model that a job names: of the classes of Transformers for the published
 * config.json (SmolLM3, gpt-oss-120b: of its card). */
TEST(a_model_that_is_named_has_its_parameters)
{
    static const struct {
        const char *name;
        uint64_t n;
    } named[] = {
        {"deepseek-ai/DeepSeek-V3", 671026404352},
        {"moonshotai/Kimi-K2-Base", 1026408209408},
        {"openai/gpt-oss-20b", 20914757184},
        {"openai/gpt-oss-120b", 116829156672},
        {"Qwen/Qwen3-0.6B", 596049920},
        {"Qwen/Qwen3-8B", 8190735360},
        {"Qwen/Qwen3-32B", 32762123264},
        {"Qwen/Qwen3-30B-A3B", 30532122624},
        {"Qwen/Qwen3-235B-A22B", 235093634560},
        {"zai-org/GLM-4.5-Air", 106852245504},
        {"HuggingFaceTB/SmolLM3-3B", 3075098624},
    };

    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        char text[300];
        struct fr_job *j;
        struct fr_graph *g;
        struct fr_graph_totals totals;
        struct fr_error err = {.code = FR_OK};

        snprintf(text, sizeof(text), "base_model: %s\nmicro_batch_size: 1\nsequence_len: 4096\n",
                 named[i].name);
        j = read_job("a.yml", text);
        ck_assert_int_eq(fr_job_ask(j, &(struct fr_job_ask){.n_gpus = 1}, &err), FR_OK);
        ck_assert_msg(fr_workload_load(&g, setting(j, "workload"), NULL, &err) == FR_OK, "%s",
                      err.text);
        fr_graph_totals(g, &totals);
        ck_assert_msg(totals.params == named[i].n, "%s: %llu", named[i].name,
                      (unsigned long long)totals.params);
        fr_graph_free(g);
        fr_job_free(j);
    }
}

TEST(torchtitans_flavour_is_the_model)
{
    assert_workload("a.toml",
                    "[model]\nname = \"deepseek_v3\"\nflavor = \"671B\"\n[training]\n"
                    "local_batch_size = 4\nseq_len = 4096\n",
                    "decoder:layers=61,hidden=7168,ffn=18432,heads=128,vocab=129280,q_rank=1536,"
                    "kv_rank=512,experts=256,chosen=8,expert_ffn=2048,shared_experts=1,"
                    "dense_first=3,router=sigmoid,groups=8,kv_heads=128");
}

/* ---- trees of keys ---- */

static void assert_facts(const char *name, const char *text, const char *framework,
                         const char *const facts[][2], size_t n)
{
    struct fr_job *j = read_job(name, text);

    ck_assert_str_eq(fr_job_summary(j)->framework, framework);
    for (size_t i = 0; i < n; i++)
        assert_fact(j, facts[i][0], facts[i][1]);
    fr_job_free(j);
}
#define FACTS(name, text, framework, ...)                                                          \
    do {                                                                                           \
        static const char *const facts_[][2] = {__VA_ARGS__};                                      \
        assert_facts(name, text, framework, facts_, sizeof(facts_) / sizeof(facts_[0]));           \
    } while (0)

TEST(torchtitans_toml_states_its_facts)
{
    FACTS("a.toml",
          "[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = [\"float8\"]\n[training]\n"
          "local_batch_size = 2\nseq_len = 8192\n[parallelism]\ndata_parallel_shard_degree = 8\n"
          "tensor_parallel_degree = 2\n[activation_checkpoint]\nmode = \"full\"\n",
          "torchtitan", {"tp", "2"}, {"dp", "8"}, {"gpus", "16"}, {"micro_batch", "2"},
          {"batch", "16"}, {"precision", "fp8"}, {"recompute", "full"}, {"zero", "3"});
}

TEST(deepspeeds_json_states_its_facts)
{
    FACTS("a.json",
          "{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 4,\n"
          "\"gradient_accumulation_steps\": 2, \"zero_optimization\": {\"stage\": 2},\n"
          "\"bf16\": {\"enabled\": true}, \"fp16\": {\"enabled\": false},\n"
          "\"optimizer\": {\"type\": \"AdamW\", \"params\": {\"lr\": 1e-4}}}\n",
          "deepspeed", {"batch", "64"}, {"micro_batch", "4"}, {"dp", "8"}, {"zero", "2"},
          {"precision", "bf16"}, {"optimizer", "adam"}, {"recipe", "deepspeed"});
}

TEST(yaml_of_other_frameworks_states_its_facts)
{
    FACTS("a.yml",
          "base_model: some/model\nmicro_batch_size: 1\ngradient_accumulation_steps: 4\n"
          "sequence_len: 8192\ndp_shard_size: 2\ntensor_parallel_size: 2\n"
          "context_parallel_size: 2\nfsdp_version: 2\ngradient_checkpointing: true\n"
          "optimizer: adamw_torch_fused\nbf16: auto\n",
          "axolotl", {"tp", "2"}, {"cp", "2"}, {"dp", "2"}, {"gpus", "8"}, {"batch", "8"},
          {"zero", "3"}, {"recompute", "full"}, {"optimizer", "adam"}, {"precision", "bf16"});
    FACTS("a.yaml",
          "variables:\n  len: 2048\nmax_seq_len: ${variables.len}\nmodel:\n  name: mpt_causal_lm\n"
          "  d_model: 512\n  n_heads: 8\n  n_layers: 4\n  expansion_ratio: 3\n"
          "global_train_batch_size: 64\ndevice_train_microbatch_size: auto\nprecision: amp_bf16\n"
          "fsdp_config:\n  sharding_strategy: FULL_SHARD\n  activation_checkpointing: true\n",
          "llm-foundry", {"sequence", "2048"}, {"batch", "64"}, {"micro_batch", NULL},
          {"ffn", "1536"}, {"zero", "3"}, {"recompute", "full"}, {"precision", "bf16"});
    FACTS("a.yaml",
          "trainer:\n  num_nodes: 4\n  devices: 8\n  precision: bf16\nmodel:\n"
          "  micro_batch_size: 1\n  global_batch_size: 64\n  tensor_model_parallel_size: 4\n"
          "  hidden_size: 512\n  ffn_hidden_size: ${multiply:4, ${.hidden_size}}\n"
          "  optim:\n    name: distributed_fused_adam\n",
          "nemo", {"gpus", "32"}, {"dp", "8"}, {"ffn", "2048"}, {"zero", "1"},
          {"optimizer", "adam"});
    FACTS("a.yml",
          "{\"pipe_parallel_size\": 0, \"model_parallel_size\": 2, \"num_layers\": 4,\n"
          "\"no_weight_tying\": true, \"fp16\": {\"enabled\": true}, \"pos_emb\": \"rotary\",\n"
          "\"zero_optimization\": {\"stage\": 1, \"cpu_offload\": False},}\n",
          "gpt-neox", {"pp", "1"}, {"tp", "2"}, {"tied", "0"}, {"position", "rope"}, {"zero", "1"},
          {"precision", "fp16"});
    FACTS("a.yaml",
          "parallelism:\n  dp: 4\n  tp: 2\n  pp: 1\n  recompute_layer: false\ntokens:\n"
          "  micro_batch_size: 2\n  batch_accumulation_per_replica: 8\n  sequence_length: 1024\n"
          "model:\n  dtype: bfloat16\n",
          "nanotron", {"gpus", "8"}, {"batch", "64"}, {"sequence", "1024"}, {"recompute", "none"});
    FACTS("a.yaml",
          "model_name_or_path: some/model\nfinetuning_type: full\nper_device_train_batch_size: 8\n"
          "cutoff_len: 512\nbf16: true\n",
          "llama-factory", {"micro_batch", "8"}, {"sequence", "512"}, {"recompute", "full"});
}

/* What a job of a framework asks for with --tune; NULL: nothing. */
static const struct {
    const char *text, *tune;
} tunings[] = {
    {"model_name_or_path: m\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 1\n"
     "finetuning_type: lora\n",
     "lora:rank=8,targets=all"},
    {"model_name_or_path: m\nper_device_train_batch_size: 1\nfinetuning_type: lora\n"
     "lora_rank: 16\nlora_target: q_proj,v_proj\nlora_dropout: 0.1\nquantization_bit: 4\n"
     "additional_target: embed_tokens,lm_head\nlora_alpha: 32\n",
     "qlora:rank=16,dropout=0.1,targets=q_proj+v_proj,train=embed_tokens+lm_head"},
    {"model_name_or_path: m\nper_device_train_batch_size: 1\nfinetuning_type: full\n", NULL},
    {"model_name_or_path: m\nper_device_train_batch_size: 1\nbf16: true\nuse_peft: true\n"
     "load_in_4bit: true\nlora_target_modules: [q_proj, v_proj]\n",
     "qlora:rank=16,double=0,targets=q_proj+v_proj"},
    {"base_model: m\nadapter: qlora\nload_in_4bit: true\nload_in_8bit: false\nlora_r: 32\n"
     "lora_target_linear: true\nmicro_batch_size: 1\n",
     "qlora:rank=32,targets=all"},
    {"trainer:\n  num_nodes: 1\nmodel:\n  micro_batch_size: 1\n  global_batch_size: 8\n  peft:\n"
     "    peft_scheme: lora\n    lora_tuning:\n      adapter_dim: 16\n"
     "      adapter_dropout: 0.0\n      target_modules: [attention_qkv, attention_dense]\n",
     "lora:rank=16,targets=attention_qkv+attention_dense"},
};

LOOP_TEST(a_job_that_trains_adapters_asks_for_them, 0, sizeof(tunings) / sizeof(tunings[0]))
{
    static const struct fr_job_ask ask = {
        .n_gpus = 8, .has_workload = true, .has_strategy = true, .has_batch = true};
    struct fr_job *j = read_job("a.yaml", tunings[_i].text);
    const char *found = NULL;
    const struct fr_job_setting *s;
    struct fr_error err;
    size_t n;

    ck_assert_msg(fr_job_ask(j, &ask, &err) == FR_OK, "%s", err.text);
    s = fr_job_setting(j, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(s[i].name, "tune") == 0)
            found = s[i].text;
    if (tunings[_i].tune)
        ck_assert_str_eq(found, tunings[_i].tune);
    else
        ck_assert_ptr_null(found);
    fr_job_free(j);
}

/* The strategy of a job of Megatron-LM that runs modules again. */
TEST(modules_that_run_again_are_asked_for)
{
    static const struct {
        const char *modules, *recompute;
    } cases[] = {{"mlp moe mla_up_proj layernorm", "recompute=mlp+moe+mla_up_proj+layernorm"},
                 {"moe_act", "recompute=moe_act"},
                 {"core_attn", "recompute=selective"}};
    static const struct fr_job_ask ask = {.n_gpus = 8, .has_workload = true, .has_batch = true};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct fr_job_setting *s;
        struct fr_error err;
        struct fr_job *j;
        char text[512];
        size_t n, found = 0;

        snprintf(text, sizeof(text),
                 "torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 "
                 "--seq-length 64 --micro-batch-size 1 --global-batch-size 8 --bf16 "
                 "--recompute-granularity selective --recompute-modules %s\n",
                 cases[i].modules);
        j = read_job("a.sh", text);
        ck_assert_msg(fr_job_ask(j, &ask, &err) == FR_OK, "%s", err.text);
        s = fr_job_setting(j, &n);
        for (size_t k = 0; k < n; k++)
            found += strcmp(s[k].name, "strategy") == 0 && strstr(s[k].text, cases[i].recompute);
        ck_assert_msg(found == 1, "%s", cases[i].modules);
        fr_job_free(j);
    }
}

TEST(targets_that_are_a_pattern_are_refused)
{
    static const struct fr_job_ask ask = {
        .has_workload = true, .has_strategy = true, .has_batch = true};
    struct fr_job *j = read_job("a.yaml", "base_model: m\nadapter: lora\nlora_r: 8\n"
                                          "lora_target_modules: '.*(q|v)_proj'\nbf16: true\n");
    struct fr_error err;

    ck_assert_int_eq(fr_job_ask(j, &ask, &err), FR_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "give --tune with the names of the layers"));
    fr_job_free(j);
}

/* A trainer's arguments and a launcher's configuration are one job. */
TEST(files_of_a_job_are_read_together)
{
    static const struct fr__shell_text texts[] = {
        {"sft.yaml",
         "model_name_or_path: m\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 2\n"
         "max_length: 4096\nbf16: true\ngradient_checkpointing: true\n",
         0},
        {"zero3.yaml",
         "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_processes: 8\n"
         "deepspeed_config:\n  zero_stage: 3\nmixed_precision: fp16\n",
         0},
    };
    struct fr__shell_text files[2] = {texts[0], texts[1]};
    const char *const names[] = {"sft.yaml", "zero3.yaml"};
    const struct fr_job_options o = {.files = names, .n_files = 2};
    struct fr_job *j = NULL;
    struct fr_error err;

    for (size_t i = 0; i < 2; i++)
        files[i].len = strlen(files[i].text);
    ck_assert_int_eq(fr__job_read_texts(&j, &o, files, &err), FR_OK);
    assert_fact(j, "gpus", "8");
    assert_fact(j, "batch", "16");
    assert_fact(j, "zero", "3");
    assert_fact(j, "precision", "bf16"); /* the trainer's word holds */
    fr_job_free(j);
}

TEST(a_python_program_is_refused)
{
    struct fr_job *j = NULL;
    struct fr_error err;

    ck_assert_int_eq(read_as(&j, "a.py", "x = 1\n", NULL, false, &err), FR_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "Python"));
}

/* A name of a fact that a table has and nobody else would never be set. */
TEST(tables_name_facts_that_there_are)
{
    for (size_t i = 0; i < fr__n_job_frameworks; i++) {
        const struct fr__job_framework *f = &fr__job_frameworks[i];

        ck_assert(!f->like || fr__job_framework(f->like));
        for (size_t k = 0; k < 160 && f->sets[k][0]; k++) {
            ck_assert_msg(fr__job_fact_parse(f->sets[k][FR__JOB_FACT]) < FR__N_JOB_FACTS, "%s: %s",
                          f->name, f->sets[k][FR__JOB_FACT]);
            ck_assert_ptr_nonnull(f->sets[k][FR__JOB_HOW]);
        }
        for (size_t k = 0; k < 24 && f->defaults[k][0]; k++)
            ck_assert(fr__job_fact_parse(f->defaults[k][0]) < FR__N_JOB_FACTS);
        for (size_t k = 0; k < 40 && f->implies[k][0]; k++) {
            ck_assert_ptr_nonnull(f->implies[k][5]);
            ck_assert(fr__job_fact_parse(f->implies[k][0]) < FR__N_JOB_FACTS);
            ck_assert(fr__job_fact_parse(f->implies[k][4]) < FR__N_JOB_FACTS);
        }
    }
    for (size_t i = 0; i < fr__n_job_models; i++)
        for (size_t k = 0; k < 48 && fr__job_models[i].keys[k][0]; k++) {
            const char *const *key = fr__job_models[i].keys[k];

            ck_assert(key[1][0] == '=' || fr__job_fact_parse(key[1]) < FR__N_JOB_FACTS);
            ck_assert(!key[2] || fr__job_fact_parse(key[2]) < FR__N_JOB_FACTS);
        }
}

int main(void)
{
    TCase *tc = tcase_create("job");

    add_tests(tc);
    return run_case(tc, "job");
}
