/* lowering/schedules/schedule.h - pipeline schedules as data: which rank runs which action in
 * which order.
 *
 * A model is cut into a chain of virtual stages 0 .. n_stages - 1. Each rank holds some of them
 * and runs a list of actions: the forward of a micro-batch on a stage, its backward, or the
 * backward in two parts (gradient of the input, gradient of the weights). Only the order within a
 * rank is data. When an action starts follows from what it waits for:
 *
 *   F(s, k)         after F(s - 1, k)
 *   B(s, k), I(s, k) after F(s, k), and after B(s + 1, k) or I(s + 1, k)
 *   W(s, k)         after I(s, k)
 *
 * and from the order of its rank. An overlapped pair is one action that waits for what both need.
 *
 * A kind of schedule is one file with its rule, and one row in FR_SCHEDULES. A schedule may also
 * be read from a file. No graph, device or network is known here.
 */
#ifndef FORERUN_SCHEDULE_H
#define FORERUN_SCHEDULE_H

#include "base/base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- actions ---- */

enum fr_action_kind {
    FR_ACTION_F, /* forward */
    FR_ACTION_B, /* whole backward */
    FR_ACTION_I, /* gradient of the input only */
    FR_ACTION_W, /* gradient of the weights only: I, then W, make B */
    FR_ACTION_UNSHARD,
    FR_ACTION_RESHARD,
    FR_ACTION_REDUCE_GRAD,
    FR_ACTION_WAIT_REDUCE_GRAD,
    FR_ACTION_SEND_F,
    FR_ACTION_RECV_F,
    FR_ACTION_SEND_B,
    FR_ACTION_RECV_B,
    FR_ACTION_WAIT_SEND_F,
    FR_ACTION_WAIT_SEND_B,
    FR_ACTION_UPDATE, /* the stage's parameters get a new version */
    FR_N_ACTIONS,
    FR_ACTION_NONE = FR_N_ACTIONS
};

/* Communication of a whole stage (UNSHARD to WAIT_REDUCE_GRAD) has no micro-batch: FR_NONE. */
struct fr_action {
    uint8_t kind; /* enum fr_action_kind */
    uint8_t with; /* FR_ACTION_B or FR_ACTION_I: kind is F and both overlap; else FR_ACTION_NONE */
    uint32_t stage, micro;
    uint32_t with_stage, with_micro; /* of the backward */
};

enum { FR_ACTION_TEXT = 96 };

/* "2F3", "2UNSHARD", "(0F3;3B5)OVERLAP_F_B" into buf; returns buf. */
const char *fr_action_text(const struct fr_action *a, char buf[FR_ACTION_TEXT]);
/* F, B, I or W, the actions that take time and that every schedule has. */
bool fr_action_computes(const struct fr_action *a);

/* ---- kinds of schedules ---- */

/* Which rank r of p holds which stage. */
enum fr_stage_placement {
    FR_STAGES_LOOP, /* stage s stands on rank s mod p */
    FR_STAGES_V,    /* two a rank: stages r and 2 p - 1 - r */
    FR_STAGES_TWO /* a chain of p stages twice: the first half of the micro-batches finds stage s on
                     * rank s, the other half, in the opposite direction, on rank p - 1 - s */
};

/* Which version of the weights the passes of a micro-batch read. */
enum fr_weights_rule {
    FR_WEIGHTS_FLUSH, /* one update at the end: all passes read one version */
    FR_WEIGHTS_STASH, /* an update after each backward; the backward reads what the forward read */
    FR_WEIGHTS_VERTICAL, /* so, and every stage reads the version of the first stage */
    FR_WEIGHTS_DOUBLE,   /* an update after n_micros backwards; two versions are kept */
    FR_WEIGHTS_CURRENT   /* no version is kept: each pass reads the newest */
};

enum fr_backward_order { FR_BACKWARD_DEFAULT, FR_BACKWARD_DESCENDING, FR_BACKWARD_ASCENDING };

struct fr_schedule;

