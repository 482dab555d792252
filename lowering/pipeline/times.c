/* lowering/pipeline/times.c - what the passes of a pipeline's stages cost, op by op. */
#include "config.h"

#include "lowering/pipeline/times.h"

static double sum(const struct fr__pipeline *p, const struct fr__block_ops *block, uint32_t type,
                  double batch)
{
    const struct fr_part part = {.batch = batch};
    double sum_s = 0;

    for (size_t i = 0; i < block->n; i++) {
        struct fr_cost cost;

        fr__price_op(p->pl, type, block->ops[i], &part, &cost);
        sum_s += cost.mean_s;
    }
    return sum_s;
}

void fr__pipeline_times(struct fr_pass_times out[], const struct fr__pipeline *p,
                        const uint32_t devices[], double batch)
{
    for (uint32_t s = 0; s < p->n_stages; s++) {
        uint32_t type = p->pl->in->topo->devices[devices[p->rank_of[s]]].type;

        out[s] = (struct fr_pass_times){
            .forward = sum(p, &p->blocks[s][FR_ACTION_F], type, batch),
            .input = sum(p, &p->blocks[s][FR_ACTION_I], type, batch),
            .weight = sum(p, &p->blocks[s][FR_ACTION_W], type, batch),
            .backward = -1,
        };
    }
}
