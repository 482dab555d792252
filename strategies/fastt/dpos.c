/* strategies/fastt/dpos.c - the main loop of DPOS: takes operations by falling rank and puts each
 * on a device. */
#include "config.h"

#include "strategies/fastt/dpos.h"

#include "base/error.h"
#include "base/units.h"
#include "strategies/fastt/dpos_state.h"
#include "lowering/log.h"

#include <math.h>
#include <string.h>

bool fr__dpos_record_make(struct fr__dpos_record *r, struct fr__arena *a, size_t n_ops,
                          size_t n_devices)
{
    size_t n = n_ops * n_devices;

    *r = (struct fr__dpos_record){.longest_s = fr__arena_alloc(a, n_ops, sizeof(*r->longest_s)),
                                  .via_s = fr__arena_alloc(a, n_ops, sizeof(*r->via_s)),
                                  .via = fr__arena_alloc(a, n_ops, sizeof(*r->via)),
                                  .ready_s = fr__arena_alloc(a, n, sizeof(*r->ready_s)),
                                  .est_s = fr__arena_alloc(a, n, sizeof(*r->est_s)),
                                  .eft_s = fr__arena_alloc(a, n, sizeof(*r->eft_s)),
                                  .left_bytes = fr__arena_alloc(a, n, sizeof(*r->left_bytes)),
                                  .needs_bytes = fr__arena_alloc(a, n_ops, sizeof(*r->needs_bytes)),
                                  .why = fr__arena_alloc(a, n_ops, sizeof(*r->why))};
    return r->longest_s && r->via_s && r->via && r->ready_s && r->est_s && r->eft_s &&
           r->left_bytes && r->needs_bytes && r->why;
}

/* Operations that are placed between two looks at whether to stop. */
enum { LOOK_EVERY = 64 };

double fr__dpos_move_s(const struct fr__dpos_machine *m, const struct fr__dag_edge *e, uint32_t src,
                       uint32_t dst)
{
    size_t pair = src * m->n_devices + dst;

    if (e->cargo == FR__DAG_ORDER || src == dst)
        return 0;
    return m->latency_s[pair] + (double)e->bytes * m->s_per_byte[pair];
}

static void begin(struct fr__dpos *p, const struct fr__dag *dag)
{
    memset(p->used_bytes, 0, p->m.n_devices * sizeof(*p->used_bytes));
    memset(p->copy_bytes, 0, p->m.n_devices * sizeof(*p->copy_bytes));
    p->along_bytes = 0;
    memset(p->there, 0, dag->n_ops * p->m.n_devices * sizeof(*p->there));
    for (size_t g = 0; g < dag->n_groups; g++) {
        p->group_bytes[g] = 0;
        p->group_device[g] = FR_NONE;
    }
    for (size_t i = 0; i < dag->n_ops; i++) {
        uint32_t g = dag->ops[i].group;

        p->device[i] = FR_NONE;
        if (g != FR_NONE)
            p->group_bytes[g] += fr__dpos_op_bytes(&dag->ops[i]);
    }
    if (!p->links)
        return;
    for (size_t e = 0; e < dag->n_edges; e++)
        p->there_s[e] = p->between_s[e] = NAN;
    memset(p->n_sent, 0, dag->n_ops * sizeof(*p->n_sent));
    fr__link_times_reset(p->links);
}

static uint64_t left_bytes(const struct fr__dpos *p, uint32_t d)
{
    return p->m.room_bytes[d] - p->used_bytes[d];
}

/* Whether device d has room for `needs` new bytes and the copies that come with them. */
static bool has_room(const struct fr__dpos *p, uint32_t d, uint64_t new_bytes)
{
    if (new_bytes == 0)
        return left_bytes(p, d) >= p->copy_bytes[d];
    return fr__dpos_left(p, d) >= new_bytes + p->copy_bytes[d];
}

