/* calibrate/calibrate.h - how long an op takes on a device, and how far to trust the number.
 *
 * The levels of trust, best first:
 * - profiled: a measured time of this op, on this device type, at this batch;
 * - scaled: a measured time moved to another batch or device type by the ratio of cost curves;
 * - calibrated: a curve fitted to micro-benchmarks of the device;
 * - transferred: a curve of a related device, with this device's specification in place of its own;
 * - datasheet: peak rates of the data sheet with a stated efficiency. It is a guess, and is marked
 *   as one everywhere;
 * - profiled-elsewhere: a time that was measured on a device type that is not named, or from which
 *   no curves lead to this one; taken as it was measured.
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
    double spread_frac; /* standard deviation over mean; 0: not known */
    double error_frac;  /* standard deviation of ln(true mean / mean_s); 0: taken as exact */
    double launch_s;    /* time of the host to launch it */
    /* Roofline: mean_s is the larger of these two. Both 0: measured as a whole. Of a collective,
     * bytes_s is the part of mean_s that grows with its bytes. */
    double flops_s;       /* time at the peak of arithmetic */
    double bytes_s;       /* time at the peak of memory */
    enum fr_op_kind kind; /* FR_N_OP_KINDS: a collective */
    enum fr_trust trust;
};

/* What costs are computed from: the curves of each device type. It does not change, so that threads
 * may share it. */
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

/* A part of an op: some of the samples, and some of the layer's channels. channel_parts: one of so
 * many equal parts of what the forward op writes. input_parts: the same of what it reads. 0 and 1:
 * all. */
struct fr_part {
    double batch; /* may differ from the graph's; fractions are allowed */
    unsigned channel_parts, input_parts;
};

/* The cost of graph op `op`, or of a part of it, on a device of type `type`. It never fails: an op
 * without FLOPs and bytes takes no time. A profiled op has no launch time, because it was measured
 * with it. Samples of another device type are moved to this one if the options had the graph when
 * the model was made. */
void fr_cost_op(const struct fr_cost_model *m, uint32_t type, const struct fr_graph *g, uint32_t op,
                const struct fr_part *part, struct fr_cost *out);

/* Time to move n bytes through a device's memory (sums of gradients and updates of parameters that
 * are not in the graph). Priced as a memory-bound op of fr_cost_op. */
void fr_cost_bytes(const struct fr_cost_model *m, uint32_t type, double bytes, enum fr_op_kind kind,
                   struct fr_cost *out);

/* Time of a matrix product that is not in a graph, [rows][columns] over depth in a format: one of
 * an optimizer's step. Priced as a linear layer of fr_cost_op. */
struct fr_cost_product {
    double rows, columns, depth; /* each > 0 */
    enum fr_dtype dtype;
};
void fr_cost_product(const struct fr_cost_model *m, uint32_t type,
                     const struct fr_cost_product *product, struct fr_cost *out);

/* What NHWC spares a graph against NCHW on GPUs with matrix units, at the graph's batch: the
 * transposes of operands and results around its convolutions, forward and backward
 * (calibrate/cost/transposes.h), and the bytes that they read and write. None in fp32. O(ops). */
struct fr_layout_effect {
    size_t n_convolutions, n_transposes;
    double bytes;
};
void fr_layout_effect_of(const struct fr_graph *g, struct fr_layout_effect *out);

struct fr_slowdowns;
struct fr_system_call; /* calibrate/messages/system.h */

/* The cost of a collective alone, on GPUs that behave like `system` (an index into the options'
 * systems), in one machine or over call->n_nodes of them. error_frac comes from the rows that were
 * held out of the fit. Trust is calibrated, or transferred over more machines than were measured.
 *
 * false, with *out untouched: nothing is known. That is so if there is no such system (also
 * FR_NONE), if the operation was not measured, if there are fewer than two GPUs or more GPUs in a
 * machine than were measured, if over several machines a machine has another number of GPUs than
 * the measured ones, and if there are more than FR_MOST_NODES_BEYOND times the machines measured.
 * If only two machines were measured, more are never known, since hops and base cannot be told
 * apart. */
enum { FR_MOST_NODES_BEYOND = 16 }; /* a fit to 2 to 32 GH200 nodes was checked on up to 512 */
bool fr_cost_collective(const struct fr_cost_model *m, uint32_t system,
                        const struct fr_system_call *call, struct fr_cost *out);

/* How work slows other work on the GPUs of a model's device types, and on which device this was
 * measured: from the file of the type itself, or of another board of the same chip. NULL: not
 * known, or not the same for all GPUs. */
