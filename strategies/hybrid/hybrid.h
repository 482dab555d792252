/* strategies/hybrid/hybrid.h - data, tensor, sequence, context, expert and pipeline parallelism,
 * and sharded optimizers, in any combination: what the files of the room share.
 *
 *     options.c   what the user asked for, and whether the degrees go together
 *     dispatch.c  which experts get how many tokens
 *     graph.c     the graph that one rank runs: recomputed, split, with its messages
 *     ranks.c     which ranks are placed, on which devices, and their groups
 *     place.c     ranks become tasks
 *     crossings.c tensors that go from stage to stage in parts
 *     explain.c   what was decided, as a record
 *     strategy.c  the strategy's row
 *
 * Nothing here knows what an op is. Which ops are split how is a choice of placements
 * (workloads/passes/shard.h); what a rank does then is one local graph, placed like any replica
 * (lowering/replica/replica.h); messages inside it become collectives (group_ops.h); gradients
 * are summed at the end (exchange.h).
 */
#ifndef FR_STRATEGIES_HYBRID_HYBRID_H
#define FR_STRATEGIES_HYBRID_HYBRID_H

#include "lowering/exchange/exchange.h"
#include "lowering/replica/group_ops.h"
#include "lowering/mesh.h"
#include "lowering/pipeline/pipeline.h"
#include "lowering/placer.h"
#include "lowering/recipe.h"
#include "strategies/strategies.h"
#include "workloads/passes/gather.h"
#include "workloads/passes/quantise.h"
#include "workloads/passes/recompute.h"
#include "workloads/passes/ring.h"
#include "workloads/passes/untie.h"

extern const struct fr_option fr__hybrid_option_rows[];
enum fr_software_run fr__hybrid_software_run(const struct fr_option_values *v);

/* How tokens are shared out among experts. */
enum fr__dispatch {
    FR__DISPATCH_BALANCED, /* alike */
    FR__DISPATCH_MODEL,    /* as the model's own routing has them */
    FR__DISPATCH_SKEW,     /* the first rank's experts get `dispatch_by` times the mean */
    FR__DISPATCH_ZIPF      /* expert k of n gets 1/k^dispatch_by of what the first one gets */
};

/* How attention over a split sequence gets what it needs of other ranks. */
enum fr__cp_messages {
    FR__CP_GATHER, /* keys and values are gathered */
    FR__CP_RING,   /* they go around a ring, beside attention to those that are there */
    FR__CP_HEADS   /* positions are exchanged for heads and back: Ulysses */
};

struct fr__hybrid_options {
    uint32_t dp, tp, pp, cp, ep, etp; /* degrees, all at least 1; their ranks are all devices */
    enum fr__cp_messages context;
    enum fr__dispatch dispatch;
    double dispatch_by;
    bool sequence_parallel, vocab_parallel, keeps_gathered;
    bool ties;            /* weights that the model's ends share stay shared */
    bool overlaps_tensor; /* messages of a tensor group go beside the parts of their products */
    bool is_tensor_overlap_wanted; /* by the user, not by a recipe alone */
    uint32_t micro_batch;          /* samples */
    uint32_t n_micros;             /* of each replica */
    const char *schedule;
    uint32_t n_virtual; /* 0: as the schedule needs */
    bool cuts_by_count; /* stages have as many layers */
    const char *cuts;   /* names with which further stages begin; "": none */
    enum fr__recompute recompute;
    double kept_part;      /* of a layer's bytes, with a budget */
    unsigned modules;      /* that run again: bits 1 << enum fr__module */
    uint32_t n_recomputed; /* units a group, or of each stage */
    bool stops_early;      /* what runs again stops where the backward pass has what it reads */
    unsigned zero;         /* 0 to 3 */
    bool scatters_once;    /* zero 2: gradients stay whole until the last micro-batch */
    const struct fr__recipe *recipe; /* what a parameter takes; NULL: what is usual */
    uint32_t prefetch;               /* zero 3: units gathered ahead of the one that runs */
    bool is_tensor_async;            /* messages of a tensor group run beside other work */
    bool keeps_last;                 /* zero 3: the last unit stays gathered */
    bool casts_gathered;             /* zero 3: shares are fp32, cast when gathered */
    bool packs;                      /* zero 3: copies out of and into messages */
    bool gathers_modules;            /* zero 3: a unit is a module, not a layer */
    bool reshards;                   /* zero 3: gathered again for the backward pass */
    uint32_t shard_group; /* zero 3: ranks of dp x cp that share; the groups are copies */
    const char *map;
    uint64_t bucket_bytes;         /* 0: as Megatron-LM has it */
    bool sends_parts;              /* between stages each rank of a tensor group sends its part */
    bool overlap;                  /* gradients leave during the backward pass */
    bool gathers_at_start;         /* zero 1, 2: parameters are gathered when an iteration begins */
    const char *annotations;       /* how ops are split: "megatron" or "file:PATH" */
    struct fr__step_passes passes; /* what software does to all gradients */
    bool fold;                     /* ranks that do the same are placed once */
    bool is_fold_wanted;           /* the user said so */
};

