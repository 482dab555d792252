/* calibrate/calibrate.h - how long an op takes on a device, and how far to trust the number.
 *
 * Trust, best first: a measured time for this op, device type and batch (profiled); a measured time
 * moved to another batch or device type by the ratio of cost curves (scaled); a curve fitted to
 * micro-benchmarks of the device (calibrated), or of a relative, rescaled by its specification
 * (transferred); datasheet peaks with a stated efficiency (datasheet: a guess, marked everywhere);
 * a time measured on a device type that is not named, or from which no curves lead here, as it was
 * measured (profiled-elsewhere).
 */
#ifndef FORERUN_CALIBRATE_H
#define FORERUN_CALIBRATE_H

#include "base/base.h"
#include "topo/topo.h"
#include "workloads/workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_trust {
    FR_TRUST_PROFILED,
    FR_TRUST_SCALED,
    FR_TRUST_CALIBRATED,
    FR_TRUST_TRANSFERRED,
    FR_TRUST_DATASHEET,
    FR_TRUST_PROFILED_ELSEWHERE,
    FR_N_TRUSTS
};
const char *fr_trust_name(enum fr_trust trust); /* "profiled", "scaled", ... */
/* " (a guess from peak rates)": what a reader should know of such a share of the time; or "". */
const char *fr_trust_note(enum fr_trust trust);
/* Whether the number comes from a measured time of the op itself. */
bool fr_trust_is_measured(enum fr_trust trust);

/* One row of a plan's cost table: (class, shape, device) -> mean, spread, trust. */
struct fr_cost {
    double mean_s;
    double spread_frac;   /* standard deviation over mean; 0: not known */
    double error_frac;    /* standard deviation of ln(true mean / mean_s); 0: taken as exact */
    double launch_s;      /* host time to launch it */
    double flops_s;       /* roofline: mean_s is the larger of the time at the peak of arithmetic */
    double bytes_s;       /* and the time at that of memory; both 0: measured as a whole. Of a
                           collective: the part of mean_s that grows with its bytes */
    enum fr_op_kind kind; /* FR_N_OP_KINDS: a collective */
    enum fr_trust trust;
};

/* What costs are worked out from: for each device type the curves that hold for it. Immutable, so
 * that threads may share it. */
struct fr_cost_model;

struct fr_cost_options {
    bool datasheet_only;     /* no curves: every cost is a roofline with a stated efficiency */
    const char *device_file; /* a device file's path: its curves come first for the device type that
                                it names; NULL: the shipped ones only */
    const struct fr_topo_system *systems; /* [n_systems] the topology's, for fr_cost_collective;
                                             not looked at under datasheet_only */
    size_t n_systems;
    const struct fr_topo_message *messages; /* [n_messages] the topology's, likewise */
    size_t n_messages;
    const struct fr_graph *graph; /* whose samples of other known device types fr_cost_op is to move
                                     to `types`; only read while the model is made. NULL: none */
};

/* types: [n_types], borrowed, must outlive the model. Errors as fr_calibration_load and
 * fr_system_load; FR_ENOENT too when the device file is for none of the types. */
enum fr_status fr_cost_model_new(struct fr_cost_model **out, const struct fr_device_type types[],
                                 size_t n_types, const struct fr_cost_options *options,
                                 struct fr_error *err);
void fr_cost_model_free(struct fr_cost_model *m);

/* Which samples, and which share of the layer's channels (0 and 1: all): 1 of channel_parts of
 * what its forward op writes, 1 of input_parts of what that reads. */
struct fr_part {
    double batch; /* may differ from the graph's; fractions are allowed */
    unsigned channel_parts, input_parts;
};

/* The cost of graph op `op`, or of a part of it, on a device of type `type`. Never fails: an op
 * without FLOPs and bytes takes no time. A profiled op carries no launch time: it was measured
 * with it. A sample of another device type is moved if the model was made with that graph
 * (options' graph). */
void fr_cost_op(const struct fr_cost_model *m, uint32_t type, const struct fr_graph *g, uint32_t op,
                const struct fr_part *part, struct fr_cost *out);

/* Time to stream n bytes through a device's memory (gradient sums, parameter updates done outside
 * the graph), as fr_cost_op prices a memory-bound op. */
void fr_cost_bytes(const struct fr_cost_model *m, uint32_t type, double bytes, enum fr_op_kind kind,
                   struct fr_cost *out);

