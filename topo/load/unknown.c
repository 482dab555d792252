/* topo/load/unknown.c - says what a name that is no machine may have meant.
 *
 * It is separate because it looks through all that has a name here: presets, other names of
 * machines, GPUs.
 */
#include "config.h"

#include "topo/load/load.h"
#include "topo/machines/machines.h"

#include <stdlib.h>

/* A GPU's name where a machine's belongs: which machine has it, and how to ask for some of its
 * GPUs. */
static enum fr_status fail_gpu(const char *name, const struct fr_topo_alias *a, uint32_t n_gpus,
                               struct fr_error *err)
{
    uint32_t in_machine = (uint32_t)strtoul(a->gpus, NULL, 10);

    if (n_gpus > in_machine && n_gpus % in_machine == 0)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                        "'%s' is GPUs, no machine: %u of them are in '%ux %s'", name,
                        (unsigned)n_gpus, (unsigned)(n_gpus / in_machine), a->preset);
    if (n_gpus > in_machine)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                        "'%s' is GPUs, no machine: '%s' has %u; %u are in '%ux %s' with -g %u",
                        name, a->preset, (unsigned)in_machine, (unsigned)n_gpus,
                        (unsigned)(n_gpus / in_machine + 1), a->preset, (unsigned)n_gpus);
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "'%s' is a GPU (%s), no machine: '%s' has %u of them; -t %s -g %u uses %u",
                    name, a->says, a->preset, (unsigned)in_machine, a->preset,
                    (unsigned)(n_gpus ? n_gpus : 1), (unsigned)(n_gpus ? n_gpus : 1));
}

/* A cloud's name of a machine that has no preset: how to write it. */
static enum fr_status fail_rented(const char *name, const struct fr__rented *r,
                                  struct fr_error *err)
{
    if (!r->nics[0])
        return fr__fail(err, FR_ENOENT, FR_NOWHERE, "'%s' is %s; write %s", name, r->says,
                        r->write);
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "'%s' is no machine here, but %s; write '%s', or several as '2x %s via %s'",
                    name, r->says, r->write, r->write, r->nics);
}

enum fr_status fr__topo_fail_unknown(const char *name, struct fr_error *err)
{
    const char *names[128] = {NULL};
    const struct fr_topo_alias *a;
    const struct fr__rented *rented;
    const char *same;
    char hint[256];
    uint32_t n_gpus;
    size_t n = 0;

    a = fr__topo_alias_find(name, &n_gpus);
    if (a)
        return fail_gpu(name, a, n_gpus, err);
    rented = fr__topo_rented_find(name);
    if (rented)
        return fail_rented(name, rented, err);
    same = fr__topo_same_kind(name);
    if (same)
        return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                        "no topology preset or file '%s'; '%s' has the same GPUs", name, same);
    if (fr__topo_is_rented(name))
        return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                        "no topology preset or file '%s'; a machine of PCIe cards is written "
                        "'box:8xCARD' ('forerun topo list' has the others)",
                        name);
    for (; n < 64 && fr_topo_preset_name(n); n++)
        names[n] = fr_topo_preset_name(n);
    for (size_t i = 0; n < 128 && (a = fr_topo_alias_at(i)) != NULL; i++)
        if (!a->gpus[0])
            names[n++] = a->name;
    if (fr_device_type_find(name) && fr_device_type_find(name)->is_gpu)
        return fr__fail(
            err, FR_ENOENT, FR_NOWHERE,
            "'%s' is a device type, no machine: a preset, a file, or 'box:8x%s' for PCIe "
            "cards expected",
            name, name);
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no topology preset or file '%s'%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}
