/* results/text/explain.h - what the writers of an explanation share. */
#ifndef FR_RESULTS_EXPLAIN_PARTS_H
#define FR_RESULTS_EXPLAIN_PARTS_H

#include "results/explain.h"
#include "results/pictures/plot.h"
#include "strategies/fastt/explain.h"

struct fr_explanation {
    struct fr_setting setting;
    struct fr_question question;
    struct fr_option_values values;
    uint32_t *devices; /* [problem.n_devices] */
    struct fr_problem problem;
    struct fr_explained *explained;
};

enum { FR__EXPLAIN_NAME = 160 };

/* Times of one explanation have one unit and one number of decimals: none where all are whole. */
struct fr__explain_unit {
    double factor;
    const char *name;
    unsigned decimals;
};
struct fr__explain_unit fr__explain_unit(const struct fr_explained *e);
/* "no room" for an infinite time, "-" for none; returns buf. */
const char *fr__explain_time(const struct fr__explain_unit *u, double s, char *buf, size_t n);

/* Of the d-th of the problem's devices. */
const char *fr__explain_device(const struct fr_explained *e, size_t d);

/* Why an operation stands where it does: "ends first", "bound with the critical path", ... */
const char *fr__explain_why(enum fr__dpos_why why);
/* The same of a split that was tried. */
const char *fr__explain_try(const struct fr__os_dpos_try *t);
/* What ended the search for splits. */
const char *fr__explain_end(const struct fr_explained *e);

/* The input that comes last to where op stands, as its edge, and when; FR_NONE: none. */
uint32_t fr__explain_last_input(const struct fr_explained *e, const struct fr__explained_plan *p,
                                uint32_t op, double *there_s);

/* ---- pictures ---- */

/* gnuplot's script of the plan over time. FR_EUSAGE: nothing takes time; FR_ENOMEM. */
enum fr_status fr__explain_plot(FILE *script, const struct fr_explanation *e,
                                const struct fr__plot_frame *frame, struct fr_error *err);
/* DOT text of the graph; *is_placed: neato is to draw it as placed. FR_EUSAGE: too many layers; FR_ENOMEM. */
enum fr_status fr__explain_graph(FILE *dot, const struct fr_explanation *e, bool *is_placed,
                                 struct fr_error *err);

/* ---- text ---- */

struct fr__telling {
    FILE *f;
    const struct fr_explanation *e;
    const struct fr_explained *x;
    const struct fr__explained_plan *p; /* told of at present */
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
