/* lowering/dag/names.c - names of a dag's operations, which no two share. */
#include "config.h"

#include "lowering/dag/dag.h"

#include <stdio.h>

static bool is_alike(const struct fr__dag_op *a, const struct fr__dag_op *b)
{
    return a->role == b->role && a->op == b->op && a->replica == b->replica &&
           a->n_parts == b->n_parts && a->part == b->part;
}

/* How many operations directly before it would have the same name. Helpers of one operation are
 * neighbours. */
static unsigned namesakes(const struct fr__dag *dag, uint32_t op)
{
    unsigned n = 0;

    while (n < op && is_alike(&dag->ops[op - n - 1], &dag->ops[op]))
        n++;
    return n;
}

const char *fr__dag_own_name(const struct fr__dag *dag, uint32_t op)
{
    const struct fr__dag_op *o = &dag->ops[op];

    if (o->role != FR__DAG_OP || o->replica != FR_NONE || o->n_parts > 1 || o->op == FR_NONE)
        return NULL;
    return dag->pl ? dag->pl->graph->ops[o->op].name : NULL;
}

const char *fr__dag_name(const struct fr__dag *dag, uint32_t op, char *buf, size_t n)
{
    static const char *const works[FR__N_DAG_ROLES] = {"", "parameters of ", "sum of gradients of ",
                                                       "split for ", "join of "};
    const struct fr__dag_op *o = &dag->ops[op];
    const char *name = dag->pl && o->op != FR_NONE ? dag->pl->graph->ops[o->op].name : "operation";
    unsigned before = o->op == FR_NONE ? 0 : namesakes(dag, op);
    char replica[24] = "", part[40] = "", number[16] = "";

    if (o->replica != FR_NONE)
        snprintf(replica, sizeof(replica), " of replica %u", o->replica + 1u);
    if (o->n_parts > 1)
        snprintf(part, sizeof(part), ", part %u of %u", o->part + 1u, (unsigned)o->n_parts);
    if (before > 0)
        snprintf(number, sizeof(number), " (%u)", before + 1);
    snprintf(buf, n, "%s%s%s%s%s", works[o->role], name, replica, part, number);
    return buf;
}
