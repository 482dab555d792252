/* jobfile/shell.h - what a shell script would run, without running anything.
 *
 * The script is read as bash reads it: assignments, arrays, expansions with defaults, arithmetic,
 * conditions, case, for over words, functions, here-documents, eval and bash -c. No process is
 * started and no file is opened; a file that `source` names is read where it is among the files
 * given.
 *
 * What is known only when the script runs (variables of the environment, arguments, output of
 * commands) is *unknown*: a word that holds such a part says the variable's name, so that whoever
 * needs the word can ask for it. Of an unknown condition the part behind `else` is taken, and a
 * note says so; -z and -n take a variable that nobody set for empty, and an exit for that reason
 * for a sign that somebody will set it. Loops that count or wait (while, for ((;;))) are left out,
 * with a note.
 *
 * Each letter of a word knows the line and column where it was written, through any number of
 * variables.
 */
#ifndef FR_STUDY_JOB_SHELL_H
#define FR_STUDY_JOB_SHELL_H

#include "base/arena.h"
#include "base/base.h"

enum {
    FR__SHELL_MOST_FILES = 16,
    FR__SHELL_MOST_BYTES = 1 << 20, /* of a file */
    FR__SHELL_MOST_CELLS = 1 << 21, /* letters that all expansions together give */
    FR__SHELL_MOST_DEPTH = 40       /* of blocks, sources, eval and functions in each other */
};

struct fr__shell_text {
    const char *name; /* a path */
    const char *text;
    size_t len;
};

/* A variable whose value is known from outside; no assignment in a script changes it. */
struct fr__shell_value {
    const char *name, *value;
};

struct fr__shell_input {
    const struct fr__shell_text *files; /* [n_files]; the first that no other sources is run */
    size_t n_files;
    const struct fr__shell_value *values; /* [n_values] */
    size_t n_values;
};

struct fr__shell_word {
    const char *text; /* an unknown part is written as "?" */
    struct fr_loc loc;
    const char *unknown; /* the variable that has no value; NULL: all is known */
};

struct fr__shell_command {
    const struct fr__shell_word *words; /* [n] */
    size_t n;
};

/* A here-document that is written to a file. */
struct fr__shell_made {
    struct fr__shell_word name, body;
};

struct fr__shell_note {
    struct fr_loc loc;
    const char *text;
};

struct fr__shell {
    const struct fr__shell_command *commands; /* [n_commands], in the order in which they run */
    size_t n_commands;
    const struct fr__shell_word *directives; /* words of #SBATCH lines */
    size_t n_directives;
    const struct fr__shell_made *made;
    size_t n_made;
    const struct fr__shell_note *notes;
    size_t n_notes;
};

/* Everything lives in the arena; names of files are not copied. FR_EPARSE: a quote or a block that
 * does not end, too deep, at file:line:column; FR_ERANGE: expansions grow too large; FR_ENOMEM. */
enum fr_status fr__shell_read(struct fr__arena *a, const struct fr__shell_input *in,
                              struct fr__shell *out, struct fr_error *err);
#endif
