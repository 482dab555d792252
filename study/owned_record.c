/* study/owned_record.c - the life of a record. */
#include "config.h"

#include "study/owned_record.h"

#include "base/arena.h"

#include <stdlib.h>

struct fr__owned_record *fr__owned_record_new(struct fr_plan *plan, struct fr_run *run)
{
    struct fr__owned_record *o = calloc(1, sizeof(*o));

    if (!o)
        return NULL;
    o->arena = fr__arena_new();
    if (!o->arena) {
        free(o);
        return NULL;
    }
    atomic_init(&o->n_owners, 1);
    o->plan = plan;
    o->run = run;
    o->record.priv = o;
    return o;
}

void fr__owned_record_drop(struct fr__owned_record *o)
{
    fr__arena_free(o->arena);
    free(o);
}

struct fr__arena *fr__record_arena(struct fr_record *r)
{
    return ((struct fr__owned_record *)r->priv)->arena;
}

void fr__record_own(struct fr_record *r, const struct fr_setting *s,
                    void (*release)(struct fr_setting *s))
{
    struct fr__owned_record *o = r->priv;

    o->setting = *s;
    o->release_setting = release;
}

void fr__record_own_session(struct fr_record *r, struct fr_session *s,
                            void (*release)(struct fr_session *s))
{
    struct fr__owned_record *o = r->priv;

    o->session = s;
    o->release_session = release;
}

struct fr_record *fr__record_share(struct fr_record *r)
{
    struct fr__owned_record *o = r->priv;

    atomic_fetch_add(&o->n_owners, 1);
    return r;
}

/* Tasks with their dependencies and times, and buffers; the rest is small compared to these. */
size_t fr__record_bytes(const struct fr_record *r)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    enum { A_TASK = 128, A_BUFFER = 64, A_RECORD = 65536 };

    return A_RECORD + A_TASK * v->n_tasks + A_BUFFER * v->n_buffers;
}

void fr_record_free(struct fr_record *r)
{
    struct fr__owned_record *o = r ? r->priv : NULL;

    if (!o || atomic_fetch_sub(&o->n_owners, 1) > 1)
        return;
    fr_decisions_free(o->decisions);
    fr_run_free(o->run);
    fr_plan_free(o->plan);
    if (o->release_setting)
        o->release_setting(&o->setting);
    if (o->release_session)
        o->release_session(o->session);
    fr__arena_free(o->arena);
    free(o);
}
