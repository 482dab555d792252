/* lowering/optimizer.c - what optimizers keep; see optimizer.h. */
#include "config.h"

#include "lowering/optimizer.h"

#include <string.h>

static const double BLOCK = 256, LEAST_PACKED = 4096, FP32_BYTES = 4;

const char *fr_optimizer_name(enum fr_optimizer o)
{
    return (unsigned)o < FR_N_OPTIMIZERS ? fr__optimizers[o].name : NULL;
}

enum fr_optimizer fr_optimizer_parse(const char *name)
{
    unsigned o = 0;

    while (o < FR_N_OPTIMIZERS && strcmp(fr__optimizers[o].name, name) != 0)
        o++;
    return (enum fr_optimizer)o;
}

const struct fr__optimizer *fr__optimizer_at(enum fr_optimizer o)
{
    return &fr__optimizers[o];
}

double fr__large_state_bytes(enum fr_optimizer o, double state_bytes)
{
    const struct fr__optimizer *k = fr__optimizer_at(o);

    return k->states * state_bytes + k->packed * (1 + FP32_BYTES / BLOCK);
}

double fr_optimizer_bytes(enum fr_optimizer o)
{
    return fr__large_state_bytes(o, FP32_BYTES);
}

double fr__state_bytes(enum fr_optimizer o, double state_bytes, double elements)
{
    const struct fr__optimizer *k = fr__optimizer_at(o);

    return elements < LEAST_PACKED ? k->states * state_bytes + k->packed * FP32_BYTES
                                   : fr__large_state_bytes(o, state_bytes);
}
