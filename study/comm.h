/* study/comm.h - a collective over a range of sizes, as nccl-tests measures it.
 *
 * A size takes its fitted time where such machines were measured and nothing was asked for by hand.
 * Else it is simulated by the algorithm asked for, or the one that NCCL would choose: step by step
 * up to some hundred thousand messages, by its closed form beyond.
 */
#ifndef FORERUN_COMM_H
#define FORERUN_COMM_H

#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_comm_question {
    const char *topology, *kind; /* as of struct fr_collective_question */
    size_t n_gpus;               /* 0: all */
    bool is_spread;
    const char *devices, *costs;
    uint64_t min_bytes, max_bytes;    /* least and most; at least 1 */
    uint32_t factor;                  /* from size to size, at least 2 */
    struct fr_collective_options way; /* algorithm NULL: fitted, else as NCCL */
};

enum fr_comm_source { FR_COMM_FITTED, FR_COMM_STEPS, FR_COMM_CLOSED };

struct fr_comm_row {
    uint64_t bytes;
    double time_s;
    double bus_Bps;
    enum fr_comm_source source;
    const char *algorithm, *protocol; /* "Tree", "LL128", or what was asked for; NULL: not known */
    unsigned channels;                /* 0: not known */
    double nccl_s;                    /* NCCL's own estimate; NaN: it has none */
};

struct fr_comm_table {
    char *topology;
    enum fr_collective_kind kind;
    size_t n_gpus, n_machines;
    char *nccl_why; /* NCCL's tuner has no model of these GPUs; NULL: it has */
    size_t n_rows;
    struct fr_comm_row *rows; /* [n_rows] */
};

/* The caller frees *out. Errors as fr_collective_times and fr_collective_way_new; FR_EUSAGE: sizes
 * in the wrong order. The algorithm of q must outlive the table. */
enum fr_status fr_comm(struct fr_comm_table **out, const struct fr_comm_question *q,
                       const struct fr_context *ctx, struct fr_error *err);
void fr_comm_free(struct fr_comm_table *t);

#ifdef __cplusplus
}
#endif
#endif
