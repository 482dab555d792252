/* study/sweep/sweep.h - many questions at once: a grid of settings, threads that answer it, a store
 * that outlives them, and what the answers say together.
 *
 * A sweep is made with fr_sweep_new, given its axes with fr_sweep_add, completed with
 * fr_sweep_finish, answered with fr_sweep_run, and summed up with fr_sweep_summarise;
 * results/show.h writes it down (fr_shown_sweep).
 *
 * Rows hold no reading of any clock, so a sweep gives the same rows for any number of threads,
 * processes, interruptions and resumptions.
 */
#ifndef FORERUN_SWEEP_H
#define FORERUN_SWEEP_H

#include "base/base.h"
#include "study/study.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the grid ---- */

struct fr_sweep;
enum { FR_SWEEP_MAX_POINTS = 1000000 };

struct fr_sweep *fr_sweep_new(void); /* NULL: out of memory */
/* All its questions take devices and links with figures that no machine has. */
void fr_sweep_allow_implausible(struct fr_sweep *s);
void fr_sweep_free(struct fr_sweep *s);

/* More values for a setting; a value that is there already counts once. Lists ("1,2,4,8") may hold
 * ranges: "1..8" by one, "16..64+16" by a step, "1..64x2" by a factor. "all" of workloads is the
 * zoo without its patterns, of topologies the presets, of strategies all there are. Of seeds
 * "0..19" is one value: each point is answered with all twenty, and nothing is called best of
 * them.
 * FR_EUSAGE, FR_EPARSE, FR_ERANGE, FR_ENOENT. */
enum fr_status fr_sweep_add(struct fr_sweep *s, const char *setting, const char *values,
                            struct fr_error *err);
/* Only every n-th point, from the i-th (1-based) on: each block of n points gives one to each
 * shard, another from block to block, so that shards are equally long and mixed. */
enum fr_status fr_sweep_shard(struct fr_sweep *s, uint32_t i, uint32_t n, struct fr_error *err);
/* Counts the points, and loads each workload and topology once to see that it exists. Strategies
 * default to all, other settings to those of fr_question_init. FR_EUSAGE: no workload or topology,
 * or both kinds of batch, or GPUs both counted and named; FR_ERANGE: too many points; errors of the
 * loading functions. */
enum fr_status fr_sweep_finish(struct fr_sweep *s, struct fr_error *err);

/* Of a finished sweep. Points are numbered with the last setting of keys that varies fastest. */
size_t fr_sweep_n_points(const struct fr_sweep *s);
bool fr_sweep_is_mine(const struct fr_sweep *s, size_t point); /* of this shard */
void fr_sweep_question(const struct fr_sweep *s, size_t point, struct fr_question *out);
/* Asks a point by itself, whatever its row says: rows have no runs. *out is the caller's; errors of
 * fr_answer. Its type is what a writer takes that draws runs. */
typedef enum fr_status fr_sweep_ask_fn(const struct fr_sweep *s, size_t point,
                                       const struct fr_context *ctx, struct fr_record **out,
                                       struct fr_error *err);
enum fr_status fr_sweep_ask(const struct fr_sweep *s, size_t point, const struct fr_context *ctx,
                            struct fr_record **out, struct fr_error *err);
/* Setting i's values: [n]; n is 0 where it was not given. Owned by the sweep. */
const char *const *fr_sweep_axis(const struct fr_sweep *s, size_t i, size_t *n);

/* ---- rows: the answers ---- */

enum fr_outcome {
    FR_FITS,
    FR_OOM,        /* runs, but does not fit in the devices' memory */
    FR_IMPOSSIBLE, /* the question makes no sense: more GPUs than there are, a batch that cannot be
                    * divided */
    FR_FAILED,     /* a deadlock or a failed self-check: a bug of ours */
    FR_N_OUTCOMES
};
const char *fr_outcome_name(enum fr_outcome o); /* "fits", "oom", "impossible", "failed" */

/* workload and topology are spelt as in the question. If nothing ran (impossible, failed), so is
 * the rest, and measured values are 0 or NAN. If it does not fit, iteration_s and samples_per_s are
 * NAN. */
