/* lowering/placer.h - adds to a plan what strategies decide: tasks, messages, collectives,
 * buffers.
 *
 * A placer belongs to one plan while it is being built. It holds what all replicas share: the
 * problem, what the graph's parameters are, the rows of the cost table made so far (price.h).
 *
 * Priorities count up in the order in which a device's tasks are made, so that `strict` and
 * `priority` follow the program. A message takes the priority of what it carries.
 */
#ifndef FR_LOWERING_PLACER_H
#define FR_LOWERING_PLACER_H

#include "base/arena.h"
#include "plan/pattern.h"
#include "lowering/params.h"
#include "lowering/price.h"
#include "lowering/share.h"
#include "lowering/lowering.h"

struct fr__equal_groups;
struct fr__group_ops;

/* How parameters, gradients and states are kept where a strategy does not do as PyTorch does by
 * itself (price.h). */
struct fr__keeping {
    const struct fr__recipe *recipe;
    unsigned zero;          /* 0 to 3: what is shared out, see recipe.h */
    const uint32_t *shards; /* [n_ops] of owners: among so many ranks */
    bool is_scattered;      /* ops of the graph scatter the gradients */
    /* zero 2: what a step adds up is whole, from the first gradient on until it has been scattered,
     * also of main gradients */
    bool is_whole_first;
    /* Shared weights are the master weights, cast when they are gathered (PyTorch,
     * torch/distributed/_composable/fsdp/_fsdp_param.py, MixedPrecisionPolicy.param_dtype) */
    bool casts_gathered;
    /* [n_ops] owners whose parameters another owner on the same device holds: the second end of a
     * model whose ends share a table. Only their gradients are their own; NULL: there are none */
    const bool *is_second;
    /* [n_ops] of owners: how the busiest rank stands to the mean where whole tensors are shared
     * out (share.h); NULL: nothing is */
    const struct fr__busiest *busiest;
};

struct fr__placer {
    const struct fr_problem *in;
    const struct fr_graph *graph;
    const struct fr_context *ctx;
    struct fr_plan *plan;
    struct fr__arena *arena;
    struct fr__params params;
    int32_t next_priority;
    uint32_t n_tasks;      /* made so far */
    uint32_t on_gradients; /* string of the plan: what is done to all gradients; FR_NONE: nothing
                              that has a name */
    struct fr__cost_rows *rows;            /* a list, one for each device type and batch */
    bool *has_context;                     /* [n_devices] */
    const struct fr__keeping *keeping;     /* NULL: as PyTorch does */
    const struct fr__group_ops *group_ops; /* messages of a sharded graph; NULL: it has none */
    /* [n_equal_groups_of] by group of the plan: the groups that do the same at the same time;
     * NULL: it is alone */
    struct fr__equal_groups *const *equal_groups_of;
    uint32_t n_equal_groups_of;
    /* How many messages of replicas like one from src to dst use its links at the same time; NULL:
     * one. A cut of stages counts them whether ranks are folded or not, so that both are cut
     * alike. */
    uint32_t (*share_of)(void *user, uint32_t src, uint32_t dst);
    void *share_user;
    bool is_folded;         /* a transfer stands for those of all replicas */
    double gradient_factor; /* bytes of a gradient as it is kept and sent, over those of its
                                   parameter; 1 but where main gradients are fp32 */
};

/* fini may follow a failed init. Under fp16, bf16 and fp8 the placer keeps what fr__recipe_of()
 * says is usual, so that all strategies keep gradients in one format; under the others, and
 * where TensorFlow 1's ops make the step, what PyTorch keeps by itself. The plan is told which
 * format. */
enum fr_status fr__placer_init(struct fr__placer *pl, const struct fr_problem *in,
                               const struct fr_context *ctx, struct fr_plan *plan,
                               struct fr_error *err);
void fr__placer_fini(struct fr__placer *pl);
/* Keeps what a recipe says instead, whole on each rank; NULL: leaves it as it is. */
enum fr_status fr__placer_keep(struct fr__placer *pl, const struct fr__recipe *recipe,
                               struct fr_error *err);
