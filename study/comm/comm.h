/* study/comm/comm.h - a collective over a range of sizes, as nccl-tests measures it.
 *
 * A size takes its fitted time where such machines were measured and nothing was asked for by hand.
 * Else it is simulated by the algorithm asked for, or the one that NCCL would choose: step by step
 * up to some hundred thousand messages, by its closed form beyond.
 */
#ifndef FORERUN_COMM_H
#define FORERUN_COMM_H

#include "sim/story.h"
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
/* NULL past the end. */
const struct fr_comm_type *fr_comm_type_at(size_t i);
/* FR_EUSAGE with the nearest known name. "all" is not taken: one table has one format. */
enum fr_status fr_comm_type_named(const char *name, const struct fr_comm_type **out,
                                  struct fr_error *err);
/* A reduction of nccl-tests (sum, prod, min, max, avg), to print; NULL past the end. */
const char *fr_comm_op_at(size_t i);

enum { FR_COMM_MOST_SIZES = 100000 };

struct fr_comm_question {
    const char *topology, *kind; /* as of struct fr_collective_question */
    size_t n_gpus;               /* 0: all */
    bool is_spread;
    const char *devices, *costs;
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

struct fr_comm_table {
    char *topology;
    enum fr_collective_kind kind;
    size_t n_gpus, n_machines;
    size_t n_nics;
    struct fr_topo_nics nics[FR_TOPO_NICS]; /* as in a record */
    const struct fr_comm_type *type;
    const char *op;
    char *way;             /* the algorithm asked for by hand; NULL: none */
    char *nccl_why;        /* NCCL's tuner has no model of these GPUs; NULL: it has */
    char *why_transferred; /* why rows are FR_COMM_TRANSFERRED, a clause; NULL: none is */
    size_t n_rows;
    struct fr_comm_row *rows; /* [n_rows] */
    size_t n_links;
    char **links; /* [n_links] names of the rows' busiest links, "n0.gpu0>n0.nvswitch0-3" */
};

/* The caller frees *out. Errors as fr_collective_times and fr_collective_way_new; FR_EUSAGE: sizes
 * in the wrong order, or more than FR_COMM_MOST_SIZES. */
enum fr_status fr_comm(struct fr_comm_table **out, const struct fr_comm_question *q,
                       const struct fr_context *ctx, struct fr_error *err);
void fr_comm_free(struct fr_comm_table *t);

/* ---- how it goes, at the largest size ---- */

struct fr_comm_link {
    char *name;
    enum fr_link_kind kind;
    double bw_Bps, bytes;
    double used_frac; /* of the collective's time */
};

enum { FR_COMM_LINKS = 8 };

struct fr_comm_story {
    struct fr_comm_table *table; /* of the one size; owned */
    struct fr_collective_story *steps;
    char *why_no_steps; /* steps is NULL because of this, a clause */
    size_t n_links;     /* the busiest first */
    struct fr_comm_link links[FR_COMM_LINKS];
    size_t n_used[FR_N_LINK_KINDS];    /* links of that kind that carry anything */
    double most_frac[FR_N_LINK_KINDS]; /* of those, the most in use */
    double mean_frac[FR_N_LINK_KINDS]; /* and the mean */
};

/* As fr_comm, of q's largest size alone. The caller frees *out. */
enum fr_status fr_comm_explain(struct fr_comm_story **out, const struct fr_comm_question *q,
                               const struct fr_context *ctx, struct fr_error *err);
void fr_comm_story_free(struct fr_comm_story *s);

#ifdef __cplusplus
}
#endif
#endif
