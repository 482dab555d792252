/* study/sweep/scaling.c - how well the points of a sweep scale with the number of GPUs.
 *
 * Efficiency is the throughput a GPU over that of the same question on the fewest GPUs: of a fixed
 * batch (strong scaling) or of one that grows with the GPUs (weak scaling), as was asked.
 */
#include "config.h"

#include "study/sweep/state.h"

#include <math.h>
#include <string.h>

/* "hgx-h100" of "4x hgx-h100 via ib:400Gbps", and "ib:400Gbps". */
struct kin {
    const char *machine, *network;
    size_t n_machine;
};

static struct kin kin_of(const char *topology)
{
    struct kin k = {topology, "", 0};
    size_t n_digits = strspn(topology, "0123456789");
    const char *via;

    if (n_digits > 0 && strncmp(topology + n_digits, "x ", 2) == 0)
        k.machine = topology + n_digits + 2;
    via = strstr(k.machine, " via ");
    k.n_machine = via ? (size_t)(via - k.machine) : strlen(k.machine);
    if (via)
        k.network = via + strlen(" via ");
    return k;
}

/* Whether both are of one kind of machine; over several the network must be the same too. */
static bool are_kin(const char *x, const char *y)
{
    struct kin a = kin_of(x), b = kin_of(y);

    if (strcmp(x, y) == 0)
        return true;
    return a.n_machine == b.n_machine && memcmp(a.machine, b.machine, a.n_machine) == 0 &&
           !memchr(a.machine, '+', a.n_machine) &&
           (!a.network[0] || !b.network[0] || strcmp(a.network, b.network) == 0);
}

/* A setting's place in a point's number. */
struct digit {
    size_t weight, n;
};

static struct digit digit_of(const struct fr_sweep *s, const char *setting)
{
    struct digit d = {1, 1};
    size_t at = fr__setting_index(setting);

    for (size_t i = FR_N_SETTINGS - 1; i > at; i--)
        d.weight *= s->axes[i].n ? s->axes[i].n : 1;
    d.n = s->axes[at].n ? s->axes[at].n : 1;
    return d;
}

static size_t without(size_t point, struct digit d)
{
    return point - point / d.weight % d.n * d.weight;
}

/* The row of the same question on the fewest GPUs that it fits on, the first of several; its own if
 * that is it. */
static const struct fr_sweep_row *base_of(const struct fr_sweep *s, size_t point, struct digit gpus,
                                          struct digit topology)
{
    size_t rest = without(without(point, gpus), topology);
    const struct fr_sweep_row *row = s->rows[point], *base = row;

    for (size_t t = 0; t < topology.n; t++)
        for (size_t g = 0; g < gpus.n; g++) {
            const struct fr_sweep_row *other =
                s->rows[rest + t * topology.weight + g * gpus.weight];

            if (other && other->outcome == FR_FITS && other->gpus < base->gpus &&
                are_kin(other->topology, row->topology))
                base = other;
        }
    return base;
}

static double per_gpu(const struct fr_sweep_row *row)
{
    return row->outcome == FR_FITS && row->gpus > 0 ? row->samples_per_s / (double)row->gpus : NAN;
}

bool fr__sweep_scaling(const struct fr_sweep *s, double frac[])
{
    struct digit gpus = digit_of(s, "gpus"), topology = digit_of(s, "topology");
    bool is_any = false;

    for (size_t i = 0; i < s->n_points; i++) {
        const struct fr_sweep_row *base;

        frac[i] = NAN;
        if (!s->rows[i])
            continue;
        base = base_of(s, i, gpus, topology);
        frac[i] = per_gpu(s->rows[i]) / per_gpu(base);
        is_any = is_any || (base != s->rows[i] && !isnan(frac[i]));
    }
    return is_any;
}
