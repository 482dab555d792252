/* api/verbs/verbs.h - what can be asked: the table of verbs, and what a running one is given.
 *
 * A verb computes everything, writes its files, and prints last: on an error its stream stays
 * empty. It knows no terminal, signal or exit status. Who calls it says where its text goes.
 */
#ifndef FR_API_VERBS_VERBS_H
#define FR_API_VERBS_VERBS_H

#include "api/forerun.h"
#include "api/options/options.h"
#include "base/error.h"
#include "base/json.h"

/* ---- a running verb ---- */

/* What who calls a verb does for it. */
struct fr__caller {
    void *user;
    void (*end_progress)(void *user); /* before anything is printed, or told */
    /* tells of a file that could not be written: the verb goes on */
    void (*say_error)(void *user, const struct fr_error *err);
    /* a stream for text that a terminal may show in colours, and its end; st: what printing
     * returned. Unless FR_OK nothing is shown and it is returned. FR_ENOMEM, FR_EIO */
    FILE *(*open_page)(void *user);
    enum fr_status (*close_page)(void *user, enum fr_status st, struct fr_error *err);
};

/* Other processes that answer points of a sweep (cli/running/mpi.h). */
struct fr__others {
    bool (*is_follower)(void);
    enum fr_status (*start)(void **others, struct fr_error *err); /* NULL: there are none */
    void (*lead)(void *others, struct fr_sweep *s, const struct fr_context *ctx);
    bool (*serve)(void *others);
    void (*follow)(void *others, enum fr_status st, struct fr_sweep *s, unsigned n_threads,
                   const struct fr_context *ctx, struct fr_error *err);
    enum fr_status (*end)(void *others, enum fr_status st, struct fr_error *err);
};

struct fr__verb;

struct fr__call {
    struct fr__options options;
    const struct fr__verb *verb; /* that runs */
    const char *command;         /* as one would type it; reports show it */
    struct fr_context context;   /* what cancels it, and whom progress is told */
    FILE *out;                   /* the answer */
    FILE *notes;                 /* what is no part of the answer */
    size_t width;                /* characters in a line of text; 0: any number */
    const struct fr__caller *caller;
    const struct fr__others *others; /* NULL: none can be */
    enum fr_call_status status;      /* of a verb that ends with FR_OK */
    bool lacks_file;                 /* one could not be written: then FR_CALL_FAILED at best */
    /* of progress: what the work is for, NULL; whether the time that is left can be told */
    const char *progress_of;
    bool has_time_left;
};

/* ---- the table ---- */

/* One verb, or one of a group ("topo show"). */
struct fr__verb {
    const char *group; /* NULL: stands alone */
    const char *name, *arguments, *summary;
    const char *examples;    /* whole lines */
    uint64_t options;        /* groups */
    size_t n_arguments;      /* exactly, or */
    bool has_more_arguments; /* at least */
    /* the files that it writes, for help: those of a kind of answer, or ending and a line about it,
     * NULL past the end; neither: the options say it */
    enum fr_kind kind;
    const char *(*format)(size_t i, const char **summary);
    enum fr_status (*run)(struct fr__call *s, struct fr_error *err);
};

/* All of them. */
const struct fr__verb *fr__verbs(size_t *n);
/* The verb of that name in the group (NULL: outside of any), or NULL. */
const struct fr__verb *fr__verb_find(const char *group, const char *name);
/* "topo show" */
const char *fr__verb_name(const struct fr__verb *v, char *buf, size_t size);
/* FR_EUSAGE: the word is no verb, or none of the group (NULL: any); which one is meant. */
enum fr_status fr__verb_unknown(const char *group, const char *word, struct fr_error *err);
/* Runs it, with what --manifest asks before and after it. */
enum fr_status fr__verb_run(const struct fr__verb *v, struct fr__call *s, struct fr_error *err);

/* ---- parse.c ---- */

/* argv[0..argc) after the verb's words, into options that may have some already. */
enum fr_status fr__verb_parse(const struct fr__verb *v, struct fr__options *o, int argc,
                              char *const argv[], struct fr_error *err);
/* FR_EUSAGE: too few arguments. */
enum fr_status fr__verb_check_arguments(const struct fr__verb *v, const struct fr__options *o,
                                        struct fr_error *err);
/* ---- the verbs ---- */

