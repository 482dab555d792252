/* results/html/timeline.c - when each device does what, as a chart inside the report.
 *
 * It is separate from charts/timeline.c, which other pictures show too: here stand the words around
 * it. A chart shows a part of a run, so that several runs can be drawn to one scale (scale.c).
 */
#include "config.h"

#include "base/error.h"
#include "results/html/inline.h"
#include "results/html/html.h"
#include "results/parts/lanes.h"

enum { LANE = 40, AXIS = 22 }; /* heights in pixels */

/* The closest that the script looks is a part of this many. */
static const double MOST_ZOOM = 60;

enum fr_status fr__html_lanes(FILE *f, const struct fr_record *r,
                              const struct fr__timeline_span *span, struct fr__timeline_told *told,
                              struct fr_error *err)
{
    struct fr__timeline_span own = *span;
    uint32_t shown[FR__TIMELINE_LANES];
    size_t n_busy, n = fr__shown_devices(r, span->lanes, shown, &n_busy);
    struct fr__chart *c = fr__inline_new(0, LANE * (double)n, AXIS);
    enum fr_status st;

    if (!c)
        return fr__fail_nomem(err);
    own.most_zoom = MOST_ZOOM;
    c->panels[0].is_zoomed = true;
    st = fr__timeline_put(&c->panels[0], r, &own, true, told, err);
    if (st == FR_OK)
        return fr__inline_finish(c, f, "Timeline of the devices", err);
    fr__chart_free(c);
    return st;
}

/* ---- what stands below ---- */

void fr__html_lanes_key(FILE *f, const struct fr__timeline_told *told)
{
    fputs("<ul class=\"key\">\n", f);
    for (unsigned c = 0; c < FR__N_CATEGORIES; c++)
        if (told->has[c] && c != FR__RECV)
            fprintf(f, "<li><i style=\"background:%s\"></i>%s</li>\n",
                    fr__category_colour((enum fr__category)c),
                    fr__timeline_title(told->record, (enum fr__category)c));
    fputs("</ul>\n<figcaption>", f);
    if (told->n_busy > told->n_shown)
        fprintf(f, "%zu of %zu busy devices. ", told->n_shown, told->n_busy);
    if (told->n_merged)
        fputs("Neighbours too short to be told apart are drawn as one. ", f);
    if (told->n_numbers > told->n_hidden_numbers)
        fputs("Numbers are micro-batches. ", f);
    fputs("</figcaption>\n", f);
    if (told->n_hidden_numbers > 0)
        fputs("<p class=\"hint\">Closer, boxes have the numbers of their micro-batches.</p>\n", f);
}

void fr__html_zoom_begin(FILE *f, const char *what)
{
    fprintf(f,
            "<figure class=\"time\" tabindex=\"0\" role=\"group\" aria-label=\"%s; arrow keys "
            "move, + and - zoom, 0 shows all, n and p step through the boxes\">\n",
            what);
}

/* At some 200 bytes a box a page stays below a megabyte. */
enum fr_status fr__html_timeline(FILE *f, const struct fr_record *r, size_t number,
                                 struct fr_error *err)
{
    struct fr__timeline_told told = {.n_busy = 0};
    struct fr__timeline_span span = {.lanes = number > 1 ? 8 : 16,
                                     .boxes = number > 1 ? 3000 / number : 4500};

    if (!r->plan || !r->run || !(r->run->makespan_s > 0))
        return FR_OK;
    span.to_s = span.span_s = r->run->makespan_s;
    fputs("<h3>Timeline</h3>\n", f);
    fr__html_zoom_begin(f, "Timeline");
    FR_TRY(fr__html_lanes(f, r, &span, &told, err));
    fr__html_lanes_key(f, &told);
    fputs("</figure>\n", f);
    return FR_OK;
}