/* Reads and checks. FR_EUSAGE says what does not go together and what would. */
enum fr_status fr__hybrid_read(struct fr__hybrid_options *out, const struct fr_problem *in,
                               struct fr_error *err);

/* What is kept of a parameter. */
static inline const struct fr__recipe *fr__hybrid_recipe(const struct fr__hybrid_options *o,
                                                         const struct fr_graph *g)
{
    return o->recipe ? o->recipe : fr__recipe_of(g->dtype);
}

/* The schedule of a replica's stages. pp: > 1 */
static inline struct fr_schedule_spec fr__hybrid_schedule(const struct fr__hybrid_options *o)
{
    return (struct fr_schedule_spec){
        .name = o->schedule, .n_ranks = o->pp, .n_micros = o->n_micros, .n_virtual = o->n_virtual};
}

/* Reads the text of the option `dispatch`. FR_EUSAGE: it is none, or out of range. */
enum fr_status fr__hybrid_read_dispatch(struct fr__hybrid_options *o, const char *text,
                                        struct fr_error *err);
/* What the sharding pass is told of it. Fills shares[n_experts] where it needs them, which must
 * stay while *out is used. */
void fr__hybrid_dispatch(const struct fr__hybrid_options *o, uint32_t n_experts, double shares[],
                         struct fr__shard_experts *out);

/* Axes of fr__shard_problem, in their order. */
enum { FR__HYBRID_TP, FR__HYBRID_CP, FR__N_HYBRID_AXES };

/* The graph of one rank. */
struct fr__hybrid_graph {
    const struct fr_graph *graph;
    const struct fr_graph *whole; /* that was split over the mesh */
    bool is_sharded;              /* `sharded` holds */
    struct fr__sharded sharded;
    bool is_untied; /* `untied` holds: the ends of the model have weights of their own */
    bool ends_meet; /* but one rank has both ends, and holds them once */
    struct fr__untied untied;
    bool is_recomputed; /* `recomputed` holds: what was sharded then */
    struct fr__recomputed recomputed;
    bool is_gathered;  /* parameters are gathered by ops of the graph */
    bool is_scattered; /* and gradients scattered, or these alone */
};

/* How many neighbours of a tensor group hold the same parameters of an op: 1 where these are split
 * evenly, or whole. */
uint32_t fr__hybrid_alike(const struct fr__hybrid_graph *g, size_t op);

/* Makes the graph and, unless it is the problem's own, gives it to the plan. FR_EUSAGE: an op
 * cannot be split so. */
enum fr_status fr__hybrid_graph_make(struct fr__hybrid_graph *out, const struct fr_problem *in,
                                     const struct fr__hybrid_options *o, struct fr_plan *plan,
                                     struct fr_error *err);
void fr__hybrid_graph_free(struct fr__hybrid_graph *g);
/* Whether op is one that owns a copy of weights that both ends of the model share. */
bool fr__hybrid_is_end(const struct fr__hybrid_graph *g, const struct fr__hybrid_options *o,
                       size_t op);
/* Whether it is the later of two that one rank has: the earlier one holds the weights. */
bool fr__hybrid_is_second(const struct fr__hybrid_graph *g, size_t op);

