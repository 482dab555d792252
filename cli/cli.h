/* cli/cli.h - what the verbs of the command share.
 *
 * Only this folder talks to the terminal and chooses exit statuses. A verb computes everything,
 * writes its files, and prints last: on an error standard output stays empty.
 */
#ifndef FR_CLI_CLI_H
#define FR_CLI_CLI_H

#include "base/base.h"
#include "results/draw.h"
#include "results/results.h"
#include "results/schedules.h"
#include "results/search_answer.h"
#include "study/comm/comm.h"

/* Exit statuses; after a signal it is 128 plus its number, as shells count. */
enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,   /* something failed while running */
    CLI_USAGE = 2,    /* wrong usage or bad input */
    CLI_NO_MEMORY = 3 /* done, but nothing fits in the devices' memory */
};

/* Which options a verb takes: a sum of groups. */
enum option_group {
    OPTIONS_COMMON = 1,  /* help, version, quiet, verbose */
    OPTIONS_SHAPE = 2,   /* of a workload: batch, precision, sequence and image size */
    OPTIONS_PROBLEM = 4, /* workload, cluster and strategy */
    OPTIONS_RUN = 8,     /* how the engine runs a plan */
    OPTIONS_FILES = 16,
    OPTIONS_JSON = 32,
    OPTIONS_LAYERS = 64,   /* of graph show */
    OPTIONS_PICTURE = 128, /* the file of a drawing */
    OPTIONS_OPS = 256,     /* which ops of a graph are drawn */
    OPTIONS_ADVICE = 512,  /* of simulate */
    OPTIONS_SWEEP = 1024,  /* settings of the question make a grid */
    OPTIONS_DEVICE = 2048, /* a device and its GPU's names in data */
    OPTIONS_ROWS = 4096,   /* which rows of data */
    OPTIONS_VALIDATE = 8192,
    OPTIONS_FITS = 16384,    /* pictures of fit against data */
    OPTIONS_EXPLAIN = 32768, /* which ops are told of */
    OPTIONS_COSTS = 65536,   /* whence costs come */
    OPTIONS_ANSWER = 131072, /* what else to find out in an answer */
    OPTIONS_LEARN = 262144,
    OPTIONS_GPUS = 524288, /* which GPUs of a cluster */
    OPTIONS_SCHEDULE = 1048576,
    OPTIONS_SCHEDULE_DRAW = 2097152,
    OPTIONS_SCHEDULE_COMMS = 4194304,
    OPTIONS_EXCHANGE = 8388608,  /* files of a cluster */
    OPTIONS_IMPORT = 16777216,   /* what a file of another tool leaves out */
    OPTIONS_WHOLE = 33554432,    /* the whole training run */
    OPTIONS_COMM = 67108864,     /* sizes of a collective, and how it goes */
    OPTIONS_COMPARE = 134217728, /* why strategies differ */
    OPTIONS_DIFF = 268435456,    /* files of a difference */
    OPTIONS_RANDOM = 536870912,  /* the file of a random graph */
    OPTIONS_SEARCH = 1073741824  /* the space of a search */
};

enum {
    CLI_MAX_STRATEGIES = 64,
    CLI_MAX_FILES = 16,
    CLI_MAX_ARGUMENTS = 256,
    CLI_MAX_GPUS = 16,
    CLI_MAX_STAGES = 256,
    CLI_MAX_SIZES = 4096,
    CLI_MAX_WAYS = 16,
    CLI_MAX_AXES = 32,
    CLI_MAX_GIVEN = 256
};

/* The values that a setting was given, in order. */
struct cli_variation {
    const char *name;
    const char *values[CLI_MAX_FILES];
    size_t n;
    bool is_of_run; /* how plans are run, not what is asked */
};

/* The value of an option that takes one. */
struct cli_given {
    const char *name, *value;
};

