/* lowering/decisions.h - what a strategy decided, and why: one record that any strategy may fill.
 *
 * The record stands for itself: it owns its strings and arrays, and nothing in it points into a
 * planner. Reports, explanations and pictures read it and know no strategy. A strategy fills what
 * it has; what it leaves NULL or 0 is not shown. Rules (how the strategy decides) are sentences of
 * the strategy, printed before the table that they explain.
 *
 * Devices are counted as the problem counts them: 0 .. n_devices - 1.
 */
#ifndef FORERUN_DECISIONS_H
#define FORERUN_DECISIONS_H

#include "base/base.h"
#include "lowering/schedules/schedule.h"
#include "lowering/stage_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_decided_device {
    const char *name;
    uint32_t device;     /* of the topology */
    uint32_t column;     /* of cost_s */
    uint64_t room_bytes; /* for what is held for long */
};

/* No plan of these operations takes less. 0: not known. */
struct fr_decided_bounds {
    double best_s;   /* the largest of: */
    double path_s;   /* the longest chain, each operation on the device that is fastest for it */
    double work_s;   /* all work shared evenly */
    double cross_s;  /* the best chain through a move that memory makes necessary */
    double search_s; /* what a search proved; 0: there was none */
};

enum fr_reason_kind {
    FR_REASON_CHOSEN, /* among devices; fr_alternative tells what each would have given */
    FR_REASON_BOUND,  /* to one device, by a rule */
    FR_REASON_FOLLOWS /* stands where another operation stands */
};

/* Why an operation stands where it does. A strategy has a constant table of its reasons. */
struct fr_reason {
    enum fr_reason_kind kind;
    const char *token; /* for programs: "ends-first" */
    const char *words; /* for people: "bound with the critical path" */
    /* FR_REASON_CHOSEN: said of the device that was taken, and where others would have done as
     * well. */
    const char *picked, *picked_of_equals;
    bool is_by_room; /* FR_REASON_CHOSEN: by the memory that is left, not by time */
};

/* A device on which an operation could have been put. */
struct fr_alternative {
    double ready_s;        /* all inputs could be there */
    double start_s, end_s; /* earliest; infinite: no room; NaN: bound to another device */
    double ahead_s;      /* the longest move from there to readers that are placed, if looked at */
    uint64_t left_bytes; /* room that was left */
};

enum fr_decided_kind {
    FR_DECIDED_OP,       /* an op of the workload, or a replica or part of one */
    FR_DECIDED_VARIABLE, /* holds parameters, takes no time */
    FR_DECIDED_HELPER    /* added by the strategy: slices, joins, sums */
};

/* An operation of a plan, and the decision about it. */
struct fr_decided_op {
    const char *name; /* "conv1_1", "conv1_1, part 1 of 2", "parameters of fc6"; no two alike */
    enum fr_decided_kind kind;
    uint8_t phase;    /* enum fr_phase */
    uint32_t op;      /* of the problem's graph: itself, what it is part of or works for; FR_NONE */
    uint32_t task;    /* of the plan; FR_NONE: not known */
    uint32_t device;  /* index among the problem's */
    unsigned n_parts; /* of the same op; 1: it is whole */
    double start_s, end_s;
    bool is_on_path; /* the critical path */
    /* Upward rank: rank_s = longest_s + via_s + the rank of operation `via` (FR_NONE: nobody
     * reads). */
    double rank_s, longest_s, via_s;
    uint32_t via;
    double down_s; /* downward rank: the longest way from a source */
    /* What follows is told with a reason only. */
    const struct fr_reason *reason;
    uint32_t follows;              /* FR_REASON_FOLLOWS: this operation */
    double gap_begin_s, gap_end_s; /* free time that it was put into; the end may be infinite */
    uint64_t needs_bytes;          /* with what must be on the same device; 0: not counted */
    const char *remark;            /* goes on where the name and rank end; NULL */
};

/* Something that one operation hands to another. */
struct fr_decided_edge {
    uint32_t src, dst;
    uint64_t bytes;
    double move_s; /* from where src stands to where dst stands; 0 on one device */
    bool is_order; /* nothing moves */
};

/* How much of the rest of the critical path would fit on a device. */
struct fr_path_candidate {
    size_t from, end; /* of path; equal: nothing fits, or the device has its part already */
    double mean_s;    /* mean cost there */
};

