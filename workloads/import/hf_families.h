/* workloads/import/hf_families.h - the families of models in config.json files of Hugging Face
 * Transformers, made of hf_families.yaml, which says what each column means. */
#ifndef FR_WORKLOADS_IMPORT_HF_FAMILIES_H
#define FR_WORKLOADS_IMPORT_HF_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns of a key of the file, and the option of the model that it sets. */
enum {
    FR__HF_THEIRS,
    FR__HF_OURS,
    FR__HF_FALLBACK, /* where the file is silent: a number; NULL: the model's own */
    FR__HF_WORDS,    /* "relu|gated-gelu" stand for 0 and 1; NULL: it is a number */
    FR__N_HF_COLUMNS
};

struct fr__hf_family {
    const char *type, *model; /* model_type; of the zoo */
    const char *fixed;        /* options that all of the family have, "qkv_bias=1"; NULL: none */
    const char *positions;    /* the key of the longest sequence; NULL: it takes images */
    uint32_t n_positions;     /* where the file is silent */
    bool is_table;            /* positions are a learned table, of that many rows */
    const char *keys[12][FR__N_HF_COLUMNS]; /* ends with a NULL key */
    const char *limits[8][2];               /* key and "false|null"; ends with a NULL key */
};

extern const struct fr__hf_family fr__hf_families[];
extern const size_t fr__n_hf_families;
#endif
