/* study/session/session.c - a session: its inputs (inputs.c), and the answers that it keeps by
 * their question. */
#include "config.h"

#include "study/session/session.h"

#include "base/arena.h"
#include "base/error.h"
#include "study/session/inputs.h"
#include "study/session/kept.h"
#include "study/question/loading.h"
#include "study/answer/record.h"
#include "study/owned_record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ANSWER_BYTES = 64 << 20 };

struct kept {
    char *key;
    struct fr_record *record; /* one reference is ours */
    size_t bytes;
    uint64_t used; /* when it was last asked for, counted in questions */
};

struct fr_session {
    struct fr__inputs *inputs;
    size_t most_bytes;
    pthread_mutex_t lock; /* guards what follows */
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

bool fr__session_keeps_answers(const struct fr_session *s)
{
    return s->most_bytes > 0;
}

/* Locked. */
static struct kept *find(struct fr_session *s, const char *key)
{
    for (size_t i = 0; i < s->n_kept; i++)
        if (strcmp(s->kept[i].key, key) == 0)
            return &s->kept[i];
    return NULL;
}

struct fr_record *fr__session_find(struct fr_session *s, const char *key)
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

/* Called with the lock held. Drops what was asked for longest ago until there is room. */
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

void fr__session_keep(struct fr_session *s, char *key, struct fr_record *r)
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