struct fr_slowdowns;
struct fr_system_call; /* calibrate/system.h */

/* What a collective alone costs on GPUs that behave like `system`, an index into the options' systems: of one
 * machine, or over call->n_nodes of them. error_frac comes from the rows that were held out of the fit;
 * trust is calibrated, but over more machines than were measured transferred.
 * false: nothing is known, *out untouched: no such system, FR_NONE among them; an operation that was not
 * measured; fewer than two GPUs; more in a machine than were measured, over several machines another number
 * in each; more than FR_MOST_NODES_BEYOND times the machines measured, or any more where those were two (hops
 * and base cannot be told apart then). */
enum {
    FR_MOST_NODES_BEYOND = 16
}; /* as far as the fit to 2 to 32 GH200 nodes was judged, on 512 */
bool fr_cost_collective(const struct fr_cost_model *m, uint32_t system,
                        const struct fr_system_call *call, struct fr_cost *out);

/* How work slows other work on the GPUs of a model's device types, and the device that it was
 * measured on: of the types' own files, else of another board of the same chip. NULL: not known,
 * or not the same for all GPUs. */
const struct fr_slowdowns *fr_cost_slowdowns(const struct fr_cost_model *m, const char **device);
/* One message alone over a link, as fitted: latency_s + bytes / Bps * (1 + (knee_bytes /
 * bytes)^knee_power). */
struct fr_message_fit {
    double latency_s, Bps, knee_bytes, knee_power;
};
/* [n_messages] those of the options' messages, the model's; NULL: there are none, or
 * datasheet_only. */
const struct fr_message_fit *fr_cost_messages(const struct fr_cost_model *m);
/* The part of it that grows with the bytes; 0 for 0 bytes. */
double fr_message_bytes_s(const struct fr_message_fit *f, double bytes);

/* The efficiency that the datasheet model assumes for a kind of op: fraction of the peak rate of
 * arithmetic and of memory bandwidth, and where these come from. */
struct fr_efficiency {
    double flops_frac, bytes_frac;
    const char *source;
};
struct fr_efficiency fr_efficiency_of(enum fr_op_kind kind);

/* ---- cost curves fitted to micro-benchmarks (doc/calibration.md) ---- */

enum fr_curve_class {
    FR_CURVE_MATMUL,
    FR_CURVE_CONV_FORWARD,
    FR_CURVE_CONV_BACKWARD_DATA,
    FR_CURVE_CONV_BACKWARD_FILTER,
    FR_CURVE_ELEMENTWISE,
    FR_CURVE_SOFTMAX,
    FR_CURVE_LAYERNORM,
    FR_CURVE_EMBEDDING,
    FR_CURVE_ATTENTION, /* of a whole sequence at once (training, prefill) */
    FR_CURVE_ATTENTION_BACKWARD,
    FR_CURVE_SOFTMAX_BACKWARD,
    FR_CURVE_LAYERNORM_BACKWARD,
    FR_CURVE_BATCHNORM, /* in training: statistics and all */
    FR_CURVE_BATCHNORM_BACKWARD,
    FR_CURVE_POOLING,
    FR_CURVE_POOLING_BACKWARD,
    FR_CURVE_DROPOUT,   /* forward: it draws random numbers */
    FR_CURVE_REDUCTION, /* sums: of all numbers, or of each column */
    FR_CURVE_TRANSPOSE,
    FR_CURVE_EMBEDDING_BACKWARD, /* gradient of the table */
    FR_CURVE_OPTIMIZER,          /* SGD, momentum, Adam */
    FR_N_CURVE_CLASSES
};
const char *fr_curve_class_name(enum fr_curve_class c); /* "matmul"; "unknown": no curves yet */

/* What one kernel works on. Counts and sizes, all >= 1 but for pad (>= 0); op_class says which. */
struct fr_kernel_shape {
    enum fr_curve_class op_class;
    union {
        struct {
            double batch, rows, columns, depth;
        } matmul; /* `batch` products of [rows][depth] and [depth][columns] */
        struct {
            double images, in_channels, height, width; /* of the input, without padding */
            double out_channels, kernel_height, kernel_width, stride, pad, groups;
            double out_height, out_width; /* 0: what filter, stride and pad make of the input */
            bool is_dilated;
        } conv;
        struct {
            double bytes;    /* read and written */
            bool is_wrapped; /* by a function of the framework (relu, gelu, the addition of a
                                number): its thread takes longer to launch it */
        } memory;            /* elementwise, embedding and the rest that goes by its bytes */
        struct {
            double rows, columns;
        } rows; /* softmax, layernorm and their gradients */
        struct {
            double channels, values; /* values: of one channel in the whole batch */
        } batchnorm;                 /* and its gradient */
        struct {
            double batch, heads, kv_heads, seq, head_dim;
            bool is_causal;
        } attention;
    };
};
/* "1 x 64 x 32 x 8 (batch, rows, columns, depth)"; returns text. */
const char *fr_kernel_shape_format(const struct fr_kernel_shape *shape, char *text, size_t n);

