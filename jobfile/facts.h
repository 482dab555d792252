/* jobfile/facts.h - the words that all frameworks share, the tables that lead to them, and a job
 * that is being read. */
#ifndef FR_STUDY_JOB_FACTS_H
#define FR_STUDY_JOB_FACTS_H

#include "base/arena.h"
#include "base/error.h"
#include "jobfile/job.h"

/* clang-format off */
/* How it is run: where, in which layout, in which numbers. Then what the model is: a model that is
 * asked for must know each of those that are set (asked_models.yaml). */
#define FR__JOB_FACTS(X)                                                                           \
    X(NODES, nodes) X(GPUS_PER_NODE, gpus_per_node) X(GPUS, gpus)                                  \
    X(TP, tp) X(PP, pp) X(CP, cp) X(EP, ep) X(ETP, etp) X(DP, dp)                                  \
    X(DP_SHARD, dp_shard) X(DP_REPLICATE, dp_replicate)                                            \
    X(VIRTUAL, virtual) X(VIRTUAL_LAYERS, virtual_layers) X(SCHEDULE, schedule) X(SP, sp)          \
    X(MICRO, micro_batch) X(BATCH, batch) X(BATCH_TOKENS, batch_tokens)                            \
    X(ACCUMULATE, accumulate) X(SEQ, sequence)                                                     \
    X(PRECISION, precision) X(FP8, fp8) X(FP8_RECIPE, fp8_recipe) X(FP4, fp4)                      \
    X(WIDE_ENDS, wide_ends) X(WIDE_FIRST, wide_first) X(WIDE_LAST, wide_last)                      \
    X(WIDE_WGRAD, wide_wgrad) X(NARROW_WEIGHTS, narrow_weights)                                    \
    X(NARROW_GRADIENTS, narrow_gradients)                                                          \
    X(MASTER, weights_kept_in) X(OPTIMIZER, optimizer)                                             \
    X(RECOMPUTE, recompute) X(RECOMPUTE_METHOD, recompute_method)                                  \
    X(RECOMPUTE_LAYERS, recompute_layers) X(RECOMPUTE_MODULES, recompute_modules)                  \
    X(ZERO, zero) X(SHARDING, sharding) X(RESHARD, reshard)                                        \
    X(OVERLAP_GRADIENTS, overlap_gradients) X(OVERLAP_PARAMETERS, overlap_parameters)              \
    X(TP_OVERLAP, tp_overlap) X(ATTENTION, attention) X(CP_COMM, cp_comm) X(ENGINE, engine)        \
    X(RECIPE, recipe) X(COMPILE, compile)                                                          \
    X(TUNE, tune) X(LORA_RANK, lora_rank) X(LORA_TARGETS, lora_targets)                            \
    X(LORA_DROPOUT, lora_dropout) X(TRAINED_TOO, trained_too) X(WEIGHT_BITS, weight_bits)          \
    X(NESTED, nested_quantization)                                                                 \
    X(PROGRAM, program) X(TOKENIZER, tokenizer) X(VOCAB_MULTIPLE, vocab_multiple)                  \
    X(VOCAB_SIZE, vocab_size) X(FFN_RATIO, ffn_ratio) X(POSITIONS, positions)                      \
    X(GROUPED, grouped_query)                                                                      \
    X(NAME, model_name) X(FLAVOR, model_flavor) X(CONFIG, model_config)                            \
    X(FAMILY, model)                                                                               \
    X(LAYERS, layers) X(ENCODER_LAYERS, encoder_layers) X(DECODER_LAYERS, decoder_layers)          \
    X(HIDDEN, hidden) X(FFN, ffn) X(HEADS, heads) X(KV_HEADS, kv_heads)                            \
    X(HEAD_WIDTH, head_width) X(VOCAB, vocab) X(NORM, norm) X(GATED, gated)                        \
    X(ACTIVATION, activation) X(POSITION, position) X(BIAS, bias) X(QKV_BIAS, qkv_bias)            \
    X(QK_NORM, qk_norm) X(TIED, tied) X(PARALLEL, parallel) X(EMBED_NORM, embed_norm)              \
    X(EXPERTS, experts) X(CHOSEN, chosen) X(EXPERT_FFN, expert_ffn)                                \
    X(EXPERT_LAYERS, expert_layers) X(DENSE_FIRST, dense_first)                                    \
    X(EXPERTS_EVERY, experts_every) X(EXPERTS_AT, experts_at)                                      \
    X(SHARED_FFN, shared_ffn) X(SHARED_EXPERTS, shared_experts) X(SHARED_GATE, shared_gate)        \
    X(SHARED_GATED, shared_gated_ffn) X(ROUTER, router) X(GROUPS, expert_groups)                   \
    X(WINDOW_SIZE, window_size) X(WINDOW, window) X(WINDOW_LAYERS, window_layers)                  \
    X(MIXERS, mixers) X(FULL_EVERY, full_every) X(ROTARY, rotary_percent)                          \
    X(MLA, mla) X(Q_RANK, q_rank) X(KV_RANK, kv_rank) X(QK_WIDTH, qk_width)                        \
    X(QK_ROTARY_WIDTH, qk_rotary_width) X(V_WIDTH, v_width)                                        \
    X(PREDICTED, predicted_tokens) X(SINKS, sinks) X(HYBRID, hybrid_layers)
/* clang-format on */

#define FR__JOB_ENUM(name, text) FR__JOB_##name,
enum fr__job_fact_kind { FR__JOB_FACTS(FR__JOB_ENUM) FR__N_JOB_FACTS };
#undef FR__JOB_ENUM
enum { FR__JOB_FIRST_MODEL = FR__JOB_FAMILY };

