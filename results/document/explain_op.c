/* results/document/explain_op.c - one operation as text: its inputs, its rank, the decision about
 * it.
 *
 * It is separate because a plan tells each decision, and --op tells one operation alone.
 */
#include "config.h"

#include "results/document/explain.h"

#include "base/units.h"
#include "results/parts/cells.h"

#include <math.h>
#include <string.h>

enum { TIME = 40 };

struct decision {
    const struct fr__telling *t;
    uint32_t op;
};

static void put_op(const struct fr__telling *t, uint32_t op)
{
    fr__say_name(t->doc, t->p->ops[op].name);
}

static void put_time(const struct fr__telling *t, double s)
{
    char text[TIME];

    fr__say(t->doc, "%s", fr__explain_time(&t->unit, s, text, sizeof(text)));
}

/* "into the gap from 16 to 29", "free from 37 on". */
static void describe_gap(const struct fr__telling *t, uint32_t op, char *buf, size_t n)
{
    char begin[TIME], end[TIME];
    double end_s = t->p->ops[op].gap_end_s;

    fr__explain_time(&t->unit, t->p->ops[op].gap_begin_s, begin, sizeof(begin));
    if (isinf(end_s))
        snprintf(buf, n, "free from %s on", begin);
    else
        snprintf(buf, n, "into the gap from %s to %s", begin,
                 fr__explain_time(&t->unit, end_s, end, sizeof(end)));
}

/* ---- a choice among devices ---- */

static void fill_device(const void *user, size_t d, struct fr__table_row *row)
{
    const struct decision *c = user;
    const struct fr__telling *t = c->t;
    const struct fr_decided_op *o = &t->p->ops[c->op];
    size_t n_devices = t->x->n_devices;
    const struct fr_alternative *a = &t->p->alternatives[c->op * n_devices + d];
    size_t k = t->p->looks_ahead ? 5 : 4;
    char gap[2 * TIME], bytes[TIME];

    fr__table_text(row->cell[0], t->x->devices[d].name);
    fr__explain_time(&t->unit, a->ready_s, row->cell[1], FR__TABLE_CELL);
    fr__explain_time(&t->unit, a->start_s, row->cell[2], FR__TABLE_CELL);
    fr__explain_time(&t->unit, a->end_s, row->cell[3], FR__TABLE_CELL);
    if (t->p->looks_ahead)
        fr__explain_time(&t->unit, a->ahead_s, row->cell[4], FR__TABLE_CELL);
    if (t->with_memory || o->reason->is_by_room)
        fr__table_text(row->cell[k], fr__format_bytes((double)a->left_bytes, bytes, sizeof(bytes)));
    if (d != o->device)
        return;
    describe_gap(t, c->op, gap, sizeof(gap));
    if (o->reason->is_by_room)
        snprintf(row->cell[k + 1], FR__TABLE_CELL, "%s", o->reason->picked);
    else
        snprintf(row->cell[k + 1], FR__TABLE_CELL, "%s, %s",
                 fr__explain_equals(t->p, c->op, n_devices) ? o->reason->picked_of_equals
                                                            : o->reason->picked,
                 gap);
}

static void tell_choice(const struct fr__telling *t, uint32_t op)
{
    const struct decision c = {t, op};
    const struct fr_decided_op *o = &t->p->ops[op];
    bool has_left = t->with_memory || o->reason->is_by_room;
    size_t k = t->p->looks_ahead ? 5 : 4;
    struct fr__table_column columns[7] = {
        {"on", false}, {"ready", true}, {"EST", true}, {"EFT", true}, {"ahead", true}};
    const struct fr__table table = {.columns = columns,
                                    .n_columns = k + 2,
                                    .n_rows = t->x->n_devices,
                                    .fill = fill_device,
                                    .user = &c};
    char bytes[TIME];

    columns[k] = (struct fr__table_column){has_left ? "left" : "", true};
    columns[k + 1] = (struct fr__table_column){"", false};
    if (has_left && o->needs_bytes > 0)
        fr__say(t->doc, ": needs %s",
                fr__format_bytes((double)o->needs_bytes, bytes, sizeof(bytes)));
    if (o->remark)
        fr__say(t->doc, "%s", o->remark);
    fr__say(t->doc, "\n");
    fr__say_table(t->doc, &table, 0);
}

/* ---- a device that is given ---- */

