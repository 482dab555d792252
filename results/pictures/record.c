/* results/pictures/record.c - pictures of records: a timeline of one, bars of several. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/rows.h"
#include "results/pictures/pictures.h"

/* "vgg19 on 4 of 8 GPUs of dgx1-v100, dp", and below it the time, the batch and what else was
 * asked; of several records what they have in common. */
static void set_heading(struct fr__chart *c, const struct fr_results *rs)
{
    const struct fr_record *r = rs->records[0];
    char subject[FR__ROW_NAME], manner[FR__ROW_NAME], time[32];

    fr__rows_subject(rs, subject);
    fr__rows_manner(rs, manner);
    c->title = rs->is_comparison ? fr__chart_text(c, "%s", subject)
                                 : fr__chart_text(c, "%s, %s", subject, r->strategy);
    c->subtitle =
        rs->is_comparison
            ? fr__chart_text(c, "%s", manner)
            : fr__chart_text(c, "%s %s%s%s", r->is_plain ? "makespan" : "iteration",
                             r->is_plain ? fr__plain(r->iteration_s, time, sizeof(time))
                                         : fr__format_time(r->iteration_s, time, sizeof(time)),
                             r->oom ? " if it fitted in memory, " : ", ", manner);
}

enum fr_status fr__chart_of_results(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_results *rs = what;

    if (!rs->is_comparison && (!rs->records[0]->plan || !rs->records[0]->run))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a timeline needs the plan and its run");
    set_heading(c, rs);
    if (!rs->is_comparison)
        return fr__chart_timeline(c, rs->records[0], err);
    fr__chart_comparison(c, rs);
    return FR_OK;
}
