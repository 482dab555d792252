/* sim/random.c - jitter of tasks and slow devices.
 *
 * Each task and each device draws from a stream of its own, so that a draw depends on nothing but
 * the seed and who draws. The distributions are in sim/spread.c.
 */
#include "config.h"

#include "sim/engine.h"

#include "base/rng.h"

static const uint64_t DEVICE_STREAMS = (uint64_t)1 << 40; /* beyond the numbers of all tasks */

static double factor(const struct fr__spread *spread, uint64_t seed, uint64_t entity)
{
    struct fr__rng rng;

    fr__rng_init(&rng, seed, entity);
    return fr__spread_draw(spread, &rng);
}

enum fr_status fr__random_init(struct fr__engine *e)
{
    size_t n = e->v->topo->n_devices;
    struct fr__spread spread;

    fr__spread_init(&e->jitter, e->o->jitter_shape, e->o->jitter_cv);
    fr__spread_init(&spread, e->o->device_shape, e->o->device_cv);
    e->is_varied = e->o->cost_s || e->o->slowness || e->o->device_slowdown || e->o->device_cv > 0 ||
                   e->o->jitter_cv > 0;
    if (e->o->device_cv <= 0 && !e->o->device_slowdown)
        return FR_OK;
    e->slowdown = fr__arena_take(e->scratch, n, sizeof(*e->slowdown));
    if (!e->slowdown)
        return fr__engine_fail_nomem(e);
    for (size_t d = 0; d < n; d++) {
        e->slowdown[d] = e->o->device_slowdown ? e->o->device_slowdown[d] : 1;
        if (e->o->device_cv > 0)
            e->slowdown[d] *= factor(&spread, e->o->seed, DEVICE_STREAMS + d);
    }
    return FR_OK;
}

double fr__mean_duration(const struct fr__engine *e, const struct fr_task *k)
{
    const struct fr_cost *c = &e->v->costs[k->cost_id];
    double mean_s = e->o->cost_s ? e->o->cost_s[k->cost_id] : c->mean_s;
    double flops_s, bytes_s;

    if (!e->o->slowness)
        return mean_s;
    if (!fr__has_roofline(c))
        return mean_s * fr__device_slowness(e, k->device, FR_DEVICE_MEASURED);
    flops_s = c->flops_s * fr__device_slowness(e, k->device, FR_DEVICE_ARITHMETIC);
    bytes_s = c->bytes_s * fr__device_slowness(e, k->device, FR_DEVICE_MEMORY);
    return mean_s * ((flops_s > bytes_s ? flops_s : bytes_s) / c->mean_s);
}

double fr__varied_duration(const struct fr__engine *e, uint32_t task)
{
    const struct fr_task *k = &e->v->tasks[task];
    double duration_s = fr__mean_duration(e, k);

    if (e->slowdown)
        duration_s *= e->slowdown[k->device];
    if (e->o->jitter_cv > 0)
        duration_s *= factor(&e->jitter, e->o->seed, task);
    return duration_s;
}
