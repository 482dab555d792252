/* lowering/exchange/parts.h - what the policies of an exchange share; others use
 * exchange.h. */
#ifndef FR_LOWERING_EXCHANGE_PARTS_H
#define FR_LOWERING_EXCHANGE_PARTS_H

#include "lowering/exchange/exchange.h"

struct fr__exchange {
    const struct fr__exchange_row *row;
    struct fr__placer *pl;
    struct fr__exchange_options options;
    /* reduction: sets of gradients that travel together; a bucket, or those of a stage */
    struct fr__buckets sets;
    const uint32_t *part_of_set;  /* [sets] index of options.parts */
    const uint32_t *stage_of_set; /* [sets] */
    uint32_t *collectives;        /* [sets][groups of its part], from first_group on; FR_NONE */
    uint32_t *first_group;        /* [sets] */
    uint32_t *gathers;            /* like collectives: of updated parameters; FR_NONE: none */
    uint32_t *set_of;             /* [n_ops] by update op, FR_NONE */
    uint32_t *members;            /* [sets] of the rank being placed, FR_NONE */
    uint32_t *shares;             /* [sets] buffer of its share of the gradients, FR_NONE */
    uint32_t passes;              /* what the rank does to all gradients before the sums, FR_NONE */
    uint32_t last_copy;           /* the rank's last copy out of a bucket, FR_NONE */
    uint32_t *last_on;            /* [devices] the rank's last member there so far, FR_NONE */
    uint32_t *late_collectives;   /* [late sums][stages][groups of each], FR_NONE: nothing */
    uint32_t *late_first;         /* [late sums] */
    uint32_t *late_members;       /* [late sums][stages] of the rank being placed */
    uint32_t *first_member;       /* [devices] FR_NONE; where a device has two stages, */
    uint32_t *first_set;          /* the member of one of them, its set, */
    int32_t *first_priority;      /* and its priority */
    /* servers */
    uint32_t n_workers;
    struct fr__replica *workers; /* [n_workers] */
    uint32_t n_servers;
    uint32_t *servers;     /* [n_servers] devices */
    uint32_t *server_of;   /* [n_owners] index into servers */
    uint32_t *last_pull;   /* [rows][n_workers] send of the pull before, FR_NONE */
    uint32_t *row_of;      /* [n_servers] rows of last_pull; FR_NONE: it holds nothing */
    const uint32_t *order; /* [n_order] trained owners as their gradients become ready */
    size_t n_order;
};

/* One row a policy; finish NULL: the exchange is local. */
struct fr__exchange_row {
    enum fr_status (*prepare)(struct fr__exchange *x, struct fr_error *err);
    void (*place)(struct fr__exchange *x, struct fr__replica *r, uint32_t rank); /* NULL: nothing */
    enum fr_status (*finish)(struct fr__exchange *x, struct fr_error *err);
    bool is_chained;   /* members on a device follow each other in the order of the sets, so that
                          no two devices start them in different orders */
    bool keeps_copies; /* the storage of the sets is kept in addition to the gradients */
};

/* Trained owners in the order in which their gradients become ready: *out: [*n]. FR_ENOMEM. */
enum fr_status fr__ready_order(const struct fr__params *p, struct fr__arena *arena,
                               const uint32_t **out, size_t *n, struct fr_error *err);

/* ---- sets ---- */

static inline double fr__travel_frac(const struct fr__exchange *x)
{
    return x->options.travel_frac > 0 ? x->options.travel_frac : 1;
}
static inline double fr__copy_frac(const struct fr__exchange *x)
{
    return x->options.copy_frac > 0 ? x->options.copy_frac : 1;
}
static inline uint32_t fr__exchange_stage_of(const struct fr__exchange *x, uint32_t owner)
{
    const uint32_t *stages = x->options.stage_of;

    return stages ? stages[x->pl->params.owners[owner].op] : 0;
}