/* Whether op is a variable that is placed by its room. A variable takes no time on any device. One
 * that replicas share goes to the device with most room; one whose group reads it waits for the
 * first of its readers. */
static bool is_variable(const struct fr__dpos *p, uint32_t op)
{
    return p->dag->ops[op].role == FR__DAG_VARIABLE;
}

/* An input: it reads nothing and takes no time on any device. */
static bool is_input(const struct fr__dpos *p, uint32_t op)
{
    return p->dag->in_first[op] == p->dag->in_first[op + 1] && !is_variable(p, op) &&
           !(p->row_rank_s[p->dag->ops[op].cost] > 0);
}

static bool waits_for_reader(const struct fr__dpos *p, uint32_t op)
{
    if (fr__dpos_is_bound(p, op) || p->dag->out_first[op] == p->dag->out_first[op + 1])
        return false;
    return is_variable(p, op) ? p->dag->n_replicas == 1 : p->inputs_wait && is_input(p, op);
}

/* The longest move from device d to the readers of op whose device is known. */
static double after_s(const struct fr__dpos *p, uint32_t op, uint32_t d)
{
    const struct fr__dag *dag = p->dag;
    double most_s = 0;

    for (uint32_t k = dag->out_first[op]; k < dag->out_first[op + 1]; k++) {
        const struct fr__dag_edge *e = &dag->edges[k];
        uint32_t g = dag->ops[e->dst].group, there = p->device[e->dst];

        if (there == FR_NONE && g != FR_NONE)
            there = p->group_device[g];
        if (there != FR_NONE)
            most_s = fmax(most_s, fr__dpos_move_s(&p->m, e, d, there));
    }
    return most_s;
}

/* The device with most room; FR_NONE: none has enough. */
static uint32_t most_room(const struct fr__dpos *p, uint64_t needs)
{
    uint32_t best = FR_NONE;

    for (uint32_t d = 0; d < p->m.n_devices; d++)
        if (has_room(p, d, needs) && (best == FR_NONE || left_bytes(p, d) > left_bytes(p, best)))
            best = d;
    return best;
}

/* Chooses the device of a variable. */
static void choose_by_room(const struct fr__dpos *p, const struct fr__dpos_options *o,
                           uint64_t needs, struct fr__dpos_decision *c)
{
    const double *cost_s = p->dag->cost_s + p->dag->ops[c->op].cost * p->dag->n_types;

    c->device = most_room(p, needs);
    if (c->device == FR_NONE)
        return;
    c->start_s = fr__dpos_start_on(p, o, c->device, 0);
    c->end_s = c->start_s + cost_s[p->m.type[c->device]];
}

/* What a device would be chosen by: the end, and what is looked ahead to. */
struct candidate {
    double dt_s, ahead_s;
};

static struct candidate candidate(const struct fr__dpos *p, const struct fr__dpos_options *o,
                                  uint32_t op, uint32_t d)
{
    const double *cost_s = p->dag->cost_s + p->dag->ops[op].cost * p->dag->n_types;

    return (struct candidate){cost_s[p->m.type[d]], o->looks_ahead ? after_s(p, op, d) : 0};
}

/* Where links are shared, the device that would be chosen if they were not: it is tried first, so
 * that most others need not be. Else the first. */
static uint32_t likeliest(const struct fr__dpos *p, const struct fr__dpos_options *o, uint32_t op,
                          uint64_t needs)
{
    double best_s = INFINITY;
    uint32_t best = 0;

    for (uint32_t d = 0; p->links && d < p->m.n_devices; d++) {
        struct candidate k = candidate(p, o, op, d);

        if (p->ready_s[d] + k.dt_s + k.ahead_s < best_s && has_room(p, d, needs)) {
            best_s = p->ready_s[d] + k.dt_s + k.ahead_s;
            best = d;
        }
    }
    return best;
}

/* Chooses the device on which op ends first; c->device FR_NONE: none has room. ready_s is when
 * inputs are there if links are not shared, and no later than if they are. */