struct fr_sweep_row {
    const char *key;
    enum fr_outcome outcome;
    const char *reason; /* "" when it fits */
    const char *workload, *topology, *strategy, *precision, *optimizer;
    const char *zero_grad, *order, *network, *channels, *collectives, *alloc, *memory, *costs;
    const char *devices, *profile_device; /* "none" */
    uint64_t gpus, gpus_used, is_spread, global_batch, seq_len, image_size, iterations, seed;
    uint64_t n_seeds; /* from that one on; 1: that one alone */
    double jitter_cv, device_cv;
    const char *gpu_types; /* "a100-sxm4-80gb:4;v100-sxm2-16gb:2", the GPUs asked for */
    const char *machines;  /* "dgx-a100-80g:1;dgx1-v100:1", the machines that they are in */
    double iteration_s, samples_per_s, compute_s, comm_s, exposed_comm_s, bubble_s, lower_bound_s;
    /* of several seeds iteration_s is the mean; its standard error and the extremes; else NAN */
    double standard_error_s, min_s, max_s;
    double low_s, high_s; /* 90 % of measured steps lie inside; NAN: nothing is claimed */
    uint64_t peak_bytes, peak_allocated_bytes, peak_reserved_bytes, capacity_bytes;
    uint64_t over_bytes; /* what is missing on the worst device */
    double cost_frac[FR_N_TRUSTS];
    uint64_t tasks;
    /* NAN: the workload has no tokens, no FLOPs; or it does not fit */
    double tokens_per_s, model_flops_per_s_per_gpu, mfu, hfu;
    double gpu_W; /* what a GPU draws, the mean over all and the step; NAN: not known */
    const char
        *record; /* as print_record of struct fr_sweep_options writes it; "" where nothing ran,
                           when records were not asked for, or over a million bytes */
};

/* The row as a line of CSV without its end, and back. The caller frees; NULL: out of memory. */
char *fr_sweep_row_text(const struct fr_sweep_row *row);
/* The row's texts are valid during the call of take. FR_EPARSE. */
enum fr_status fr_sweep_row_parse(const char *text,
                                  enum fr_status (*take)(void *user, const struct fr_sweep_row *row,
                                                         struct fr_error *err),
                                  void *user, struct fr_error *err);

/* ---- stores: rows that outlive the process ----
 *
 * A store is a file: of SQLite (table `points`, one row a point), or, when its name ends in
 * ".csv" or the library was built without SQLite, a journal of CSV whose lines carry checksums.
 * A row is there or it is not, whenever the process is killed. Several sweeps may share a store:
 * a row is known by its key, a figure by its column. A store that was begun before there was some
 * figure stays as it is: its rows do not know that figure. A store belongs to one version of
 * Forerun, for another may answer otherwise, and to one process at a time.
 */
enum { FR_STORE_FORMAT = 8 };
struct fr_store;

/* Opens, or makes, a store. FR_EUSAGE: made by another version, or open elsewhere; FR_EPARSE: no
 * store, or a damaged one; FR_EUNSUPPORTED: needs SQLite; FR_EIO. */
enum fr_status fr_store_open(struct fr_store **out, const char *path, struct fr_error *err);
/* Adds a row. One that is there already must be the same: FR_EUSAGE. */
enum fr_status fr_store_put(struct fr_store *s, const struct fr_sweep_row *row,
                            struct fr_error *err);
/* All rows, by key. with_records: false leaves the records "". Texts are valid during the call. */
enum fr_status fr_store_each(struct fr_store *s, bool with_records,
                             enum fr_status (*take)(void *user, const struct fr_sweep_row *row,
                                                    struct fr_error *err),
                             void *user, struct fr_error *err);
/* What a workload, a topology or costs held when their rows were made: a digest by name.
 * FR_EUSAGE: the store has another digest for that name. */
enum fr_status fr_store_input(struct fr_store *s, const char *name, const char *digest,
                              struct fr_error *err);
enum fr_status fr_store_close(struct fr_store *s, struct fr_error *err); /* NULL is fine */

/* Adds all rows of the stores in[n] to the one at out, made if it is not there. Rows that are in
 * several must be the same. */
