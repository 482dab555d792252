/* results/charts/timeline.h - a run over time, described once: a lane a device, computation above,
 * communication below (sends over receives, collectives in both), each task a box.
 *
 * The picture of a run, that of a difference, and the reports draw it.
 */
#ifndef FR_RESULTS_CHARTS_TIMELINE_H
#define FR_RESULTS_CHARTS_TIMELINE_H

#include "results/charts/chart.h"
#include "results/parts/lanes.h"

enum { FR__TIMELINE_LANES = 16 };

/* What is drawn: the run from from_s to to_s. The axis is span_s long, at least that much. */
struct fr__timeline_span {
    double from_s, to_s, span_s;
    size_t lanes, boxes; /* at most; FR__TIMELINE_LANES is the most lanes */
    bool marks_end;      /* a line at to_s */
    double most_zoom;    /* the closest that a reader can look; 1: as it is */
};

/* What has been drawn in all panels of a figure, for its key and caption. Begins zeroed. */
struct fr__timeline_told {
    const struct fr_record *record; /* the last one */
    bool has[FR__N_CATEGORIES];
    size_t n_shown, n_busy; /* devices */
    size_t n_merged;        /* boxes for several tasks */
    size_t n_numbers, n_hidden_numbers;
};

/* How a key calls the category. */
const char *fr__timeline_title(const struct fr_record *r, enum fr__category c);

/* Puts the run into an empty panel, whose place is set: x is time in the unit of
 * fr__record_time_unit for span_s, y counts lanes from the bottom. Where there are too many
 * tasks to draw each, neighbours that are too short to be told apart are one box in the colour
 * of what takes most of it. All boxes have the numbers of their micro-batches, or none has;
 * without micro-batches a box has its task's name where it fits. with_hints: each box says what
 * it is, for pages. FR_ENOMEM. */
enum fr_status fr__timeline_put(struct fr__panel *p, const struct fr_record *r,
                                const struct fr__timeline_span *span, bool with_hints,
                                struct fr__timeline_told *told, struct fr_error *err);
#endif
