/* study/study.h - a question asked, and its answer as a record.
 *
 * A question names a workload, a cluster, a strategy and how to run them. Its answer is a record:
 * plain values that every writer of results/ (table, JSON, CSV, trace, picture) reads. The record
 * also keeps the plan and the run alive, for the writers that draw single tasks.
 *
 * Memory. The engine counts buffers as the plan states them; what a GPU must hold is more:
 *   allocated = the most bytes of the caching allocator's blocks in use at once
 *   reserved  = the most bytes of its segments (sim/memory/allocator.h)
 *   peak      = reserved + context
 * With run.memory = FR_MEMORY_LIVENESS all three are the most bytes of buffers at once, without the
 * context; so they are for CPUs under either model.
 */
#ifndef FORERUN_STUDY_H
#define FORERUN_STUDY_H

#include "base/base.h"
#include "sim/sim.h"
#include "strategies/strategies.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- questions ---- */

/* How collectives run. AUTO: at the time fitted to their machine if there is one; else as NCCL
 * would choose, or as rings with data sheet costs, step by step if that is affordable (at most 5
 * million steps of one ring in the whole plan), or by the closed form. EXPANDED: all as rings step
 * by step. CLOSED: all as rings by their closed form. A limit to run.rings also asks for rings. */
enum fr_collectives { FR_COLLECTIVES_AUTO, FR_COLLECTIVES_EXPANDED, FR_COLLECTIVES_CLOSED };

/* What to find out about faster links and devices. RUN: what one run says. RERUN: also what runs
 * with each of them 1 % slower and faster, and FR_FASTER times as fast, say. */
enum fr_sensitivity { FR_SENSITIVITY_NONE, FR_SENSITIVITY_RUN, FR_SENSITIVITY_RERUN };
#define FR_FASTER 1.25
#define FR_PUBLISHED_INTERFERENCE 1.189

/* How far the errors of op costs may move the time. INTERVAL: an interval; WHY: also which ops
 * cause it. */
enum fr_uncertainty { FR_UNCERTAINTY_NONE, FR_UNCERTAINTY_INTERVAL, FR_UNCERTAINTY_WHY };

/* Points of enum fr_host_sync that depend on the question: SCALER is FR_HOST_SYNC_NORM under 16
 * bits, where gradients are looked through for numbers that are not finite; SUM is it on several
 * GPUs, where the host learns that gradients are summed before it launches what uses them. GIVEN:
 * the points are known. */
enum { FR_HOST_SYNC_SCALER = 1 << 8, FR_HOST_SYNC_GIVEN = 1 << 9, FR_HOST_SYNC_SUM = 1 << 10 };

/* The GPUs that one process of the software drives. Its launches take turns. */
enum fr_host_process {
    FR_PROCESS_DEFAULT, /* as a recipe says, else GPU */
    FR_PROCESS_GPU,     /* a process of its own each */
    FR_PROCESS_MACHINE, /* all those of a machine that are used */
    FR_N_PROCESSES
};

/* How messages leave a machine. */
enum fr_transport {
    FR_TRANSPORT_DEFAULT, /* as a recipe says, else VERBS */
    FR_TRANSPORT_VERBS,   /* as the topology says: InfiniBand's and RoCE's by their cards */
    FR_TRANSPORT_SOCKETS, /* through the host's kernel, as behind "over" of a topology */
    FR_N_TRANSPORTS
};

#define FR_RECIPE_DEFAULT "default"

