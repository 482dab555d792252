/* topo/machines/aliases.c - other names of machines, and of the GPUs in them.
 *
 * It is separate because its rows are facts with sources, which stand in aliases.csv.
 */
#include "config.h"

#include "topo/machines/machines.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct fr_topo_alias *fr_topo_alias_at(size_t i)
{
    size_t n = 0;

    while (n < i && fr__topo_aliases[n].name)
        n++;
    return fr__topo_aliases[n].name ? &fr__topo_aliases[n] : NULL;
}

/* Digits and an x before a name: how many bytes; 0: none. */
static size_t count_length(const char *word)
{
    size_t n = strspn(word, "0123456789");

    return n > 0 && (word[n] == 'x' || word[n] == 'X') ? n + 1 : 0;
}

const struct fr_topo_alias *fr__topo_alias_find(const char *word, uint32_t *n_gpus)
{
    size_t n_count = count_length(word);
    const struct fr_topo_alias *a;

    if (!n_count)
        word = fr__topo_plain_name(word);
    *n_gpus = n_count ? (uint32_t)strtoul(word, NULL, 10) : 0;
    for (size_t i = 0; (a = fr_topo_alias_at(i)) != NULL; i++)
        if (strcasecmp(word, a->name) == 0 ||
            (a->gpus[0] && n_count && strcasecmp(word + n_count, a->name) == 0))
            return a;
    return NULL;
}

const struct fr_topo_alias *fr__topo_alias_of_machine(const char *word)
{
    uint32_t n_gpus;
    const struct fr_topo_alias *a = fr__topo_alias_find(word, &n_gpus);

    return a && (!a->gpus[0] || n_gpus == strtoul(a->gpus, NULL, 10)) ? a : NULL;
}

const struct fr_topo_alias *fr_topo_alias_in(const char *spec, size_t i)
{
    static const char blanks[] = " \t\r\n";

    while (*spec) {
        const struct fr_topo_alias *a;
        char word[64];
        size_t n;

        spec += strspn(spec, blanks);
        n = strcspn(spec, blanks);
        if (n > 0 && n < sizeof(word)) {
            memcpy(word, spec, n);
            word[n] = '\0';
            a = fr__preset_find(word) ? NULL : fr__topo_alias_of_machine(word);
            if (!a && count_length(word) && !fr__preset_find(word + count_length(word)))
                a = fr__topo_alias_of_machine(word + count_length(word));
            if (a && i-- == 0)
                return a;
        }
        spec += n;
    }
    return NULL;
}
