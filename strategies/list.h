/* strategies/list.h - the strategies that FR_STRATEGIES names: fr__strategy_<name>. */
#ifndef FR_STRATEGIES_LIST_H
#define FR_STRATEGIES_LIST_H

#include "strategies/strategies.h"

#define FR_STRATEGY_DECLARE(name) extern const struct fr_strategy fr__strategy_##name;
FR_STRATEGIES(FR_STRATEGY_DECLARE)
#undef FR_STRATEGY_DECLARE

/* "'a' or 'b'": the names of the strategies that is_wanted accepts, cut where buf ends; returns
 * buf. */
const char *fr__strategy_names(bool (*is_wanted)(const struct fr_strategy *), const char *between,
                               char *buf, size_t n);

/* Rows of strategies/aliases.csv; the last one's name is NULL. */
extern const struct fr_strategy_alias fr__strategy_aliases[];
#endif
