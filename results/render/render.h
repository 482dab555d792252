/* results/render/render.h - documents as text, as Markdown, as HTML; one file a format.
 *
 * Writing functions of streams do not report failures: look at ferror(f) in the end.
 */
#ifndef FR_RESULTS_RENDER_RENDER_H
#define FR_RESULTS_RENDER_RENDER_H

#include "base/base.h"
#include "results/charts/chart.h"
#include "results/document/document.h"

#include <stdio.h>

/* For people at a terminal. Tables wider than the document's lines are cut into parts. */
void fr__text_render(FILE *f, const struct fr__document *d);
/* CommonMark with tables as GitHub has them. What the document says is never taken for markup. */
void fr__markdown_render(FILE *f, const struct fr__document *d);
/* A page with its pictures, for documents made as pages. kind: its title where the document begins
 * with something else than words. chart: draws what the document is of where it says so; or NULL.
 * FR_ENOMEM; FR_ECANCELLED. */
enum fr_status fr__html_render(FILE *f, const struct fr__document *d, const char *kind,
                               fr__chart_fn *chart, const struct fr_context *ctx,
                               struct fr_error *err);

/* A title line (unless all titles are empty) and the rows, two spaces between columns and before
 * the first, no blanks at the end of a line. Characters are counted, not bytes. */
void fr__table_print(FILE *f, const struct fr__table *t);

/* The same on lines of `width` characters (0: any number). A wider table is printed in parts under
 * one another, each with the first n_keys columns, which name a row, and at least one more. Where
 * those take over half of a line, rows are numbered and the parts below have the numbers alone. */
void fr__table_print_within(FILE *f, const struct fr__table *t, size_t width, size_t n_keys);

#endif