static void choose(struct fr__dpos *p, const struct fr__dpos_options *o,
                   struct fr__dpos_decision *c)
{
    uint64_t needs = fr__dpos_needs(p, c->op) + p->along_bytes;
    uint32_t first, n = (uint32_t)p->m.n_devices;
    double best_s = INFINITY;

    c->device = FR_NONE;
    c->end_s = INFINITY;
    if (is_variable(p, c->op)) {
        choose_by_room(p, o, needs, c);
        return;
    }
    first = likeliest(p, o, c->op, needs);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = i == 0 ? first : i <= first ? i - 1 : i;
        struct candidate k;
        double start_s, end_s;

        if (!has_room(p, d, needs))
            continue;
        k = candidate(p, o, c->op, d);
        end_s = p->ready_s[d] + k.dt_s + k.ahead_s;
        if (c->device != FR_NONE && (end_s > best_s || (end_s >= best_s && d > c->device)))
            continue;
        if (p->links)
            fr__dpos_follow_links(p, c->op, d);
        start_s = fr__dpos_start_on(p, o, d, k.dt_s);
        end_s = start_s + k.dt_s + k.ahead_s;
        if (c->device == FR_NONE || end_s < best_s || (end_s <= best_s && d < c->device)) {
            c->device = d;
            c->start_s = start_s;
            c->end_s = start_s + k.dt_s;
            best_s = c->end_s + k.ahead_s;
        }
    }
}

/* Records what each device would have given, or only the one to which the op is bound. For
 * explanations. */
static void record(const struct fr__dpos *p, const struct fr__dpos_options *o, uint32_t op,
                   enum fr__dpos_why why)
{
    const double *cost_s = p->dag->cost_s + p->dag->ops[op].cost * p->dag->n_types;
    struct fr__dpos_record *r = o->record;
    bool is_bound = p->device[op] != FR_NONE;

    r->why[op] = (uint8_t)why;
    r->needs_bytes[op] = is_bound ? 0 : fr__dpos_needs(p, op) + p->along_bytes;
    for (uint32_t d = 0; d < p->m.n_devices; d++) {
        size_t at = op * p->m.n_devices + d;
        double dt_s = cost_s[p->m.type[d]];

        r->ready_s[at] = p->ready_s[d];
        if (r->ahead_s)
            r->ahead_s[at] = o->looks_ahead ? after_s(p, op, d) : 0;
        r->left_bytes[at] = left_bytes(p, d);
        r->est_s[at] = r->eft_s[at] = is_bound ? (double)NAN : (double)INFINITY;
        if (is_bound ? p->device[op] != d : !has_room(p, d, r->needs_bytes[op]))
            continue;
        r->est_s[at] = fr__dpos_start_on(p, o, d, dt_s);
        r->eft_s[at] = r->est_s[at] + dt_s;
    }
}

/* Memory for a bound op was counted when it was bound, but not for the copies that it must receive.
 * If these do not fit, an op of the path may go elsewhere. false: it may not. */
static bool check_copies(struct fr__dpos *p, uint32_t op)
{
    uint32_t d = p->device[op];

    if (d == FR_NONE || p->copy_bytes[d] + p->along_bytes <= left_bytes(p, d))
        return true;
    if (p->dag->ops[op].group != FR_NONE || p->is_placed)
        return false;
    p->used_bytes[d] -= fr__dpos_op_bytes(&p->dag->ops[op]);
    p->device[op] = FR_NONE;
    return true;
}

/* Places the variables that op reads and that waited for it. */
static void take_along(struct fr__dpos *p, uint32_t op)
{
    const struct fr__dag *dag = p->dag;

    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        uint32_t variable = dag->edges[dag->in_edges[k]].src;

        if (p->device[variable] != FR_NONE)
            continue;
        fr__dpos_bind(p, variable, p->device[op]);
        p->start_s[variable] = p->end_s[variable] = 0;
    }
}

