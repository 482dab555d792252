/* api/call/call.c - runs a verb for a program: with streams into memory, a flag that cancels it,
 * and nothing of the process.
 */
#include "config.h"

#include "api/call/reply.h"
#include "api/call/request.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/machine.h"
#include "base/text.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fr_api {
    volatile int cancel; /* written by other threads */
    bool allows_code;
    void (*report)(void *user, const char *what, uint64_t done, uint64_t total);
    void *user;
};

/* A call that runs. */
struct running {
    struct fr_api *api;
    struct fr__call call;
    struct fr_reply *reply;
};

struct fr_api *fr_api_new(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* GSL's handler is the whole process's */

    (void)pthread_once(&once, fr_init);
    return calloc(1, sizeof(struct fr_api));
}

void fr_api_free(struct fr_api *api)
{
    free(api);
}

void fr_api_cancel(struct fr_api *api)
{
    __atomic_store_n(&api->cancel, 1, __ATOMIC_RELAXED);
}

void fr_api_resume(struct fr_api *api)
{
    __atomic_store_n(&api->cancel, 0, __ATOMIC_RELAXED);
}

void fr_api_on_progress(struct fr_api *api,
                        void (*report)(void *user, const char *what, uint64_t done, uint64_t total),
                        void *user)
{
    api->report = report;
    api->user = user;
}

void fr_api_allow_code(struct fr_api *api, bool is_allowed)
{
    api->allows_code = is_allowed;
}

/* ---- what the verb tells ---- */

static void report(void *user, const char *what, uint64_t done, uint64_t total)
{
    const struct running *r = user;
    char text[256];

    if (!r->api->report)
        return;
    if (r->call.progress_of)
        snprintf(text, sizeof(text), "%.120s: %.120s", r->call.progress_of, what);
    r->api->report(r->api->user, r->call.progress_of ? text : what, done, total);
}

static void fail(struct fr_reply *reply, const struct fr_error *err)
{
    reply->has_failed = true;
    reply->err = *err;
    fr_error_string(err, reply->sentence, sizeof(reply->sentence));
}

/* The first file that could not be written. */
static void note_error(void *user, const struct fr_error *err)
{
    struct running *r = user;

    if (!r->reply->has_failed)
        fail(r->reply, err);
}

/* ---- the call ---- */

/* "topo show"; what it is called is in the error. */
static enum fr_status find_verb(const struct fr__verb **out, const char *text, struct fr_error *err)
{
    char group[64];
    const char *space = strchr(text, ' ');
    size_t n = space ? (size_t)(space - text) : 0;

    snprintf(group, sizeof(group), "%.*s", (int)(n < sizeof(group) ? n : sizeof(group) - 1), text);
    *out = fr__verb_find(space ? group : NULL, space ? space + 1 : text);
    return *out ? FR_OK : fr__verb_unknown(NULL, text, err);
}

static enum fr_status run(struct running *r, const struct fr__verb *v,
                          const struct fr__words *words, struct fr_error *err)
{
    struct fr__call *s = &r->call;
    const struct fr__caller caller = {.user = r, .say_error = note_error};
    char *command = fr__command_line((int)words->n, words->words);
    double bytes = s->options.memory_bytes > 0 ? s->options.memory_bytes : fr__machine_free_bytes();
    enum fr_status st;

    if (!command)
        return fr__fail_nomem(err);
    s->command = s->options.question.command = command;
    s->caller = &caller;
    s->context = (struct fr_context){.seed = s->options.question.run.seed,
                                     .cancel = &r->api->cancel,
                                     .progress = report,
                                     .progress_user = r,
                                     .memory_bytes = isfinite(bytes) ? bytes : 0,
                                     .is_grey = s->options.grey};
    st = fr__flag_is_set(&r->api->cancel) ? fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted")
                                          : fr__verb_run(v, s, err);
    if (st != FR_OK)
        fr__call_explain_memory(s, err);
    free(command);
    return st;
}

