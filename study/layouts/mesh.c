/* study/layouts/mesh.c - what the stages of a mesh keep and exchange, read off a run of the whole
 * mesh with one micro-batch of one sample.
 *
 * Gradients leave after the backward pass in that run, so that each message shows what it takes;
 * how much of it other work hides is worked out for each layout (coarse.c).
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

struct reading {
    struct fr__mesh_price *m;
    const struct fr_plan_view *v;
    const struct fr_run *run;
    const uint32_t *item_of;
    uint32_t *rank_of;  /* [n_devices] of the pipeline; FR_NONE: runs nothing */
    uint32_t *first_of; /* [n_ranks] the first device of each rank */
};

/* The rank of each device: that of the layers whose forward pass it runs. A folded plan has one
 * device a rank, any other all of them. */
static void find_ranks(struct reading *x)
{
    for (size_t d = 0; d < x->v->topo->n_devices; d++)
        x->rank_of[d] = FR_NONE;
    for (uint32_t r = 0; r < x->m->n_ranks; r++)
        x->first_of[r] = FR_NONE;
    for (size_t t = 0; t < x->v->n_tasks; t++) {
        const struct fr_task *k = &x->v->tasks[t];
        uint32_t rank;

        if (k->kind != FR_TASK_COMPUTE || k->phase != FR_PHASE_FORWARD || k->op == FR_NONE ||
            x->rank_of[k->device] != FR_NONE)
            continue;
        rank = fr__stage_of_item(x->item_of[k->op], x->m->n_items, x->m->n_ranks);
        x->rank_of[k->device] = rank;
        if (x->first_of[rank] == FR_NONE)
            x->first_of[rank] = k->device;
    }
}

static double length(const struct reading *x, size_t t)
{
    return x->run->end_s[t] - x->run->start_s[t];
}

/* Where plain stages share weights (lowering/replica/tail.c), their gradient goes to one end of
 * the pipeline and the new weights to the other, once an iteration. */
static void read_shared(struct reading *x, const struct fr_transfer *f, double s[FR_N_PHASES])
{
    enum fr_phase phase = (enum fr_phase)x->v->tasks[f->send].phase;

    s[phase] = fmax(s[phase], fmax(length(x, f->send), length(x, f->recv)));
}

static void read_messages(struct reading *x)
{
    double longest = 0, shared_s[FR_N_PHASES] = {0};

    for (size_t i = 0; i < x->v->n_transfers; i++) {
        const struct fr_transfer *f = &x->v->transfers[i];
        uint32_t a = x->rank_of[x->v->tasks[f->send].device],
                 b = x->rank_of[x->v->tasks[f->recv].device];
        uint8_t phase = x->v->tasks[f->send].phase;
        double *s;

        if (a == FR_NONE || b == FR_NONE || a == b)
            continue;
        if (phase != FR_PHASE_FORWARD && phase != FR_PHASE_BACKWARD_DATA) {
            read_shared(x, f, shared_s);
            continue;
        }
        s = &x->m->message_s[a < b ? a : b];
        *s = fmax(*s, fmax(length(x, f->send), length(x, f->recv)));
        longest = fmax(longest, *s);
    }
    if (x->m->n_ranks > 1)
        x->m->message_s[x->m->n_ranks - 1] = longest;
    x->m->tied_weight_s = shared_s[FR_PHASE_UPDATE];
    for (int p = 0; p < FR_N_PHASES; p++)
        if (p != FR_PHASE_UPDATE)
            x->m->tied_gradient_s += shared_s[p];
}

/* Members on several ranks of the pipeline: the sum over both ends. */
static bool joins_ranks(const struct reading *x, uint32_t collective)
{
    uint32_t first = x->v->member_first[collective], past = x->v->member_first[collective + 1];

    for (uint32_t i = first + 1; i < past; i++)
        if (x->rank_of[x->v->tasks[x->v->members[i]].device] !=
            x->rank_of[x->v->tasks[x->v->members[first]].device])
            return true;
    return false;
}

/* What a device does after its passes. */
struct tail {
    double reduce_s, update_s, gather_s;
};

