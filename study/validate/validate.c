/* study/validate/validate.c - asks the questions of all rows, on several threads. */
#include "config.h"

#include "study/validate.h"

#include "base/error.h"
#include "study/setting_cache.h"
#include "study/validate/rows.h"
#include "study/validate/summary.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 256 };

struct owned {
    struct fr__measurements measurements;
    struct fr_validation validation;
    struct fr_validation_row *rows; /* heap */
};

struct crew {
    struct fr__measurements *m;
    struct fr__setting_cache *cache;
    struct fr_context context;     /* of single answers: cancelled, silent */
    const struct fr_context *user; /* whose progress is shown */
    pthread_mutex_t lock;
    size_t next, n_done;
    enum fr_status status;
    struct fr_error err;
};

/* ---- one row ---- */

static void compare(struct fr_validation_row *row, const struct fr_record *r)
{
    row->predicted_s = r->iteration_s;
    row->error = r->iteration_s / row->measured_s - 1;
    row->predicted_bytes = (double)r->peak_bytes;
    if (row->measured_bytes > 0)
        row->memory_error = row->predicted_bytes / row->measured_bytes - 1;
}

/* What ends all work, as against what a row cannot be asked. */
static bool is_fatal(enum fr_status st)
{
    return st == FR_ENOMEM || st == FR_ECANCELLED || st == FR_ECHECK || st == FR_EDEADLOCK;
}

static char *text_of(const struct fr_error *err)
{
    char text[1024];

    return strdup(fr_error_string(err, text, sizeof(text)));
}

static char *does_not_fit(const struct fr_record *r)
{
    char text[256];

    snprintf(text, sizeof(text), "does not fit: %s lacks %.2f GiB", r->oom_why.device,
             (double)r->oom_why.over_bytes / (1 << 30));
    return strdup(text);
}

/* *why: heap; NULL when predicted. */
static enum fr_status ask(struct crew *c, struct fr__measurement *x, char **why,
                          const char **device, struct fr_error *err)
{
    struct fr_setting s;
    struct fr_record *r = NULL;
    enum fr_status st = fr__setting_cache_take(c->cache, &x->question, &s, err);

    *why = NULL;
    if (st == FR_OK) {
        *device = s.topo->types[s.topo->devices[0].type].name;
        st = fr_answer_on(&s, &x->question, &c->context, &r, err);
        if (st == FR_OK && r->oom)
            *why = does_not_fit(r);
        else if (st == FR_OK)
            compare(&x->row, r);
        fr_record_free(r);
        fr__setting_cache_give(c->cache, &s);
    }
    if (st == FR_OK || is_fatal(st))
        return st;
    *why = text_of(err);
    return FR_OK;
}

/* ---- the threads ---- */

static bool take(struct crew *c, size_t *i)
{
    bool is_one;

    pthread_mutex_lock(&c->lock);
    is_one = c->status == FR_OK && c->next < c->m->n;
    if (is_one)
        *i = c->next++;
    pthread_mutex_unlock(&c->lock);
    return is_one;
}

static void put(struct crew *c, size_t i, enum fr_status st, char *why, const char *device,
                const struct fr_error *err)
{
    struct fr_validation_row *row = &c->m->list[i].row;

    pthread_mutex_lock(&c->lock);
    if (st == FR_OK) {
        if (why && !(row->why_not = fr__arena_strdup(c->m->arena, why)))
            st = FR_ENOMEM;
        if (device && !(row->device = fr__arena_strdup(c->m->arena, device)))
            st = FR_ENOMEM;
    }
    if (st != FR_OK && c->status == FR_OK) {
        c->status = st;
        c->err = *err;
        if (st == FR_ENOMEM)
            fr__fail_nomem(&c->err);
    }
    c->n_done++;
    if (c->user && c->user->progress)
        c->user->progress(c->user->progress_user, "rows", c->n_done, c->m->n);
    pthread_mutex_unlock(&c->lock);
    free(why);
}

static void *work(void *user)
{
    struct crew *c = user;
    size_t i = 0;

    while (take(c, &i)) {
        struct fr_error err = {.code = FR_OK};
        const char *device = NULL;
        char *why = NULL;
        enum fr_status st = FR_OK;

        if (!c->m->list[i].row.why_not)
            st = ask(c, &c->m->list[i], &why, &device, &err);
        put(c, i, st, why, why ? NULL : device, &err);
    }
    return NULL;
}

static unsigned how_many(unsigned n_threads)
{
    long n = n_threads ? (long)n_threads : sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

static enum fr_status ask_all(struct fr__measurements *m, unsigned n_threads,
                              const struct fr_context *ctx, struct fr_error *err)
{
    unsigned n = how_many(n_threads), started = 0;
    pthread_t threads[MOST_THREADS];
    struct crew c = {.m = m, .user = ctx, .cache = fr__setting_cache_new(n)};

    if (!c.cache)
        return fr__fail_nomem(err);
    if (pthread_mutex_init(&c.lock, NULL) != 0) {
        fr__setting_cache_free(c.cache);
        return fr__fail_nomem(err);
    }
    if (ctx)
        c.context.cancel = ctx->cancel;
    while (started < n - 1 && pthread_create(&threads[started], NULL, work, &c) == 0)
        started++;
    work(&c);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&c.lock);
    fr__setting_cache_free(c.cache);
    if (c.status != FR_OK)
        *err = c.err;
    return c.status;
}

/* ---- public ---- */

static enum fr_status summarise(struct owned *o, struct fr_error *err)
{
    struct fr__measurements *m = &o->measurements;

    o->rows = calloc(m->n + 1, sizeof(*o->rows));
    if (!o->rows)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < m->n; i++)
        o->rows[i] = m->list[i].row;
    o->validation.rows = o->rows;
    o->validation.n_rows = m->n;
    return fr__validation_summarise(&o->validation, m->arena, err);
}

enum fr_status fr_validate(struct fr_validation **out, const char *path, const char *costs,
                           unsigned n_threads, const struct fr_context *ctx, struct fr_error *err)
{
    struct owned *o = calloc(1, sizeof(*o));
    enum fr_status st;

    if (!o)
        return fr__fail_nomem(err);
    o->validation.priv = o;
    o->measurements.costs = costs;
    o->measurements.arena = fr__arena_new();
    st = o->measurements.arena ? fr__measurements_read(&o->measurements, path, err)
                               : fr__fail_nomem(err);
    if (st == FR_OK && o->measurements.n == 0)
        st = fr__fail(err, FR_EPARSE, FR_NOWHERE, "'%s' has no rows", path);
    if (st == FR_OK)
        st = ask_all(&o->measurements, n_threads, ctx, err);
    if (st == FR_OK)
        st = summarise(o, err);
    if (st == FR_OK)
        *out = &o->validation;
    else
        fr_validation_free(&o->validation);
    return st;
}

void fr_validation_free(struct fr_validation *v)
{
    struct owned *o = v ? v->priv : NULL;

    if (!o)
        return;
    fr__arena_free(o->measurements.arena);
    free(o->measurements.list);
    free(o->rows);
    free(o);
}
