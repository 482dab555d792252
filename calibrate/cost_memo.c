/* calibrate/cost_memo.c - a table of costs for each pair of device type and batch, filled when an
 * op is asked for. */
#include "config.h"

#include "calibrate/cost_memo.h"

#include <stdlib.h>

enum { MOST_TABLES = 64 };

struct table {
    uint32_t type;
    double batch;
    bool *is_known;        /* [n_ops] */
    struct fr_cost *costs; /* [n_ops] */
};

struct fr_cost_memo {
    const struct fr_cost_model *costs;
    const struct fr_graph *graph;
    size_t n_tables, last;
    struct table tables[MOST_TABLES];
};

struct fr_cost_memo *fr__cost_memo_new(const struct fr_cost_model *costs,
                                       const struct fr_graph *graph)
{
    struct fr_cost_memo *m = calloc(1, sizeof(*m));

    if (m) {
        m->costs = costs;
        m->graph = graph;
    }
    return m;
}

void fr__cost_memo_free(struct fr_cost_memo *m)
{
    for (size_t i = 0; m && i < m->n_tables; i++) {
        free(m->tables[i].is_known);
        free(m->tables[i].costs);
    }
    free(m);
}

static bool is_of(const struct table *t, uint32_t type, double batch)
{
    return t->type == type && !(t->batch < batch) && !(t->batch > batch);
}

static struct table *add_table(struct fr_cost_memo *m, uint32_t type, double batch)
{
    struct table t = {.type = type, .batch = batch};

    if (m->n_tables == MOST_TABLES)
        return NULL;
    t.is_known = calloc(m->graph->n_ops + 1, sizeof(*t.is_known));
    t.costs = malloc((m->graph->n_ops + 1) * sizeof(*t.costs));
    if (!t.is_known || !t.costs) {
        free(t.is_known);
        free(t.costs);
        return NULL;
    }
    m->tables[m->n_tables] = t;
    m->last = m->n_tables++;
    return &m->tables[m->last];
}

/* The table of a pair, made if there is room; NULL: this pair is not remembered. */
static struct table *table_of(struct fr_cost_memo *m, uint32_t type, double batch)
{
    if (m->n_tables > 0 && is_of(&m->tables[m->last], type, batch))
        return &m->tables[m->last];
    for (size_t i = 0; i < m->n_tables; i++)
        if (is_of(&m->tables[i], type, batch)) {
            m->last = i;
            return &m->tables[i];
        }
    return add_table(m, type, batch);
}

void fr__cost_memo_op(struct fr_cost_memo *m, uint32_t type, uint32_t op,
                      const struct fr_part *part, struct fr_cost *out)
{
    bool is_whole = part->channel_parts <= 1 && part->input_parts <= 1;
    struct table *t = is_whole ? table_of(m, type, part->batch) : NULL;

    if (!t || !t->is_known[op])
        fr_cost_op(m->costs, type, m->graph, op, part, out);
    if (t && !t->is_known[op]) {
        t->costs[op] = *out;
        t->is_known[op] = true;
    } else if (t) {
        *out = t->costs[op];
    }
}
