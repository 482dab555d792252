/* api/forerun.h - the whole program behind one function: a verb of the command and its options as
 * JSON go in, the answer comes out as JSON, as text and as columns.
 *
 * This header is all that an embedding program needs. It has no struct with members: what it hands
 * out is read by functions, so that other languages can call it without knowing a layout.
 *
 *     struct fr_api *api = fr_api_new();
 *     struct fr_reply *reply;
 *
 *     if (fr_call(api, "simulate",
 *                 "{\"workload\": \"vgg19\", \"topology\": \"dgx1-v100\", \"batch\": 64,"
 *                 " \"strategy\": \"dp\"}", &reply) == FR_CALL_DONE)
 *         puts(fr_reply_json(reply));
 *     fr_reply_free(reply);
 *     fr_api_free(api);
 *
 * Threads may call at the same time, each with its own fr_api. Nothing here prints, catches signals
 * or ends the process.
 */
#ifndef FR_API_FORERUN_H
#define FR_API_FORERUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended; the command's exit statuses, and one more. */
enum fr_call_status {
    FR_CALL_DONE = 0,
    FR_CALL_FAILED = 1,    /* something failed while running, such as a file to write */
    FR_CALL_USAGE = 2,     /* a request that makes no sense, or bad input */
    FR_CALL_NO_MEMORY = 3, /* nothing fits in the devices' memory; an answer may be there */
    FR_CALL_WARNED = 4,    /* with "strict": answered, but a warning casts doubt on it */
    FR_CALL_CANCELLED = 5
};

/* ---- asking ---- */

struct fr_api;

/* NULL: out of memory. The first one turns off the error handler of the GNU Scientific Library,
 * which would end the process. */
struct fr_api *fr_api_new(void);
/* No call may be running. */
void fr_api_free(struct fr_api *api);

/* Any thread, and a handler of a signal, may call it: the running call ends soon, with
 * FR_CALL_CANCELLED, and so do all later ones until fr_api_resume(). */
void fr_api_cancel(struct fr_api *api);
void fr_api_resume(struct fr_api *api);

/* report is called now and then while a call computes, by one of its threads: what is done, how
 * much of how much (total 0: not known). It may call fr_api_cancel(), and no other function here.
 * NULL: nobody is told. */
void fr_api_on_progress(struct fr_api *api,
                        void (*report)(void *user, const char *what, uint64_t done, uint64_t total),
                        void *user);

/* Whether a request may name a strategy in a shared object ("./mine.so"), which runs its code. It
 * may not, unless this was called. */
void fr_api_allow_code(struct fr_api *api, bool is_allowed);

struct fr_reply;

/* Asks.
 *   verb     as on the command line: "simulate", "topo show"; or "verbs" (with the request "{}"),
 *            which tells of all verbs and their options: name, type, default, help
 *   request  an object in JSON, NULL or "{}" for none. Its keys are the long names of options, with
 *            - or _; values are texts, numbers, true for an option without a value, or lists of
 *            them for one that may be given several times. "arguments" is a text or a list: what
 *            stands on the command line without an option. "json" is true unless it says false:
 *            then the answer is a text for people.
 * *out is always set, but NULL where memory ran out; the caller frees it with fr_reply_free(). */
enum fr_call_status fr_call(struct fr_api *api, const char *verb, const char *request,
                            struct fr_reply **out);

/* ---- the answer ---- */

void fr_reply_free(struct fr_reply *reply);

/* The answer, byte for byte what the command prints with --json; NULL: there is none, as the call
 * failed or the verb knows only text. */
const char *fr_reply_json(const struct fr_reply *reply);
/* The answer as text, where it was asked for or the verb has nothing else; else NULL. */
const char *fr_reply_text(const struct fr_reply *reply);
/* Notes that are no part of the answer, a line each; "" for none. */
const char *fr_reply_notes(const struct fr_reply *reply);

/* The sentence that the command prints, with its place ("mynet/ops.csv:17:42: 'flops' ..."), but
 * without "forerun: "; NULL: the call did not fail. A place in the request has no file. */
const char *fr_reply_error(const struct fr_reply *reply);
/* The file that it speaks of, NULL for none; and where in it, or in the request: 1-based, the
 * column in bytes, 0 for the whole. */
const char *fr_reply_error_file(const struct fr_reply *reply);
unsigned fr_reply_error_line(const struct fr_reply *reply);
unsigned fr_reply_error_column(const struct fr_reply *reply);

/* ---- the answer as columns ---- */

/* A table of the answer is an array of objects in it: its rows are the objects, its columns the
 * members that are numbers, texts or booleans ("recipe", "cost_sources.profiled"). Table 0 is the
 * answer itself: one row, or many where it is an array. The first of these functions that is called
 * reads the JSON, so that one thread at a time may ask a reply. */

enum fr_column_type {
    FR_COLUMN_NUMBERS, /* true and false are 1 and 0; what is missing is not a number */
    FR_COLUMN_TEXTS    /* what is missing is NULL */
};

/* 0: there is no JSON, or no memory to read it. */
size_t fr_reply_n_tables(struct fr_reply *reply);
/* "results", "critical_path.parts"; "" for table 0. NULL past the end. */
const char *fr_reply_table_name(struct fr_reply *reply, size_t table);
size_t fr_reply_n_rows(struct fr_reply *reply, size_t table);
size_t fr_reply_n_columns(struct fr_reply *reply, size_t table);
const char *fr_reply_column_name(struct fr_reply *reply, size_t table, size_t column);
enum fr_column_type fr_reply_column_type(struct fr_reply *reply, size_t table, size_t column);
/* [rows], the reply's; NULL for a column of the other type, or past the end. */
const double *fr_reply_numbers(struct fr_reply *reply, size_t table, size_t column);
const char *const *fr_reply_texts(struct fr_reply *reply, size_t table, size_t column);

#ifdef __cplusplus
}
#endif
#endif
