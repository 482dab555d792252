/* strategies/hybrid/options.c - what a user asks of the hybrid strategy, and which degrees go
 * together. */
#include "config.h"

#include "strategies/hybrid/hybrid.h"

#include "base/error.h"
#include "base/units.h"

#include <string.h>

enum {
    DP,
    TP,
    PP,
    CP,
    CP_COMM,
    EP,
    ETP,
    DISPATCH,
    SP,
    MICRO,
    ACCUMULATE,
    SCHEDULE,
    VIRTUAL,
    CUT,
    CUTS,
    RECOMPUTE,
    EARLY_STOP,
    ZERO,
    SCATTER,
    RECIPE,
    GATHER,
    PREFETCH,
    RESHARD,
    KEEP_LAST,
    CAST_GATHERED,
    PACKS,
    SHARD_GROUP,
    MAP,
    SCATTER_GATHER,
    BUCKET,
    OVERLAP,
    OVERLAP_GATHER,
    VOCAB,
    TIE,
    GATHERED,
    TP_OVERLAP,
    TP_ASYNC,
    SHARD,
    ADDS,
    PASSES,
    FOLD
};

const struct fr_option fr__hybrid_option_rows[] = {
    [DP] = {.name = "dp",
            .type = FR_OPTION_COUNT,
            .fallback = "0",
            .help = "replicas that work on different samples; 0: as many as the devices give"},
    [TP] = {.name = "tp",
            .type = FR_OPTION_COUNT,
            .fallback = "1",
            .help = "ranks that split each layer (tensor parallelism)",
            .advice = FR_ADVICE_DOUBLE,
            .advice_text = "ranks a layer"},
    [PP] = {.name = "pp", .type = FR_OPTION_COUNT, .fallback = "1", .help = "stages of a pipeline"},
    [CP] = {.name = "cp",
            .type = FR_OPTION_COUNT,
            .fallback = "1",
            .help = "ranks that split each sequence (context parallelism)"},
    [CP_COMM] = {.name = "cp-comm",
                 .type = FR_OPTION_CHOICE,
                 .fallback = "all-gather",
                 .choices = "all-gather|ring|ulysses",
                 .help = "with cp: attention gathers keys and values, passes them around a ring "
                         "beside its work, or exchanges positions for heads"},
    [EP] = {.name = "ep",
            .type = FR_OPTION_COUNT,
            .fallback = "1",
            .help = "ranks that share out the experts"},
    [ETP] = {.name = "etp",
             .type = FR_OPTION_COUNT,
             .fallback = "0",
             .help = "ranks that split each expert; 0: as many as tp, as in Megatron-LM"},
    [DISPATCH] = {.name = "dispatch",
                  .type = FR_OPTION_TEXT,
                  .fallback = "balanced",
                  .help = "tokens that experts get: balanced; model: as the model's routing has "
                          "them; skew:F: the busiest rank F times the mean; zipf:S: expert k a "
                          "share of 1/k^S"},
    [SP] = {.name = "sp",
            .type = FR_OPTION_BOOL,
            .fallback = "0",
            .help = "between split layers a tensor group splits the sequence"},
    [MICRO] = {.name = "micro",
               .type = FR_OPTION_COUNT,
               .fallback = "0",
               .help = "samples a micro-batch; 0: all of a replica's, with pp four micro-batches a "
                       "stage",
               .advice = FR_ADVICE_LEAST,
               .advice_text = "1"},
    [ACCUMULATE] = {.name = "accumulate",
                    .type = FR_OPTION_COUNT,
                    .fallback = "0",
                    .help = "micro-batches an update, instead of micro; 0: as micro says"},
    [SCHEDULE] = {.name = "schedule",
                  .type = FR_OPTION_TEXT,
                  .fallback = "1f1b",
                  .help = "order of forward and backward passes of a pipeline: a name that "
                          "`forerun schedule list` shows, or file:PATH; with virtual the default "
                          "is interleaved-1f1b"},
    [VIRTUAL] = {.name = "virtual",
                 .type = FR_OPTION_COUNT,
                 .fallback = "0",
                 .help = "parts of the model a pipeline rank; 0: as the schedule needs"},
    [CUT] = {.name = "cut",
             .type = FR_OPTION_CHOICE,
             .fallback = "time",
             .choices = "time|layers",
             .help = "stages that take as long, or that have as many layers"},
    [CUTS] = {.name = "cuts",
              .type = FR_OPTION_TEXT,
              .fallback = "",
              .help = "layers or ops with which further stages begin, layer12;layer24; none: as "
                      "cut says"},
    [RECOMPUTE] = {.name = "recompute",
                   .type = FR_OPTION_TEXT,
                   .fallback = "none",
                   .help =
                       "what the backward pass runs again instead of keeping it: none, "
                       "selective (the attention core), full (each layer), the number of layers "
                       "of a stage, or Megatron-LM's modules, joined by '+': core_attn, "
                       "layernorm, mla_up_proj, mlp, moe, shared_experts, moe_act; or budget:PART, "
                       "the cheapest that keep that part of a layer's bytes",
                   .advice = FR_ADVICE_LEAST,
                   .advice_text = "selective|full"},
    [EARLY_STOP] = {.name = "early-stop",
                    .type = FR_OPTION_BOOL,
                    .fallback = "0",
                    .help = "recompute: what runs again stops where the backward pass has all it "
                            "reads, as in PyTorch; 0: all of it runs again, as in Megatron-LM"},
    [ZERO] = {.name = "zero",
              .type = FR_OPTION_COUNT,
              .fallback = "0",
              .help = "shard over the replicas: 1 optimizer state, 2 gradients too (each "
                      "micro-batch scatters its own), 3 parameters too (FSDP)",
              .advice = FR_ADVICE_LEAST,
              .advice_text = "1|2|3"},
    [SCATTER] = {.name = "scatter",
                 .type = FR_OPTION_CHOICE,
                 .fallback = "micro",
                 .choices = "micro|step",
                 .help =
                     "zero=2: each micro-batch scatters its gradients, as in DeepSpeed, or they "
                     "are added up where they were made and scattered once a step, when the "
                     "last micro-batch has added its own, as in PyTorch's FSDP without "
                     "synchronisation"},
    [RECIPE] = FR__RECIPE_OPTION,
    [PREFETCH] = {.name = "prefetch",
                  .type = FR_OPTION_COUNT,
                  .fallback = "1",
                  .help =
                      "zero=3: layers whose parameters are gathered ahead of the one that runs"},
    [GATHER] = {.name = "gather",
                .type = FR_OPTION_CHOICE,
                .fallback = "layer",
                .choices = "layer|module",
                .help = "zero=3: what is gathered by one message: the parameters of a layer, as in "
                        "PyTorch's FSDP, or each of its modules by itself, as in DeepSpeed"},
    [RESHARD] = {.name = "reshard",
                 .type = FR_OPTION_BOOL,
                 .fallback = "1",
                 .help = "zero=3: parameters are dropped after the forward pass of a layer and "
                         "gathered again; 0: kept for its backward pass"},
    [KEEP_LAST] = {.name = "keep-last",
                   .type = FR_OPTION_BOOL,
                   .fallback = "0",
                   .help = "zero=3: the parameters of the last layer stay gathered from its "
                           "forward to its backward pass, as in torchtitan"},
    [CAST_GATHERED] = {.name = "cast-gathered",
                       .type = FR_OPTION_BOOL,
                       .fallback = "0",
                       .help = "zero=3 in 16 bits: a rank's share of the weights is the fp32 one, "
                               "which is cast when it is gathered, as in PyTorch's FSDP; 0: it has "
                               "a share in 16 bits too, as in DeepSpeed"},
    [PACKS] = {.name = "packs",
               .type = FR_OPTION_BOOL,
               .fallback = "0",
               .help = "zero=3: parameters are copied out of what was gathered, and gradients into "
                       "what will be scattered, as in PyTorch's FSDP2"},
    [SHARD_GROUP] = {.name = "shard-group",
                     .type = FR_OPTION_COUNT,
                     .fallback = "0",
                     .help = "zero=3: ranks of dp x cp that share parameters; groups of so many "
                             "are copies (HSDP); 0: all share"},
    [MAP] = {.name = "map",
             .type = FR_OPTION_TEXT,
             .fallback = "megatron",
             .help = "order of the axes on the devices, innermost first: tp-cp-ep-dp-pp, or "
                     "megatron, megatron-dp, deepspeed, torchtitan, calculon"},
    [SCATTER_GATHER] = {.name = "scatter-gather",
                        .type = FR_OPTION_BOOL,
                        .fallback = "0",
                        .help = "with tp and pp but not sp: between stages each rank of a tensor "
                                "group sends its part, and the receivers gather"},
    [BUCKET] = {.name = "bucket",
                .type = FR_OPTION_BYTES,
                .fallback = "25MiB",
                .help =
                    "gradients that travel together; if not given, with another axis than dp or "
                    "with zero=1 Megatron-LM's: 40 million parameters, or a million a replica "
                    "if that is more; with zero=2 DeepSpeed's: 500 million parameters"},
    [OVERLAP] = {.name = "overlap",
                 .type = FR_OPTION_BOOL,
                 .fallback = "1",
                 .help = "gradients leave during the backward pass, that of the last micro-batch"},
    [OVERLAP_GATHER] = {.name = "overlap-gather",
                        .type = FR_OPTION_BOOL,
                        .fallback = "0",
                        .help = "zero=1, 2: updated parameters are gathered beside the next "
                                "forward pass, not after the updates"},
    [VOCAB] = {.name = "vocab-parallel",
               .type = FR_OPTION_BOOL,
               .fallback = "1",
               .help = "a tensor group splits embedding, head and loss by the vocabulary"},
    [TIE] = {.name = "tie",
             .type = FR_OPTION_BOOL,
             .fallback = "1",
             .help = "a head that uses the embedding's weights keeps doing so (with pp both ends "
                     "have them, and sum their gradients); 0: it has weights of its own"},
    [GATHERED] = {.name = "keep-gathered",
                  .type = FR_OPTION_BOOL,
                  .fallback = "0",
                  .help =
                      "with sp, inputs gathered in the forward pass are kept, not gathered again"},
    [TP_ASYNC] = {.name = "tp-async",
                  .type = FR_OPTION_BOOL,
                  .fallback = "1",
                  .help = "with tp, sums of an input's gradient run beside the gradient of the "
                          "weights; 0: nothing runs beside a message of a tensor group, as in "
                          "Megatron-LM until 2021"},
    [TP_OVERLAP] = {.name = "tp-overlap",
                    .type = FR_OPTION_BOOL,
                    .fallback = "0",
                    .help = "with sp, messages of a tensor group go in steps beside the parts of "
                            "their products"},
    [SHARD] = {.name = "shard",
               .type = FR_OPTION_TEXT,
               .fallback = "megatron",
               .help = "how ops are split: megatron, or file:PATH of lines op,axis,placement"},
    [ADDS] = FR__ADDS_OPTION,
    [PASSES] = FR__PASSES_OPTION,
    [FOLD] = {.name = "fold",
              .type = FR_OPTION_BOOL,
              .fallback = "1",
              .help = "ranks that do the same are simulated once"},
    {.name = NULL},
};

