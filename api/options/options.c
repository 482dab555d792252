/* api/options/options.c - the one table of options: words of a command line, members of a request,
 * help, manual pages, completion and suggestions come from it. */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "api/options/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct option_row {
    uint64_t group;
    char letter;          /* 0: none */
    const char *name;     /* without the dashes */
    const char *argument; /* NULL: takes none */
    const char *help;
    /* NULL: a setting of the question (study/sweep/sweep.h) by this name */
    enum fr_status (*set)(struct fr__options *o, const char *value, struct fr_error *err);
};

/* ---- setting one option ---- */

static enum fr_status add_strategy(struct fr__options *o, const char *value, struct fr_error *err)
{
    if (o->sweep)
        return fr_sweep_add(o->sweep, "strategy", value, err);
    if (o->n_strategies == FR__MOST_STRATEGIES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d strategies", FR__MOST_STRATEGIES);
    o->strategies[o->n_strategies++] = value;
    return FR_OK;
}

static enum fr_status add_file(struct fr__options *o, const char *value, struct fr_error *err)
{
    if (o->n_files == FR__MOST_FILES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d output files", FR__MOST_FILES);
    o->files[o->n_files++] = value;
    return FR_OK;
}

static enum fr_status set_gpu_type(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->gpu_type = value;
    return FR_OK;
}

/* ---- the rest ---- */

static const char *phase_name(unsigned i)
{
    return i < FR_N_PHASES ? fr_phase_name((enum fr_phase)i) : "backward";
}

static enum fr_status add_phase(struct fr__options *o, const char *value, struct fr_error *err)
{
    bool *has_phase = o->drawing.has_phase;
    unsigned i;

    FR_TRY(fr__parse_choice(value, "option '--phase'", FR_N_PHASES + 1, phase_name, &i, err));
    if (i < FR_N_PHASES)
        has_phase[i] = true;
    else
        has_phase[FR_PHASE_BACKWARD_DATA] = has_phase[FR_PHASE_BACKWARD_WEIGHT] = true;
    if (i == FR_PHASE_FORWARD)
        has_phase[FR_PHASE_INPUT] = true;
    return FR_OK;
}

static enum fr_status set_layer(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->drawing.layer = value;
    return FR_OK;
}

static enum fr_status set_most_ops(struct fr__options *o, const char *value, struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(value, "option '--ops'", FR_NOWHERE, 0, UINT32_MAX, &n, err));
    o->most_ops = (size_t)n;
    return FR_OK;
}

static enum fr_status set_op(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->op = value;
    return FR_OK;
}

#define FLAG_SETTER(name, member)                                                                  \
    static enum fr_status set_##name(struct fr__options *o, const char *value,                     \
                                     struct fr_error *err)                                         \
    {                                                                                              \
        (void)value;                                                                               \
        (void)err;                                                                                 \
        o->member = true;                                                                          \
        return FR_OK;                                                                              \
    }
FLAG_SETTER(no_timing, question.no_timing)
FLAG_SETTER(strict, strict)
FLAG_SETTER(allow_implausible, question.allow_implausible)
FLAG_SETTER(no_advice, no_advice)
FLAG_SETTER(dry_run, dry_run)
FLAG_SETTER(all, all)
FLAG_SETTER(anchored, anchored)
FLAG_SETTER(json, json)
FLAG_SETTER(why, why)
FLAG_SETTER(layers, layers)
FLAG_SETTER(ops, drawing.is_ops)
FLAG_SETTER(quiet, quiet)
FLAG_SETTER(grey, grey)
FLAG_SETTER(verbose, verbose)
FLAG_SETTER(help, help)
FLAG_SETTER(version, version)
#undef FLAG_SETTER

/* ---- the table ---- */

