/* study/comm/types.c - number formats and reductions by the names that nccl-tests has for them;
 * collectives and sources of times by ours. */
#include "config.h"

#include "study/comm/comm.h"

#include "base/error.h"
#include "study/question/loading.h"

#include <math.h>
#include <string.h>

enum { N_TYPES = 12, N_OPS = 5 };

/* nccl-tests src/common.cu (test_typenames) and NCCL src/transport/nvls.cc: integers of 32 and 64
 * bits and all floating formats but fp8 are summed in the switch. */
static const struct fr_comm_type TYPES[N_TYPES] = {
    {"int8", 1, false},  {"uint8", 1, false},   {"int32", 4, true},   {"uint32", 4, true},
    {"int64", 8, true},  {"uint64", 8, true},   {"half", 2, true},    {"float", 4, true},
    {"double", 8, true}, {"bfloat16", 2, true}, {"f8e4m3", 1, false}, {"f8e5m2", 1, false},
};
static const char *const OPS[N_OPS] = {"sum", "prod", "max", "min", "avg"};

const char *fr_comm_op_at(size_t i)
{
    return i < N_OPS ? OPS[i] : NULL;
}

enum fr_status fr_comm_type_named(const char *name, const struct fr_comm_type **out,
                                  struct fr_error *err)
{
    const char *names[N_TYPES];
    char hint[128];

    for (size_t i = 0; i < N_TYPES; i++) {
        names[i] = TYPES[i].name;
        if (strcmp(name, TYPES[i].name) == 0) {
            *out = &TYPES[i];
            return FR_OK;
        }
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "no number format '%s'%s; known are int8, uint8, int32, uint32, int64, uint64, "
                    "half, float, double, bfloat16, f8e4m3 and f8e5m2",
                    name, fr__did_you_mean(name, names, N_TYPES, hint, sizeof(hint)));
}

double fr_comm_bus_Bps(const struct fr_comm_table *t, size_t i, double time_s)
{
    return time_s > 0 ? (double)t->rows[i].bytes / time_s * t->bus_factor : NAN;
}

const char *fr_comm_source_name(enum fr_comm_source s)
{
    static const char *const NAMES[] = {"fitted", "transferred", "steps", "formula"};

    return NAMES[s];
}

enum fr_status fr__collective_kind_named(const char *text, enum fr_collective_kind *out,
                                         struct fr_error *err)
{
    const char *names[FR_RING_STEP];
    char hint[128];

    *out = fr_collective_kind_parse(text);
    if (*out < FR_RING_STEP)
        return FR_OK;
    for (unsigned i = 0; i < FR_RING_STEP; i++)
        names[i] = fr_collective_kind_name((enum fr_collective_kind)i);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "no collective '%s'%s; known are all-reduce, all-gather, reduce-scatter, "
                    "all-to-all, broadcast and reduce",
                    text, fr__did_you_mean(text, names, FR_RING_STEP, hint, sizeof(hint)));
}