struct fr_question {
    const char *workload, *topology, *strategy; /* as fr_workload_load, fr_topo_load,
                                                   fr_strategy_parse take them */
    size_t n_gpus;                              /* 0: all of the topology's */
    bool is_spread;                             /* evenly over the machines, not the first n */
    /* Names of the GPUs in rank order, as fr_topo_select_named takes them; n_gpus must be 0 and
     * is_spread false. NULL: n_gpus and is_spread choose the GPUs. */
    const char *devices;
    uint32_t global_batch;  /* samples per iteration over all GPUs (strong scaling) */
    uint32_t batch_per_gpu; /* or per GPU (weak scaling); both 0: global, the workload's own */
    uint32_t seq_len;       /* 0: the workload's own */
    uint32_t image_size;    /* side of square images; 0: the workload's own */
    enum fr_dtype dtype;    /* FR_N_DTYPES: the workload's own */
    /* A number-format recipe of that dtype: its name, or the path of a file
     * (workloads/graph/formats.h). NULL: none */
    const char *formats;
    const char *profile_device; /* type of the GPU on which the workload's times were measured, of
                                   those that name none; NULL: not known */
    /* What one GPU took for a step of this model, number format and GPU type with as many samples
     * as each GPU has here: "412ms"; or the path of a table of such steps
     * (study/interval/measured.h). It corrects the answer. NULL: none. */
    const char *measured;
    const char
        *measured_strategy; /* of those steps, on one GPU; NULL: plain training. No setting */
    const char *costs; /* "datasheet": rooflines only; "calibrated" or NULL: curves; else a device
                          file's path, whose curves come first */
    enum fr_optimizer optimizer;
    bool keeps_gradients;            /* --zero-grad zero */
    enum fr_collectives collectives; /* decides run.closed_form_collectives and run.rings_only */
    /* Devices by name that take longer: "n3.gpu2=1.3,n0..1.gpu*=1.1" (fr_topo_match); factors of
     * one that is named twice multiply. NULL: none. */
    const char *slow;
    /* How many times as long compute takes while a collective runs on its GPU. 0: as a device file
     * says, 1 where none does; 1: nothing slows anything, whatever a file says;
     * FR_PUBLISHED_INTERFERENCE: the mean of published runs, see study/question/interference.c; its
     * negative: as a device file says, that mean where none does. */
    double beside_collectives;
    /* How much GPUs of one type differ: standard deviation over mean of what compute takes. All
     * wait for the slowest in each step, see study/question/variation.h. 0: as a recipe says, else
     * they are alike; below 0: they are alike. */
    double gpu_variation;
    /* How much the work of the GPUs' batches differs in one step, as sentences do in length: its
     * standard deviation over its mean, where each GPU has a batch of its own. All wait for the
     * longest, likewise. 0: as a recipe says, else they are alike; below 0: they are alike. */
    double length_variation;
    /* What software does beside the model, study/recipes/recipe.h; FR_RECIPE_DEFAULT: the usual
     * one of such a run, if there is one; NULL: none. */
    const char *recipe;
    bool is_recipe_assumed;      /* it was FR_RECIPE_DEFAULT; an answer sets this */
    unsigned fusions;            /* bit 1 << f for each fr_fusion of the graph */
    enum fr_image_layout layout; /* of its images; default: as a recipe says, else as measured */
    const char *tune;            /* what of it is trained, workloads/passes/tune.h; NULL: all */
    double input_rate; /* samples a second that each machine can read and prepare; 0: any */
    /* Host time of an op, by part of the step; 0: the GPU type's. is_host_op_by_part: the last is
     * that of each parameter tensor that is updated, not of an op. */
    double host_op_s[FR_N_HOST_WORK];
    bool is_host_op_by_part;
    unsigned host_syncs; /* where the host waits for the GPU, FR_HOST_SYNC_GIVEN among them; 0: as a
                            recipe says, else host and GPU begin each step together */
    double host_step_s; /* host time between steps; 0: as a recipe says, else none; below 0: none */
    enum fr_host_process host_process;
    enum fr_transport transport;
    double host_speed;  /* of one core, 1 where host times were measured; 0: 1 */
    double decode_rate; /* images a second that a core decodes; 0: as a recipe says, else any; below
                            0: any */
    double host_cores;  /* that decode in each machine; 0: all of its CPU */
    uint64_t updates;   /* rows of lowering/update.h: how software runs a step; 0: the least */
    double power_limit_W; /* of each GPU; 0: what its board may draw; INFINITY: none */
    const char *degrade;  /* links that carry less, as behind "less" of a topology; NULL: none */
    uint32_t n_seeds;     /* run.seed and the next ones, one run each; 0 or 1: run.seed alone */
    struct fr_collective_options
        way;             /* of collectives at no fitted time; an algorithm or a protocol
                                         asks that none takes its fitted time */
    uint32_t iterations; /* simulated in a row, device by device; 0 or 1: one by itself */
    enum fr_sensitivity sensitivity;
    enum fr_uncertainty uncertainty;
    bool
        with_advice; /* fr_answer only: if it does not fit, what would; see study/advice/advice.h */
    /* Only the figures that a row of a sweep has: a record without links, critical path, holders
     * of memory, whose run is not held against its plan afterwards. Figures are the same. */
    bool is_brief;
    /* fr_answer_on only: where to say that what some device holds for the whole iteration is more
     * than its memory. Then the plan is not run, and the answer is FR_ENOROOM; and ranks are folded
     * wherever they can be. NULL: it is run. */
    bool *is_overfull;
    struct fr_run_options run; /* context, want: the answering function's */
    const char *command;       /* the command that asked it, for reports; NULL: not known */
    bool no_timing;            /* every wall-clock and CPU time is written as 0 */
    bool allow_implausible;    /* devices and links may have figures that no machine has */
};
/* No names, plain SGD, the engine's defaults, except that memory is that of devices and the order
 * is program order (FR_ORDER_PRIORITY), in which frameworks launch kernels. */
