/* results/parts/times.c - the times of an answer: with units, or plain.
 *
 * It is separate because tables, reports and pictures must write the same time alike.
 */
#include "config.h"

#include "results/parts/times.h"

#include "base/units.h"
#include "results/parts/number.h"

const char *fr__record_time(const struct fr_record *r, double s, char *buf, size_t n)
{
    return r->is_plain ? fr__plain(s, buf, n) : fr__format_time(s, buf, n);
}

double fr__record_time_unit(const struct fr_record *r, double max_s, const char **unit)
{
    if (!r->is_plain)
        return fr__time_unit(max_s, unit);
    *unit = "";
    return 1;
}

const char *fr__record_time_title(const struct fr_record *r)
{
    return r->is_plain ? "makespan" : "iteration";
}

const char *fr__record_device_title(const struct fr_record *r)
{
    return r->is_plain ? "machine" : "GPU";
}

bool fr__results_are_plain(const struct fr_results *rs)
{
    for (size_t i = 0; i < rs->n; i++)
        if (!rs->records[i]->is_plain)
            return false;
    return rs->n > 0;
}
