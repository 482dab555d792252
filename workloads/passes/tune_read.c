/* workloads/passes/tune_read.c - reads what of a model is trained: "lora:rank=16,targets=q+v". */
#include "config.h"

#include "workloads/passes/tune.h"

#include "base/error.h"
#include "base/names.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum { MOST_RANK = 1 << 16, MOST_LAYERS = 1 << 16, MOST_TOKENS = 1 << 20, MOST_TEXT = 512 };

static const char *const methods[] = {[FR__TUNE_FREEZE] = "freeze",
                                      [FR__TUNE_LORA] = "lora",
                                      [FR__TUNE_QLORA] = "qlora",
                                      [FR__TUNE_PROMPT] = "prompt"};
static const struct fr__name_list method_names = FR__NAMES(methods);

enum key { RANK, TARGETS, DROPOUT, TRAIN, DOUBLE, PARTS, LAYERS, TOKENS, N_KEYS };
static const char *const keys[N_KEYS] = {
    [RANK] = "rank",     [TARGETS] = "targets", [DROPOUT] = "dropout", [TRAIN] = "train",
    [DOUBLE] = "double", [PARTS] = "parts",     [LAYERS] = "layers",   [TOKENS] = "tokens"};
/* Which methods take it: bit 1 << method. */
static const unsigned takers[N_KEYS] = {[RANK] = 1u << FR__TUNE_LORA | 1u << FR__TUNE_QLORA,
                                        [TARGETS] = 1u << FR__TUNE_LORA | 1u << FR__TUNE_QLORA,
                                        [DROPOUT] = 1u << FR__TUNE_LORA | 1u << FR__TUNE_QLORA,
                                        [TRAIN] = 1u << FR__TUNE_LORA | 1u << FR__TUNE_QLORA |
                                                  1u << FR__TUNE_FREEZE,
                                        [DOUBLE] = 1u << FR__TUNE_QLORA,
                                        [PARTS] = 1u << FR__TUNE_FREEZE,
                                        [LAYERS] = 1u << FR__TUNE_FREEZE,
                                        [TOKENS] = 1u << FR__TUNE_PROMPT};

static enum fr_status read_words(struct fr__tune_words *w, const char *value, const char *what,
                                 struct fr_error *err)
{
    *w = (struct fr__tune_words){.n = 0};
    if (strlen(value) >= sizeof(w->text))
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "%s is over %zu bytes", what,
                        sizeof(w->text) - 1);
    memcpy(w->text, value, strlen(value) + 1);
    for (char *word = w->text, *next; word; word = next) {
        next = strchr(word, '+');
        if (next)
            *next++ = '\0';
        if (!*word)
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "%s is \"%.60s\": a name is missing (several are joined by '+')", what,
                            value);
        if (w->n == FR__TUNE_WORDS)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%s has over %d names", what,
                            FR__TUNE_WORDS);
        w->at[w->n++] = (uint16_t)(word - w->text);
    }
    return FR_OK;
}

static enum fr_status read_dropout(bool *out, const char *value, const char *what,
                                   struct fr_error *err)
{
    double rate;

    FR_TRY(fr__parse_number(value, what, FR_NOWHERE, 0, 1, &rate, err));
    *out = rate > 0;
    return FR_OK;
}

static enum fr_status read_value(struct fr__tuning *t, enum key key, const char *value,
                                 struct fr_error *err)
{
    uint64_t count = 0;
    char what[64];

    snprintf(what, sizeof(what), "'%s' of '%s'", keys[key], methods[t->method]);
    switch (key) {
    case RANK:
        FR_TRY(fr__parse_count(value, what, FR_NOWHERE, 1, MOST_RANK, &count, err));
        t->rank = (uint32_t)count;
        return FR_OK;
    case LAYERS:
        FR_TRY(fr__parse_count(value, what, FR_NOWHERE, 1, MOST_LAYERS, &count, err));
        t->layers = (uint32_t)count;
        return FR_OK;
    case TOKENS:
        FR_TRY(fr__parse_count(value, what, FR_NOWHERE, 1, MOST_TOKENS, &count, err));
        t->tokens = (uint32_t)count;
        return FR_OK;
    case DOUBLE:
        FR_TRY(fr__parse_count(value, what, FR_NOWHERE, 0, 1, &count, err));
        t->packing = count ? FR_PACK_NF4_DOUBLE : FR_PACK_NF4;
        return FR_OK;
    case DROPOUT:
        return read_dropout(&t->has_dropout, value, what, err);
    case TARGETS:
        return read_words(&t->targets, value, what, err);
    case TRAIN:
        return read_words(&t->train, value, what, err);
    default:
        return read_words(&t->parts, value, what, err);
    }
}

