/* results/document/document.h - an answer as a document that no format owns.
 *
 * A builder (one a kind of answer, in this folder) makes a document of headings, sentences, tables
 * and lines of fixed pitch. A renderer (one a format, in results/render/) writes any document. So a
 * new answer needs one builder and a new format one renderer.
 *
 * A page has room for pictures and for what explains the figures. A builder asks fr__is_page before
 * it says what a terminal does not show.
 *
 * Nothing a builder calls reports that memory ran out: the document remembers it, and is not
 * rendered (fr__document_check).
 */
#ifndef FR_RESULTS_DOCUMENT_DOCUMENT_H
#define FR_RESULTS_DOCUMENT_DOCUMENT_H

#include "base/base.h"
#include "base/error.h"
#include "results/parts/table.h"

#include <stdbool.h>
#include <stddef.h>

enum fr__block_kind {
    FR__BLOCK_PART,      /* the heading of a part: one line */
    FR__BLOCK_HEADING,   /* of the table below it: one line */
    FR__BLOCK_SENTENCES, /* lines of prose */
    FR__BLOCK_DRAWN,     /* lines whose characters stand below each other */
    FR__BLOCK_TABLE,
    FR__BLOCK_PICTURE, /* on pages alone */
};

/* What a picture shows, and of what it is (struct fr__block's of and number). */
enum fr__page_picture {
    FR__PICTURE_TIMELINE, /* struct fr_record; number: of pictures like it on the page */
    FR__PICTURE_MEMORY,   /* the same */
    FR__PICTURE_RUNS,     /* struct fr_results: an iteration of each, to one scale */
    FR__PICTURE_BOTH,     /* struct fr_difference: both iterations, to one scale */
    FR__PICTURE_BEST,     /* struct fr_sweep_answer: the best points, to one scale */
    FR__PICTURE_COST,     /* struct fr_sweep_answer; number: the group whose costs it shows */
    FR__PICTURE_CHART,    /* the answer that the page is of: the chart of its kind */
};

enum { FR__BARS = 3 };

struct fr__block {
    enum fr__block_kind kind;
    unsigned n_gaps;                        /* empty lines before it */
    const char **lines;                     /* [n_lines], without their ends */
    size_t n_lines, cap_lines;              /* heading: 1; table: 0 */
    const struct fr__table_column *columns; /* [n_columns] of a table */
    const char **cells;                     /* [n_rows][n_columns] */
    size_t n_columns, n_rows;
    size_t n_keys;            /* columns that name a row; 0: the table is never cut into parts */
    size_t first_bar, n_bars; /* columns that formats with colours show as one bar, too */
    const char *bar_colours[FR__BARS];
    bool has_sum; /* the last row is the sum of the others */
    enum fr__page_picture picture;
    const void *of;
    size_t number;
    struct fr__block *next;
};

struct fr__document;

enum fr__document_use { FR__FOR_LINES, FR__FOR_PAGE };
/* width: characters of a line of text, to which tables may be cut; 0: any. NULL: out of memory;
 * builders take that as a document that lacks memory. */
struct fr__document *fr__document_new(enum fr__document_use use, size_t width);
void fr__document_free(struct fr__document *d);
/* FR_ENOMEM: something of it is missing. */
enum fr_status fr__document_check(const struct fr__document *d, struct fr_error *err);
/* The blocks in their order, and the empty lines behind the last one. */
const struct fr__block *fr__document_first(const struct fr__document *d);
unsigned fr__document_gaps_at_end(const struct fr__document *d);

/* ---- what builders say ---- */

bool fr__is_page(const struct fr__document *d);
size_t fr__document_width(const struct fr__document *d);

/* Adds to the sentences. '\n' ends a line; an empty line ends the block. Text from outside is said
 * by fr__say_name. */
void fr__say(struct fr__document *d, const char *format, ...) FR_PRINTF(2, 3);
/* Text from outside, as fr__table_text cleans and cuts it. */
void fr__say_name(struct fr__document *d, const char *text);
/* The sentences from here on are drawn, lines of fixed pitch, until fr__say_plain. */
void fr__say_drawn(struct fr__document *d);
void fr__say_plain(struct fr__document *d);
/* The heading of a part; text may come from outside. */
void fr__say_heading(struct fr__document *d, const char *text);
/* A table, whose rows are asked for now. A single line above it that ends in a colon is its
 * heading, and loses the colon. n_keys: as in struct fr__block. */
void fr__say_table(struct fr__document *d, const struct fr__table *t, size_t n_keys);
/* Of the table that was said last: the columns first to first + n - 1 are parts of a bar in colours
 * [n], n at most FR__BARS. */
void fr__say_bars(struct fr__document *d, size_t first, size_t n, const char *const colours[]);
/* Of the table that was said last: its last row is a sum, and stays below the others. */
void fr__say_sum(struct fr__document *d);
/* A picture, on a page; elsewhere nothing. of: must live as long as the document. */
void fr__say_picture(struct fr__document *d, enum fr__page_picture picture, const void *of,
                     size_t number);

#endif