const struct fr_slowdowns *fr_cost_slowdowns(const struct fr_cost_model *m, const char **device);
/* One message alone over a link, as fitted: latency_s + bytes / Bps * (1 + (knee_bytes /
 * bytes)^knee_power). */
struct fr_message_fit {
    double latency_s, Bps, knee_bytes, knee_power;
};
/* [n_messages] fits of the options' messages; the model owns them. NULL: there are none, or
 * datasheet_only. */
const struct fr_message_fit *fr_cost_messages(const struct fr_cost_model *m);
/* The part of a message's time that grows with the bytes; 0 for 0 bytes. */
double fr_message_bytes_s(const struct fr_message_fit *f, double bytes);

/* The efficiency that the datasheet model assumes for a kind of op: a fraction of the peak rate of
 * arithmetic and one of memory bandwidth, with their source. */
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

/* The shape of one kernel. Counts and sizes are >= 1, pad is >= 0; op_class says which member is
 * meant. */
struct fr_kernel_shape {
    enum fr_curve_class op_class;
    union {
        struct {
            double batch, rows, columns, depth;
        } matmul; /* `batch` products of [rows][depth] and [depth][columns] */
        struct {
            double images, in_channels, height, width; /* of the input, without padding */
            double out_channels, kernel_height, kernel_width, stride, pad, groups;
            double out_height, out_width; /* 0: computed from filter, stride and pad */
            bool is_dilated;
        } conv;
        struct {
            double bytes; /* read and written */
            /* Launched by a function of the framework that takes longer for it: relu, gelu, adding
             * a number. */
            bool is_wrapped;
        } memory; /* elementwise, embedding and others whose time depends on their bytes */
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

/* Relative misses |predicted / measured - 1| of n rows; bias: the median of the signed misses. */
struct fr_misses {
    uint64_t n; /* 0: all other fields are 0 too */
    double median, p90, worst, bias;
};

enum {
    FR_CURVE_PARAMETERS = 12
}; /* a curve has at most so many; fr_curve_parameter_name ends the
                                    * list */

struct fr_curve_info {
    enum fr_curve_class op_class;
    enum fr_dtype dtype;
    const char *gpus, *source; /* as the data name them; several are joined by "; " */
    uint64_t data_hash;        /* FNV-1a of the rows that were fitted or held out, in order */
    uint64_t n_fitted;
    struct fr_misses held_out; /* on the rows of the same data that were not fitted */
    /* On rows that measure a shape once more; the median of the shape's other rows is the
     * prediction. */
    struct fr_misses repeats;
    double parameters[FR_CURVE_PARAMETERS]; /* units in fr_curve_parameter_name */
    double errors[FR_CURVE_PARAMETERS];     /* standard deviations, by bootstrap over rows */
    uint64_t n_residuals;                   /* values of the grid, or of the leaves of trees */
};
const char *fr_curve_parameter_name(enum fr_curve_class c,
                                    size_t i); /* "launch_s"; NULL: no more */

/* Classes of work on a device that slow each other. A copy is to or from the host or another
 * device. */
enum fr_beside { FR_BESIDE_COMPUTE, FR_BESIDE_COPY, FR_BESIDE_COLLECTIVE, FR_N_BESIDE };
const char *fr_beside_name(enum fr_beside c); /* "compute", "copy", "collective" */

struct fr_slowdown {
    double factor;             /* >= 1: it takes that many times as long */
    double error;              /* standard deviation, by bootstrap over rows */
    uint64_t n_fitted;         /* 0: not measured, and factor is 1 */
    struct fr_misses held_out; /* of single kernels */
};
struct fr_slowdowns {
    const char *gpus, *source; /* as the data name them */
    uint64_t data_hash;
    struct fr_slowdown of[FR_N_BESIDE][FR_N_BESIDE]; /* [class that is slowed][class beside it] */
};

/* What is measured about starting a kernel. */
enum fr_launch {
    FR_LAUNCH_GAP,       /* on the device, from one kernel of a queue to the next */
    FR_LAUNCH_GRAPH_GAP, /* the same in a CUDA graph */
    FR_LAUNCH_HOST,      /* on the host, a launch by CUDA alone */
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
/* Index of the curve of that class and dtype; SIZE_MAX if there is none. */
size_t fr_calibration_find(const struct fr_calibration *c, enum fr_curve_class op_class,
                           enum fr_dtype dtype);
/* Seconds of one kernel by curve i, which must be of the shape's class. Sizes below 1 count as 1.
 * Cost: under 1 us. */
double fr_calibration_time_s(const struct fr_calibration *c, size_t i,
                             const struct fr_kernel_shape *shape);
/* The same by the formula alone, without the residuals. */
double fr_calibration_form_s(const struct fr_calibration *c, size_t i,
                             const struct fr_kernel_shape *shape);

/* Which curve prices kernels of a class on a device type, and its expected error: the median of
 * |true / predicted - 1|, from the curve's own misses and from moving it to this device. */
struct fr_cost_source {
    const char *from; /* the device that was measured */
    enum fr_trust trust;
    double median;
};
/* false: there is no curve; another class or the data sheet stands in. */
bool fr_cost_source_of(const struct fr_cost_model *m, uint32_t type, enum fr_curve_class op_class,
                       enum fr_dtype dtype, struct fr_cost_source *out);

/* The devices whose curves price kernels on a device type, each once; returns how many. */
size_t fr_cost_devices_of(const struct fr_cost_model *m, uint32_t type,
                          const char *from[FR_N_CURVE_CLASSES * FR_N_DTYPES]);

struct fr_fit_request {
    const struct fr_device_type *device; /* the fitted parameters are fractions of its peaks */
    const char *const *gpus;             /* [n_gpus] names in the data's `gpu` column, best first */
    const char *const *paths;            /* [n_paths] CSV files, each in any layout that we read */
    size_t n_gpus, n_paths;
    bool allow_implausible; /* rows may be far beyond the device's data sheet */
};
/* Fits a curve to each class and dtype, from rows of one GPU and one source: the first of the GPUs
 * that has at least 40 rows to fit, and the source that has most. A fifth of the shapes, chosen by
 * their hash, is held out. Launches and interference are fitted too, where the data have them.
 * Deterministic. FR_ENOENT: there are rows for none of these; FR_ERANGE: a row is implausible.
 * Cost: seconds for each curve; ctx may be NULL. */
enum fr_status fr_calibration_fit(struct fr_calibration **out, const struct fr_fit_request *request,
                                  const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr_calibration_write(const struct fr_calibration *c, const char *path,
                                    struct fr_error *err);

/* The curves of `from` as they are expected on another device, which need not have been measured:
 * the device's own peaks replace those of `from`. Curves of formats that the device does not have
 * are left out. FR_ENOMEM. */
enum fr_status fr_calibration_move(struct fr_calibration **out, const struct fr_calibration *from,
                                   const struct fr_device_type *type, struct fr_error *err);

enum { FR_CHECK_WORST = 3 };
struct fr_check_row {
    char file[256];
    unsigned line;
    struct fr_kernel_shape shape;
    double measured_s, predicted_s;
    bool is_held_out; /* its shape was held out of all fits */
};
struct fr_check {
    struct fr_misses misses;
    uint64_t n_left_out;                       /* rows of shapes that a fit may have used */
    struct fr_check_row worst[FR_CHECK_WORST]; /* the first min(n, 3), worst first */
};
/* Compares each curve with the rows of its class and dtype: those of its own GPUs and source, or,
 * if n_gpus is not 0, those of `gpus` and any source. checks: [number of curves]. Without is_all
 * only shapes that were held out of all fits are used. */
enum fr_status fr_calibration_check(const struct fr_calibration *c, const char *const paths[],
                                    size_t n_paths, const char *const gpus[], size_t n_gpus,
                                    bool is_all, struct fr_check checks[], struct fr_error *err);

/* Compares the factors of interference with rows of work side by side, as fr_calibration_check does
 * for curves. checks[a * FR_N_BESIDE + b] is about a beside b. Pairs that were not fitted are left
 * out. */
enum fr_status fr_calibration_check_slowdowns(const struct fr_calibration *c,
                                              const char *const paths[], size_t n_paths,
                                              const char *const gpus[], size_t n_gpus, bool is_all,
                                              struct fr_check checks[FR_N_BESIDE * FR_N_BESIDE],
                                              struct fr_error *err);

/* Takes one row. Any status but FR_OK, with its reason in err, ends the visit. */
typedef enum fr_status fr_check_row_fn(void *user, const struct fr_check_row *row,
                                       struct fr_error *err);
/* Gives fn the rows that curve i is compared with and those that a fit may have used, in the order
 * of the files. */
enum fr_status fr_calibration_visit(const struct fr_calibration *c, size_t i,
                                    const char *const paths[], size_t n_paths,
                                    const char *const gpus[], size_t n_gpus, fr_check_row_fn *fn,
                                    void *user, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
