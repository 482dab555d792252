/* base/csv.h - CSV (RFC 4180, by libcsv) with a header row, row by row, with positions.
 *
 * Lines end with LF, CR LF or CR, the last may lack its end; empty lines are skipped, blanks belong
 * to their cell, a byte order mark at the start is skipped and counts in no column.
 * The reader counts lines and columns itself, since a quoted cell may span lines. It refuses bytes
 * that are not UTF-8, control characters, cells over 1 MiB, rows over 256 cells, ragged rows,
 * doubled or missing columns, files over 4 GiB.
 */
#ifndef FR_BASE_CSV_H
#define FR_BASE_CSV_H

#include "base/base.h"

struct fr__cell {
    const char *text; /* "" for an absent optional column; valid during the call only */
    struct fr_loc loc;
};

struct fr__csv_column {
    const char *name;
    bool is_required;
};

/* Called for each row with cells in the order of `columns`. A failure ends the reading. */
typedef enum fr_status (*fr__csv_row_fn)(void *user, const struct fr__cell cells[],
                                         struct fr_error *err);

/* columns end with a NULL name. An unknown column in the file is an error (nearest name given).
 * A file without a header is an error; one with a header only is fine. loc.file is `path`, which
 * must outlive what keeps the locs. */
enum fr_status fr__csv_read(const char *path, const struct fr__csv_column columns[],
                            fr__csv_row_fn row, void *user, struct fr_error *err);
/* The same from memory; name stands for the path in messages. */
enum fr_status fr__csv_read_text(const char *text, size_t len, const char *name,
                                 const struct fr__csv_column columns[], fr__csv_row_fn row,
                                 void *user, struct fr_error *err);

/* Called with the n names of the columns. */
typedef enum fr_status (*fr__csv_header_fn)(void *user, const struct fr__cell cells[], size_t n,
                                            struct fr_error *err);
/* Reads the header row alone, for files whose columns must be known first. */
enum fr_status fr__csv_header_text(const char *text, size_t len, const char *name,
                                   fr__csv_header_fn header, void *user, struct fr_error *err);

/* Cell readers: like the ones of units.h, with "'column' is "text", not a number". */
enum fr_status fr__cell_number(const struct fr__cell *c, const char *column, double min, double max,
                               double *out, struct fr_error *err);
enum fr_status fr__cell_count(const struct fr__cell *c, const char *column, uint64_t min,
                              uint64_t max, uint64_t *out, struct fr_error *err);

/* A cell for writing: quoted when it must be, and with an apostrophe before a text that a
 * spreadsheet would run as a formula (=, +, -, @), which our reader takes away; numbers are left
 * alone. Returns false when the stream failed. */
#include <stdio.h>
bool fr__csv_write_cell(FILE *f, const char *text);
/* A cell in quotes, whatever it holds, and with no apostrophe. */
void fr__csv_write_quoted(FILE *f, const char *text);
#endif
