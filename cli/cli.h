/* cli/cli.h - what the files of the command share.
 *
 * Only this folder talks to the terminal, catches signals and chooses exit statuses. What can be
 * asked, and how an answer is made, is api/'s.
 */
#ifndef FR_CLI_CLI_H
#define FR_CLI_CLI_H

#include "api/verbs/verbs.h"

/* ---- main.c ---- */

/* The whole command; returns its exit status. argv[0]: the program's name. Once a process. */
int cli_main(int argc, char *argv[]);

/* ---- examples.c ---- */

/* argv with examples/... as the installed file where there is none here; NULL: out of memory. */
char **cli_find_examples(int argc, char *const argv[]);
void cli_free_words(char **words);

/* ---- output.c ---- */

/* How many characters a line of standard output has: the variable COLUMNS, else the terminal's. 0:
 * any number, as in a file. */
size_t cli_width(void);
/* "forerun: FILE:LINE: what is wrong" on standard error. */
void cli_say_error(const struct fr_error *err);

/* ---- terminal.c ---- */

/* The process' streams, and what stands in for them. */
struct cli_terminal {
    void *filters;
    FILE *out, *err, *clean_out, *clean_err;
};
/* From here on what a terminal would act on is written to standard output and standard error as
 * \x0d or \u202e. */
bool cli_terminal_begin(struct cli_terminal *t);
/* Puts the process' own streams back, after the last output. */
void cli_terminal_end(struct cli_terminal *t);
/* Writes a text of our own around that, behind what was printed to the usual stream. FR_EIO. */
enum fr_status cli_terminal_raw(FILE *usual, int fd, const char *text, struct fr_error *err);

/* ---- colour.c ---- */

/* Whether a terminal there shows colours and the user wants them (NO_COLOR). */
bool cli_has_colour(int file);
/* The text with its first line, titles and words of good and bad news marked. */
void cli_put_coloured(FILE *f, const char *text);

/* A text for standard output, which is coloured as a whole where it shows. */
struct cli_page {
    FILE *f;
    char *text;
    size_t length;
    bool is_coloured;
};
FILE *cli_page_open(struct cli_page *p);
/* st: what printing returned; unless FR_OK nothing is shown and it is returned. FR_ENOMEM, FR_EIO
 * */
enum fr_status cli_page_close(struct cli_page *p, enum fr_status st, struct fr_error *err);

/* ---- help.c ---- */

void cli_print_help(FILE *f, const struct fr__verb verbs[], size_t n);
void cli_print_group_help(FILE *f, const struct fr__verb verbs[], size_t n, const char *group);
/* is_whole: all options and strategies; else what fits a screen, if it does not. */
void cli_print_verb_help(FILE *f, const struct fr__verb *v, bool is_whole);
/* Whether one of the words, "--all", asks for all of it. */
bool cli_wants_whole_help(int n, char *const words[]);
/* Help on a word that is no command: a strategy, a machine, another name of one. false: none. */
bool cli_print_word_help(FILE *f, const char *word);

/* ---- man.c ---- */

/* The manual page of a verb or a group; false: no such word. */
bool cli_print_man(FILE *f, const struct fr__verb verbs[], size_t n, const char *word);

/* ---- completion.c ---- */

/* Prints what may stand for the last of the words, a line each. */
void cli_complete(const struct fr__verb verbs[], size_t n, int argc, char *const argv[]);

/* ---- signals.c ---- */

/* SIGINT and SIGTERM ask for a clean end, a second one kills; SIGPIPE ends quietly. */
void cli_catch_signals(void);
const volatile int *cli_cancel_flag(void);
int cli_signal_caught(void); /* 0: none */

/* ---- progress.c: one line on a terminal's standard error, for work longer than a second ---- */

struct progress {
    double start_s, shown_s; /* monotonic clock */
    const struct fr__call *call;
    bool is_on, is_shown;
    /* How fast it goes and how long it will take is told by what was done since the first call. */
    bool is_counting;
    double first_s;
    uint64_t first_done;
};
/* p->call is set. */
void cli_progress_init(struct progress *p, bool is_quiet);
void cli_progress(void *progress, const char *what, uint64_t done, uint64_t total);
/* Wipes the line; before anything else is printed. */
void cli_progress_end(struct progress *p);

#endif
