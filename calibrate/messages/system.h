/* calibrate/messages/system.h - how long messages between the GPUs of one kind of machine take,
 * fitted to measurements: collectives inside a node, collectives over several nodes, single
 * messages over a link.
 *
 * Inside a node the model follows NVIDIA's NCCL (src/graph/tuning.cc, commit 01afd20a77). NCCL
 * takes the cheapest of its algorithms a and protocols p, at lat(a, p) + bytes / bw(a, p). We take
 * a soft minimum instead:
 *
 *   t       = (sum over ways w of t_w^-8)^(-1/8)
 *   t_w     = base_w + steps * hop_w + bytes * steps / n / bw_w       LL, LL128, Simple: rings
 *   t_nvls  = base + bytes / bw       all-reduce summed inside the switch, if is_nvls allows it
 *   t_w     = base_w + (n - 1) * hop_w + bytes * (n - 1) / n / bw_w   all-to-all: small, large
 *
 *
 * That is times exp(c). c is what the rows of an operation and a number of GPUs miss that by around
 * these bytes: where NCCL changes its protocol and what its chunks cost is in no constant. It is
 * kept at knots an octave apart, and is linear in log(bytes) between them and in log(n) between
 * numbers of GPUs that were measured, constant beyond both.
 *
 * steps: 2 (n - 1) for an all-reduce, n - 1 for an all-gather and a reduce-scatter. bytes: of the
 * whole buffer (the result of an all-gather, the input of a reduce-scatter), as nccl-tests prints
 * it. Over several nodes: calibrate/messages/nodes.h. One message over a link:
 *
 *   t = latency + bytes / bw * (1 + (knee / bytes)^power)
 *
 * Ignores: which GPUs of the machine take part (all must be alike, as behind an NVSwitch; over
 *          nodes, the same number on each), and sharing with other traffic.
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
/* Inside a node: "ll_base_s", ...; NULL: no more. The unit ends the name. */
const char *fr_system_parameter_name(size_t i);

struct fr_system_call {
    enum fr_system_op op;
    unsigned n_gpus; /* on all nodes together */
    double bytes;
    bool is_summed_in_switch; /* a number format that NVLS can sum: fp16, bf16, fp32, not int8 */
    unsigned n_nodes;         /* nodes over which the GPUs are spread evenly; 0 and 1: one node */
};

/* What NCCL may do over several nodes: an algorithm and a protocol. */
enum fr_system_way {
    FR_SYSTEM_TREE_LL,
    FR_SYSTEM_TREE_LL128,
    FR_SYSTEM_TREE_SIMPLE,
    FR_SYSTEM_RING_LL,
    FR_SYSTEM_RING_LL128,
    FR_SYSTEM_RING_SIMPLE,
    FR_N_SYSTEM_WAYS
};
const char *fr_system_way_name(enum fr_system_way way); /* "tree_ll" */

enum { FR_SYSTEM_WAY_PARAMETERS = 6, FR_SYSTEM_NODES_ALL_TO_ALL = 5 };
/* "base_s", ...: of a tree 6, of a ring 4. NULL: no more. */
const char *fr_system_way_parameter_name(enum fr_system_way way, size_t i);
const char *fr_system_nodes_all_to_all_name(size_t i);

/* Collectives over several nodes (system_nodes.h). errors: as in fr_system_info. */
struct fr_system_nodes {
    unsigned most_gpus, most_nodes; /* the most that were measured */
    uint64_t n_fitted;
    struct fr_misses held_out[FR_N_SYSTEM_OPS];
    struct fr_system_choice {
        double near_Bps, tree_near_Bps, far_Bps; /* the bandwidths that NCCL assumes */
        bool has_ll128;
    } choice;
    bool has_way[FR_N_SYSTEM_WAYS], has_all_to_all;
    double ways[FR_N_SYSTEM_WAYS][FR_SYSTEM_WAY_PARAMETERS];
    double way_errors[FR_N_SYSTEM_WAYS][FR_SYSTEM_WAY_PARAMETERS];
    double all_to_all[FR_SYSTEM_NODES_ALL_TO_ALL], all_to_all_errors[FR_SYSTEM_NODES_ALL_TO_ALL];
};

enum { FR_SYSTEM_LINKS = 16, FR_SYSTEM_LINK_PARAMETERS = 4 };
const char *fr_system_link_parameter_name(size_t i); /* "latency_s", ...; NULL: no more */

struct fr_system_link {
    char name[128], source[512]; /* as the data's `link` and `source` columns have them */
    uint64_t data_hash, n_fitted;
    struct fr_misses held_out;
    double parameters[FR_SYSTEM_LINK_PARAMETERS], errors[FR_SYSTEM_LINK_PARAMETERS];
};

/* Of one operation on so many GPUs: ln(measured / model) at 2^first, 2^(first + 1), ... bytes. */
enum { FR_SYSTEM_CORRECTIONS = 32, FR_SYSTEM_KNOTS = 40 };
struct fr_system_correction {
    enum fr_system_op op;
    unsigned n_gpus, first, n_knots;
    int16_t thousandths[FR_SYSTEM_KNOTS];
};

struct fr_system_info {
    char name[128];     /* as the data's `system` column has it */
    char source[512];   /* source of the collectives' rows; "" if there are none */
    uint64_t data_hash; /* of the rows of collectives that were fitted or held out, in order
                         * (row_hash.h) */

