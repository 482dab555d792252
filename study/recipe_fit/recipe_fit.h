/* study/recipe_fit/recipe_fit.h - a recipe of one's own, from a few measured steps.
 *
 * Steps of one software, on any models, batches and GPUs, say together how much longer its compute,
 * its host, its exchange and its work once a step take than is simulated, and how well that is
 * known (study/interval/anchor.h has the model). A recipe keeps it, and questions with that recipe
 * begin there. Rows without a time are questions: what is predicted for them, and which further
 * measurement would narrow their ranges most.
 */
#ifndef FORERUN_RECIPE_FIT_H
#define FORERUN_RECIPE_FIT_H

#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_recipe_fit_row {
    const char *id, *workload, *topology, *strategy;
    uint64_t gpus, global_batch;
    double measured_s;                /* NAN: the row is a question */
    double before_s;                  /* simulated, with nothing moved */
    double after_s;                   /* with the recipe */
    double low_s, high_s;             /* 90 % of measurements, as far as the moved parts say */
    double error_before, error_after; /* signed, relative; NAN: not measured */
    double
        weight; /* in the fit, 1 or less for a step that contradicts the rest; NAN: not measured */
};

struct fr_recipe_fit_part {
    const char *name;       /* "compute" */
    double mean, deviation; /* of ln(factor), or in units of the exchange, of updates and 5 ms */
    double believed_mean, believed_deviation; /* before */
};

/* A further measurement, and what it would leave of the questions' ranges, of all rows' where none
 * is a question. */
struct fr_recipe_fit_next {
    const char *like; /* the id of the row that it is a variation of */
    const char *strategy;
    uint64_t gpus, global_batch;
    double width_before, width_after; /* (high - low) / after, the mean */
};

enum { FR_RECIPE_FIT_PARTS = 5, FR_RECIPE_FIT_NEXT = 3 };

struct fr_recipe_fit {
    const char *base; /* recipe that the rows name; NULL: none */
    size_t n_rows, n_steps, n_next;
    const struct fr_recipe_fit_row *rows; /* as in the file */
    struct fr_recipe_fit_part parts[FR_RECIPE_FIT_PARTS];
    struct fr_recipe_fit_next next[FR_RECIPE_FIT_NEXT]; /* the best first */
    bool lacks_network; /* a question is of several machines, and no measured step is */
    const char *yaml;   /* the recipe as a file */
    void *priv;
};

struct fr_recipe_fit_options {
    const char *name;  /* of the recipe */
    const char *costs; /* as in struct fr_question */
};

/* Reads a table as `validate` does, of which cells of iteration_s may be empty. The caller frees.
 * FR_EUSAGE: no row has a time, rows name different recipes or one in a file; FR_EPARSE, FR_ERANGE
 * with the place, also where a row cannot be predicted; FR_ENOENT, FR_EIO, FR_ENOMEM,
 * FR_ECANCELLED. Cost: a few runs a row, and one for each measurement that is considered. */
enum fr_status fr_recipe_fit(struct fr_recipe_fit **out, const char *path,
                             const struct fr_recipe_fit_options *how, const struct fr_context *ctx,
                             struct fr_error *err);
void fr_recipe_fit_free(struct fr_recipe_fit *f);

#ifdef __cplusplus
}
#endif
#endif
