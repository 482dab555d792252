/* jobfile/shell_state.h - what the files of the shell's reader share.
 *
 *   shell_files.c       the files, and what Slurm is told
 *   shell.c             lists of commands and blocks: what runs
 *   shell_command.c     one command: assignments, redirections, builtins
 *   shell_words.c       a word with its quotes
 *   shell_parameters.c  ${NAME}
 *   shell_arithmetic.c  $(( ))
 *   shell_test.c        [ ], [[ ]]
 *   shell_values.c      letters, variables, notes
 */
#ifndef FR_STUDY_JOB_SHELL_STATE_H
#define FR_STUDY_JOB_SHELL_STATE_H

#include "base/error.h"
#include "jobfile/shell.h"

enum { FR__SHELL_NAME = 128 };

/* A letter, and where it was written. */
struct fr__cell {
    char c;
    uint8_t file;
    uint16_t unknown; /* 1 + its number among the names without a value; 0: a letter */
    uint32_t line, col;
};

struct fr__cells {
    struct fr__cell *at;
    size_t n, cap;
};

struct fr__fields {
    struct fr__cells *at;
    size_t n, cap;
};

struct fr__shell_variable {
    const char *name;
    struct fr__fields fields; /* one, but of an array */
    bool is_array, is_fixed;
};

struct fr__shell_function {
    const char *name;
    struct fr__cells body; /* from its first command to the end of the file */
};

/* The letters that are run, and the next of them. */
struct fr__scan {
    struct fr__cells text;
    size_t i;
    size_t next_body; /* behind the here-documents of this line; 0: none */
    bool is_live;     /* else it is only read over */
};

/* What a condition, or the last command, says. */
enum fr__truth { FR__FALSE, FR__TRUE, FR__UNKNOWN };

struct fr__shell_state {
    struct fr__arena *arena;
    const struct fr__shell_input *in;
    bool is_sourced[FR__SHELL_MOST_FILES];
    const char **unknowns;
    struct fr__shell_variable *variables;
    struct fr__shell_function *functions;
    struct fr__shell_command *commands;
    struct fr__shell_word *directives;
    struct fr__shell_made *made;
    struct fr__shell_note *notes;
    size_t n_unknowns, cap_unknowns, n_variables, cap_variables, n_functions, cap_functions;
    size_t n_commands, cap_commands, n_directives, cap_directives, n_made, cap_made;
    size_t n_notes, cap_notes;
    size_t n_cells; /* made so far */
    unsigned depth;
    bool has_ended;     /* exit */
    bool has_assumed;   /* a condition took a variable that nobody set for empty */
    unsigned n_assumed; /* blocks that run for that: their exits mean that somebody will set it */
    struct fr_error *err;
};

/* ---- shell_values.c ---- */

/* Room for one more of n elements in an array of the arena. FR_ENOMEM. */
enum fr_status fr__shell_room(struct fr__shell_state *s, void *array, size_t n, size_t *cap,
                              size_t size);
enum fr_status fr__cells_add(struct fr__shell_state *s, struct fr__cells *to, struct fr__cell c);
enum fr_status fr__cells_append(struct fr__shell_state *s, struct fr__cells *to,
                                const struct fr__cells *from);
enum fr_status fr__fields_add(struct fr__shell_state *s, struct fr__fields *to,
                              struct fr__cells cells);
/* A place that only the run knows, as a letter at `where`. name: copied. */
enum fr_status fr__cells_add_unknown(struct fr__shell_state *s, struct fr__cells *to,
                                     const char *name, struct fr__cell where);
/* The name of the first unknown letter; NULL: none. */
const char *fr__cells_unknown(const struct fr__shell_state *s, const struct fr__cells *c);
bool fr__cells_are(const struct fr__cells *c, const char *text);
struct fr_loc fr__cell_loc(const struct fr__shell_state *s, const struct fr__cell *c);
/* NULL: out of memory. */
char *fr__cells_text(struct fr__shell_state *s, const struct fr__cells *c);
enum fr_status fr__cells_word(struct fr__shell_state *s, const struct fr__cells *c,
                              struct fr__shell_word *out);
/* All fields with blanks between them. */
enum fr_status fr__fields_join(struct fr__shell_state *s, const struct fr__fields *f,
                               struct fr__cells *out);

