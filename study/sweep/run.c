/* study/sweep/run.c - threads that answer a sweep's points, one after another from a list. */
#include "config.h"

#include "base/error.h"
#include "study/setting_cache.h"
#include "study/sweep/row.h"
#include "study/sweep/state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 1024 };

/* What the threads of one run share. */
struct crew {
    struct fr_sweep *sweep;
    const struct fr_sweep_options *options;
    struct fr_context context; /* of single answers: cancelled, silent */
    struct fr__setting_cache *cache;
    pthread_mutex_t lock; /* of what follows, and of elsewhere */
    pthread_cond_t idle;
    size_t n_at_work;
    enum fr_status status; /* the first failure ends it all */
    struct fr_error err;
};

/* ---- rows ---- */

enum fr_status fr__sweep_keep(struct fr_sweep *s, size_t point, const struct fr_sweep_row *row,
                              struct fr_error *err)
{
    struct fr_sweep_row *copy = fr__arena_alloc(s->row_arena, 1, sizeof(*copy));

    if (!copy)
        return fr__fail_nomem(err);
    *copy = *row;
    if (!s->options || !s->options->with_records)
        copy->record = "";
    for (const struct fr__row_column *c = fr__row_columns; c->name; c++) {
        const char **text = fr__row_text(copy, c);

        if (c->type == FR__COLUMN_TEXT && !(*text = fr__arena_strdup(s->row_arena, *text)))
            return fr__fail_nomem(err);
    }
    s->rows[point] = copy;
    s->n_done++;
    return FR_OK;
}

enum fr_status fr_sweep_next(struct fr_sweep *s, size_t *point, struct fr_error *err)
{
    (void)err;
    pthread_mutex_lock(&s->lock);
    while (s->next < s->n_points && (s->rows[s->next] || !fr_sweep_is_mine(s, s->next)))
        s->next++;
    *point = s->next < s->n_points ? s->next++ : SIZE_MAX;
    pthread_mutex_unlock(&s->lock);
    return FR_OK;
}

enum fr_status fr_sweep_done(struct fr_sweep *s, size_t point, const struct fr_sweep_row *row,
                             struct fr_error *err)
{
    enum fr_status st = FR_OK;

    pthread_mutex_lock(&s->lock);
    if (s->options->store)
        st = fr_store_put(s->options->store, row, err);
    if (st == FR_OK)
        st = fr__sweep_keep(s, point, row, err);
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* ---- what the store has ---- */

struct key_of_point {
    char *key;
    size_t point;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key_of_point *x = a, *y = b;

    return strcmp(x->key, y->key);
}

struct lookup {
    struct fr_sweep *sweep;
    struct key_of_point *keys; /* sorted */
    size_t n, at;              /* rows come sorted as well */
};

static enum fr_status take_found(void *user, const struct fr_sweep_row *row, struct fr_error *err)
{
    struct lookup *l = user;

    while (l->at < l->n && strcmp(l->keys[l->at].key, row->key) < 0)
        l->at++;
    if (l->at == l->n || strcmp(l->keys[l->at].key, row->key) != 0)
        return FR_OK; /* of another sweep */
    if (l->sweep->rows[l->keys[l->at].point])
        return FR_OK; /* of an earlier run */
    l->sweep->n_found++;
    return fr__sweep_keep(l->sweep, l->keys[l->at].point, row, err);
}

static enum fr_status make_keys(struct lookup *l, struct fr_error *err)
{
    l->keys = calloc(l->sweep->n_mine + 1, sizeof(*l->keys));
    if (!l->keys)
        return fr__fail_nomem(err);
    for (size_t point = 0; point < l->sweep->n_points; point++) {
        struct fr_question q;

        if (!fr_sweep_is_mine(l->sweep, point))
            continue;
        fr_sweep_question(l->sweep, point, &q);
        l->keys[l->n] = (struct key_of_point){fr_question_key(&q), point};
        if (!l->keys[l->n++].key)
            return fr__fail_nomem(err);
    }
    qsort(l->keys, l->n, sizeof(*l->keys), compare_keys);
    return FR_OK;
}

static enum fr_status look_up(struct fr_sweep *s, const struct fr_sweep_options *o,
                              struct fr_error *err)
{
    struct lookup l = {.sweep = s};
    enum fr_status st = FR_OK;