/* ---- layouts ---- */

static bool is_own_layout(const struct fr__hybrid_options *o)
{
    return strncmp(o->annotations, "file:", 5) == 0;
}

static enum fr_status check_layout(const struct fr__hybrid_options *o, struct fr_error *err)
{
    if (!is_own_layout(o) && strcmp(o->annotations, "megatron") != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "shard=%s is neither megatron nor file:PATH",
                        o->annotations);
    if (is_own_layout(o) && o->tp == 1 && o->cp == 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "shard=%s splits nothing: tp and cp have one rank each", o->annotations);
    return FR_OK;
}

/* ---- degrees ---- */

enum { CUT_TIME, CUT_LAYERS };
enum { SCATTER_MICRO, SCATTER_STEP };

static enum fr_status read_degrees(struct fr__hybrid_options *o, const struct fr_problem *in,
                                   struct fr_error *err)
{
    const uint64_t *v = in->options->value;
    uint64_t n = in->n_devices, fixed;

    o->tp = (uint32_t)v[TP];
    o->pp = (uint32_t)v[PP];
    o->cp = (uint32_t)v[CP];
    o->ep = (uint32_t)v[EP];
    if (!o->tp || !o->pp || !o->cp || !o->ep)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a degree of 0 leaves no rank; tp, pp, cp and ep are at least 1");
    if (o->tp > n || o->pp > n || o->cp > n || (uint64_t)o->tp * o->cp > n)
        fixed = n + 1;
    else
        fixed = (uint64_t)o->tp * o->cp * o->pp;
    if (fixed > n || n % fixed)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "tp=%u, cp=%u and pp=%u do not divide the %zu devices (dp is what is left; "
                        "choose the number of devices with -g)",
                        o->tp, o->cp, o->pp, in->n_devices);
    o->dp = v[DP] ? (uint32_t)v[DP] : (uint32_t)(n / fixed);
    if (o->dp * fixed != n)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "dp=%u, tp=%u, cp=%u and pp=%u make %llu ranks, but there are %zu devices",
                        o->dp, o->tp, o->cp, o->pp, (unsigned long long)(o->dp * fixed),
                        in->n_devices);
    return FR_OK;
}

