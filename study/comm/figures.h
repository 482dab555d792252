/* study/comm/figures.h - the figures of collectives over sizes: keys, and how they are read. */
#ifndef FR_STUDY_COMM_FIGURES_H
#define FR_STUDY_COMM_FIGURES_H

#include "base/figures.h"
#include "study/comm/comm.h"

/* One size of a table. */
struct fr__comm_answer {
    const struct fr_comm_table *table;
    const struct fr_comm_row *row;
};
extern const struct fr_figure fr__comm_figures[];
/* Of a struct fr_comm_table: its question; all that a table of several models says. Of a struct
 * fr_comm_explanation: all but its table. */
extern const struct fr_figure fr__comm_question_figures[], fr__comm_models_figures[],
    fr__comm_explanation_figures[];
#endif
