/* plan/internal.h - the plan's inside, for the engine and the plan's own files.
 *
 * While being built a plan is a set of growing arrays plus unsorted pairs (dependency, free);
 * fr_plan_finish turns the pairs into compressed rows and drops them. A finished plan costs about
 * 32 bytes a task, 12 a dependency with its share of the index, 40 a buffer.
 */
#ifndef FR_PLAN_INTERNAL_H
#define FR_PLAN_INTERNAL_H

#include "base/arena.h"
#include "plan/plan.h"

struct fr__pair {
    uint32_t from, to;
};

struct fr__group {
    uint32_t first, stride, count;
    uint32_t list; /* offset into group_devices when stride is 0 */
};

struct fr__array {
    size_t n, cap;
};

struct fr__rewrite; /* plan/rewrite.c */

struct fr_plan {
    struct fr_plan_view view; /* pointers set by finish */
    bool is_finished;
    bool is_out_of_memory;
    bool is_trusted;     /* see fr__plan_trust */
    double limit_bytes;  /* of our own memory, see fr__plan_limit */
    double needed_bytes; /* 0: all that was added so far, or announced, is within the limit */
    struct fr__array n_tasks, n_costs, n_transfers, n_collectives, n_groups, n_buffers, n_strings,
        n_deps, n_frees, n_group_devices, n_iterations;
    struct fr_task *tasks;
    struct fr_cost *costs;
    struct fr_transfer *transfers;
    struct fr_collective *collectives;
    struct fr_buffer *buffers;
    struct fr__group *groups;
    struct fr__pair *deps, *frees;
    uint32_t *group_devices, *iteration_ends;
    uint32_t *device_counts;                         /* [topology's devices]; NULL: not folded */
    struct fr_plan_fold *device_folds, *group_folds; /* likewise; [n_group_folds] of the groups */
    size_t n_group_folds, cap_group_folds;
    char *folding; /* NULL: nothing was said */
    double gradient_bytes, sent_gradient_bytes;
    uint32_t param_shards;
    const char **strings;
    struct fr__rewrite *rewrite; /* a graph of its own, shared with copies; NULL: none */
    struct fr__arena *arena;     /* strings and, once finished, the compressed rows */
};

/* How many members a collective has, and which of them a member task is. */
static inline uint32_t fr__plan_n_members(const struct fr_plan *p, uint32_t collective)
{
    const struct fr_collective *c = &p->collectives[collective];

    return c->is_folded ? 1 : fr_plan_group_size(p, c->group);
}
static inline uint32_t fr__plan_member_at(const struct fr_plan *p, const struct fr_task *member)
{
    return p->collectives[member->collective].is_folded ? 0 : member->rank;
}

/* Its maker is known to make sound plans: fr_plan_finish looks at costs, messages and collectives
 * alone, which hold the user's numbers. A build with sanitizers checks all plans. */
static inline void fr__plan_trust(struct fr_plan *p)
{
    p->is_trusted = true;
}

/* An empty plan on the same topology and graphs. NULL: out of memory. */
struct fr_plan *fr__plan_new_like(const struct fr_plan *p);

/* ---- plan/rewrite.c ---- */
void fr__rewrite_share(const struct fr_plan *p, struct fr_plan *out);
void fr__rewrite_leave(struct fr__rewrite *r);

/* ---- plan/room.c ---- */
/* The parts of a plan that its size in memory depends on. */
struct fr__plan_size {
    size_t tasks, deps, buffers, frees;
};
/* The plan may be so large that a process which runs it takes that many bytes; 0: as large as it
 * will. Copies of it, and its unrolled form, keep the limit. */
void fr__plan_limit(struct fr_plan *p, double bytes);
/* Whether there is room for so much more. If not, nothing can be added any more, and what is needed
 * is kept for the message. */
bool fr__plan_has_room(struct fr_plan *p, const struct fr__plan_size *more);
/* FR_ENOMEM with what is needed and what there is, once there was no room. */
enum fr_status fr__plan_check_room(const struct fr_plan *p, struct fr_error *err);

/* ---- plan/build.c ---- */
/* So much more will be added: makes room in the arrays, so that they need not grow by steps.
 * FR_ENOMEM when that is more than the plan's limit. */
enum fr_status fr__plan_expect(struct fr_plan *p, const struct fr__plan_size *more,
                               struct fr_error *err);

/* Where a copy's tasks, transfers, collectives and buffers begin, and what is added to
 * priorities. */
struct fr__offsets {
    uint32_t tasks, transfers, collectives, buffers;
    int32_t priority;
};
/* Costs, strings and groups, which all copies share; then tasks and what they refer to, moved by
 * `at`. buffer_ids: [n_buffers] the copies' numbers, kept by the caller from one copy to the next,
 * since persistent buffers are made by the first alone (at.tasks = 0). Failures are kept in
 * `out`. */
void fr__plan_copy_shared(const struct fr_plan *p, struct fr_plan *out);
void fr__plan_copy_iteration(const struct fr_plan *p, struct fr_plan *out, struct fr__offsets at,
                             uint32_t buffer_ids[]);
/* All of a finished plan under the same numbers, not finished. NULL: out of memory. */
struct fr_plan *fr__plan_copy(const struct fr_plan *p);

/* ---- plan/index.c ---- */
/* Makes the compressed rows; references must be sound. false: out of memory. */
bool fr__plan_index(struct fr_plan *p);
/* The buffer whose storage b uses; references must be sound. */
static inline uint32_t fr__alias_root(const struct fr_plan *p, uint32_t b)
{
    /* the count cuts circles */
    for (size_t steps = 0; p->buffers[b].alias != FR_NONE && steps < p->n_buffers.n; steps++)
        b = p->buffers[b].alias;
    return b;
}

/* ---- plan/sound.c ---- */
/* A range of an array. */
struct fr__span {
    size_t first, end;
};
/* Whether the arrays surely hold no fault that fr__plan_check_references would report. *backward:
 * where among the dependencies those on later tasks are. */
bool fr__plan_refers_soundly(const struct fr_plan *p, struct fr__span *backward);
/* Whether the plan surely holds no other fault either. fr__plan_refers_soundly was true, and the
 * rows are made. */
bool fr__plan_is_sound(const struct fr_plan *p, struct fr__span backward);

/* ---- plan/check.c ---- */
/* Reports violations of groups, costs, transfers and collectives, of which a plan has few. */
size_t fr__plan_check_tables(const struct fr_plan *p, void (*say)(void *, const char *),
                             void *user);
/* Reports violations of the arrays' references, without which nothing else can be looked at. */
size_t fr__plan_check_references(const struct fr_plan *p, void (*say)(void *, const char *),
                                 void *user);
/* Reports the rest; needs the compressed rows. Sets *is_out_of_memory when it could not look at
 * all: that is no fault of the plan. */
size_t fr__plan_check_structure(const struct fr_plan *p, void (*say)(void *, const char *),
                                void *user, bool *is_out_of_memory);
#endif
