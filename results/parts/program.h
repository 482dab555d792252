/* results/parts/program.h - runs another program without a shell. */
#ifndef FR_RESULTS_PARTS_PROGRAM_H
#define FR_RESULTS_PARTS_PROGRAM_H

#include "results/results.h"

/* An empty unnamed file that vanishes when closed; close with fclose. FR_EIO. */
enum fr_status fr__program_file(FILE **out, struct fr_error *err);

/* The formats that other programs draw; the last is places as graphviz tells them. */
enum fr__picture {
    FR__PICTURE_PNG,
    FR__PICTURE_SVG,
    FR__PICTURE_PDF,
    FR__PICTURE_PLAIN,
    FR__N_PICTURES
};

struct fr__program {
    char *const *argv;        /* ends with NULL; argv[0] is found on the PATH */
    const char *instead;      /* what to do where it is not installed: "write .csv instead" */
    enum fr__picture picture; /* what its standard output is to be */
    double most_silent_s;     /* without a byte; 0: a minute */
};

/* Runs the program with the whole of input as its standard input and its standard output appended
 * to output. So no name of a file reaches its command line. FR_EIO: it is not installed, failed
 * (with its own words), wrote nothing for too long (it is stopped then), or what it wrote is no
 * whole picture; FR_ECANCELLED: ctx (may be NULL) says so, the program was ended, by SIGKILL half a
 * second later if it does not listen. */
enum fr_status fr__program_run(const struct fr__program *p, FILE *input, FILE *output,
                               const struct fr_context *ctx, struct fr_error *err);
#endif
