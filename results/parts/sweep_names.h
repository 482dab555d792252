/* results/parts/sweep_names.h - how tables and pictures of a sweep name a point. */
#ifndef FR_RESULTS_PARTS_SWEEP_NAMES_H
#define FR_RESULTS_PARTS_SWEEP_NAMES_H

#include "results/results.h"

/* The settings that vary, but for those that make groups: [FR_N_SETTINGS] gets
 * their numbers, those worth a column first. Returns how many. */
size_t fr__sweep_varying(const struct fr_sweep *s, size_t settings[FR_N_SETTINGS]);
/* "gpus", "batch/gpu": the setting over a column. */
const char *fr__sweep_setting_title(size_t setting);
/* A point's value of a setting, for people: "all" GPUs as their number where that is known. */
void fr__sweep_value_text(const struct fr_sweep *s, size_t point, size_t setting, char *buf,
                          size_t n);
/* "dgx1-v100, 8 GPUs, dp, 64/GPU": what varies of a point. */
void fr__sweep_point_text(const struct fr_sweep *s, size_t point, char *text, size_t n);
/* "dgx1-v100, 8 GPUs, batch 64": what does not vary, but for the workload. */
void fr__sweep_fixed_text(const struct fr_sweep *s, char *text, size_t n);
/* "topology, strategy": titles of the settings that vary, but for one of that name. */
void fr__sweep_varying_text(const struct fr_sweep *s, const char *but, char *text, size_t n);
/* Which of its values a point has of a setting. */
size_t fr__sweep_value_index(const struct fr_sweep *s, size_t point, size_t setting);
/* "vgg19", or "bert-large, seq-len 128" */
void fr__sweep_group_text(const struct fr_sweep_group *g, char *buf, size_t n);
/* "run time" or "time of 1 M samples"; "cost (USD)" or "GPU hours" */
const char *fr__sweep_time_title(const struct fr_sweep_terms *terms);
const char *fr__sweep_cost_title(const struct fr_sweep_terms *terms);
/* A cost with no more digits than count. */
const char *fr__sweep_cost_text(double cost, char *buf, size_t n);
#endif