enum fr_status fr_stores_merge(const char *out, const char *const in[], size_t n,
                               struct fr_error *err);
/* Whether stores may be SQLite's. */
bool fr_has_sqlite(void);

/* ---- running ---- */

/* For sweeps over several processes: points come from there and rows go there. Both functions are
 * called by one thread at a time. */
struct fr_sweep_elsewhere {
    /* *point: SIZE_MAX when there are no more */
    enum fr_status (*next)(void *user, size_t *point, struct fr_error *err);
    enum fr_status (*done)(void *user, size_t point, const struct fr_sweep_row *row,
                           struct fr_error *err);
    void *user;
};

struct fr_sweep_options {
    unsigned n_threads; /* 0: one per core */
    bool with_records;  /* keep the rows' records */
    /* Writes a record on one line, for rows to hold: fr_record_print_json of results/results.h.
     * NULL: no row, of a store either, holds one. */
    void (*print_record)(FILE *f, const struct fr_record *r);
    struct fr_store *store;     /* rows found there are not answered again; NULL: none */
    struct fr_session *session; /* to ask through; NULL: one of its own */
    const struct fr_sweep_elsewhere *elsewhere; /* NULL: the sweep hands out its own points */
    /* Called now and then by the thread that called fr_sweep_run, while others work; false: no more
     * to wait for. NULL: only the threads are waited for. */
    bool (*serve)(void *user);
    void *serve_user;
};

/* Answers the points of this shard that have no row yet. ctx: cancel is obeyed, progress called
 * with "points", how many have rows, and how many there are. FR_ECANCELLED: rows so far are kept
 * and stored. FR_OK also when points are impossible or failed: see the rows. */
enum fr_status fr_sweep_run(struct fr_sweep *s, const struct fr_sweep_options *o,
                            const struct fr_context *ctx, struct fr_error *err);
/* The next point without a row, and a row that was made elsewhere: for serve(). Any thread. */
enum fr_status fr_sweep_next(struct fr_sweep *s, size_t *point, struct fr_error *err);
enum fr_status fr_sweep_done(struct fr_sweep *s, size_t point, const struct fr_sweep_row *row,
                             struct fr_error *err);
/* After a run; NULL: this point has none. Owned by the sweep. */
const struct fr_sweep_row *fr_sweep_row(const struct fr_sweep *s, size_t point);
size_t fr_sweep_n_found(const struct fr_sweep *s); /* rows that came from the store */

/* ---- what it costs ---- */

enum { FR_MAX_PRICES = 64 };

/* USD an hour: of a GPU by its type, of a machine by its name, or of a whole cluster. Zeroed, it
 * has no price for anything. */
struct fr_prices {
    struct fr_price {
        char name[256]; /* "" for any other GPU */
        double usd_per_hour;
    } price[FR_MAX_PRICES];
    size_t n;
    bool has_energy; /* "energy=0.12" */
    double usd_per_kWh;
};
/* "2.5", or "v100=2.5,p5.48xlarge=98.32,4x hgx-h100 via ib:400Gbps=300". A type is named in full or
 * by its first words ("v100" for v100-sxm2-16gb); the longest name that fits counts. A machine is
 * named as the topology names it, and one of which any GPU is used costs all of its price. A
 * cluster is named by the whole text of the topology, and costs its price however many GPUs are
 * used. Of prices that fit, the cluster's counts, then the machines', then those of GPUs.
 * "energy=0.12" is the price of a kilowatt-hour that GPUs draw, which comes on top. */
enum fr_status fr_prices_parse(struct fr_prices *p, const char *text, struct fr_error *err);
/* FR_ENOENT unless each name fits a type that is built in or among the sweep's topologies, a
 * machine or a topology, and, where there are prices, each topology has one. */
enum fr_status fr_prices_check(const struct fr_prices *p, const struct fr_sweep *s,
                               struct fr_error *err);
/* The same, of one topology. */
enum fr_status fr_prices_check_topo(const struct fr_prices *p, const struct fr_topo *t,
                                    struct fr_error *err);
