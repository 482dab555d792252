/* study/answer/recut.c - what a run measured corrects what the next cut believes. */
#include "config.h"

#include "study/answer/recut.h"

#include "base/error.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A choice of ours: each time costs a plan and a run. Messages that come early are not believed,
 * and each cut can make another rank the one that gets them. So what was learned of a rank is worth
 * less for the next cut, and four times were too few for some interleaved schedules. */
enum { MOST_TIMES = 8 };

enum fr_status fr__recut_init(struct fr__recut *r, struct fr__making *m, struct fr_error *err)
{
    size_t n = m->setting->topo->n_devices + 1;

    *r = (struct fr__recut){.m = m};
    r->more_bytes = calloc(n, sizeof(*r->more_bytes));
    m->cut_memory.more_bytes = r->more_bytes;
    m->cut_memory.believed_bytes = calloc(n, sizeof(*m->cut_memory.believed_bytes));
    return r->more_bytes && m->cut_memory.believed_bytes ? FR_OK : fr__fail_nomem(err);
}

void fr__made_cut_drop(struct fr__made_cut *k)
{
    fr_plan_free(k->plan);
    fr_plan_free(k->unordered);
    fr_run_free(k->run);
    fr_decisions_free(k->decisions);
    *k = (struct fr__made_cut){.plan = NULL};
}

void fr__recut_fini(struct fr__recut *r)
{
    fr__made_cut_drop(&r->best);
    free(r->more_bytes);
    r->m->cut_memory.more_bytes = NULL;
}

/* What a device needed. What an allocator has reserved counts where it was not enough: else it
 * holds on to some that it could give back. */
static double held_bytes(const struct fr_device_result *d)
{
    double context_bytes = (double)d->peak_by_kind[FR_BUFFER_CONTEXT] + (double)d->left_bytes;

    if (d->peak_allocated_bytes == 0)
        return (double)d->peak_bytes;
    return context_bytes + (double)(d->is_over ? d->peak_reserved_bytes : d->peak_allocated_bytes);
}

/* Bytes by which the fullest device is over its capacity; *fullest: that device. */
static double over_bytes(const struct fr__recut *r, size_t *fullest)
{
    const struct fr_topo *t = r->m->setting->topo;
    double worst_bytes = -INFINITY;

    for (size_t d = 0; d < t->n_devices; d++) {
        double bytes =
            held_bytes(&r->m->run->devices[d]) - (double)t->types[t->devices[d].type].mem_bytes;

        if (r->m->run->devices[d].is_over && bytes > worst_bytes) {
            worst_bytes = bytes;
            *fullest = d;
        }
    }
    return worst_bytes;
}

/* Whether all devices were believed to have room, and some was over. */
static bool is_mistaken(const struct fr__recut *r)
{
    const struct fr_topo *t = r->m->setting->topo;
    bool is_over = false;

    for (size_t d = 0; d < t->n_devices; d++) {
        double believed_bytes = r->m->cut_memory.believed_bytes[d];

        if (believed_bytes > (double)t->types[t->devices[d].type].mem_bytes)
            return false;
        is_over = is_over || (believed_bytes > 0 && r->m->run->devices[d].is_over);
    }
    return is_over;
}

static void learn(struct fr__recut *r)
{
    const struct fr__making *m = r->m;

    for (size_t d = 0; d < m->setting->topo->n_devices; d++) {
        double believed_bytes = m->cut_memory.believed_bytes[d]; /* with more_bytes */
        double more_bytes = held_bytes(&m->run->devices[d]) - believed_bytes;

        if (believed_bytes > 0)
            r->more_bytes[d] = fmax(r->more_bytes[d], r->more_bytes[d] + more_bytes);
    }
    memset(m->cut_memory.believed_bytes, 0,
           m->setting->topo->n_devices * sizeof(*m->cut_memory.believed_bytes));
}

void fr__made_cut_take(struct fr__made_cut *k, struct fr__making *m)
{
    *k = (struct fr__made_cut){m->plan,      m->unordered, m->run, m->decisions,
                               m->n_ordered, m->cut,       ""};
    memcpy(k->note, m->cut_memory.note, sizeof(k->note));
    m->plan = m->unordered = NULL;
    m->run = NULL;
    m->decisions = NULL;
    m->n_ordered = 0;
    m->cut_memory.note[0] = '\0';
    free(m->ahead_s);
    free(m->is_inside);
    m->ahead_s = NULL;
    m->is_inside = NULL;
    m->host.is_inside = NULL;
    m->host.ahead_s = NULL;
}

void fr__made_cut_give(struct fr__making *m, struct fr__made_cut *k)
{
    m->plan = k->plan;
    m->unordered = k->unordered;
    m->run = k->run;
    m->decisions = k->decisions;
    m->n_ordered = k->n_ordered;
    m->cut = k->cut;
    memcpy(m->cut_memory.note, k->note, sizeof(k->note));
    *k = (struct fr__made_cut){.plan = NULL};
}

static void say_first(struct fr__recut *r, size_t device)
{
    const struct fr_topo *t = r->m->setting->topo;
    char held[32], room[32];

    if (r->n_times > 0)
        return;
    fr__format_bytes(held_bytes(&r->m->run->devices[device]), held, sizeof(held));
    fr__format_bytes((double)t->types[t->devices[device].type].mem_bytes, room, sizeof(room));
    snprintf(r->first, sizeof(r->first), "by the first cut %.40s held %.20s of %.20s",
             t->devices[device].name, held, room);
}

/* The plan at hand is the one; the note tells of the first. */
static bool end(struct fr__recut *r)
{
    char *note = r->m->cut_memory.note;
    size_t used = strlen(note), size = sizeof(r->m->cut_memory.note);

    if (r->n_times > 0)
        snprintf(note + used, size - used, "%sthe stages were cut again, as %s", used ? "; " : "",
                 r->first);
    return false;
}

bool fr__recut_again(struct fr__recut *r)
{
    size_t fullest = 0;
    double over = over_bytes(r, &fullest);
    bool is_last = r->n_times == MOST_TIMES || !is_mistaken(r);

    if (is_last && r->best.plan && over > r->best_over_bytes) {
        struct fr__made_cut worse;

        fr__made_cut_take(&worse, r->m);
        fr__made_cut_drop(&worse);
        fr__made_cut_give(r->m, &r->best);
    }
    if (is_last)
        return end(r);
    say_first(r, fullest);
    learn(r);
    r->n_times++;
    if (r->best.plan && over >= r->best_over_bytes) {
        struct fr__made_cut worse;

        fr__made_cut_take(&worse, r->m);
        fr__made_cut_drop(&worse);
        return true;
    }
    fr__made_cut_drop(&r->best);
    fr__made_cut_take(&r->best, r->m);
    r->best_over_bytes = over;
    return true;
}