struct options {
    struct fr_question question; /* but for the strategy */
    bool takes_several; /* compare only: settings may have several values, which are noted: */
    struct cli_variation variations[FR_N_SETTINGS];
    size_t n_variations;
    struct cli_given given[CLI_MAX_GIVEN]; /* by options that take one value */
    size_t n_given;
    const char *strategies[CLI_MAX_STRATEGIES];
    const char *files[CLI_MAX_FILES];
    const char *arguments[CLI_MAX_ARGUMENTS];
    size_t n_strategies, n_files, n_arguments;
    const char *gpu_type; /* of topo import; NULL: what the file says */
    struct fr_draw_graph_options drawing;
    bool json, layers, no_advice, quiet, verbose, help, version;
    bool grey; /* pictures */
    struct fr_trace_options trace;
    struct fr_sweep_terms terms; /* of the whole training run */
    /* sweeps only */
    struct fr_sweep *sweep; /* gets the settings instead of the question; else NULL */
    struct fr_sweep_table table;
    double memory_bytes; /* --memory-limit; 0: what is free, INFINITY: none */
    const char *store;
    unsigned n_jobs;
    bool dry_run;
    /* explain only */
    size_t most_ops; /* 0: all */
    const char *op;  /* NULL: all */
    /* calibrate only */
    const char *gpus[CLI_MAX_GPUS]; /* names in data */
    const char *device;             /* NULL: not given */
    const char *from;               /* a measured device in its place; NULL: not given */
    const char *system;             /* whose collectives; NULL: not given */
    const char *rows_of;            /* a system in data; NULL: the one that was fitted */
    uint64_t min_bytes;             /* of collectives */
    size_t n_gpus;
    bool all;      /* sweeps too */
    bool anchored; /* validate only */
    struct fr_learn_options learning;
    /* schedule only */
    struct fr_schedule_spec schedule; /* but for the name */
    struct fr_schedule_times times;
    bool has_times, is_one_model, has_comms;
    double stage_scale[CLI_MAX_STAGES];
    size_t n_stage_scale; /* 0: not given */
    /* comm only; 0: not given */
    uint64_t comm_min_bytes, comm_max_bytes, comm_step_bytes;
    uint32_t comm_factor;
    uint64_t comm_sizes[CLI_MAX_SIZES];
    size_t n_comm_sizes;
    const struct fr_comm_type *comm_type; /* NULL: float */
    const char *comm_op;                  /* NULL: sum */
    const char *comm_ways[CLI_MAX_WAYS];  /* algorithms by hand; NULL: as for none */
    size_t n_comm_ways;
    char comm_way_text[1024]; /* their names, one after the other */
    size_t n_comm_way_text;
    bool comm_links, comm_explain;
    /* search only */
    const char *axes[CLI_MAX_AXES]; /* of its space: "tp=4,8" */
    size_t n_axes, n_best;
    const char *why_layout; /* "tp=8,pp=16": what became of such layouts; NULL */
    double within_frac;
    bool exhaustive;
    enum fr_framework flags_of; /* FR_N_FRAMEWORKS: none */
    bool why;                   /* compare only: why the others take longer than the first */
};

struct fr__json; /* base/json.h */

struct session {
    struct options options;
    struct fr_context context; /* cancelled by signals; shows progress */
    int status;                /* exit status of a verb that ends with FR_OK */
    bool lacks_file;           /* one could not be written: then it is CLI_FAILED at best */
};

/* One verb, or one of a group ("topo show"). */
struct verb {
    const char *group; /* NULL: stands alone */
    const char *name, *arguments, *summary;
    const char *examples;    /* whole lines */
    unsigned options;        /* groups */
    size_t n_arguments;      /* exactly, or */
    bool has_more_arguments; /* at least */
    /* the files that it writes, for help: ending, and a line about it; NULL past the end. NULL: the
     * options say it */
    const char *(*format)(size_t i, const char **summary);
    enum fr_status (*run)(struct session *s, struct fr_error *err);
};

/* ---- main.c ---- */

/* The whole command; returns its exit status. argv[0]: the program's name. Once a process. */
int cli_main(int argc, char *argv[]);

