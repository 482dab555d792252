/* workloads/profile.h - a measured profile, layer by layer: what planners of stages read.
 *
 * It is separate from the training graph (workloads.h), which is made of ops with tensors: here a
 * layer is one node with the time of both its passes. Sizes are as the file has them, fractions of
 * a byte included.
 */
#ifndef FORERUN_PROFILE_H
#define FORERUN_PROFILE_H

#include "base/base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fr_profile_layer {
    const char *name;        /* "node4"; no two alike */
    const char *description; /* "Conv2d(3, 64, kernel_size=(3, 3), ...)" */
    double forward_s, backward_s;
    double both_s;           /* the two together, rounded once */
    double activation_bytes; /* of all its outputs */
    double param_bytes;
};

/* All of it belongs to the profile. */
struct fr_profile {
    const char *name; /* "vgg16" */
    size_t n_layers, n_edges;
    const struct fr_profile_layer *layers; /* [n_layers] in file order */
    const uint32_t (*edges)[2];            /* [n_edges] in file order: from, to */
    void *priv;
};

/* Reads a PipeDream profile (graph.txt). path may be a folder that holds one of that name. The
 * caller frees it. FR_ENOENT, FR_EIO, FR_EPARSE, FR_ERANGE with the place; FR_EUSAGE: the workload
 * is no profile. */
enum fr_status fr_profile_load(struct fr_profile **out, const char *path, struct fr_error *err);
/* The same from len bytes and a NUL after them; name stands for the path. */
enum fr_status fr_profile_load_text(struct fr_profile **out, const char *text, size_t len,
                                    const char *name, struct fr_error *err);
void fr_profile_free(struct fr_profile *p); /* NULL is fine */

/* Writes a profile as PipeDream's optimizer writes its answer: each line as it was loaded, or made
 * from the layer where the profile was not (priv NULL; milliseconds, bytes), with " -- stage_id=K"
 * at its end. stage_of: [n_layers]; FR_PROFILE_NO_STAGE: a line without one, FR_PROFILE_LEFT_OUT:
 * no line, nor the edges of that layer. Look at ferror(f) in the end. */
#define FR_PROFILE_NO_STAGE (UINT32_MAX - 1)
#define FR_PROFILE_LEFT_OUT UINT32_MAX
void fr_profile_write(FILE *f, const struct fr_profile *p, const uint32_t stage_of[]);

#ifdef __cplusplus
}
#endif
#endif
