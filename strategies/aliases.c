/* strategies/aliases.c - other names of strategies.
 *
 * It is separate because its rows are facts with sources, which stand in aliases.csv.
 */
#include "config.h"

#include "strategies/list.h"

#include <string.h>
#include <strings.h>

const struct fr_strategy_alias *fr_strategy_alias_at(size_t i)
{
    size_t n = 0;

    while (n < i && fr__strategy_aliases[n].name)
        n++;
    return fr__strategy_aliases[n].name ? &fr__strategy_aliases[n] : NULL;
}

const struct fr_strategy_alias *fr_strategy_alias_of(const char *spec)
{
    size_t n = strcspn(spec, ":");
    const struct fr_strategy_alias *a;

    for (size_t i = 0; (a = fr_strategy_alias_at(i)) != NULL; i++)
        if (strlen(a->name) == n && strncasecmp(spec, a->name, n) == 0)
            return a;
    return NULL;
}