/* The longest of a rank's devices; in[n_devices]. */
static void read_tails(struct reading *x, struct tail of[])
{
    struct fr__mesh_price *m = x->m;

    for (size_t t = 0; t < x->v->n_tasks; t++) {
        const struct fr_task *k = &x->v->tasks[t];
        uint32_t c = fr_task_collective(k);

        if (x->rank_of[k->device] == FR_NONE || (c != FR_NONE && k->op != FR_NONE))
            continue;
        if (c != FR_NONE && joins_ranks(x, c))
            m->ends_s = fmax(m->ends_s, length(x, t));
        else if (c != FR_NONE && k->phase == FR_PHASE_UPDATE)
            of[k->device].gather_s += length(x, t);
        else if (c != FR_NONE)
            of[k->device].reduce_s += length(x, t);
        else if (k->kind == FR_TASK_COMPUTE && k->phase == FR_PHASE_UPDATE)
            of[k->device].update_s += length(x, t);
    }
    for (size_t d = 0; d < x->v->topo->n_devices; d++) {
        uint32_t r = x->rank_of[d];

        if (r == FR_NONE)
            continue;
        m->reduce_s[r] = fmax(m->reduce_s[r], of[d].reduce_s);
        m->update_s[r] = fmax(m->update_s[r], of[d].update_s);
        m->gather_s[r] = fmax(m->gather_s[r], of[d].gather_s);
    }
}

/* Of the first device of each rank: what it keeps all the time, and the gradients that are made in
 * the backward pass and stay until the update. */
static void read_bytes(struct reading *x)
{
    for (size_t b = 0; b < x->v->n_buffers; b++) {
        const struct fr_buffer *f = &x->v->buffers[b];
        uint32_t r = x->rank_of[f->device];

        if (f->alias != FR_NONE || (f->alloc != FR_NONE && f->kind != FR_BUFFER_GRADIENT) ||
            r == FR_NONE || x->first_of[r] != f->device)
            continue;
        if (f->op != FR_NONE && f->alloc != FR_NONE)
            x->m->gradient_bytes[x->item_of[f->op]] += (double)f->bytes;
        else if (f->op != FR_NONE)
            x->m->kept_bytes[x->item_of[f->op]] += (double)f->bytes;
        else if (f->kind == FR_BUFFER_CONTEXT)
            x->m->context_bytes = fmax(x->m->context_bytes, (double)f->bytes);
    }
}

/* The embedding's part of the first rank's update: of what that keeps. */
static void find_tied_update(struct reading *x)
{
    double first = 0;

    for (size_t i = 0; i < x->m->n_items; i++)
        if (fr__stage_of_item(i, x->m->n_items, x->m->n_ranks) == 0)
            first += x->m->kept_bytes[i];
    x->m->tied_update_frac = first > 0 ? x->m->kept_bytes[0] / first : 1;
}

static bool make_arrays(struct fr__mesh_price *m, struct fr__arena *a)
{
    double **arrays[] = {&m->message_s, &m->reduce_s, &m->update_s, &m->gather_s, &m->bucket_frac};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        if (!(*arrays[i] = fr__arena_alloc(a, m->n_ranks, sizeof(double))))
            return false;
    m->kept_bytes = fr__arena_alloc(a, m->n_items, sizeof(double));
    m->gradient_bytes = fr__arena_alloc(a, m->n_items, sizeof(double));
    return m->kept_bytes && m->gradient_bytes;
}

/* Megatron-LM sends gradients in buckets of max(40e6, 1e6 d) parameters of d replicas
 * (megatron/core/distributed/distributed_data_parallel.py): which part of a rank's is one. */
static void find_buckets(struct fr__mesh_price *m, const struct fr__probe *p,
                         const struct fr__job *j)
{
    double replicas = (double)p->layout.dp * p->layout.cp;
    double bucket = 1e6 * fmax(replicas, 40);
    double params = j->n_params / ((double)p->layout.tp * p->layout.pp);

    for (uint32_t r = 0; r < m->n_ranks; r++)
        m->bucket_frac[r] = params > bucket ? 1 / ceil(params / bucket) : 1;
}

enum fr_status fr__mesh_read(struct fr__probe *p, const struct fr__job *j,
                             const struct fr_record *r, struct fr_error *err)
{
    struct reading x = {.m = &p->mesh, .v = fr_plan_view(r->plan), .run = r->run};
    size_t n_devices = x.v->topo->n_devices;
    struct tail *tails = calloc(n_devices + 1, sizeof(*tails));
    uint32_t *items;
    enum fr_status st = FR_OK;

    if (!tails)
        return fr__fail_nomem(err);
    st = fr__items_of(&items, &x.m->n_items, x.v->graph, j->setting.graph, err);
    if (st != FR_OK) {
        free(tails);
        return st;
    }
    x.item_of = items;
    x.m->n_ranks = p->layout.pp;
    x.rank_of = malloc((n_devices + x.m->n_ranks) * sizeof(*x.rank_of));
    if (!x.rank_of || !make_arrays(x.m, p->arena)) {
        st = fr__fail_nomem(err);
    } else {
        x.first_of = x.rank_of + n_devices;
        find_ranks(&x);
        read_messages(&x);
        read_tails(&x, tails);
        read_bytes(&x);
        find_tied_update(&x);
        find_buckets(x.m, p, j);
    }
    free(x.rank_of);
    free(items);
    free(tails);
    return st;
}
