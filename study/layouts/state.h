/* study/layouts/state.h - what the files of the room share.
 *
 *     space.c     all layouts, and those that cannot be
 *     memory.c    what must fit whatever the schedule, by closed form
 *     probe.c     a run of the engine that prices something
 *     block.c     what the layers of a model take, block_bytes.c: and hold, from a probe
 *     mesh.c      what stages exchange and keep, from a probe
 *     pair.c      a forward and a backward pass beside each other, from a block's tasks
 *     coarse.c    a layout's time from its block and mesh, coarse_bytes.c: its memory
 *     job.c       what all layouts share
 *     run.c       the search: from all layouts to the best
 *     referee.c   the best op by op, and their store
 *     frontier.c  ranking
 *     match.c     rows that have some values
 *     clusters.c  the clusters that searches are asked of
 */
#ifndef FR_STUDY_LAYOUTS_STATE_H
#define FR_STUDY_LAYOUTS_STATE_H

#include "base/arena.h"
#include "lowering/schedules/schedule.h"
#include "study/layouts/search.h"
#include "study/session/session.h"

const char *fr__recompute_name(enum fr_layout_recompute r);

/* ---- the space ---- */

enum fr__axis {
    FR__AXIS_DP,
    FR__AXIS_TP,
    FR__AXIS_PP,
    FR__AXIS_CP,
    FR__AXIS_EP,
    FR__AXIS_ETP,
    FR__AXIS_MICRO,
    FR__AXIS_VIRTUAL,
    FR__AXIS_ZERO,
    FR__AXIS_SCHEDULE,
    FR__AXIS_RECOMPUTE,
    FR__AXIS_MAP,
    FR__N_SEARCH_AXES
};
enum { FR__MOST_AXIS_VALUES = 64, FR__AXIS_NAME = 16 };

/* "tp", written to buf. */
const char *fr__search_axis_name(enum fr__axis a, char buf[FR__AXIS_NAME]);
/* The axis that the first `length` characters of part, "tp=", name. FR_EUSAGE: none. */
enum fr_status fr__search_axis_find(const char *part, size_t length, enum fr__axis *out,
                                    struct fr_error *err);

/* Values of an axis that the user named; n 0: the usual ones. */
struct fr__axis_values {
    size_t n;
    uint32_t number[FR__MOST_AXIS_VALUES];
    const char *text[FR__MOST_AXIS_VALUES]; /* schedule, map: in the search's arena */
};

/* What a search knows of its job. */
struct fr__job {
    struct fr_question q; /* without a strategy */
    struct fr_session *session;
    struct fr_setting setting;
    uint32_t n_gpus, global_batch, n_experts;
    size_t n_units;
    bool has_core;   /* an attention core in several ops, which recompute=selective runs again */
    double n_params; /* elements */
    double capacity_bytes; /* of the smallest GPU */
};

struct fr_search {
    struct fr__arena *arena;
    struct fr__axis_values axes[FR__N_SEARCH_AXES];
    struct fr__job job;
    struct fr_search_row *rows; /* [n_rows] */
    size_t n_rows, cap_rows;
    struct fr_search_summary summary;
    struct fr__prices *prices;
};

/* Lists the rows. FR_ERANGE: too many. */
enum fr_status fr__space_list(struct fr_search *s, struct fr_error *err);

/* s->job of the question: its graph, cluster and counts. FR_ENOENT, FR_EUSAGE, FR_EPARSE...: what
 * every layout would be refused for; FR_ENOMEM. */
enum fr_status fr__job_make(struct fr_search *s, const struct fr_question *q, struct fr_error *err);
/* FR_EUSAGE: it has no rows, and which value is why, where one is by itself. */
enum fr_status fr__space_fail_empty(const struct fr_search *s, struct fr_error *err);

/* ---- memory ---- */

/* Bytes that a rank of some stage holds at least for weights, master weights and the optimizer's
 * states. */
double fr__kept_at_least(const struct fr__job *j, const struct fr_search_layout *l);

/* ---- prices ---- */

/* The layers of a model in order, with what comes before the first and after the last: items 0 and
 * n - 1. Times and bytes of one micro-batch. */
struct fr__block {
    size_t n_items;
    double *forward_s, *backward_s, *weight_s; /* weight_s: of the backward pass */
    double *hidden_s;      /* messages of the backward pass that gradients of weights hide */
    double *busy_s[2];     /* of the forward, the backward pass: without its waits for messages */
    double *kept_bytes;    /* from the forward to the backward pass */
    double *held_bytes;    /* more than these, where a step has one micro-batch */
    double *between_bytes; /* from a backward pass without the gradients of weights to these */
    /* At most, over what other items hold meanwhile: forward; backward as a whole; without the
     * gradients of weights; these. */
    double *forward_bytes, *backward_bytes, *input_bytes, *weight_bytes;
    double *backward_own, *weight_own; /* of its gradients, made by that moment the first time */
    double path_s; /* computing, and messages that ops wait for: no micro-batch takes less */
    /* Its tasks in the plan's order, and what waits for each: [n_steps + 1], [succ_first[n]] */
    struct fr__block_step *steps;
    uint32_t *succ_first, *succ;
    size_t n_steps;
};

/* A task of a block. */
struct fr__block_step {
    double length_s;
    uint32_t item;
    int32_t priority;
    uint8_t stream; /* enum fr_stream */
    bool is_backward;
};

