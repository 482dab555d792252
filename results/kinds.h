/* results/kinds.h - what a kind of answer is for whoever shows it: its document, its chart, its
 * files.
 *
 * How results/ calls: its root (the table of kinds, and what shows them) calls the rooms. A builder
 * in document/ makes a document, render/ writes any; a function in pictures/ describes a chart,
 * charts/ draws any; data/ writes one kind each, drawings/ make what canvas/ writes, html/ the
 * frame of pages and their pictures, which render/html.c asks for. Rooms call parts/, canvas/ and
 * document.h, and else neither each other nor the root.
 */
#ifndef FR_RESULTS_KINDS_H
#define FR_RESULTS_KINDS_H

#include "results/charts/chart.h"
#include "results/data/data.h"
#include "results/document/builders.h"
#include "results/render/render.h"
#include "results/show.h"

/* A file format of a kind, in one of five ways. */
struct fr__ending {
    const char *ending;  /* ".json"; of several that fit a path the longest is chosen */
    const char *summary; /* a line of help */
    bool is_of_one;      /* not of several records */
    bool is_page;        /* the document with its pictures, as HTML */
    void (*render)(FILE *f, const struct fr__document *d);
    fr__print_fn *print;
    fr__write_fn *write;
    fr__chart_fn *chart;
};

struct fr__kind {
    const char *of;                /* "sweeps" */
    const char *hint;              /* what else is said when no ending fits, or NULL */
    fr__build_fn *build;           /* its document */
    fr__chart_fn *chart;           /* on its page, where the document asks for it; NULL: none */
    fr__print_fn *json;            /* NULL: none */
    const struct fr__ending *rows; /* [n] */
    size_t n;
    bool is_of_many; /* has no rows that are of one */
};

const struct fr__kind *fr__kind(enum fr_kind k);

/* The ending that fits the path; NULL: none does. */
const struct fr__ending *fr__kind_find(const struct fr__kind *k, const char *path);

/* ---- files of explanations (explain.c): struct fr_explanation_answer ---- */

fr__write_fn fr__explanation_plan;  /* over time; of ops that are split their schedule */
fr__write_fn fr__explanation_graph; /* of operations or layers, coloured by device */
fr__write_fn fr__explanation_mesh;  /* on its machines */

/* ---- replays.c: explained pipelines over time ---- */

/* Replays of n of them in milliseconds; their schedules stay the explanations'. FR_EUSAGE: one of
 * several is no pipeline; FR_ENOMEM. Released by fr__replays_free. */
enum fr_status fr__replays_make(struct fr_timed_schedule **out,
                                const struct fr_explanation *const es[], size_t n,
                                struct fr_error *err);
void fr__replays_free(struct fr_timed_schedule *all, size_t n);
#endif
