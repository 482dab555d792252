/* sim/names.c - words for the memory models of sim.h. Those for networks stand in their models. */
#include "config.h"

#include "base/names.h"
#include "sim/sim.h"

static const char *const memory_model_words[FR_N_MEMORY_MODELS] = {
    [FR_MEMORY_LIVENESS] = "liveness",
    [FR_MEMORY_DEVICE] = "device",
    [FR_MEMORY_TF1] = "tf1",
};
static const struct fr__name_list memory_models = FR__NAMES(memory_model_words);

const char *fr_memory_model_name(enum fr_memory_model m)
{
    return fr__name_of(&memory_models, m);
}
