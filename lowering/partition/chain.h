/* lowering/partition/chain.h - a chain of items to be cut into the stages of a pipeline, and what
 * a cut costs.
 *
 * Stage s holds the items first[s] .. first[s + 1] - 1 and stands on a rank. A micro-batch passes
 * all stages forwards and then backwards; between stages on different ranks its tensors cross a
 * link, which takes time of its own.
 *
 * What a cut costs, m micro-batches, f_s and b_s the passes of stage s, c_s and d_s the transfers
 * into it from stage s - 1 and back:
 *
 *   period     max_s load_s                                        (no flush: one micro-batch)
 *   phases     S + (m - 1) (max_s max(f_s, c_s) + max_s max(b_s, d_s))
 *   turns      S + (m - 1) max_s load_s
 *   load_s     max(f_s + b_s, c_s, d_s)         S = sum over s of f_s + b_s + c_s + d_s
 *
 * `phases` is the makespan of all forwards, then all backwards: each phase is a flow shop of
 * identical jobs, whose makespan is the sum of all stations plus m - 1 times the longest (S. M.
 * Johnson, Naval Research Logistics Quarterly 1(1), 1954, for two stations; Y. Huang et al., GPipe,
 * NeurIPS 2019, with equal stages). `turns` bounds the makespan of one forward, one backward from
 * above where transfers take no time (it has no closed form; lowering/partition/timed.h replays
 * it). `period` is the interval of an asynchronous pipeline (D. Narayanan et al., PipeDream, SOSP
 * 2019, section 3.1).
 *
 * Where transfers do not run beside passes, f_s grows by c_s and c_(s+1), b_s by d_s and d_(s+1),
 * and c and d count in no maximum.
 */
#ifndef FR_LOWERING_PARTITION_CHAIN_H
#define FR_LOWERING_PARTITION_CHAIN_H

#include "base/base.h"

/* Of one rank: when it may hold most. In counts, a row of 2 n_stages a moment: the micro-batches
 * that each of its stages holds whole, then those of which only what weight gradients read. */
struct fr__moments {
    size_t n, n_stages;
    const uint32_t *stages; /* [n_stages] which */
    const uint32_t *counts; /* [n][2 n_stages] */
};

/* All arrays are the caller's. Prefix sums have n + 1 entries, that of no items first. */
struct fr__chain {
    size_t n, n_stages, n_ranks;     /* n_stages <= n */
    const uint32_t *rank_of;         /* [n_stages] */
    const double *const *forward_s;  /* [n_stages][n + 1] of the first items, on that rank */
    const double *const *backward_s; /* [n_stages][n + 1] */
    const double *const *send_s;     /* [n_stages][n + 1] into stage s, if it begins at item i */
    const double *const *back_s;     /* [n_stages][n + 1] out of it, back to stage s - 1 */
    const double *fixed_bytes;       /* [n + 1] of the first items */
    const double *live_bytes;        /* [n + 1] of one micro-batch that is live */
    const double *in_flight; /* [n_stages] micro-batches that are live at most; of a rank with
                              * several stages: when it holds most of them together */
    const struct fr__moments *moments; /* [n_ranks] more exactly so; NULL: by in_flight */
    const double *half_bytes;     /* [n + 1] of a micro-batch that waits for its weight gradients */
    const double *capacity_bytes; /* [n_ranks] */
    /* What a stage of items i .. j - 1 holds beside the sums of its items; NULL: nothing. */
    const double *enter_bytes; /* [n + 1] of a live micro-batch: it keeps what comes in at i */
    const double *leave_bytes; /* [n + 1] so: it does not keep what only stages from j on read */
    /* [n + 1] once, while a pass runs in item x: the most that is there then beyond the kept
     * tensors of items after x, and those of the first x + 1 items: see fr__cut_burst_bytes */
    const double *burst_bytes;
    const double *more_bytes; /* [n_ranks] beyond all that, as measured; NULL: nothing */
};

enum fr__cut_rule { FR__CUT_PERIOD, FR__CUT_PHASES, FR__CUT_TURNS };

struct fr__cut_aim {
    enum fr__cut_rule rule;
    double n_micros;    /* m */
    bool is_sequential; /* transfers do not run beside passes */
};

/* Classes of stations, each with a maximum of its own: `phases` has two, the others one. */
enum { FR__CUT_CLASSES = 2 };

/* A stage of items begin .. end - 1. */
struct fr__cut_part {
    double load_s[FR__CUT_CLASSES]; /* its largest station */
    double sum_s; /* its part of S, without what every cut has: see fr__cut_base_s */
};
struct fr__cut_part fr__cut_part(const struct fr__chain *c, const struct fr__cut_aim *a, size_t s,
                                 size_t begin, size_t end);
/* Passes of all items on the rank of the first stage: S without it is what differs by the cut. */
double fr__cut_base_s(const struct fr__chain *c);
/* The rule's seconds from the maxima and the sum of parts; without fr__cut_base_s. */
double fr__cut_total_s(const struct fr__cut_aim *a, const double load_s[FR__CUT_CLASSES],
                       double sum_s);

/* Seconds that both passes of items begin .. end - 1 take in stage s, without transfers. */
double fr__cut_passes_s(const struct fr__chain *c, size_t s, size_t begin, size_t end);
/* The same for all stages of the busiest rank. first: [n_stages + 1]; scratch: [n_ranks]. */
double fr__cut_most_s(const struct fr__chain *c, const uint32_t first[], double scratch[]);

/* The whole of a cut: first[n_stages + 1]. */
double fr__cut_cost_s(const struct fr__chain *c, const struct fr__cut_aim *a,
                      const uint32_t first[]);
/* What stage s of items begin .. end - 1 holds all the time, and for its live micro-batches. Where
 * its rank has several stages, that counts them as in_flight does: the rank holds no less. */
double fr__cut_held_bytes(const struct fr__chain *c, size_t s, size_t begin, size_t end);
/* No stage s that begins and ends within a reach holds more. O(its borders). */
struct fr__cut_reach {
    uint32_t begin[2], end[2]; /* first and last item where it may begin, and end */
};
double fr__cut_most_held_bytes(const struct fr__chain *c, size_t s, const struct fr__cut_reach *r);
/* What there is beyond that while one of its passes runs: the micro-batch of that pass is counted
 * as live, so all its items' tensors are in the sum, but some are not made yet or gone again.
 * max over x of burst_bytes[x] - live_bytes[end], at least 0. O(end - begin). */
double fr__cut_burst_bytes(const struct fr__chain *c, size_t begin, size_t end);
/* What a rank holds at its fullest moment, with what is there while a pass runs and more_bytes.
 * Without moments: the sum of its stages. O(n_stages + moments + its items). */
double fr__cut_rank_bytes(const struct fr__chain *c, size_t rank, const uint32_t first[]);
/* Bytes by which the fullest rank is over its capacity; no more than 0: the cut fits. The stages of
 * a rank share its memory. scratch: [n_ranks], filled with that of each. */
double fr__cut_excess_bytes(const struct fr__chain *c, const uint32_t first[], double scratch[]);

#endif
