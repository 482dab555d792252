/* workloads/zoo/zoo.h - the models that Forerun knows by name.
 *
 * A family is one file that ends in a list of models, and one word in FR__MODEL_FAMILIES. Shapes
 * and parameter counts are those of the papers and of torchvision or the published weights; each
 * file names its source.
 */
#ifndef FR_WORKLOADS_ZOO_ZOO_H
#define FR_WORKLOADS_ZOO_ZOO_H

#include "base/error.h"
#include "workloads/zoo/nn.h"
#include "workloads/workloads.h"

/* An option of a model's name, "layers" in "gpt:layers=2". Its value is a number min..max or, where
 * choices are given, the place in choices of the word that was written. */
struct fr__model_key {
    const char *name;
    uint32_t fallback, min, max;
    const char *const *choices; /* ends with NULL */
};

enum {
    FR__MAX_MODEL_KEYS = 20,
    /* as n_positions */
    FR__ANY_LENGTH = 1 << 20, /* positions are computed, so no table ends */
    FR__MAX_STEPS = 2000      /* unrolled in time: some million ops */
};

struct fr__model {
    const char *name, *summary, *source; /* token or pattern; one line; the paper */
    uint32_t batch;                      /* samples a step unless the user says otherwise */
    enum fr_dtype dtype;                 /* in which it is trained unless the user says so */
    uint32_t seq_len;                    /* unless the user says otherwise; 0: no sequence model */
    uint32_t n_positions;                /* longest sequence; 0: seq_len, as learned positions */
    uint32_t min_seq_len;                /* shortest sequence */
    uint32_t image_size;                 /* side of its square images; 0: no images */
    bool is_image_fixed;                 /* its fully connected layers need images of that size */
    const struct fr__model_key *keys;    /* ends with a NULL name; NULL: takes no options */
    /* Says what does not go together, and the sequence length if a key gives it; may be NULL. */
    enum fr_status (*check)(const struct fr__model *m, const uint32_t values[], uint32_t *seq_len,
                            struct fr_error *err);
    /* NULL: the name is the model's own. Else it is a pattern, "wresnet-L-W", that stands for all
     * names which begin as it does up to the first '-' and go on with a digit; reads what follows
     * the '-' into values. Such a model has no keys. */
    enum fr_status (*read_name)(const struct fr__model *m, const char *rest, uint32_t values[],
                                struct fr_error *err);
    /* Writes the forward graph down. values: one a key, or what read_name made of the name. */
    void (*build)(struct fr__net *net, const struct fr__model *m, const uint32_t values[]);
    const void *shape; /* the family's own */
};

/* clang-format off */
#define FR__IMAGE_FAMILIES(X)                                                                      \
    X(lenet) X(alexnet) X(vgg) X(resnet) X(wresnet) X(inception) X(densenet)
#define FR__RECURRENT_FAMILIES(X) X(rnnlm) X(gnmt)
#define FR__TRANSFORMER_FAMILIES(X) \
    X(transformer) X(bert) X(t5) X(gpt) X(neox) X(llama) X(mixtral) X(vit)
#define FR__MODEL_FAMILIES(X)                                                                      \
    FR__IMAGE_FAMILIES(X) FR__RECURRENT_FAMILIES(X) FR__TRANSFORMER_FAMILIES(X)
/* clang-format on */

#define FR__DECLARE_FAMILY(family) extern const struct fr__model fr__models_##family[];
FR__MODEL_FAMILIES(FR__DECLARE_FAMILY) /* each ends with a NULL name */
#undef FR__DECLARE_FAMILY

/* Whether the part of spec before a ':' is the name of a model. */
bool fr__zoo_find(const char *spec);

/* Makes the training graph of the model that spec names. opt may be NULL.
 * FR_ENOENT: no such model (the nearest is named); FR_EUSAGE, FR_ERANGE, FR_EPARSE: its options;
 * FR_ENOMEM. */
enum fr_status fr__zoo_load(struct fr_graph **out, const char *spec,
                            const struct fr_workload_options *opt, struct fr_error *err);
/* The same under another name, with a source of its own (NULL: the model's). */
enum fr_status fr__zoo_load_as(struct fr_graph **out, const char *spec, const char *name,
                               const char *source, const struct fr_workload_options *opt,
                               struct fr_error *err);
#endif
