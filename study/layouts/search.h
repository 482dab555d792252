/* study/layouts/search.h - the best layout of a training job: which degrees of parallelism,
 * micro-batch, schedule, sharded optimizer and recomputation suit a model, a cluster and a batch.
 *
 * A search lists all layouts of a space, leaves out those that cannot be or cannot fit, bounds the
 * others from below, and evaluates what is left at two fidelities:
 *
 *     coarse  one task an action of the pipeline's schedule. What an action takes and holds is
 *             priced once from the ops of its layers, for each (tp, cp, ep, micro, recompute), and
 *             kept; what stages exchange is priced once for each shape of the mesh.
 *     exact   the layout's own plan, op by op, on the engine, folded: `forerun simulate`.
 *
 * Every layout of the space keeps a row that says what became of it, and why.
 */
#ifndef FORERUN_SEARCH_H
#define FORERUN_SEARCH_H

#include "study/sweep/sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- layouts ---- */

enum fr_layout_recompute {
    FR_LAYOUT_KEEPS_ALL,
    FR_LAYOUT_SELECTIVE,
    FR_LAYOUT_FULL,
    FR_N_LAYOUT_RECOMPUTES
};

/* What a layout chooses. Texts are the search's own, or constants. */
struct fr_search_layout {
    uint32_t dp, tp, pp, cp, ep, etp;
    uint32_t micro, n_micros; /* samples of a micro-batch; micro-batches of a replica */
    uint32_t n_virtual;       /* stages a pipeline rank, at least 1 */
    unsigned zero;
    enum fr_layout_recompute recompute;
    const char *schedule; /* with pp of at least 2 */
    const char *map;
};

enum { FR_LAYOUT_TEXT = 256 };
/* The strategy that has this layout: "hybrid:dp=16,tp=8,..."; returns buf. */
const char *fr_layout_text(const struct fr_search_layout *l, char buf[FR_LAYOUT_TEXT]);

/* The frameworks whose flags a layout can be written in. */
enum fr_framework { FR_MEGATRON, FR_DEEPSPEED, FR_TORCHTITAN, FR_N_FRAMEWORKS };
/* FR_N_FRAMEWORKS: unknown. */
enum fr_framework fr_framework_parse(const char *name);
/* What the flags of frameworks need besides the layout. */
struct fr_flags_job {
    uint32_t global_batch, seq_len; /* seq_len 0: none */
    size_t n_layers;                /* of the model, that stages divide; 0: not known */
    enum fr_optimizer optimizer;
};
/* Writes the layout as flags (Megatron-LM), as a configuration in JSON (DeepSpeed) or as overrides
 * (torchtitan). What the framework has no word for is said in lines that begin with '#', in JSON as
 * texts of the member "//". */
void fr_layout_print_flags(FILE *f, enum fr_framework framework, const struct fr_search_layout *l,
                           const struct fr_flags_job *job);

/* ---- what became of a layout ---- */

enum fr_layout_fate {
    FR_LAYOUT_PENDING, /* only while the search runs, or after it was cancelled */
    /* cannot be */
    FR_LAYOUT_LAYERS,   /* pp x virtual stages do not divide the layers */
    FR_LAYOUT_BATCH,    /* dp does not divide the batch */
    FR_LAYOUT_EXPERTS,  /* ep x etp does not divide the ranks of a stage */
    FR_LAYOUT_SCHEDULE, /* the schedule does not serve so many micro-batches or stages */
    FR_LAYOUT_REFUSED,  /* the model cannot be split so; the row's text says why */
    /* does not fit: over_bytes says by how much */
    FR_LAYOUT_KEPT,   /* weights and the optimizer's state alone, by closed form */
    FR_LAYOUT_MEMORY, /* with activations */
    FR_LAYOUT_OOM,    /* op by op */
    /* could run */
    FR_LAYOUT_BOUNDED, /* a lower bound of its time is above the limit */
    FR_LAYOUT_COARSE,  /* evaluated coarsely, not among the best */
    FR_LAYOUT_EXACT,   /* evaluated op by op, and fits */
    FR_N_LAYOUT_FATES
};
/* "does not divide the layers", for tables. */
const char *fr_layout_fate_name(enum fr_layout_fate f);

struct fr_search_row {
    struct fr_search_layout layout;
    enum fr_layout_fate fate;
    uint32_t device;   /* of its pipeline that lacks most memory; where it does not fit */
    double over_bytes; /* what that device lacks */
    const char *why;   /* FR_LAYOUT_REFUSED: the sentence; else NULL */
    double bound_s;    /* no run is shorter; 0: not worked out */
    double coarse_s, coarse_bytes; /* 0: not evaluated */
    double exact_s, exact_bytes;   /* 0: not evaluated op by op */
    double low_s, high_s;          /* 90 % of measured steps lie there; 0: not known */
};
/* Why the layout was left out, in a few words: "does not fit by 12.3 GiB"; returns buf. */
enum { FR_SEARCH_REASON = 200 };
const char *fr_search_reason(const struct fr_search_row *r, char buf[FR_SEARCH_REASON]);