/* The devices that have room for an op that is not bound, as bits. */
static uint64_t rooms(const struct fr__dpos *p, uint32_t op)
{
    uint64_t needs = fr__dpos_needs(p, op) + p->along_bytes, bits = 0;

    for (uint32_t d = 0; d < p->m.n_devices; d++)
        bits |= (uint64_t)has_room(p, d, needs) << d;
    return bits;
}

/* Whether a kept decision still holds. It does if all decisions before it were the same, the op is
 * bound to the same device as then, or free as then, and the same devices have room. */
static bool holds(const struct fr__dpos *p, const struct fr__dpos_decision *before)
{
    uint32_t op = before->op;

    if (p->device[op] != FR_NONE)
        return p->device[op] == before->device;
    if (before->rooms == 0 || rooms(p, op) != before->rooms)
        return false;
    return !is_variable(p, op) ||
           most_room(p, fr__dpos_needs(p, op) + p->along_bytes) == before->device;
}

static void decide(struct fr__dpos *p, const struct fr__dpos_options *o, enum fr__dpos_why why,
                   struct fr__dpos_decision *c)
{
    const double *cost_s = p->dag->cost_s + p->dag->ops[c->op].cost * p->dag->n_types;

    c->device = p->device[c->op];
    c->rooms = 0;
    for (uint32_t d = 0; p->links && d < p->m.n_devices; d++)
        if (o->record || c->device == d)
            fr__dpos_follow_links(p, c->op, d);
    if (c->device == FR_NONE)
        why = is_variable(p, c->op) ? FR__DPOS_MOST_ROOM : FR__DPOS_ENDS_FIRST;
    if (o->record)
        record(p, o, c->op, why);
    if (c->device == FR_NONE) {
        if (p->kept.is_made)
            c->rooms = rooms(p, c->op);
        choose(p, o, c);
        return;
    }
    c->start_s = fr__dpos_start_on(p, o, c->device, cost_s[p->m.type[c->device]]);
    c->end_s = c->start_s + cost_s[p->m.type[c->device]];
}

/* Puts op on a device. false: none has room for it. */
static bool put(struct fr__dpos *p, const struct fr__dpos_options *o, uint32_t op,
                struct fr__dpos_result *out)
{
    struct fr__dpos_decision c = {.op = op};
    uint32_t g = p->dag->ops[op].group;
    bool is_before = fr__dpos_kept_follow(p, &c);
    enum fr__dpos_why why = p->is_placed ? FR__DPOS_PLACED : FR__DPOS_OF_PATH;

    fr__dpos_find_inputs(p, op, !is_before);
    if (p->device[op] == FR_NONE && g != FR_NONE) {
        p->device[op] = p->group_device[g];
        why = FR__DPOS_OF_GROUP;
    }
    if (!check_copies(p, op))
        return false;
    if (is_before && !holds(p, &c)) {
        fr__dpos_kept_leave(p);
        fr__dpos_find_inputs(p, op, true);
        is_before = false;
    }
    if (!is_before)
        decide(p, o, why, &c);
    if (c.device == FR_NONE)
        return false;
    if (p->device[op] == FR_NONE)
        fr__dpos_bind(p, op, c.device);
    if (p->links)
        fr__dpos_take_links(p, op);
    fr__dpos_keep_copies(p, op, c.device);
    take_along(p, op);
    p->start_s[op] = c.start_s;
    p->end_s[op] = c.end_s;
    fr__dpos_kept_note(p, &c);
    out->n_decided++;
    out->n_kept += is_before;
    return true;
}

static void report_lack(const struct fr__dpos *p, uint32_t op, struct fr__dpos_result *out)
{
    bool is_bound = p->device[op] != FR_NONE;

    out->outcome = FR__DPOS_NO_ROOM;
    out->lack_op = op;
    out->lack_device = is_bound ? p->device[op] : 0;
    for (uint32_t d = 0; d < p->m.n_devices && !is_bound; d++)
        if (left_bytes(p, d) > left_bytes(p, out->lack_device))
            out->lack_device = d;
    out->lack_bytes =
        p->copy_bytes[out->lack_device] + p->along_bytes + (is_bound ? 0 : fr__dpos_needs(p, op));
    out->left_bytes = left_bytes(p, out->lack_device);
}

