/* results/document/explain.h - what the files that explain a plan as text share. */
#ifndef FR_RESULTS_DOCUMENT_EXPLAIN_H
#define FR_RESULTS_DOCUMENT_EXPLAIN_H

#include "results/document/document.h"
#include "results/parts/explanation.h"
#include "results/parts/table.h"

struct fr__telling {
    struct fr__document *doc;
    const struct fr_explanation *e;
    const struct fr_decisions *x;
    const struct fr_decided_plan *p; /* the plan that is being explained */
    struct fr__explain_unit unit;
    size_t most; /* rows of a table */
    bool with_memory;
};

/* How many rows of n are shown, and a line that counts the others. */
size_t fr__tell_shown(const struct fr__telling *t, size_t n);
void fr__tell_rest(const struct fr__telling *t, size_t n, const char *what);
/* The name of an operation, and a time, as a cell of a table. */
void fr__tell_cell_op(char cell[FR__TABLE_CELL], const struct fr__telling *t, uint32_t op);
void fr__tell_cell_time(char cell[FR__TABLE_CELL], const struct fr__telling *t, double s);

/* All steps of one plan: the graph, ranks, the critical path, decisions, the schedule. */
void fr__tell_plan(const struct fr__telling *t);
/* When each operation runs, and the bounds. */
void fr__tell_schedule(const struct fr__telling *t);
/* The decision about one operation. */
void fr__tell_decision(const struct fr__telling *t, uint32_t op);
/* Everything about one operation. */
void fr__tell_op(const struct fr__telling *t, uint32_t op);
/* The plan as a lane of characters for each device; nothing where lines are too short for it. */
void fr__tell_gantt(const struct fr__telling *t);
/* Decisions of a plan whose ops are split. FR_ENOMEM, FR_ENOENT. */
enum fr_status fr__tell_layout(struct fr__document *doc, const struct fr_explanation *e,
                               struct fr_error *err);
#endif
