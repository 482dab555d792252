/* results/text/record.h - what the tables of one record and of several share. */
#ifndef FR_RESULTS_TEXT_RECORD_H
#define FR_RESULTS_TEXT_RECORD_H

#include "results/results.h"
#include "results/text/table.h"

/* ---- record_question.c ---- */

/* "vgg19 on 4 of 8 GPUs of dgx1-v100" and the rest of the question, values as they were used. */
void fr__record_put_question(FILE *f, const struct fr_record *r, bool with_strategy);
/* "profiled 31.1 %, calibrated 68.9 %": where the costs of computing come from, and a line end. */
void fr__record_put_cost_sources(FILE *f, const struct fr_record *r);

/* ---- record_memory.c ---- */

/* Which device lacks how much memory, and which task asks for it first. */
void fr__record_put_oom(FILE *f, const struct fr_record *r);
/* What is held at the peak, the largest first, at most that many. */
void fr__record_put_holders(FILE *f, const struct fr_record_peak *p, size_t most);
/* The changes that would make it fit; nothing where none were asked for. */
void fr__record_put_advice(FILE *f, const struct fr_record *r);
/* When the peak is, and the three kinds of buffers that hold most. */
void fr__record_held_cell(char cell[FR__TABLE_CELL], const struct fr_record_peak *p);

/* ---- record_details.c ---- */

/* Devices, links and the critical path. */
void fr__record_put_details(FILE *f, const struct fr_record *r);
/* Sensitivities that show in the tenths of a percent. */
void fr__record_put_sensitivities(FILE *f, const struct fr_record *r);
/* The interval of the iteration time, and the costs that make it wide. */
void fr__record_put_uncertainty(FILE *f, const struct fr_record *r);
#endif
