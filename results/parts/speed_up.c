/* results/parts/speed_up.c - finds the record that speed-ups are counted against.
 *
 * It is separate because the tables, the report and the tests must choose the same record.
 */
#include "config.h"

#include "results/parts/speed_up.h"

const struct fr_record *fr__speed_up_base(const struct fr_results *rs)
{
    for (size_t i = 0; i < rs->n; i++)
        if (fr_strategy_is_baseline(rs->records[i]->strategy))
            return rs->records[i];
    return rs->records[0];
}
