/* study/advice/trial.c - one trial of a search for what fits, and what becomes of it. */
#include "config.h"

#include "base/error.h"
#include "study/advice/adviser.h"

static const uint64_t MOST_EVENTS = 10000000;

enum fr_status fr__advice_try(struct adviser *a, const struct fr_setting *s,
                              const struct fr_question *q, struct trial *out)
{
    struct fr_question asked = *q;
    struct fr_record *r = NULL;
    struct fr_error err;
    bool is_overfull = false;
    enum fr_status st;

    *out = (struct trial){0};
    if (a->events > MOST_EVENTS) {
        a->is_cut_short = true;
        return FR_OK;
    }
    a->n_tried++;
    asked.is_overfull = &is_overfull;
    st = fr_answer_on(s, &asked, &a->context, &r, &err);
    if (st == FR_ENOMEM || st == FR_ECANCELLED) {
        *a->err = err;
        return st;
    }
    out->is_answered = out->is_overfull = is_overfull;
    if (st != FR_OK) {
        a->events += a->record->correction.n_events; /* measured steps were run all the same */
        return FR_OK;
    }
    a->events += r->run->stats.events + r->correction.n_events;
    *out = (struct trial){.fits = !r->oom,
                          .is_answered = true,
                          .samples_per_s = r->samples_per_s,
                          .peak_bytes = r->peak_bytes};
    fr_record_free(r);
    return FR_OK;
}

enum fr_status fr__advice_add(struct adviser *a, const struct trial *t, const char *change,
                              const char *options, bool changes_training)
{
    struct fr_record_advice *x = &a->list[a->n];

    if (!t->fits || a->n == FR_RECORD_MAX_ADVICE)
        return FR_OK;
    x->change = fr__arena_strdup(a->arena, change);
    x->options = fr__arena_strdup(a->arena, options);
    if (!x->change || !x->options)
        return fr__fail_nomem(a->err);
    x->changes_training = changes_training;
    x->samples_per_s = t->samples_per_s;
    x->speed = a->record->samples_per_s > 0 ? t->samples_per_s / a->record->samples_per_s : 0;
    x->peak_bytes = t->peak_bytes;
    a->n++;
    return FR_OK;
}
