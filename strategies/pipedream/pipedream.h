/* strategies/pipedream/pipedream.h - the parts of PipeDream's planner.
 *
 *   profile -> layers (trim.c) -> states (states.c, or cuts.c where they are too many)
 *           -> a table a level (level.c) -> stages (plan.c)
 *
 * Source: D. Narayanan et al., PipeDream, SOSP 2019, section 3.1, and the optimizer that its
 * authors published (github.com/msr-fiddle/pipedream, commit 7db6a1c: the rule that mode=code
 * follows, with its departures from the paper).
 *
 * A state is a set of layers that holds all that its layers read: what stands before a cut. It is
 * written as the antichain of its last layers.
 */
#ifndef FR_STRATEGIES_PIPEDREAM_PIPEDREAM_H
#define FR_STRATEGIES_PIPEDREAM_PIPEDREAM_H

#include "base/arena.h"
#include "lowering/stage_plan.h"
#include "strategies/strategies.h"

enum fr__pd_mode { FR__PD_CODE, FR__PD_PAPER };

struct fr__pd_level {
    uint32_t n;         /* machines, or groups of the level below */
    double bytes_per_s; /* between them */
};

struct fr__pd_options {
    enum fr__pd_mode mode;
    size_t n_levels; /* 0: not given */
    struct fr__pd_level levels[FR_STAGE_MAX_LEVELS];
    double memory_bytes;      /* of a machine; 0: no limit */
    double compression;       /* of activations between stages; 0: what they take is not counted */
    bool compression_is_auto; /* not given: then it is 0 here */
    bool is_straight;         /* no stage is replicated */
    bool uses_fewer;          /* machines may stay idle */
    bool has_bandwidths;      /* given, not the default of 1 GB/s */
    uint32_t micro_batch;     /* samples, on a topology; 0: not given */
    bool has_flush;           /* on a topology: one update of all at the end */
    bool is_flush_given;
    size_t max_states;
    /* layers of the profile that one stage must hold both of; pairs whose layers no state joins are
     * left aside */
    size_t n_together;
    const uint32_t (*together)[2];
};

extern const struct fr_option fr__pd_option_list[];
/* FR_EUSAGE names the option. */
enum fr_status fr__pd_read_options(const struct fr_option_values *values,
                                   struct fr__pd_options *out, struct fr_error *err);

/* ---- layers: the profile without inputs and without items that nobody reads ---- */

struct fr__pd_layers {
    size_t n, n_words;          /* layers; 64-bit words of a set of them */
    uint32_t *of_profile;       /* [n] ascending */
    uint32_t *out_first, *outs; /* readers of each, in file order */
    uint64_t *before, *after;   /* [n][n_words] all that it needs, all that need it; not itself */
    uint64_t *open;             /* [n][n_words] of what it needs, the layers that others read too */
    double *both_s, *activation_bytes, *param_bytes; /* [n] */
    uint32_t source;                                 /* where the search for states begins */
};

/* In the arena. FR_ERANGE: too many layers, none is left; FR_EPARSE: a circle. */
enum fr_status fr__pd_layers_make(struct fr__arena *a, const struct fr_profile *p,
                                  struct fr__pd_layers *out, struct fr_error *err);

static inline bool fr__pd_has(const uint64_t *set, uint32_t v)
{
    return set[v / 64] >> v % 64 & 1;
}
static inline void fr__pd_add(uint64_t *set, uint32_t v)
{
    set[v / 64] |= UINT64_C(1) << v % 64;
}
void fr__pd_unite(uint64_t *into, const uint64_t *from, size_t n_words);
bool fr__pd_meets(const uint64_t *a, const uint64_t *b, size_t n_words);
bool fr__pd_is_inside(const uint64_t *a, const uint64_t *b, size_t n_words); /* a in b */

/* ---- states ---- */

/* Sums run over a state's layers in file order. */
struct fr__pd_states {
    size_t n;         /* of those that cuts may be chosen among, in topological order */
    uint64_t *sets;   /* [n][n_words] */
    uint64_t *before; /* [n][n_before_words]: the states inside each, not itself */
    size_t n_before_words;
    double *both_s, *activation_bytes, *param_bytes; /* [n] of all layers in it */
    uint32_t *by_work; /* [n] all states by both_s, none before a state inside it */
    uint32_t *rank_of; /* [n] where each stands there */
    double *out_bytes; /* [n] that go over the cut after it */
    bool is_restricted;
    size_t n_all, n_at_least; /* as in struct fr_stage_plan */
};