static const struct option_row rows[] = {
    {OPTIONS_JOB, 0, "job", "FILE",
     "a launch script or configuration to be submitted: what it asks, options aside; several times",
     fr__add_job},
    {OPTIONS_JOB | OPTIONS_JOB_READ, 0, "set", "NAME=VALUE",
     "a variable that a job's script takes from outside; several times", fr__add_job_value},
    {OPTIONS_JOB | OPTIONS_JOB_READ, 0, "lenient", NULL,
     "arguments of a job that nobody knows are warnings", fr__set_lenient},
    {OPTIONS_PROBLEM, 'w', "workload", "NAME|PATH", "a zoo model, a workload folder or a profile",
     NULL},
    {OPTIONS_PROBLEM, 0, "profile-device", "TYPE",
     "type of the GPU that the workload's times were measured on, if it does not say", NULL},
    {OPTIONS_PROBLEM, 't', "topology", "NAME|PATH",
     "a preset, a composition, a box of cards or a file", NULL},
    {OPTIONS_PROBLEM, 'g', "gpus", "N", "use the first N GPUs (default: all)", NULL},
    {OPTIONS_PROBLEM, 0, "spread", NULL, "take the GPUs evenly over the machines; a rack is one",
     NULL},
    {OPTIONS_PROBLEM, 0, "devices", "LIST",
     "use these GPUs in this order: n0.gpu0,n0.gpu4; n0..1.gpu0..3", NULL},
    {OPTIONS_GPUS, 'g', "gpus", "N", "the first N GPUs (default: all)", NULL},
    {OPTIONS_GPUS, 0, "spread", NULL, "take the GPUs evenly over the machines; a rack is one",
     NULL},
    {OPTIONS_GPUS, 0, "devices", "LIST", "these GPUs: n0.gpu0,n0.gpu4; n0..1.gpu0..3", NULL},
    {OPTIONS_PROBLEM, 's', "strategy", "NAME[:KEY=VALUE,...]",
     "how to parallelise; several times to compare", add_strategy},
    {OPTIONS_SHAPE, 'b', "batch", "N", "samples per iteration, over all GPUs", NULL},
    {OPTIONS_PROBLEM, 'B', "batch-per-gpu", "N", "samples per iteration on each GPU", NULL},
    {OPTIONS_SHAPE, 'p', "precision", "TYPE",
     "fp32, tf32, fp16, bf16, amp or fp8 (attention in bf16, but for MODEL:attention=flash-fp8); "
     "a number-format recipe: fp8-delayed, fp8-current, fp8-blockwise, mxfp8, mxfp4, nvfp4 or FILE",
     NULL},
    {OPTIONS_PROBLEM, 'O', "optimizer", "NAME",
     "sgd, momentum, adam, lion, adam-8bit, adafactor, adafactor-momentum, muon, shampoo or soap",
     NULL},
    {OPTIONS_PROBLEM, 0, "zero-grad", "HOW",
     "gradients after the step: none (dropped) or zero (kept)", NULL},
    {OPTIONS_SHAPE, 0, "seq-len", "N", "tokens per sample, for sequence models", NULL},
    {OPTIONS_SHAPE, 0, "image-size", "N", "side of the square images, for image models", NULL},
    {OPTIONS_SHAPE, 0, "tune", "HOW",
     "what is trained: lora:rank=16, qlora, prompt:tokens=20, freeze:layers=8; all by default",
     NULL},
    {OPTIONS_LAYERS | OPTIONS_OPS | OPTIONS_EXPLAIN, 0, "recipe", "NAME|FILE",
     "what the training software does beside the model (forerun recipe list)", NULL},
    {OPTIONS_LAYERS | OPTIONS_OPS | OPTIONS_EXPLAIN, 0, "fuse", "NAME+...",
     "ops that become one kernel: bias-activation, xla, inductor, ... (forerun graph show --fuse)",
     NULL},
    {OPTIONS_LAYERS | OPTIONS_OPS | OPTIONS_EXPLAIN, 0, "layout", "nchw|nhwc",
     "how images lie in memory: channel by channel, or pixel by pixel", NULL},
    {OPTIONS_COMM, 't', "topology", "NAME|PATH",
     "a preset, a composition, a box of cards or a file", NULL},
    {OPTIONS_COMM, 'b', "minbytes", "SIZE", "smallest size; K, M, G of 1024 (8)", fr__set_comm_min},
    {OPTIONS_COMM, 'e', "maxbytes", "SIZE", "largest size (1G)", fr__set_comm_max},
    {OPTIONS_COMM, 'f', "stepfactor", "N", "from size to size (2)", fr__set_comm_factor},
    {OPTIONS_COMM, 'i', "stepbytes", "SIZE", "or so many bytes more each time", fr__set_comm_step},
    {OPTIONS_COMM, 0, "sizes", "LIST", "or just these: 4K,1M,25M", fr__add_comm_sizes},
    {OPTIONS_COMM, 'd', "datatype", "TYPE", "half, float, bfloat16, int8, ... (float)",
     fr__set_comm_type},
    {OPTIONS_COMM, 0, "op", "OP", "sum, prod, max, min or avg (sum)", fr__set_comm_op},
    {OPTIONS_COMM, 'o', "output", "FILE|OP",
     "a file of the curves, or with --explain of the steps; several times; or as --op",
     fr__add_comm_output},
    {OPTIONS_COMM, 0, "links", NULL, "with the busiest link of each size", fr__set_comm_links},
    {OPTIONS_COMM, 0, "explain", NULL,
     "of the largest size: rounds, who sends what to whom, links; -o draws them",
     fr__set_comm_explain},
    {OPTIONS_COMM, 0, "collective-algorithm", "LIST|file:PATH",
     "instead of a fitted time or NCCL's choice, several side by side; 'forerun comm list'",
     fr__add_comm_way},
    {OPTIONS_COMM, 0, "protocol", "NAME", "of NCCL: LL, LL128 or Simple", NULL},
    {OPTIONS_COMM, 0, "nccl-channels", "N", "most trees at the same time", NULL},
    {OPTIONS_COMM, 0, "nccl-version", "2.N", "whose constants (default: the newest known)", NULL},
    {OPTIONS_RUN, 0, "order", "RULE",
     "of ready tasks: priority (default), fifo, strict, control; of transfers: random, tic, tac",
     NULL},
    {OPTIONS_RUN, 0, "network", "MODEL", "flow (transfers share links) or analytic", NULL},
    {OPTIONS_RUN, 0, "channels", "N|inf", "transfers that a device sends, and receives, at once",
     NULL},
    {OPTIONS_RUN, 0, "collectives", "FORM", "auto, or rings: expanded (steps), closed (formula)",
     NULL},
    {OPTIONS_RUN, 0, "collective-algorithm", "NAME|file:PATH",
     "how collectives go, none at a fitted time; 'forerun comm list'", NULL},
    {OPTIONS_RUN, 0, "protocol", "NAME", "of NCCL, likewise: LL, LL128 or Simple", NULL},
    {OPTIONS_RUN, 0, "nccl-channels", "N", "most trees of a collective at the same time", NULL},
    {OPTIONS_RUN, 0, "nccl-version", "2.N",
     "whose latencies a protocol has (default: the newest known)", NULL},
    {OPTIONS_RUN, 0, "recipe", "NAME|FILE",
     "what the training software does beside the model (forerun recipe list); none: nothing", NULL},
    {OPTIONS_RUN, 0, "fuse", "NAME+...",
     "ops that become one kernel: bias-activation, xla, inductor, ... (forerun graph show --fuse)",
     NULL},
    {OPTIONS_RUN, 0, "layout", "nchw|nhwc",
     "how images lie in memory: channel by channel, or pixel by pixel", NULL},
    {OPTIONS_RUN, 0, "input-rate", "N", "samples a second that each machine reads and prepares",
     NULL},
    {OPTIONS_RUN, 0, "decode-rate", "N", "images a second that a core of each machine decodes",
     NULL},
    {OPTIONS_RUN, 0, "host-cores", "N", "cores of each machine that decode (default: all)", NULL},
    {OPTIONS_RUN, 0, "host-op", "TIME",
     "time of the host to launch an op; or three: forward, backward, update of a tensor", NULL},
    {OPTIONS_RUN, 0, "host-sync", "POINT+...",
     "where the host waits for the GPU: loss, micro, norm, scaler, sum, step; none", NULL},
    {OPTIONS_RUN, 0, "host-process", "gpu|machine",
     "GPUs that one process drives: its own, or all of its machine", NULL},
    {OPTIONS_RUN, 0, "host-step", "TIME", "time of the host between two steps", NULL},
    {OPTIONS_RUN, 0, "transport", "verbs|sockets",
     "messages leave machines by their cards' verbs, or through the hosts' kernels", NULL},
    {OPTIONS_RUN, 0, "host-speed", "FACTOR",
     "a core's speed, 1: that of the CPU on which host times were measured", NULL},
    {OPTIONS_RUN, 0, "update", "NAME+...",
     "how software runs the optimizer: torch-adamw-loop, apex-adam, ... (lowering/updates.yaml)",
     NULL},
    {OPTIONS_RUN, 0, "power-limit", "WATTS",
     "what each GPU may draw, 500W: its clock falls until it does (default: board, its own)", NULL},
    {OPTIONS_RUN, 0, "alloc", "WHEN", "buffers are allocated at dispatch or at start of a task",
     NULL},
    {OPTIONS_RUN, 0, "memory", "MODEL",
     "device (allocator and context), liveness (tensors alone) or tf1", NULL},
    {OPTIONS_RUN, 0, "costs", "SOURCE", "calibrated (default), datasheet, or a device file's path",
     NULL},
    {OPTIONS_RUN, 0, "seed", "N|A..B",
     "seed of all random numbers; 0..19: mean, error and percentiles of 20 runs", NULL},
    {OPTIONS_RUN, 0, "jitter", "[SHAPE:]CV",
     "random spread of task times: standard deviation over mean; normal, uniform, lognormal, gamma",
     NULL},
    {OPTIONS_RUN, 0, "device-jitter", "[SHAPE:]CV",
     "random slow-down of whole devices: standard deviation over mean", NULL},
    {OPTIONS_RUN, 0, "interference", "SOURCE|FACTOR",
     "compute beside collectives: measured (default, where a device file says), published, "
     "measured-or-published, none, 1.2",
     NULL},
    {OPTIONS_RUN, 0, "gpu-variation", "PART",
     "GPUs of a type differ by this standard deviation over mean, and all wait for the slowest: "
     "0.015",
     NULL},
    {OPTIONS_RUN, 0, "length-variation", "PART",
     "the work of the GPUs' batches differs by this standard deviation over mean, as sentences do "
     "in length, and all wait for the longest: 0.057",
     NULL},
    {OPTIONS_RUN, 0, "slow", "NAME=FACTOR,...",
     "these devices take FACTOR times as long: n3.gpu2=1.3; n0..1.gpu*=1.1", NULL},
    {OPTIONS_RUN, 0, "degrade", "NAME=PART,...",
     "these links carry PART of what they would: n0.nic1=0.5; 0: failed", NULL},
    {OPTIONS_RUN, 0, "measured", "TIME[@N[:HOW]]|FILE.csv",
     "what one GPU, or N by strategy HOW, took for their part of the batch; or a table", NULL},
    {OPTIONS_ANSWER, 0, "seeds", "A..B", "the same as --seed A..B", fr__set_seeds},
    {OPTIONS_ANSWER, 0, "iterations", "N",
     "iterations in a row; the time of the last is the answer", NULL},
    {OPTIONS_ANSWER, 0, "sensitivity", NULL,
     "how much faster links and devices would help, from one run", fr__set_sensitivity},
    {OPTIONS_ANSWER, 0, "sensitivity-rerun", NULL,
     "the same, and run again with each of them faster", fr__set_sensitivity_rerun},
    {OPTIONS_ANSWER, 0, "uncertainty", NULL, "how far the errors of op costs may move the time",
     fr__set_uncertainty},
    {OPTIONS_ANSWER, 0, "why-uncertain", NULL, "the same, and which ops cause it",
     fr__set_why_uncertain},
    {OPTIONS_COSTS, 0, "costs", "SOURCE",
     "calibrated (default), datasheet, or a device file's path", NULL},
    {OPTIONS_EXPLAIN, 0, "ops", "N", "explain the first N operations (default 40; 0: all)",
     set_most_ops},
    {OPTIONS_EXPLAIN, 0, "op", "NAME", "explain this operation only", set_op},
    {OPTIONS_VALIDATE, 0, "costs", "SOURCE",
     "calibrated (default), datasheet, or a device file's path", NULL},
    {OPTIONS_VALIDATE, 'j', "jobs", "N", "rows at once (default: one per core)", fr__set_jobs},
    {OPTIONS_VALIDATE, 0, "anchored", NULL,
     "predict rows of several GPUs from their source's one-GPU row", set_anchored},
    {OPTIONS_VALIDATE, 0, "all", NULL, "print every row", set_all},
    {OPTIONS_WHOLE, 0, "tokens", "N",
     "tokens of the whole training run, for its time and cost: 300B, 1.5T", fr__set_tokens},
    {OPTIONS_WHOLE, 0, "samples", "N", "samples of the whole training run instead (1e9)",
     fr__set_samples},
    {OPTIONS_WHOLE, 0, "price", "USD|NAME=USD,...",
     "USD an hour of a GPU, by type, machine or cluster: v100=2.5,p5.48xlarge=98.3; energy=USD a "
     "kWh",
     fr__add_prices},
    {OPTIONS_COMPARE, 0, "explain", NULL,
     "why each takes longer or less than the first: by part, op and place", set_why},
    {OPTIONS_ADVICE, 0, "trace-ranks", "LIST",
     "show these ranks alone in .trace.json: 0,4 or n0.gpu0..3", fr__set_trace_ranks},
    {OPTIONS_ADVICE, 0, "trace-micro-batches", "N",
     "show the first N micro-batches there (default: as many as make 50000 tasks)",
     fr__set_trace_micro},
    {OPTIONS_ADVICE, 0, "no-advice", NULL, "out of memory: do not look for what would fit",
     set_no_advice},
    {OPTIONS_SWEEP, 0, "no-advice", NULL, "where nothing fits: do not look for what would",
     set_no_advice},
    {OPTIONS_ANSWER, 0, "no-timing", NULL, "print 0 for wall-clock times: output never varies",
     set_no_timing},
    {OPTIONS_SWEEP, 0, "price", "USD|NAME=USD,...",
     "USD an hour of a GPU, by type, machine or cluster: v100=2.5,p5.48xlarge=98.3; energy=USD a "
     "kWh",
     fr__add_prices},
    {OPTIONS_SWEEP, 0, "samples", "N", "samples of the whole training run (1e9)", fr__set_samples},
    {OPTIONS_SWEEP, 0, "tokens", "N", "tokens of the whole training run instead: 300B, 1.5T",
     fr__set_tokens},
    {OPTIONS_SWEEP, 0, "deadline", "TIME", "time for the whole run: 36h, 30days", fr__set_deadline},
    {OPTIONS_SWEEP, 'j', "jobs", "N", "points at once (default: one per core)", fr__set_jobs},
    {OPTIONS_SWEEP, 0, "store", "FILE", "keep the answers: an interrupted sweep goes on from there",
     fr__set_store},
    {OPTIONS_SWEEP, 0, "shard", "I/N", "only the I-th of N parts, for batch systems",
     fr__set_shard},
    {OPTIONS_SWEEP, 0, "columns", "NAME,...",
     "what tables show of a point: iteration, tokens, mfu, efficiency, ... (below)",
     fr__add_columns},
    {OPTIONS_SWEEP, 0, "all", NULL, "print every point", set_all},
    {OPTIONS_SWEEP, 0, "dry-run", NULL, "print how many points there are, and answer none",
     set_dry_run},
    {OPTIONS_SEARCH, 0, "deadline", "TIME", "time for the whole run: 36h, 30days",
     fr__set_deadline},
    {OPTIONS_SEARCH, 0, "top", "N", "layouts wanted, simulated op by op (10)", fr__set_top},
    {OPTIONS_SEARCH, 0, "within", "PERCENT%",
     "and all whose coarse time is so close to the best (0)", fr__set_within},
    {OPTIONS_SEARCH, 0, "fix", "AXIS=VALUE",
     "dp, tp, pp, cp, ep, etp, micro, virtual, schedule, zero, recompute or map; several times",
     fr__add_axis},
    {OPTIONS_SEARCH, 0, "vary", "AXIS=VALUE,...",
     "these values of an axis; of nic and gpus, too: a search on each cluster", fr__add_axis},
    {OPTIONS_SEARCH, 0, "why", "AXIS=VALUE,...", "what became of the layouts with these values",
     fr__set_why_layout},
    {OPTIONS_SEARCH, 0, "exhaustive", NULL, "bound nothing away: simulate all that fit",
     fr__set_exhaustive},
    {OPTIONS_SEARCH, 0, "print-flags", "NAME",
     "the best layout as flags of megatron, deepspeed or torchtitan", fr__set_flags_of},
    {OPTIONS_SEARCH, 'j', "jobs", "N", "layouts at once (default: one per core)", fr__set_jobs},
    {OPTIONS_SEARCH, 0, "store", "FILE",
     "keep what was simulated op by op: an interrupted search goes on from there", fr__set_store},
    {OPTIONS_LEARN, 0, "rounds", "N", "most rounds of pre-training (100)", fr__set_rounds},
    {OPTIONS_LEARN, 0, "iterations", "N", "iterations measured in each round (10)",
     fr__set_measured},
    {OPTIONS_LEARN, 0, "eps", "X", "least relative change of a cost that counts (0.05)",
     fr__set_eps},
    {OPTIONS_LEARN, 0, "activation", "TIME", "time to switch to another plan (30s)",
     fr__set_activation},
    {OPTIONS_LEARN, 0, "profiles", "N", "rounds after pre-training that look for changes (0)",
     fr__set_profiles},
    {OPTIONS_LEARN, 0, "every", "N", "iterations before each profile (500)", fr__set_every},
    {OPTIONS_LEARN, 0, "drift", "GPU:FACTOR@ITERATION",
     "from ITERATION on this GPU takes FACTOR times as long", fr__set_drift},
    {OPTIONS_FILES | OPTIONS_EXPLAIN, 'o', "output", "FILE",
     "also write a file, whose ending gives the format; several times", add_file},
    {OPTIONS_RANDOM, 'o', "output", "FILE", "write it there", add_file},
    {OPTIONS_LAYERS, 0, "layers", NULL,
     "a row for each layer: output, parameters, FLOPs, what it keeps", set_layers},
    {OPTIONS_OPS, 0, "layer", "NAME", "the layers of one block, or one layer, not folded",
     set_layer},
    {OPTIONS_OPS, 0, "ops", NULL, "single ops instead of layers", set_ops},
    {OPTIONS_OPS, 0, "phase", "PHASE",
     "forward (default), backward, update, ...: ops and FLOPs; several times", add_phase},
    {OPTIONS_EXCHANGE, 'o', "output", "FILE",
     "write the cluster too: .yaml, or .xml for SimGrid; several times", add_file},
    {OPTIONS_IMPORT, 0, "gpu-type", "TYPE", "what the GPUs of the file are, where it does not say",
     set_gpu_type},
    {OPTIONS_PICTURE, 'o', "output", "FILE",
     "the picture: .svg, .png, .pdf, or .dot for its text; several times", add_file},
    {OPTIONS_DEVICE, 'd', "device", "NAME|PATH",
     "the device: a type to fit, a device file to check", fr__set_device},
    {OPTIONS_DEVICE, 0, "gpu", "TEXT", "a name in the data's 'gpu' column; several times",
     fr__add_gpu},
    {OPTIONS_DEVICE, 0, "system", "NAME|PATH",
     "collectives: a name in the data's 'system' column to fit, a system to check", fr__set_system},
    {OPTIONS_ROWS, 0, "rows-of", "NAME",
     "check the system on rows of this name in the data's 'system' column", fr__set_rows_of},
    {OPTIONS_ROWS, 0, "min-bytes", "SIZE", "collectives: check rows of at least this many bytes",
     fr__set_min_bytes},
    {OPTIONS_ROWS, 0, "from", "NAME|PATH",
     "check these curves, moved to the type of -d (needs --gpu)", fr__set_from},
    {OPTIONS_ROWS, 0, "all", NULL, "also rows of shapes that a fit may have used", set_all},
    {OPTIONS_FITS, 'o', "output", "DIR|FILE",
     "pictures of fit against data: a folder, or one .png, .svg or .pdf; .csv: the rows; several "
     "times",
     add_file},
    {OPTIONS_SCHEDULE, 0, "ranks", "N", "devices of the pipeline", fr__set_ranks},
    {OPTIONS_SCHEDULE, 0, "virtual", "N", "stages a device (default: the schedule's)",
     fr__set_virtual},
    {OPTIONS_SCHEDULE, 0, "micro-batches", "N", "of one step", fr__set_micros},
    {OPTIONS_SCHEDULE, 0, "group", "N",
     "micro-batches that visit a stage before the device's next one", fr__set_group},
    {OPTIONS_SCHEDULE, 0, "backward", "ORDER",
     "of micro-batches: descending or ascending, where the schedule leaves it open",
     fr__set_backward},
    {OPTIONS_SCHEDULE, 0, "vertical-sync", NULL,
     "stages read the version of the weights that the first stage read", fr__set_vertical_sync},
    {OPTIONS_SCHEDULE, 0, "times", "LIST",
     "of actions: F=1,I=1,W=1,B=2,FB=3,comm=0 are the defaults (B: I+W, FB: F+B)", fr__set_times},
    {OPTIONS_SCHEDULE, 0, "stages", "LIST", "a factor of the times of each stage: 1,2,1,1",
     fr__set_stage_scale},
    {OPTIONS_SCHEDULE_COMMS, 0, "comms", NULL,
     "with PyTorch's sends, receives, gathers and reductions between the passes", fr__set_comms},
    {OPTIONS_SCHEDULE, 0, "one-model", NULL,
     "times are of a device's share of the model: of two stages each takes half",
     fr__set_one_model},
    {OPTIONS_SCHEDULE_DRAW, 'o', "output", "FILE",
     "write a file, whose ending gives the format; several times", add_file},
    {OPTIONS_COMM | OPTIONS_EXPLAIN | OPTIONS_FILES | OPTIONS_PICTURE | OPTIONS_FITS |
         OPTIONS_SCHEDULE_DRAW,
     0, "grey", NULL, "pictures without colours, for print", set_grey},
    {OPTIONS_JSON, 0, "json", NULL, "JSON on standard output", set_json},
    {OPTIONS_STRICT, 0, "strict", NULL,
     "exit with 4 where a warning puts the figures in doubt, or the range is a guess", set_strict},
    {OPTIONS_MANIFEST, 0, "manifest", "FILE",
     "write what the answer rests on; without a question: ask the file's again", fr__set_manifest},
    {OPTIONS_PROBLEM | OPTIONS_COSTS | OPTIONS_VALIDATE | OPTIONS_DEVICE, 0, "allow-implausible",
     NULL, "take devices, links and costs with figures that no machine has", set_allow_implausible},
    {OPTIONS_PROBLEM | OPTIONS_COSTS | OPTIONS_VALIDATE, 0, "memory-limit", "SIZE|none",
     "of this machine, for this command (default: what is free): larger questions are refused",
     fr__set_memory_limit},
    {OPTIONS_COMMON, 'q', "quiet", NULL, "no progress, no notes", set_quiet},
    {OPTIONS_COMMON, 'v', "verbose", NULL, "more detail", set_verbose},
    {OPTIONS_COMMON, 'h', "help", NULL, "this text", set_help},
    {OPTIONS_COMMON, 'V', "version", NULL, "the version", set_version},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- what is done with rows ---- */

/* Whether a verb takes an option: a sweep, of those that change answers, only what it can vary, and
 * what holds for all its points. */
static bool takes(uint64_t groups, const struct option_row *row)
{
    bool is_of_question =
        (row->group & (OPTIONS_SHAPE | OPTIONS_PROBLEM | OPTIONS_RUN | OPTIONS_ANSWER)) != 0;

    if (!(row->group & groups))
        return false;
    return !(groups & OPTIONS_SWEEP) || !is_of_question || !row->set || row->set == add_strategy ||
           row->set == set_allow_implausible || row->set == fr__set_memory_limit;
}

/* Whether an option may be given several times: its setter adds to what is there. */
static bool adds_up(const struct option_row *row)
{
    static enum fr_status (*const adders[])(struct fr__options * o, const char *value,
                                            struct fr_error *err) = {
        add_strategy,        add_file,         fr__add_gpu,
        add_phase,           fr__add_prices,   fr__add_columns,
        fr__add_axis,        fr__add_comm_way, fr__add_comm_sizes,
        fr__add_comm_output, fr__add_job,      fr__add_job_value};

    for (size_t i = 0; i < sizeof(adders) / sizeof(adders[0]); i++)
        if (row->set == adders[i])
            return true;
    return false;
}

/* What verbs of these groups take for an option that is not given: of one that sets no setting of
 * the question, and of a setting that is theirs. */
static const char *fallback_of(const struct option_row *row, uint64_t groups)
{
    static const struct {
        uint64_t group;
        const char *name, *value;
    } values[] = {{OPTIONS_COMM, "minbytes", "8"},      {OPTIONS_COMM, "maxbytes", "1G"},
                  {OPTIONS_COMM, "stepfactor", "2"},    {OPTIONS_COMM, "datatype", "float"},
                  {OPTIONS_COMM, "op", "sum"},          {OPTIONS_SEARCH, "top", "10"},
                  {OPTIONS_SEARCH, "within", "0%"},     {OPTIONS_LEARN, "rounds", "100"},
                  {OPTIONS_LEARN, "iterations", "10"},  {OPTIONS_LEARN, "eps", "0.05"},
                  {OPTIONS_LEARN, "activation", "30s"}, {OPTIONS_LEARN, "profiles", "0"},
                  {OPTIONS_LEARN, "every", "500"},      {OPTIONS_EXPLAIN, "ops", "40"}};

    if (groups & OPTIONS_SOFTWARE && strcmp(row->name, "recipe") == 0)
        return FR_RECIPE_DEFAULT;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (row->group == values[i].group && strcmp(row->name, values[i].name) == 0)
            return values[i].value;
    return NULL;
}

/* Refuses a second value of an option that has one. Two names of one setting are one option. */
static enum fr_status note_given(struct fr__options *o, const struct option_row *row,
                                 const char *value, struct fr_error *err)
{
    const char *name = strcmp(row->name, "seeds") == 0 ? "seed" : row->name;
    bool is_setting = !row->set || row->set == fr__set_seeds;

    if (!value || adds_up(row) || (is_setting && (o->sweep || o->takes_several)))
        return FR_OK;
    for (size_t i = 0; i < o->n_given; i++)
        if (strcmp(o->given[i].name, name) == 0)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "option '--%s' is given twice, \"%.60s\" and \"%.60s\", and takes one "
                            "value here%s",
                            row->name, o->given[i].value, value,
                            is_setting ? "; 'forerun compare' and 'forerun sweep' take several"
                                       : "");
    if (o->n_given == FR__MOST_GIVEN)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d options", FR__MOST_GIVEN);
    o->given[o->n_given++] = (struct fr__given){name, value};
    return FR_OK;
}

