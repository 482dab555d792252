/* results/html/html.h - the frame of pages, and the pictures in them.
 *
 * A page is a single file that needs nothing from elsewhere: style, pictures (SVG) and a small
 * script are in it, and its content security policy forbids loading or running anything else. It
 * can be read without the script, which shows hints at once, sorts tables and zooms in time. What
 * stands between the pictures is written by results/render/html.c. Text that comes from an input is
 * written by fr__markup_text only.
 */
#ifndef FR_RESULTS_HTML_HTML_H
#define FR_RESULTS_HTML_HTML_H

#include "results/canvas/canvas.h"
#include "results/charts/chart.h"
#include "results/charts/timeline.h"
#include "results/document/builders.h"

enum { FR__HTML_TEXT = 40 }; /* room for one formatted number */

/* ---- page.c ---- */

/* Doctype, head with style, the open body and main element; and its end, with the script. */
void fr__html_begin(FILE *f, const char *title);
void fr__html_end(FILE *f);

/* ---- pictures.c ---- */

/* The picture that a block of a page asks for; nothing where its runs were not kept. chart: that of
 * the page's kind, or NULL. FR_ENOMEM, FR_ECANCELLED. */
enum fr_status fr__html_picture(FILE *f, const struct fr__block *b, fr__chart_fn *chart,
                                const struct fr_context *ctx, struct fr_error *err);

/* ---- figure.c ---- */

/* The chart of an answer, as a file of it shows it; nothing where the chart refuses. FR_ENOMEM,
 * FR_ECANCELLED. */
enum fr_status fr__html_chart(FILE *f, fr__chart_fn *chart, const void *answer,
                              const struct fr_context *ctx, struct fr_error *err);

/* ---- timeline.c: a run over time as a chart ---- */

/* number: of such pictures on the page, which share its room. */
enum fr_status fr__html_timeline(FILE *f, const struct fr_record *r, size_t number,
                                 struct fr_error *err);
/* A run as an element of its own; told gathers what the key must name. */
enum fr_status fr__html_lanes(FILE *f, const struct fr_record *r,
                              const struct fr__timeline_span *span, struct fr__timeline_told *told,
                              struct fr_error *err);
void fr__html_lanes_key(FILE *f, const struct fr__timeline_told *told);
/* Opens a figure whose charts the script zooms, by pointer and keys; what: trusted text. */
void fr__html_zoom_begin(FILE *f, const char *what);

/* ---- memory.c ---- */

enum fr_status fr__html_memory(FILE *f, const struct fr_record *r, size_t number,
                               struct fr_error *err);

/* ---- scale.c: several runs under one another ---- */

enum { FR__HTML_SCALED = 8 }; /* at most so many */

/* A run with its plan; title: any text; link: where it leads, or NULL. */
struct fr__html_run {
    const struct fr_record *record;
    const char *title, *link;
};
/* One iteration of each of runs[n] on axes of the same length, n at most FR__HTML_SCALED. Those
 * without a plan and a run are left out; without two of them, unless alone_too, nothing is
 * written. */
enum fr_status fr__html_scale(FILE *f, const struct fr__html_run runs[], size_t n, bool alone_too,
                              struct fr_error *err);

/* ---- sweep.c, sweep_plot.c ---- */

/* The best points over time, whose runs the answer's `ask` gives; nothing without it. */
enum fr_status fr__html_best(FILE *f, const struct fr_sweep_answer *a, const struct fr_context *ctx,
                             struct fr_error *err);
/* Cost against time of the points of a group; nothing where none has a cost. FR_ENOMEM. */
enum fr_status fr__html_sweep_plot(FILE *f, const struct fr_sweep *s,
                                   const struct fr_sweep_summary *m, size_t group,
                                   struct fr_error *err);
#endif
