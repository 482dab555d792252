/* calibrate/fit/system_fit.h - the fits that make up the fit of a system, each of one model to its
 * own rows.
 *
 * rows: [n] rows to fit, none of them held out. Each fit sets its results, rounded, with standard
 * errors. FR_ENOMEM.
 */
#ifndef FR_CALIBRATE_FIT_SYSTEM_FIT_H
#define FR_CALIBRATE_FIT_SYSTEM_FIT_H

#include "calibrate/fit/read/collective_data.h"
#include "calibrate/fit/fitting.h"

/* A log of nccl-tests from 8 B to 8 GiB has 31 rows, of which a fifth or more is held out. */
enum { FR__MIN_ROWS = 16, FR__MIN_ALL_TO_ALL = 12, FR__MIN_MESSAGES = 12 };
enum { FR__SYSTEM_DRAWS = 40 }; /* for the standard errors */

/* Fits collectives inside a node: sets info's has_rings or has_all_to_all, has_nvls, parameters,
 * errors. */
enum fr_status fr__fit_rings(struct fr_system_info *info,
                             const struct fr__collective_row *const rows[], size_t n,
                             struct fr_error *err);
enum fr_status fr__fit_all_to_all(struct fr_system_info *info,
                                  const struct fr__collective_row *const rows[], size_t n,
                                  struct fr_error *err);

/* What the fits of collectives inside a node miss their own rows by: sets corrections. Called
 * after these fits, with the rows of each. */
void fr__fit_corrections(struct fr_system *s, const struct fr__collective_row *const rows[],
                         size_t n);

/* Fits collectives over several nodes: sets choice, has_way, ways and way_errors, or those of
 * all_to_all. */
enum fr_status fr__fit_nodes(struct fr_system_nodes *nodes,
                             const struct fr__collective_row *const rows[], size_t n,
                             struct fr_error *err);
enum fr_status fr__fit_nodes_all_to_all(struct fr_system_nodes *nodes,
                                        const struct fr__collective_row *const rows[], size_t n,
                                        struct fr_error *err);

/* Fits messages over a link: sets the link's parameters and errors. */
enum fr_status fr__fit_link(struct fr_system_link *link, const struct fr__message_row *const rows[],
                            size_t n, struct fr_error *err);
#endif