/* For a manifest, which tells what was typed. */
static enum fr_status note_typed(struct fr__options *o, const struct option_row *row,
                                 const char *value, struct fr_error *err)
{
    if (o->n_typed == FR__MOST_GIVEN)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d options", FR__MOST_GIVEN);
    o->typed[o->n_typed++] = (struct fr__given){row->name, value};
    return FR_OK;
}

enum fr_status fr__options_set(struct fr__options *o, size_t which, const char *value,
                               struct fr_error *err)
{
    const struct option_row *row = &rows[which];

    FR_TRY(note_given(o, row, value, err));
    FR_TRY(note_typed(o, row, value, err));
    if (o->takes_several && value && (!row->set || row->set == fr__set_seeds))
        FR_TRY(fr__options_note(o, row->set ? "seed" : row->name, value,
                                !(row->group & (OPTIONS_PROBLEM | OPTIONS_SHAPE)), err));
    if (row->set)
        return row->set(o, value, err);
    if (!value)
        value = "1"; /* a flag */
    return o->sweep ? fr_sweep_add(o->sweep, row->name, value, err)
                    : fr_question_set(&o->question, row->name, value, err);
}

enum fr_status fr__options_init(struct fr__options *o, uint64_t groups, struct fr_error *err)
{
    memset(o, 0, sizeof(*o));
    fr_question_init(&o->question);
    fr_learn_options_init(&o->learning);
    o->most_ops = 40;
    o->n_best = 10;
    o->flags_of = FR_N_FRAMEWORKS;
    if (groups & OPTIONS_SOFTWARE)
        o->question.recipe = FR_RECIPE_DEFAULT;
    o->takes_several = (groups & OPTIONS_COMPARE) != 0;
    if (groups & OPTIONS_SWEEP) {
        o->sweep = fr_sweep_new();
        if (!o->sweep)
            return fr__fail_nomem(err);
    }
    return FR_OK;
}