/* Degree of an expert's own split. Megatron-LM takes tp unless told (expert_tensor_parallel_size in
 * megatron/training/arguments.py). A layout of the user's says itself what becomes of experts. */
static uint32_t default_etp(const struct fr__hybrid_options *o, const struct fr_problem *in)
{
    return is_own_layout(o) || fr__shard_n_experts(in->graph) == 0 ? 1 : o->tp;
}

static enum fr_status check_experts(struct fr__hybrid_options *o, const struct fr_problem *in,
                                    struct fr_error *err)
{
    uint64_t stage = (uint64_t)o->dp * o->tp * o->cp, given = in->options->value[ETP];

    o->etp = (uint32_t)(given ? given : default_etp(o, in));
    if ((uint64_t)o->ep * o->etp > stage || stage % ((uint64_t)o->ep * o->etp))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "ep=%u times etp=%u%s does not divide the %llu ranks of a stage (dp x tp x "
                        "cp)",
                        o->ep, o->etp, given || o->etp == 1 ? "" : " (as tp, unless given)",
                        (unsigned long long)stage);
    if ((o->ep > 1 || o->etp > 1) && o->tp > 1 && !o->sequence_parallel)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "experts with tp=%u need sp=1: without it all ranks of a tensor group "
                        "hold the same tokens",
                        o->tp);
    return fr__hybrid_read_dispatch(o, fr_option_text(in->options, DISPATCH), err);
}

