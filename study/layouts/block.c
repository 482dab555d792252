/* study/layouts/block.c - what each layer of a model takes and holds for one micro-batch, read off
 * a run of one stage.
 *
 * Passes of a layer: from the end of the layer before it to its own end, so that all of them
 * together are the run. Bytes: block_bytes.c.
 */
#include "config.h"

#include "study/layouts/block.h"

#include "base/error.h"
#include "workloads/passes/units.h"

#include <math.h>
#include <stdlib.h>

/* ---- items ---- */

/* The item of each layer. Layers of no unit are before the first one, or after the last; between
 * two they go with the one before, as where stages are cut (lowering/pipeline/stages.c). NULL: out
 * of memory. */
static uint32_t *items_of_layers(const struct fr__units *u, size_t n_layers)
{
    uint32_t *items = malloc((n_layers + 1) * sizeof(*items));
    size_t end = n_layers;
    uint32_t item = 0;

    if (!items)
        return NULL;
    while (end > 0 && u->unit_of_layer[end - 1] == FR_NONE)
        end--;
    for (size_t l = 0; l < n_layers; l++) {
        if (l < end && u->unit_of_layer[l] != FR_NONE)
            item = u->unit_of_layer[l] + 1;
        items[l] = l < end ? item : (uint32_t)u->n_units + 1;
    }
    return items;
}

enum fr_status fr__items_of(uint32_t **out, size_t *n_items, const struct fr_graph *g,
                            const struct fr_graph *model, struct fr_error *err)
{
    uint32_t *items = malloc((g->n_ops + 1) * sizeof(*items)), *of_layer = NULL;
    struct fr__units u;
    enum fr_status st = items ? fr__units_within(&u, g, model, err) : fr__fail_nomem(err);

    if (st == FR_OK) {
        *n_items = u.n_units + 2;
        of_layer = items_of_layers(&u, g->n_layers);
        fr__units_free(&u);
        st = of_layer ? FR_OK : fr__fail_nomem(err);
    }
    for (size_t o = 0; st == FR_OK && o < g->n_ops; o++)
        items[o] = of_layer[g->ops[o].layer]; /* its forward op has that layer too */
    free(of_layer);
    if (st != FR_OK) {
        free(items);
        return st;
    }
    *out = items;
    return FR_OK;
}

/* ---- reading ---- */

static void read_ends(struct fr__block_reading *x)
{
    for (size_t t = 0; t < x->v->n_tasks; t++) {
        const struct fr_task *k = &x->v->tasks[t];
        double *end;
        uint32_t item;

        if (!fr__is_block_pass(x, t))
            continue;
        item = x->item_of[k->op];
        end = &x->ends_s[k->phase != FR_PHASE_FORWARD][item];
        *end = fmax(*end, x->run->end_s[t]);
        *(k->kind == FR_TASK_COMPUTE ? &x->b->busy_s[k->phase != FR_PHASE_FORWARD][item]
                                     : &x->messages_s[k->phase != FR_PHASE_FORWARD][item]) +=
            x->run->end_s[t] - x->run->start_s[t];
        if (k->phase == FR_PHASE_BACKWARD_WEIGHT && k->kind == FR_TASK_COMPUTE)
            x->b->weight_s[item] += x->run->end_s[t] - x->run->start_s[t];
    }
}

/* Messages of the backward pass that are in flight while gradients of weights are made: where a
 * schedule cuts the pass in two, nothing hides them. Messages of a device come one after another.
 */
static void read_hidden(struct fr__block_reading *x)
{
    size_t *messages = x->scratch, n = 0;

    for (size_t t = 0; t < x->v->n_tasks; t++)
        if (fr__is_block_pass(x, t) && x->v->tasks[t].kind != FR_TASK_COMPUTE &&
            x->v->tasks[t].phase == FR_PHASE_BACKWARD_DATA)
            messages[n++] = t;
    for (size_t t = 0; t < x->v->n_tasks; t++) {
        double *hidden_s;

        if (!fr__is_block_pass(x, t) || x->v->tasks[t].kind != FR_TASK_COMPUTE ||
            x->v->tasks[t].phase != FR_PHASE_BACKWARD_WEIGHT)
            continue;
        hidden_s = &x->b->hidden_s[x->item_of[x->v->tasks[t].op]];
        for (size_t i = 0; i < n; i++)
            *hidden_s += fmax(0, fmin(x->run->end_s[t], x->run->end_s[messages[i]]) -
                                     fmax(x->run->start_s[t], x->run->start_s[messages[i]]));
    }
}

struct span {
    double from_s, to_s;
};

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

/* Between the start of the first layer's first op and the end of its last one, the time in which
 * the GPU computes or has a message of its own in flight. Without gaps: in them it waits for its
 * host, which may be ahead after the first micro-batch. Without the embedding: the next micro-batch
 * may begin with it while this one waits for its last message. */
