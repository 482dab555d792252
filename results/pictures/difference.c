/* results/pictures/difference.c - the timelines of two answers under one another, to one scale.
 *
 * It is separate from timeline.c, which shows one run from its start with its memory. Here both
 * iterations begin at 0 and the axis has the length of the longer one, so that lengths compare.
 */
#include "config.h"

#include "base/error.h"
#include "results/charts/timeline.h"
#include "results/parts/difference_lines.h"
#include "results/parts/times.h"
#include "results/pictures/pictures.h"

#include <math.h>
#include <string.h>

enum { MAX_LANES = 8, MAX_BOXES = 10000 };

/* ": strategy dp | pp", in what the two questions differ. */
static void add_settings(const struct fr_difference *d, char *text, size_t n)
{
    size_t used = strlen(text);

    for (size_t i = 0; i < d->n_settings && used + 1 < n; i++)
        used +=
            (size_t)snprintf(text + used, n - used, "%s %s %.60s | %.60s", i ? "," : ":",
                             d->settings[i].name, d->settings[i].a[0] ? d->settings[i].a : "none",
                             d->settings[i].b[0] ? d->settings[i].b : "none");
}

/* "B takes 45.6 ms longer than A: strategy dp | pp" and "compute +15.9 ms, bubble +22.4 ms,
 * ...". */
static void set_heading(struct fr__chart *c, const struct fr_difference *d)
{
    const struct fr_parts *a = d->parts_a, *b = d->parts_b;
    double change_s = b->iteration_s - a->iteration_s;
    char text[512], time[32];
    size_t n = 0;

    snprintf(text, sizeof(text), "B takes %s %s than A",
             fr__record_time(fr__difference_unit(d), fabs(change_s), time, sizeof(time)),
             change_s < 0 ? "less" : "longer");
    add_settings(d, text, sizeof(text));
    c->title = fr__chart_text(c, "%s", text);
    for (unsigned part = 0; part < FR_N_PARTS; part++) {
        double s = b->part_s[part] - a->part_s[part];

        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s%s", part ? ",  " : "",
                              fr_part_name((enum fr_time_part)part), s > 0 ? "+" : "",
                              fr__record_time(fr__difference_unit(d), s, time, sizeof(time)));
    }
    c->subtitle = fr__chart_text(c, "%s", text);
}

static const char *caption_of(struct fr__chart *c, const struct fr_record *r, char letter,
                              const struct fr__timeline_told *told)
{
    const char *some = "";
    char time[32];

    if (told->n_busy > told->n_shown)
        some = fr__chart_text(c, " (%zu of %zu busy devices shown)", told->n_shown, told->n_busy);
    fr__record_time(r, r->run->iteration_s, time, sizeof(time));
    if (r->is_plain)
        return fr__chart_text(c, "%c: %s, %s, %s: %s%s", letter, r->workload, r->topology,
                              r->strategy, time, some);
    return fr__chart_text(c, "%c: %s, %zu GPUs of %s, batch %u, %s: %s%s", letter, r->workload,
                          r->n_gpus, r->topology, r->global_batch, r->strategy, time, some);
}

/* One of the two answers; letter: 'A' above, 'B' below. */
static enum fr_status put_answer(struct fr__chart *c, const struct fr_difference *d, char letter,
                                 double span_s, struct fr_error *err)
{
    bool is_lower = letter == 'B';
    const struct fr_record *r = is_lower ? d->b : d->a;
    double from_s = is_lower ? d->parts_b->from_s : d->parts_a->from_s;
    const struct fr__timeline_span span = {.from_s = from_s,
                                           .to_s = from_s + r->run->iteration_s,
                                           .span_s = span_s,
                                           .lanes = MAX_LANES,
                                           .boxes = MAX_BOXES,
                                           .marks_end = true,
                                           .most_zoom = 1};
    struct fr__timeline_told told = {.n_busy = 0};
    struct fr__panel *p =
        fr__chart_panel(c, 0.09, 0.97, is_lower ? 0.13 : 0.55, is_lower ? 0.46 : 0.87);
    char title[FR__DIFFERENCE_TITLE];
    const char *unit;

    fr__record_time_unit(fr__difference_unit(d), span_s, &unit);
    FR_TRY(fr__timeline_put(p, r, &span, false, &told, err));
    p->x.label = NULL;
    if (is_lower) {
        p->x.label = fr__chart_text(c, "%s", fr__difference_title("time", unit, title));
        p->key = FR__KEY_BELOW;
        p->has_key_of_all = true;
    }
    p->caption = caption_of(c, r, letter, &told);
    return FR_OK;
}

enum fr_status fr__chart_of_difference(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_difference *d = ((const struct fr_difference_answer *)what)->difference;
    double span_s = fmax(d->parts_a->iteration_s, d->parts_b->iteration_s);

    if (!(span_s > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "nothing takes time: there is nothing to draw");
    set_heading(c, d);
    FR_TRY(put_answer(c, d, 'A', span_s, err));
    return put_answer(c, d, 'B', span_s, err);
}
