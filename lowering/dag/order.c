/* lowering/dag/order.c - sorts operations by where they are in the program. */
#include "config.h"

#include "lowering/dag/order.h"

#include "base/error.h"

#include <stdlib.h>

enum part { VARIABLES, BODIES, TAIL };

struct keyed {
    uint8_t part;
    uint32_t place; /* in the graph: of the op, or of the last op that a sum or update waits for */
    uint32_t id;
};

static int compare(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void find_key(const struct fr__dag *dag, struct keyed keys[], uint32_t op)
{
    const struct fr__dag_op *o = &dag->ops[op];
    struct keyed *k = &keys[op];

    *k = (struct keyed){.part = BODIES, .place = o->op, .id = op};
    if (o->role == FR__DAG_VARIABLE)
        k->part = VARIABLES;
    if (o->role != FR__DAG_SUM && (o->role != FR__DAG_OP || !fr__dag_is_tail(dag, o->op)))
        return;
    k->part = TAIL;
    k->place = 0;
    for (uint32_t i = dag->in_first[op]; i < dag->in_first[op + 1]; i++) {
        const struct keyed *in = &keys[dag->edges[dag->in_edges[i]].src];

        if (in->part != VARIABLES && in->place > k->place)
            k->place = in->place;
    }
}

enum fr_status fr__dag_program_order(const struct fr__dag *dag, uint32_t order[],
                                     struct fr_error *err)
{
    struct keyed *keys = malloc((dag->n_ops + 1) * sizeof(*keys));

    if (!keys)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < dag->n_ops; i++) /* what an op reads has a lower index */
        find_key(dag, keys, i);
    qsort(keys, dag->n_ops, sizeof(*keys), compare);
    for (size_t i = 0; i < dag->n_ops; i++)
        order[i] = keys[i].id;
    free(keys);
    return FR_OK;
}
