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
    FR__HF_FALLBACK, /* where the file is silent: a number or text; "=" before it: the answer does
                        not say so; "=heads": the heads; NULL, "=": the model's own */
    /* How it is read where it is no number: "relu|gated-gelu" stand for 0 and 1; "%" is a fraction
     * of 1 in per cent; "?" is whether it is there and not false or 0; "w:sliding|f:full" gives the
     * option the text before the ':' for the word behind it, and of a list or a word in one piece
     * ("MM*") one text after the other. NULL: a number */
    FR__HF_WORDS,
    FR__N_HF_COLUMNS
};

struct fr__hf_family {
    const char *type, *model; /* model_type; of the zoo */
    const char *class_name;   /* of Diffusers, where a file has no model_type: "A|B"; NULL: none */
    const char *fixed;        /* options that all of the family have, "qkv_bias=1"; NULL: none */
    const char *positions;    /* the key of the longest sequence; NULL: it takes images */
    uint32_t n_positions;     /* where the file is silent */
    bool is_table;            /* positions are a learned table, of that many rows */
    const char *inside;       /* the key of the map that holds it all; NULL: the file itself */
    const char *keys[40][FR__N_HF_COLUMNS]; /* ends with a NULL key */
    const char *limits[16][2];              /* key and "false|null"; ends with a NULL key */
    const char *ignored[32]; /* keys that change no size and no time; ends with NULL */
};

/* Keys of any family's file that change no size and no time, "*_token_id". */
struct fr__hf_ignored {
    const char *key, *why;
};
extern const struct fr__hf_ignored fr__hf_ignored[];
extern const size_t fr__n_hf_ignored;

extern const struct fr__hf_family fr__hf_families[];
extern const size_t fr__n_hf_families;
#endif