double fr__dpos_stop_above(double stop_s, size_t n_ops)
{
    return stop_s > 0 ? stop_s * (1 + 4e-16 * (double)n_ops) : (double)INFINITY;
}

static void put_all(struct fr__dpos *p, const struct fr__dpos_options *o,
                    struct fr__dpos_result *out)
{
    double stop_s = fr__dpos_stop_above(o->stop_s, p->dag->n_ops);

    for (size_t i = 0; i < p->dag->n_ops; i++) {
        uint32_t op = p->priority[i];

        if (i % LOOK_EVERY == 0 && fr__is_cancelled(p->m.ctx)) {
            out->outcome = FR__DPOS_STOPPED;
            return;
        }
        if (waits_for_reader(p, op)) {
            if (o->record)
                o->record->why[op] = FR__DPOS_WITH_READER;
            continue;
        }
        if (!put(p, o, op, out)) {
            report_lack(p, op, out);
            return;
        }
        if (p->end_s[op] + p->tail_s[op] >= stop_s) {
            p->is_too_long = true;
            if (!o->goes_on) {
                out->outcome = FR__DPOS_STOPPED;
                return;
            }
        }
        out->makespan_s = fmax(out->makespan_s, p->end_s[op]);
    }
    fr__dpos_list(p);
}

/* Binds groups to the devices that were asked for and have room. */
static void bind_groups(struct fr__dpos *p, const uint32_t groups[])
{
    for (size_t g = 0; g < p->dag->n_groups; g++) {
        uint32_t d = groups[g];

        if (d == FR_NONE || p->group_bytes[g] > left_bytes(p, d))
            continue;
        p->group_device[g] = d;
        p->used_bytes[d] += p->group_bytes[g];
    }
}

/* Binds all operations to the devices in placed. false: a device has no room. */
static bool keep_placed(struct fr__dpos *p, const uint32_t placed[], uint32_t *lack)
{
    for (uint32_t op = 0; op < p->dag->n_ops; op++) {
        fr__dpos_bind(p, op, placed[op]);
        *lack = op;
        if (p->used_bytes[placed[op]] > p->m.room_bytes[placed[op]])
            return false;
    }
    return true;
}

static void run_once(struct fr__dpos *p, const struct fr__dag *dag,
                     const struct fr__dpos_options *options, struct fr__dpos_result *out)
{
    uint32_t lack = FR_NONE;

    begin(p, dag);
    fr__dpos_kept_begin(p, options);
    if (options->record) {
        options->record->n_rounds = 0;
        options->record->spare_eighths = p->spare_eighths;
    }
    out->outcome = FR__DPOS_DONE;
    out->makespan_s = 0;
    out->n_decided = out->n_kept = 0;
    p->is_placed = options->placed;
    p->inputs_wait = options->inputs_wait;
    p->is_too_long = false;
    if (options->groups && !options->placed)
        bind_groups(p, options->groups);
    if (options->placed && !keep_placed(p, options->placed, &lack)) {
        report_lack(p, lack, out);
        return;
    }
    if (!options->placed && !options->ignores_path)
        fr__dpos_bind_path(p, out->n_path, options->record);
    put_all(p, options, out);
    fr__dpos_kept_end(p, out->outcome == FR__DPOS_DONE);
}

bool fr__dpos_cannot_fit(const struct fr__dag *dag, const struct fr__dpos_machine *m)
{
    uint64_t room_bytes = 0, bytes = 0;

    for (size_t d = 0; d < m->n_devices; d++) {
        if (m->room_bytes[d] > UINT64_MAX - room_bytes)
            return false;
        room_bytes += m->room_bytes[d];
    }
    for (size_t i = 0; i < dag->n_ops && bytes <= room_bytes; i++)
        bytes += fr__dpos_op_bytes(&dag->ops[i]);
    return bytes > room_bytes;
}

