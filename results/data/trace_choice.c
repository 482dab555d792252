/* results/data/trace_choice.c - which tasks of a run a trace shows: of which ranks, of which
 * micro-batches.
 *
 * It is separate because it reads the user's list of ranks and knows no format. The later
 * micro-batches of a long pipeline repeat the first ones, and a viewer in a browser can open only
 * some hundred megabytes.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/data/trace_choice.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 128 };

/* ---- ranks ---- */

static enum fr_status mark_rank(const struct fr_topo *t, const char *name, bool shown[],
                                struct fr_error *err)
{
    uint64_t rank;
    size_t n;

    if (name[strspn(name, "0123456789")])
        return fr_topo_match(t, name, shown, &n, err);
    FR_TRY(fr__parse_count(name, "option '--trace-ranks'", FR_NOWHERE, 0, t->n_devices - 1, &rank,
                           err));
    shown[rank] = true;
    return FR_OK;
}

/* Numbers or names of devices, commas between. */
static enum fr_status mark_ranks(const struct fr_topo *t, const char *list, bool shown[],
                                 struct fr_error *err)
{
    char name[MAX_RANK];

    for (;;) {
        size_t n = strcspn(list, ",");

        if (n == 0 || n >= sizeof(name))
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "option '--trace-ranks' has a name of %zu bytes, expected ranks such "
                            "as 0,4 or n0.gpu0..3",
                            n);
        memcpy(name, list, n);
        name[n] = '\0';
        FR_TRY(mark_rank(t, name, shown, err));
        if (!list[n])
            return FR_OK;
        list += n + 1;
    }
}

/* Of ranks that do the same only one has tasks: the others cannot be shown. */
static enum fr_status check_tasks(const struct fr_plan_view *v, const char *list,
                                  const bool shown[], struct fr_error *err)
{
    uint32_t least = FR_NONE, most = 0;

    for (size_t i = 0; i < v->n_tasks; i++) {
        uint32_t device = v->tasks[i].device;

        if (shown[device])
            return FR_OK;
        least = device < least ? device : least;
        most = device > most ? device : most;
    }
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "option '--trace-ranks' is \"%.100s\": no task runs there; tasks run from %s "
                    "to %s, and ranks that do the same stand there once",
                    list, least == FR_NONE ? "none" : v->topo->devices[least].name,
                    least == FR_NONE ? "none" : v->topo->devices[most].name);
}

/* ---- micro-batches ---- */

static uint32_t count_micro(const struct fr_plan_view *v)
{
    uint32_t n = 0;

    for (size_t i = 0; i < v->n_tasks; i++)
        if (v->tasks[i].microbatch != FR_NONE && v->tasks[i].microbatch >= n)
            n = v->tasks[i].microbatch + 1;
    return n;
}

/* How many micro-batches fit; at least one. */
static enum fr_status limit_micro(const struct fr_plan_view *v, struct fr__trace_choice *c,
                                  struct fr_error *err)
{
    size_t *tasks = calloc((size_t)c->of + 1, sizeof(*tasks)), sum = 0;

    if (!tasks)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < v->n_tasks; i++) {
        uint32_t micro = v->tasks[i].microbatch;

        if (!c->devices[v->tasks[i].device])
            continue;
        if (micro == FR_NONE)
            sum++;
        else
            tasks[micro]++;
    }
    for (c->micro = 0; c->micro < c->of; c->micro++) {
        sum += tasks[c->micro];
        if (c->micro > 0 && sum > FR_TRACE_TASKS)
            break;
    }
    free(tasks);
    return FR_OK;
}

static void find_gap(const struct fr_plan_view *v, const double end_s[], struct fr__trace_choice *c)
{
    for (size_t i = 0; i < v->n_tasks; i++) {
        uint32_t micro = v->tasks[i].microbatch;

        if (micro == FR_NONE || !c->devices[v->tasks[i].device])
            continue;
        if (micro < c->micro && end_s[i] > c->gap_start_s)
            c->gap_start_s = end_s[i];
        if (micro >= c->micro && end_s[i] > c->gap_end_s)
            c->gap_end_s = end_s[i];
    }
}

enum fr_status fr__trace_choose(const struct fr_record *r, const struct fr_trace_options *o,
                                struct fr__trace_choice *out, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    size_t n = v->topo->n_devices;
    struct fr__trace_choice c = {.devices = calloc(n + 1, sizeof(bool)), .of = count_micro(v)};
    enum fr_status st = FR_OK;

    if (!c.devices)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n && !(o && o->ranks); i++)
        c.devices[i] = true;
    if (o && o->ranks)
        st = mark_ranks(v->topo, o->ranks, c.devices, err);
    if (st == FR_OK && o && o->ranks)
        st = check_tasks(v, o->ranks, c.devices, err);
    c.micro = o && o->micro_batches > 0 && o->micro_batches < c.of ? o->micro_batches : c.of;
    if (st == FR_OK && !(o && o->micro_batches > 0))
        st = limit_micro(v, &c, err);
    if (st != FR_OK) {
        free(c.devices);
        return st;
    }
    find_gap(v, r->run->end_s, &c);
    *out = c;
    return FR_OK;
}

bool fr__trace_shows(const struct fr__trace_choice *c, const struct fr_task *task)
{
    return c->devices[task->device] && (task->microbatch == FR_NONE || task->microbatch < c->micro);
}

enum fr_status fr_trace_extent(const struct fr_record *r, const struct fr_trace_options *o,
                               uint32_t *micro_batches, uint32_t *of, struct fr_error *err)
{
    struct fr__trace_choice c;

    FR_TRY(fr__trace_choose(r, o, &c, err));
    *micro_batches = c.micro;
    *of = c.of;
    free(c.devices);
    return FR_OK;
}
