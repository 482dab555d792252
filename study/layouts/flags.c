/* study/layouts/flags.c - a layout in the words of the frameworks that run it.
 *
 * Sources:  Megatron-LM, megatron/training/arguments.py (core 0.12 and later); DeepSpeed,
 *           deepspeed/runtime/config.py and pipe/module.py (0.16 and later); torchtitan,
 *           torchtitan/config/job_config.py (of 2025) and distributed/pipeline_parallel.py.
 */
#include "config.h"

#include "lowering/optimizer.h"
#include "study/layouts/state.h"

#include <stdio.h>
#include <string.h>

static const char *const names[FR_N_FRAMEWORKS] = {"megatron", "deepspeed", "torchtitan"};

enum fr_framework fr_framework_parse(const char *name)
{
    int f = 0;

    while (f < FR_N_FRAMEWORKS && strcmp(names[f], name) != 0)
        f++;
    return (enum fr_framework)f;
}

static bool is_named(const struct fr_search_layout *l, const char *schedule)
{
    return l->pp > 1 && strcmp(l->schedule, schedule) == 0;
}

/* Layers of the model divide into its stages only with both ends counted as layers. */
static bool counts_ends(const struct fr_search_layout *l, const struct fr_flags_job *job)
{
    size_t n_stages = (size_t)l->pp * l->n_virtual;

    return l->pp > 1 && job->n_layers % n_stages != 0 && (job->n_layers + 2) % n_stages == 0;
}

/* Megatron-LM has 1F1B and its interleaved form. */
static void megatron(FILE *f, const struct fr_search_layout *l, const struct fr_flags_job *job)
{
    fprintf(f,
            "--tensor-model-parallel-size %u\n--pipeline-model-parallel-size %u\n"
            "--micro-batch-size %u\n--global-batch-size %u\n",
            l->tp, l->pp, l->micro, job->global_batch);
    if (job->seq_len)
        fprintf(f, "--seq-length %u\n", job->seq_len);
    if (l->tp > 1)
        fputs("--sequence-parallel\n", f);
    if (l->cp > 1)
        fprintf(f, "--context-parallel-size %u\n--cp-comm-type all_gather\n", l->cp);
    if (l->ep > 1)
        fprintf(f, "--expert-model-parallel-size %u\n", l->ep);
    if (l->etp > 0)
        fprintf(f, "--expert-tensor-parallel-size %u\n", l->etp);
    if (l->pp > 1 && l->n_virtual > 1)
        fprintf(f, "--num-virtual-stages-per-pipeline-rank %u\n", l->n_virtual);
    if (counts_ends(l, job))
        fputs("--account-for-embedding-in-pipeline-split\n--account-for-loss-in-pipeline-split\n",
              f);
    if (l->zero >= 1 && fr__takes_whole_tensors(job->optimizer)) {
        fprintf(f, "--optimizer dist_%s\n", fr_optimizer_name(job->optimizer));
        if (l->zero == 2)
            fputs("# Megatron-LM keeps whole gradients there, as zero=1 does\n", f);
    } else if (l->zero == 1) {
        fputs("--use-distributed-optimizer\n", f);
    } else if (l->zero > 1) {
        fprintf(f,
                "--use-megatron-fsdp\n--use-distributed-optimizer\n"
                "--data-parallel-sharding-strategy %s\n",
                l->zero == 2 ? "optim_grads" : "optim_grads_params");
    }
    if (l->dp * l->cp > 1)
        fputs("--overlap-grad-reduce\n", f);
    if (l->recompute == FR_LAYOUT_SELECTIVE)
        fputs("--recompute-granularity selective\n", f);
    if (l->recompute == FR_LAYOUT_FULL)
        fputs("--recompute-granularity full\n--recompute-method uniform\n"
              "--recompute-num-layers 1\n",
              f);
    if (l->map)
        fprintf(f, "# ranks in the order %s; --use-tp-pp-dp-mapping is tp-cp-ep-pp-dp\n", l->map);
    if (l->pp > 1 && !is_named(l, "1f1b") && !is_named(l, "interleaved-1f1b"))
        fprintf(f, "# Megatron-LM has no schedule %s\n", l->schedule);
}

/* A text of the comment member; *n: how many there are. */
static void remark(FILE *f, size_t *n, const char *text)
{
    fprintf(f, "%s    \"%s\"", (*n)++ ? ",\n" : ",\n  \"//\": [\n", text);
}

static void deepspeed_remarks(FILE *f, const struct fr_search_layout *l)
{
    char text[100];
    size_t n = 0;

    if (l->ep > 1) {
        snprintf(text, sizeof(text), "in the model: deepspeed.moe.layer.MoE(ep_size=%u)", l->ep);
        remark(f, &n, text);
    }
    if (l->recompute != FR_LAYOUT_KEEPS_ALL && (l->pp == 1 || l->recompute != FR_LAYOUT_FULL)) {
        snprintf(text, sizeof(text), "in the model: %s recomputation",
                 l->recompute == FR_LAYOUT_FULL ? "full" : "selective");
        remark(f, &n, text);
    }
    if (l->pp > 1 && !is_named(l, "1f1b")) {
        snprintf(text, sizeof(text), "DeepSpeed's pipelines run 1f1b, not %.40s", l->schedule);
        remark(f, &n, text);
    }
    if (n)
        fputs("\n  ]", f);
}

/* DeepSpeed's configuration says what the engine does; degrees of the model are arguments of its
 * PipelineModule and of the model's own tensor parallelism. */
