/* results/text/explain_steps.c - the explanation as text, in the order in which a planner works. */
#include "config.h"

#include "results/text/explain.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "results/text/table.h"

#include <math.h>
#include <string.h>

enum { TIME = 40, MAX_TYPES = 4, MAX_NAMED = 6, READERS = 60, LINE = 96 };

/* ---- cutting ---- */

size_t fr__tell_shown(const struct fr__telling *t, size_t n)
{
    return t->most && n > t->most ? t->most : n;
}

void fr__tell_rest(const struct fr__telling *t, size_t n, const char *what)
{
    if (fr__tell_shown(t, n) < n)
        fprintf(t->f, "  ... and %zu %s more (--ops 0 shows all)\n", n - fr__tell_shown(t, n),
                what);
}

static void put_clean(FILE *f, const char *text)
{
    char clean[FR__TABLE_CELL];

    fr__table_text(clean, text);
    fputs(clean, f);
}

static void cell_op(char cell[FR__TABLE_CELL], const struct fr__telling *t, uint32_t op)
{
    char name[FR__EXPLAIN_NAME];

    fr__table_text(cell, fr__dag_name(t->p->dag, op, name, sizeof(name)));
}

static void cell_time(char cell[FR__TABLE_CELL], const struct fr__telling *t, double s)
{
    fr__explain_time(&t->unit, s, cell, FR__TABLE_CELL);
}

/* ---- the dag ---- */

/* Device types in use, in the order of the devices. */
static size_t list_types(const struct fr__telling *t, uint32_t types[MAX_TYPES])
{
    const struct fr__dpos_machine *m = &t->x->fastt->machine;
    size_t n = 0;

    for (size_t d = 0; d < m->n_devices; d++) {
        size_t k = 0;

        while (k < n && types[k] != m->type[d])
            k++;
        if (k == n && n < MAX_TYPES)
            types[n++] = m->type[d];
    }
    return n;
}

/* "t2, t3 and 4 more" */
static void cell_readers(char cell[FR__TABLE_CELL], const struct fr__telling *t, uint32_t op)
{
    const struct fr__dag *dag = t->p->dag;
    uint32_t first = dag->out_first[op], past = dag->out_first[op + 1];
    char name[FR__EXPLAIN_NAME], text[2 * FR__TABLE_CELL] = "";
    size_t used = 0;

    for (uint32_t e = first; e < past; e++) {
        if (e - first == MAX_NAMED || used > READERS) {
            snprintf(text + used, sizeof(text) - used, " and %u more", past - e);
            break;
        }
        snprintf(text + used, sizeof(text) - used, "%s%s", e > first ? ", " : "",
                 fr__dag_name(dag, dag->edges[e].dst, name, sizeof(name)));
        used += strlen(text + used);
    }
    fr__table_text(cell, text);
}

static void fill_dag(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__telling *t = user;
    const struct fr__dag *dag = t->p->dag;
    uint32_t types[MAX_TYPES];
    size_t n = list_types(t, types);

    cell_op(row->cell[0], t, (uint32_t)i);
    for (size_t k = 0; k < n; k++)
        cell_time(row->cell[1 + k], t, dag->cost_s[dag->ops[i].cost * dag->n_types + types[k]]);
    cell_readers(row->cell[1 + n], t, (uint32_t)i);
}

static void tell_dag(const struct fr__telling *t)
{
    struct fr__table_column columns[MAX_TYPES + 2] = {{"operation", false}};
    const struct fr__dag *dag = t->p->dag;
    uint32_t types[MAX_TYPES];
    size_t n = list_types(t, types);
    const struct fr__table table = {.columns = columns,
                                    .n_columns = n + 2,
                                    .n_rows = fr__tell_shown(t, dag->n_ops),
                                    .fill = fill_dag,
                                    .user = t};

    for (size_t k = 0; k < n; k++)
        columns[1 + k] = (struct fr__table_column){t->x->problem->topo->types[types[k]].name, true};
    columns[1 + n] = (struct fr__table_column){"read by", false};
    fr__table_print(t->f, &table);
    fr__tell_rest(t, dag->n_ops, "operations");
}

/* ---- ranks ---- */