/* Relative misses |predicted / measured - 1| of n rows; bias: the median of the signed ones. */
struct fr_misses {
    uint64_t n; /* 0: the rest is 0 too */
    double median, p90, worst, bias;
};

enum { FR_CURVE_PARAMETERS = 12 }; /* at most; fr_curve_parameter_name ends the list */

struct fr_curve_info {
    enum fr_curve_class op_class;
    enum fr_dtype dtype;
    const char *gpus, *source; /* as the data name them; several are joined by "; " */
    uint64_t data_hash;        /* FNV-1a of the rows fitted and held out, in order */
    uint64_t n_fitted;
    struct fr_misses held_out; /* on the rows of the same data that were not fitted */
    struct fr_misses repeats;  /* of rows that measure a shape once more: the median of the
                                               others of that shape taken for a prediction */
    double parameters[FR_CURVE_PARAMETERS]; /* units in fr_curve_parameter_name */
    double errors[FR_CURVE_PARAMETERS];     /* standard deviations, by bootstrap over rows */
    uint64_t n_residuals;                   /* values of the grid, or of the leaves of trees */
};
const char *fr_curve_parameter_name(enum fr_curve_class c,
                                    size_t i); /* "launch_s"; NULL: no more */

/* Classes of work that slow each other on a device; copies: to and from the host or another
 * device. */
enum fr_beside { FR_BESIDE_COMPUTE, FR_BESIDE_COPY, FR_BESIDE_COLLECTIVE, FR_N_BESIDE };
const char *fr_beside_name(enum fr_beside c); /* "compute", "copy", "collective" */

struct fr_slowdown {
    double factor;             /* >= 1: times as long */
    double error;              /* standard deviation, by bootstrap over rows */
    uint64_t n_fitted;         /* 0: not measured, and factor is 1 */
    struct fr_misses held_out; /* of single kernels */
};
struct fr_slowdowns {
    const char *gpus, *source; /* as the data name them */
    uint64_t data_hash;
    struct fr_slowdown of[FR_N_BESIDE][FR_N_BESIDE]; /* [class that is slowed][class beside it] */
};

/* What it takes to start a kernel. */
enum fr_launch {
    FR_LAUNCH_GAP,       /* on the device, from kernel to kernel in a queue */
    FR_LAUNCH_GRAPH_GAP, /* the same in a CUDA graph */
    FR_LAUNCH_HOST,      /* on the host, by CUDA alone */
    FR_LAUNCH_FRAMEWORK, /* on the host, an op of an eager framework */
    FR_N_LAUNCHES
};
const char *fr_launch_name(enum fr_launch what); /* "gap_s", as in device files */
struct fr_launches {
    const char *gpus, *source;
    uint64_t data_hash;
    double time_s[FR_N_LAUNCHES]; /* 0: not measured */
    double error_s[FR_N_LAUNCHES];
};

/* The curves of one device. Immutable, so that threads may share it. */
struct fr_calibration;

/* A shipped file's name ("a100-sxm4-80gb") or the path of a device file. FR_ENOENT, FR_EPARSE with
 * file, line and column, FR_ERANGE, FR_EIO, FR_ENOMEM. */
enum fr_status fr_calibration_load(struct fr_calibration **out, const char *name_or_path,
                                   struct fr_error *err);
void fr_calibration_free(struct fr_calibration *c);
const char *fr_calibration_shipped(size_t i); /* NULL: no more */
const char *fr_calibration_device(const struct fr_calibration *c);
/* NULL: no more. */
const struct fr_curve_info *fr_calibration_curve(const struct fr_calibration *c, size_t i);
/* NULL: not measured. */
const struct fr_slowdowns *fr_calibration_slowdowns(const struct fr_calibration *c);
const struct fr_launches *fr_calibration_launches(const struct fr_calibration *c);
/* Index of the curve of that class and dtype; SIZE_MAX: there is none. */
size_t fr_calibration_find(const struct fr_calibration *c, enum fr_curve_class op_class,
                           enum fr_dtype dtype);