/* Groups of neighbours along dp; cp is inside them, as torchtitan's dp_shard x cp. */
static enum fr_status read_shard_group(struct fr__hybrid_options *o, const struct fr_problem *in,
                                       struct fr_error *err)
{
    uint64_t n = in->options->value[SHARD_GROUP], all = (uint64_t)o->dp * o->cp;

    o->shard_group = (uint32_t)all;
    if (n == 0)
        return FR_OK;
    if (o->zero != 3)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "shard-group=%llu is of zero=3; with zero=%u all replicas share",
                        (unsigned long long)n, o->zero);
    if (o->ep > 1 || o->etp > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "shard-group=%llu is not combined with ep or etp, whose experts are "
                        "shared by other ranks",
                        (unsigned long long)n);
    if (n < 2 || n > all || all % n || n % o->cp)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "shard-group=%llu does not cut the %llu ranks of dp x cp into groups of "
                        "at least 2 and a multiple of cp=%u",
                        (unsigned long long)n, (unsigned long long)all, o->cp);
    o->shard_group = (uint32_t)n;
    return FR_OK;
}

/* ---- gradients ---- */

/* What the frameworks have that train so: PyTorch's DDP the option's default; Megatron-LM its own
 * rule (0); DeepSpeed's ZeRO-2 5e8 parameters (reduce_bucket_size,
 * deepspeed/runtime/zero/config.py). */
static void choose_bucket(struct fr__hybrid_options *o, const struct fr_graph *g)
{
    bool is_of_replicas_alone = o->pp == 1 && o->tp == 1 && o->cp == 1 && o->ep == 1;

    if (is_of_replicas_alone && o->zero == 0)
        return;
    o->bucket_bytes = o->zero == 2 && o->pp == 1 ? 500000000 * (uint64_t)g->param_elem_bytes : 0;
}

/* ---- the batch ---- */

