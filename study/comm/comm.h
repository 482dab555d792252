/* study/comm/comm.h - a collective over a range of sizes, as nccl-tests measures it, or timed by
 * each of our models.
 *
 * A size takes its fitted time where such machines were measured and nothing was asked for by hand.
 * Else it is simulated by the algorithm asked for, or the one that NCCL would choose: step by step
 * up to some hundred thousand messages, by its closed form beyond. By models (`topo time`) it has
 * three times instead: as rings, chains or shifts message by message, by their closed form, and
 * fitted.
 *
 * Bus bandwidth is defined as in nccl-tests (doc/PERFORMANCE.md): bytes / time, times 2 (n - 1) / n
 * for an all-reduce, (n - 1) / n for an all-gather, a reduce-scatter and an all-to-all, 1 for a
 * broadcast and a reduce. It is what the links of a GPU carry in one direction, for any n.
 */
#ifndef FORERUN_COMM_H
#define FORERUN_COMM_H

#include "collectives/rounds.h"
#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number format, by the name that nccl-tests prints (nccl-tests src/common.cu, test_typenames).
 * is_summed_in_switch: NVLS can add it up (NCCL src/transport/nvls.cc, ncclNvlsSupported). */
struct fr_comm_type {
    const char *name;
    unsigned bytes;
    bool is_summed_in_switch;
};
/* FR_EUSAGE with the nearest known name. "all" is not taken: one table has one format. */
enum fr_status fr_comm_type_named(const char *name, const struct fr_comm_type **out,
                                  struct fr_error *err);
/* A reduction of nccl-tests (sum, prod, min, max, avg), to print; NULL past the end. */
const char *fr_comm_op_at(size_t i);

enum { FR_COMM_MOST_SIZES = 100000 };

struct fr_comm_question {
    const char *topology, *kind;   /* "all-reduce", ... */
    size_t n_gpus;                 /* 0: all */
    bool is_spread;                /* taken evenly over the machines */
    const char *devices, *costs;   /* as of a struct fr_question */
    uint64_t min_bytes, max_bytes; /* least and most; at least 1 */
    uint32_t factor;               /* from size to size, at least 2 */
    uint64_t step_bytes;           /* or so many bytes more each time; 0: by the factor */
    const uint64_t *sizes;         /* [n_sizes] or just these; NULL: from min to max */
    size_t n_sizes;
    const struct fr_comm_type *type;  /* NULL: float */
    const char *op;                   /* NULL: sum */
    bool wants_links;                 /* the busiest link also of rows at a fitted time */
    struct fr_collective_options way; /* algorithm NULL: fitted, else as NCCL */
    bool allow_implausible;           /* as of a struct fr_question */
    bool is_by_models;                /* each size by each model; type, op, wants_links and way are
                                         not looked at */
};

enum fr_comm_source { FR_COMM_FITTED, FR_COMM_TRANSFERRED, FR_COMM_STEPS, FR_COMM_CLOSED };
/* "fitted", "transferred" (fitted to another number of GPUs), "steps", "formula" */
const char *fr_comm_source_name(enum fr_comm_source s);

struct fr_comm_row {
    uint64_t bytes;
    double time_s;
    double bus_Bps;
    enum fr_comm_source source;
    double error_frac;                /* of a fitted time, two times in three; NaN: not known */
    const char *algorithm, *protocol; /* "Tree", "LL128", or what was asked for; NULL: not known */
    unsigned channels;                /* 0: not known */
    double nccl_s;                    /* NCCL's own estimate; NaN: it has none */
    uint32_t busiest;                 /* of the table's links, or FR_NONE: not known */
    double busiest_frac;              /* of the time that link is in use */
};

/* Of a size by each model. NaN: not known. */
struct fr_comm_times {
    double expanded_s; /* NaN if it needs more than five million messages */
    double closed_s;   /* NaN for an all-to-all of more messages than that */
    double fitted_s;
    double fitted_error;  /* standard deviation of ln(true / fitted_s) */
    bool is_extrapolated; /* on more machines or another GPU count than measured */
};

struct fr_comm_table {
    char *topology;
    enum fr_collective_kind kind;
    size_t n_gpus, n_machines; /* n_machines: that the GPUs are on */
    double bus_factor;         /* times bytes / time: bus bandwidth */
    size_t n_nics;
    struct fr_topo_nics nics[FR_TOPO_NICS]; /* as in a record */
    const struct fr_comm_type *type;
    const char *op;
    char *way;             /* the algorithm asked for by hand; NULL: none */
    char *nccl_why;        /* NCCL's tuner has no model of these GPUs; NULL: it has */
    char *why_transferred; /* why rows are FR_COMM_TRANSFERRED, a clause; NULL: none is */
    size_t n_rows;
    struct fr_comm_row *rows; /* [n_rows] */
    /* By models, [n_rows] of times, of which each row has only its bytes; else NULL. */
    struct fr_comm_times *times;
    size_t n_gpus_total;
    char *system;     /* of the fitted times; NULL: none, see system_why */
    char *system_why; /* why there is no system */
    size_t n_links;
    char **links; /* [n_links] names of the rows' busiest links, "n0.gpu0>n0.nvswitch0-3" */
};

/* The caller frees *out. The root of a broadcast and a reduce is the first GPU. FR_EUSAGE with the
 * nearest known kind; errors of fr_topo_load, fr_topo_select, fr_topo_select_named,
 * fr_cost_model_new, fr_collective_way_new and fr_simulate; FR_EUSAGE: GPUs are both named and
 * counted, sizes in the wrong order, or more than FR_COMM_MOST_SIZES. */
enum fr_status fr_comm(struct fr_comm_table **out, const struct fr_comm_question *q,
                       const struct fr_context *ctx, struct fr_error *err);
void fr_comm_free(struct fr_comm_table *t);
/* Bus bandwidth of size i at a time; NaN: the time is not known, or 0. */
double fr_comm_bus_Bps(const struct fr_comm_table *t, size_t i, double time_s);

/* ---- how it goes, at the largest size ---- */

struct fr_comm_link {
    char *name;
    enum fr_link_kind kind;
    double bw_Bps, bytes;
    double used_frac; /* of the collective's time */
};

enum { FR_COMM_LINKS = 8 };

struct fr_comm_explanation {
    struct fr_comm_table *table; /* of the one size; owned */
    struct fr_collective_rounds *steps;
    char *why_no_steps; /* steps is NULL because of this, a clause */
    size_t n_links;     /* the busiest first */
    struct fr_comm_link links[FR_COMM_LINKS];
    size_t n_used[FR_N_LINK_KINDS];    /* links of that kind that carry anything */
    double most_frac[FR_N_LINK_KINDS]; /* of those, the most in use */
    double mean_frac[FR_N_LINK_KINDS]; /* and the mean */
};

/* As fr_comm, of q's largest size alone. The caller frees *out. */
enum fr_status fr_comm_explain(struct fr_comm_explanation **out, const struct fr_comm_question *q,
                               const struct fr_context *ctx, struct fr_error *err);
void fr_comm_explanation_free(struct fr_comm_explanation *s);

#ifdef __cplusplus
}
#endif
#endif