struct fr__shell_variable *fr__shell_find(struct fr__shell_state *s, const char *name);
/* Sets it, or adds to it; a value from outside stays. An unknown value without a name of its own
 * gets that of the variable. */
enum fr_status fr__shell_assign(struct fr__shell_state *s, const char *name,
                                const struct fr__fields *fields, bool is_array, bool adds);
enum fr_status fr__shell_note(struct fr__shell_state *s, struct fr_loc loc, const char *text);

struct fr_loc fr__scan_loc(const struct fr__shell_state *s, const struct fr__scan *x);
bool fr__scan_has(const struct fr__scan *x, const char *text);
bool fr__is_name_letter(char c, bool is_first);
/* The letter there, '?' for an unknown one, or NUL past the end. */
char fr__scan_at(const struct fr__scan *x, size_t ahead);
struct fr__cells fr__scan_piece(const struct fr__scan *x, size_t first, size_t last);

/* ---- shell_words.c ---- */

/* The word at x->i, expanded, as any number of fields. */
enum fr_status fr__shell_word_read(struct fr__shell_state *s, struct fr__scan *x,
                                   struct fr__fields *out);
/* The same as one field that is never split: a value that is assigned. */
enum fr_status fr__shell_value_read(struct fr__shell_state *s, struct fr__scan *x,
                                    struct fr__cells *out);
/* Text as between double quotes, to its end: a here-document. */
enum fr_status fr__shell_expand(struct fr__shell_state *s, const struct fr__cells *text,
                                struct fr__cells *out);
/* From behind an opening sign to behind its closing one, quotes and inner pairs read over.
 * *first, *last: what is between. FR_EPARSE at `from`: it does not end. */
enum fr_status fr__shell_balanced(struct fr__shell_state *s, struct fr__scan *x, char open,
                                  char close, size_t *first, size_t *last);

/* Text inside ${ } or $(( )) as one field. */
enum fr_status fr__shell_inner(struct fr__shell_state *s, struct fr__cells text, bool is_live,
                               struct fr__cells *out);

/* ---- shell_parameters.c ---- */

/* What an expansion gives. */
struct fr__expansion {
    struct fr__fields parts;
    bool is_list; /* "$@": a field each, quoted too */
};

bool fr__is_special(char c); /* of names: $@ $# ... */
/* A name, a number or a special sign at x. */
void fr__shell_name_read(struct fr__scan *x, char name[FR__SHELL_NAME]);
enum fr_status fr__give_unknown(struct fr__shell_state *s, const char *name, struct fr__cell where,
                                struct fr__expansion *e);
/* $((text)) and ${text}; where: the '$'. Values by := are kept only where is_live. */
enum fr_status fr__expand_sum(struct fr__shell_state *s, struct fr__cells text, bool is_live,
                              struct fr__cell where, struct fr__expansion *e);
enum fr_status fr__expand_parameter(struct fr__shell_state *s, struct fr__cells text, bool is_live,
                                    struct fr__cell where, struct fr__expansion *e);

/* ---- shell_arithmetic.c ---- */

/* *unknown: the variable that lacks a value, or "" where the expression is none that is known
 * here; NULL: *out holds. */
enum fr_status fr__shell_arithmetic(struct fr__shell_state *s, const char *text, int64_t *out,
                                    const char **unknown);

/* ---- shell_command.c ---- */

/* One command with its words and redirections; leaves x behind it. *truth: what it says. */
enum fr_status fr__shell_command_read(struct fr__shell_state *s, struct fr__scan *x,
                                      enum fr__truth *truth);

/* ---- shell_files.c ---- */

/* Runs the file of that name, by its last part, where it is among the inputs. *is_known: it was. */
enum fr_status fr__shell_source(struct fr__shell_state *s, const char *name, bool *is_known);

/* ---- shell.c ---- */

/* Runs letters as a script of its own. */
enum fr_status fr__shell_run(struct fr__shell_state *s, struct fr__cells text);
/* Over blanks, and backslashes before ends of lines. */
void fr__scan_blanks(struct fr__scan *x);
/* Over one end of a line and the here-documents behind it. */
void fr__scan_line(struct fr__scan *x);

/* ---- shell_test.c ---- */

/* words: between the brackets. */
enum fr__truth fr__shell_test(struct fr__shell_state *s, const struct fr__shell_word words[],
                              size_t n);
/* Whether text matches a pattern of *, ? and [..]. */
bool fr__shell_matches(const char *pattern, const char *text);
#endif