const char *fr__job_fact_name(enum fr__job_fact_kind k);
enum fr__job_fact_kind fr__job_fact_parse(const char *name); /* FR__N_JOB_FACTS: unknown */

/* ---- tables (frameworks.yaml and others, made by base/facts) ---- */

/* Columns of an argument that sets a fact. How: "count" a number of at least 1; "number" also 0
 * or below; "percent" a fraction as whole hundredths; "text"; "bool" true or false as 1 or 0;
 * "not" the other way round; "=V" gives V where the argument stands alone or is true; "a=b|c=d"
 * words for words, of which "*" is any other. */
enum { FR__JOB_ARGUMENT, FR__JOB_FACT, FR__JOB_HOW, FR__N_JOB_COLUMNS };
/* Where the first two facts have these values ("-": is not set, "*": any), the third gets its
 * value, "=" copies another's. */
enum { FR__JOB_IMPLIES = 6 };

struct fr__job_framework {
    const char *name, *title, *source, *like;
    const char *flags;  /* whose words a layout can be written in; NULL */
    const char *syntax; /* words, or tree: keys with dots */
    const char *marks;  /* of a tree: a key that it must have; NULL: any three known */
    const char *sets[160][FR__N_JOB_COLUMNS]; /* end with a NULL */
    /* why, and names, which may end in '*', or have "=value" for one value of a name that is else
     * not modelled */
    const char *no_effect[24][96];
    const char *not_modelled[40][24];
    const char *defaults[24][2];
    const char *implies[40][FR__JOB_IMPLIES];
};
extern const struct fr__job_framework fr__job_frameworks[];
extern const size_t fr__n_job_frameworks;

/* A model that can be asked for. */
struct fr__job_model {
    const char *name;         /* of the row */
    const char *model;        /* of the zoo */
    const char *needs[16][2]; /* facts and their values, "a|b"; "-" among them: not set */
    /* option of the model, its fact, and another where that is not set; "=V": V always */
    const char *keys[48][3];
    const char *sizes;          /* of a model that is known by its name; NULL */
    const char *notes[8][3];    /* fact, value, what is not modelled then */
    const char *strategy[4][3]; /* fact, value, option of the strategy that it asks: "tie=0" */
};
extern const struct fr__job_model fr__job_models[];
extern const size_t fr__n_job_models;

/* ---- a job ---- */

enum { FR__JOB_MOST_FILES = 32 }; /* with those that scripts make */

struct fr__job_list {
    struct fr_job_argument *at;
    const char **unknown;                       /* [n]: the variable that a value lacks; NULL */
    const struct fr__job_framework **framework; /* [n]: whose argument it is */
    size_t n, cap;
};

struct fr__job_held {
    const char *value, *argument, *unknown;
    struct fr_loc loc;
};

struct fr_job {
    struct fr__arena *arena;
    /* of the files that have one, in their order; the first is the job's */
    const struct fr__job_framework *frameworks[FR__JOB_MOST_FILES];
    size_t n_frameworks;
    struct fr__job_list arguments, launcher;
    struct fr__job_held facts[FR__N_JOB_FACTS];
    struct fr_job_fact *listed;
    const char **notes;
    struct fr_job_setting *settings;
    size_t cap_notes, n_settings, cap_settings;
    struct fr_job_summary summary;
};

/* Adds an argument, without a framework; name and value in the arena or constant. */
enum fr_status fr__job_add(struct fr_job *j, struct fr__job_list *to, const char *name,
                           const char *value, const char *unknown, struct fr_loc loc,
                           struct fr_error *err);
enum fr_status fr__job_note(struct fr_job *j, struct fr_error *err, const char *format, ...)
    FR_PRINTF(3, 4);
/* Sets a fact that follows from others, unless an argument leaves it open. */
enum fr_status fr__job_set(struct fr_job *j, enum fr__job_fact_kind k, struct fr_error *err,
                           const char *format, ...) FR_PRINTF(4, 5);
/* A fact that is a number; 0: it is not set, or is none. */
uint64_t fr__job_number(const struct fr_job *j, enum fr__job_fact_kind k);
bool fr__job_is(const struct fr_job *j, enum fr__job_fact_kind k, const char *value);

/* What a framework's table says of an argument. */
struct fr__job_row {
    enum fr_job_verdict verdict;
    const char *const *sets; /* understood: the row; an argument may have several */
    const char *why;
};
/* The i-th row about an argument (name without dashes before it, '-' for '_'). */
bool fr__job_look_up(const struct fr__job_framework *f, const char *name, size_t i,
                     struct fr__job_row *out);
/* The row about one value of an argument, "name=value", where there is one. */
bool fr__job_look_up_value(const struct fr__job_framework *f, const char *name_and_value,
                           struct fr__job_row *out);
const struct fr__job_framework *fr__job_framework(const char *name);
/* The arguments from `first` on are of that framework, which joins the job's. */
void fr__job_settle(struct fr_job *j, size_t first, const struct fr__job_framework *f);

/* ---- what becomes facts (verdicts.c, derive.c) ---- */

enum fr_status fr__job_judge(struct fr_job *j, bool is_lenient, struct fr_error *err);
enum fr_status fr__job_derive(struct fr_job *j, struct fr_error *err);

/* ---- what is trained (ask_tune.c) ---- */

/* The text of --tune that the job's facts come to, in its arena; NULL: all is trained. Notes
 * what of it is not modelled. FR_EUNSUPPORTED: targets that are no names. */
enum fr_status fr__job_tune(struct fr_job *j, const char **out, struct fr_error *err);
#endif
