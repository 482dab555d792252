/* results/html/html.h - the parts of the report, a single HTML file.
 *
 * The file needs nothing from elsewhere: style, pictures (SVG) and a small script are in it, and
 * its content security policy forbids loading or running anything else. The report can be read
 * without the script, which shows hints at once, sorts tables and zooms in time. Text that comes
 * from an input is written by fr__html_text only.
 */
#ifndef FR_RESULTS_HTML_HTML_H
#define FR_RESULTS_HTML_HTML_H

#include "results/charts/timeline.h"
#include "results/results.h"

enum {
    FR__HTML_TEXT = 40,    /* room for one formatted number */
    FR__HTML_PICTURED = 16 /* strategies of a comparison with a section of their own */
};

/* How much of a run is drawn and listed at most. */
struct fr__html_room {
    size_t boxes;   /* of the timeline; some more where there are very many streams */
    size_t lanes;   /* devices of the timeline, at most FR__TIMELINE_LANES */
    size_t charts;  /* of memory, at most FR__HTML_CHARTS */
    size_t devices; /* in the table */
};
enum { FR__HTML_CHARTS = 8 };

/* ---- pages of other answers than runs, whose page is report.c ---- */

/* difference.c. FR_ENOMEM. */
enum fr_status fr__html_difference(FILE *f, const struct fr_difference *d, struct fr_error *err);
/* sweep.c: what is best, all points as a table and as a picture, and the best ones over time, for
 * which `ask` gives their records; NULL: they are left out. FR_ENOMEM, FR_ECANCELLED. */
enum fr_status fr__html_sweep(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m,
                              fr_sweep_ask_fn *ask, const struct fr_context *ctx,
                              struct fr_error *err);

/* sweep_plot.c: cost against time of the points of a group; nothing where none has a cost.
 * FR_ENOMEM. */
enum fr_status fr__html_sweep_plot(FILE *f, const struct fr_sweep *s,
                                   const struct fr_sweep_summary *m, size_t group,
                                   struct fr_error *err);

/* ---- text.c ---- */

/* Text for elements and quoted attributes: & < > " ' become entities, control characters '?' (a
 * line end stays), bytes that are not UTF-8 U+FFFD. */
void fr__html_text(FILE *f, const char *text);
/* x with at most two decimals, without zeros at the end: coordinates, widths. */
void fr__html_number(FILE *f, double x);
/* "31.1 %"; with a sign, "−6.2 %", "+25.0 %"; no line breaks at the blank; returns buf. */
const char *fr__html_percent(double frac, char *buf, size_t n);
const char *fr__html_change(double frac, char *buf, size_t n);

/* ---- cells.c: cells of a table that the script sorts ---- */

/* text: trusted. sort: NAN is an empty cell. */
void fr__html_number_cell(FILE *f, double sort, const char *text);
void fr__html_time_cell(FILE *f, const struct fr_record *r, double s); /* as of the record */
void fr__html_bytes_cell(FILE *f, double bytes);
void fr__html_percent_cell(FILE *f, double frac);
void fr__html_text_cell(FILE *f, const char *text); /* any text */

/* ---- page.c ---- */

/* Doctype, head with style, the open body and main element; and its end, with the script. */
void fr__html_begin(FILE *f, const char *title);
void fr__html_end(FILE *f);

/* ---- words.c ---- */

/* The answer in sentences. */
void fr__html_answer(FILE *f, const struct fr_results *rs);
/* How far to trust it, what is assumed; how to get it again. */
void fr__html_trust(FILE *f, const struct fr_results *rs);

/* ---- tables.c ---- */

void fr__html_strategies(FILE *f, const struct fr_results *rs);
void fr__html_figures(FILE *f, const struct fr_record *r); /* the key numbers */
void fr__html_sensitivities(FILE *f, const struct fr_record *r);
void fr__html_peak(FILE *f, const struct fr_record *r);
void fr__html_links(FILE *f, const struct fr_record *r);
void fr__html_devices(FILE *f, const struct fr_record *r, const struct fr__html_room *room);

/* ---- timeline.c: a run over time as a chart ---- */

/* A run as an element of its own; told gathers what the key must name. */
enum fr_status fr__html_lanes(FILE *f, const struct fr_record *r,
                              const struct fr__timeline_span *span, struct fr__timeline_told *told,
                              struct fr_error *err);
void fr__html_lanes_key(FILE *f, const struct fr__timeline_told *told);
/* Opens a figure whose charts the script zooms, by pointer and keys; what: trusted text. */
void fr__html_zoom_begin(FILE *f, const char *what);

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

/* ---- path.c, timeline.c, memory.c: records with a plan and its run ---- */

void fr__html_path(FILE *f, const struct fr_record *r);
enum fr_status fr__html_timeline(FILE *f, const struct fr_record *r,
                                 const struct fr__html_room *room, struct fr_error *err);
enum fr_status fr__html_memory(FILE *f, const struct fr_record *r, const struct fr__html_room *room,
                               struct fr_error *err);

/* The colour of a kind of memory in the charts. */
const char *fr__html_kind_colour(enum fr_buffer_kind kind);

/* ---- chart.c ---- */

/* A piece of a bar, frac of its width; nothing when frac is not positive. */
void fr__html_slice(FILE *f, const char *colour, double frac);
/* A bar cut into parts, with a key. share: [n] fractions of the whole, those below a thousandth are
 * left out; titles are trusted text. */
struct fr__html_part {
    const char *title, *colour;
    double share;
    char value[FR__HTML_TEXT];
};
void fr__html_stack(FILE *f, const struct fr__html_part parts[], size_t n);
#endif
