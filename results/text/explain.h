/* results/text/explain.h - what the writers of an explanation share. */
#ifndef FR_RESULTS_EXPLAIN_PARTS_H
#define FR_RESULTS_EXPLAIN_PARTS_H

#include "results/explain.h"
#include "results/pictures/plot.h"

struct fr_explanation {
    struct fr_setting setting;
    struct fr_question question;
    struct fr_option_values values;
    uint32_t *devices; /* [problem.n_devices] */
    struct fr_problem problem;
    struct fr_decisions *decisions;
};

/* Times of one explanation have one unit and one number of decimals: none where all are whole. */
struct fr__explain_unit {
    double factor;
    const char *name;
    unsigned decimals;
};
struct fr__explain_unit fr__explain_unit(const struct fr_decisions *d);
/* "no room" for an infinite time, "-" for none; returns buf. */
const char *fr__explain_time(const struct fr__explain_unit *u, double s, char *buf, size_t n);

/* The input that comes last to where op stands, as its edge, and when; FR_NONE: none. */
uint32_t fr__explain_last_input(const struct fr_decided_plan *p, uint32_t op, double *there_s);

/* Devices on which an operation would have ended as early as where it stands. */
size_t fr__explain_equals(const struct fr_decided_plan *p, uint32_t op, size_t n_devices);

/* ---- pictures ---- */

/* gnuplot's script of the plan over time. FR_EUSAGE: nothing takes time; FR_ENOMEM. */
enum fr_status fr__explain_plot(FILE *script, const struct fr_explanation *e,
                                const struct fr__plot_frame *frame, struct fr_error *err);
/* DOT text of the graph; *is_placed: neato is to draw it as placed. FR_EUSAGE: too many layers;
 * FR_ENOMEM. */
enum fr_status fr__explain_graph(FILE *dot, const struct fr_explanation *e, bool *is_placed,
                                 struct fr_error *err);

/* ---- text ---- */

struct fr__telling {
    FILE *f;
    const struct fr_explanation *e;
    const struct fr_decisions *x;
    const struct fr_decided_plan *p; /* the plan that is told of now */
    struct fr__explain_unit unit;
    size_t most; /* rows of a table */
    bool with_memory;
};

/* How many of n are shown; a line that says how many are not. */
size_t fr__tell_shown(const struct fr__telling *t, size_t n);
void fr__tell_rest(const struct fr__telling *t, size_t n, const char *what);
/* The decision about one operation. */
void fr__tell_decision(const struct fr__telling *t, uint32_t op);
/* Everything about one operation. */
void fr__tell_op(const struct fr__telling *t, uint32_t op);
/* The plan as lanes of text; nothing where that is too much for lines of text. */
void fr__tell_gantt(const struct fr__telling *t);

#endif