static enum fr_status read_path(struct fr__block_reading *x, struct fr_error *err)
{
    struct span *spans = malloc((x->v->n_tasks + 1) * sizeof(*spans));
    double first_s = INFINITY, last_s = 0, until_s = 0;
    size_t n = 0;

    if (!spans)
        return fr__fail_nomem(err);
    for (size_t t = 0; t < x->v->n_tasks; t++) {
        if (!fr__is_block_pass(x, t) || x->item_of[x->v->tasks[t].op] == 0)
            continue;
        spans[n++] = (struct span){x->run->start_s[t], x->run->end_s[t]};
        if (x->v->tasks[t].kind == FR_TASK_COMPUTE) {
            first_s = fmin(first_s, x->run->start_s[t]);
            last_s = fmax(last_s, x->run->end_s[t]);
        }
    }
    qsort(spans, n, sizeof(*spans), by_start);
    until_s = first_s;
    for (size_t i = 0; i < n; i++) {
        double from_s = fmax(spans[i].from_s, until_s), to_s = fmin(spans[i].to_s, last_s);

        x->b->path_s += fmax(0, to_s - from_s);
        until_s = fmax(until_s, to_s);
    }
    free(spans);
    return FR_OK;
}

/* What is left of a pass without its waits for messages: what it computes, and where it waits for
 * the host. */
static void take_messages(struct fr__block_reading *x, int pass, size_t item, double pass_s)
{
    double *busy_s = &x->b->busy_s[pass][item];
    double idle_s = fmax(0, fmin(x->messages_s[pass][item], pass_s - *busy_s));

    *busy_s = pass_s - idle_s;
}

/* Forwards up, backwards down; an item without a pass ends where the one before it did. */
static void read_times(struct fr__block_reading *x)
{
    size_t n = x->b->n_items;
    double at = 0;

    read_ends(x);
    read_hidden(x);
    for (size_t i = 0; i < n; i++) {
        double end = fmax(at, x->ends_s[0][i]);

        x->b->forward_s[i] = end - at;
        take_messages(x, 0, i, end - at);
        x->ends_s[0][i] = at = end;
    }
    for (size_t i = n; i-- > 0;) {
        double end = fmax(at, x->ends_s[1][i]);

        x->b->backward_s[i] = end - at;
        take_messages(x, 1, i, end - at);
        x->ends_s[1][i] = at = end;
        x->b->weight_s[i] = fmin(x->b->weight_s[i], x->b->backward_s[i]);
    }
}

/* ---- all of it ---- */

static uint32_t first_device(const struct fr_plan_view *v)
{
    uint32_t device = UINT32_MAX;

    for (size_t t = 0; t < v->n_tasks; t++)
        device = v->tasks[t].device < device ? v->tasks[t].device : device;
    return device;
}

static bool make_arrays(struct fr__block *b, size_t n, struct fr__arena *a)
{
    double **arrays[] = {&b->forward_s,     &b->backward_s,    &b->weight_s,       &b->busy_s[0],
                         &b->busy_s[1],     &b->hidden_s,      &b->kept_bytes,     &b->held_bytes,
                         &b->between_bytes, &b->forward_bytes, &b->backward_bytes, &b->backward_own,
                         &b->input_bytes,   &b->weight_bytes,  &b->weight_own};

    b->n_items = n;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        if (!(*arrays[i] = fr__arena_alloc(a, n, sizeof(double))))
            return false;
    return true;
}

enum fr_status fr__block_read(struct fr__probe *p, const struct fr__job *j,
                              const struct fr_record *r, struct fr_error *err)
{
    struct fr__block_reading x = {.b = &p->block, .v = fr_plan_view(r->plan), .run = r->run};
    uint32_t *items;
    size_t n;
    enum fr_status st = FR_OK;

    FR_TRY(fr__items_of(&items, &n, x.v->graph, j->setting.graph, err));
    x.item_of = items;
    x.device = first_device(x.v);
    x.ends_s[0] = calloc(4 * n, sizeof(double));
    x.scratch = malloc((x.v->n_tasks + 1) * sizeof(*x.scratch));
    if (!x.ends_s[0] || !x.scratch || !make_arrays(x.b, n, p->arena)) {
        st = fr__fail_nomem(err);
    } else {
        x.ends_s[1] = x.ends_s[0] + n;
        x.messages_s[0] = x.ends_s[1] + n;
        x.messages_s[1] = x.messages_s[0] + n;
        read_times(&x);
        st = read_path(&x, err);
        if (st == FR_OK)
            st = fr__block_bytes(&x, err);
        if (st == FR_OK)
            st = fr__block_steps(x.b, r, x.device, items, p->arena, err);
    }
    free(x.ends_s[0]);
    free(x.scratch);
    free(items);
    return st;
}
