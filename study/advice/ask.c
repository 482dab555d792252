/* study/advice/ask.c - asks a session, or one that is made for a single question. */
#include "config.h"

#include "base/error.h"
#include "base/text.h"
#include "study/advice/advice.h"
#include "study/session/kept.h"
#include "study/answer/record.h"
#include "study/owned_record.h"
#include "study/session/session.h"

#include <stdio.h>
#include <stdlib.h>

/* Whether the settings say all of the question, so that equal settings mean equal questions. */
static bool is_all_said(const struct fr_question *q)
{
    const struct fr_run_options *run = &q->run;

    return !q->measured_strategy && !run->cost_s && !run->device_slowdown && !run->slowness &&
           !run->messages && !run->interference;
}

/* The settings, and all else that shapes a record, as text on the heap; NULL: out of memory. */
static char *key_of(const struct fr_question *q)
{
    char *settings = fr_question_key(q), *key = NULL;
    size_t n;
    FILE *f = settings ? fr__text_open(&key, &n) : NULL;

    if (f) {
        fprintf(f, "%s|%d|%d|%d|%d|%d|%u|%s", settings, (int)q->sensitivity, (int)q->uncertainty,
                q->with_advice, q->is_brief, q->no_timing, q->run.rings,
                q->command ? q->command : "");
        (void)fr__text_close(f, &key);
    }
    free(settings);
    return key;
}

static enum fr_status answer(struct fr_session *s, const struct fr_question *q,
                             const struct fr_context *ctx, struct fr_record **out,
                             struct fr_error *err)
{
    struct fr_record *r = NULL;
    struct fr_setting setting;
    enum fr_status st;

    FR_TRY(fr_session_setting(s, q, &setting, err));
    st = fr_answer_on(&setting, q, ctx, &r, err);
    if (st == FR_OK && q->with_advice && r->oom)
        st = fr__fill_advice(r, fr__record_arena(r), &setting, q, ctx, err);
    if (st == FR_OK) {
        fr__record_own(r, &setting, fr_setting_fini);
        *out = r;
    } else {
        fr_record_free(r);
        fr_setting_fini(&setting);
    }
    return st;
}

enum fr_status fr_session_ask(struct fr_session *s, const struct fr_question *q,
                              const struct fr_context *ctx, struct fr_record **out,
                              struct fr_error *err)
{
    char *key = fr__session_keeps_answers(s) && is_all_said(q) ? key_of(q) : NULL;
    struct fr_record *r = fr__session_find(s, key);
    enum fr_status st = r ? FR_OK : answer(s, q, ctx, &r, err);

    if (st == FR_OK)
        *out = r;
    if (st == FR_OK && key)
        fr__session_keep(s, key, r);
    else
        free(key);
    return st;
}

enum fr_status fr_answer(const struct fr_question *q, const struct fr_context *ctx,
                         struct fr_record **out, struct fr_error *err)
{
    const struct fr_session_options o = {.answer_bytes = 0};
    struct fr_session *s = fr_session_new(&o);
    enum fr_status st = s ? fr_session_ask(s, q, ctx, out, err) : fr__fail_nomem(err);

    if (st == FR_OK)
        fr__record_own_session(*out, s, fr_session_free);
    else
        fr_session_free(s);
    return st;
}
