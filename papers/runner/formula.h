/* papers/runner/formula.h - the formulas of a paper's experiments: what a cell of a table is.
 *
 *   formula = or [ "?" formula ":" formula ]         or = and { "||" and }
 *   and     = test { "&&" test }                     test = sum [ ( "==" "!=" "<" ... ) sum ]
 *   sum     = product { "+" | "-" product }          product = sign { "*" | "/" sign }
 *   sign    = [ "-" | "!" ] value { "." NAME | "[" formula "]" }
 *   value   = NUMBER | 'text' | "text" | "(" formula ")" | NAME [ "(" arguments ")" ]
 *
 * A text may have formulas in braces, with the digits after the point behind a colon, or with a g
 * before them those of the number: 'off by {100 * off:1} %', '{x:g3} B'. What is not chosen by ?:,
 * && and || is not evaluated, so a question that a formula does not need is not asked. A number
 * that is not there is NaN, and is false.
 *
 * Functions of numbers: min, max (NaN where all are), abs, floor, isnan; has(text, word).
 * Over the rows of the table at hand, or of a list ("models: ..."), whose NaN count for nothing:
 * sum, mean, count (of what is true), any, least, most, median, first, last; best(x, y): y of the
 * first row with the greatest x. largest(NAME, from, below, f): the greatest whole number NAME from
 * `from` on for which f is true, by halving.
 */
#ifndef FR_PAPERS_RUNNER_FORMULA_H
#define FR_PAPERS_RUNNER_FORMULA_H

#include "base/arena.h"
#include "base/yaml.h"

/* What is known of an answer: pairs of names and values. */
struct fr__field;

struct fr__value {
    double number;                  /* NaN: not there, or a text that is none */
    const char *text;               /* NULL: a number alone */
    const struct fr__field *fields; /* of an answer; ends with a NULL name */
    const struct fr__yaml *list;    /* of values in brackets */
};

struct fr__field {
    const char *name;
    struct fr__value value;
};

struct fr__value fr__value_number(double x);
struct fr__value
fr__value_of_text(const char *text); /* stays the caller's; a number if it is one */

/* What names stand for while a formula is read: the innermost scope first. */
struct fr__scope {
    const struct fr__scope *up;  /* NULL: the outermost */
    const struct fr__yaml *list; /* of rows; its row gives the columns' names values */
    size_t row;
    const char *name; /* or one number; NULL: none */
    double number;
};

struct fr__formula_context {
    struct fr__arena *arena; /* for texts that are made */
    void *user;
    /* The value of a name that no scope has. FR_ENOENT: there is none. */
    enum fr_status (*find)(void *user, const char *name, struct fr_loc loc,
                           const struct fr__scope *scope, struct fr__value *out,
                           struct fr_error *err);
    /* Calls use for each row of that list, or of the table at hand (NULL), until it fails. */
    enum fr_status (*each)(void *user, const char *list, struct fr_loc loc,
                           const struct fr__scope *scope,
                           enum fr_status (*use)(void *what, const struct fr__scope *scope,
                                                 struct fr_error *err),
                           void *what, struct fr_error *err);
    uint64_t n_left; /* words that may still be read, so that no formula takes for ever */
    unsigned depth;
};

/* FR_EPARSE, FR_ERANGE (too deep, too much) with the place; as find. */
enum fr_status fr__formula(struct fr__formula_context *c, const struct fr__yaml *node,
                           const struct fr__scope *scope, struct fr__value *out,
                           struct fr_error *err);
/* The node's text, with what its braces say. */
enum fr_status fr__formula_text(struct fr__formula_context *c, const struct fr__yaml *node,
                                const struct fr__scope *scope, const char **out,
                                struct fr_error *err);

#endif
