/* study/comm/figures.h - the figures of collectives over sizes: keys, and how they are read. */
#ifndef FR_STUDY_COMM_FIGURES_H
#define FR_STUDY_COMM_FIGURES_H

#include "base/figures.h"
#include "study/comm/collective_time.h"
#include "study/comm/comm.h"

/* One size of a table. */
struct fr__comm_answer {
    const struct fr_comm_table *table;
    const struct fr_comm_row *row;
};
extern const struct fr_figure fr__comm_figures[];
/* Of a struct fr_comm_table: its question; of a struct fr_comm_story: all but its table; of a
 * struct fr_collective_times. */
extern const struct fr_figure fr__comm_question_figures[], fr__comm_story_figures[],
    fr__collective_figures[];
#endif
