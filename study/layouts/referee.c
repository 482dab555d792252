/* study/layouts/referee.c - the best layouts op by op: each is asked as `forerun simulate` asks it,
 * in the order of their coarse times, until enough of them fit.
 *
 * Answers are kept in a store where there is one, as the points of a sweep are.
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/crew.h"
#include "base/error.h"
#include "study/store/row.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND = 4 }; /* layouts that are asked before it is looked at how many fit */

struct refereeing {
    struct fr_search *s;
    const struct fr_search_options *o;
    const struct fr_context *user;
    struct fr_context context;
    size_t *order; /* [n] rows by coarse time */
    size_t n, first;
    pthread_mutex_t lock; /* of the store */
};

static int by_time(const struct fr_search_row *rows, size_t x, size_t y)
{
    if (rows[x].coarse_s != rows[y].coarse_s)
        return rows[x].coarse_s < rows[y].coarse_s ? -1 : 1;
    return (x > y) - (x < y);
}

struct ranked {
    const struct fr_search_row *rows;
    size_t row;
};

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return by_time(x->rows, x->row, y->row);
}

static enum fr_status list(struct refereeing *r, struct fr_error *err)
{
    struct ranked *all = malloc((r->s->n_rows + 1) * sizeof(*all));

    r->order = malloc((r->s->n_rows + 1) * sizeof(*r->order));
    if (!all || !r->order) {
        free(all);
        return fr__fail_nomem(err);
    }
    for (size_t i = 0; i < r->s->n_rows; i++)
        if (r->s->rows[i].fate == FR_LAYOUT_COARSE)
            all[r->n++] = (struct ranked){r->s->rows, i};
    qsort(all, r->n, sizeof(*all), compare);
    for (size_t i = 0; i < r->n; i++)
        r->order[i] = all[i].row;
    free(all);
    return FR_OK;
}

/* ---- one layout ---- */

static void take(struct fr_search *s, struct fr_search_row *row, const struct fr_sweep_row *a)
{
    if (!s->summary.gpu_types && a->gpu_types[0])
        s->summary.gpu_types = fr__arena_strdup(s->arena, a->gpu_types);
    if (!s->summary.machines && a->gpu_types[0])
        s->summary.machines = fr__arena_strdup(s->arena, a->machines);
    row->exact_bytes = (double)a->peak_bytes;
    row->fate = a->outcome == FR_FITS ? FR_LAYOUT_EXACT : FR_LAYOUT_OOM;
    row->over_bytes = (double)a->over_bytes;
    row->exact_s = a->outcome == FR_FITS ? a->iteration_s : 0;
    row->low_s = a->outcome == FR_FITS ? a->low_s : 0;
    row->high_s = a->outcome == FR_FITS ? a->high_s : 0;
    if (a->outcome == FR_FITS || a->outcome == FR_OOM)
        return;
    row->fate = FR_LAYOUT_REFUSED;
    row->why = fr__arena_strdup(s->arena, a->reason);
}

static enum fr_status found(void *user, const struct fr_sweep_row *a, struct fr_error *err)
{
    struct refereeing *r = user;
    char text[FR_LAYOUT_TEXT];

    (void)err;
    for (size_t i = r->first; i < r->n && i < r->first + ROUND; i++) {
        struct fr_search_row *row = &r->s->rows[r->order[i]];
        struct fr_question q = r->s->job.q;
        char *key;

        if (row->fate != FR_LAYOUT_COARSE)
            continue;
        q.strategy = fr_layout_text(&row->layout, text);
        key = fr_question_key(&q);
        if (!key)
            return fr__fail_nomem(err);
        if (strcmp(key, a->key) == 0) {
            take(r->s, row, a);
            r->s->summary.n_found++;
        }
        free(key);
    }
    return FR_OK;
}

