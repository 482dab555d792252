/* results/document/record.h - what the tables of one record and of several share. */
#ifndef FR_RESULTS_DOCUMENT_RECORD_H
#define FR_RESULTS_DOCUMENT_RECORD_H

#include "results/document/builders.h"
#include "results/parts/times.h"
#include "results/results.h"
#include "results/parts/table.h"

/* ---- record_question.c ---- */

/* "vgg19 on 4 of 8 GPUs of dgx1-v100" and the rest of the question, values as they were used. */
void fr__record_put_question(struct fr__document *doc, const struct fr_record *r,
                             bool with_strategy);
/* What to know of the answers before their figures are believed: of all, or each by its strategy.
 * */
void fr__record_put_warnings(struct fr__document *doc, const struct fr_results *rs);
/* "profiled 31.1 %, calibrated 68.9 %": where the costs of computing come from, and a line end. */
void fr__record_put_cost_sources(struct fr__document *doc, const struct fr_record *r);

/* "NICs of a machine: 8 x 400 Gbit/s, PCIe 48 GB/s (PCIe limits)" and a line end; n 0: nothing. */
void fr__put_nics(struct fr__document *doc, const struct fr_topo_nics nics[], size_t n);

/* ---- record.c ---- */

/* A record by itself, of results that hold no other. */
void fr__record_put(struct fr__document *doc, const struct fr_record *r,
                    const struct fr_results *rs);
/* The figures of a record as a table. */
void fr__record_put_figures(struct fr__document *doc, const struct fr_record *r);

/* ---- record_run.c ---- */

/* What the whole training run takes and costs; nothing without terms that name one. */
void fr__record_put_run(struct fr__document *doc, const struct fr_record *r,
                        const struct fr_sweep_terms *terms);
/* "1 T tokens"; "" where the terms (or NULL) name no run. */
void fr__record_run_title(char cell[FR__TABLE_CELL], const struct fr_sweep_terms *terms);
/* How long it takes and what it costs, "" where it does not run; its title: "cost (USD)" with
 * prices, else "GPU hours". */
void fr__record_run_cells(char time[FR__TABLE_CELL], char cost[FR__TABLE_CELL],
                          const struct fr_record *r, const struct fr_sweep_terms *terms);
const char *fr__record_cost_title(const struct fr_sweep_terms *terms);

/* ---- record_memory.c ---- */

/* Which device lacks how much memory, and which task asks for it first. */
void fr__record_put_oom(struct fr__document *doc, const struct fr_record *r);
/* What is held at the peak, the largest first, at most that many. */
void fr__record_put_holders(struct fr__document *doc, const struct fr_record_peak *p, size_t most);
/* The changes that would make it fit; nothing where none were asked for. */
void fr__record_put_advice(struct fr__document *doc, const struct fr_record *r);
/* When the peak is, and the three kinds of buffers that hold most. */
void fr__record_held_cell(char cell[FR__TABLE_CELL], const struct fr_record_peak *p);

/* ---- record_details.c ---- */

/* Devices, links and the critical path. */
void fr__record_put_details(struct fr__document *doc, const struct fr_record *r);
/* Sensitivities that show in the tenths of a percent. */
void fr__record_put_sensitivities(struct fr__document *doc, const struct fr_record *r);
/* The interval of the iteration time, and the costs that make it wide. */
void fr__record_put_seeds(struct fr__document *doc, const struct fr_record *r);
/* Where the range of the time comes from; nothing where none is claimed. */
void fr__record_put_interval(struct fr__document *doc, const struct fr_record *r);
void fr__record_put_uncertainty(struct fr__document *doc, const struct fr_record *r);

/* ---- record_page.c: on pages alone ---- */

/* What the critical path is made of, and its longest tasks; r has a plan and its run. */
void fr__record_put_path(struct fr__document *doc, const struct fr_record *r);
/* Parts of a page: where the costs of base come from, what is assumed, how to get it again. */
void fr__record_put_trust(struct fr__document *doc, const struct fr_results *rs,
                          const struct fr_record *base);
#endif
