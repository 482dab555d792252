/* strategies/lists/lists.h - the classic list schedulers as strategies: what they have in common.
 *
 * Each is a file with one function that fills a timetable, the words that explain it, and a row of
 * the list of strategies. The dag and the machine are those that FastT's planners start from
 * (strategies/fastt/fastt.h), so that all of them are compared on the same problem, and so is the
 * way from a finished timetable to a plan and to a record of decisions.
 */
#ifndef FR_STRATEGIES_LISTS_LISTS_H
#define FR_STRATEGIES_LISTS_LISTS_H

#include "strategies/lists/timetable.h"
#include "strategies/strategies.h"

/* Places every operation but variables that nobody reads. FR_ENOMEM, FR_ECANCELLED, FR_EUSAGE: the
 * graph is not for it. */
typedef enum fr_status (*fr__list_run_fn)(struct fr__timetable *t, const struct fr_problem *in,
                                          const struct fr_context *ctx, struct fr_error *err);

/* A list scheduler. */
struct fr__list_method {
    fr__list_run_fn run;
    const char *caption;               /* "planned by HEFT" */
    const struct fr_reason *reasons;   /* by enum fr__dpos_why */
    const char *rank_rule;             /* NULL: it has no ranks */
    const char *list_rule, *path_rule; /* sentences; path_rule NULL: it has no path */
};

enum fr_status fr__lists_plan(const struct fr__list_method *method, const struct fr_problem *in,
                              const struct fr_context *ctx, struct fr_plan *out,
                              struct fr_error *err);
enum fr_status fr__lists_explain(const struct fr__list_method *method, const struct fr_problem *in,
                                 const struct fr_context *ctx, struct fr_decisions **out,
                                 struct fr_error *err);

/* The first option of each list scheduler, FR__LISTS_START: what it starts from. */
enum { FR__LISTS_START };
#define FR__LISTS_START_OPTION                                                                     \
    {                                                                                              \
        .name = "start", .type = FR_OPTION_CHOICE, .fallback = "auto", .choices = "auto|dp|model", \
        .help = "schedule replicas of the model that share its variables, or one model; auto: "    \
                "replicas where one fits a device"                                                 \
    }
extern const struct fr_option fr__lists_options[]; /* only that one */

/* Reasons by enum fr__dpos_why where the device is chosen by its end, by its start, and
 * by its start among those that are free. */
extern const struct fr_reason fr__lists_ends_first[], fr__lists_starts_first[],
    fr__lists_free_first[];

/* ---- the list schedulers, on a timetable; in may be NULL ---- */

enum fr_status fr__heft_run(struct fr__timetable *t, const struct fr_problem *in,
                            const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr__cpop_run(struct fr__timetable *t, const struct fr_problem *in,
                            const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr__mcp_run(struct fr__timetable *t, const struct fr_problem *in,
                           const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr__etf_run(struct fr__timetable *t, const struct fr_problem *in,
                           const struct fr_context *ctx, struct fr_error *err);
enum fr_status fr__critical_path_run(struct fr__timetable *t, const struct fr_problem *in,
                                     const struct fr_context *ctx, struct fr_error *err);

#endif
