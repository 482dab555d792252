/* workloads/zoo/zoo.h - the models that Forerun knows by name.
 *
 * A model is a row of models.yaml: a family and its sizes. A family is one file, one word in
 * FR__FAMILIES and one in model.schema.yaml. Each file names its source.
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
    FR__MAX_MODEL_KEYS = 80,
    FR__MOST_LETTERS = 256, /* of a model's pattern of layers */
    FR__N_MODEL_VALUES = FR__MAX_MODEL_KEYS + FR__MOST_LETTERS / 4,
    /* as longest */
    FR__ANY_LENGTH = 1 << 20, /* positions are computed, so no table ends */
    FR__MAX_STEPS = 2000      /* unrolled in time: some million ops */
};

struct fr__model;

struct fr__family {
    const char *group;                /* under which its models are listed */
    uint32_t batch;                   /* samples a step unless the user says otherwise */
    uint32_t image_size;              /* side of its square images; 0: no images */
    bool is_image_fixed;              /* its fully connected layers need images of that size */
    const struct fr__model_key *keys; /* ends with a NULL name; NULL: of one size */
    const char *length;               /* the key of the sequence length; NULL: no sequences */
    const char *positions;   /* the key of the longest sequence, which is a table's; NULL: none */
    uint32_t longest;        /* the longest sequence of all its models */
    bool has_whole_heads;    /* the key "heads" divides "hidden" */
    const char *letters_key; /* the key whose value is a pattern of layers, and the letters that it
                                may have; NULL: none. Its value is how many letters there are */
    const char *letters;
    /* Says what does not go together; may be NULL. */
    enum fr_status (*check)(const struct fr__model *m, const uint32_t values[],
                            struct fr_error *err);
    /* NULL: names are the models' own. Else a name is a pattern, "wresnet-L-W", that stands for all
     * names which begin as it does up to the first '-' and go on with a digit; reads what follows
     * the '-' into values. */
    enum fr_status (*read_name)(const struct fr__model *m, const char *rest, uint32_t values[],
                                struct fr_error *err);
    /* Writes the forward graph down. values: one a key. */
    void (*build)(struct fr__net *net, const uint32_t values[]);
};

struct fr__model {
    const char *name, *summary, *source; /* token or pattern; one line; the paper */
    const struct fr__family *family;
    enum fr_dtype dtype;  /* in which it is trained unless the user says so */
    const char *sizes;    /* "layers=12,hidden=768", of the family's keys; NULL: all as they are */
    const char *options;  /* the keys that a user may set, "attention head"; "all"; NULL: none */
    uint32_t min_seq_len; /* shortest sequence */
};

/* clang-format off */
#define FR__FAMILIES(X)                                                                            \
    X(lenet) X(alexnet) X(vgg) X(resnet) X(wresnet) X(inception) X(densenet)                       \
    X(rnnlm) X(gnmt)                                                                               \
    X(transformer) X(bert) X(t5) X(gpt) X(neox) X(llama) X(vit) X(towers) X(whisper) X(mmdit)
/* clang-format on */

#define FR__DECLARE_FAMILY(name) extern const struct fr__family fr__family_##name;
FR__FAMILIES(FR__DECLARE_FAMILY)
#undef FR__DECLARE_FAMILY

/* The letter of a layer by a pattern of n letters, which comes again and again. values:
 * [FR__N_MODEL_VALUES], the pattern behind the keys' values; n > 0. */
char fr__model_letter(const uint32_t values[], uint32_t n, uint32_t layer);

/* Made of models.yaml, in the order in which they are listed. */
extern const struct fr__model fr__models[];
extern const size_t fr__n_models;

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
