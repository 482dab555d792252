/* results/charts/gnuplot.h - runs gnuplot on a script of ours, without a shell.
 *
 * The script is an unnamed temporary file that becomes gnuplot's standard input; its standard
 * output is the picture's file. So no name of a file reaches the script, and text from inputs only
 * as strings written by fr__gnuplot_string.
 */
#ifndef FR_RESULTS_CHARTS_GNUPLOT_H
#define FR_RESULTS_CHARTS_GNUPLOT_H

#include "results/results.h"

/* Makes the empty script; close with fclose. */
enum fr_status fr__gnuplot_script(FILE **out, struct fr_error *err);

/* Runs it; the picture goes to the end of `picture`. FR_EIO: gnuplot is not installed, or failed
 * (with its own words); FR_ECANCELLED. */
enum fr_status fr__gnuplot_run(FILE *script, FILE *picture, const struct fr_context *ctx,
                               struct fr_error *err);

/* text as a string constant: quoted, as it may be shown (base/printable.h), and with nothing
 * that ends a CDATA section; cut after max characters. */
void fr__gnuplot_string(FILE *script, const char *text, size_t max);
#endif
