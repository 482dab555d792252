/* strategies/lists/timetable.h - a schedule while a list scheduler makes it: what stands where and
 * when, and what was seen at each decision.
 *
 * A variable (it holds parameters and takes no time) has no decision of its own: it waits for the
 * first of its readers and stands where that stands. Operations of one group are all on the device
 * of the one that was placed first. Tasks of a plain task graph are neither.
 *
 * Ignores: memory, as the papers of these algorithms do.
 */
#ifndef FR_STRATEGIES_LISTS_TIMETABLE_H
#define FR_STRATEGIES_LISTS_TIMETABLE_H

#include "base/arena.h"
#include "strategies/fastt/dpos.h"
#include "lowering/dag/slots.h"

struct fr__timetable {
    const struct fr__dag *dag;
    const struct fr__dpos_machine *machine;
    struct fr__arena *arena; /* owns the arrays */
    struct fr__slots *slots; /* when devices are free */
    uint32_t *device;        /* [n_ops] FR_NONE: has no place yet */
    double *start_s, *end_s; /* [n_ops] */
    uint32_t *group_device;  /* [n_groups] FR_NONE: none of the group has a place */
    bool *waits;             /* [n_ops] a variable, which waits for its first reader */
    uint32_t *n_missing;     /* [n_ops] edges from operations without a place, variables aside */
    uint32_t *list;          /* [n_ops] in the order of the decisions */
    size_t n_listed;
    /* What the algorithm fills for those who want to know why. */
    double *rank_s;                /* [n_ops] by which operations were taken */
    double *down_s;                /* [n_ops] which is added to the rank; NULL: nothing */
    uint8_t *is_on_path;           /* [n_ops] */
    uint32_t *path;                /* [n_path] a critical path, if it has one */
    size_t n_path;                 /* 0: it has none */
    double bound_s;                /* proved: no schedule is shorter; 0: nothing was proved */
    const char *note;              /* a sentence about the search; NULL */
    struct fr__dpos_record record; /* alternatives and reasons */
    bool is_told; /* somebody will read the record: devices that cannot win are looked at as well */
};

/* A place in the timetable. */
struct fr__spot {
    uint32_t device;
    double ready_s; /* all inputs are there */
    double start_s, end_s;
};

/* How a device is chosen. */
enum fr__spot_by { FR__SPOT_ENDS_FIRST, FR__SPOT_STARTS_FIRST };

/* FR_ENOMEM. fini may follow a failure. dag and machine must outlive it. */
enum fr_status fr__timetable_init(struct fr__timetable *t, const struct fr__dag *dag,
                                  const struct fr__dpos_machine *machine, struct fr_error *err);
void fr__timetable_fini(struct fr__timetable *t);

double fr__timetable_cost(const struct fr__timetable *t, uint32_t op, uint32_t device);
/* Whether all that op reads has a place, so that it may be placed. */
bool fr__timetable_is_ready(const struct fr__timetable *t, uint32_t op);
/* Whether op may stand there: its group is nowhere else. */
bool fr__timetable_allows(const struct fr__timetable *t, uint32_t op, uint32_t device);
/* When all that a ready op reads is on the device. */
double fr__timetable_ready(const struct fr__timetable *t, uint32_t op, uint32_t device);
/* The earliest place of a ready op on a device: into the first gap that is long enough, or, where
 * inserts is false, behind all that the device has. */
struct fr__spot fr__timetable_look(const struct fr__timetable *t, uint32_t op, uint32_t device,
                                   bool inserts);
/* The best of the devices that op may stand on; of equal ones the lowest. Each is recorded. */
struct fr__spot fr__timetable_choose(struct fr__timetable *t, uint32_t op, enum fr__spot_by by,
                                     bool inserts);
/* Places op there, and the variables that waited for it. */
void fr__timetable_place(struct fr__timetable *t, uint32_t op, const struct fr__spot *spot,
                         enum fr__dpos_why why);
/* Places variables that nobody reads; all other operations must have a place. Returns the
 * makespan. */
double fr__timetable_finish(struct fr__timetable *t);

#endif