/* Keeps so, and tells the plan. keeping: must stay; NULL: as PyTorch does. */
void fr__placer_keep_so(struct fr__placer *pl, const struct fr__keeping *keeping);

const struct fr_device_type *fr__type_of(const struct fr__placer *pl, uint32_t device);

/* Adds a task at the next priority; where it is made counts. */
uint32_t fr__add_task(struct fr__placer *pl, const struct fr_task *task);
/* A compute task on FR_STREAM_COMPUTE. op: FR_NONE or the graph's. */
uint32_t fr__add_compute(struct fr__placer *pl, uint32_t device, uint32_t cost_id, uint32_t op,
                         enum fr_phase phase, uint32_t microbatch);
uint32_t fr__add_marker(struct fr__placer *pl, uint32_t device, enum fr_phase phase,
                        uint32_t microbatch);

/* Adds a collective on a group of the plan, which takes the time fitted to its machines where these
 * behave like a known system that covers it (fr_cost_collective), else runs as rings over the
 * links. */
uint32_t fr__add_collective(struct fr__placer *pl, const struct fr_collective *collective);

/* The same collective once more. */
uint32_t fr__repeat_collective(struct fr__placer *pl, uint32_t collective);

/* What moves: after task `from` (FR_NONE: the caller adds what to wait for), src to dst. */
struct fr__move {
    uint32_t src, dst, from;
    double bytes;
    uint32_t op, microbatch, label;
    int32_t priority;
    enum fr_phase phase;
    uint8_t send_stream;
};
/* Makes the pair; both wait for `from`, so that a receive is posted when there is something to
 * receive and never blocks another: receives hold no stream. *send, *recv: the tasks. */
void fr__add_move(struct fr__placer *pl, const struct fr__move *m, uint32_t *send, uint32_t *recv);

/* A buffer; 0 bytes make none (FR_NONE). */
uint32_t fr__add_buffer(struct fr__placer *pl, enum fr_buffer_kind kind, uint32_t device,
                        uint64_t bytes, uint32_t alloc, uint32_t op);
/* Lets `task` free the buffer; FR_NONE: nothing. */
void fr__add_free(struct fr__placer *pl, uint32_t buffer, uint32_t task);
/* Scratch of one task, its own to the end: what op `op` needs when it runs at `batch`, and the
 * temporaries of an update, a buffer each. */
void fr__add_workspace(struct fr__placer *pl, uint32_t device, uint32_t op, double batch,
                       uint32_t task);
/* The same where the plan has a graph of its own, whose op `as` the buffers belong to; op: of the
 * problem's graph. An update may be one of n_pieces equal ones. */
void fr__add_workspace_as(struct fr__placer *pl, uint32_t device, uint32_t op, uint32_t as,
                          double batch, unsigned n_pieces, uint32_t task);
/* What is there of an owner from the start to the end: its parameters, gradients that are kept, and
 * if wanted what the optimizer keeps. */
void fr__add_kept(struct fr__placer *pl, uint32_t device, const struct fr__owner *w,
                  bool with_optimizer);
/* What the optimizer keeps for so many bytes of an owner's parameters, a buffer a tensor. as: the
 * op that the buffers belong to. */
void fr__add_optimizer(struct fr__placer *pl, uint32_t device, const struct fr__owner *w,
                       uint64_t param_bytes, uint32_t as);
/* The device's CUDA context, once; nothing on a CPU. */
void fr__use_device(struct fr__placer *pl, uint32_t device);

/* The graph's body will be placed n times: makes room in the plan, about as much as that takes.
 * FR_ENOMEM when this machine has not the memory for it. */
enum fr_status fr__placer_expect(struct fr__placer *pl, size_t n, struct fr_error *err);

/* How far the plan is; between two of these lies a block (plan/pattern.h). */
struct fr__plan_mark fr__placer_mark(const struct fr__placer *pl);
/* Repeats a block here, at the next priorities. */
void fr__placer_repeat(struct fr__placer *pl, const struct fr__pattern *k,
                       const struct fr__pattern_place *place);

#endif