static void fill_rank(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__telling *t = user;
    const struct fr__dpos_record *r = &t->p->record;
    uint32_t op = t->p->result.priority[i];

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", i + 1);
    cell_op(row->cell[1], t, op);
    cell_time(row->cell[2], t, r->longest_s[op]);
    cell_time(row->cell[5], t, t->p->result.rank_s[op]);
    if (r->via[op] == FR_NONE)
        return;
    cell_time(row->cell[3], t, r->via_s[op]);
    cell_time(row->cell[4], t, t->p->result.rank_s[t->p->dag->edges[r->via[op]].dst]);
    cell_op(row->cell[6], t, t->p->dag->edges[r->via[op]].dst);
}

static void tell_ranks(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {
        {"#", true},      {"operation", false}, {"w", true}, {"+ c", true}, {"+ rank there", true},
        {"= rank", true}, {"through", false}};
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 7,
                                    .n_rows = fr__tell_shown(t, t->p->dag->n_ops),
                                    .fill = fill_rank,
                                    .user = t};

    fputs("\nRanks: w, the longest cost, and the most of c + rank over the readers, c the slowest\n"
          "move to them. By falling rank, which is the order in which operations are placed:\n\n",
          t->f);
    fr__table_print(t->f, &table);
    fr__tell_rest(t, t->p->dag->n_ops, "operations");
}

/* ---- the critical path ---- */

static void tell_path(const struct fr__telling *t)
{
    const struct fr__dpos_result *r = &t->p->result;
    size_t shown = fr__tell_shown(t, r->n_path), column = 2;
    char name[FR__EXPLAIN_NAME];

    fputs(
        "\nThe critical path: from the source of the highest rank on to the reader of the highest\n"
        "rank, and so on:\n\n ",
        t->f);
    for (size_t k = 0; k < shown; k++) {
        size_t n = strlen(fr__dag_name(t->p->dag, r->path[k], name, sizeof(name))) + 4;

        if (column + n > LINE) {
            fputs("\n   ", t->f);
            column = 4;
        }
        fputs(k ? " > " : " ", t->f);
        put_clean(t->f, name);
        column += n - 1;
    }
    putc('\n', t->f);
    fr__tell_rest(t, r->n_path, "operations");
}

struct path_round {
    const struct fr__telling *t;
    size_t round;
};

static void fill_prefix(const void *user, size_t d, struct fr__table_row *row)
{
    const struct path_round *o = user;
    const struct fr__telling *t = o->t;
    const struct fr__dpos_record *r = &t->p->record;
    size_t n_devices = t->x->fastt->machine.n_devices;
    const struct fr__dpos_prefix *f = &r->prefixes[o->round * n_devices + d];
    char bytes[TIME];

    fr__table_text(row->cell[0], fr__explain_device(t->x, d));
    fr__table_text(row->cell[1], fr__format_bytes((double)t->x->fastt->machine.room_bytes[d], bytes,
                                                  sizeof(bytes)));
    for (size_t k = 0; k < o->round; k++)
        if (r->round_device[k] == d) {
            snprintf(row->cell[4], FR__TABLE_CELL, "has its part");
            return;
        }
    snprintf(row->cell[2], FR__TABLE_CELL, "%zu of %zu", f->end - f->from,
             t->p->result.n_path - f->from);
    if (f->end > f->from)
        fr__fixed(t->unit.factor * f->mean_s, t->unit.decimals ? 3 : 2, row->cell[3],
                  FR__TABLE_CELL);
    if (r->round_device[o->round] == d)
        snprintf(row->cell[4], FR__TABLE_CELL, "takes them");
}

/* Ties are of devices with the same mean. */
static bool has_tie(const struct path_round *o)
{
    const struct fr__dpos_record *r = &o->t->p->record;
    size_t n_devices = o->t->x->fastt->machine.n_devices;
    const struct fr__dpos_prefix *row = r->prefixes + o->round * n_devices;
    uint32_t best = r->round_device[o->round];

    for (size_t d = 0; d < n_devices; d++)
        if (d != best && row[d].end > row[d].from && row[d].mean_s <= row[best].mean_s)
            return true;
    return false;
}

