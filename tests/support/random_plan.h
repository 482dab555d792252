/* tests/support/random_plan.h - plans drawn from a seed, and running them.
 *
 * A plan is drawn from a seed: 1 to 8 devices on a star, a pair or a small fat tree; compute on
 * several streams, messages, collectives, markers, buffers and aliases, random dependencies. Tasks
 * that wait for partners follow each other on their stream by dependencies, so that all devices
 * have them in one order and no ready order can dead lock. By default priorities grow along
 * dependencies, which `strict` needs.
 */
#ifndef FR_TESTS_SUPPORT_RANDOM_PLAN_H
#define FR_TESTS_SUPPORT_RANDOM_PLAN_H

#include "base/rng.h"
#include "sim/sim.h"

#include <check.h>

enum { MOST_DEVICES = 8, MOST_TASKS = 512, MOST_PAIRS = 2048 };

/* What a test asks of its plans; all else comes from the seed. Scales are powers of two. */
struct random_shape {
    double bw_scale, bytes_scale, time_scale;
    bool is_reversed;        /* device d is called n - 1 - d */
    bool is_star;            /* and not one of the other clusters */
    bool has_launches;       /* compute costs host time */
    bool has_no_empty_tasks; /* nothing but markers takes no time */
    bool has_single_file;    /* a device sends and receives one message at a time; no collectives */
    bool has_any_priority;
    bool has_no_chains; /* whose chunks do not grow with the bytes */
};

struct random_pair {
    uint32_t a, b;
};

struct random_plan {
    struct fr__rng rng;
    struct random_shape shape;
    struct fr_topo *topo;
    struct fr_plan *plan;
    uint64_t seed;
    uint32_t n_devices, n_tasks, n_deps, n_frees;
    bool has_streams_for_messages;
    struct fr_task tasks[MOST_TASKS];
    int32_t depth[MOST_TASKS];
    struct random_pair deps[MOST_PAIRS];  /* a before b */
    struct random_pair frees[MOST_PAIRS]; /* buffer a by task b */
    uint32_t last[MOST_DEVICES][FR_N_STREAMS];
};

/* Scales of one, and all kinds of task. */
extern const struct random_shape random_plain;

/* The caller frees it. */
struct random_plan *random_plan_draw(uint64_t seed, const struct random_shape *shape);
void random_plan_free(struct random_plan *j);

/* Parts of drawing, for a test that draws a plan of its own kind: a number below n; true once in n;
 * devices and their links; a kind of collective. */
uint32_t random_below(struct random_plan *j, uint32_t n);
bool random_one_in(struct random_plan *j, uint32_t n);
void random_cluster(struct random_plan *j);
enum fr_collective_kind random_collective_kind(struct random_plan *j);

/* ---- running ---- */

/* A test counts what it has run, to say so. */
struct random_count {
    unsigned plans, runs;
};

void random_say(const char *test, const struct random_count *n);

#define holds(j, condition)                                                                        \
    do {                                                                                           \
        if (!(condition)) /* Check's own asserts are slow */                                       \
            ck_abort_msg("seed %llu: %s", (unsigned long long)(j)->seed, #condition);              \
    } while (0)

/* Fails the test where it does not run. */
struct fr_run *random_plan_run(const struct random_plan *j, const struct fr_run_options *o,
                               struct random_count *n);
struct fr_run_options random_options(void);
/* Networks, ready orders and limits of channels in turn. */
struct fr_run_options random_options_in_turn(uint64_t seed);

/* Equal but for rounding of numbers as large as scale. */
bool random_is_near(double a, double b, double scale);
/* a's times are b's times `factor`, to the bit. */
void random_times_are_equal(const struct random_plan *j, const struct fr_run *a,
                            const struct fr_run *b, double factor);
/* The same but for rounding. */
void random_times_are_near(const struct random_plan *j, const struct fr_run *a,
                           const struct fr_run *b);

#endif
