/* study/interval/measured.h - reads the steps that a user measured: a time, or a table of them. */
#ifndef FR_STUDY_INTERVAL_MEASURED_H
#define FR_STUDY_INTERVAL_MEASURED_H

#include "study/study.h"

/* A measured training step. */
enum { FR__MEASURED_STRATEGY = 200 };
struct fr__measured_step {
    char strategy[FR__MEASURED_STRATEGY]; /* on several GPUs; "": the question's own */
    uint32_t n_gpus;                      /* that it ran on */
    uint32_t batch;                       /* samples, of all of them */
    double time_s;
    double memory_bytes; /* peak; 0: not measured */
};

/* What a step must be of, to say something of a question. */
struct fr__measured_of {
    const char *model, *graph; /* as the question names it, and its graph's own name */
    const char *gpu;           /* the device type: "v100-sxm2-16gb" */
    enum fr_dtype dtype;
    uint32_t batch; /* a GPU's, of a time without a table */
};

enum { FR__MOST_MEASURED = 1000 };

struct fr__measured {
    struct fr__measured_step steps[FR__MOST_MEASURED];
    size_t n;
    size_t n_rows; /* of the table, also those of other models; 0: a time without a table */
};

/* text: a time ("412ms"; on eight GPUs "412ms@8", or "412ms@8:dp:zero=3" by a strategy that need
 * not be the question's), or the path of a table that ends in ".csv" and has the columns model,
 * gpu, batch, time and perhaps precision, memory, gpus and strategy. A GPU is named in full or by
 * its first words ("v100"); a row without a precision is of any, without gpus of one, and a row of
 * several names its strategy. Times and memory carry their unit. FR_EPARSE, FR_ERANGE with the
 * place; FR_ENOENT, FR_EIO. *out is as before on failure. */
enum fr_status fr__measured_read(struct fr__measured *out, const char *text,
                                 const struct fr__measured_of *of, struct fr_error *err);
/* A table from memory; name stands for its path in messages. */
enum fr_status fr__measured_read_text(struct fr__measured *out, const char *text, size_t len,
                                      const char *name, const struct fr__measured_of *of,
                                      struct fr_error *err);
/* The strategy that "412ms@8:dp" names, within text; NULL: none, or text is a table or NULL. */
const char *fr__measured_strategy(const char *text);

/* Whether text can be read at all, without opening a file. FR_EPARSE, FR_ERANGE. */
enum fr_status fr__measured_check(const char *text, const char *what, struct fr_error *err);

#endif