void fr_question_init(struct fr_question *q);

/* ---- the settings of a question, as text ---- */

/* For a question whose settings were read from a file: refuses strategies that are shared objects,
 * also that of a measured step ("412ms@8:./mine.so"). Nothing is loaded by looking. A table of
 * measured steps looks at its own rows. FR_EUSAGE, at loc. */
enum fr_status fr_question_refuse_code(const struct fr_question *q, struct fr_loc loc,
                                       struct fr_error *err);

/* Names of settings are those of the command's options without dashes: "workload", "seq-len".
 * What stands for "not given" is a value too: gpus=all; devices=none; batch,
 * batch-per-gpu, seq-len, image-size and precision=default. */
enum { FR_N_SETTINGS = 50 };
const char *fr_question_setting(size_t i); /* NULL past the end; in the order of keys */
/* Several values of it may be written in one text, with commas between them. */
bool fr_question_setting_is_list(size_t i);
/* text must outlive q where it names something (workload, topology, devices, strategy; not read any
 * further here). FR_EUSAGE, FR_EPARSE, FR_ERANGE: *q is as before. */
enum fr_status fr_question_set(struct fr_question *q, const char *name, const char *text,
                               struct fr_error *err);
/* The value of setting i as fr_question_set reads it; the caller frees; NULL: out of memory. */
char *fr_question_text(const struct fr_question *q, size_t i);
/* All settings, with their names: "workload=vgg19|topology=dgx1-v100|precision=default|...". Two
 * questions have the same text only if they are equal. A backslash escapes '|', itself and control
 * characters (\x0a). The caller frees; NULL: out of memory. */
char *fr_question_key(const struct fr_question *q);

/* How a question's workload is loaded, at its own batch: as the question says, and where it does
 * not, its recipe. A recipe that is not one says nothing here. */
struct fr_workload_options fr_question_workload(const struct fr_question *q);
/* Loads its workload with these options, in its number-format recipe. The caller frees the
 * graph. */
enum fr_status fr_question_graph(struct fr_graph **out, const struct fr_question *q,
                                 const struct fr_workload_options *opt, struct fr_error *err);

struct fr_session; /* study/session/session.h */

/* What questions about one workload on one cluster share. Release with fr_setting_fini. */
struct fr_setting {
    struct fr_topo *topo;
    struct fr_graph *graph;
    struct fr_cost_model *costs; /* of the topology's device types */
    struct fr_session *session;  /* session that lent all of it; NULL: the setting owns it */
};
/* Loads what q names. FR_EUSAGE when the workload or the topology is missing, else as the two
 * loading functions; on failure *out is empty. */
enum fr_status fr_setting_load(struct fr_setting *out, const struct fr_question *q,
                               struct fr_error *err);
void fr_setting_fini(struct fr_setting *s);

/* ---- records ---- */

