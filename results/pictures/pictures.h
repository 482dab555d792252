/* results/pictures/pictures.h - the charts of answers, one a kind.
 *
 * Each describes the chart of an answer of its type. It may refuse: FR_EUSAGE, FR_ENOENT, FR_EIO:
 * there is nothing to draw, or too much to be read; FR_ENOMEM.
 */
#ifndef FR_RESULTS_PICTURES_PICTURES_H
#define FR_RESULTS_PICTURES_PICTURES_H

#include "results/charts/chart.h"
#include "results/explain.h"

/* struct fr_results: of one its timeline over its memory, of several times and memory */
fr__chart_fn fr__chart_of_results;
fr__chart_fn fr__chart_of_difference; /* struct fr_difference_answer: both runs, to one scale */
/* struct fr_sweep_answer: a panel a workload, at most nine; time against cost, a point a row that
 * fits, coloured by the first setting that varies, the frontier joined and named */
fr__chart_fn fr__chart_of_sweep;
/* struct fr_sweep_answer too: on the left throughput against the number of GPUs, with the ideal; on
 * the right efficiency. A line for each question that was asked on several numbers of GPUs, at most
 * eight. */
fr__chart_fn fr__chart_of_scaling;
/* struct fr_search_answer: time against memory of the layouts that were simulated coarsely,
 * coloured by their tensor parallelism, the frontier joined and named, the GPU's memory a line; of
 * several clusters time against price of their frontiers, a colour a cluster, and what none of them
 * beats in time, memory and price */
fr__chart_fn fr__chart_of_search;
fr__chart_fn fr__chart_of_curves; /* struct fr_curves_answer: bandwidth and time over the size */
fr__chart_fn
    fr__chart_of_comm_explanation; /* struct fr_comm_explanation: the messages, round by round */
/* struct fr_learning_answer: estimated and measured times by round; steps show the strategy in use,
 * marks those that were rolled back or ran out of memory; profiles after pre-training have a grey
 * ground */
fr__chart_fn fr__chart_of_learning;
/* struct fr_schedules_answer: one panel below the other, in one scale; a row a rank, a box an
 * action */
fr__chart_fn fr__chart_of_schedules;
fr__chart_fn fr__chart_of_pipelines; /* struct fr_pipelines_answer: their schedules */
/* struct fr_validation_answer: measured against predicted on logarithmic axes, with lines at 10 %
 * off */
fr__chart_fn fr__chart_of_validation;
/* The same: step times over the batch, a panel for each software, workload and precision; the dozen
 * that is furthest off. FR_ENOENT: no rows differ in their batch alone. */
fr__chart_fn fr__chart_of_split;
fr__chart_fn fr__chart_of_explanation; /* struct fr_explanation_answer: the plan over time */

/* ---- parts of them ---- */

/* The timeline of one run over its memory. FR_EUSAGE: nothing takes time; FR_ENOMEM. */
enum fr_status fr__chart_timeline(struct fr__chart *c, const struct fr_record *r,
                                  struct fr_error *err);
/* Times and memory of several strategies. */
void fr__chart_comparison(struct fr__chart *c, const struct fr_results *rs);
/* Searches on several clusters. FR_EIO: no layout fits; FR_ENOMEM. */
enum fr_status fr__chart_clusters(struct fr__chart *c, const struct fr_search_answer *a,
                                  struct fr_error *err);
#endif