void fr__options_fini(struct fr__options *o)
{
    fr_sweep_free(o->sweep);
    o->sweep = NULL;
    fr_job_free(o->job);
    o->job = NULL;
    fr__arena_free(o->asked_again);
    o->asked_again = NULL;
}

bool fr__options_next(uint64_t groups, size_t *at, struct fr__option *out)
{
    while (*at < N_ROWS && !takes(groups, &rows[*at]))
        ++*at;
    if (*at == N_ROWS)
        return false;
    *out = (struct fr__option){.letter = rows[*at].letter,
                               .name = rows[*at].name,
                               .argument = rows[*at].argument,
                               .help = rows[*at].help,
                               .which = *at,
                               .fallback = fallback_of(&rows[*at], groups),
                               .is_setting = !rows[*at].set,
                               .adds_up = adds_up(&rows[*at])};
    ++*at;
    return true;
}

enum fr_sensitivity fr__options_sensitivity(const struct fr__options *o)
{
    if (o->question.sensitivity != FR_SENSITIVITY_NONE)
        return o->question.sensitivity;
    for (size_t i = 0; i < o->n_files; i++)
        if (fr_kind_is_page(FR_KIND_RUN, o->files[i]))
            return FR_SENSITIVITY_RUN;
    return FR_SENSITIVITY_NONE;
}