struct fr_record_device {
    const char *name;
    uint32_t device; /* index in the topology */
    uint32_t count;  /* identical devices that this row stands for */
    bool is_gpu;
    double busy_s; /* computing or communicating, an iteration */
    double compute_s, comm_s, exposed_comm_s, idle_s;
    /* Computing on the critical path. If the device is 1 % slower, the iteration takes longer by at
     * least 1 % of this; by more if paths tie. */
    double critical_s;
    uint64_t peak_allocated_bytes, peak_reserved_bytes, peak_bytes;
    uint64_t capacity_bytes;
    /* What the strategy that cut the model into stages went by, context included, with what runs of
     * earlier cuts showed; 0: it chose no cut by memory. */
    double believed_bytes;
    uint64_t memory_bytes[FR_N_BUFFER_KINDS]; /* at the moment of the peak */
};

struct fr_record_link {
    const char *name;
    uint32_t count; /* links that are as busy and of the same kind, this one the first; 1 but in
                       folded plans, which count collectives as rings in rank order */
    double bytes;   /* an iteration */
    double utilisation_frac; /* of what the link could carry in that time */
};

/* How one resource (sim/sim.h) affects the iteration time. */
struct fr_record_sensitivity {
    const char *resource; /* "PCIe bandwidth" */
    uint32_t number;      /* of the resource */
    bool is_time;         /* a latency or launch time: less is better */
    double part_s;        /* of the iteration; below 0: slower would help */
    double elasticity;    /* d ln time / d ln resource: -0.3 is 0.3 % less time for 1 % more */
    double faster_frac;   /* relative change of the time when it is FR_FASTER times as fast */
    double rerun_elasticity, rerun_faster_frac; /* what runs with it changed say, if asked for */
};

/* How the costs of one kind of op with the same trust affect the uncertainty. */
struct fr_record_error_share {
    enum fr_op_kind kind; /* FR_N_OP_KINDS: collectives, or all that was profiled elsewhere */
    enum fr_trust trust;
    double error_frac; /* standard deviation of the logarithm of their error, the largest */
    double effect_s;   /* on the iteration of one standard deviation, all of them together */
    double share;      /* of the sum of squares of all effects */
};

/* Where a step's measured time will lie, by how far published steps of its class were from what we
 * predict (study/interval/). The predicted time itself may lie near an end of it: most software is
 * slower than its parts. */
struct fr_record_interval {
    bool is_known;                  /* false: nothing was predicted, so nothing is claimed */
    double low_s, high_s;           /* 90 % lie inside */
    double half_low_s, half_high_s; /* 50 % lie inside */
    double median_s;
    double cost_error; /* what costs alone allow: standard deviation of the time's logarithm */
    const char *name;  /* the class: "one-gpu fp32" */
    const char *of;    /* in words: "one GPU, products, fp32 or tf32: 46 published ..." */
    bool is_guess;     /* nobody published a step of this place and kind of work */
};

/* Whether a setting `measured` is a time on several GPUs that does not say by which strategy
 * ("412ms@8"), so that it says nothing to questions of several strategies. NULL: no. */
bool fr_measured_is_implicit(const char *text);

/* A measured step that says something else than what is known: `is_known` false, there is none. */
struct fr_record_contradiction {
    bool is_known;
    uint32_t n_gpus, batch; /* of the step */
    double measured_s;
    double expected_s;    /* of it, by what is known */
    double low_s, high_s; /* 90 % of what is known */
    size_t n_others;      /* measured steps that say so; 0: published ones of its class */
};

/* What measured steps changed in an answer. */
struct fr_record_correction {
    bool is_asked;         /* --measured was given, or a recipe that was fitted to steps */
    size_t n_steps;        /* measured steps that are of this question; 0: none was */
    size_t n_recipe_steps; /* that the recipe was fitted to; both 0: nothing is corrected */
    uint32_t n_gpus; /* that the first measured step was measured on; what follows of it: or 0 */
    double compute_factor,
        host_factor,                /* compute, and host time an op, take so many times as long */
        exchange_factor;            /* and all that is exchanged, hidden or not */
    double copies_s;                /* what all that is exchanged takes besides, by its bytes */
    double exchange_s, step_s;      /* what these two, and software once a step, add to each step */
    uint32_t batch;                 /* of the first step */
    double predicted_s, measured_s; /* the first step, before the correction */
    double predicted_bytes, measured_bytes; /* its peak memory; measured 0: not said */
    double error; /* what is left of the step's, standard deviation of the time's logarithm */
    struct fr_record_contradiction contradiction; /* the worst */
    uint64_t n_events;                            /* simulated to find the factors */
};

