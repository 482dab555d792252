/* study/search/mesh.c - what the stages of a mesh keep and exchange, read off a run of the whole
 * mesh with one micro-batch of one sample.
 *
 * Gradients leave after the backward pass in that run, so that each message shows what it takes;
 * how much of it other work hides is worked out for each layout (coarse.c).
 */
#include "config.h"

#include "study/search/search.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

struct reading {
    struct fr__mesh_price *m;
    const struct fr_plan_view *v;
    const struct fr_run *run;
    const uint32_t *item_of;
    uint32_t *rank_of; /* [n_devices] of the pipeline; FR_NONE */
};

/* The ranks of the pipeline of the first replica, in the order in which their passes are placed. */
static void find_ranks(struct reading *x)
{
    size_t n_devices = x->v->topo->n_devices;
    uint32_t n = 0;

    for (size_t d = 0; d < n_devices; d++)
        x->rank_of[d] = FR_NONE;
    for (size_t t = 0; t < x->v->n_tasks; t++) {
        const struct fr_task *k = &x->v->tasks[t];

        if (k->kind == FR_TASK_COMPUTE && k->phase == FR_PHASE_FORWARD &&
            x->rank_of[k->device] == FR_NONE && n < x->m->n_ranks)
            x->rank_of[k->device] = n++;
    }
}

static double length(const struct reading *x, size_t t)
{
    return x->run->end_s[t] - x->run->start_s[t];
}

/* Where plain stages share weights (strategies/replica/tail.c), their gradient goes to one end of
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
    for (int p = 0; p < FR_N_PHASES; p++)
        x->m->ends_s += shared_s[p];
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

static void read_tails(struct reading *x)
{
    for (size_t t = 0; t < x->v->n_tasks; t++) {
        const struct fr_task *k = &x->v->tasks[t];
        uint32_t rank = x->rank_of[k->device], c = fr_task_collective(k);

        if (rank == FR_NONE || (c != FR_NONE && k->op != FR_NONE))
            continue;
        if (c != FR_NONE && joins_ranks(x, c))
            x->m->ends_s = fmax(x->m->ends_s, length(x, t));
        else if (c != FR_NONE && k->phase == FR_PHASE_UPDATE)
            x->m->gather_s[rank] += length(x, t);
        else if (c != FR_NONE)
            x->m->reduce_s[rank] += length(x, t);
        else if (k->kind == FR_TASK_COMPUTE && k->phase == FR_PHASE_UPDATE)
            x->m->update_s[rank] += length(x, t);
    }
}

/* Gradients that are made in the backward pass stay until the update, as those that are there from
 * the start. */
static void read_bytes(struct reading *x)
{
    for (size_t b = 0; b < x->v->n_buffers; b++) {
        const struct fr_buffer *f = &x->v->buffers[b];

        if (f->alias != FR_NONE || (f->alloc != FR_NONE && f->kind != FR_BUFFER_GRADIENT))
            continue;
        if (f->op != FR_NONE)
            x->m->kept_bytes[x->item_of[f->op]] += (double)f->bytes;
        else if (f->kind == FR_BUFFER_CONTEXT)
            x->m->context_bytes = fmax(x->m->context_bytes, (double)f->bytes);
    }
}

static bool make_arrays(struct fr__mesh_price *m, struct fr__arena *a)
{
    double **arrays[] = {&m->message_s, &m->reduce_s, &m->update_s, &m->gather_s, &m->bucket_frac};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        if (!(*arrays[i] = fr__arena_alloc(a, m->n_ranks, sizeof(double))))
            return false;
    m->kept_bytes = fr__arena_alloc(a, m->n_items, sizeof(double));
    return m->kept_bytes != NULL;
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
    uint32_t *items;
    enum fr_status st = FR_OK;

    FR_TRY(fr__items_of(&items, &x.m->n_items, x.v->graph, err));
    x.item_of = items;
    x.m->n_ranks = p->layout.pp;
    x.rank_of = malloc((x.v->topo->n_devices + 1) * sizeof(*x.rank_of));
    if (!x.rank_of || !make_arrays(x.m, p->arena)) {
        st = fr__fail_nomem(err);
    } else {
        find_ranks(&x);
        read_messages(&x);
        read_tails(&x);
        read_bytes(&x);
        find_buckets(x.m, p, j);
    }
    free(x.rank_of);
    free(items);
    return st;
}
