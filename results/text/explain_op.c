/* results/text/explain_op.c - one operation: the decision about it, and its whole story. */
#include "config.h"

#include "results/text/explain.h"

#include "base/units.h"
#include "results/text/table.h"

#include <math.h>
#include <string.h>

enum { TIME = 40 };

struct decision {
    const struct fr__telling *t;
    uint32_t op;
};

static void put_op(const struct fr__telling *t, uint32_t op)
{
    char name[FR__EXPLAIN_NAME], clean[FR__TABLE_CELL];

    fr__table_text(clean, fr__dag_name(t->p->dag, op, name, sizeof(name)));
    fputs(clean, t->f);
}

static void put_time(const struct fr__telling *t, double s)
{
    char text[TIME];

    fputs(fr__explain_time(&t->unit, s, text, sizeof(text)), t->f);
}

/* "into the gap from 16 to 29", "free from 37 on". */
static void describe_gap(const struct fr__telling *t, uint32_t op, char *buf, size_t n)
{
    char begin[TIME], end[TIME];
    double end_s = t->p->gap_end_s[op];

    fr__explain_time(&t->unit, t->p->gap_begin_s[op], begin, sizeof(begin));
    if (isinf(end_s))
        snprintf(buf, n, "free from %s on", begin);
    else
        snprintf(buf, n, "into the gap from %s to %s", begin,
                 fr__explain_time(&t->unit, end_s, end, sizeof(end)));
}

/* ---- where it may choose ---- */

static void fill_device(const void *user, size_t d, struct fr__table_row *row)
{
    const struct decision *c = user;
    const struct fr__telling *t = c->t;
    const struct fr__explained_plan *p = t->p;
    size_t n_devices = t->x->fastt->machine.n_devices, at = c->op * n_devices + d;
    bool is_variable = p->record.why[c->op] == FR__DPOS_MOST_ROOM;
    char gap[2 * TIME], bytes[TIME];

    fr__table_text(row->cell[0], fr__explain_device(t->x, d));
    fr__explain_time(&t->unit, p->record.ready_s[at], row->cell[1], FR__TABLE_CELL);
    fr__explain_time(&t->unit, p->record.est_s[at], row->cell[2], FR__TABLE_CELL);
    fr__explain_time(&t->unit, p->record.eft_s[at], row->cell[3], FR__TABLE_CELL);
    if (t->with_memory || is_variable)
        fr__table_text(row->cell[4],
                       fr__format_bytes((double)p->record.left_bytes[at], bytes, sizeof(bytes)));
    if (d != p->result.device[c->op])
        return;
    describe_gap(t, c->op, gap, sizeof(gap));
    if (is_variable)
        snprintf(row->cell[5], FR__TABLE_CELL, "most room");
    else
        snprintf(row->cell[5], FR__TABLE_CELL, "%s, %s",
                 fr__explained_equals(p, c->op, n_devices) ? "first of equal ends" : "ends first",
                 gap);
}

static void tell_choice(const struct fr__telling *t, uint32_t op)
{
    static const struct fr__table_column columns[] = {{"on", false}, {"ready", true}, {"EST", true},
                                                      {"EFT", true}, {"", true},      {"", false}};
    static const struct fr__table_column with_memory[] = {
        {"on", false}, {"ready", true}, {"EST", true}, {"EFT", true}, {"left", true}, {"", false}};
    const struct decision c = {t, op};
    bool has_left = t->with_memory || t->p->record.why[op] == FR__DPOS_MOST_ROOM;
    const struct fr__table table = {.columns = has_left ? with_memory : columns,
                                    .n_columns = 6,
                                    .n_rows = t->x->fastt->machine.n_devices,
                                    .fill = fill_device,
                                    .user = &c};
    char bytes[TIME];

    if (has_left && t->p->record.needs_bytes[op] > 0)
        fprintf(t->f, ": needs %s",
                fr__format_bytes((double)t->p->record.needs_bytes[op], bytes, sizeof(bytes)));
    if (t->p->record.why[op] == FR__DPOS_ENDS_FIRST && t->p->result.is_on_path[op])
        fputs(", on the critical path, but its device has no room for what it receives", t->f);
    putc('\n', t->f);
    fr__table_print(t->f, &table);
}

/* ---- where it is bound ---- */

static void tell_bound(const struct fr__telling *t, uint32_t op)
{
    const struct fr__explained_plan *p = t->p;
    uint32_t d = p->result.device[op];
    char gap[2 * TIME];

    describe_gap(t, op, gap, sizeof(gap));
    fprintf(t->f, ": %s, %s\n  ready ", fr__explain_why((enum fr__dpos_why)p->record.why[op]),
            fr__explain_device(t->x, d));
    put_time(t, p->record.ready_s[op * t->x->fastt->machine.n_devices + d]);
    fputs(", starts ", t->f);
    put_time(t, p->result.start_s[op]);
    fputs(", ends ", t->f);
    put_time(t, p->result.end_s[op]);
    fprintf(t->f, "; %s\n", gap);
}

