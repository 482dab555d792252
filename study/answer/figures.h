/* study/answer/figures.h - the figures of a step's record: keys, titles, and how they are read. */
#ifndef FR_STUDY_ANSWER_FIGURES_H
#define FR_STUDY_ANSWER_FIGURES_H

#include "base/figures.h"
#include "study/study.h"

/* Of a struct fr_record: all, and the groups in which JSON has them: what was asked and the rates;
 * behind what the whole run takes, what was found. */
extern const struct fr_figure fr__record_figures[], fr__record_asked_figures[],
    fr__record_found_figures[];
/* Of a struct fr_decisions with a plan. */
extern const struct fr_figure fr__decided_figures[];
/* Of a struct fr_topo_nics. */
extern const struct fr_figure fr__nics_figures[];

/* Whether the link to their machine carries less than the NICs. */
bool fr__nics_wait_for_pcie(const struct fr_topo_nics *k);
/* Relative change of a resource that becomes FR_FASTER times as fast: +0.25, or -0.2 where the
 * resource is a latency or a launch time. */
double fr__faster_change(const struct fr_record_sensitivity *s);
#endif
