/* study/validate/validate.c - asks the questions of all rows, on several threads. */
#include "config.h"

#include "study/validate/validate.h"

#include "base/crew.h"
#include "base/error.h"
#include "study/session/session.h"
#include "study/validate/anchored.h"
#include "study/validate/rows.h"
#include "study/validate/summary.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct owned {
    struct fr__measurements measurements;
    struct fr_validation validation;
    struct fr_validation_row *rows; /* heap */
};

struct asking {
    struct fr__measurements *m;
    struct fr_session *session;
    struct fr_context context;     /* of single answers; can be cancelled, shows no progress */
    const struct fr_context *user; /* whose progress is shown */
    pthread_mutex_t lock;          /* of the measurements' arena, and of */
    size_t n_done;
};

/* ---- one row ---- */

static void take_interval(struct fr_validation_row *row, const struct fr_record_interval *i)
{
    if (!i->is_known)
        return;
    row->low_s = i->low_s;
    row->high_s = i->high_s;
    row->half_low_s = i->half_low_s;
    row->half_high_s = i->half_high_s;
    row->cost_error = i->cost_error;
    row->interval_class = i->name;
}

static void compare(struct fr_validation_row *row, const struct fr_record *r)
{
    take_interval(row, &r->interval);
    row->predicted_s = r->iteration_s;
    row->error = r->iteration_s / row->measured_s - 1;
    row->predicted_bytes = (double)r->peak_bytes;
    if (row->measured_bytes > 0)
        row->memory_error = row->predicted_bytes / row->measured_bytes - 1;
}

/* Whether a failure ends all work, and not only this row. */
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

static char *is_another_count(const struct fr_record *r, const struct fr_validation_row *row)
{
    char text[128];

    snprintf(text, sizeof(text), "'gpus' is %" PRIu64 ", but '--devices' names %zu", row->gpus,
             r->n_gpus);
    return strdup(text);
}

/* *why, *device: heap; of these the one that holds is set, on success. */
static enum fr_status ask(struct asking *a, struct fr__measurement *x, char **why, char **device,
                          struct fr_error *err)
{
    struct fr_record *r = NULL;
    enum fr_status st = fr_session_ask(a->session, &x->question, &a->context, &r, err);

    if (st == FR_OK && r->n_gpus != x->row.gpus) {
        *why = is_another_count(r, &x->row);
    } else if (st == FR_OK && r->oom) {
        *why = does_not_fit(r);
    } else if (st == FR_OK) {
        const struct fr_topo *t = fr_plan_view(r->plan)->topo;

        *device = strdup(t->types[t->devices[r->devices[0].device].type].name);
        compare(&x->row, r);
    } else if (!is_fatal(st)) {
        *why = text_of(err);
        st = FR_OK;
    }
    fr_record_free(r);
    return st == FR_OK && !*why && !*device ? fr__fail_nomem(err) : st;
}

/* ---- all rows ---- */

/* Copies a row into the validation, one thread at a time. */
static enum fr_status put(struct asking *a, struct fr_validation_row *row, const char *why,
                          const char *device, struct fr_error *err)
{
    enum fr_status st = FR_OK;

    pthread_mutex_lock(&a->lock);
    if (why)
        row->why_not = fr__arena_strdup(a->m->arena, why);
    else if (device)
        row->device = fr__arena_strdup(a->m->arena, device);
    if ((why && !row->why_not) || (device && !row->device))
        st = fr__fail_nomem(err);
    a->n_done++;
    if (a->user && a->user->progress)
        a->user->progress(a->user->progress_user, "rows", a->n_done, a->m->n);
    pthread_mutex_unlock(&a->lock);
    return st;
}

static enum fr_status ask_row(void *user, unsigned thread, size_t i, struct fr_error *err)
{
    struct asking *a = user;
    struct fr__measurement *x = &a->m->list[i];
    char *why = NULL, *device = NULL;
    enum fr_status st = FR_OK;

    (void)thread;
    if (!x->row.why_not)
        st = ask(a, x, &why, &device, err);
    if (st == FR_OK)
        st = put(a, &x->row, why, device, err);
    free(why);
    free(device);
    return st;
}

static enum fr_status ask_all(struct fr__measurements *m, unsigned n_threads,
                              const struct fr_context *ctx, struct fr_error *err)
{
    struct asking a = {.m = m, .user = ctx, .session = fr_session_new(NULL)};
    const struct fr__crew crew = {.n_jobs = m->n,
                                  .n_threads = fr__crew_size(n_threads, m->n),
                                  .user = &a,
                                  .work = ask_row,
                                  .cancel = ctx ? ctx->cancel : NULL};
    enum fr_status st;

    if (!a.session || pthread_mutex_init(&a.lock, NULL) != 0) {
        fr_session_free(a.session);
        return fr__fail_nomem(err);
    }
    if (ctx)
        a.context.cancel = ctx->cancel;
    st = fr__crew_run(&crew, err);
    pthread_mutex_destroy(&a.lock);
    fr_session_free(a.session);
    return st;
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

enum fr_status fr_validate(struct fr_validation **out, const char *path,
                           const struct fr_validate_options *how, unsigned n_threads,
                           const struct fr_context *ctx, struct fr_error *err)
{
    struct owned *o = calloc(1, sizeof(*o));
    enum fr_status st;

    if (!o)
        return fr__fail_nomem(err);
    o->validation.priv = o;
    o->measurements.how = how;
    o->measurements.arena = fr__arena_new();
    st = o->measurements.arena ? fr__measurements_read(&o->measurements, path, err)
                               : fr__fail_nomem(err);
    if (st == FR_OK && o->measurements.n == 0)
        st = fr__fail(err, FR_EPARSE, FR_NOWHERE, "'%s' has no rows", path);
    if (st == FR_OK && how->is_anchored)
        st = fr__measurements_anchor(&o->measurements, err);
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