struct fr__mesh_price {
    uint32_t n_ranks; /* of the pipeline */
    size_t n_items;
    double *kept_bytes;     /* [n_items] all iteration long */
    double *gradient_bytes; /* [n_items] from the first backward pass on */
    double context_bytes;
    double *message_s; /* [n_ranks] from a rank to the next one and back, the longer; of one
                          sample; the last: from the last to the first */
    double *reduce_s, *update_s, *gather_s; /* [n_ranks] after the backward pass */
    double *bucket_frac;                    /* [n_ranks] of the reduction, the last bucket */
    double ends_s;                          /* sum over both ends of the pipeline */
    /* Of a tied weight that has a copy at the last rank: its gradient to the first rank, and the
     * new weight back, which leaves after that part of the first rank's update. */
    double tied_gradient_s, tied_weight_s, tied_update_frac;
};

/* A run of a whole layout with few micro-batches. */
struct fr__direct {
    double time_s[2], bytes;
    uint32_t n_micros[2];
};

struct fr__probe {
    enum fr__probe_kind { FR__PROBE_BLOCK, FR__PROBE_MESH, FR__PROBE_DIRECT } kind;
    struct fr_search_layout layout; /* canonical: what does not matter is 0 */
    enum fr_status status;
    const char *why; /* of a failure */
    struct fr__block block;
    struct fr__mesh_price mesh;
    struct fr__direct direct;
    struct fr__arena *arena;
    bool is_done;
};

struct fr__prices {
    struct fr__probe *probes; /* [n], sorted up to n_sorted */
    size_t n, cap, n_sorted;
};

/* The probe that a layout needs, as its canonical layout. */
struct fr_search_layout fr__block_key(const struct fr_search_layout *l);
struct fr_search_layout fr__mesh_key(const struct fr_search_layout *l);
struct fr_search_layout fr__direct_key(const struct fr_search_layout *l);
/* Notes that it will be needed; twice is fine. false: out of memory. */
bool fr__prices_want(struct fr__prices *p, enum fr__probe_kind kind,
                     const struct fr_search_layout *key);
/* Runs all that are wanted and not there yet. */
enum fr_status fr__prices_run(struct fr__prices *p, const struct fr__job *j, unsigned n_threads,
                              const struct fr_context *ctx, struct fr_error *err);
/* NULL: it was not asked for. */
const struct fr__probe *fr__prices_find(const struct fr__prices *p, enum fr__probe_kind kind,
                                        const struct fr_search_layout *key);
void fr__prices_free(struct fr__prices *p);

/* Fill a probe from its run. */
enum fr_status fr__block_read(struct fr__probe *p, const struct fr__job *j,
                              const struct fr_record *r, struct fr_error *err);
enum fr_status fr__mesh_read(struct fr__probe *p, const struct fr__job *j,
                             const struct fr_record *r, struct fr_error *err);
/* Sets a block's steps from the plan and the run of its probe. item_of: [n_ops]. FR_ENOMEM. */
enum fr_status fr__block_steps(struct fr__block *b, const struct fr_record *r, uint32_t device,
                               const uint32_t item_of[], struct fr__arena *arena,
                               struct fr_error *err);
/* How long the forward pass of a stage and the backward pass of another take together on one GPU:
 * out: [n_stages], of the forward pass of each stage beside the backward pass of the stage
 * beside[]; FR_NONE: it runs beside none, and its time stays. FR_ENOMEM.
 * O(stages x steps). */
enum fr_status fr__block_pairs(const struct fr__block *b, uint32_t n_stages,
                               const uint32_t beside[], double out[], struct fr_error *err);
/* The item of each op of a plan's graph, by the units of the model: [n_ops], from malloc. */
enum fr_status fr__items_of(uint32_t **out, size_t *n_items, const struct fr_graph *g,
                            const struct fr_graph *model, struct fr_error *err);

/* ---- one layout ---- */

/* The stage of an item where so many have the same number of layers. */
uint32_t fr__stage_of_item(size_t item, size_t n_items, uint32_t n_stages);
uint32_t fr__coarse_rank_of_stage(const struct fr_search_layout *l, uint32_t stage);
/* A layout's schedule with so many micro-batches; the caller frees it. */
enum fr_status fr__coarse_schedule(const struct fr_search_layout *l, uint32_t n_micros,
                                   struct fr_schedule **out, struct fr_error *err);
/* Micro-batches of a shorter schedule: the same part of a turn is left over. */
uint32_t fr__coarse_fewer_micros(const struct fr_search_layout *l);

/* A pipelined layout from its block and mesh. */
struct fr__coarse {
    const struct fr_search_layout *layout;
    const struct fr__block *block;
    const struct fr__mesh_price *mesh;
    double scale; /* samples of a micro-batch over those of the block: for memory alone */
};
/* The most bytes that a rank of the pipeline holds, and which rank. FR_ENOMEM. */
enum fr_status fr__coarse_bytes(const struct fr__coarse *c, double *bytes, uint32_t *rank,
                                struct fr_error *err);
/* No schedule is faster. */
enum fr_status fr__coarse_bound(const struct fr__coarse *c, double *bound_s, struct fr_error *err);
/* Seconds of an iteration. FR_EUSAGE: the schedule does not take the sizes. O(actions). */
enum fr_status fr__coarse_time(const struct fr__coarse *c, double *time_s, struct fr_error *err);

/* ---- the end ---- */

enum fr_status fr__referee(struct fr_search *s, const struct fr_search_options *o,
                           const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr__search_rank(struct fr_search *s, struct fr_error *err);
#endif
