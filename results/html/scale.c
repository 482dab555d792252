/* results/html/scale.c - an iteration of each of several runs, to one scale, in the report.
 *
 * It is separate from timeline.c, which draws one run: here lengths compare, so every iteration
 * begins at 0 and all axes are as long as the longest one. The script zooms them together.
 */
#include "config.h"

#include "base/error.h"
#include "results/html/html.h"
#include "results/parts/times.h"

#include <math.h>

/* Of all charts together. */
enum { LANES = 16, MOST_LANES = 8, BOXES = 3000 };

static bool is_drawn(const struct fr_record *r)
{
    return r->plan && r->run && r->run->iteration_s > 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The last iteration of the run. */
static struct fr__timeline_span span_of(const struct fr_record *r, double longest_s, size_t n)
{
    double to_s = r->run->makespan_s;

    return (struct fr__timeline_span){.from_s = fmax(to_s - r->run->iteration_s, 0),
                                      .to_s = to_s,
                                      .span_s = longest_s,
                                      .lanes = least(LANES / n, MOST_LANES),
                                      .boxes = BOXES / n,
                                      .marks_end = true};
}

static void put_title(FILE *f, const struct fr__html_run *run)
{
    char time[FR__HTML_TEXT];

    fputs("<p class=\"of\">", f);
    if (run->link)
        fprintf(f, "<a href=\"%s\">", run->link);
    fr__markup_text(f, run->title);
    fprintf(f, "%s: <b>%s</b>%s</p>\n", run->link ? "</a>" : "",
            fr__record_time(run->record, run->record->run->iteration_s, time, sizeof(time)),
            run->record->oom ? " if it fitted in memory" : "");
}

enum fr_status fr__html_scale(FILE *f, const struct fr__html_run runs[], size_t n, bool alone_too,
                              struct fr_error *err)
{
    struct fr__timeline_told told = {.n_busy = 0};
    double longest_s = 0;
    size_t n_drawn = 0;

    for (size_t i = 0; i < n; i++)
        if (is_drawn(runs[i].record)) {
            longest_s = fmax(longest_s, runs[i].record->run->iteration_s);
            n_drawn++;
        }
    if (n_drawn < (alone_too ? 1 : 2))
        return FR_OK;
    fprintf(f,
            "<h3>Over time, to one scale</h3>\n<p class=\"note\">%s of each, from its beginning; a "
            "dashed line is its end.</p>\n",
            n > 0 && runs[0].record->is_plain ? "The schedule" : "One iteration");
    fr__html_zoom_begin(f, "Timelines to one scale");
    for (size_t i = 0; i < n; i++) {
        struct fr__timeline_span span;

        if (!is_drawn(runs[i].record))
            continue;
        span = span_of(runs[i].record, longest_s, n_drawn);
        put_title(f, &runs[i]);
        FR_TRY(fr__html_lanes(f, runs[i].record, &span, &told, err));
    }
    fr__html_lanes_key(f, &told);
    fputs("</figure>\n", f);
    return FR_OK;
}
