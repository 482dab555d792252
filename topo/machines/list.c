/* topo/machines/list.c - finds a machine that we know by its name. */
#include "config.h"

#include "topo/machines/machines.h"

#include <string.h>
#include <strings.h>

const char *fr_topo_preset_name(size_t i)
{
    return i < fr__n_presets ? fr__presets[i].name : NULL;
}

const char *fr_topo_preset_summary(size_t i)
{
    return i < fr__n_presets ? fr__presets[i].summary : NULL;
}

const struct fr__preset *fr__preset_find(const char *name)
{
    for (size_t i = 0; i < fr__n_presets; i++)
        if (strcmp(fr__presets[i].name, name) == 0)
            return &fr__presets[i];
    return NULL;
}

/* Azure's names have this in front, or not. */
const char *fr__topo_plain_name(const char *word)
{
    static const char standard[] = "standard_";

    return strncasecmp(word, standard, sizeof(standard) - 1) == 0 ? word + sizeof(standard) - 1
                                                                  : word;
}
