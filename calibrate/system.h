/* calibrate/system.h - how long a collective takes inside one machine, fitted to nccl-tests.
 *
 * Model, after NVIDIA's NCCL (src/graph/tuning.cc, commit 01afd20a77: lat(a, p) + bytes / bw(a, p), the
 * cheapest of the algorithms and protocols), with a soft minimum in place of NCCL's choice:
 *
 *   t       = (sum over ways w of t_w^-8)^(-1/8)
 *   t_w     = base_w + steps * hop_w + bytes * steps / n / bw_w       LL, LL128, Simple: rings
 *   t_nvls  = base + bytes / bw       all-reduce summed inside the switch, if is_nvls allows it
 *   t_w     = base_w + (n - 1) * hop_w + bytes * (n - 1) / n / bw_w   all-to-all: small, large
 *
 * steps: 2 (n - 1) for an all-reduce, n - 1 for an all-gather and a reduce-scatter. bytes: of the whole
 * buffer (the result of an all-gather, the input of a reduce-scatter), as nccl-tests prints it.
 *
 * Ignores: which GPUs of the machine take part (all must be alike, as behind an NVSwitch), trees
 * (the rows do not say which algorithm ran), and sharing with other traffic.
 */
#ifndef FORERUN_SYSTEM_H
#define FORERUN_SYSTEM_H

#include "calibrate/calibrate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_system_op {
    FR_SYSTEM_ALL_REDUCE,
    FR_SYSTEM_ALL_GATHER,
    FR_SYSTEM_REDUCE_SCATTER,
    FR_SYSTEM_ALL_TO_ALL,
    FR_N_SYSTEM_OPS
};
const char *fr_system_op_name(enum fr_system_op op); /* "all-reduce" */

enum { FR_SYSTEM_PARAMETERS = 17 };
/* "ll_base_s", ...; NULL: no more. The unit ends the name. */
const char *fr_system_parameter_name(size_t i);

struct fr_system_call {
    enum fr_system_op op;
    unsigned n_gpus;
    double bytes;
    bool is_summed_in_switch; /* a number format that NVLS can sum: fp16, bf16, fp32, not int8 */
};

struct fr_system_info {
    char name[128], source[512]; /* as the data's `system` and `source` columns have them */
    uint64_t data_hash;          /* FNV-1a of the rows fitted and held out, in order */
    uint64_t n_fitted;
    unsigned most_gpus; /* that were measured: more are a guess */
    bool has_nvls;
    struct fr_misses held_out[FR_N_SYSTEM_OPS];
    double parameters[FR_SYSTEM_PARAMETERS]; /* > 0, but those of NVLS 0 without it */
};

/* The collectives of one kind of machine. Immutable, so that threads may share it. */
struct fr_system;

/* A shipped system's name ("h100-nvswitch") or the path of a file. Errors as fr_calibration_load. */
enum fr_status fr_system_load(struct fr_system **out, const char *name_or_path,
                              struct fr_error *err);
/* From memory; name stands for the path in messages. */
enum fr_status fr_system_read(struct fr_system **out, const char *text, size_t len,
                              const char *name, struct fr_error *err);
void fr_system_free(struct fr_system *s);
const char *fr_system_shipped(size_t i); /* NULL: no more */
const struct fr_system_info *fr_system_info(const struct fr_system *s);
enum fr_status fr_system_write(const struct fr_system *s, const char *path, struct fr_error *err);

/* Seconds of one collective alone on its machine; 0 for fewer than two GPUs. Finite and > 0 else. */
double fr_system_time_s(const struct fr_system *s, const struct fr_system_call *call);

/* Fits the 17 constants to the rows of `system` (the data's `system` column) in the CSV files, and to all
 * of the logs of nccl-tests: one node, algorithm and protocol left to NCCL, of the source with most rows,
 * of equals the last. A fifth, chosen by a hash of (op, GPUs, bytes, dtype), is held out. NVLS is kept if
 * it makes the mean miss smaller by more than a thirtieth and 0.001. Deterministic, seconds. FR_ENOENT:
 * fewer than 12 such rows of all-to-alls or 24 of the others are left to fit; FR_EPARSE, FR_ERANGE with
 * the place; FR_EIO, FR_ENOMEM. */
enum fr_status fr_system_fit(struct fr_system **out, const char *system, const char *const paths[],
                             size_t n_paths, struct fr_error *err);

struct fr_system_row {
    char file[256];
    unsigned line;
    struct fr_system_call call;
    double measured_s, predicted_s;
};
struct fr_system_check {
    struct fr_misses misses;
    uint64_t n_left_out; /* rows that a fit may have seen */
    struct fr_system_row worst;
};
/* Judges a system on rows of `system` (NULL: the system and source of its own fit, else any source),
 * of at least min_bytes. Without is_all only rows that no fit sees are judged. */
enum fr_status fr_system_check(const struct fr_system *s, const char *system,
                               const char *const paths[], size_t n_paths, double min_bytes,
                               bool is_all, struct fr_system_check checks[FR_N_SYSTEM_OPS],
                               struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