static void tell_path_devices(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {
        {"device", false}, {"room", true}, {"fits", true}, {"mean cost", true}, {"", false}};

    for (size_t k = 0; k < t->p->record.n_rounds; k++) {
        const struct path_round o = {t, k};
        const struct fr__table table = {.columns = columns,
                                        .n_columns = 5,
                                        .n_rows = t->x->fastt->machine.n_devices,
                                        .fill = fill_prefix,
                                        .user = &o};

        fputs(k == 0 ? "\nIts device: where what fits of it, from its beginning, has the smallest "
                       "mean cost:\n\n"
                     : "\nWhat is left of it goes to another device, likewise:\n\n",
              t->f);
        fr__table_print(t->f, &table);
        if (has_tie(&o))
            fputs("  (of equal means the longer part, then the lower device)\n", t->f);
    }
}

/* ---- decisions, execution list ---- */

static void tell_decisions(const struct fr__telling *t)
{
    size_t n = t->p->dag->n_ops, shown = fr__tell_shown(t, n);

    fputs("\nOperation by operation: when its inputs could be there (ready), its earliest start\n"
          "(EST) and end (EFT). It goes where it ends first, into the first gap that is long "
          "enough:\n",
          t->f);
    for (size_t i = 0; i < shown; i++)
        fr__tell_decision(t, t->p->result.priority[i]);
    fr__tell_rest(t, n, "operations");
}

/* What it waited for: its device or its last input. */
static void cell_wait(char cell[FR__TABLE_CELL], const struct fr__telling *t, uint32_t op)
{
    const struct fr__dpos_result *r = &t->p->result;
    double there_s;
    uint32_t last = fr__explain_last_input(t->x, t->p, op, &there_s);
    char name[FR__EXPLAIN_NAME], text[2 * FR__EXPLAIN_NAME];
    uint32_t src;

    if (!(r->start_s[op] > 0))
        return;
    if (last == FR_NONE || there_s < r->start_s[op]) {
        snprintf(text, sizeof(text), "%s is free", fr__explain_device(t->x, r->device[op]));
        fr__table_text(cell, text);
        return;
    }
    src = t->p->dag->edges[last].src;
    fr__dag_name(t->p->dag, src, name, sizeof(name));
    if (r->device[src] == r->device[op])
        snprintf(text, sizeof(text), "%s is done", name);
    else
        snprintf(text, sizeof(text), "%s is here from %s", name,
                 fr__explain_device(t->x, r->device[src]));
    fr__table_text(cell, text);
}

static void fill_execution(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__telling *t = user;
    const struct fr__dpos_result *r = &t->p->result;
    uint32_t op = r->order[i];

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", i + 1);
    cell_op(row->cell[1], t, op);
    fr__table_text(row->cell[2], fr__explain_device(t->x, r->device[op]));
    cell_time(row->cell[3], t, r->start_s[op]);
    cell_time(row->cell[4], t, r->end_s[op]);
    cell_wait(row->cell[5], t, op);
}

static void tell_execution(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {{"#", true},   {"operation", false},
                                                      {"on", false}, {"start", true},
                                                      {"end", true}, {"starts when", false}};
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 6,
                                    .n_rows = fr__tell_shown(t, t->p->dag->n_ops),
                                    .fill = fill_execution,
                                    .user = t};

    fputs("\nThe execution list, by start:\n\n", t->f);
    fr__table_print(t->f, &table);
    fr__tell_rest(t, t->p->dag->n_ops, "operations");
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
    cell_time(row->cell[1], b->t, b[i].s);
}

static void tell_bounds(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {{"", false}, {"", true}};
    const struct fr__dpos_bounds *b = &t->p->bounds;
    const struct bound rows[] = {
        {t, "the longest chain, each operation on its fastest device", b->path_s},
        {t, "all work shared evenly", b->work_s},
        {t, "the best chain through a move that memory makes necessary", b->cross_s}};
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 2,
                                    .n_rows = b->cross_s > 0 ? 3 : 2,
                                    .fill = fill_bound,
                                    .user = rows};
    char makespan[TIME], best[TIME];

    fprintf(t->f, "\nThe step takes %s %s. No placement takes less than %s, the largest of:\n\n",
            fr__explain_time(&t->unit, t->p->result.makespan_s, makespan, sizeof(makespan)),
            t->unit.name, fr__explain_time(&t->unit, b->best_s, best, sizeof(best)));
    fr__table_print(t->f, &table);
}