/* What is paid for: a topology as typed or normalised, the machines in use ("hgx-h100:2"; NULL or
 * "": not named) and the GPUs in use ("h100-sxm5-80gb:16"). */
struct fr_priced {
    const char *topology, *machines, *gpu_types;
};
/* Whether costs are in USD. */
bool fr_prices_any(const struct fr_prices *p);
/* Of all of it an hour, without energy; NAN when a part of it has no price. */
double fr_prices_usd_per_hour(const struct fr_prices *p, const struct fr_priced *what);

/* ---- what the rows say together ---- */

struct fr_sweep_terms {
    double samples;          /* of the whole run; 0: a million, for comparison */
    double tokens;           /* of the whole run instead; 0: samples say it */
    double deadline_s;       /* 0: none */
    struct fr_prices prices; /* without any, costs are GPU hours */
};

/* The whole run of an answer. */
struct fr_record_run {
    double time_s, gpu_hours;
    double cost_usd;   /* of GPUs and energy; NAN: a part of it has no price or is not known */
    double energy_usd; /* the part for energy; NAN: energy has no price, or is not known */
    double energy_J;   /* at most, all boards at their board power; NAN: not known of all */
};
/* false: terms ask for no run, or nothing runs (out of memory), or there are no tokens to count. */
bool fr_record_run_of(const struct fr_record *r, const struct fr_sweep_terms *terms,
                      struct fr_record_run *out);

/* A row's run: time_s = samples / samples_per_s; cost = time_s / 3600 h x price an hour of its
 * GPUs, or number of GPUs, and in USD what the energy costs. NAN where it does not fit or has no
 * price. */
struct fr_sweep_value {
    double time_s, cost;
    bool is_late; /* time_s > deadline_s */
};
struct fr_sweep_value fr_sweep_value(const struct fr_sweep_row *row,
                                     const struct fr_sweep_terms *terms);

/* Points none of which another one beats in both time and cost (V. Pareto): frontier[] gets their
 * indices by rising time, thus falling cost. Of equals the first counts; NANs never do. Returns how
 * many. Cost: O(n log n). */
size_t fr_frontier(size_t n, const double time_s[], const double cost[], size_t frontier[]);

/* One workload at one sequence length and image size: samples of different ones do not compare.
 * Points are SIZE_MAX where there is none. */
struct fr_sweep_group {
    const char *workload; /* as asked */
    const char *shape;    /* "seq-len 128, image-size 224", what varies of it; or NULL */
    size_t n_points, n_fits;
    size_t best_time, best_memory, best_cost; /* best_cost: within the deadline if any is */
    size_t n_in_time;                         /* fit and meet the deadline */
    size_t n_like_best; /* others that cannot be told from the fastest: is_like_best */
    size_t n_frontier;
    const size_t *frontier;
};

struct fr_sweep_summary {
    size_t n[FR_N_OUTCOMES], n_missing; /* rows by outcome; points of this shard without row */
    size_t n_groups;
    const struct fr_sweep_group *groups;
    struct fr_sweep_terms terms;
    bool has_tokens; /* some row that fits counts tokens */
    /* [points] samples a second and GPU over those of the same question on the fewest GPUs that it
     * fits on; NAN: the point does not fit. The other one has another number of GPUs, or fewer
     * machines of the kind ("hgx-h100" for "4x hgx-h100 via ib:400Gbps") in the same network. NULL:
     * no question fits on several numbers of GPUs. */
    const double *scaling;
    /* [points] a row takes so little longer for a sample than the fastest of its group that
     * measurements would not show it; the fastest too, unless it is alone. A row without a range of
     * its time never does. */
    const bool *is_like_best;
    void *priv;
};
/* O(points * (log points + numbers of GPUs * topologies)). */
enum fr_status fr_sweep_summarise(const struct fr_sweep *s, const struct fr_sweep_terms *terms,
                                  struct fr_sweep_summary **out, struct fr_error *err);
/* How much longer a row must take than the fastest not to be like it: 0.1 is 10 %. */
double fr_sweep_least_difference(void);
void fr_sweep_summary_free(struct fr_sweep_summary *m);

#ifdef __cplusplus
}
#endif
#endif