enum fr_status fr__verb_simulate(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_compare(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_search(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_fit(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_job_show(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_explain(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_diff(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_completion(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_sweep(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_sweep_merge(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_topo_list(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_topo_show(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_topo_check(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_comm(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_topo_time(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_topo_import(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_topo_export(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_topo_draw(struct fr__call *s, struct fr_error *err);
/* What was assumed of an imported file, for people and for programs; nothing where it was not. */
void fr__topo_print_notes(FILE *f, const struct fr_topo *t);
void fr__topo_write_notes(struct fr__json *j, const struct fr_topo *t);
enum fr_status fr__verb_graph_list(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_graph_show(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_graph_check(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_graph_export(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_graph_draw(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_graph_random(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_validate(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_reproduce(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_learn(struct fr__call *s, struct fr_error *err);
/* What each fusion did: groups that became one op each, ops and their traffic before and after.
 * Nothing where none did anything. */
void fr__print_fusions(FILE *f, const struct fr_graph *g);
/* How many transposes the graph's layout makes or spares; nothing where it has none. */
void fr__print_layout(FILE *f, const struct fr_graph *g);
enum fr_status fr__verb_recipe_list(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_recipe_fit(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_recipe_show(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_schedule_list(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_schedule_show(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_schedule_draw(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_schedule_check(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_calibrate_fit(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_calibrate_check(struct fr__call *s, struct fr_error *err);
enum fr_status fr__verb_calibrate_show(struct fr__call *s, struct fr_error *err);
/* of the collectives of a system */
enum fr_status fr__system_fit(FILE *f, const struct fr__options *o, struct fr_error *err);
enum fr_status fr__system_check(struct fr__call *s, struct fr_error *err);
enum fr_status fr__system_show(FILE *f, const char *name, struct fr_error *err);
enum fr_status fr__system_list(FILE *f, struct fr_error *err);
bool fr__is_system(const char *name_or_path); /* a shipped one's name, or a file of one */

/* ---- graph.c ---- */

/* The workload that the first argument names, with the options about its shape; the caller frees
 * it. */
enum fr_status fr__load_graph(const struct fr__call *s, struct fr_graph **g, struct fr_error *err);

/* ---- stages.c ---- */

/* Answers a question without a topology (fr_staging_is_for). */
enum fr_status fr__verb_stages(struct fr__call *s, const struct fr_question *q,
                               struct fr_error *err);

/* ---- layers.c: a row for each layer of a graph ---- */

/* totals: [n_layers], as fr_graph_layer_totals gives them. */
void fr__print_layers(FILE *f, const struct fr_graph *g, const struct fr_layer_totals totals[]);
/* An array of objects, key "by_layer", into an object that is open. */
void fr__write_layers(struct fr__json *j, const struct fr_graph *g,
                      const struct fr_layer_totals totals[]);

/* ---- drawing.c ---- */

/* Makes each -o file of a drawing, or prints its DOT text if there is none; releases it. */
enum fr_status fr__write_drawing(struct fr__call *s, struct fr_drawing *d, struct fr_error *err);

/* ---- output.c ---- */

/* Says with a bare "out of memory" how much there was. */
void fr__call_explain_memory(const struct fr__call *s, struct fr_error *err);
enum fr_call_status fr__call_status(enum fr_status st);
/* FR_CALL_WARNED if --strict was given and a warning casts doubt on an answer; a note says which. */
enum fr_call_status fr__call_doubts(struct fr__call *s, const struct fr_record *const records[],
                                    size_t n);

/* A line "forerun: note: ..." among the notes. */
void fr__note(struct fr__call *s, const char *format, ...) FR_PRINTF(2, 3);
void fr__end_progress(struct fr__call *s);
/* The stream of a text that is coloured as a whole where it shows, and its end (fr__caller). */
FILE *fr__page_open(struct fr__call *s);
enum fr_status fr__page_close(struct fr__call *s, enum fr_status st, struct fr_error *err);
/* Refuses files with endings that the kind has not before long work starts. */
enum fr_status fr__check_files(const struct fr__options *o, enum fr_kind kind,
                               struct fr_error *err);
/* FR_EUSAGE unless what was said of the whole run goes together. */
enum fr_status fr__check_terms(const struct fr__options *o, struct fr_error *err);
/* Refuses, for a command that asks of several strategies, a step measured on several GPUs that does
 * not say by which. FR_EUSAGE. */
enum fr_status fr__check_measured(const struct fr__options *o, struct fr_error *err);
#define FR__TOKENS_AND_SAMPLES "a run is as long as its tokens or its samples say, not both"
/* What became of one -o file. One that cannot be written, as for a picture without gnuplot, is told
 * at once and does not keep the others or the table from the user: FR_OK, and the program ends with
 * status 1. Other errors are returned. */
enum fr_status fr__file_done(struct fr__call *s, enum fr_status st, struct fr_error *err);
/* Writes the -o files; then prints JSON or text. */
enum fr_status fr__show_files(struct fr__call *s, struct fr_shown x, struct fr_error *err);
enum fr_status fr__show(struct fr__call *s, struct fr_shown x, struct fr_error *err);
/* The same of records, with notes about traces. */
enum fr_status fr__write_results(struct fr__call *s, const struct fr_results *rs,
                                 struct fr_error *err);
/* name and summary padded to a column. */
void fr__print_row(FILE *f, const char *name, int width, const char *summary);
#endif
