/* results/document/record_run.c - the whole training run of an answer: how long, at what price,
 * with what energy.
 *
 * It is separate because it depends on what the user says of the run, which no record knows.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/cells.h"
#include "results/document/record.h"

#include <math.h>
#include <string.h>

enum { NUMBER = 32 };

static const double JOULES_A_KWH = 3.6e6;

void fr__record_run_title(char cell[FR__TABLE_CELL], const struct fr_sweep_terms *terms)
{
    bool is_tokens = terms && terms->tokens > 0;
    double n = !terms ? 0 : is_tokens ? terms->tokens : terms->samples;
    char text[NUMBER];

    cell[0] = '\0';
    if (n > 0)
        snprintf(cell, FR__TABLE_CELL, "%s %s", fr__format_count(n, text, sizeof(text)),
                 is_tokens ? "tokens" : "samples");
}

const char *fr__record_cost_title(const struct fr_sweep_terms *terms)
{
    return fr_prices_any(&terms->prices) ? "cost (USD)" : "GPU hours";
}

/* "12,345" would be another locale's: groups of digits are not parted. */
static void money(char buf[FR__TABLE_CELL], double usd)
{
    fr__fixed(usd, usd < 100 ? 2 : 0, buf, NUMBER);
}

void fr__record_run_cells(char time[FR__TABLE_CELL], char cost[FR__TABLE_CELL],
                          const struct fr_record *r, const struct fr_sweep_terms *terms)
{
    struct fr_record_run run;

    if (!fr_record_run_of(r, terms, &run))
        return;
    fr__format_time(run.time_s, time, NUMBER);
    if (!fr_prices_any(&terms->prices))
        fr__rate_cell(cost, run.gpu_hours);
    else if (isnan(run.cost_usd))
        fr__table_text(cost, "no price");
    else
        money(cost, run.cost_usd);
}

static const char *energy(double joules, char buf[FR__TABLE_CELL])
{
    static const char *const units[] = {"kWh", "MWh", "GWh"};
    double x = joules / JOULES_A_KWH;
    unsigned unit = 0;
    size_t used;

    for (; unit < 2 && x >= 1000; unit++)
        x /= 1000;
    used = strlen(fr__fixed(x, x < 10 ? 2 : x < 100 ? 1 : 0, buf, NUMBER - 8));
    snprintf(buf + used, NUMBER - used, " %s", units[unit]);
    return buf;
}

void fr__record_put_run(struct fr__document *doc, const struct fr_record *r,
                        const struct fr_sweep_terms *terms)
{
    char title[FR__TABLE_CELL], text[FR__TABLE_CELL];
    struct fr_record_run run;

    fr__record_run_title(title, terms);
    if (!title[0])
        return;
    if (!fr_record_run_of(r, terms, &run)) {
        fr__say(doc, "%s: %s\n", title,
                r->oom ? "it does not fit" : "the workload does not count tokens");
        return;
    }
    fr__say(doc, "%s: %s, ", title, fr__format_time(run.time_s, text, sizeof(text)));
    fr__rate_cell(text, run.gpu_hours);
    fr__say(doc, "%s GPU hours", text);
    if (!isnan(run.cost_usd)) {
        money(text, run.cost_usd);
        fr__say(doc, ", %s USD", text);
    } else if (fr_prices_any(&terms->prices)) {
        fr__say(doc, ", a part of it without a price");
    }
    if (!isnan(run.energy_J))
        fr__say(doc, r->power_limit_W > 0 ? ", %s" : ", at most %s at the boards' power",
                energy(run.energy_J, text));
    if (!isnan(run.energy_usd)) {
        money(text, run.energy_usd);
        fr__say(doc, " for %s of these USD", text);
    }
    fr__say(doc, "\n");
}
