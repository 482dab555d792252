/* strategies/list.c - the table of strategies, and functions that pick strategies from it by a
 * property. */
#include "config.h"

#include "strategies/list.h"

#include <stdio.h>
#include <string.h>

#define STRATEGY_ADDRESS(name) &fr__strategy_##name,
static const struct fr_strategy *const strategies[] = {FR_STRATEGIES(STRATEGY_ADDRESS)};
#undef STRATEGY_ADDRESS

enum { N_STRATEGIES = sizeof(strategies) / sizeof(strategies[0]) };

const struct fr_strategy *fr_strategy_at(size_t i)
{
    return i < N_STRATEGIES ? strategies[i] : NULL;
}

const struct fr_strategy *fr_strategy_learner(void)
{
    for (size_t i = 0; i < N_STRATEGIES; i++)
        if (strategies[i]->learns_by_default)
            return strategies[i];
    return NULL;
}

bool fr_strategy_is_baseline(const char *spec)
{
    for (size_t i = 0; i < N_STRATEGIES; i++)
        if (strategies[i]->is_baseline && strcmp(spec, strategies[i]->name) == 0)
            return true;
    return false;
}

const char *fr__strategy_names(bool (*is_wanted)(const struct fr_strategy *), const char *between,
                               char *buf, size_t n)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < N_STRATEGIES && used < n; i++)
        if (is_wanted(strategies[i]))
            used += (size_t)snprintf(buf + used, n - used, "%s'%s'", used ? between : "",
                                     strategies[i]->name);
    return buf;
}