/* ---- searching ---- */

struct fr_search;

struct fr_search_options {
    size_t n_best;          /* layouts wanted, op by op; at least 1 */
    double within_frac;     /* and all whose coarse time is so close to the best: 0.05 */
    bool is_exhaustive;     /* nothing is bounded away: all that fit are evaluated coarsely */
    unsigned n_threads;     /* 0: one a processor. The answer is the same for any number. */
    struct fr_store *store; /* runs op by op are kept there, and found again; NULL: none */
    const struct fr_prices *prices; /* FR_ENOENT before any run where one names no GPU; NULL */
};

struct fr_search *fr_search_new(void); /* NULL: out of memory */
void fr_search_free(struct fr_search *s);
/* Narrows or widens an axis of the space: dp, tp, pp, cp, ep, etp, micro, virtual, schedule, zero,
 * recompute, map. text: "tp=8" or "zero=0,1,3"; several axes are separated by ';'. FR_EUSAGE. */
enum fr_status fr_search_axis(struct fr_search *s, const char *text, struct fr_error *err);
/* Searches. q: without a strategy; its texts must outlive s. progress is called with what is being
 * done. FR_EUSAGE: the question makes no sense; FR_ECANCELLED: rows so far are kept, and
 * the summary is that of them. */
enum fr_status fr_search_run(struct fr_search *s, const struct fr_question *q,
                             const struct fr_search_options *o, const struct fr_context *ctx,
                             struct fr_error *err);

/* ---- clusters ---- */

/* The clusters that searches are asked of: all combinations of networks and numbers of GPUs. */
struct fr_search_clusters;
struct fr_search_clusters *fr_search_clusters_new(void); /* NULL: out of memory */
void fr_search_clusters_free(struct fr_search_clusters *c);
/* "nic=ib:200Gbps,roce:400Gbps" (what a topology's line has behind "via") or "gpus=64,128".
 * *is_cluster: the text is one of these; false: nothing was read. FR_EUSAGE, FR_ERANGE. */
enum fr_status fr_search_clusters_axis(struct fr_search_clusters *c, const char *text,
                                       bool *is_cluster, struct fr_error *err);
size_t fr_search_clusters_count(const struct fr_search_clusters *c); /* at least 1 */
/* q on cluster i; its texts live as long as c and those of q. */
enum fr_status fr_search_clusters_question(struct fr_search_clusters *c, size_t i,
                                           const struct fr_question *q, struct fr_question *out,
                                           struct fr_error *err);

/* ---- the answer ---- */

struct fr_search_summary {
    const char *workload, *topology;
    uint32_t global_batch, seq_len;
    enum fr_optimizer optimizer;
    size_t n_gpus, n_layers;
    size_t n_rows, n[FR_N_LAYOUT_FATES]; /* the space, and its rows by fate */
    size_t n_priced;                     /* blocks and meshes that were priced from their ops */
    size_t n_replayed, n_exact, n_found; /* coarse and exact evaluations; found in the store */
    double capacity_bytes;               /* of a GPU */
    size_t n_nics;
    struct fr_topo_nics nics[FR_TOPO_NICS]; /* as in a record */
    const char *gpu_types, *machines;       /* as in a sweep's row; NULL: no layout came so far */
    double best_coarse_s;
    size_t n_ranked;
    const size_t *ranked; /* rows that were evaluated op by op and fit, fastest first */
    /* published steps of the fastest one's kind, which took longer than we predict: the sentence,
     * or NULL. Then nothing is proved of it */
    const char *contradicted;
    size_t n_like_best; /* others of these that cannot be told from the first, as in a sweep */
    size_t n_frontier;
    const size_t *frontier; /* rows none of which another beats in time and memory, of those with a
                               coarse time; fastest first */
};
const struct fr_search_row *fr_search_row(const struct fr_search *s, size_t i);
const struct fr_search_summary *fr_search_summary(const struct fr_search *s);
/* The rows that have all values of text, "tp=8,pp=16,recompute=full", those of the shortest time
 * that is known of them (op by op, else coarse, else the bound) first: up to `most` of them in
 * rows[]; *n: how many there are. FR_EUSAGE: no such axis, no value; FR_ENOMEM. */
enum fr_status fr_search_match(const struct fr_search *s, const char *text, size_t most,
                               size_t rows[], size_t *n, struct fr_error *err);
/* Whether text is what fr_search_match takes. FR_EUSAGE. */
enum fr_status fr_search_check_match(const char *text, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
