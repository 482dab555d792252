/* study/answer/record.h - makes the record of one run. */
#ifndef FR_STUDY_ANSWER_RECORD_H
#define FR_STUDY_ANSWER_RECORD_H

#include "base/arena.h"
#include "study/interval/anchor.h"
#include "study/study.h"

/* What a record is made from. */
struct fr__making {
    const struct fr_setting *setting;
    const struct fr_question *question;
    const struct fr_context *context;
    uint32_t *devices; /* [n_devices] the GPUs asked for; the caller's */
    size_t n_devices;
    uint32_t global_batch;
    struct fr_run_options options;       /* options of the run */
    struct fr_interference interference; /* what the options point to, if the devices' interference
                                          * is known */
    struct fr_collective_way *way;       /* what they point to as well; NULL: rings */
    double wall_s, plan_cpu_s;
    size_t n_ordered;                 /* transfers that the order asked for has put in order */
    struct fr_simulation *simulation; /* of the setting's topology, for all runs of this question */
    struct fr__tools *tools;          /* tools that the simulation belongs to */
    struct fr__correction correction; /* by measured steps, if the question has some */
    struct fr_host host;              /* what the options point to, if the question says of hosts */
    double *ahead_s;                  /* what that points to, or NULL */
    bool *is_inside;                  /* likewise */
    double *slowness;                 /* what the options point to for it, or NULL */
    double *slow;                     /* what the options' device_slowdown points to, or NULL */
    /* the plan before an order was put on it, kept where several seeds draw theirs; else NULL */
    struct fr_plan *unordered;
    struct fr_plan *plan; /* go over to the record on success */
    struct fr_run *run;
    struct fr_decisions *decisions; /* or NULL */
    /* what was believed of the cut, and a note of it; its bytes belong to the making */
    struct fr_cut_memory cut_memory;
    struct fr_cut_choice cut; /* the one that was planned last */
    struct fr_clocks *clocks; /* under a power limit; NULL: none is known */
};

enum fr_status fr__record_make(const struct fr__making *m, struct fr_record **out,
                               struct fr_error *err);
/* Answers a question for a measured step: all of *out but time_s and slope, which are left. */
enum fr_status fr__answer_step(const struct fr_setting *s, const struct fr_question *q,
                               const struct fr_context *ctx, struct fr__simulated_step *out,
                               struct fr_error *err);
/* Fills in what GPUs draw, once its devices are known. Nothing where that is not known of all. */
void fr__fill_power(struct fr_record *r, const struct fr__making *m);
/* The clocks of these GPUs under the question's limit. devices: [n_devices]; memo may be NULL. A
 * limit that is given refuses GPUs of which nothing is known. *out: NULL where no limit is known or
 * wanted; else the caller frees. FR_EUSAGE, FR_ERANGE, FR_ENOMEM. */
enum fr_status fr__clocks_make(struct fr_clocks **out, const struct fr_setting *s,
                               const struct fr_question *q, const uint32_t devices[],
                               size_t n_devices, struct fr_cost_memo *memo, struct fr_error *err);
/* Fills in r's sensitivities from its run, with names from the arena; runs again where m's question
 * asks for it. Cost: three runs for each resource that counts. */
enum fr_status fr__fill_sensitivities(struct fr_record *r, struct fr__arena *arena,
                                      const struct fr__making *m, struct fr_error *err);
/* Fills in the interval of the iteration time, and what makes it, as m's question asks. Cost: 40
 * runs, and two for each kind of op and trust. */
enum fr_status fr__fill_uncertainty(struct fr_record *r, struct fr__arena *arena,
                                    const struct fr__making *m, struct fr_error *err);
/* Runs it with the question's other seeds too. Cost: a run a seed. */
enum fr_status fr__fill_seeds(struct fr_record *r, const struct fr__making *m,
                              struct fr_error *err);
/* Fills in who holds the memory of that device at its peak. Cost: O(buffers log). */
enum fr_status fr__fill_peak(struct fr_record_peak *p, struct fr__arena *arena,
                             const struct fr__making *m, const struct fr_record_device *device,
                             struct fr_error *err);
/* Fills in the links, the busiest first; the run's bytes an iteration. FR_ENOMEM. */
enum fr_status fr__fill_links(struct fr_record *r, struct fr__arena *arena,
                              const struct fr__making *m, struct fr_error *err);
/* Fills in tokens, FLOPs and what the GPUs asked for could do and draw; after iteration_s.
 * FR_ENOMEM. */
enum fr_status fr__fill_rates(struct fr_record *r, struct fr__arena *arena,
                              const struct fr__making *m, struct fr_error *err);
/* Fills in the NICs and names of the machines in use, and what aliases stood for. FR_ENOMEM. */
enum fr_status fr__fill_cluster(struct fr_record *r, struct fr__arena *arena,
                                const struct fr__making *m, struct fr_error *err);
/* "hgx-h100:2;dgx2:1": what a composition names, with how many have one of these devices; "" where
 * nothing was composed. The caller frees it; NULL: out of memory. */
char *fr__machines_in_use(const struct fr_topo *t, const uint32_t devices[], size_t n);
/* "v100-sxm2-16gb:4": these devices by type. The caller frees it; NULL: out of memory. */
char *fr__gpu_types(const struct fr_topo *t, const uint32_t devices[], size_t n);
/* Fills in the warnings. FR_ENOMEM. */
enum fr_status fr__fill_warnings(struct fr_record *r, struct fr__arena *arena,
                                 const struct fr__making *m, struct fr_error *err);
/* The error of a question that both names and counts its GPUs. */
#define FR__COUNTED_AND_NAMED "a number of GPUs (-g) and their names (--devices) exclude each other"
#define FR__SPREAD_AND_NAMED "--spread and names of GPUs (--devices) exclude each other"

/* The GPUs of topo that q asks for, by rank: those that it names, or else the first ones, or an
 * even choice over the machines. *devices: [*n], the caller frees it. FR_EUSAGE: both named and
 * counted; errors of fr_topo_select and fr_topo_select_named; FR_ENOMEM. */
enum fr_status fr__devices_choose(uint32_t **devices, size_t *n, const struct fr_topo *topo,
                                  const struct fr_question *q, struct fr_error *err);

/* The problem that q poses to a strategy on s, without the strategy's options: GPUs, batch,
 * optimizer. The caller frees *devices, which must live as long as *out. FR_ERANGE, FR_EUSAGE,
 * errors of fr__devices_choose. */
enum fr_status fr__problem_make(struct fr_problem *out, uint32_t **devices,
                                const struct fr_setting *s, const struct fr_question *q,
                                struct fr_error *err);

#endif
