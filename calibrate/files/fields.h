/* calibrate/files/fields.h - the fields that files of fitted curves and files of systems share.
 *
 * Readers return FR_EPARSE or FR_ERANGE, with the place, if something is missing or not as
 * described.
 */
#ifndef FR_CALIBRATE_FILES_FIELDS_H
#define FR_CALIBRATE_FILES_FIELDS_H

#include "base/yaml.h"
#include "calibrate/calibrate.h"

#include <stdio.h>

/* The number under that key, in [min, max]; a minus sign is accepted if min < 0. */
enum fr_status fr__fit_number(const struct fr__yaml *map, const char *key, double min, double max,
                              double *out, struct fr_error *err);
enum fr_status fr__fit_count(const struct fr__yaml *map, const char *key, uint64_t max,
                             uint64_t *out, struct fr_error *err);
/* The text under that key, of less than n bytes, into out[n]. */
enum fr_status fr__fit_text(const struct fr__yaml *map, const char *key, char out[], size_t n,
                            struct fr_error *err);
enum fr_status fr__fit_bool(const struct fr__yaml *map, const char *key, bool *out,
                            struct fr_error *err);
/* A child of that kind, which must be there. */
enum fr_status fr__fit_child(const struct fr__yaml *map, const char *key, enum fr__yaml_kind kind,
                             const struct fr__yaml **out, struct fr_error *err);
/* The number at an item of a list; `what` names it in messages. */
enum fr_status fr__fit_item(const struct fr__yaml *item, const char *what, double min, double max,
                            double *out, struct fr_error *err);
/* "[value, error]" under that key: value in [min, max], error in [0, max]. */
enum fr_status fr__fit_pair(const struct fr__yaml *map, const char *key, double min, double max,
                            double *value, double *error, struct fr_error *err);
/* `data_hash`, 16 hexadecimal digits. */
enum fr_status fr__fit_hash(const struct fr__yaml *map, uint64_t *out, struct fr_error *err);
/* "{rows, median, p90, worst, bias}" */
enum fr_status fr__fit_misses(const struct fr__yaml *map, struct fr_misses *m,
                              struct fr_error *err);

void fr__put_number(FILE *f, const char *before, double x, const char *after);
/* "BEFOREkey: 'text'" and the end of the line; text has no line ends. */
void fr__put_text(FILE *f, const char *before, const char *key, const char *text);
void fr__put_pair(FILE *f, const char *before, const char *key, double value, double error);
void fr__put_misses(FILE *f, const struct fr_misses *m); /* the map and the end of the line */
#endif