/* Why a record is out of memory: the device that exceeds its memory most. */
struct fr_record_oom {
    const char *device;
    const char *task;    /* first allocation that did not fit; NULL: the persistent buffers alone */
    uint64_t over_bytes; /* more than it has, with all allocations made */
    const char *phase;   /* of the task, "forward"; NULL without one */
    uint64_t asked_bytes; /* by the first allocation that did not fit */
    uint64_t capacity_bytes;
};

/* What a device holds at its peak: the most bytes of its buffers, and of the context if it
 * counts. */
struct fr_record_holder {
    const char
        *name; /* "conv1_1 [mb 3]": the task that allocated it, the op whose parameters ... */
    enum fr_buffer_kind kind;
    uint64_t bytes;
    bool stays;     /* the whole iteration */
    double since_s; /* start of the task that allocated it */
};
struct fr_record_peak {
    const char *device; /* the one that must hold most or, out of memory, lacks most; NULL: none */
    double at_s;
    const char *task, *phase; /* whose allocation reached it; NULL: the persistent buffers' */
    uint64_t bytes;           /* of buffers and context, unrounded */
    uint64_t memory_bytes[FR_N_BUFFER_KINDS];
    size_t n_holders, holders_total;
    const struct fr_record_holder *holders; /* largest first */
};

enum {
    FR_RECORD_MAX_CRITICAL = 100,
    FR_RECORD_MAX_LINKS = 50,
    FR_RECORD_MAX_HOLDERS = 20,
    FR_RECORD_MAX_ADVICE = 16
};

/* A single change to a question that did not fit, after which it fits. */
struct fr_record_advice {
    const char *change;    /* "96 samples instead of 256" */
    const char *options;   /* what to type for it: "-b 96" */
    bool changes_training; /* its mathematics: the batch, number formats, the optimizer */
    double samples_per_s;
    double speed; /* over the samples a second of the question, had it fitted */
    uint64_t peak_bytes;
};

/* What runs with n seeds from `first` on took. Percentiles lie between two runs in proportion
 * (Hyndman and Fan, The American Statistician 50(4), 1996, definition 7). The standard error is of
 * the mean: the standard deviation (n - 1) over the root of n. */
struct fr_record_seeds {
    uint64_t first;
    uint32_t n;        /* 0: one run was asked for */
    bool is_all_alike; /* nothing in the question is random */
    double mean_s, standard_error_s, min_s, p50_s, p95_s, p99_s, max_s;
};

/* What a warning is about: X(NAME, name, whether --strict stops for it). Others tell of the run,
 * and do not put its figures in doubt. */
#define FR_WARNINGS(X)                                                                             \
    X(FORMAT, "format", true)           /* computed in another number format than the asked one */ \
    X(MEASURED, "measured", true)       /* steps contradict each other, or what is known */        \
    X(RECIPE, "recipe", true)           /* says something that is not counted */                   \
    X(TIMES, "times", true)             /* of the workload are dropped */                          \
    X(INPUT, "input", false)            /* it holds the step up */                                 \
    X(CUT, "cut", false)                /* stages are not as planned */                            \
    X(KIND, "kind", true)               /* published steps of this kind were missed by far */      \
    X(OPTIMIZER, "optimizer", true)     /* changes nothing */                                      \
    X(COLLECTIVES, "collectives", true) /* may be faster than they are here */
enum fr_warning {
#define FR_WARNING_ENUM(NAME, name, is_doubt) FR_WARNING_##NAME,
    FR_WARNINGS(FR_WARNING_ENUM)
#undef FR_WARNING_ENUM
        FR_N_WARNINGS
};
const char *fr_warning_name(enum fr_warning w);
bool fr_warning_is_doubt(enum fr_warning w);

