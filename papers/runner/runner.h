/* papers/runner/runner.h - runs the experiments that a paper's YAML describes.
 *
 *   name, summary, source, setting: what and how; reference: instead of source in answers
 *   data: what a folder of the authors' data is, where the experiments take one
 *   lists:                       rows of facts, published figures among them
 *     NAME: {given: [COLUMN, ..], rows: [[VALUE, ..], ..]}      a value ~ is not known
 *   let: {NAME: FORMULA}         names for formulas, of all tables
 *   ask: {NAME: {by: WAY, SETTING: TEXT, ..}}                   see asks.h
 *   tables:
 *     - name, title, published   what the paper says, with the place
 *       like: NAME               takes what is not given here from that table, which is above
 *       each: [LIST, ..]         a row for each row of a list; of several, the last turns first
 *       let, ask                 of this table, which come first
 *       columns: [{key: , title: , unit: , is: FORMULA}, ..]    unit: text, count, seconds, fraction,
 *                                bytes or times
 *       draws_over: COLUMN       it can be drawn, over that column
 *       found: TEXT              what came out
 *
 * Texts have formulas in braces (formula.h). Whatever a file says, work is bounded: rows, depth and
 * words of formulas have limits; an answer is asked once.
 */
#ifndef FR_PAPERS_RUNNER_RUNNER_H
#define FR_PAPERS_RUNNER_RUNNER_H

#include "papers/papers.h"
#include "papers/runner/asks.h"

#include <stddef.h>

/* The papers' files, compiled in. */
extern const struct fr_repro_paper fr__papers[];
extern const size_t fr__n_papers;

struct fr__paper_file {
    const char *text; /* [len] */
    size_t len;
    const char *name;                 /* of the file, in messages */
    const struct fr__ask_named *ways; /* beside questions */
};

/* data: a folder, or NULL; FR_EUSAGE where the file takes none, FR_ENOENT where there is none.
 * FR_EPARSE, FR_ERANGE: what is wrong with the file, and where; as fr_reproduce. */
enum fr_status fr__paper_run(struct fr_reproduction **out, const struct fr__paper_file *file,
                             const char *data, const struct fr_context *ctx, struct fr_error *err);

#endif
