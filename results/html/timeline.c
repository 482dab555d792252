/* results/html/timeline.c - when each device does what, as a picture (SVG) inside the report.
 *
 * It is separate from the timeline by gnuplot (pictures/timeline.c), which can neither zoom nor
 * show hints. A lane a device: computation above, messages below (sends over receives, collectives
 * in both). Where there are too many tasks to draw each, neighbours that are too short to be told
 * apart are drawn as one box, in the colour of what takes most of it; its hint says how many there
 * are. A chart shows a part of a run, so that several runs can be drawn to one scale (scale.c).
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "results/html/html.h"
#include "results/parts/lanes.h"
#include "results/parts/microbatches.h"
#include "results/parts/task_order.h"
#include "results/parts/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LANE = 40, LEAST_BOXES = 12, MAX_NUMBERS = 600 };

/* Width of a digit of the numbers, in units of the picture. */
static const double DIGIT = 6.3;

/* The closest that the script looks is a part of this many. */
static const double MOST_ZOOM = 60;

/* Parts of a lane: y and height in it. */
enum band { BAND_COMPUTE, BAND_COLLECTIVE, BAND_SEND, BAND_RECV, N_BANDS };
static const struct {
    double y, height;
} bands[N_BANDS] = {[BAND_COMPUTE] = {4, 18},
                    [BAND_COLLECTIVE] = {24, 12},
                    [BAND_SEND] = {24, 5.5},
                    [BAND_RECV] = {30.5, 5.5}};

struct box {
    double from_s, to_s, busy_s;
    double share_s[FR__N_CATEGORIES];
    uint32_t first, last, n; /* tasks */
};

struct timeline {
    FILE *f;
    const struct fr_record *record;
    const struct fr_plan_view *view;
    const struct fr__html_span *span;
    uint32_t *order; /* tasks lane by lane */
    uint32_t shown[FR__HTML_LANES];
    size_t n_shown;
    size_t max_boxes; /* in a band of a lane's stream */
    struct box *boxes;
    size_t n_boxes, cap_boxes;
    struct fr__html_told *told;
};

static enum band band_of(const struct fr_task *k)
{
    switch (k->kind) {
    case FR_TASK_SEND:
        return BAND_SEND;
    case FR_TASK_RECV:
        return BAND_RECV;
    case FR_TASK_COLLECTIVE:
        return BAND_COLLECTIVE;
    default:
        return BAND_COMPUTE;
    }
}

static enum fr__category main_category(const struct box *b)
{
    unsigned best = 0;

    for (unsigned c = 1; c < FR__N_CATEGORIES; c++)
        if (b->share_s[c] > b->share_s[best])
            best = c;
    return (enum fr__category)best;
}

/* When a task starts and ends in the part of the run that is shown, whose begin is 0. */
static double in_span(const struct timeline *t, double s)
{
    return fmin(fmax(s - t->span->from_s, 0), t->span->to_s - t->span->from_s);
}

static double start_of(const struct timeline *t, uint32_t task)
{
    return in_span(t, t->record->run->start_s[task]);
}

static double end_of(const struct timeline *t, uint32_t task)
{
    return in_span(t, t->record->run->end_s[task]);
}

/* ---- boxes ---- */

/* Whether a task is drawn as part of the box before it, when shorter things than least_s merge. */
static bool joins(const struct box *b, enum fr__category c, double start_s, double end_s,
                  double least_s)
{
    if (end_s - b->from_s <= least_s)
        return true;
    return end_s - start_s <= least_s && start_s - b->to_s <= least_s / 2 && main_category(b) == c;
}

static bool begin_box(struct timeline *t, uint32_t task, double start_s)
{
    if (!fr__grow(&t->boxes, &t->cap_boxes, t->n_boxes + 1, sizeof(*t->boxes)))
        return false;
    t->boxes[t->n_boxes++] = (struct box){.from_s = start_s, .to_s = start_s, .first = task};
    return true;
}

/* The boxes of one band of one stream; tasks: [n] by start. */
static bool make_boxes(struct timeline *t, const uint32_t tasks[], size_t n, enum band band,
                       double least_s)
{
    t->n_boxes = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fr_task *k = &t->view->tasks[tasks[i]];
        double start_s = start_of(t, tasks[i]), end_s = end_of(t, tasks[i]);
        enum fr__category c = fr__category_of(k);
        struct box *b = t->n_boxes ? &t->boxes[t->n_boxes - 1] : NULL;

        if (k->kind == FR_TASK_MARKER || band_of(k) != band || !(end_s > start_s))
            continue;
        if (!b || !joins(b, c, start_s, end_s, least_s)) {
            if (!begin_box(t, tasks[i], start_s))
                return false;
            b = &t->boxes[t->n_boxes - 1];
        }
        b->to_s = end_s > b->to_s ? end_s : b->to_s;
        b->busy_s += end_s - start_s;
        b->share_s[c] += end_s - start_s;
        b->last = tasks[i];
        b->n++;
    }
    return true;
}