static void tell_schedule(const struct fr__telling *t)
{
    tell_execution(t);
    fr__tell_gantt(t);
    tell_bounds(t);
}

static void tell_plan(const struct fr__telling *t)
{
    tell_dag(t);
    tell_ranks(t);
    tell_path(t);
    tell_path_devices(t);
    if (t->p->record.spare_eighths)
        fprintf(
            t->f,
            "\nFilled to the brim, devices had no room for copies of what stands elsewhere: %u/8 "
            "of\neach room was kept for them.\n",
            t->p->record.spare_eighths);
    tell_decisions(t);
    tell_schedule(t);
}

/* ---- splits ---- */

static void fill_try(const void *user, size_t i, struct fr__table_row *row)
{
    static const char *const dims[] = {"whole", "batch", "channel"};
    const struct fr__telling *t = user;
    const struct fr__os_dpos_try *a = &t->x->fastt->result.tries[i];

    if (i == 0 || a[-1].op != a->op)
        cell_op(row->cell[0], t, a->op);
    snprintf(row->cell[1], FR__TABLE_CELL, "%s", dims[a->dim]);
    snprintf(row->cell[2], FR__TABLE_CELL, "%u", a->n);
    cell_time(row->cell[3], t, a->before_s);
    if (isfinite(a->after_s))
        cell_time(row->cell[4], t, a->after_s);
    snprintf(row->cell[5], FR__TABLE_CELL, "%s", fr__explain_try(a));
}

static void tell_longest(const struct fr__telling *t)
{
    const struct fr__os_dpos_result *r = &t->x->fastt->result;

    fprintf(
        t->f,
        "\nSplitting: of the %zu operations on the longest path of this plan, costliest first,\n"
        "those that may be split, tried in all ways:\n\n",
        r->n_path);
}

static void tell_tries(const struct fr__telling *t)
{
    static const struct fr__table_column columns[] = {{"operation", false}, {"along", false},
                                                      {"parts", true},      {"before", true},
                                                      {"after", true},      {"", false}};
    const struct fr__os_dpos_result *r = &t->x->fastt->result;
    const struct fr__table table = {.columns = columns,
                                    .n_columns = 6,
                                    .n_rows = fr__tell_shown(t, r->n_tries),
                                    .fill = fill_try,
                                    .user = t};

    tell_longest(t);
    if (r->n_tries)
        fr__table_print(t->f, &table);
    fr__tell_rest(t, r->n_tries, "tries");
    fprintf(t->f, "%s  %s.\n", r->n_tries ? "\n" : "", fr__explain_end(t->x));
}

/* ---- the whole ---- */

static void tell_question(const struct fr__telling *t)
{
    const struct fr_problem *in = t->x->problem;

    put_clean(t->f, t->x->problem->graph->name);
    if (in->n_devices == in->topo->n_gpus)
        fprintf(t->f, " on all %zu GPUs of ", in->n_devices);
    else
        fprintf(t->f, " on %zu of %zu GPUs of ", in->n_devices, in->topo->n_gpus);
    put_clean(t->f, in->topo->name);
    fputs(", strategy ", t->f);
    put_clean(t->f, t->e->question.strategy);
    fprintf(t->f, "\nglobal batch %u, %s, %s; times in %s\n\n", in->global_batch,
            fr_dtype_name(in->graph->dtype), fr_optimizer_name(in->optimizer), t->unit.name);
}

static void tell_replicas(const struct fr__telling *t)
{
    const struct fr__fastt *f = t->x->fastt;
    char replicas[TIME];

    if (!isfinite(f->replicas_s))
        return;
    fprintf(t->f, "\nReplicas left alone, one whole on each device, take %s %s: %s.\n",
            fr__explain_time(&t->unit, f->replicas_s, replicas, sizeof(replicas)), t->unit.name,
            f->keeps_replicas ? "that is the plan" : "no shorter");
}

/* What came of the splits. */
static void tell_search(struct fr__telling *t)
{
    tell_tries(t);
    tell_replicas(t);
    if (t->x->n_plans < 2)
        return;
    t->p = &t->x->plans[1];
    if (t->p->kind == FR__EXPLAINED_REPLICAS) {
        tell_schedule(t);
        return;
    }
    fprintf(t->f, "\nThe dag with the splits that were kept: %zu operations and %zu edges.\n\n",
            t->p->dag->n_ops, t->p->dag->n_edges);
    tell_plan(t);
}

