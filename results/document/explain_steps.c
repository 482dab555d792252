/* results/document/explain_steps.c - one plan as text: graph, decisions, schedule, bounds.
 *
 * It is separate from what is told of all plans (explain.c) and of one operation (explain_op.c).
 * What the record of decisions does not have is left out.
 */
#include "config.h"

#include "results/document/explain.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/cells.h"

#include <string.h>

enum { TIME = 40, MAX_TYPES = 4, MAX_NAMED = 6, READERS = 60, LINE = 96, MAX_NAME = 160 };

/* ---- the dag ---- */

/* A table has no room for more. */
static size_t n_columns(const struct fr__telling *t)
{
    return t->x->n_columns < MAX_TYPES ? t->x->n_columns : MAX_TYPES;
}

/* "t2, t3 and 4 more" */
static void cell_readers(char cell[FR__TABLE_CELL], const struct fr__telling *t, uint32_t op)
{
    const struct fr_decided_plan *p = t->p;
    uint32_t first = p->out_first[op], past = p->out_first[op + 1];
    char text[2 * FR__TABLE_CELL] = "";
    size_t used = 0;

    for (uint32_t e = first; e < past; e++) {
        if (e - first == MAX_NAMED || used > READERS) {
            snprintf(text + used, sizeof(text) - used, " and %u more", past - e);
            break;
        }
        snprintf(text + used, sizeof(text) - used, "%s%.*s", e > first ? ", " : "", MAX_NAME,
                 p->ops[p->edges[e].dst].name);
        used += strlen(text + used);
    }
    fr__table_text(cell, text);
}

static void fill_dag(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__telling *t = user;
    size_t n = n_columns(t);

    fr__tell_cell_op(row->cell[0], t, (uint32_t)i);
    for (size_t k = 0; k < n; k++)
        fr__tell_cell_time(row->cell[1 + k], t, t->p->cost_s[i * t->x->n_columns + k]);
    cell_readers(row->cell[1 + n], t, (uint32_t)i);
}

static void tell_dag(const struct fr__telling *t)
{
    struct fr__table_column columns[MAX_TYPES + 2] = {{"operation", false}};
    size_t n = n_columns(t);
    const struct fr__table table = {.columns = columns,
                                    .n_columns = n + 2,
                                    .n_rows = fr__tell_shown(t, t->p->n_ops),
                                    .fill = fill_dag,
                                    .user = t};

    if (!t->p->edges || !t->p->cost_s)
        return;
    for (size_t k = 0; k < n; k++)
        columns[1 + k] = (struct fr__table_column){t->x->columns[k], true};
    columns[1 + n] = (struct fr__table_column){"read by", false};
    fr__say_table(t->doc, &table, 0);
    fr__tell_rest(t, t->p->n_ops, "operations");
}

/* ---- ranks ---- */

static void fill_rank(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__telling *t = user;
    uint32_t op = t->p->list[i];
    const struct fr_decided_op *o = &t->p->ops[op];

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", i + 1);
    fr__tell_cell_op(row->cell[1], t, op);
    fr__tell_cell_time(row->cell[2], t, o->longest_s);
    fr__tell_cell_time(row->cell[5], t, o->rank_s);
    if (t->p->has_down_ranks) {
        fr__tell_cell_time(row->cell[7], t, o->down_s);
        fr__tell_cell_time(row->cell[8], t, o->rank_s + o->down_s);
    }
    if (o->via == FR_NONE)
        return;
    fr__tell_cell_time(row->cell[3], t, o->via_s);
    fr__tell_cell_time(row->cell[4], t, t->p->ops[o->via].rank_s);
    fr__tell_cell_op(row->cell[6], t, o->via);
}

static void tell_ranks(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {
        {"#", true},        {"operation", false},   {"w", true},
        {"+ c", true},      {"+ rank there", true}, {"= rank", true},
        {"through", false}, {"+ downward", true},   {"= priority", true}};
    const struct fr__table table = {.columns = columns,
                                    .n_columns = t->p->has_down_ranks ? 9 : 7,
                                    .n_rows = fr__tell_shown(t, t->p->n_ops),
                                    .fill = fill_rank,
                                    .user = t};

    if (!t->p->rank_rule || !t->p->list)
        return;
    fr__say(t->doc, "\n%s\n\n", t->p->rank_rule);
    fr__say_table(t->doc, &table, 0);
    fr__tell_rest(t, t->p->n_ops, "operations");
}