/* What to make. */
struct fr_schedule_spec {
    const char *name; /* of FR_SCHEDULES */
    uint32_t n_ranks, n_micros;
    uint32_t n_virtual; /* stages (or copies) a rank; 0: 2 where any number will do */
    uint32_t group;     /* micro-batches that visit a stage before the next one; 0: the default */
    enum fr_backward_order backward;
    bool vertical_sync; /* of a kind that stashes weights: FR_WEIGHTS_VERTICAL */
};

struct fr_schedule_kind {
    const char *name, *summary, *source;
    enum fr_stage_placement placement;
    enum fr_weights_rule weights;
    uint32_t least_virtual, most_virtual; /* stages a rank; most 0: any number */
    bool takes_group, takes_backward;
    bool has_pairs; /* of a forward and a backward that overlap */
    /* Sizes that the rule cannot serve; NULL: all. spec has no zeros but backward. */
    enum fr_status (*check)(const struct fr_schedule_spec *spec, struct fr_error *err);
    /* Appends the actions of each rank (maker.h). */
    enum fr_status (*make)(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err);
};

/* NULL past the last. */
const struct fr_schedule_kind *fr_schedule_kind_at(size_t i);
/* NULL: there is none of that name. */
const struct fr_schedule_kind *fr_schedule_kind_find(const char *name);

/* The table: a new kind is a file and a word here. */
#define FR_SCHEDULES(X)                                                                            \
    X(gpipe)                                                                                       \
    X(1f1b)                                                                                        \
    X(eager_1f1b)                                                                                  \
    X(interleaved_1f1b)                                                                            \
    X(moe_overlap)                                                                                 \
    X(looped_bfs)                                                                                  \
    X(interleaved_zero_bubble)                                                                     \
    X(zb_h1)                                                                                       \
    X(zb_h2)                                                                                       \
    X(zb_v)                                                                                        \
    X(zb_v_auto)                                                                                   \
    X(v_half)                                                                                      \
    X(v_min)                                                                                       \
    X(dualpipe)                                                                                    \
    X(dualpipe_v)                                                                                  \
    X(chimera)                                                                                     \
    X(chimera_released)                                                                            \
    X(pipedream)                                                                                   \
    X(pipedream_2bw)                                                                               \
    X(pipemare)

/* ---- schedules ---- */

struct fr_schedule {
    char name[64]; /* of the kind, or of the file as far as it fits */
    enum fr_weights_rule weights;
    uint32_t n_ranks, n_stages, n_micros;
    uint32_t n_virtual;        /* stages (or copies) a rank, at most */
    size_t *first;             /* [n_ranks + 1] into actions */
    struct fr_action *actions; /* [n_actions] rank by rank */
    size_t n_actions, cap_actions;
};

enum {
    FR_SCHEDULE_MOST_RANKS = 4096,
    FR_SCHEDULE_MOST_MICROS = 1 << 20,
    FR_SCHEDULE_MOST_ACTIONS = 1 << 24
};

/* Makes a schedule of a kind; the caller frees it. FR_ENOENT: no such kind (the nearest is named);
 * FR_EUSAGE: sizes or options that the kind does not take; FR_ERANGE: too large; FR_ENOMEM.
 * O(actions), but zb-v-auto, v-half and v-min, which search: up to O(actions ranks). */
enum fr_status fr_schedule_make(struct fr_schedule **out, const struct fr_schedule_spec *spec,
                                struct fr_error *err);
/* Reads CSV `rank,index,action` (actions of fr_action_text): any order of rows, indices 0 upwards
 * in each rank. Stages, ranks and micro-batches are counted by their highest number. It is not
 * checked. FR_ENOENT, FR_EIO, FR_EPARSE, FR_ERANGE, FR_ENOMEM. */
enum fr_status fr_schedule_load(struct fr_schedule **out, const char *path, struct fr_error *err);
/* The same from memory; name stands for the path in messages. */
enum fr_status fr_schedule_load_text(struct fr_schedule **out, const char *text, size_t len,
                                     const char *name, struct fr_error *err);