/* A plan that the strategy made or looked at. */
struct fr_decided_plan {
    const char *token;   /* for programs: "start", "splits" */
    const char *heading; /* "The dag: one model," goes before "N operations and M edges." */
    const char *title;   /* of what is told of one operation in a second plan: "With the splits" */
    const char *caption; /* of a picture: "planned by DPOS" */
    const char *note;    /* after the heading, or NULL */
    bool is_given;       /* where operations stand was given; only the schedule is told */
    double makespan_s;
    struct fr_decided_bounds bounds;
    size_t n_ops;
    const struct fr_decided_op *ops;
    const uint32_t *order;      /* [n_ops] by start */
    const uint32_t *position;   /* [n_ops] in order; NULL */
    const uint64_t *used_bytes; /* [n_devices] held for long; NULL */
    /* The graph of the operations; edges NULL: not told. */
    size_t n_edges;
    const struct fr_decided_edge *edges; /* sorted by (src, dst) */
    const uint32_t *out_first;           /* [n_ops + 1] edges of src */
    const uint32_t *in_first, *in_edges; /* [n_ops + 1], [n_edges] */
    const double *cost_s;                /* [n_ops][n_columns] */
    /* How it was decided; list NULL: not told. */
    const uint32_t *list;  /* [n_ops] in the order in which operations were decided */
    const uint32_t *place; /* [n_ops] in list */
    const struct fr_alternative *alternatives; /* [n_ops][n_devices] */
    const char *rank_rule, *list_rule;         /* NULL: no ranks; no rule */
    bool looks_ahead;                          /* alternatives have an ahead_s */
    bool has_down_ranks;                       /* by the sum of both ranks operations are taken */
    /* The critical path and the rounds in which devices took parts of it. */
    size_t n_path, n_rounds;
    const uint32_t *path;                              /* [n_path] operations */
    const char *path_rule, *round_rules[2], *tie_rule; /* rounds: of the first, of the others */
    const struct fr_path_candidate *candidates;        /* [n_rounds][n_devices] */
    const uint32_t *round_device;                      /* [n_rounds] */
    const char *path_note;                             /* after the rounds, or NULL */
};

/* A way of splitting one operation. */
struct fr_decided_split {
    const char *op;   /* its name */
    uint32_t number;  /* of the first plan's operations */
    uint32_t user_op; /* of the problem's graph; FR_NONE */
    const char *dim;  /* "batch", "channel" */
    unsigned n;
    double before_s, after_s; /* of the whole step; infinite: does not fit; NaN: given up */
    bool is_kept;
    const char *verdict; /* "kept", "no shorter" */
};

/* Another plan that was compared as a whole. */
struct fr_decided_rival {
    const char *what; /* "Replicas left alone, one whole on each device" */
    double s;
    bool is_kept; /* it is the plan */
};

/* Another strategy whose plan was compared with the own one. */
struct fr_decided_plain {
    const char *name;
    double made_s; /* infinite: no plan, out of memory, or given up as longer than the best */
};

/* A pipeline: its schedule, and what the stages take of it. */
struct fr_decided_pipeline {
    const struct fr_schedule *schedule;
    const struct fr_pass_times *of_stage; /* [n_stages] seconds of a micro-batch */
    const uint32_t *device_of;         /* [n_stages] of the topology; of two copies, the first's */
    const char *const *first_op;       /* [n_stages] the first of its forward ops; NULL: none */
    uint32_t n_pipelines, micro_batch; /* samples */
};

/* What the planner of a pipeline promises, to be held beside what the run takes. */
struct fr_decided_promise {
    double planned_s;     /* an iteration */
    const char *by;       /* how it was found: "replay of the schedule" */
    const char *left_out; /* what takes time in a run and is not in it, why the two differ */
};

/* ---- ops spread over a mesh ----
 *
 * Ops are ops of the plan's graph. Rank r of the mesh has the coordinate r / stride % size along an
 * axis. */

/* An axis of the mesh. Experts have a mesh of their own over the same ranks. */
struct fr_layout_axis {
    const char *name; /* "tp" */
    const char *what; /* what its ranks share out: "columns and rows of each layer" */
    uint32_t size, stride;
    bool is_of_experts;
    bool is_stages; /* its ranks are the ranks of a pipeline */
};

enum fr_layout_placement {
    FR_LAYOUT_WHOLE,   /* every rank has all of it */
    FR_LAYOUT_SPLIT,   /* along a dimension */
    FR_LAYOUT_PARTIAL, /* every rank has a term of the sum */
};