/* Name, kind, when, where. */
static void write_hint(struct timeline *t, size_t lane, const struct box *b, enum fr__category c)
{
    char label[128], from[FR__HTML_TEXT], to[FR__HTML_TEXT], took[FR__HTML_TEXT];

    fputs("<title>", t->f);
    fr__html_text(t->f, fr_plan_task_label(t->record->plan, b->first, label, sizeof(label)));
    if (b->n > 1) {
        fputs(" … ", t->f);
        fr__html_text(t->f, fr_plan_task_label(t->record->plan, b->last, label, sizeof(label)));
        fprintf(t->f, "\n%" PRIu32 " tasks, mostly %s\n", b->n, fr__category_title(t->record, c));
    } else {
        fprintf(t->f, "\n%s\n", fr__category_title(t->record, c));
    }
    fprintf(t->f, "%s to %s: %s\n", fr__record_time(t->record, b->from_s, from, sizeof(from)),
            fr__record_time(t->record, b->to_s, to, sizeof(to)),
            fr__record_time(t->record, b->to_s - b->from_s, took, sizeof(took)));
    fr__html_text(t->f, t->view->topo->devices[t->shown[lane]].name);
    fputs("</title>", t->f);
}

static void write_box(struct timeline *t, size_t lane, enum band band, const struct box *b)
{
    double scale = FR__HTML_PLOT / t->span->span_s;
    double x = b->from_s * scale, width = (b->to_s - b->from_s) * scale;
    enum fr__category c = main_category(b);

    if (width > 3)
        width -= 0.4; /* neighbours stay apart */
    fprintf(t->f, "<rect class=\"c%u\" x=\"", (unsigned)c);
    fr__html_number(t->f, x);
    fputs("\" y=\"", t->f);
    fr__html_number(t->f, (double)lane * LANE + bands[band].y);
    fputs("\" width=\"", t->f);
    fr__html_number(t->f, width > 0.2 ? width : 0.2);
    fputs("\" height=\"", t->f);
    fr__html_number(t->f, bands[band].height);
    fputs("\">", t->f);
    write_hint(t, lane, b, c);
    fputs("</rect>\n", t->f);
    t->told->has[fr__category_even(c)] = true;
    t->told->n_merged += b->n > 1;
}

static enum fr_status write_band(struct timeline *t, size_t lane, enum band band,
                                 const uint32_t tasks[], size_t n, struct fr_error *err)
{
    double least_s = 0;

    do {
        if (!make_boxes(t, tasks, n, band, least_s))
            return fr__fail_nomem(err);
        least_s = least_s > 0 ? 2 * least_s : t->span->span_s / FR__HTML_PLOT / 2;
    } while (t->n_boxes > t->max_boxes);
    for (size_t i = 0; i < t->n_boxes; i++)
        write_box(t, lane, band, &t->boxes[i]);
    return FR_OK;
}

/* Where the tasks of a device and stream end that begin at `first`. */
static size_t stream_end(const struct timeline *t, size_t first)
{
    const struct fr_task *tasks = t->view->tasks, *k = &tasks[t->order[first]];
    size_t past = first + 1;

    while (past < t->view->n_tasks && tasks[t->order[past]].device == k->device &&
           tasks[t->order[past]].stream == k->stream)
        past++;
    return past;
}

/* Tasks by lane, stream (those of none are the last) and band. */
struct counts {
    size_t n[FR__HTML_LANES][FR_N_STREAMS + 1][N_BANDS];
};

static size_t sum_up_to(const struct counts *c, size_t most)
{
    size_t sum = 0;

    for (size_t lane = 0; lane < FR__HTML_LANES; lane++)
        for (size_t stream = 0; stream <= FR_N_STREAMS; stream++)
            for (size_t band = 0; band < N_BANDS; band++)
                sum += c->n[lane][stream][band] < most ? c->n[lane][stream][band] : most;
    return sum;
}

/* The most boxes a band of a stream may have, so that all have room together: what those with few
 * tasks do not need goes to the others. */