/* "file:PATH", or a kind's name: then as fr_schedule_make does. A file may go without n_ranks and
 * n_micros; those that are given must agree with it (FR_EUSAGE). Checked. */
enum fr_status fr_schedule_get(struct fr_schedule **out, const struct fr_schedule_spec *spec,
                               struct fr_error *err);
void fr_schedule_free(struct fr_schedule *s);

/* Whether every stage runs each micro-batch once, forward and backward, on one rank, every rank has
 * a pass, and all waits end. FR_EPARSE: what is missing or twice, or the circle of waits.
 * FR_ENOMEM. */
enum fr_status fr_schedule_check(const struct fr_schedule *s, struct fr_error *err);

/* Whether a pass is of a later stage of its rank, or of the second direction: pictures show it
 * lighter. */
bool fr_schedule_is_second(const struct fr_schedule *s, uint32_t stage, uint32_t micro);

/* CSV as fr_schedule_load reads it. false: the stream failed. */
bool fr_schedule_write_csv(FILE *f, const struct fr_schedule *s);

/* A copy with PyTorch's communication: UNSHARD, RESHARD, REDUCE_GRAD, SEND_F, RECV_F, ...
 * (comms.c). FR_EPARSE: as fr_schedule_check; FR_EUNSUPPORTED: a schedule of two directions, or
 * one that has such actions; FR_ERANGE, FR_ENOMEM. O(actions stages). */
enum fr_status fr_schedule_add_comms(struct fr_schedule **out, const struct fr_schedule *s,
                                     struct fr_error *err);

/* ---- replay ---- */

/* How long the passes of a stage take, in any unit; < 0: the default. */
struct fr_pass_times {
    double forward, input, weight;
    double backward; /* < 0: input + weight */
    /* Of forward, of backward: while the device computes nothing, so that the other pass of an
     * overlapped pair may. */
    double forward_idle, backward_idle;
};

struct fr_schedule_times {
    struct fr_pass_times pass;            /* of every stage, or */
    const struct fr_pass_times *of_stage; /* [n_stages]; NULL: all alike */
    double pair; /* an overlapped pair; < 0: forward and backward, but for what is idle */
    /* [n_stages] so with the forward pass of each stage, at least. NULL: nothing is known. */
    const double *pair_of_stage;
    double comm; /* between different ranks, from the end of a pass to the start of what waits */
    /* [n_ranks] so between a rank and the next one, either way; the last: between the last rank and
     * the first. NULL: comm between all. */
    const double *comm_of_rank;
};
/* All 1, comm 0, the others by default. */
struct fr_schedule_times fr_schedule_unit_times(void);

struct fr_replay {
    double makespan, longest_span; /* longest_span: of one rank, from its first start to its end */
    double bubble_frac;            /* 1 - mean busy time / makespan */
    double *start, *finish;        /* [n_actions] */
    double *busy;                  /* [n_ranks] */
    uint32_t *live_weight; /* [n_ranks] at most, forwards whose W or B has not ended, by the list */
    uint32_t *live_input;  /* [n_ranks] so, whose I or B has not ended */
    uint32_t *versions;    /* [n_ranks] of the weights that the rank must keep, at most */
    uint32_t *staleness;   /* [n_ranks] updates that the weights of a forward miss, at most */
    /* [n_ranks] where no version is kept: passes from a forward to its backward over n_micros, the
     * optimizer's steps between them by which PipeMare scales the learning rate (B. Yang et al.,
     * PipeMare, MLSys 2021): (2 (p - 1 - s) + 1) / m on rank s. Else 0. */
    double *delay_steps;
};

/* Runs the lists: every action starts as early as its waits and its rank's order let it. The
 * schedule must be one that fr_schedule_check accepts. t NULL: unit times. FR_ENOMEM.
 * O(actions). */
enum fr_status fr_schedule_replay(struct fr_replay *out, const struct fr_schedule *s,
                                  const struct fr_schedule_times *t, struct fr_error *err);
void fr_replay_fini(struct fr_replay *r);

#ifdef __cplusplus
}
#endif
#endif
