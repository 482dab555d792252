/* study/sweep/run.c - threads that answer a sweep's points, one after another from a list. */
#include "config.h"

#include "base/crew.h"
#include "base/error.h"
#include "study/session/session.h"
#include "study/store/row.h"
#include "study/sweep/state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What the threads of one run share. */
struct running {
    struct fr_sweep *sweep;
    const struct fr_sweep_options *options;
    struct fr_context context;     /* of single answers; can be cancelled, shows no progress */
    const struct fr_context *user; /* whose progress is shown */
    struct fr_session *session;
    struct fr__arena **arenas;      /* [n_threads] for the texts of a row */
    pthread_mutex_t elsewhere_lock; /* of options->elsewhere */
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
    if (!fr__row_keep(copy, s->row_arena))
        return fr__fail_nomem(err);
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

static enum fr_status hand_in(struct running *r, size_t point, const struct fr_sweep_row *row,
                              struct fr_error *err)
{
    const struct fr_sweep_elsewhere *elsewhere = r->options->elsewhere;
    enum fr_status st;

    if (!elsewhere)
        return fr_sweep_done(r->sweep, point, row, err);
    pthread_mutex_lock(&r->elsewhere_lock);
    st = elsewhere->done(elsewhere->user, point, row, err);
    pthread_mutex_unlock(&r->elsewhere_lock);
    return st;
}

/* How records are written, or NULL. Whoever gets the rows elsewhere may want them. */
static fr__print_record print_wanted(const struct fr_sweep_options *o)
{
    return o->with_records || o->store || o->elsewhere ? o->print_record : NULL;
}

static enum fr_status answer(struct running *r, size_t point, struct fr__arena *arena,
                             struct fr_error *err)
{
    struct fr_record *record = NULL;
    struct fr_setting setting;
    struct fr_sweep_row row;
    struct fr_question q;
    enum fr_status st;

    fr_sweep_question(r->sweep, point, &q);
    q.is_brief = !print_wanted(r->options);
    st = fr_session_setting(r->session, &q, &setting, err);
    if (st == FR_OK)
        st = fr_answer_on(&setting, &q, &r->context, &record, err);
    if (st == FR_OK) {
        st = fr__row_of_record(&row, &q, &setting, record, print_wanted(r->options), arena, err);
    } else if (is_answer(st)) {
        const struct fr_error why = *err;

        st = fr__row_of_failure(&row, &q, &why, arena, err);
    }
    if (st == FR_OK)
        st = hand_in(r, point, &row, err);
    fr_record_free(record);
    fr_setting_fini(&setting);
    return st;
}

static enum fr_status answer_point(void *user, unsigned thread, size_t point, struct fr_error *err)
{
    struct running *r = user;
    struct fr__arena *arena = r->arenas[thread];
    const struct fr__mark mark = fr__arena_mark(arena);
    enum fr_status st = answer(r, point, arena, err);

    fr__arena_rewind(arena, mark);
    return st;
}

/* ---- the crew ---- */

static enum fr_status next_point(void *user, size_t *point, struct fr_error *err)
{
    struct running *r = user;
    const struct fr_sweep_elsewhere *elsewhere = r->options->elsewhere;
    enum fr_status st;

    if (!elsewhere)
        return fr_sweep_next(r->sweep, point, err);
    pthread_mutex_lock(&r->elsewhere_lock);
    st = elsewhere->next(elsewhere->user, point, err);
    pthread_mutex_unlock(&r->elsewhere_lock);
    return st;
}

/* The calling thread serves other processes and shows progress. Returns whether there is more to
 * serve. */
static bool serve(void *user, size_t n_answered)
{
    const struct running *r = user;
    const struct fr_sweep_options *o = r->options;
    struct fr_sweep *s = r->sweep;
    size_t n_done;

    (void)n_answered; /* rows also come from the store and from elsewhere */
    if (r->user->progress && !o->elsewhere) {
        pthread_mutex_lock(&s->lock);
        n_done = s->n_done;
        pthread_mutex_unlock(&s->lock);
        r->user->progress(r->user->progress_user, "points", n_done, s->n_mine);
    }
    return o->serve && o->serve(o->serve_user);
}

static void free_arenas(struct running *r, unsigned n)
{
    for (unsigned i = 0; r->arenas && i < n; i++)
        fr__arena_free(r->arenas[i]);
    free(r->arenas);
}

static bool make_arenas(struct running *r, unsigned n)
{
    bool is_whole = true;

    r->arenas = calloc(n, sizeof(struct fr__arena *));
    for (unsigned i = 0; r->arenas && i < n; i++)
        is_whole = (r->arenas[i] = fr__arena_new()) && is_whole;
    return r->arenas && is_whole;
}

static enum fr_status run_crew(struct running *r, struct fr_error *err)
{
    const struct fr_sweep_options *o = r->options;
    unsigned n = fr__crew_size(o->n_threads, r->sweep->n_mine);
    const struct fr__crew crew = {.n_threads = n,
                                  .user = r,
                                  .next = next_point,
                                  .work = answer_point,
                                  .wait = o->serve || r->user->progress ? serve : NULL,
                                  .nap_ns = o->serve ? 1000000 : 0,
                                  .cancel = r->context.cancel};
    enum fr_status st = make_arenas(r, n) ? fr__crew_run(&crew, err) : fr__fail_nomem(err);

    free_arenas(r, n);
    return st;
}

enum fr_status fr_sweep_run(struct fr_sweep *s, const struct fr_sweep_options *o,
                            const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_session_options no_answers = {.answer_bytes = 0};
    const struct fr_context nothing = {0};
    struct running r = {.sweep = s, .options = o, .user = ctx ? ctx : &nothing};
    struct fr_session *own = NULL;
    enum fr_status st = FR_OK;

    r.context = (struct fr_context){.cancel = r.user->cancel, .memory_bytes = r.user->memory_bytes};
    s->options = o;
    s->next = 0;
    if (o->store)
        FR_TRY(look_up(s, o, err));
    r.session = o->session ? o->session : (own = fr_session_new(&no_answers));
    if (!r.session || pthread_mutex_init(&r.elsewhere_lock, NULL) != 0) {
        fr_session_free(own);
        return fr__fail_nomem(err);
    }
    st = run_crew(&r, err);
    pthread_mutex_destroy(&r.elsewhere_lock);
    fr_session_free(own);
    s->options = NULL;
    return st;
}

enum fr_status fr_sweep_ask(const struct fr_sweep *s, size_t point, const struct fr_context *ctx,
                            struct fr_record **out, struct fr_error *err)
{
    struct fr_question q;

    fr_sweep_question(s, point, &q);
    return fr_answer(&q, ctx, out, err);
}
