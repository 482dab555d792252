/* study/record.h - makes the record of one run. */
#ifndef FR_STUDY_RECORD_H
#define FR_STUDY_RECORD_H

#include "base/arena.h"
#include "study/study.h"

/* What a record is made from. */
struct fr__making {
    const struct fr_setting *setting;
    const struct fr_question *question;
    const struct fr_context *context;
    uint32_t *devices; /* [n_devices] the GPUs asked for; the caller's */
    size_t n_devices;
    uint32_t global_batch;
    struct fr_run_options options;       /* that it was run with */
    struct fr_interference interference; /* what they point to, where the devices' is known */
    double wall_s, plan_cpu_s;
    size_t n_ordered;                 /* transfers that the order asked for put in one */
    struct fr_simulation *simulation; /* of the setting's topology, for all runs of this question */
    struct fr__tools *tools;          /* that the simulation is one of */
    struct fr_plan *plan;             /* go over to the record on success */
    struct fr_run *run;
    struct fr_decisions *decisions; /* or NULL */
};

enum fr_status fr__record_make(const struct fr__making *m, struct fr_record **out,
                               struct fr_error *err);
/* Fills in r's sensitivities from its run, with names from the arena; runs again where m's question
 * asks for it. Cost: three runs for each resource that counts. */
enum fr_status fr__fill_sensitivities(struct fr_record *r, struct fr__arena *arena,
                                      const struct fr__making *m, struct fr_error *err);
/* Fills in the interval of the iteration time, and what makes it, as m's question asks. Cost: 40
 * runs, and two for each kind of op and trust. */
enum fr_status fr__fill_uncertainty(struct fr_record *r, struct fr__arena *arena,
                                    const struct fr__making *m, struct fr_error *err);
/* Fills in who holds the memory of that device at its peak. Cost: O(buffers log). */
enum fr_status fr__fill_peak(struct fr_record_peak *p, struct fr__arena *arena,
                             const struct fr__making *m, const struct fr_record_device *device,
                             struct fr_error *err);
/* Lives as long as the record. */
struct fr__arena *fr__record_arena(struct fr_record *r);
/* The record releases the setting when it is freed. */
void fr__record_own(struct fr_record *r, const struct fr_setting *s,
                    void (*release)(struct fr_setting *s));
/* The record frees the session after that. */
void fr__record_own_session(struct fr_record *r, struct fr_session *s,
                            void (*release)(struct fr_session *s));
/* One more owner of the record, who frees it as well. Any thread. Returns r. */
struct fr_record *fr__record_share(struct fr_record *r);
/* About how much memory it holds with its plan and run. */
size_t fr__record_bytes(const struct fr_record *r);

/* Why a question that names its GPUs and counts them too has no answer. */
#define FR__COUNTED_AND_NAMED "a number of GPUs (-g) and their names (--devices) exclude each other"
#define FR__SPREAD_AND_NAMED "--spread and names of GPUs (--devices) exclude each other"

/* The GPUs of topo that q is about, rank by rank: those that it names, else the first of them or
 * evenly over the machines. *devices: [*n], the caller's to free. FR_EUSAGE: named and counted;
 * errors of fr_topo_select and fr_topo_select_named; FR_ENOMEM. */
enum fr_status fr__devices_choose(uint32_t **devices, size_t *n, const struct fr_topo *topo,
                                  const struct fr_question *q, struct fr_error *err);

/* What q asks of a strategy on s, but for its options: GPUs, batch, optimizer. *devices is the
 * caller's to free and must stay as long as *out. FR_ERANGE, FR_EUSAGE, errors of
 * fr__devices_choose. */
enum fr_status fr__problem_make(struct fr_problem *out, uint32_t **devices,
                                const struct fr_setting *s, const struct fr_question *q,
                                struct fr_error *err);

/* How work slows other work on a topology's GPUs, where that was measured (fr_cost_slowdowns),
 * into *store; its source is the device's name. NULL: not known. */
const struct fr_interference *fr__interference_of(const struct fr_cost_model *costs,
                                                  struct fr_interference *store);

#endif
