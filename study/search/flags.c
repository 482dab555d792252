/* study/search/flags.c - a layout in the words of the frameworks that run it.
 *
 * Sources:  Megatron-LM, megatron/training/arguments.py; DeepSpeed, the documentation of its JSON
 *           configuration and of PipelineModule; torchtitan, torchtitan/config/job_config.py.
 */
#include "config.h"

#include "study/search/search.h"

#include <stdio.h>
#include <string.h>

static const char *const names[FR_N_FRAMEWORKS] = {"megatron", "deepspeed", "torchtitan"};

const char *fr_framework_name(enum fr_framework f)
{
    return f < FR_N_FRAMEWORKS ? names[f] : "";
}

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

/* Megatron-LM has 1F1B and its interleaved form. */
static void megatron(FILE *f, const struct fr_search_layout *l, uint32_t global_batch)
{
    fprintf(f,
            "--tensor-model-parallel-size %u\n--pipeline-model-parallel-size %u\n"
            "--micro-batch-size %u\n--global-batch-size %u\n",
            l->tp, l->pp, l->micro, global_batch);
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
    if (l->zero == 1)
        fputs("--use-distributed-optimizer\n", f);
    if (l->zero > 1)
        fprintf(f,
                "--use-megatron-fsdp\n--use-distributed-optimizer\n"
                "--data-parallel-sharding-strategy %s\n",
                l->zero == 2 ? "optim_grads" : "optim_grads_params");
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

/* DeepSpeed's configuration says what the engine does; degrees of the model are arguments of its
 * PipelineModule and of the model's own tensor parallelism. */
static void deepspeed(FILE *f, const struct fr_search_layout *l, uint32_t global_batch)
{
    fprintf(f,
            "{\n  \"train_batch_size\": %u,\n  \"train_micro_batch_size_per_gpu\": %u,\n"
            "  \"gradient_accumulation_steps\": %u,\n"
            "  \"zero_optimization\": {\"stage\": %u, \"overlap_comm\": true}",
            global_batch, l->micro, l->n_micros, l->zero);
    if (l->tp > 1)
        fprintf(f, ",\n  \"tensor_parallel\": {\"autotp_size\": %u}", l->tp);
    if (l->pp > 1)
        fprintf(f, ",\n  \"pipeline\": {\"stages\": %u, \"partition\": \"uniform\"%s}", l->pp,
                l->recompute == FR_LAYOUT_FULL ? ", \"activation_checkpoint_interval\": 1" : "");
    if (l->cp > 1)
        fprintf(f, ",\n  \"sequence_parallel_size\": %u", l->cp);
    fputs("\n}\n", f);
    if (l->ep > 1)
        fprintf(f, "# deepspeed.moe.layer.MoE(ep_size=%u)\n", l->ep);
    if (l->recompute != FR_LAYOUT_KEEPS_ALL)
        fprintf(f, "# the model's own: %s recomputation\n",
                l->recompute == FR_LAYOUT_FULL ? "full" : "selective");
    if (l->n_virtual > 1)
        fputs("# DeepSpeed has no interleaved schedule\n", f);
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

static void torchtitan(FILE *f, const struct fr_search_layout *l, uint32_t global_batch,
                       uint32_t seq_len)
{
    bool shards = l->zero == 3;
    const char *schedule = l->pp > 1 ? titan_schedule(l) : NULL;

    fprintf(f,
            "--parallelism.data_parallel_replicate_degree=%u\n"
            "--parallelism.data_parallel_shard_degree=%u\n"
            "--parallelism.tensor_parallel_degree=%u\n"
            "--parallelism.pipeline_parallel_degree=%u\n"
            "--parallelism.context_parallel_degree=%u\n",
            shards ? 1 : l->dp, shards ? l->dp : 1, l->tp, l->pp, l->cp);
    if (l->ep > 1)
        fprintf(f, "--parallelism.expert_parallel_degree=%u\n", l->ep);
    if (schedule)
        fprintf(f, "--parallelism.pipeline_parallel_schedule=%s\n", schedule);
    if (l->pp > 1)
        fprintf(f, "--parallelism.pipeline_parallel_microbatch_size=%u\n", l->micro);
    fprintf(f, "--training.local_batch_size=%u\n--training.global_batch_size=%u\n",
            l->pp > 1 ? l->micro * l->n_micros : l->micro, global_batch);
    if (seq_len)
        fprintf(f, "--training.seq_len=%u\n", seq_len);
    fprintf(f, "--activation_checkpoint.mode=%s\n",
            l->recompute == FR_LAYOUT_FULL        ? "full"
            : l->recompute == FR_LAYOUT_SELECTIVE ? "selective"
                                                  : "none");
    if (l->zero == 1 || l->zero == 2)
        fprintf(f, "# torchtitan shards parameters too, or nothing: zero=%u has no flag\n",
                l->zero);
    if (l->pp > 1 && !schedule)
        fprintf(f, "# torchtitan has no schedule %s\n", l->schedule);
}

void fr_layout_print_flags(FILE *f, enum fr_framework framework, const struct fr_search_layout *l,
                           uint32_t global_batch, uint32_t seq_len)
{
    switch (framework) {
    case FR_MEGATRON:
        megatron(f, l, global_batch);
        break;
    case FR_DEEPSPEED:
        deepspeed(f, l, global_batch);
        break;
    case FR_TORCHTITAN:
        torchtitan(f, l, global_batch, seq_len);
        break;
    case FR_N_FRAMEWORKS:
        break;
    }
}