static enum fr_status read_and_run(struct running *r, const char *verb, const char *request,
                                   struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr__words words = {.n = 0};
    const struct fr__verb *v = NULL;
    enum fr_status st = arena ? find_verb(&v, verb, err) : fr__fail_nomem(err);

    if (st == FR_OK)
        st = fr__options_init(&r->call.options, v->options, err);
    if (st == FR_OK)
        st =
            fr__request_read(arena, request, v, r->api->allows_code, &r->call.options, &words, err);
    if (st == FR_OK)
        st = fr__check_overwrite(&r->call.options, (int)words.n - 1, words.words + 1, err);
    if (st == FR_OK)
        st = run(r, v, &words, err);
    fr__options_fini(&r->call.options);
    fr__arena_free(arena);
    return st;
}

/* Gives the reply the streams' texts; without memory for them there is no answer. */
static enum fr_status close_streams(struct running *r, enum fr_status st, struct fr_error *err)
{
    struct fr_reply *reply = r->reply;
    bool is_whole = fr__text_close(r->call.out, &reply->text);

    if (!fr__text_close(r->call.notes, &reply->notes))
        is_whole = false;
    if (reply->text && !reply->text[0]) {
        free(reply->text);
        reply->text = NULL;
    }
    reply->is_json = reply->text && (reply->text[0] == '{' || reply->text[0] == '[');
    return st == FR_OK && !is_whole ? fr__fail_nomem(err) : st;
}

static enum fr_call_status call(struct running *r, const char *verb, const char *request)
{
    struct fr_error err = {.code = FR_OK};
    size_t notes_length;
    enum fr_status st = FR_OK;

    r->call.out = fr__text_open(&r->reply->text, &r->reply->length);
    r->call.notes = r->call.out ? fr__text_open(&r->reply->notes, &notes_length) : NULL;
    if (!r->call.notes) {
        if (r->call.out)
            (void)fr__text_close(r->call.out, &r->reply->text);
        st = fr__fail_nomem(&err);
    } else {
        if (strcmp(verb, "verbs") == 0)
            fr__list_verbs(r->call.out);
        else
            st = read_and_run(r, verb, request, &err);
        st = close_streams(r, st, &err);
    }
    if (st != FR_OK)
        fail(r->reply, &err);
    if (st == FR_OK && r->call.status == FR_CALL_DONE && r->call.lacks_file)
        return FR_CALL_FAILED;
    return st == FR_OK ? r->call.status : fr__call_status(st);
}

enum fr_call_status fr_call(struct fr_api *api, const char *verb, const char *request,
                            struct fr_reply **out)
{
    struct running *r = calloc(1, sizeof(*r)); /* too large for a small stack */
    enum fr_call_status status = FR_CALL_FAILED;

    *out = calloc(1, sizeof(**out));
    if (r && *out) {
        r->api = api;
        r->reply = *out;
        status = call(r, verb, request);
    } else {
        free(*out);
        *out = NULL;
    }
    free(r);
    return status;
}

/* ---- the reply ---- */

void fr_reply_free(struct fr_reply *reply)
{
    if (!reply)
        return;
    fr__columns_free(reply->columns);
    free(reply->text);
    free(reply->notes);
    free(reply);
}

const char *fr_reply_json(const struct fr_reply *reply)
{
    return reply->is_json ? reply->text : NULL;
}

const char *fr_reply_text(const struct fr_reply *reply)
{
    return reply->is_json ? NULL : reply->text;
}

const char *fr_reply_notes(const struct fr_reply *reply)
{
    return reply->notes ? reply->notes : "";
}

const char *fr_reply_error(const struct fr_reply *reply)
{
    return reply->has_failed ? reply->sentence : NULL;
}

const char *fr_reply_error_file(const struct fr_reply *reply)
{
    return reply->has_failed && reply->err.file[0] ? reply->err.file : NULL;
}

unsigned fr_reply_error_line(const struct fr_reply *reply)
{
    return reply->has_failed ? reply->err.line : 0;
}

unsigned fr_reply_error_column(const struct fr_reply *reply)
{
    return reply->has_failed ? reply->err.col : 0;
}