    for (size_t i = 0; i < s->n_inputs && st == FR_OK; i++)
        st = fr_store_input(o->store, s->inputs[i].name, s->inputs[i].digest, err);
    if (st == FR_OK)
        st = make_keys(&l, err);
    if (st == FR_OK)
        st = fr_store_each(o->store, o->with_records, take_found, &l, err);
    for (size_t i = 0; i < l.n; i++)
        free(l.keys[i].key);
    free(l.keys);
    return st;
}

/* ---- one point ---- */

/* A question that cannot be asked has a row that says so; what hinders the answering itself ends
 * the sweep. */
static bool is_answer(enum fr_status st)
{
    switch (st) {
    case FR_EIO:
    case FR_ENOMEM:
    case FR_ECANCELLED:
        return false;
    case FR_OK:
    case FR_EPARSE:
    case FR_ERANGE:
    case FR_EUSAGE:
    case FR_ENOENT:
    case FR_EUNSUPPORTED:
    case FR_ENOROOM:
    case FR_EDEADLOCK:
    case FR_ECHECK:
        break;
    }
    return true;
}

static enum fr_status hand_in(struct crew *c, size_t point, const struct fr_sweep_row *row,
                              struct fr_error *err)
{
    const struct fr_sweep_elsewhere *elsewhere = c->options->elsewhere;
    enum fr_status st;

    if (!elsewhere)
        return fr_sweep_done(c->sweep, point, row, err);
    pthread_mutex_lock(&c->lock);
    st = elsewhere->done(elsewhere->user, point, row, err);
    pthread_mutex_unlock(&c->lock);
    return st;
}

/* How the record is written down, or NULL: who the row goes to elsewhere may want it. */
static fr__print_record print_wanted(const struct fr_sweep_options *o)
{
    return o->with_records || o->store || o->elsewhere ? o->print_record : NULL;
}

static enum fr_status answer(struct crew *c, size_t point, struct fr__arena *arena,
                             struct fr_error *err)
{
    struct fr_record *record = NULL;
    struct fr_setting setting;
    struct fr_sweep_row row;
    struct fr_question q;
    bool has_setting;
    enum fr_status st;

    fr_sweep_question(c->sweep, point, &q);
    st = fr__setting_cache_take(c->cache, &q, &setting, err);
    has_setting = st == FR_OK;
    if (st == FR_OK)
        st = fr_answer_on(&setting, &q, &c->context, &record, err);
    if (st == FR_OK) {
        st = fr__row_of_record(&row, &q, &setting, record, print_wanted(c->options), arena, err);
    } else if (is_answer(st)) {
        const struct fr_error why = *err;

        st = fr__row_of_failure(&row, &q, &why, arena, err);
    }
    if (st == FR_OK)
        st = hand_in(c, point, &row, err);
    fr_record_free(record);
    if (has_setting)
        fr__setting_cache_give(c->cache, &setting);
    return st;
}

/* ---- the crew ---- */

static enum fr_status next_point(struct crew *c, size_t *point, struct fr_error *err)
{
    const struct fr_sweep_elsewhere *elsewhere = c->options->elsewhere;
    enum fr_status st;