/* Everything below belongs to the record (setting, plan and run included, where it made them).
 * Times are an iteration's; compute, communication and bubble are means over the GPUs in use, and
 * compute + exposed communication + bubble is the iteration. */
struct fr_record {
    const char *workload, *topology, *strategy; /* normalised names */
    const char *dtype, *optimizer, *order, *network;
    /* the formats in which gradients are kept over an iteration, and in which ranks sum them; NULL:
     * nothing is trained */
    const char *gradient_dtype, *sent_gradient_dtype;
    bool is_dtype_default; /* not fp32, though nobody asked for it: the workload's own */
    size_t n_warnings;
    const char *const *warnings; /* what to know before the figures are believed; a line each */
    const enum fr_warning *warning_kinds; /* [n_warnings] */
    const char *command;                  /* the command that asked for it; NULL: not known */
    unsigned
        cut_kind; /* which of the cuts that its strategy knows was the fastest; 0: the planned */
    size_t n_stands_for;
    const char *const *stands_for; /* "fsdp stands for hybrid:zero=3: ...", a line each */
    size_t n_nics;
    const struct fr_topo_nics *nics; /* of the machines in use, where there are several */
    const char *machines; /* "hgx-h100:2;dgx2:1", the machines in use by name; "": nobody named
                             them */
    bool is_plain; /* tasks on machines without hardware: times have no unit, memory no end */
    /* [FR_N_SETTINGS] of the question, as fr_question_text gives them; and whether each is other
     * than in a question that sets nothing. NULL in a brief record and in one made by hand */
    const char *const *settings;
    const bool *is_set;
    size_t n_gpus, n_gpus_used, n_gpus_total; /* asked for; with work; of the topology */
    const char *folding; /* "folded: 16 ranks as 2", or why not; NULL: nothing to say */
    uint32_t global_batch;
    uint64_t seed;
    struct fr_record_seeds seeds; /* iteration_s and all rates are of their mean, other figures of
                                     the first one */
    const char *slow;             /* devices slowed by name, as asked for; NULL: none */
    size_t n_collectives, n_fitted_collectives; /* of these the ones at the time of a system */
    const char *collective_systems; /* those: "a100-nvswitch"; several: "a, b"; else "" or NULL */
    size_t n_extrapolated_collectives; /* of these: not measured on so many machines or GPUs */
    size_t n_network_rings;            /* over several machines at no fitted time */
    uint64_t n_fitted_messages; /* between GPUs, of all iterations, at the time of a system */
    const char
        *collective_way; /* of those at no fitted time: "NCCL's choice", an algorithm's name, a
                                   protocol's; NULL: rings */
    const char *network_system_why; /* why not, where the topology knows of a fit; else NULL */
    bool closed_form_collectives;   /* the others; else step by step */
    /* Whose factors slow work side by side: a device, "published runs", "asked for"; NULL: none. */
    const char *recipe;       /* as the question has it, or as assumed; NULL: none */
    const char *tune;         /* likewise; NULL: all is trained */
    bool is_recipe_assumed;   /* no software was named */
    double ideal_iteration_s; /* that nothing beside the model would take; 0: not asked */
    const char *interference;
    double interference_s; /* of the iteration, that it adds; 0 in a brief record */
    /* the same with the least and the most that the factors may be; alike where they were given */
    double interference_low_s, interference_high_s;
    double wait_factor; /* compute takes so many times as long for GPUs that differ; 1: are alike */
    double length_wait_frac; /* so much of that is for batches of other lengths; 0..1 */
    bool alloc_at_start;     /* else at dispatch: when buffers come to be */
    bool oom;
    struct fr_record_oom oom_why; /* when oom */
    enum fr_memory_model memory_model;
    struct fr_record_peak peak;
    bool has_advice, is_advice_cut_short; /* looked for; too costly to try everything */
    size_t n_advice;
    const struct fr_record_advice
        *advice;           /* what leaves the training as it is first, then fastest */
    uint32_t advice_tried; /* simulations */
    /* if out of memory, as if memory were unlimited; with what the step waits for its input */
    double iteration_s, samples_per_s;
    /* parts of iteration_s that measured steps add to the simulated time: work that software does
     * once a step, and longer exchanges */
    double software_s, added_exchange_s;
    double input_s, input_wait_s; /* samples of a step on the machine with most; 0: any rate */
    uint32_t tokens_per_sample;   /* 0: not a sequence model */
    double tokens_per_s;
    /* An iteration's, see struct fr_graph_totals; 0: the workload does not say. */
    double model_flops, hardware_flops;
    double peak_flops_per_s; /* of all GPUs asked for, at the precision that they run in */
    double mfu, hfu;         /* model and hardware FLOPs over what the peak could do meanwhile */
    double board_W;          /* of all GPUs asked for; 0: not known of all */
    /* 0: what these GPUs draw is not known. power_limit_W: the mean of what each may draw; gpu_W:
     * of what each does over the step. clock: the lowest of a GPU while it computes, over its
     * highest. step_J: of all GPUs. */
    double power_limit_W, gpu_W, clock, step_J;
    bool is_power_limited; /* some GPU's clock is below its highest */
    bool asks_power_limit; /* the question has a limit of its own */
    const char *gpu_types; /* "a100-sxm4-80gb:4;v100-sxm2-16gb:2", the GPUs asked for */
    double compute_s, comm_s, exposed_comm_s, bubble_s, lower_bound_s;
    bool puts_in_order; /* the order is that of what devices receive: random, tic or tac */
    size_t n_ordered;   /* transfers of an iteration that have such an order */
    bool has_totals;    /* one transfer at a time goes in and out of a device: --channels 1 */
    double order_efficiency, order_speedup_potential; /* where it has; see sim/analysis/totals.c */
    unsigned n_iterations;                            /* simulated to get there */
    uint64_t peak_bytes, peak_allocated_bytes, peak_reserved_bytes; /* of the worst GPU */
    const char *peak_device;
    uint64_t peak_capacity_bytes;  /* that GPU's memory */
    double cost_frac[FR_N_TRUSTS]; /* share of compute time by trust; sums to 1, or all 0 */
    size_t n_devices, n_links, links_total, n_critical, critical_total, n_tasks;
    const struct fr_record_device *devices; /* GPUs asked for, then others with work */
    const struct fr_record_link *links;     /* busiest first */
    const char *const *critical_path;
    const double *critical_start_s, *critical_end_s;   /* [n_critical]; NULL: not known */
    size_t n_sensitivities;                            /* 0 unless asked for */
    const struct fr_record_sensitivity *sensitivities; /* of resources that count; largest first */
    struct fr_record_interval interval;
    struct fr_record_correction correction; /* the interval is narrower for it */
    bool has_interval; /* 90 % of the times with costs drawn from their errors lie inside */
    double iteration_low_s, iteration_high_s;
    size_t n_error_shares; /* 0 unless asked for; largest share first */
    const struct fr_record_error_share *error_shares;
    bool has_reruns;
    bool is_rough; /* the run is chaotic (n_rough of sim/sim.h), so its own figures are estimates */
    double wall_s, plan_cpu_s;            /* of planning and running; of planning */
    const struct fr_decisions *decisions; /* of a strategy that plans; NULL: it tells nothing */
    const struct fr_plan *plan;           /* NULL in a record made by hand */
    const struct fr_run *run;
    void *priv;
};

/* Loads, plans, runs and records. ctx may be NULL. The caller frees the record. Errors as the
 * functions it calls; FR_EUSAGE when a name is missing or both batches are given. */
enum fr_status fr_answer(const struct fr_question *q, const struct fr_context *ctx,
                         struct fr_record **out, struct fr_error *err);
/* The same on what is already loaded; the setting must outlive the record. */
enum fr_status fr_answer_on(const struct fr_setting *s, const struct fr_question *q,
                            const struct fr_context *ctx, struct fr_record **out,
                            struct fr_error *err);
void fr_record_free(struct fr_record *r);
/* "fitted" when all collectives are, else how the others run: "closed", "expanded". */
const char *fr_record_collectives(const struct fr_record *r);
/* What the costs are of: "conv2d", "collective"; "profile": all times of a device that is not
 * named. */
const char *fr_record_error_share_name(const struct fr_record_error_share *d);

#ifdef __cplusplus
}
#endif
#endif