/* Seconds of one kernel by curve i, of the shape's class; sizes below 1 count as 1. Cost: under
 * 1 us. */
double fr_calibration_time_s(const struct fr_calibration *c, size_t i,
                             const struct fr_kernel_shape *shape);
/* The same by the formula alone, without the grid of residuals. */
double fr_calibration_form_s(const struct fr_calibration *c, size_t i,
                             const struct fr_kernel_shape *shape);

/* Whose curve prices kernels of a class on a device type, and how far off it is expected to be:
 * the median of |true / predicted - 1|, from the curve's own misses and what a move adds. */
struct fr_cost_source {
    const char *from; /* the device that was measured */
    enum fr_trust trust;
    double median;
};
/* false: no curve, so a class that stands in for it or the data sheet. */
bool fr_cost_source_of(const struct fr_cost_model *m, uint32_t type, enum fr_curve_class op_class,
                       enum fr_dtype dtype, struct fr_cost_source *out);

struct fr_fit_request {
    const struct fr_device_type *device; /* its peaks are what the parameters are fractions of */
    const char *const *gpus;             /* [n_gpus] names in the data's `gpu` column, best first */
    const char *const *paths;            /* [n_paths] CSV files, each of any layout we read */
    size_t n_gpus, n_paths;
};
/* Fits a curve to each class and dtype, from the rows of the first of the GPUs and of one source
 * (the one with most) if these are at least 40 to fit. A fifth of the shapes, chosen by their
 * hash, is held out. Beside curves what the data say of launches and of kernels side by side.
 * Deterministic. FR_ENOENT: nothing of all that. Cost: seconds a curve; ctx may be NULL. */
enum fr_status fr_calibration_fit(struct fr_calibration **out, const struct fr_fit_request *request,
                                  const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr_calibration_write(const struct fr_calibration *c, const char *path,
                                    struct fr_error *err);

/* The curves of `from` as they are expected on another device, which need not have been
 * measured: its peaks in place of theirs. Curves of formats that it has not got are left out.
 * FR_ENOMEM. */
enum fr_status fr_calibration_move(struct fr_calibration **out, const struct fr_calibration *from,
                                   const struct fr_device_type *type, struct fr_error *err);

enum { FR_CHECK_WORST = 3 };
struct fr_check_row {
    char file[256];
    unsigned line;
    struct fr_kernel_shape shape;
    double measured_s, predicted_s;
    bool is_held_out; /* of a shape that no fit sees */
};
struct fr_check {
    struct fr_misses misses;
    uint64_t n_left_out;                       /* rows of shapes that a fit may have seen */
    struct fr_check_row worst[FR_CHECK_WORST]; /* the first min(n, 3), worst first */
};
/* Judges each curve on the rows of its class and dtype: of its GPUs and source, or where n_gpus is not
 * 0 of `gpus` and any source.
 * checks: [number of curves]. Without is_all only shapes that no fit sees are judged. */
enum fr_status fr_calibration_check(const struct fr_calibration *c, const char *const paths[],
                                    size_t n_paths, const char *const gpus[], size_t n_gpus,
                                    bool is_all, struct fr_check checks[], struct fr_error *err);

/* Judges the factors on rows of work side by side, as fr_calibration_check does curves: checks[a
 * * FR_N_BESIDE + b] is of a beside b. Pairs that were not fitted are not judged. */
enum fr_status fr_calibration_check_slowdowns(const struct fr_calibration *c,
                                              const char *const paths[], size_t n_paths,
                                              const char *const gpus[], size_t n_gpus, bool is_all,
                                              struct fr_check checks[FR_N_BESIDE * FR_N_BESIDE],
                                              struct fr_error *err);

/* Takes one row; anything but FR_OK, with its reason in err, ends the visit. */
typedef enum fr_status fr_check_row_fn(void *user, const struct fr_check_row *row,
                                       struct fr_error *err);
/* Hands fn the rows that curve i is judged on and those that a fit may have seen, in the order
 * of the files. */
enum fr_status fr_calibration_visit(const struct fr_calibration *c, size_t i,
                                    const char *const paths[], size_t n_paths,
                                    const char *const gpus[], size_t n_gpus, fr_check_row_fn *fn,
                                    void *user, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