/* ---- parse.c ---- */

/* argv[0..argc) after the verb's words. */
enum fr_status cli_parse_options(struct options *o, const struct verb *v, int argc,
                                 char *const argv[], struct fr_error *err);

/* ---- options.c ---- */

/* The rows of help about a verb's options. */
void cli_print_options(FILE *f, unsigned groups);

/* An option of the table. */
struct cli_option {
    char letter; /* 0: none */
    const char *name, *argument, *help;
    size_t which; /* its row */
};
/* Sets the option of that row; value: NULL for one that takes none. Errors name the option. */
enum fr_status cli_set_option(struct options *o, size_t which, const char *value,
                              struct fr_error *err);
/* The options of a verb's groups, one after the other: *at starts at 0. false: no more. */
bool cli_next_option(unsigned groups, size_t *at, struct cli_option *out);

/* What o's question is to find out about sensitivities: its files may show them. */
enum fr_sensitivity cli_sensitivity(const struct options *o);

/* ---- options_learn.c, options_schedule.c: setters of single options ---- */

enum fr_status cli_set_rounds(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_measured(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_profiles(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_every(struct options *o, const char *value, struct fr_error *err);
/* cli/options/answer.c */
/* Keeps the value of a setting: compare asks for each that it is given. */
enum fr_status cli_note_value(struct options *o, const char *name, const char *value,
                              bool is_of_run, struct fr_error *err);
enum fr_status cli_set_seeds(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_sensitivity(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_uncertainty(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_why_uncertain(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_sensitivity_rerun(struct options *o, const char *value,
                                         struct fr_error *err);
enum fr_status cli_set_trace_ranks(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_trace_micro(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_memory_limit(struct options *o, const char *value, struct fr_error *err);
/* cli/options/sweep.c */
enum fr_status cli_set_store(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_add_prices(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_samples(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_tokens(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_deadline(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_jobs(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_add_columns(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_shard(struct options *o, const char *value, struct fr_error *err);
/* cli/options/search.c */
enum fr_status cli_set_top(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_within(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_add_axis(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_why_layout(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_exhaustive(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_flags_of(struct options *o, const char *value, struct fr_error *err);
/* cli/options/comm.c */
enum fr_status cli_set_comm_min(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_comm_max(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_comm_factor(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_comm_step(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_add_comm_sizes(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_comm_type(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_comm_op(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_comm_links(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_comm_explain(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_add_comm_way(struct options *o, const char *value, struct fr_error *err);
/* A reduction by its name, else a file to write. */
enum fr_status cli_add_comm_output(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_eps(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_activation(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_drift(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_ranks(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_virtual(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_micros(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_group(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_backward(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_vertical_sync(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_times(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_comms(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_one_model(struct options *o, const char *value, struct fr_error *err);
enum fr_status cli_set_stage_scale(struct options *o, const char *value, struct fr_error *err);

/* ---- command.c ---- */

/* argv quoted for a shell, its first word as "forerun"; the caller frees it. NULL: out of
 * memory. */
char *cli_command_line(int argc, char *const argv[]);

/* ---- examples.c ---- */

/* argv with examples/... as the installed file where there is none here; NULL: out of memory. */
char **cli_find_examples(int argc, char *const argv[]);
void cli_free_words(char **words);

/* ---- colour.c ---- */

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

void cli_print_help(FILE *f, const struct verb verbs[], size_t n);
void cli_print_group_help(FILE *f, const struct verb verbs[], size_t n, const char *group);
/* is_whole: all options and strategies; else what fits a screen, if it does not. */
void cli_print_verb_help(FILE *f, const struct verb *v, bool is_whole);
/* Whether one of the words, "--all", asks for all of it. */
bool cli_wants_whole_help(int n, char *const words[]);
/* Help on a word that is no command: a strategy, a machine, another name of one. false: none. */
bool cli_print_word_help(FILE *f, const char *word);
/* Formats of verbs that write no answers of single questions, as fr_results_format. */
const char *cli_tables_format(size_t i, const char **summary); /* of reproduce, and of search */
const char *cli_device_format(size_t i, const char **summary); /* of calibrate fit */

/* ---- man.c ---- */

/* The manual page of a verb or a group; false: no such word. */
bool cli_print_man(FILE *f, const struct verb verbs[], size_t n, const char *word);

/* ---- completion.c ---- */

/* Prints what may stand for the last of the words, a line each. */
void cli_complete(const struct verb verbs[], size_t n, int argc, char *const argv[]);

/* ---- signals.c ---- */

/* SIGINT and SIGTERM ask for a clean end, a second one kills; SIGPIPE ends quietly. */
void cli_catch_signals(void);
const volatile int *cli_cancel_flag(void);
int cli_signal_caught(void); /* 0: none */

/* ---- progress.c: one line on a terminal's standard error, for work longer than a second ---- */

struct progress {
    double start_s, shown_s; /* monotonic clock */
    const char *prefix;      /* what the work is for; may be NULL */
    bool is_on, is_shown;
    /* Adds how fast it goes and how long it will take, by what was done since the first call. */
    bool with_time_left, is_counting;
    double first_s;
    uint64_t first_done;
};
void cli_progress_init(struct progress *p, bool is_quiet);
void cli_progress(void *progress, const char *what, uint64_t done, uint64_t total);
/* Wipes the line; before anything else is printed. */
void cli_progress_end(struct progress *p);

/* ---- the verbs ---- */

enum fr_status cli_simulate(struct session *s, struct fr_error *err);
enum fr_status cli_compare(struct session *s, struct fr_error *err);
enum fr_status cli_search(struct session *s, struct fr_error *err);
enum fr_status cli_explain(struct session *s, struct fr_error *err);
enum fr_status cli_diff(struct session *s, struct fr_error *err);
enum fr_status cli_completion(struct session *s, struct fr_error *err);
enum fr_status cli_sweep(struct session *s, struct fr_error *err);
enum fr_status cli_sweep_merge(struct session *s, struct fr_error *err);
enum fr_status cli_topo_list(struct session *s, struct fr_error *err);
enum fr_status cli_topo_show(struct session *s, struct fr_error *err);
enum fr_status cli_topo_check(struct session *s, struct fr_error *err);
enum fr_status cli_comm(struct session *s, struct fr_error *err);
enum fr_status cli_topo_time(struct session *s, struct fr_error *err);
enum fr_status cli_topo_import(struct session *s, struct fr_error *err);
enum fr_status cli_topo_export(struct session *s, struct fr_error *err);
enum fr_status cli_topo_draw(struct session *s, struct fr_error *err);
/* What was assumed of an imported file, for people and for programs; nothing where it was not. */
struct fr__json;
void cli_topo_print_notes(const struct fr_topo *t);
void cli_topo_write_notes(struct fr__json *j, const struct fr_topo *t);
enum fr_status cli_graph_list(struct session *s, struct fr_error *err);
enum fr_status cli_graph_show(struct session *s, struct fr_error *err);
enum fr_status cli_graph_check(struct session *s, struct fr_error *err);
enum fr_status cli_graph_export(struct session *s, struct fr_error *err);
enum fr_status cli_graph_draw(struct session *s, struct fr_error *err);
enum fr_status cli_graph_random(struct session *s, struct fr_error *err);
enum fr_status cli_validate(struct session *s, struct fr_error *err);
enum fr_status cli_reproduce(struct session *s, struct fr_error *err);
enum fr_status cli_learn(struct session *s, struct fr_error *err);
/* What each fusion did: groups that became one op each, ops and their traffic before and after.
 * Nothing where none did anything. */
void cli_print_fusions(const struct fr_graph *g);
/* How many transposes the graph's layout makes or spares; nothing where it has none. */
void cli_print_layout(const struct fr_graph *g);
enum fr_status cli_recipe_list(struct session *s, struct fr_error *err);
enum fr_status cli_recipe_show(struct session *s, struct fr_error *err);
enum fr_status cli_schedule_list(struct session *s, struct fr_error *err);
enum fr_status cli_schedule_show(struct session *s, struct fr_error *err);
enum fr_status cli_schedule_draw(struct session *s, struct fr_error *err);
enum fr_status cli_schedule_check(struct session *s, struct fr_error *err);
enum fr_status cli_calibrate_fit(struct session *s, struct fr_error *err);
enum fr_status cli_calibrate_check(struct session *s, struct fr_error *err);
enum fr_status cli_calibrate_show(struct session *s, struct fr_error *err);
/* of the collectives of a system */
enum fr_status cli_system_fit(const struct options *o, struct fr_error *err);
enum fr_status cli_system_check(struct session *s, struct fr_error *err);
enum fr_status cli_system_show(const char *name, struct fr_error *err);
enum fr_status cli_system_list(struct fr_error *err);
bool cli_is_system(const char *name_or_path); /* a shipped one's name, or a file of one */

/* ---- graph.c ---- */

/* The workload that the first argument names, with the options about its shape; the caller frees
 * it. */
enum fr_status cli_load_graph(const struct session *s, struct fr_graph **g, struct fr_error *err);

/* ---- stages.c ---- */

/* Answers a question without a topology (fr_staging_is_for). */
enum fr_status cli_stages(struct session *s, const struct fr_question *q, struct fr_error *err);

/* ---- layers.c: a row for each layer of a graph ---- */

/* totals: [n_layers], as fr_graph_layer_totals gives them. */
void cli_print_layers(const struct fr_graph *g, const struct fr_layer_totals totals[]);
/* An array of objects, key "by_layer", into an object that is open. */
void cli_write_layers(struct fr__json *j, const struct fr_graph *g,
                      const struct fr_layer_totals totals[]);

/* ---- draw.c ---- */

/* Makes a picture of each -o file from the DOT text in `dot`, or prints the text if there is no -o
 * file. is_placed: as fr_draw_topo writes it. */
enum fr_status cli_write_drawing(struct session *s, FILE *dot, bool is_placed,
                                 struct fr_error *err);
/* Opens a file for that text, after the names of the -o files were checked. */
enum fr_status cli_open_drawing(const struct session *s, FILE **dot, struct fr_error *err);

/* ---- output.c ---- */

/* Refuses outputs that are inputs too; argv: the words behind the command's name. */
enum fr_status cli_check_overwrite(const struct options *o, int argc, char *const argv[],
                                   struct fr_error *err);
/* Refuses files with unknown endings before long work starts. */
enum fr_status cli_check_files(const struct options *o, bool is_comparison, struct fr_error *err);
/* FR_EUSAGE unless what was said of the whole run goes together. */
enum fr_status cli_check_terms(const struct options *o, struct fr_error *err);
/* Refuses, for a command that asks of several strategies, a step measured on several GPUs that does
 * not say by which. FR_EUSAGE. */
enum fr_status cli_check_measured(const struct options *o, struct fr_error *err);
#define FR__TOKENS_AND_SAMPLES "a run is as long as its tokens or its samples say, not both"
/* What became of one -o file. One that cannot be written, as for a picture without gnuplot, is told
 * at once and does not keep the others or the table from the user: FR_OK, and the program ends with
 * status 1. Other errors are returned. */
enum fr_status cli_file_done(struct session *s, enum fr_status st, struct fr_error *err);
/* "forerun: FILE:LINE: what is wrong" on standard error. */
void cli_say_error(const struct fr_error *err);
/* Writes the -o files, then prints the table or JSON. */
enum fr_status cli_write_results(struct session *s, const struct fr_results *rs,
                                 struct fr_error *err);
/* How many characters a line of standard output has: the variable COLUMNS, else the terminal's. 0:
 * any number, as in a file. */
size_t cli_width(void);
/* name and summary padded to a column. */
void cli_print_row(FILE *f, const char *name, int width, const char *summary);
#endif
