/* results/schedules.h - pipeline schedules for people and programs: tables, JSON, pictures. */
#ifndef FORERUN_SCHEDULES_H
#define FORERUN_SCHEDULES_H

#include "base/base.h"
#include "lowering/schedules/schedule.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fr_timed_schedule {
    const struct fr_schedule *schedule; /* whoever made it frees it */
    struct fr_replay replay;
    const char *unit; /* of its times; NULL: none */
};

/* Writing functions of streams do not report failures: look at ferror(f) in the end. */

/* CSV, a row each: makespan, spans, bubble, and by rank what it holds (parts separated by ';'). */
void fr_schedules_print_summary(FILE *f, const struct fr_timed_schedule all[], size_t n);
/* An object each, in an array if there are several: the same figures and the lists. */
void fr_schedules_print_json(FILE *f, const struct fr_timed_schedule all[], size_t n);
/* Some lines for people. FR_ENOMEM. */
enum fr_status fr_schedule_print_check(FILE *f, const struct fr_timed_schedule *x,
                                       struct fr_error *err);
/* Over time, a line a rank; one below the other in one scale. FR_ENOMEM. */
enum fr_status fr_schedules_print_boxes(FILE *f, const struct fr_timed_schedule all[], size_t n,
                                        struct fr_error *err);

/* A picture by the ending: .svg, .png, .pdf; or .md, what fr_schedules_print_boxes prints. check:
 * whether such a file can be made. FR_EUSAGE: no such ending, too many rows to be read; FR_EIO:
 * gnuplot is missing, or failed, or writing did; FR_ECANCELLED. A file appears whole or not at all.
 * */
enum fr_status fr_schedules_check_path(const char *path, struct fr_error *err);
enum fr_status fr_schedules_write(const struct fr_timed_schedule all[], size_t n, const char *path,
                                  const struct fr_context *ctx, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