void fr__tell_decision(const struct fr__telling *t, uint32_t op)
{
    const struct fr__explained_plan *p = t->p;
    enum fr__dpos_why why = (enum fr__dpos_why)p->record.why[op];

    fprintf(t->f, "\n%u. ", p->place[op] + 1);
    put_op(t, op);
    fputs(", rank ", t->f);
    put_time(t, p->result.rank_s[op]);
    if (why == FR__DPOS_WITH_READER) {
        fputs(": a variable, stands with the first of its readers, ", t->f);
        put_op(t, fr__explained_reader(p, op));
        fprintf(t->f, ", on %s\n", fr__explain_device(t->x, p->result.device[op]));
    } else if (why == FR__DPOS_OF_PATH || why == FR__DPOS_OF_GROUP || why == FR__DPOS_PLACED) {
        tell_bound(t, op);
    } else {
        tell_choice(t, op);
    }
}

/* ---- the whole story ---- */

static void fill_input(const void *user, size_t i, struct fr__table_row *row)
{
    const struct decision *c = user;
    const struct fr__telling *t = c->t;
    const struct fr__dag *dag = t->p->dag;
    const struct fr__dag_edge *e = &dag->edges[dag->in_edges[dag->in_first[c->op] + i]];
    const struct fr__dpos_result *r = &t->p->result;
    double move_s = fr__dpos_move_s(&t->x->fastt->machine, e, r->device[e->src], r->device[c->op]);
    char name[FR__EXPLAIN_NAME], bytes[TIME];

    fr__table_text(row->cell[0], fr__dag_name(dag, e->src, name, sizeof(name)));
    fr__table_text(row->cell[1], fr__explain_device(t->x, r->device[e->src]));
    fr__table_text(row->cell[2], e->cargo == FR__DAG_ORDER
                                     ? "nothing"
                                     : fr__format_bytes((double)e->bytes, bytes, sizeof(bytes)));
    fr__explain_time(&t->unit, r->end_s[e->src], row->cell[3], FR__TABLE_CELL);
    fr__explain_time(&t->unit, move_s, row->cell[4], FR__TABLE_CELL);
    fr__explain_time(&t->unit, r->end_s[e->src] + move_s, row->cell[5], FR__TABLE_CELL);
}

static void tell_inputs(const struct fr__telling *t, uint32_t op)
{
    static const struct fr__table_column columns[] = {{"input", false}, {"on", false},
                                                      {"moves", true},  {"done", true},
                                                      {"takes", true},  {"here", true}};
    const struct decision c = {t, op};
    size_t n = t->p->dag->in_first[op + 1] - t->p->dag->in_first[op];
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 6,
                                    .n_rows = fr__tell_shown(t, n),
                                    .fill = fill_input,
                                    .user = &c};

    fprintf(t->f, "\nWhat it reads, on %s:\n\n", fr__explain_device(t->x, t->p->result.device[op]));
    if (n)
        fr__table_print(t->f, &table);
    else
        fputs("  nothing\n", t->f);
    fr__tell_rest(t, n, "inputs");
}

static void tell_rank(const struct fr__telling *t, uint32_t op)
{
    const struct fr__dpos_record *r = &t->p->record;

    put_op(t, op);
    fputs(": rank ", t->f);
    put_time(t, t->p->result.rank_s[op]);
    fputs(" = ", t->f);
    put_time(t, r->longest_s[op]);
    fputs(" (longest cost)", t->f);
    if (r->via[op] != FR_NONE) {
        uint32_t next = t->p->dag->edges[r->via[op]].dst;

        fputs(" + ", t->f);
        put_time(t, r->via_s[op]);
        fputs(" (slowest move) + ", t->f);
        put_time(t, t->p->result.rank_s[next]);
        fputs(" (rank of ", t->f);
        put_op(t, next);
        putc(')', t->f);
    }
    fprintf(t->f, "%s\n",
            t->p->result.is_on_path[op] ? "; on the critical path" : "; not on the critical path");
}

void fr__tell_op(const struct fr__telling *t, uint32_t op)
{
    tell_rank(t, op);
    tell_inputs(t, op);
    fprintf(t->f, "\nThe decision, as number %u of %zu:\n", t->p->place[op] + 1, t->p->dag->n_ops);
    fr__tell_decision(t, op);
}
