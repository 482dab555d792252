/* lowering/learning.c - life of a record of learning: an arena holds all of it. */
#include "config.h"

#include "lowering/learning_new.h"

#include "base/error.h"

struct box {
    struct fr_learning learning;
    struct fr__arena *arena;
};

void fr_learning_free(struct fr_learning *l)
{
    struct box *box = l ? l->priv : NULL;

    if (box)
        fr__arena_free(box->arena);
}

static bool fill_problem(struct box *b, struct fr_learn_gpu gpus[], const struct fr_problem *in)
{
    struct fr_learning *l = &b->learning;

    for (size_t d = 0; d < in->n_devices; d++) {
        gpus[d].name = fr__arena_strdup(b->arena, in->topo->devices[in->devices[d]].name);
        if (!gpus[d].name)
            return false;
    }
    l->gpus = gpus;
    l->n_gpus = in->n_devices;
    l->n_gpus_total = in->topo->n_gpus;
    l->global_batch = in->global_batch;
    l->workload = fr__arena_strdup(b->arena, in->graph->name);
    l->topology = fr__arena_strdup(b->arena, in->topo->name);
    return l->workload && l->topology;
}

struct fr_learning *fr__learning_new(const struct fr_problem *in, struct fr__arena **arena,
                                     struct fr_learn_gpu **gpus)
{
    struct fr__arena *a = fr__arena_new();
    struct box *box = a ? fr__arena_alloc(a, 1, sizeof(*box)) : NULL;

    if (!box) {
        fr__arena_free(a);
        return NULL;
    }
    box->arena = a;
    *gpus = fr__arena_alloc(a, in->n_devices, sizeof(**gpus));
    if (!*gpus || !fill_problem(box, *gpus, in)) {
        fr__arena_free(a);
        return NULL;
    }
    box->learning.priv = box;
    *arena = a;
    return &box->learning;
}

enum fr_status fr__learning_set_question(struct fr_learning *l, const char *strategy, uint64_t seed,
                                         struct fr_error *err)
{
    struct box *box = l->priv;

    l->seed = seed;
    l->strategy = fr__arena_strdup(box->arena, strategy);
    return l->strategy ? FR_OK : fr__fail_nomem(err);
}
