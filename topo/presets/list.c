/* topo/presets/list.c - the list of machines we know. */
#include "config.h"

#include "topo/presets/presets.h"

#include <string.h>

static const struct fr__preset *const presets[] = {
#define ROW(id) &fr__preset_##id,
    FR__PRESETS(ROW)
#undef ROW
};

enum { N_PRESETS = sizeof(presets) / sizeof(presets[0]) };

const char *fr_topo_preset_name(size_t i)
{
    return i < N_PRESETS ? presets[i]->name : NULL;
}

const char *fr_topo_preset_summary(size_t i)
{
    return i < N_PRESETS ? presets[i]->summary : NULL;
}

const struct fr__preset *fr__preset_find(const char *name)
{
    for (size_t i = 0; i < N_PRESETS; i++)
        if (strcmp(presets[i]->name, name) == 0)
            return presets[i];
    return NULL;
}