/* How many of the messages from one stage to another use the same links. */
struct fr__share_row {
    uint32_t src, dst; /* devices of the placed rank */
    uint32_t share;
    bool is_even;
};

/* Ranks on devices. All arrays come from the placer's arena. */
struct fr__hybrid_ranks {
    struct fr__placer *pl;
    const struct fr__hybrid_options *o;
    struct fr__mesh dense, expert;
    const uint32_t *devices_by_rank; /* [n_devices] */
    bool is_folded;
    bool has_uneven_groups; /* of an axis, in a stage: one cannot stand for the others */
    uint32_t n_replicas;    /* that are placed */
    uint32_t *rank_of;      /* [n_replicas] at the first stage */
    uint32_t *devices;      /* [pp][n_replicas] */
    struct fr__rank_groups tensor, context, experts, expert_tensor, expert_data;
    struct fr__rank_groups data;   /* who sum gradients; zero 3: who share parameters */
    struct fr__rank_groups copies; /* zero 3: who have the same part in groups that share alike */
    /* [n_alike] of neighbours in a tensor group that hold the same heads of keys and values */
    struct fr__rank_groups *alike;
    uint32_t n_alike;
    struct fr__rank_groups ends; /* the first and last stage; plan_group: [n_groups] */
    struct fr__routes *routes;
    struct fr__equal_groups *
        *equal_groups; /* [n_equal_groups] made so far, by group of the plan in equal_groups_of */
    struct fr__share_row *shares; /* [n_shares] of pairs of stages asked for so far */
    size_t n_shares, cap_shares;
    size_t n_equal_groups, cap_equal_groups;
    struct fr__equal_groups **equal_groups_of; /* [n_equal_groups_of] by group of the plan */
    uint32_t n_equal_groups_of;
};

/* fini may follow a failed make. */
enum fr_status fr__hybrid_ranks_make(struct fr__hybrid_ranks *out, struct fr__placer *pl,
                                     const struct fr__hybrid_options *o,
                                     const struct fr__hybrid_graph *g, struct fr_error *err);
void fr__hybrid_ranks_fini(struct fr__hybrid_ranks *r);
/* The device of a placed replica at a stage. */
uint32_t fr__hybrid_device(const struct fr__hybrid_ranks *r, uint32_t stage, uint32_t replica);
/* The devices of all ranks of a stage, placed or not. devices: [n_ranks / pp]. */
void fr__hybrid_stage_devices(const struct fr__hybrid_ranks *r, uint32_t stage, uint32_t devices[]);

/* Of what goes from one rank of the pipeline to another, that which a tensor group has whole.
 * stage_of: [n_ops], rank_of: [n_stages]. Fills crossings, their number and crossing_of of *out,
 * from the arena. FR_ENOMEM. O(edges^2 of one tensor). */
enum fr_status fr__hybrid_crossings(struct fr__group_ops_problem *out,
                                    const struct fr__hybrid_graph *g,
                                    const struct fr__hybrid_options *o, const uint32_t stage_of[],
                                    const uint32_t rank_of[], const struct fr__placer *pl,
                                    struct fr_error *err);

/* Places all ranks. tell: where to leave what was decided, for the caller to free; NULL: nobody
 * asks. */
enum fr_status fr__hybrid_place(struct fr__placer *pl, const struct fr__hybrid_options *o,
                                const struct fr__hybrid_graph *g, struct fr__hybrid_ranks *r,
                                struct fr_decisions **tell, struct fr_error *err);

/* How the ranks run the graph, once it is placed. */
struct fr__hybrid_placed {
    const struct fr__pipeline *line; /* NULL: one stage */
    struct fr_schedule **schedule;   /* of the line; the record takes it */
    uint32_t n_stages;
    const uint32_t *stage_of; /* [n_ops]; NULL: one stage */
};
/* Fills a record, which the caller frees. FR_ENOMEM. O(ops). */
enum fr_status fr__hybrid_tell(struct fr_decisions **out, const struct fr__placer *pl,
                               const struct fr__hybrid_options *o, const struct fr__hybrid_graph *g,
                               const struct fr__hybrid_ranks *r,
                               const struct fr__hybrid_placed *placed, struct fr_error *err);

#endif