static void deepspeed(FILE *f, const struct fr_search_layout *l, const struct fr_flags_job *job)
{
    fprintf(f,
            "{\n  \"train_batch_size\": %u,\n  \"train_micro_batch_size_per_gpu\": %u,\n"
            "  \"gradient_accumulation_steps\": %u,\n"
            "  \"zero_optimization\": {\"stage\": %u, \"overlap_comm\": true}",
            job->global_batch, l->micro, l->n_micros, l->zero);
    if (l->tp > 1)
        fprintf(f, ",\n  \"tensor_parallel\": {\"autotp_size\": %u}", l->tp);
    if (l->pp > 1)
        fprintf(f, ",\n  \"pipeline\": {\"stages\": %u, \"partition\": \"uniform\"%s}", l->pp,
                l->recompute == FR_LAYOUT_FULL ? ", \"activation_checkpoint_interval\": 1" : "");
    if (l->cp > 1)
        fprintf(f, ",\n  \"sequence_parallel_size\": %u", l->cp);
    deepspeed_remarks(f, l);
    fputs("\n}\n", f);
}

static const char *titan_schedule(const struct fr_search_layout *l)
{
    static const char *const table[][2] = {{"1f1b", "1F1B"},
                                           {"interleaved-1f1b", "Interleaved1F1B"},
                                           {"gpipe", "GPipe"},
                                           {"looped-bfs", "LoopedBFS"},
                                           {"interleaved-zero-bubble", "InterleavedZeroBubble"},
                                           {"zb-v", "ZBVZeroBubble"},
                                           {"dualpipe-v", "DualPipeV"}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(l->schedule, table[i][0]) == 0)
            return table[i][1];
    return NULL;
}

/* Layers a stage; embedding and head count as the layers that the first and the last stage have
 * less. */
static void titan_stages(FILE *f, const struct fr_search_layout *l, const struct fr_flags_job *job)
{
    const char *schedule = titan_schedule(l);
    size_t n_stages = (size_t)l->pp * l->n_virtual;
    unsigned ends = counts_ends(l, job) ? 1 : 0;

    if (schedule)
        fprintf(f, "--parallelism.pipeline_parallel_schedule=%s\n", schedule);
    else
        fprintf(f, "# torchtitan has no schedule %s\n", l->schedule);
    fprintf(f, "--parallelism.pipeline_parallel_microbatch_size=%u\n", l->micro);
    if ((job->n_layers + 2 * ends) % n_stages == 0 && job->n_layers)
        fprintf(f,
                "--parallelism.pipeline_parallel_layers_per_stage=%zu\n"
                "--parallelism.pipeline_parallel_first_stage_less_layers=%u\n"
                "--parallelism.pipeline_parallel_last_stage_less_layers=%u\n",
                (job->n_layers + 2 * ends) / n_stages, ends, ends);
}

static void titan_remarks(FILE *f, const struct fr_search_layout *l)
{
    if (l->zero == 1)
        fputs("# zero=1 is not to be had: torchtitan shards gradients and parameters between steps "
              "too\n",
              f);
    if (l->zero == 0 && l->dp * l->cp > 1 && (l->tp > 1 || l->pp > 1))
        fputs("# torchtitan may refuse plain replicas beside other axes; fully sharded ones fit in "
              "less memory\n",
              f);
    if (l->recompute == FR_LAYOUT_SELECTIVE)
        fputs("# torchtitan's selective keeps other results than the attention core's; see "
              "activation_checkpoint.selective_ac_option\n",
              f);
}

/* Parameters that stay after the forward pass are ZeRO-2. */
static void torchtitan(FILE *f, const struct fr_search_layout *l, const struct fr_flags_job *job)
{
    bool shards = l->zero > 0;

    fprintf(f,
            "--parallelism.data_parallel_replicate_degree=%u\n"
            "--parallelism.data_parallel_shard_degree=%u\n"
            "--parallelism.tensor_parallel_degree=%u\n"
            "--parallelism.pipeline_parallel_degree=%u\n"
            "--parallelism.context_parallel_degree=%u\n",
            shards ? 1 : l->dp, shards ? l->dp : 1, l->tp, l->pp, l->cp);
    if (shards)
        fprintf(f, "--parallelism.fsdp_reshard_after_forward=%s\n",
                l->zero == 3 ? "always" : "never");
    if (l->ep > 1)
        fprintf(f, "--parallelism.expert_parallel_degree=%u\n", l->ep);
    if (l->pp > 1)
        titan_stages(f, l, job);
    fprintf(f, "--training.local_batch_size=%u\n--training.global_batch_size=%u\n",
            l->pp > 1 ? l->micro * l->n_micros : l->micro, job->global_batch);
    if (job->seq_len)
        fprintf(f, "--training.seq_len=%u\n", job->seq_len);
    fprintf(f, "--activation_checkpoint.mode=%s\n", fr__recompute_name(l->recompute));
    titan_remarks(f, l);
}

void fr_layout_print_flags(FILE *f, enum fr_framework framework, const struct fr_search_layout *l,
                           const struct fr_flags_job *job)
{
    switch (framework) {
    case FR_MEGATRON:
        megatron(f, l, job);
        break;
    case FR_DEEPSPEED:
        deepspeed(f, l, job);
        break;
    case FR_TORCHTITAN:
        torchtitan(f, l, job);
        break;
    case FR_N_FRAMEWORKS:
        break;
    }
}
