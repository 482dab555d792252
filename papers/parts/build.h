/* papers/parts/build.h - for those who run a paper's experiments: questions that are asked once,
 * and tables that grow row by row.
 */
#ifndef FR_PAPERS_BUILD_H
#define FR_PAPERS_BUILD_H

#include "base/error.h"
#include "papers/papers.h"

/* What a table takes from an answer. */
struct fr__repro_answer {
    bool oom; /* or refused for want of memory */
    double iteration_s, compute_s, comm_s, exposed_comm_s, planned_s,
        plan_cpu_s; /* NaN: not there */
    uint64_t peak_bytes;
    size_t n_ops, n_splits; /* planned */
    bool keeps_replicas;
    const char *own_rule;    /* of a planner that asked the engine: "together"; else "" */
    const char *split_kinds; /* "conv2d matmul"; "" */
    const char *most_split;  /* "conv1_2 in 4 (batch)", the first kept; "" */
    const size_t *ops_on;    /* [n_devices asked for] operations planned there; NULL */
};

struct fr__repro;

/* title as in struct fr_reproduction. NULL: out of memory. */
struct fr__repro *fr__repro_new(const char *paper, const char *source, const char *setting,
                                const struct fr_context *ctx);
/* So many rows will come: progress says how far it is. */
void fr__repro_expect(struct fr__repro *b, size_t n_rows);
/* The answer to q, which stays, from memory if the same was asked before. A question that does
 * not fit is answered. */
enum fr_status fr__repro_ask(struct fr__repro *b, const struct fr_question *q,
                             const struct fr__repro_answer **out, struct fr_error *err);

/* What learning of costs ended with. */
struct fr__repro_learned {
    double iteration_s; /* of the plan in use; INFINITY: the first did not fit */
    size_t n_rounds, n_splits;
    bool is_first, has_converged; /* the plan in use is the first; learning was not cut */
};
/* Learns as study/answer/learn.h has it, for at most that many rounds. */
enum fr_status fr__repro_learn(struct fr__repro *b, const struct fr_question *q, uint32_t rounds,
                               struct fr__repro_learned *out, struct fr_error *err);

/* Rows that follow belong to it; columns: [n], static. */
enum fr_status fr__repro_begin(struct fr__repro *b, const char *name, const char *title,
                               const char *published, const struct fr_repro_column columns[],
                               size_t n, struct fr_error *err);
enum fr_status fr__repro_row(struct fr__repro *b, const struct fr_repro_cell cells[],
                             struct fr_error *err);
/* A text for a cell, which stays; NULL: out of memory. */
const char *fr__repro_text(struct fr__repro *b, const char *text);
/* The present table can be drawn, over that column. */
void fr__repro_draws_over(struct fr__repro *b, const char *column);
/* What came out, in a sentence: copied. */
enum fr_status fr__repro_found(struct fr__repro *b, struct fr_error *err, const char *fmt, ...)
    FR_PRINTF(3, 4);

/* Hands over what was built; b is gone. st: how it went; what is left is freed on a failure. */
enum fr_status fr__repro_finish(struct fr__repro *b, enum fr_status st,
                                struct fr_reproduction **out);

enum fr_status fr__reproduce_fastt(struct fr_reproduction **out, const char *data,
                                   const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr__reproduce_gpipe(struct fr_reproduction **out, const char *data,
                                   const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr__reproduce_megatron(struct fr_reproduction **out, const char *data,
                                      const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr__reproduce_pipedream(struct fr_reproduction **out, const char *data,
                                       const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr__reproduce_zero_bubble(struct fr_reproduction **out, const char *data,
                                         const struct fr_context *ctx, struct fr_error *err);
#endif