    /* inside a node; n_fitted 0: nothing is known */
    uint64_t n_fitted;
    unsigned most_gpus; /* the most that were measured; times for more are a guess */
    /* Which numbers of GPUs were measured, n in bit n - 1; 0: not known, up to most_gpus. */
    uint64_t gpu_counts;
    bool has_rings, has_nvls, has_all_to_all;
    struct fr_misses held_out[FR_N_SYSTEM_OPS];
    double parameters[FR_SYSTEM_PARAMETERS]; /* > 0; 0 for a way that the system does not have */
    double errors[FR_SYSTEM_PARAMETERS];     /* standard deviations, by bootstrap over shapes */
    size_t n_corrections;                    /* by operation, then by GPUs */
    struct fr_system_correction corrections[FR_SYSTEM_CORRECTIONS];

    struct fr_system_nodes nodes; /* n_fitted 0: nothing is known */
    size_t n_links;
    struct fr_system_link links[FR_SYSTEM_LINKS];
};

/* The messages of one kind of machine. Immutable, so that threads may share it. */
struct fr_system;

/* A shipped system's name ("h100-nvswitch") or the path of a file. Errors as
 * fr_calibration_load. */
enum fr_status fr_system_load(struct fr_system **out, const char *name_or_path,
                              struct fr_error *err);
/* From memory; name is used for the path in messages. */
enum fr_status fr_system_read(struct fr_system **out, const char *text, size_t len,
                              const char *name, struct fr_error *err);
void fr_system_free(struct fr_system *s);
const char *fr_system_shipped(size_t i); /* NULL: no more */
const struct fr_system_info *fr_system_info(const struct fr_system *s);
enum fr_status fr_system_write(const struct fr_system *s, const char *path, struct fr_error *err);

/* The index of the link of that name. FR_ENOENT at loc, with the nearest known name. */
enum fr_status fr_system_find_link(const struct fr_system *s, const char *name, struct fr_loc loc,
                                   size_t *out, struct fr_error *err);

/* Whether the system can price that operation over so many nodes, which is whether any of its rows
 * were held out and compared. */
bool fr_system_covers(const struct fr_system *s, enum fr_system_op op, unsigned n_nodes);

/* Seconds of one collective alone on its machine; 0 for fewer than two GPUs. Finite and > 0 for
 * what the system covers; otherwise it has no meaning, but is not negative. */
double fr_system_time_s(const struct fr_system *s, const struct fr_system_call *call);

/* Seconds of one message over link number `link` of info's links, alone. */
double fr_system_send_s(const struct fr_system *s, size_t link, double bytes);

/* Fits a system to the rows of `system` (the column of that name) in the CSV files, and to all rows
 * of logs of nccl-tests. Collectives, inside a node and over several, are fitted to the source that
 * has most rows, of equal ones the last; only rows for which NCCL chose algorithm and protocol
 * count. Messages are fitted for each link, to the source that has most of its rows. A fifth of the
 * shapes (op, GPUs, bytes, dtype; of a message its bytes) is held out, chosen by a hash. A fit
 * needs 24 rows besides these, one of all-to-alls or a link 12. NVLS is kept if it makes the mean
 * miss smaller by more than a thirtieth and by more than 0.001. Standard errors: by bootstrap over
 * shapes. Deterministic; takes seconds. FR_ENOENT: nothing has enough rows; FR_EPARSE, FR_ERANGE
 * with the place; FR_EIO, FR_ENOMEM. */
enum fr_status fr_system_fit(struct fr_system **out, const char *system, const char *const paths[],
                             size_t n_paths, struct fr_error *err);

/* Errors of a system are given for each operation inside a node, each over several nodes, and each
 * link. */
enum { FR_SYSTEM_CLASSES = 2 * FR_N_SYSTEM_OPS + FR_SYSTEM_LINKS };
/* "all-reduce", "all-reduce, nodes", "send: LINK" into buf; NULL: the system has no such class. */
const char *fr_system_class_name(const struct fr_system *s, size_t i, char *buf, size_t n);
/* Misses of class i on the rows that the fit held out. */
const struct fr_misses *fr_system_class_misses(const struct fr_system *s, size_t i);

struct fr_system_row {
    char file[256];
    unsigned line;
    struct fr_system_call call; /* of a message only the bytes are set */
    double measured_s, predicted_s;
    bool is_held_out; /* its shape was held out of all fits */
};
struct fr_system_check {
    struct fr_misses misses;
    uint64_t n_left_out; /* rows that a fit may have used */
    struct fr_system_row worst;
};
/* Compares a system with rows of `system` that have at least min_bytes. NULL: the system and the
 * sources of its own fit; otherwise any source. Without is_all only rows that were held out of all
 * fits are used. Links are matched by name. */
enum fr_status fr_system_check(const struct fr_system *s, const char *system,
                               const char *const paths[], size_t n_paths, double min_bytes,
                               bool is_all, struct fr_system_check checks[FR_SYSTEM_CLASSES],
                               struct fr_error *err);

/* Takes one row of class i; its file is not set. Any status but FR_OK, with its reason in err, ends
 * the visit. */
typedef enum fr_status fr_system_row_fn(void *user, size_t i, const struct fr_system_row *row,
                                        struct fr_error *err);
/* Gives fn the rows that fr_system_check compares or leaves out, class by class. */
enum fr_status fr_system_visit(const struct fr_system *s, const char *system,
                               const char *const paths[], size_t n_paths, double min_bytes,
                               fr_system_row_fn *fn, void *user, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