static size_t share_out(const struct timeline *t, size_t boxes)
{
    struct counts c = {{{{0}}}};
    size_t low = LEAST_BOXES, high = boxes > LEAST_BOXES ? boxes : LEAST_BOXES;

    for (size_t i = 0; i < t->view->n_tasks; i++) {
        const struct fr_task *k = &t->view->tasks[i];
        size_t lane = fr__lane_of(t->shown, t->n_shown, k->device);

        if (lane < t->n_shown && k->kind != FR_TASK_MARKER)
            c.n[lane][k->stream < FR_N_STREAMS ? k->stream : FR_N_STREAMS][band_of(k)]++;
    }
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;

        if (sum_up_to(&c, middle) <= boxes)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static enum fr_status write_boxes(struct timeline *t, struct fr_error *err)
{
    t->max_boxes = share_out(t, t->span->boxes);
    for (size_t i = 0, past; i < t->view->n_tasks; i = past) {
        size_t lane = fr__lane_of(t->shown, t->n_shown, t->view->tasks[t->order[i]].device);

        past = stream_end(t, i);
        for (unsigned band = 0; lane < t->n_shown && band < N_BANDS; band++)
            FR_TRY(write_band(t, lane, (enum band)band, t->order + i, past - i, err));
    }
    return FR_OK;
}

/* ---- numbers of micro-batches ---- */

/* All boxes have their number, or none has, where one of them is too short for it: data-zoom is how
 * much closer the script must look before all have room. */
static enum fr_status write_numbers(struct timeline *t, struct fr_error *err)
{
    double scale = FR__HTML_PLOT / t->span->span_s, zoom;
    struct fr__microbatch *list;
    size_t n;

    FR_TRY(fr__microbatches(t->record, t->order, t->shown, t->n_shown, t->span->from_s,
                            t->span->to_s, MAX_NUMBERS, &list, &n, err));
    zoom = fr__microbatches_zoom(list, n, scale, DIGIT);
    if (n > 0 && zoom <= MOST_ZOOM) {
        t->told->n_numbers += n;
        t->told->n_hidden_numbers += zoom > 1 ? n : 0;
        fputs("<g class=\"numbers\" data-zoom=\"", t->f);
        fr__html_number(t->f, zoom + 0.005); /* rounded up */
        fprintf(t->f, "\"%s>\n", zoom > 1 ? " display=\"none\"" : "");
        for (size_t i = 0; i < n; i++) {
            fprintf(t->f, "<text class=\"o\" style=\"fill:%s\" transform=\"translate(",
                    fr__category_ink(list[i].category));
            fr__html_number(t->f, ((list[i].from_s + list[i].to_s) / 2 - t->span->from_s) * scale);
            fputs(" ", t->f);
            fr__html_number(t->f, (double)list[i].lane * LANE + 17);
            fprintf(t->f, ")\">%" PRIu32 "</text>\n", list[i].microbatch);
        }
        fputs("</g>\n", t->f);
    }
    free(list);
    return FR_OK;
}

/* ---- the frame ---- */

static void write_frame(const struct timeline *t)
{
    double height = (double)t->n_shown * LANE;

    fprintf(t->f,
            "<svg class=\"chart\" viewBox=\"0 0 %d %g\" role=\"img\" "
            "aria-label=\"Timeline of the devices\">\n",
            FR__HTML_WIDTH, height + 22);
    for (size_t i = 0; i < t->n_shown; i++) {
        fprintf(t->f, "<rect class=\"lane\" x=\"%d\" y=\"%zu\" width=\"%d\" height=\"%d\"/>",
                FR__HTML_LEFT, i * LANE + 2, FR__HTML_PLOT, LANE - 4);
        fprintf(t->f, "<text class=\"r\" x=\"%d\" y=\"%zu\">", FR__HTML_LEFT - 8, i * LANE + 24);
        fr__html_text(t->f, t->view->topo->devices[t->shown[i]].name);
        fputs("</text>\n", t->f);
    }
    fr__html_time_axis(t->f, t->record, t->span->span_s, 0, height);
    fr__html_plot_begin(t->f, height);
}

/* Where the run ends, when others are longer. */
static void write_end(const struct timeline *t)
{
    double x = FR__HTML_PLOT * (t->span->to_s - t->span->from_s) / t->span->span_s;

    if (!t->span->marks_end)
        return;
    fputs("<line class=\"cap\" vector-effect=\"non-scaling-stroke\" y1=\"0\" y2=\"100%\" x1=\"",
          t->f);
    fr__html_number(t->f, x);
    fputs("\" x2=\"", t->f);
    fr__html_number(t->f, x);
    fputs("\"/>\n", t->f);
}

enum fr_status fr__html_lanes(FILE *f, const struct fr_record *r, const struct fr__html_span *span,
                              struct fr__html_told *told, struct fr_error *err)
{
    struct timeline t = {
        .f = f, .record = r, .view = fr_plan_view(r->plan), .span = span, .told = told};
    size_t n_busy;
    enum fr_status st;

    t.n_shown = fr__shown_devices(r, span->lanes, t.shown, &n_busy);
    told->record = r;
    told->n_shown += t.n_shown;
    told->n_busy += n_busy;
    FR_TRY(fr__tasks_by_lane(r, &t.order, err));
    write_frame(&t);
    st = write_boxes(&t, err);
    if (st == FR_OK)
        st = write_numbers(&t, err);
    write_end(&t);
    fputs("</svg>\n</svg>\n", f);
    free(t.boxes);
    free(t.order);
    return st;
}

/* ---- what stands below ---- */

void fr__html_lanes_key(FILE *f, const struct fr__html_told *told)
{
    fputs("<ul class=\"key\">\n", f);
    for (unsigned c = 0; c < FR__N_CATEGORIES; c++)
        if (told->has[c] && c != FR__RECV)
            fprintf(f, "<li><i style=\"background:%s\"></i>%s</li>\n",
                    fr__category_colour((enum fr__category)c),
                    c == FR__SEND ? "message (send above, receive below)"
                                  : fr__category_title(told->record, (enum fr__category)c));
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

enum fr_status fr__html_timeline(FILE *f, const struct fr_record *r,
                                 const struct fr__html_room *room, struct fr_error *err)
{
    struct fr__html_told told = {.n_busy = 0};
    struct fr__html_span span = {.lanes = room->lanes, .boxes = room->boxes};

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