static enum fr_status read_batch(struct fr__hybrid_options *o, const struct fr_problem *in,
                                 struct fr_error *err)
{
    const uint64_t *v = in->options->value;
    uint32_t samples = in->global_batch / o->dp;

    if (in->global_batch % o->dp)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "dp=%u does not divide the global batch of %u",
                        o->dp, in->global_batch);
    if (v[MICRO] && v[ACCUMULATE])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "micro and accumulate say the same thing; give one of them");
    if (v[ACCUMULATE] && samples % v[ACCUMULATE])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "accumulate=%llu does not divide the %u samples of a replica",
                        (unsigned long long)v[ACCUMULATE], samples);
    o->micro_batch = samples;
    if (v[ACCUMULATE])
        o->micro_batch = samples / (uint32_t)v[ACCUMULATE];
    else if (v[MICRO])
        o->micro_batch = (uint32_t)(v[MICRO] < samples ? v[MICRO] : samples);
    else if (o->pp > 1)
        o->micro_batch = samples / (4 * o->pp) ? samples / (4 * o->pp) : 1;
    if (v[MICRO] > samples)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "micro=%llu is more than the %u samples of a replica",
                        (unsigned long long)v[MICRO], samples);
    o->n_micros = (samples - 1) / o->micro_batch + 1;
    return FR_OK;
}

static enum fr_status read_recompute(struct fr__hybrid_options *o, const struct fr_problem *in,
                                     struct fr_error *err)
{
    static const char *const names[] = {[FR__RECOMPUTE_NONE] = "none",
                                        [FR__RECOMPUTE_SELECTIVE] = "selective",
                                        [FR__RECOMPUTE_FULL] = "full"};
    const char *text = fr_option_text(in->options, RECOMPUTE);
    uint64_t n = 0;

    o->n_recomputed = 1;
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        if (strcmp(text, names[k]) == 0) {
            o->recompute = (enum fr__recompute)k;
            return FR_OK;
        }
    if (strncmp(text, "budget:", 7) == 0) {
        o->recompute = FR__RECOMPUTE_BUDGET;
        return fr__parse_number(text + 7, "recompute=budget", FR_NOWHERE, 0, 1, &o->kept_part, err);
    }
    o->modules = fr__modules_read(text);
    if (o->modules) {
        o->recompute = FR__RECOMPUTE_MODULES;
        return FR_OK;
    }
    if (fr__parse_count(text, "recompute", FR_NOWHERE, 1, UINT32_MAX - 1, &n, err) != FR_OK)
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "recompute=%s is not none, selective, full, a number of layers, or modules: "
            "core_attn, layernorm, mla_up_proj, mlp, moe, shared_experts, moe_act, "
            "several joined by '+', nor budget:PART",
            text);
    o->recompute = FR__RECOMPUTE_SOME;
    o->n_recomputed = (uint32_t)n;
    return FR_OK;
}

/* Options that need others, or exclude them. */
static enum fr_status check_pairs(const struct fr__hybrid_options *o, uint64_t zero,
                                  struct fr_error *err)
{
    if (*o->cuts && o->pp == 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "cuts=%.60s cuts stages of a pipeline: it needs pp of at least 2", o->cuts);
    if (*o->cuts && o->cuts_by_count)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "cuts= says where stages begin, cut=layers too: give one of them");
    if (o->stops_early && o->recompute == FR__RECOMPUTE_NONE)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "early-stop=1 needs recompute: nothing runs again");
    if (zero > 3)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "zero=%llu is not 0, 1, 2 or 3",
                        (unsigned long long)zero);
    return FR_OK;
}

static enum fr_status check_tensor_overlap(const struct fr__hybrid_options *o, struct fr_error *err)
{
    if (o->overlaps_tensor && !o->sequence_parallel)
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "tp-overlap=1 needs sp=1: a sum that all ranks need whole has no parts that "
            "one of them could begin with");
    if (o->overlaps_tensor && !o->is_tensor_async)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "tp-overlap=1 runs messages of a tensor group beside products, which "
                        "tp-async=0 excludes");
    return FR_OK;
}