static void tell_all(struct fr__telling *t)
{
    const struct fr__dag *start = t->x->plans[0].dag;

    fprintf(t->f, "The dag: %s, %zu operations and %zu edges.\n\n",
            t->x->fastt->is_data_parallel ? "a replica on each device, one set of variables"
                                          : "one model",
            start->n_ops, start->n_edges);
    if (t->p->kind == FR__EXPLAINED_REPLICAS)
        fputs(
            "DPOS finds no room for all of it; replicas left alone, one whole on each device, fit "
            "and\nare the plan.\n\n",
            t->f);
    tell_plan(t);
    if (t->x->splits && t->p->kind == FR__EXPLAINED_START)
        tell_search(t);
}

static uint32_t find_op(const struct fr__dag *dag, const char *name)
{
    char buf[FR__EXPLAIN_NAME];

    for (uint32_t i = 0; i < dag->n_ops; i++)
        if (strcmp(fr__dag_name(dag, i, buf, sizeof(buf)), name) == 0)
            return i;
    return FR_NONE;
}

static enum fr_status fail_unknown(const struct fr_explained *x, const char *name,
                                   struct fr_error *err)
{
    const struct fr__dag *dag = x->plans[0].dag;
    struct fr__arena *a = fr__arena_new();
    const char **names = a ? fr__arena_alloc(a, dag->n_ops, sizeof(*names)) : NULL;
    char buf[FR__EXPLAIN_NAME], hint[FR__EXPLAIN_NAME + 32] = "";
    size_t n = 0;

    while (names && n < dag->n_ops) {
        names[n] = fr__arena_strdup(a, fr__dag_name(dag, (uint32_t)n, buf, sizeof(buf)));
        if (!names[n++])
            names = NULL;
    }
    if (names)
        fr__did_you_mean(name, names, n, hint, sizeof(hint));
    fr__arena_free(a);
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no operation of the dag is called '%s'%s", name,
                    hint);
}

/* Of one operation, in the first plan and the last. */
static enum fr_status tell_one(struct fr__telling *t, const char *name, struct fr_error *err)
{
    uint32_t op[2] = {FR_NONE, FR_NONE};

    for (size_t k = 0; k < t->x->n_plans; k++)
        op[k] = find_op(t->x->plans[k].dag, name);
    if (op[0] == FR_NONE && op[1] == FR_NONE)
        return fail_unknown(t->x, name, err);
    tell_question(t);
    for (size_t k = 0; k < t->x->n_plans; k++) {
        t->p = &t->x->plans[k];
        if (k == 1)
            fprintf(t->f, "%s%s:\n\n", op[0] == FR_NONE ? "" : "\n",
                    t->p->kind == FR__EXPLAINED_SPLITS ? "With the splits that were kept"
                                                       : "In replicas left alone, the plan");
        if (op[k] != FR_NONE)
            fr__tell_op(t, op[k]);
        else if (k == 1)
            fputs("it was split, or made way for what was.\n", t->f);
    }
    return FR_OK;
}

/* Where devices are hardly filled memory decides nothing. */
static bool is_memory_tight(const struct fr_explained *x)
{
    const struct fr__dpos_machine *m = &x->fastt->machine;

    for (size_t k = 0; k < x->n_plans; k++)
        for (size_t d = 0; d < m->n_devices; d++)
            if (x->plans[k].result.used_bytes[d] > m->room_bytes[d] / 2)
                return true;
    return false;
}

enum fr_status fr_explanation_print(FILE *f, const struct fr_explanation *e,
                                    const struct fr_explanation_view *v, struct fr_error *err)
{
    struct fr__telling t = {.f = f,
                            .e = e,
                            .x = e->explained,
                            .p = &e->explained->plans[0],
                            .unit = fr__explain_unit(e->explained),
                            .most = v->n_ops,
                            .with_memory = v->op || is_memory_tight(e->explained)};

    if (v->op)
        return tell_one(&t, v->op, err);
    tell_question(&t);
    tell_all(&t);
    return FR_OK;
}