/* Which key of the method it is; N_KEYS: none. */
static enum key find_key(const struct fr__tuning *t, const char *name)
{
    unsigned key = 0;

    while (key < N_KEYS && (strcmp(keys[key], name) != 0 || !(takers[key] >> t->method & 1)))
        key++;
    return (enum key)key;
}

static enum fr_status say_unknown_key(const struct fr__tuning *t, const char *word,
                                      struct fr_error *err)
{
    const char *names[N_KEYS];
    char hint[128];
    size_t n = 0;

    for (unsigned key = 0; key < N_KEYS; key++)
        if (takers[key] >> t->method & 1)
            names[n++] = keys[key];
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' has no option '%.60s'%s", methods[t->method],
                    word, fr__did_you_mean(word, names, n, hint, sizeof(hint)));
}

/* "key=value,key=value" */
static enum fr_status read_keys(struct fr__tuning *t, char *options, struct fr_error *err)
{
    bool is_set[N_KEYS] = {false};

    for (char *option = options, *next; option; option = next) {
        char *value = strchr(option, '=');
        enum key key;

        next = strchr(option, ',');
        if (next)
            *next++ = '\0';
        if (!value || (next && value > next))
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "'%s': '%.60s' is not of the form key=value", methods[t->method],
                            option);
        *value++ = '\0';
        key = find_key(t, option);
        if (key == N_KEYS)
            return say_unknown_key(t, option, err);
        if (is_set[key])
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s': option '%s' is given twice",
                            methods[t->method], option);
        is_set[key] = true;
        FR_TRY(read_value(t, key, value, err));
    }
    return FR_OK;
}

/* What a method is where nothing is said. The ranks and targets of LoRA are PEFT's (LoraConfig.r,
 * and the query and value of TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING), those of QLoRA
 * the paper's (appendix B.2: all linear layers, r = 64). */
static void set_defaults(struct fr__tuning *t)
{
    bool is_packed = t->method == FR__TUNE_QLORA;
    struct fr_error ignored;

    t->tokens = t->method == FR__TUNE_PROMPT ? 20 : 0;
    if (t->method != FR__TUNE_LORA && !is_packed)
        return;
    t->rank = is_packed ? 64 : 8;
    t->packing = is_packed ? FR_PACK_NF4_DOUBLE : FR_PACK_NONE;
    (void)read_words(&t->targets, is_packed ? "all" : "q+v", "targets", &ignored);
}

enum fr_status fr__tuning_read(struct fr__tuning *out, const char *text, struct fr_error *err)
{
    char copy[MOST_TEXT], hint[128], *colon;

    if (strlen(text) >= sizeof(copy))
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "what is trained is over %zu bytes long",
                        sizeof(copy) - 1);
    memcpy(copy, text, strlen(text) + 1);
    colon = strchr(copy, ':');
    if (colon)
        *colon++ = '\0';
    memset(out, 0, sizeof(*out));
    out->method = (enum fr__tune_method)fr__name_parse(&method_names, copy);
    if (out->method == FR__N_TUNE_METHODS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%.60s' is no way to tune a model: freeze, lora, qlora or prompt%s", copy,
                        fr__name_hint(&method_names, copy, hint, sizeof(hint)));
    set_defaults(out);
    if (colon)
        FR_TRY(read_keys(out, colon, err));
    if (out->method == FR__TUNE_FREEZE && !out->parts.n && !out->layers && !out->train.n)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'freeze' needs parts=NAME+..., layers=N or train=NAME+...");
    if (out->method == FR__TUNE_FREEZE && out->train.n && (out->parts.n || out->layers))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'freeze' takes what is frozen (parts, layers) or what is trained (train), "
                        "not both");
    return FR_OK;
}