/* ---- the critical path ---- */

static void tell_path(const struct fr__telling *t)
{
    const struct fr_decided_plan *p = t->p;
    size_t shown = fr__tell_shown(t, p->n_path), column = 2;

    if (!p->path_rule)
        return;
    fr__say(t->doc, "\n%s\n\n ", p->path_rule);
    for (size_t k = 0; k < shown; k++) {
        const char *name = p->ops[p->path[k]].name;
        size_t n = strlen(name) + 4;

        if (column + n > LINE) {
            fr__say(t->doc, "\n   ");
            column = 4;
        }
        fr__say(t->doc, "%s", k ? " > " : " ");
        fr__say_name(t->doc, name);
        column += n - 1;
    }
    fr__say(t->doc, "\n");
    fr__tell_rest(t, p->n_path, "operations");
}

struct path_round {
    const struct fr__telling *t;
    size_t round;
};

static void fill_candidate(const void *user, size_t d, struct fr__table_row *row)
{
    const struct path_round *o = user;
    const struct fr__telling *t = o->t;
    const struct fr_decided_plan *p = t->p;
    const struct fr_path_candidate *f = &p->candidates[o->round * t->x->n_devices + d];
    char bytes[TIME];

    fr__table_text(row->cell[0], t->x->devices[d].name);
    fr__table_text(row->cell[1],
                   fr__format_bytes((double)t->x->devices[d].room_bytes, bytes, sizeof(bytes)));
    for (size_t k = 0; k < o->round; k++)
        if (p->round_device[k] == d) {
            snprintf(row->cell[4], FR__TABLE_CELL, "has its part");
            return;
        }
    snprintf(row->cell[2], FR__TABLE_CELL, "%zu of %zu", f->end - f->from, p->n_path - f->from);
    if (f->end > f->from)
        fr__fixed(t->unit.factor * f->mean_s, t->unit.decimals ? 3 : 2, row->cell[3],
                  FR__TABLE_CELL);
    if (p->round_device[o->round] == d)
        snprintf(row->cell[4], FR__TABLE_CELL, "takes them");
}

/* Ties are of devices with the same mean. */
static bool has_tie(const struct path_round *o)
{
    const struct fr_decided_plan *p = o->t->p;
    size_t n_devices = o->t->x->n_devices;
    const struct fr_path_candidate *row = p->candidates + o->round * n_devices;
    uint32_t best = p->round_device[o->round];

    for (size_t d = 0; d < n_devices; d++)
        if (d != best && row[d].end > row[d].from && row[d].mean_s <= row[best].mean_s)
            return true;
    return false;
}

static void tell_path_devices(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {
        {"device", false}, {"room", true}, {"fits", true}, {"mean cost", true}, {"", false}};

    for (size_t k = 0; k < t->p->n_rounds; k++) {
        const struct path_round o = {t, k};
        const struct fr__table table = {.columns = columns,
                                        .n_columns = 5,
                                        .n_rows = t->x->n_devices,
                                        .fill = fill_candidate,
                                        .user = &o};

        fr__say(t->doc, "\n%s\n\n", t->p->round_rules[k > 0]);
        fr__say_table(t->doc, &table, 0);
        if (has_tie(&o))
            fr__say(t->doc, "  %s\n", t->p->tie_rule);
    }
    if (t->p->path_note)
        fr__say(t->doc, "\n%s\n", t->p->path_note);
}

/* ---- decisions, execution list ---- */

static void tell_decisions(const struct fr__telling *t)
{
    size_t n = t->p->n_ops, shown = fr__tell_shown(t, n);

    if (!t->p->list)
        return;
    if (t->p->list_rule)
        fr__say(t->doc, "\n%s\n", t->p->list_rule);
    for (size_t i = 0; i < shown; i++)
        fr__tell_decision(t, t->p->list[i]);
    fr__tell_rest(t, n, "operations");
}

