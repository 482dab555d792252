/* papers/runner/asks.h - what the formulas of a paper's experiments may ask.
 *
 * A paper whose experiments need more than questions adds a way of asking: a file in its folder,
 * and a row in papers/ways.c.
 */
#ifndef FR_PAPERS_RUNNER_ASKS_H
#define FR_PAPERS_RUNNER_ASKS_H

#include "papers/papers.h"
#include "papers/runner/formula.h"

/* One thing to ask: settings by name, as the paper's YAML has them, with their formulas
 * computed. */
struct fr__ask {
    struct fr__arena *arena; /* for the answer */
    size_t n;
    const char *const *names, *const *values; /* [n] */
    const char *data;                         /* folder of the authors' data, or NULL */
    const struct fr_context *ctx;
    struct fr_session *session;
    struct fr_loc loc;
};

/* The answer: fields in the arena, the last one's name NULL. */
typedef enum fr_status fr__ask_way(const struct fr__ask *a, const struct fr__field **out,
                                   struct fr_error *err);

/* The ways of asking: those of papers/ways.c, which ends with a NULL name. Without a name it is a
 * question, as `forerun simulate` asks it, whose settings are the options without dashes;
 * "brief" is one of them. */
struct fr__ask_named {
    const char *name;
    fr__ask_way *way;
};
extern const struct fr__ask_named fr__ask_ways[];

/* A question: oom, iteration_s, low_s and high_s (90 % of measured steps lie between), compute_s,
 * comm_s, exposed_comm_s, plan_cpu_s, peak_bytes; time and memory, which are "out of memory" where
 * it does not fit; of planners also planned_s, n_ops, n_splits, keeps_replicas, own_rule,
 * split_kinds ("conv2d matmul"), most_split ("conv1_2 in 4 (batch)", the first), and gpu0_ops to
 * gpu3_ops. A question that is refused for want of memory is answered. */
fr__ask_way fr__ask_question;

/* papers/fastt/learn.c: a question, and "rounds", at most so many. iteration_s of the plan in use
 * (infinite: the first did not fit), n_rounds, n_splits, is_first, has_converged. */
fr__ask_way fr__ask_learn;
/* papers/pipedream/stages.c: "profile", a folder of the data, and "options" of its planner.
 * pipeline_s, per_dp, stages; NaN and "" where there is no such profile. */
fr__ask_way fr__ask_stages;
/* papers/zero-bubble/replay.c: "schedule", "ranks", "micros", "virtual", in passes of one unit.
 * makespan, span (the longest of a rank). */
fr__ask_way fr__ask_replay;

/* The value of a setting; FR_EPARSE: it is missing. */
enum fr_status fr__ask_text(const struct fr__ask *a, const char *name, const char **out,
                            struct fr_error *err);
enum fr_status fr__ask_count(const struct fr__ask *a, const char *name, uint64_t most,
                             uint32_t *out, struct fr_error *err);
/* The settings as a question, but for those in `others`, which ends with NULL. */
enum fr_status fr__ask_settings(const struct fr__ask *a, const char *const others[],
                                struct fr_question *q, struct fr_error *err);
/* Copies fields[0..n) and ends them. */
enum fr_status fr__ask_answer(const struct fr__ask *a, const struct fr__field fields[], size_t n,
                              const struct fr__field **out, struct fr_error *err);

#endif
