/* results/parts/difference_lines.h - the rows of a difference's tables, as whole numbers that add
 * up. */
#ifndef FR_RESULTS_PARTS_DIFFERENCE_LINES_H
#define FR_RESULTS_PARTS_DIFFERENCE_LINES_H

#include "results/results.h"

enum { FR__DIFFERENCE_STEPS_A_UNIT = 1000, FR__DIFFERENCE_DECIMALS = 3, FR__DIFFERENCE_MORE = 48 };

/* The answer in whose unit all times of a difference are: plain where both answers are. */
const struct fr_record *fr__difference_unit(const struct fr_difference *d);
/* "A (ms)", or "A" where times have no unit. Returns buf. */
enum { FR__DIFFERENCE_TITLE = 32 };
const char *fr__difference_title(const char *title, const char *unit,
                                 char buf[FR__DIFFERENCE_TITLE]);
/* The smallest time that is told apart, and the unit of which it is a thousandth. */
double fr__difference_step_s(const struct fr_difference *d, const char **unit);

/* A row: name, and the two times in steps. */
struct fr__difference_line {
    const char *name;
    long long a, b;
};

/* The parts of the iteration; they add up to the last line, the iteration itself. */
void fr__difference_parts(const struct fr_difference *d, double step_s,
                          struct fr__difference_line lines[FR_N_PARTS + 1]);

/* lines[n_lines], the last but one "12 more" where is_cut, and the last one the total. */
struct fr__difference_table {
    const char *title; /* "compute by op" */
    size_t n_lines;
    bool is_cut;
    struct fr__difference_line *lines;
    char more[FR__DIFFERENCE_MORE];
};
/* The pieces with the largest changes, at most most_rows, which add up to their part (lines of
 * fr__difference_parts). The caller frees out->lines; n_lines is 0 where there is nothing to
 * show. FR_ENOMEM. */
enum fr_status fr__difference_pieces(const struct fr_difference *d, enum fr_pieces kind,
                                     double step_s, size_t most_rows,
                                     const struct fr__difference_line parts[FR_N_PARTS + 1],
                                     struct fr__difference_table *out, struct fr_error *err);
/* How many of rows[n] change by a step or more, at most most_rows; at least one where there is any
 * row. */
size_t fr__difference_changes(const struct fr_difference_row rows[], size_t n, double step_s,
                              size_t most_rows);
#endif
