/* results/parts/explanation.h - what the writers of an explanation share. */
#ifndef FR_RESULTS_PARTS_EXPLANATION_H
#define FR_RESULTS_PARTS_EXPLANATION_H

#include "results/explain.h"
#include "study/explain/kept.h"

/* Decisions of a plan whose ops are split. FR_ENOMEM, FR_ENOENT. */
enum fr_status fr__layout_print_json(FILE *f, const struct fr_explanation *e, struct fr_error *err);

/* All times of an explanation have one unit and one count of decimals: none if all are whole. */
struct fr__explain_unit {
    double factor;
    const char *name;
    char after[8]; /* " ms" behind a single time; "" where times have no unit */
    unsigned decimals;
};
struct fr__explain_unit fr__explain_unit(const struct fr_explanation *e);
/* Whether it is of tasks on machines without hardware, whose times have no unit. */
bool fr__explanation_is_plain(const struct fr_explanation *e);
/* "no room" for an infinite time, "-" for none; returns buf. */
const char *fr__explain_time(const struct fr__explain_unit *u, double s, char *buf, size_t n);

/* The edge of the input that arrives last at the device of op, and when; FR_NONE: no inputs. */
uint32_t fr__explain_last_input(const struct fr_decided_plan *p, uint32_t op, double *there_s);

/* How many other devices would have ended an operation as early as its own. */
size_t fr__explain_equals(const struct fr_decided_plan *p, uint32_t op, size_t n_devices);
#endif
