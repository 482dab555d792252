/* results/comm_table.h - a collective over a range of sizes, and how it goes, for people and for
 * programs. Several tables t are of one question by several algorithms. */
#ifndef FORERUN_COMM_TABLE_H
#define FORERUN_COMM_TABLE_H

#include "study/comm/comm.h"

#include <stdio.h>

/* has_links: with the busiest link of each size. A table by models stands alone.
 * FR_ENOMEM. */
enum fr_status fr_comm_print(FILE *f, struct fr_comm_table *const t[], size_t n, bool has_links,
                             struct fr_error *err);
void fr_comm_print_json(FILE *f, struct fr_comm_table *const t[], size_t n);
void fr_comm_print_csv(FILE *f, struct fr_comm_table *const t[], size_t n);

/* FR_EUSAGE unless path ends in .svg, .png, .pdf, .csv, .json or .md. */
enum fr_status fr_comm_check_path(const char *path, struct fr_error *err);
/* Bus bandwidth and time over the size, a line for each table; or the rows. FR_EUSAGE: another
 * ending; FR_EIO: no gnuplot, or no such place; FR_ECANCELLED; FR_ENOMEM. */
enum fr_status fr_comm_write(struct fr_comm_table *const t[], size_t n, const char *path,
                             const struct fr_context *ctx, struct fr_error *err);

enum fr_status fr_comm_story_print(FILE *f, const struct fr_comm_story *s, struct fr_error *err);
void fr_comm_story_print_json(FILE *f, const struct fr_comm_story *s);
/* Likewise: a picture (.svg, .png, .pdf) of the messages, round by round, .json or .md. FR_EUSAGE
 * also: there are no messages to draw, or too many. */
enum fr_status fr_comm_story_check_path(const char *path, struct fr_error *err);
enum fr_status fr_comm_story_write(const struct fr_comm_story *s, const char *path,
                                   const struct fr_context *ctx, struct fr_error *err);

#endif
