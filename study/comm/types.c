/* study/comm/types.c - number formats and reductions by the names that nccl-tests has for them. */
#include "config.h"

#include "study/comm/comm.h"

#include "base/error.h"

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

const struct fr_comm_type *fr_comm_type_at(size_t i)
{
    return i < N_TYPES ? &TYPES[i] : NULL;
}

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
