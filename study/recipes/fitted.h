/* study/recipes/fitted.h - what measured steps say of a software, as a recipe keeps it.
 *
 *     measured:
 *       steps: 6
 *       models: [bert-base]
 *       gpus: [v100-sxm2-16gb]
 *       precisions: [fp32]
 *       gpu-counts: [1, 8]
 *       machines: 1
 *       parts:
 *         - {part: compute, mean: 0.031, covariance: [9e-4, 0, 0, -0.002]}
 *         - ...
 *
 * The parts are those that a measured step moves (study/interval/normal.h), in their order and
 * units: compute, host, exchange, software. `forerun recipe fit` writes it, and questions with that
 * recipe begin there, as if they had been asked with these steps.
 */
#ifndef FR_STUDY_RECIPES_FITTED_H
#define FR_STUDY_RECIPES_FITTED_H

#include "base/yaml.h"
#include "plan/plan.h"
#include "study/interval/anchor.h"

#include <stdio.h>

/* A question, as far as a fit was of the like or not. */
struct fr__fitted_of {
    const struct fr_graph *graph;
    const char *workload, *gpu; /* as asked for; the device type */
    size_t n_gpus;
    bool has_network; /* the GPUs are of several machines */
};

enum { FR__MOST_FITTED = 32 }; /* models, GPU types, numbers of GPUs */

struct fr__fitted {
    uint64_t n_steps; /* measured; 0: the recipe was not fitted */
    const char *models[FR__MOST_FITTED], *gpus[FR__MOST_FITTED]; /* of workloads; device types */
    size_t n_models, n_gpus, n_counts;
    uint64_t counts[FR__MOST_FITTED]; /* of GPUs */
    uint64_t n_machines;              /* most that a step ran on */
    unsigned precisions;              /* bit 1 << d for each fr_dtype */
    double mean[FR__N_MOVED], covariance[FR__N_MOVED][FR__N_MOVED];
};

/* Reads a recipe's `measured`; texts are those of the tree. FR_EPARSE, FR_ERANGE with the place: a
 * part that is missing or not in its place, a matrix that is no covariance. */
enum fr_status fr__fitted_read(struct fr__fitted *out, const struct fr__yaml *map,
                               struct fr_error *err);
/* Writes it so that it is read as it was, to 1e-6 of each number. */
void fr__fitted_write(FILE *f, const struct fr__fitted *fit);

/* What it says of a question. Of a model, GPU type or number format that was not measured, compute
 * is as uncertain as before; of several machines, where no step was, so is the exchange. */
void fr__fitted_believe(const struct fr__fitted *fit, const struct fr__fitted_of *of,
                        struct fr__believed *out);
#endif
