/* papers/runner/reader.h - a formula that is being read, its words (reader.c), and the functions
 * over rows (over.c). */
#ifndef FR_PAPERS_RUNNER_READER_H
#define FR_PAPERS_RUNNER_READER_H

#include "papers/runner/formula.h"

enum { FR__FORMULA_NAME = 32 };

struct fr__reader {
    struct fr__formula_context *c;
    /* Reads a formula, also for the arguments of functions. */
    enum fr_status (*read)(struct fr__reader *r, struct fr__value *out, struct fr_error *err);
    const struct fr__scope *scope;
    const char *at, *whole;
    struct fr_loc loc;
    bool skips; /* read, not computed: a branch that is not taken */
};

/* FR_EPARSE, with the place in the formula. */
enum fr_status fr__reader_fail(const struct fr__reader *r, const char *what, struct fr_error *err);
/* Blanks, then the word, if it stands there. */
bool fr__reader_take(struct fr__reader *r, const char *word);
bool fr__reader_take_name(struct fr__reader *r, char name[FR__FORMULA_NAME]);
enum fr_status fr__reader_expect(struct fr__reader *r, const char *word, struct fr_error *err);
/* A number that is there and not 0. */
bool fr__value_is_true(struct fr__value v);

/* Reads the arguments of a function over rows (over.c), up to its closing bracket. *is_one: false
 * where no such function has this name, and nothing was read. */
enum fr_status fr__reader_over(struct fr__reader *r, const char *name, bool *is_one,
                               struct fr__value *out, struct fr_error *err);

#endif
