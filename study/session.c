/* study/session.c - answers of a session, by their question spelt out; inputs are inputs.c's. */
#include "config.h"

#include "study/session.h"

#include "base/arena.h"
#include "base/error.h"
#include "study/advice.h"
#include "study/inputs.h"
#include "study/record.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ANSWER_BYTES = 64 << 20 };

struct kept {
    char *key;
    struct fr_record *record; /* one reference is ours */
    size_t bytes;
    uint64_t used; /* a clock of questions */
};

struct fr_session {
    struct fr__inputs *inputs;
    size_t most_bytes;
    pthread_mutex_t lock; /* of what follows */
    struct kept *kept;
    size_t n_kept, cap_kept, bytes;
    uint64_t clock;
    struct fr_session_stats stats;
};

struct fr_session *fr_session_new(const struct fr_session_options *o)
{
    struct fr_session *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->most_bytes = o ? o->answer_bytes : DEFAULT_ANSWER_BYTES;
    s->inputs = fr__inputs_new();
    if (s->inputs && pthread_mutex_init(&s->lock, NULL) == 0)
        return s;
    fr__inputs_free(s->inputs);
    free(s);
    return NULL;
}

static void drop(struct fr_session *s, size_t i)
{
    fr_record_free(s->kept[i].record);
    free(s->kept[i].key);
    s->bytes -= s->kept[i].bytes;
    s->kept[i] = s->kept[--s->n_kept];
}

void fr_session_free(struct fr_session *s)
{
    if (!s)
        return;
    while (s->n_kept > 0)
        drop(s, s->n_kept - 1);
    free(s->kept);
    fr__inputs_free(s->inputs);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct fr_session_stats fr_session_stats(struct fr_session *s)
{
    struct fr_session_stats stats;

    pthread_mutex_lock(&s->lock);
    stats = s->stats;
    stats.n_kept = s->n_kept;
    pthread_mutex_unlock(&s->lock);
    return stats;
}

/* ---- settings ---- */

enum fr_status fr_session_setting(struct fr_session *s, const struct fr_question *q,
                                  struct fr_setting *out, struct fr_error *err)
{
    *out = (struct fr_setting){.topo = NULL};
    FR_TRY(fr__question_check(q, err));
    FR_TRY(fr__inputs_take(s->inputs, q, out, err));
    out->session = s;
    return FR_OK;
}

void fr__session_take_back(struct fr_session *s, const struct fr_setting *setting)
{
    fr__inputs_give(s->inputs, setting);
}

enum fr_status fr__tools_take(const struct fr_setting *s, struct fr__tools **out,
                              struct fr_error *err)
{
    if (s->session)
        return fr__inputs_take_tools(s->session->inputs, s, out, err);
    return fr__tools_new(out, s, err);
}

void fr__tools_give(const struct fr_setting *s, struct fr__tools *t)
{
    if (s->session)
        fr__inputs_give_tools(s->session->inputs, s, t);
    else
        fr__tools_free(t);
}

/* ---- answers ---- */

/* Whether equal settings mean an equal question. */
static bool is_all_said(const struct fr_question *q)
{
    const struct fr_run_options *run = &q->run;

    return !run->cost_s && !run->device_slowdown && !run->slowness && !run->messages &&
           !run->interference;
}

/* What settings and all else that shapes a record spell; heap; NULL: out of memory. */
static char *key_of(const struct fr_question *q)
{
    char *settings = fr_question_key(q), *key = NULL;
    size_t n;
    FILE *f = settings ? open_memstream(&key, &n) : NULL;

    if (f) {
        fprintf(f, "%s|%d|%d|%d|%d|%d|%u|%s", settings, (int)q->sensitivity, (int)q->uncertainty,
                q->with_advice, q->is_brief, q->no_timing, q->run.rings,
                q->command ? q->command : "");
        if (fclose(f) != 0) {
            free(key);
            key = NULL;
        }
    }
    free(settings);
    return key;
}

/* Locked. */
static struct kept *find(struct fr_session *s, const char *key)
{
    for (size_t i = 0; i < s->n_kept; i++)
        if (strcmp(s->kept[i].key, key) == 0)
            return &s->kept[i];
    return NULL;
}

static struct fr_record *look_up(struct fr_session *s, const char *key)
{
    struct fr_record *r = NULL;
    struct kept *k;

    pthread_mutex_lock(&s->lock);
    s->stats.n_asked++;
    k = key ? find(s, key) : NULL;
    if (k) {
        k->used = ++s->clock;
        s->stats.n_found++;
        r = fr__record_share(k->record);
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

/* Locked. Gives up what was asked longest ago until there is room. */
static void make_room(struct fr_session *s, size_t bytes)
{
    while (s->n_kept > 0 && s->bytes + bytes > s->most_bytes) {
        size_t oldest = 0;

        for (size_t i = 1; i < s->n_kept; i++)
            if (s->kept[i].used < s->kept[oldest].used)
                oldest = i;
        drop(s, oldest);
    }
}

/* The key goes over. One that is too large, or for which there is no memory, is not kept. */
static void keep(struct fr_session *s, char *key, struct fr_record *r)
{
    size_t bytes = fr__record_bytes(r);

    pthread_mutex_lock(&s->lock);
    if (key && bytes <= s->most_bytes / 4 && !find(s, key)) {
        make_room(s, bytes);
        if (fr__grow(&s->kept, &s->cap_kept, s->n_kept + 1, sizeof(*s->kept))) {
            s->kept[s->n_kept++] =
                (struct kept){key, fr__record_share(r), bytes, .used = ++s->clock};
            s->bytes += bytes;
            key = NULL;
        }
    }
    pthread_mutex_unlock(&s->lock);
    free(key);
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
        fr__record_own(r, &setting);
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
    char *key = s->most_bytes > 0 && is_all_said(q) ? key_of(q) : NULL;
    struct fr_record *r = look_up(s, key);
    enum fr_status st = r ? FR_OK : answer(s, q, ctx, &r, err);

    if (st == FR_OK)
        *out = r;
    if (st == FR_OK && key)
        keep(s, key, r);
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
        fr__record_own_session(*out, s);
    else
        fr_session_free(s);
    return st;
}