    pthread_mutex_lock(&c->lock);
    if (c->status != FR_OK) {
        *point = SIZE_MAX;
        st = FR_OK;
    } else if (c->context.cancel && *c->context.cancel) {
        st = fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
    } else if (elsewhere) {
        st = elsewhere->next(elsewhere->user, point, err);
    } else {
        st = fr_sweep_next(c->sweep, point, err);
    }
    pthread_mutex_unlock(&c->lock);
    return st;
}

static void *work(void *arg)
{
    struct crew *c = arg;
    struct fr__arena *arena = fr__arena_new();
    struct fr_error err = {.code = FR_OK};
    enum fr_status st = arena ? FR_OK : fr__fail_nomem(&err);
    size_t point = 0;

    while (st == FR_OK && (st = next_point(c, &point, &err)) == FR_OK && point != SIZE_MAX) {
        const struct fr__mark mark = fr__arena_mark(arena);

        st = answer(c, point, arena, &err);
        fr__arena_rewind(arena, mark);
    }
    fr__arena_free(arena);
    pthread_mutex_lock(&c->lock);
    if (st != FR_OK && c->status == FR_OK) {
        c->status = st;
        c->err = err;
    }
    c->n_at_work--;
    pthread_cond_signal(&c->idle);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void say_progress(const struct crew *c, const struct fr_context *ctx)
{
    struct fr_sweep *s = c->sweep;
    size_t n_done;

    if (!ctx->progress || c->options->elsewhere)
        return;
    pthread_mutex_lock(&s->lock);
    n_done = s->n_done;
    pthread_mutex_unlock(&s->lock);
    ctx->progress(ctx->progress_user, "points", n_done, s->n_mine);
}

/* Until all threads are done, and serve() says so too. */
static void wait_for(struct crew *c, const struct fr_context *ctx)
{
    const long nap_ns = c->options->serve ? 1000000 : 100000000;
    bool is_served = !c->options->serve;

    for (;;) {
        struct timespec until;
        bool is_idle;

        if (c->options->serve)
            is_served = !c->options->serve(c->options->serve_user);
        pthread_mutex_lock(&c->lock);
        if (c->n_at_work > 0 || !is_served) {
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += nap_ns;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            (void)pthread_cond_timedwait(&c->idle, &c->lock, &until);
        }
        is_idle = c->n_at_work == 0;
        pthread_mutex_unlock(&c->lock);
        if (is_idle && is_served)
            return;
        say_progress(c, ctx);
    }
}

static unsigned choose_n_threads(const struct fr_sweep *s, const struct fr_sweep_options *o)
{
    long n = o->n_threads ? (long)o->n_threads : sysconf(_SC_NPROCESSORS_ONLN);

    if (n > MAX_THREADS)
        n = MAX_THREADS;
    if (n > 1 && (size_t)n > s->n_mine)
        n = (long)s->n_mine;
    return n < 1 ? 1 : (unsigned)n;
}

static enum fr_status run_crew(struct crew *c, unsigned n, const struct fr_context *ctx,
                               struct fr_error *err)
{
    pthread_t *threads = calloc(n, sizeof(*threads));
    unsigned n_started = 0;

    if (!threads)
        return fr__fail_nomem(err);
    pthread_mutex_lock(&c->lock);
    while (n_started < n && pthread_create(&threads[n_started], NULL, work, c) == 0)
        c->n_at_work = ++n_started;
    if (n_started == 0) /* fewer than asked for are enough */
        c->status = fr__fail(&c->err, FR_EIO, FR_NOWHERE, "cannot start a thread");
    pthread_mutex_unlock(&c->lock);
    wait_for(c, ctx);
    for (unsigned i = 0; i < n_started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    if (c->status != FR_OK && err)
        *err = c->err;
    return c->status;
}

enum fr_status fr_sweep_run(struct fr_sweep *s, const struct fr_sweep_options *o,
                            const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_context nothing = {0};
    struct crew c = {.sweep = s, .options = o, .status = FR_OK};
    unsigned n = choose_n_threads(s, o);
    enum fr_status st;

    ctx = ctx ? ctx : &nothing;
    c.context = (struct fr_context){.cancel = ctx->cancel};
    s->options = o;
    s->next = 0;
    if (o->store)
        FR_TRY(look_up(s, o, err));
    if (pthread_mutex_init(&c.lock, NULL) != 0)
        return fr__fail_nomem(err);
    if (pthread_cond_init(&c.idle, NULL) != 0) {
        pthread_mutex_destroy(&c.lock);
        return fr__fail_nomem(err);
    }
    c.cache = fr__setting_cache_new(n);
    st = c.cache ? run_crew(&c, n, ctx, err) : fr__fail_nomem(err);
    fr__setting_cache_free(c.cache);
    pthread_cond_destroy(&c.idle);
    pthread_mutex_destroy(&c.lock);
    s->options = NULL;
    return st;
}