static enum fr_status keep(struct refereeing *r, struct fr_search_row *row,
                           const struct fr_sweep_row *a, struct fr_error *err)
{
    enum fr_status st = FR_OK;

    pthread_mutex_lock(&r->lock);
    if (r->o->store)
        st = fr_store_put(r->o->store, a, err);
    if (st == FR_OK)
        take(r->s, row, a);
    pthread_mutex_unlock(&r->lock);
    return st;
}

static bool is_answer(enum fr_status st)
{
    return st != FR_OK && st != FR_EIO && st != FR_ENOMEM && st != FR_ECANCELLED;
}

static enum fr_status ask(void *user, unsigned thread, size_t job, struct fr_error *err)
{
    struct refereeing *r = user;
    struct fr_search_row *row = &r->s->rows[r->order[r->first + job]];
    struct fr_question q = r->s->job.q;
    struct fr_record *record = NULL;
    struct fr__arena *arena;
    struct fr_sweep_row answer;
    struct fr_error why;
    char text[FR_LAYOUT_TEXT];
    enum fr_status st;

    (void)thread;
    if (row->fate != FR_LAYOUT_COARSE)
        return FR_OK;
    arena = fr__arena_new();
    if (!arena)
        return fr__fail_nomem(err);
    q.strategy = fr_layout_text(&row->layout, text);
    q.is_brief = true;
    st = fr_answer_on(&r->s->job.setting, &q, &r->context, &record, &why);
    if (st == FR_OK)
        st = fr__row_of_record(&answer, &q, &r->s->job.setting, record, NULL, arena, err);
    else if (is_answer(st))
        st = fr__row_of_failure(&answer, &q, &why, arena, err);
    else
        *err = why;
    if (st == FR_OK)
        st = keep(r, row, &answer, err);
    fr_record_free(record);
    fr__arena_free(arena);
    return st;
}

/* ---- rounds ---- */

/* Whether there are enough: as many as were wanted, and all that are nearly as good. */
static bool is_enough(const struct refereeing *r)
{
    const struct fr_search_row *rows = r->s->rows;
    double best_s = INFINITY, next_s = rows[r->order[r->first]].coarse_s;
    size_t n_better = 0;

    for (size_t i = 0; i < r->s->n_rows; i++)
        if (rows[i].fate == FR_LAYOUT_EXACT) {
            best_s = fmin(best_s, rows[i].coarse_s);
            n_better += rows[i].coarse_s <= next_s;
        }
    return n_better >= r->o->n_best && next_s > best_s * (1 + r->o->within_frac);
}

static enum fr_status run_round(struct refereeing *r, size_t n, struct fr_error *err)
{
    struct fr__crew crew = {.n_jobs = n, .user = r, .work = ask, .cancel = r->context.cancel};

    if (r->o->store)
        FR_TRY(fr_store_each(r->o->store, false, found, r, err));
    crew.n_threads = fr__crew_size(r->o->n_threads, n);
    FR_TRY(fr__crew_run(&crew, err));
    r->s->summary.n_exact += n;
    if (r->user->progress)
        r->user->progress(r->user->progress_user, "op by op", r->first + n, r->n);
    return FR_OK;
}

enum fr_status fr__referee(struct fr_search *s, const struct fr_search_options *o,
                           const struct fr_context *ctx, struct fr_error *err)
{
    struct refereeing r = {.s = s, .o = o, .user = ctx};
    enum fr_status st;

    r.context = (struct fr_context){.cancel = ctx->cancel, .memory_bytes = ctx->memory_bytes};
    if (pthread_mutex_init(&r.lock, NULL) != 0)
        return fr__fail_nomem(err);
    st = list(&r, err);
    while (st == FR_OK && r.first < r.n && !is_enough(&r)) {
        size_t n = r.n - r.first < ROUND ? r.n - r.first : ROUND;

        st = run_round(&r, n, err);
        r.first += n;
    }
    pthread_mutex_destroy(&r.lock);
    free(r.order);
    return st;
}
