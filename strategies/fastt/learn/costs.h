/* strategies/fastt/learn/costs.h - what operations and transfers take, learned from measurements.
 *
 * For each kind of work on each device we keep the mean of all samples. For each pair of devices we
 * keep a straight line t = a + b bytes by least squares through all samples. What was never
 * measured counts as 0, so that a planner tries it.
 *
 * Work that is the same has one name, wherever it is in the step. Replicas of an operation do the
 * same work, and so do the n parts that it is split into along a dimension (which is different work
 * from the whole). A slicing, joining or adding is named by the bytes that it moves. Variables take
 * no time. The paper uses the operation's name and does not mention replicas; if each replica had
 * its own name, r replicas on r devices would need r times as many measurements.
 *
 * Lines: if a is below 0, it becomes 0 and b is fitted through the origin. If b is below 0, it
 * becomes 0 and a is the mean. Samples of one size give a line through the origin. Samples of one
 * size are kept as their mean and number, which gives the same line.
 *
 * Source:  X. Yi et al., FastT, Middleware 2020, section 4 (cost models).
 * Ignores: which iteration and which plan a sample is from. A pair of devices that waits for others
 *          in one plan is learned to be slow in all.
 */
#ifndef FR_STRATEGIES_FASTT_LEARN_COSTS_H
#define FR_STRATEGIES_FASTT_LEARN_COSTS_H

#include "strategies/fastt/os_dpos_split.h"

struct fr__learned;

/* NULL: out of memory. */
struct fr__learned *fr__learned_new(size_t n_devices);
void fr__learned_free(struct fr__learned *l);

/* Adds samples of the current round; they have no effect before the next update. FR_ENOMEM. */
enum fr_status fr__learned_add_op(struct fr__learned *l, const struct fr__dag *dag, uint32_t op,
                                  uint32_t device, double s, struct fr_error *err);
enum fr_status fr__learned_add_move(struct fr__learned *l, uint32_t src, uint32_t dst, double bytes,
                                    double s, struct fr_error *err);

/* What a round has changed. For work: the new mean against the mean before. For pairs: the new line
 * against the line before, at the round's samples. */
struct fr__learned_change {
    size_t n_measured;      /* costs (of work on a device, of a pair) with samples in the round */
    size_t n_new;           /* of these, never measured before */
    size_t n_changed;       /* changed by more than eps, without the new ones */
    double most;            /* relative change, the largest of those that are not new */
    bool is_move;           /* the cost that changed most is that of a pair; else of work */
    uint32_t device, other; /* its device; of a pair: source, destination */
    char what[96];          /* name of the work; "" for a pair */
    double before_s, after_s;
};

/* How the round's samples are added. */
struct fr__learned_terms {
    double eps; /* relative; a smaller change does not count */
    /* forget the old samples of costs that have changed; else all samples count alike */
    bool forgets;
    /* Number of this round's plan. With forgets, a pair has changed if its mean transfer took
     * another time than in the last round of the same plan; in another plan it may have waited for
     * others. */
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

/* For planners, what is known: cost_s of a dag with a column for each device (n_types = n_devices)
 * and user = l; the links of a machine, [n_devices][n_devices]; the functions that price parts and
 * copies which a search adds. */
void fr__learned_fill_costs(const struct fr__learned *l, struct fr__dag *dag);
void fr__learned_fill_links(const struct fr__learned *l, double latency_s[], double s_per_byte[]);
struct fr__split_costs fr__learned_split_costs(void);

#endif