static void tell_bound(const struct fr__telling *t, uint32_t op)
{
    const struct fr_decided_op *o = &t->p->ops[op];
    char gap[2 * TIME];

    describe_gap(t, op, gap, sizeof(gap));
    fr__say(t->doc, ": %s, %s\n  ready ", o->reason->words, t->x->devices[o->device].name);
    put_time(t, t->p->alternatives[op * t->x->n_devices + o->device].ready_s);
    fr__say(t->doc, ", starts ");
    put_time(t, o->start_s);
    fr__say(t->doc, ", ends ");
    put_time(t, o->end_s);
    fr__say(t->doc, "; %s\n", gap);
}

void fr__tell_decision(const struct fr__telling *t, uint32_t op)
{
    const struct fr_decided_plan *p = t->p;
    const struct fr_decided_op *o = &p->ops[op];

    fr__say(t->doc, "\n%u. ", p->place[op] + 1);
    put_op(t, op);
    if (p->rank_rule) {
        fr__say(t->doc, ", rank ");
        put_time(t, o->rank_s);
    }
    if (o->reason->kind == FR_REASON_FOLLOWS) {
        fr__say(t->doc, ": %s, ", o->reason->words);
        put_op(t, o->follows);
        fr__say(t->doc, ", on %s\n", t->x->devices[o->device].name);
    } else if (o->reason->kind == FR_REASON_BOUND) {
        tell_bound(t, op);
    } else {
        tell_choice(t, op);
    }
}

/* ---- inputs and rank ---- */

static void fill_input(const void *user, size_t i, struct fr__table_row *row)
{
    const struct decision *c = user;
    const struct fr__telling *t = c->t;
    const struct fr_decided_plan *p = t->p;
    const struct fr_decided_edge *e = &p->edges[p->in_edges[p->in_first[c->op] + i]];
    const struct fr_decided_op *src = &p->ops[e->src];
    char bytes[TIME];

    fr__table_text(row->cell[0], src->name);
    fr__table_text(row->cell[1], t->x->devices[src->device].name);
    fr__table_text(row->cell[2], e->is_order
                                     ? "nothing"
                                     : fr__format_bytes((double)e->bytes, bytes, sizeof(bytes)));
    fr__explain_time(&t->unit, src->end_s, row->cell[3], FR__TABLE_CELL);
    fr__explain_time(&t->unit, e->move_s, row->cell[4], FR__TABLE_CELL);
    fr__explain_time(&t->unit, src->end_s + e->move_s, row->cell[5], FR__TABLE_CELL);
}

static void tell_inputs(const struct fr__telling *t, uint32_t op)
{
    static const struct fr__table_column columns[] = {{"input", false}, {"on", false},
                                                      {"moves", true},  {"done", true},
                                                      {"takes", true},  {"here", true}};
    const struct decision c = {t, op};
    size_t n = t->p->in_first[op + 1] - t->p->in_first[op];
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 6,
                                    .n_rows = fr__tell_shown(t, n),
                                    .fill = fill_input,
                                    .user = &c};

    fr__say(t->doc, "\nWhat it reads, on %s:\n\n", t->x->devices[t->p->ops[op].device].name);
    if (n)
        fr__say_table(t->doc, &table, 0);
    else
        fr__say(t->doc, "  nothing\n");
    fr__tell_rest(t, n, "inputs");
}

static void tell_rank(const struct fr__telling *t, uint32_t op)
{
    const struct fr_decided_op *o = &t->p->ops[op];

    put_op(t, op);
    fr__say(t->doc, ": rank ");
    put_time(t, o->rank_s);
    fr__say(t->doc, " = ");
    put_time(t, o->longest_s);
    fr__say(t->doc, " (longest cost)");
    if (o->via != FR_NONE) {
        fr__say(t->doc, " + ");
        put_time(t, o->via_s);
        fr__say(t->doc, " (slowest move) + ");
        put_time(t, t->p->ops[o->via].rank_s);
        fr__say(t->doc, " (rank of ");
        put_op(t, o->via);
        fr__say(t->doc, ")");
    }
    fr__say(t->doc, "%s\n",
            o->is_on_path ? "; on the critical path" : "; not on the critical path");
}

void fr__tell_op(const struct fr__telling *t, uint32_t op)
{
    const struct fr_decided_plan *p = t->p;

    if (p->rank_rule)
        tell_rank(t, op);
    if (p->edges)
        tell_inputs(t, op);
    if (!p->list)
        return;
    fr__say(t->doc, "\nThe decision, as number %u of %zu:\n", p->place[op] + 1, p->n_ops);
    fr__tell_decision(t, op);
}