/* All states, or those whose cut goes through one tensor where they are more than max_states; in
 * the arena. FR_ERANGE: even these are too many; FR_ECANCELLED. */
enum fr_status fr__pd_states_make(struct fr__arena *a, const struct fr__pd_layers *l,
                                  size_t max_states, const struct fr_context *ctx,
                                  struct fr__pd_states *out, struct fr_error *err);
/* Keeps those states that have both or neither of each pair that stands together. FR_ENOMEM. */
enum fr_status fr__pd_states_join(struct fr__arena *a, const struct fr__pd_layers *l,
                                  const struct fr__pd_options *o, struct fr__pd_states *s,
                                  struct fr_error *err);
/* The states whose cut goes through one tensor, into out->n and out->sets. */
enum fr_status fr__pd_cuts_make(struct fr__arena *a, const struct fr__pd_layers *l,
                                size_t max_states, struct fr__pd_states *out, struct fr_error *err);

/* ---- one level ---- */

struct fr__pd_table {
    const struct fr__pd_states *states;
    const struct fr__pd_options *options;
    size_t level;
    /* [n][n] seconds of one group of the level below for states i..j; infinite: none fits. NULL on
     * the innermost level: a sum of layers. */
    const double *below_s;
    const double
        *floor_s; /* [n][n] at [j][rank of k] the least of below_s[k + 1][j] of k and states
                     that rank before; NULL as well */
};

/* What was chosen for states i..j and m groups. */
struct fr__pd_choice {
    double time_s;     /* infinite: nothing fits */
    uint32_t split;    /* the last part begins after this state; FR_NONE: it is all one part */
    uint32_t m_before; /* groups for what comes before it */
    uint32_t replicas; /* of the last part */
};

/* What cells need besides the table; all zero first. Release with fr__pd_row_fini. */
struct fr__pd_row {
    const struct fr__pd_table *table;
    uint32_t first;                         /* i */
    size_t m;                               /* groups of the level */
    double *time_s;                         /* [m][n] of states first..j and 1..m groups */
    uint32_t n_order, *order;               /* [n_order] the row's states j so far, by rank */
    double *ordered_s;                      /* [m][n_order] time_s of these */
    double *least_s;                        /* [m][n_order] the least of ordered_s from there on */
    double *most_both_s, *most_param_bytes; /* [n] largest sum of the states up to each rank */
    double *sum_s_per_byte, *share;         /* [m] of fr__pd_spread_s, without divisions */
    uint32_t *meet;                         /* [m][m] where a search ended last */
    uint32_t *likely;                       /* [m] replicas of the last part that were best last */
};
enum fr_status fr__pd_row_init(struct fr__pd_row *r, const struct fr__pd_table *t,
                               struct fr_error *err);
void fr__pd_row_fini(struct fr__pd_row *r);
/* Fills time_s for states first..j, j < end. O(n m^2 log n) on chains, O(n^2 m^2) at worst. */
void fr__pd_row_fill(struct fr__pd_row *r, uint32_t first, uint32_t end);
/* The choice behind a cell of the filled row. */
struct fr__pd_choice fr__pd_row_choice(const struct fr__pd_row *r, uint32_t j, uint32_t m);
/* Seconds of states i..j on m groups that all take part of every mini-batch, the rule of the first
 * part (is_first) or of a later one; without the exchange between stages. */
double fr__pd_replicated_s(const struct fr__pd_table *t, uint32_t i, uint32_t j, uint32_t m,
                           bool is_first);
/* The same of any work: one group takes base_s for it and holds param_bytes. */
double fr__pd_spread_s(const struct fr__pd_table *t, double base_s, double param_bytes, uint32_t m,
                       bool is_first);

/* Seconds for what goes into a part of states k + 1..j on m groups and, mode=code, out of it; 0:
 * not counted. */
double fr__pd_crossing_s(const struct fr__pd_table *t, uint32_t k, uint32_t j, uint32_t m);

/* ---- all levels ---- */

/* profile must outlive the plan. FR_ENOROOM: nothing fits into memory, or too few states for the
 * machines; FR_ECANCELLED; as the functions above. */
enum fr_status fr__pd_plan(const struct fr_profile *profile, const struct fr__pd_options *o,
                           const struct fr_context *ctx, struct fr_stage_plan **out,
                           struct fr_error *err);
/* No plan takes less: all work spread over all machines, or one layer over as many as help it. */
double fr__pd_bound_s(const struct fr__pd_layers *l, const struct fr__pd_states *s,
                      const struct fr__pd_options *o);
#endif
