/* study/host.c - the host's share of a step; see host.h. */
#include "config.h"

#include "study/host.h"

#include "base/error.h"
#include "calibrate/cost_model.h"

#include <stdlib.h>

enum fr_status fr__host_slowness(struct fr__making *m, struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    const double *given = m->slowness ? m->slowness : m->question->run.slowness;
    size_t n = fr_n_resources(t);
    double *slowness;

    if (!(m->question->host_op_s > 0))
        return FR_OK;
    slowness = malloc((n + 1) * sizeof(*slowness));
    if (!slowness)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        slowness[i] = given ? given[i] : 1;
    for (uint32_t type = 0; type < t->n_types; type++) {
        double launch_s = fr__cost_model_launch_s(m->setting->costs, type);

        if (t->types[type].is_gpu && launch_s > 0)
            slowness[fr_device_resource(type, FR_DEVICE_LAUNCH)] *=
                m->question->host_op_s / launch_s;
    }
    free(m->slowness);
    m->slowness = slowness;
    return FR_OK;
}

double fr__input_s(const struct fr__making *m)
{
    const struct fr_topo *t = m->setting->topo;
    size_t most = 0, n = 0;

    if (!(m->question->input_rate > 0) || m->n_devices == 0)
        return 0;
    for (size_t machine = 0; machine < t->n_machines; machine++) {
        n = 0;
        for (size_t i = 0; i < m->n_devices; i++)
            n += t->devices[m->devices[i]].machine == machine;
        if (most < n)
            most = n;
    }
    return (double)m->global_batch * (double)most / (double)m->n_devices / m->question->input_rate;
}
