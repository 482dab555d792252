/* results/parts/program.h - runs another program without a shell. */
#ifndef FR_RESULTS_PARTS_PROGRAM_H
#define FR_RESULTS_PARTS_PROGRAM_H

#include "results/results.h"

/* An empty unnamed file that vanishes when closed; close with fclose. FR_EIO. */
enum fr_status fr__program_file(FILE **out, struct fr_error *err);

/* Runs argv (ends with NULL) found on the PATH, with the whole of input as its standard input and
 * its standard output appended to output. So no name of a file reaches its command line. FR_EIO:
 * argv[0] is not installed (`instead` says what to do then: "write .csv instead"), or failed (with
 * its own words); FR_ECANCELLED: ctx (may be NULL) says so, the program was ended. */
enum fr_status fr__program_run(char *const argv[], FILE *input, FILE *output, const char *instead,
                               const struct fr_context *ctx, struct fr_error *err);
#endif