/* What it waited for: its device or its last input. */
static void cell_wait(char cell[FR__TABLE_CELL], const struct fr__telling *t, uint32_t op)
{
    const struct fr_decided_op *o = &t->p->ops[op], *src;
    double there_s;
    char text[MAX_NAME + 80];
    uint32_t last;

    if (!(o->start_s > 0) || !t->p->edges)
        return;
    last = fr__explain_last_input(t->p, op, &there_s);
    if (last == FR_NONE || there_s < o->start_s) {
        snprintf(text, sizeof(text), "%s is free", t->x->devices[o->device].name);
        fr__table_text(cell, text);
        return;
    }
    src = &t->p->ops[t->p->edges[last].src];
    if (src->device == o->device)
        snprintf(text, sizeof(text), "%s is done", src->name);
    else
        snprintf(text, sizeof(text), "%s is here from %s", src->name,
                 t->x->devices[src->device].name);
    fr__table_text(cell, text);
}

static void fill_execution(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__telling *t = user;
    uint32_t op = t->p->order[i];
    const struct fr_decided_op *o = &t->p->ops[op];

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", i + 1);
    fr__tell_cell_op(row->cell[1], t, op);
    fr__table_text(row->cell[2], t->x->devices[o->device].name);
    fr__tell_cell_time(row->cell[3], t, o->start_s);
    fr__tell_cell_time(row->cell[4], t, o->end_s);
    cell_wait(row->cell[5], t, op);
}

static void tell_execution(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {{"#", true},   {"operation", false},
                                                      {"on", false}, {"start", true},
                                                      {"end", true}, {"starts when", false}};
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 6,
                                    .n_rows = fr__tell_shown(t, t->p->n_ops),
                                    .fill = fill_execution,
                                    .user = t};

    fr__say(t->doc, "\nThe execution list, by start:\n\n");
    fr__say_table(t->doc, &table, 0);
    fr__tell_rest(t, t->p->n_ops, "operations");
}

struct bound {
    const struct fr__telling *t;
    const char *what;
    double s;
};

static void fill_bound(const void *user, size_t i, struct fr__table_row *row)
{
    const struct bound *b = user;

    snprintf(row->cell[0], FR__TABLE_CELL, "%s", b[i].what);
    fr__tell_cell_time(row->cell[1], b->t, b[i].s);
}

static void tell_bounds(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {{"", false}, {"", true}};
    const struct fr_decided_bounds *b = &t->p->bounds;
    struct bound rows[3] = {
        {t, "the longest chain, each operation on its fastest device", b->path_s},
        {t, "all work shared evenly", b->work_s}};
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 2,
                                    .n_rows = b->cross_s > 0 || b->search_s > 0 ? 3 : 2,
                                    .fill = fill_bound,
                                    .user = rows};
    char makespan[TIME], best[TIME];

    rows[2] = b->search_s > 0
                  ? (struct bound){t, "what the search proved", b->search_s}
                  : (struct bound){t, "the best chain through a move that memory makes necessary",
                                   b->cross_s};
    fr__say(t->doc, "\nThe step takes %s%s.",
            fr__explain_time(&t->unit, t->p->makespan_s, makespan, sizeof(makespan)),
            t->unit.after);
    if (!(b->best_s > 0)) {
        fr__say(t->doc, "\n");
        return;
    }
    fr__say(t->doc, " No placement takes less than %s, the largest of:\n\n",
            fr__explain_time(&t->unit, b->best_s, best, sizeof(best)));
    fr__say_table(t->doc, &table, 0);
}

void fr__tell_schedule(const struct fr__telling *t)
{
    tell_execution(t);
    fr__tell_gantt(t);
    tell_bounds(t);
}

void fr__tell_plan(const struct fr__telling *t)
{
    tell_dag(t);
    tell_ranks(t);
    tell_path(t);
    tell_path_devices(t);
    tell_decisions(t);
    fr__tell_schedule(t);
}