/* Plans; if devices are so full that copies of what was put elsewhere have no room, plans again
 * with some room kept for copies. If the dag does not fit at all, the first reason is reported. */
static void run_in_rooms(struct fr__dpos *p, const struct fr__dag *dag,
                         const struct fr__dpos_options *options, struct fr__dpos_result *out)
{
    static const unsigned eighths[] = {1, 2, 4};
    struct fr__dpos_result again = *out;

    p->spare_eighths = 0;
    run_once(p, dag, options, out);
    if (out->outcome != FR__DPOS_NO_ROOM || fr__dpos_cannot_fit(dag, &p->m))
        return;
    for (size_t i = 0; i < 3 && out->outcome == FR__DPOS_NO_ROOM && p->has_copies &&
                       !p->is_placed && !p->is_too_long;
         i++) {
        p->spare_eighths = eighths[i];
        run_once(p, dag, options, &again);
        if (again.outcome != FR__DPOS_NO_ROOM)
            *out = again;
    }
}

/* false: out of memory. */
static bool rank(struct fr__dpos *p, const struct fr__dag *dag,
                 const struct fr__dpos_options *options)
{
    if (!fr__dpos_make_room(p, dag))
        return false;
    p->dag = dag;
    fr__dpos_rank(p, options->ranks_of_means);
    if (options->list)
        memcpy(p->priority, options->list, dag->n_ops * sizeof(*p->priority));
    return true;
}

bool fr__dpos_begin_placed(struct fr__dpos *p, const struct fr__dag *dag,
                           const struct fr__dpos_options *options)
{
    if (!rank(p, dag, options))
        return false;
    p->spare_eighths = 0;
    p->kept.n = 0;
    begin(p, dag);
    fr__dpos_kept_begin(p, &(struct fr__dpos_options){0});
    for (uint32_t op = 0; op < dag->n_ops; op++)
        fr__dpos_bind(p, op, options->placed[op]);
    return true;
}

enum fr_status fr__dpos_run(struct fr__dpos *p, const struct fr__dag *dag,
                            const struct fr__dpos_options *options, struct fr__dpos_result *out,
                            struct fr_error *err)
{
    if (!rank(p, dag, options))
        return fr__fail_nomem(err);
    if (options->record)
        fr__dpos_record_ranks(p, options->ranks_of_means, options->record);
    *out = (struct fr__dpos_result){.rank_s = p->rank_s,
                                    .start_s = p->start_s,
                                    .end_s = p->end_s,
                                    .device = p->device,
                                    .order = p->order,
                                    .position = p->position,
                                    .priority = p->priority,
                                    .path = p->path,
                                    .is_on_path = p->is_on_path,
                                    .used_bytes = p->used_bytes,
                                    .there_s = p->there_s,
                                    .between_s = p->between_s};
    out->n_path = fr__dpos_find_path(p);
    run_in_rooms(p, dag, options, out);
    if (fr__is_cancelled(p->m.ctx))
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
    if (p->links && fr__link_times_failed(p->links))
        return fr__fail_nomem(err);
    return FR_OK;
}

enum fr_status fr__dpos_fail_no_room(const struct fr__dpos_result *r, const char *op_name,
                                     const char *device_name, struct fr_error *err)
{
    char needs[32], left[32];

    return fr__fail(
        err, FR_ENOROOM, FR_NOWHERE,
        "'%s' needs %s with what must be on its device and what it receives; of the devices "
        "that it may be on, %s has most left: %s",
        op_name, fr__format_bytes((double)r->lack_bytes, needs, sizeof(needs)), device_name,
        fr__format_bytes((double)r->left_bytes, left, sizeof(left)));
}
