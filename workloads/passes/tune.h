/* workloads/passes/tune.h - trains a part of a model: frozen parts, LoRA, QLoRA and prompt tuning.
 *
 * It rewrites a forward graph; differentiation (workloads/passes/training.c) then leaves out what
 * is not trained. A frozen parameter has no gradient, no state and no update. Its op still hands
 * the gradient of its input back where something before it is trained, so a frozen product has one
 * product in its backward pass instead of two, and does not keep its input.
 *
 *     freeze   parts of the model stay as they are
 *     lora     all stays as it is, but products that are targets get an adapter beside them:
 *                  NAME.lora_dropout   of what the product reads, where asked for
 *                  NAME.lora_a         its columns are the rank
 *                  NAME.lora_b         as many columns as the product
 *                  NAME.lora_scale     times alpha / rank
 *                  NAME.lora_add       added to the product, behind its bias
 *     qlora    the same, and the weights of all linear layers but the output layer are stored in 4
 *              bits: NAME.dequant makes 16 bits of them before the product, and
 *              NAME.dequant.backward once more for the gradient of its input
 *     prompt   all stays as it is; learned tokens, prompt.embed, come before the words' embeddings
 *
 * Where queries, keys and values are one product and not all of them are targets, one A has the
 * rank of each, and B has their columns alone (microsoft/LoRA, loralib/layers.py, MergedLinear).
 *
 * Source:  E. Hu et al., LoRA, ICLR 2022; T. Dettmers et al., QLoRA, NeurIPS 2023, section 3; B.
 *          Lester et al., Prompt tuning, EMNLP 2021. What is an op and what is kept: Hugging Face
 *          PEFT, src/peft/tuners/lora/layer.py (Linear.forward) and bitsandbytes,
 *          autograd/_functions.py (MatMul4Bit).
 * Ignores: PEFT's casts of adapters to fp32 (autocast_adapter_dtype): adapters have the format of
 *          the graph's parameters, as in NVIDIA NeMo; LoRA of convolutions and embeddings; DoRA.
 */
#ifndef FR_WORKLOADS_PASSES_TUNE_H
#define FR_WORKLOADS_PASSES_TUNE_H

#include "workloads/workloads.h"

enum fr__tune_method {
    FR__TUNE_FREEZE,
    FR__TUNE_LORA,
    FR__TUNE_QLORA,
    FR__TUNE_PROMPT,
    FR__N_TUNE_METHODS
};

enum { FR__TUNE_WORDS = 32, FR__TUNE_TEXT = 512 };

/* Words that name parts: each stands for the ops in whose names it is a part between dots, or
 * several parts with their dots; '*' and '?' stand for characters. */
struct fr__tune_words {
    uint16_t at[FR__TUNE_WORDS]; /* [n] where each begins in `text` */
    uint16_t n;
    char text[FR__TUNE_TEXT];
};
static inline const char *fr__tune_word(const struct fr__tune_words *w, size_t i)
{
    return w->text + w->at[i];
}

struct fr__tuning {
    enum fr__tune_method method;
    uint32_t rank;                 /* of adapters */
    bool has_dropout;              /* before adapters */
    struct fr__tune_words targets; /* products that get adapters; "all": every linear layer but the
                                      output layer */
    struct fr__tune_words parts;   /* frozen, of freeze */
    struct fr__tune_words train;   /* trained all the same; of freeze: all else is frozen */
    uint32_t layers;               /* of freeze: the first ones of the model; 0: none */
    uint32_t tokens;               /* of prompt */
    enum fr_packing packing;       /* of qlora */
};

/* Reads "METHOD" or "METHOD:key=value,...", several values of one key joined by '+':
 *     freeze  parts=, layers=, train=         lora    rank=8, targets=q+v, dropout=0, train=
 *     prompt  tokens=20                       qlora   as lora: rank=64, targets=all; double=1
 * FR_EUSAGE, FR_EPARSE, FR_ERANGE: what is wrong, with the nearest name. */
enum fr_status fr__tuning_read(struct fr__tuning *out, const char *text, struct fr_error *err);

/* Makes the forward graph that is trained so; the caller frees it. The given one was built for
 * `tokens` more positions than samples have, where the method is prompt.
 * FR_EUSAGE: a word names nothing, with what there is; nothing is trained, or all of it; a rank
 * over the sizes of its product; a format that the method has not. FR_ENOMEM. O((ops + edges)
 * words). */
enum fr_status fr__tune(const struct fr_graph *forward, const struct fr__tuning *how,
                        struct fr_graph **out, struct fr_error *err);

#endif