/* How an axis divides an op. */
struct fr_layout_split {
    uint32_t axis;        /* index of axes */
    const char *loop;     /* "columns" */
    bool divides_weights; /* else each rank has all of them */
    enum fr_layout_placement output;
    uint8_t dim; /* FR_LAYOUT_SPLIT: of the output */
};

struct fr_layout_op {
    uint32_t op;
    size_t n_splits;
    const struct fr_layout_split *splits;
};

struct fr_layout {
    size_t n_axes;
    const struct fr_layout_axis *axes; /* innermost first, then those of experts; some of size 1 */
    const char *map;                   /* the order as the user named it */
    uint32_t n_ranks;
    const uint32_t *devices;        /* [n_ranks] of the topology */
    uint32_t n_stages;              /* 1: no pipeline */
    const uint32_t *rank_of;        /* [n_stages] coordinate along the axis of stages */
    uint32_t n_micros, micro_batch; /* of a replica; samples */
    unsigned zero;                  /* what replicas share out: 1 optimizer, 2 gradients too, 3
                                       parameters too */
    size_t n_units;
    const char *const *units; /* [n_units] "layer3": the blocks that the model repeats */
    size_t n_graph_ops;
    const uint32_t *unit_of;  /* [n_graph_ops] FR_NONE: of no unit */
    const uint32_t *stage_of; /* [n_graph_ops] */
    size_t n_ops;
    const struct fr_layout_op *ops; /* forward ops that compute, in graph order */
};

struct fr_decisions {
    /* The answer in short. */
    double believed_s;               /* the step, as the strategy believes */
    double start_s;                  /* before operations were split */
    const char *start, *start_words; /* planned from: "dp"; "replicas" */
    bool keeps_replicas;             /* found nothing better than a whole replica a device */
    /* What the engine made of the strategy's own best plan; 0: it was not asked; infinite: out of
     * memory. own_alone_s: with each message alone on its links, so that the rest is contention.
     * foreseen_s: contention that is in believed_s. */
    double own_s, own_alone_s, foreseen_s;
    const char *plan_of;           /* the strategy whose plan it is; NULL: it was not asked */
    bool is_handed_over;           /* that is another one, whose plan is faster */
    const char *rule, *rule_words; /* how its own plan was made: "together"; NULL: only one way */
    size_t n_plain;
    const struct fr_decided_plain *plain; /* other strategies that were compared */
    size_t n_asked, n_given_up; /* runs of the engine, and those that stopped at the best so far */
    size_t n_devices, n_columns;
    const struct fr_decided_device *devices;
    const char *const *columns; /* [n_columns] names of device types, in the order of the devices */
    /* The plan; more of them, in the order in which they were made, where the way is told. The last
     * one became the plan. */
    size_t n_plans;
    const struct fr_decided_plan *plans;
    size_t n_splits;
    const struct fr_decided_split *splits; /* that are in the plan */
    size_t n_tried, n_whole, n_stopped;    /* splits; evaluations in full, and stopped early */
    /* Told where the way is told. */
    const char *split_rule, *split_end; /* what was tried; why no more was; NULL: splits nothing */
    size_t n_tries;
    const struct fr_decided_split *tries;
    size_t n_rivals;
    const struct fr_decided_rival *rivals;
    const struct fr_decided_pipeline *pipeline; /* NULL: it is none; else there are no plans */
    const struct fr_decided_promise *promise;   /* NULL: it makes none */
    const struct fr_stage_plan *stages;         /* of a profile (stage_plan.h); NULL: none */
    const struct fr_layout *layout;             /* NULL: ops are not split; likewise */
    void *priv;
};
void fr_decisions_free(struct fr_decisions *d);

/* What the engine made of the strategy's own plan beyond what was believed, in two parts: waits of
 * messages for each other that were not foreseen, and the rest. */
void fr_decisions_gap(const struct fr_decisions *d, double *contention_s, double *launch_s);
/* Why the engine made another time of the own plan than was planned: the larger of two parts, in a
 * word; "none" within 1 %. "": the engine was not asked. */
const char *fr_decisions_gap_cause(const struct fr_decisions *d);

/* The plan that was taken; NULL: it tells of none. */
static inline const struct fr_decided_plan *fr_decisions_plan(const struct fr_decisions *d)
{
    return d->n_plans > 0 ? &d->plans[d->n_plans - 1] : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