static enum fr_status check_parts(const struct fr__hybrid_options *o, struct fr_error *err)
{
    if (o->sends_parts && (o->tp == 1 || o->pp == 1 || o->sequence_parallel))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "scatter-gather=1 is for stages of tensor groups without sp: it needs tp "
                        "and pp of at least 2, and with sp=1 each rank sends its part anyway");
    return FR_OK;
}

enum fr_status fr__hybrid_read(struct fr__hybrid_options *out, const struct fr_problem *in,
                               struct fr_error *err)
{
    const uint64_t *v = in->options->value;
    struct fr__hybrid_options o = {
        .sequence_parallel = v[SP] != 0,
        .vocab_parallel = v[VOCAB] != 0,
        .keeps_gathered = v[GATHERED] != 0,
        .context = (enum fr__cp_messages)v[CP_COMM],
        .is_tensor_async = v[TP_ASYNC] != 0,
        .overlaps_tensor = v[TP_OVERLAP] != 0 && v[TP] > 1,
        .is_tensor_overlap_wanted = in->options->is_set[TP_OVERLAP],
        .ties = v[TIE] != 0,
        .stops_early = v[EARLY_STOP] != 0,
        .n_virtual = (uint32_t)v[VIRTUAL],
        .cuts_by_count = v[CUT] == CUT_LAYERS,
        .cuts = fr_option_text(in->options, CUTS),
        .schedule = fr_option_text(in->options, SCHEDULE),
        .map = fr_option_text(in->options, MAP),
        .bucket_bytes = v[BUCKET],
        .sends_parts = v[SCATTER_GATHER] != 0,
        .overlap = v[OVERLAP] != 0,
        .gathers_at_start = v[OVERLAP_GATHER] != 0,
        .passes = {.adds = v[ADDS], .update = v[PASSES]},
        .fold = v[FOLD] != 0,
        .is_fold_wanted = (in->options->is_set[FOLD] && v[FOLD] != 0) || in->prefers_folding,
        .zero = (unsigned)v[ZERO],
        .scatters_once = v[ZERO] == 2 && v[SCATTER] == SCATTER_STEP,
        .prefetch = (uint32_t)(v[PREFETCH] < UINT32_MAX / 2 ? v[PREFETCH] : UINT32_MAX / 2),
        .reshards = v[RESHARD] != 0,
        .keeps_last = v[KEEP_LAST] != 0,
        .casts_gathered = v[CAST_GATHERED] != 0,
        .packs = v[PACKS] != 0,
        .gathers_modules = v[GATHER] != 0,
        .annotations = fr_option_text(in->options, SHARD)};

    FR_TRY(fr__check_passes(in->options, ADDS, PASSES, err));
    FR_TRY(read_degrees(&o, in, err));
    FR_TRY(read_recompute(&o, in, err));
    FR_TRY(fr__recipe_read(&o.recipe, fr_option_text(in->options, RECIPE), in->graph, err));
    if (o.recompute == FR__RECOMPUTE_NONE && !in->options->is_set[EARLY_STOP])
        o.stops_early = false; /* a recipe says how, the user whether */
    FR_TRY(check_pairs(&o, v[ZERO], err));
    if (!in->options->is_set[BUCKET])
        choose_bucket(&o, in->graph);
    if (o.n_virtual > 1 && !in->options->is_set[SCHEDULE])
        o.schedule = "interleaved-1f1b";
    if (o.sequence_parallel && o.tp == 1)
        o.sequence_parallel = false;
    if ((!o.sequence_parallel || !o.is_tensor_async) && !in->options->is_set[TP_OVERLAP])
        o.overlaps_tensor = false; /* likewise */
    FR_TRY(check_tensor_overlap(&o, err));
    FR_TRY(check_layout(&o, err));
    FR_TRY(check_experts(&o, in, err));
    FR_TRY(read_shard_group(&o, in, err));
    FR_TRY(check_parts(&o, err));
    FR_TRY(read_batch(&o, in, err));
    *out = o;
    return FR_OK;
}

enum fr_software_run fr__hybrid_software_run(const struct fr_option_values *v)
{
    const bool is_divided =
        v->value[TP] > 1 || v->value[PP] > 1 || v->value[CP] > 1 || v->value[EP] > 1;

    return is_divided ? FR_RUN_DIVIDED : v->value[ZERO] == 3 ? FR_RUN_SHARDED : FR_RUN_WHOLE;
}