static inline uint32_t fr__exchange_part_of(const struct fr__exchange *x, uint32_t owner)
{
    const uint8_t *parts = x->options.part_of;

    return parts ? parts[x->pl->params.owners[owner].op] : 0;
}

/* The part of the options that a set is of. */
static inline const struct fr__reduce_part *fr__exchange_part(const struct fr__exchange *x,
                                                              uint32_t set)
{
    return &x->options.parts[x->part_of_set[set]];
}

static inline uint32_t fr__exchange_device(const struct fr__exchange *x, uint32_t stage,
                                           uint32_t rank)
{
    return x->options.devices[(size_t)stage * x->options.n_replicas + rank];
}

/* Whether the rank has the stage. */
static inline bool fr__exchange_has_stage(const struct fr__exchange *x, uint32_t stage,
                                          uint32_t rank)
{
    return !x->options.replicas_of || rank < x->options.replicas_of[stage];
}

/* A rank's part in a collective, on the stream of all sums. */
static inline uint32_t fr__exchange_member(struct fr__exchange *x, uint32_t device,
                                           uint32_t collective, uint32_t rank, enum fr_phase phase)
{
    return fr__add_task(x->pl, &(struct fr_task){.device = device,
                                                 .cost_id = FR_NONE,
                                                 .op = FR_NONE,
                                                 .collective = collective,
                                                 .rank = rank,
                                                 .microbatch = FR_NONE,
                                                 .kind = FR_TASK_COLLECTIVE,
                                                 .phase = (uint8_t)phase,
                                                 .stream = FR_STREAM_COMM});
}

/* ---- reduce.c ---- */
enum fr_status fr__buckets_prepare(struct fr__exchange *x, struct fr_error *err);
void fr__reduce_place(struct fr__exchange *x, struct fr__replica *r, uint32_t rank);
/* Room for the sets; FR_ENOMEM. */
enum fr_status fr__reduce_make_room(struct fr__exchange *x, struct fr_error *err);
/* The collectives of a set, and which updates wait for it. */
void fr__reduce_add_collectives(struct fr__exchange *x, uint32_t set, const char *label);
/* One line about a bucket. */
void fr__reduce_log(const struct fr__exchange *x, uint32_t b);

/* ---- stages.c ---- */
/* A set for each stage and part. */
enum fr_status fr__stages_prepare(struct fr__exchange *x, struct fr_error *err);
/* Buckets of each stage and part, in the order in which they are complete. */
enum fr_status fr__stage_buckets_prepare(struct fr__exchange *x, struct fr_error *err);

/* ---- copies.c ---- */
/* The copy of a set's gradients into its storage, which the set's member waits for; FR_NONE where
 * none is made. */
uint32_t fr__copy_in(struct fr__exchange *x, struct fr__replica *r, uint32_t set, uint32_t device);
/* The copy back, after the member; it becomes x->last_copy. */
void fr__copy_out(struct fr__exchange *x, struct fr__replica *r, uint32_t set, uint32_t device,
                  uint32_t member);

/* ---- gather.c ---- */
/* The rank's gathers of parameters that are updated in shares, where there are any. */
void fr__gathers_place(struct fr__exchange *x, struct fr__replica *r, uint32_t rank);

/* ---- late.c ---- */
/* Collectives of the sums over further ranks that follow those of the replicas. */
enum fr_status fr__late_prepare(struct fr__exchange *x, struct fr_error *err);
/* The rank's members, after its members of the sets. */
void fr__late_place(struct fr__exchange *x, struct fr__replica *r, uint32_t rank);
/* Updates wait for them. */
void fr__late_hold_back(struct fr__exchange *x, struct fr__replica *r);

/* ---- servers.c ---- */
enum fr_status fr__servers_prepare(struct fr__exchange *x, struct fr_error *err);
enum fr_status fr__servers_finish(struct fr__exchange *x, struct fr_error *err);

#endif
