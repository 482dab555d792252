/* strategies/fastt/learn/costs.h - what operations and transfers take, learned from measurements.
 *
 * Of each work on each device the mean of all samples is kept, of each pair of devices a straight line
 * t = a + b bytes by least squares through all samples. What was never measured counts as 0, so that a
 * planner tries it.
 *
 * Work: what does the same is known by one name, wherever it stands in the step. Replicas of an
 * operation do the same work, and so do the n parts that it is cut into along a dimension (they are
 * another work than the whole). A slicing, joining or adding is known by the bytes that it moves.
 * Variables take no time. The paper keys by the operation's name and says nothing of replicas; with a
 * name each, r replicas on r devices would be measured r times as long.
 *
 * Lines: a below 0 becomes 0 and b is fitted through the origin; b below 0 becomes 0 and a is the mean;
 * samples of one size give a line through the origin. Samples of a size are kept as their mean and
 * number, which gives the line of all of them.
 *
 * Source: X. Yi et al., FastT, Middleware 2020, section 4 (cost models).
 * Ignores: which iteration and which strategy a sample is from, so that a pair of devices that waits
 *          for others in one strategy is learned as slow for all.
 */
#ifndef FR_STRATEGIES_FASTT_LEARN_COSTS_H
#define FR_STRATEGIES_FASTT_LEARN_COSTS_H

#include "strategies/fastt/os_dpos_split.h"

struct fr__learned;

/* NULL: out of memory. */
struct fr__learned *fr__learned_new(size_t n_devices);
void fr__learned_free(struct fr__learned *l);

/* Samples of the present round, which nothing shows before the next update. FR_ENOMEM. */
enum fr_status fr__learned_add_op(struct fr__learned *l, const struct fr__dag *dag, uint32_t op,
                                  uint32_t device, double s, struct fr_error *err);
enum fr_status fr__learned_add_move(struct fr__learned *l, uint32_t src, uint32_t dst, double bytes,
                                    double s, struct fr_error *err);

/* What a round has changed. Operations: the mean against the mean before. Pairs: what the line
 * says of the round's samples against what the line before said. */
struct fr__learned_change {
    size_t n_measured;      /* works on devices, and pairs, with samples in the round */
    size_t n_new;           /* never measured before */
    size_t n_changed;       /* by more than eps, new ones apart */
    double most;            /* relative change, the largest of those that are not new */
    bool is_move;           /* whose: of a pair, else of a work */
    uint32_t device, other; /* where; pair: source, destination */
    char what[96];          /* the work, "" of a pair */
    double before_s, after_s;
};

/* How the round's samples are taken up. */
struct fr__learned_terms {
    double eps; /* relative: what counts as a change */
    /* forget what was known of what has changed; else all samples count alike */
    bool forgets;
    /* With forgets, a pair has changed if its mean transfer took another time than in the last
     * round of the same strategy: in another it may have waited for others. Number of this
     * round's. */
    uint32_t strategy;
};
/* Ends the round. FR_ENOMEM. Cost: O(all that is known). */
enum fr_status fr__learned_update(struct fr__learned *l, const struct fr__learned_terms *terms,
                                  struct fr__learned_change *out, struct fr_error *err);

/* Mean seconds; 0: unknown. */
double fr__learned_op_s(const struct fr__learned *l, const struct fr__dag *dag, uint32_t op,
                        uint32_t device);
bool fr__learned_knows_op(const struct fr__learned *l, const struct fr__dag *dag, uint32_t op,
                          uint32_t device);
/* The line of a pair; false: unknown, both 0. */
bool fr__learned_line(const struct fr__learned *l, uint32_t src, uint32_t dst, double *latency_s,
                      double *s_per_byte);
size_t fr__learned_n_works(const struct fr__learned *l);

/* What is known, for planners: cost_s of a dag with a column for each device (n_types =
 * n_devices) and user = l; the pairs of a machine, [n_devices][n_devices]; parts and copies that
 * a search adds. */
void fr__learned_fill_costs(const struct fr__learned *l, struct fr__dag *dag);
void fr__learned_fill_links(const struct fr__learned *l, double latency_s[], double s_per_byte[]);
struct fr__split_costs fr__learned_split_costs(void);

#endif
