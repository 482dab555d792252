/* results/parts/rows.h - in what the answers of a comparison differ besides their strategies. */
#ifndef FR_RESULTS_PARTS_ROWS_H
#define FR_RESULTS_PARTS_ROWS_H

#include "results/results.h"

/* Parts of a question that tables show in a column of their own where they differ. */
enum fr__row_part {
    FR__ROW_WORKLOAD,
    FR__ROW_TOPOLOGY,
    FR__ROW_GPUS,
    FR__ROW_BATCH, /* of an iteration, over all GPUs */
    FR__ROW_PRECISION,
    FR__ROW_OPTIMIZER,
    FR__N_ROW_PARTS
};

enum { FR__ROW_NAME = 512 }; /* bytes, with the end */

/* Of one record, "2x hgx-h100", written into buf where it is a number. */
const char *fr__row_part_text(const struct fr_record *r, enum fr__row_part part,
                              char buf[FR__ROW_NAME]);
/* Whether the records differ in it. O(records). */
bool fr__rows_differ(const struct fr_results *rs, enum fr__row_part part);
/* What tells record i from the others: its strategy, and in what else they differ, "dp, vgg19,
 * dgx2". Returns buf. */
const char *fr__row_name(const struct fr_results *rs, size_t i, char buf[FR__ROW_NAME]);
/* How many times as fast record i is as the base of speed-ups: by the time of an iteration, or,
 * where iterations have different batches, by samples a second. 0: not known, or the records are of
 * different workloads, of which none is faster. */
double fr__row_speed_up(const struct fr_results *rs, size_t i);
/* The index of that base: the first of a strategy that others are compared with, else 0. */
size_t fr__row_base(const struct fr_results *rs);
/* What all records are of, "vgg19 on 4 of 8 GPUs of dgx1-v100", or where they differ "2 workloads
 * on 3 clusters"; and how, "global batch 64, fp32, sgd". Return buf. */
const char *fr__rows_subject(const struct fr_results *rs, char buf[FR__ROW_NAME]);
const char *fr__rows_manner(const struct fr_results *rs, char buf[FR__ROW_NAME]);
/* Whether a record before i asks the same but for the strategy. O(records). */
bool fr__row_is_known(const struct fr_results *rs, size_t i);

#endif
