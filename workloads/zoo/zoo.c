/* workloads/zoo/zoo.c - finds a model by name, reads its options and makes its training graph. */
#include "config.h"

#include "workloads/passes/autocast.h"
#include "workloads/passes/tune.h"
#include "workloads/zoo/nn_attention.h"
#include "workloads/zoo/zoo.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SPEC = 2048, MAX_BATCH = 1 << 24, MAX_IMAGE = 1 << 16 };

const char *fr_zoo_group(size_t i)
{
    return i < fr__n_models ? fr__models[i].family->group : NULL;
}

const char *fr_zoo_name(size_t i)
{
    return i < fr__n_models ? fr__models[i].name : NULL;
}

const char *fr_zoo_summary(size_t i)
{
    return i < fr__n_models ? fr__models[i].summary : NULL;
}

/* Whether the first n bytes of spec are what the model's pattern stands for. */
static bool fits_pattern(const struct fr__model *m, const char *spec, size_t n)
{
    size_t head = strcspn(m->name, "-") + 1;

    return m->family->read_name && n > head && memcmp(m->name, spec, head) == 0 &&
           spec[head] >= '0' && spec[head] <= '9';
}

static const struct fr__model *find(const char *spec)
{
    size_t n = strcspn(spec, ":");

    for (const struct fr__model *m = fr__models; m < fr__models + fr__n_models; m++)
        if ((strlen(m->name) == n && memcmp(m->name, spec, n) == 0) || fits_pattern(m, spec, n))
            return m;
    return NULL;
}

bool fr__zoo_find(const char *spec)
{
    return find(spec) != NULL;
}

static enum fr_status say_unknown_model(const char *spec, struct fr_error *err)
{
    enum { MAX_NAMES = 256 };
    const char *names[MAX_NAMES];
    char hint[128], word[64];
    size_t n = 0, length = strcspn(spec, ":");

    if (length >= sizeof(word))
        length = sizeof(word) - 1;
    memcpy(word, spec, length);
    word[length] = '\0';
    while (n < MAX_NAMES && (names[n] = fr_zoo_name(n)) != NULL)
        n++;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "no model is called '%s'%s", word,
                    fr__did_you_mean(word, names, n, hint, sizeof(hint)));
}

/* ---- options in the name ---- */

static const char every_key[] = "all";

/* Whether the key is among those that `open` lists. */
static bool is_open(const char *open, const char *key)
{
    size_t n = strlen(key);

    if (strcmp(open, every_key) == 0)
        return true;
    for (; *open; open += strspn(open, " ")) {
        if (strcspn(open, " ") == n && strncmp(open, key, n) == 0)
            return true;
        open += strcspn(open, " ");
    }
    return false;
}

static enum fr_status say_unknown_key(const struct fr__model *m, const char *open, const char *word,
                                      struct fr_error *err)
{
    const char *names[FR__MAX_MODEL_KEYS];
    char hint[128];
    size_t n = 0;

    for (const struct fr__model_key *k = m->family->keys; k->name; k++)
        if (is_open(open, k->name))
            names[n++] = k->name;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s' has no option '%s'%s", m->name, word,
                    fr__did_you_mean(word, names, n, hint, sizeof(hint)));
}

static enum fr_status read_choice(const struct fr__model *m, const struct fr__model_key *key,
                                  const char *word, uint32_t *value, struct fr_error *err)
{
    char hint[128], known[128] = "";
    size_t n = 0;

    for (; key->choices[n]; n++) {
        if (strcmp(key->choices[n], word) == 0) {
            *value = (uint32_t)n;
            return FR_OK;
        }
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", n ? "|" : "",
                 key->choices[n]);
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "option '%s' of model '%s' is \"%s\", expected %s%s", key->name, m->name, word,
                    known, fr__did_you_mean(word, key->choices, n, hint, sizeof(hint)));
}

/* The pattern of layers goes behind the values of all keys. */
static enum fr_status read_letters(const struct fr__model *m, const struct fr__model_key *key,
                                   const char *text, uint32_t values[], struct fr_error *err)
{
    size_t n = strlen(text), known = strspn(text, m->family->letters);

    if (n == 0 || n > FR__MOST_LETTERS || known < n)
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "option '%s' of model '%s' is \"%.60s\", expected 1 to %d of the letters %s", key->name,
            m->name, text, FR__MOST_LETTERS, m->family->letters);
    memcpy(values + FR__MAX_MODEL_KEYS, text, n);
    values[key - m->family->keys] = (uint32_t)n;
    return FR_OK;
}

static enum fr_status read_value(const struct fr__model *m, const struct fr__model_key *key,
                                 const char *text, uint32_t values[], struct fr_error *err)
{
    char what[64];
    uint64_t count;

    if (key->choices)
        return read_choice(m, key, text, &values[key - m->family->keys], err);
    if (m->family->letters_key && strcmp(m->family->letters_key, key->name) == 0)
        return read_letters(m, key, text, values, err);
    snprintf(what, sizeof(what), "option '%s' of model '%s'", key->name, m->name);
    FR_TRY(fr__parse_count(text, what, FR_NOWHERE, key->min, key->max, &count, err));
    values[key - m->family->keys] = (uint32_t)count;
    return FR_OK;
}

/* What the name of a model with a pattern says. */
static enum fr_status read_name(const struct fr__model *m, const char *spec, uint32_t values[],
                                struct fr_error *err)
{
    char name[64];
    size_t n = strcspn(spec, ":");

    if (strlen(m->name) == n && memcmp(m->name, spec, n) == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' is a pattern, write numbers for its capital letters", m->name);
    if (n >= sizeof(name))
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "the name of a '%s' is over %zu bytes", m->name,
                        sizeof(name) - 1);
    memcpy(name, spec, n);
    name[n] = '\0';
    return m->family->read_name(m, strchr(name, '-') + 1, values, err);
}

/* The place of the key of that name; where there is none, that of the NULL name. */
static size_t find_key(const struct fr__model *m, const char *name)
{
    size_t k = 0;

    while (m->family->keys[k].name && strcmp(m->family->keys[k].name, name) != 0)
        k++;
    return k;
}

/* One "key=value", which is cut in two. is_set: [keys]. */
static enum fr_status read_option(const struct fr__model *m, const char *open, char *option,
                                  uint32_t values[], bool is_set[], struct fr_error *err)
{
    char *value = strchr(option, '=');
    size_t k;

    if (!value)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "model '%s': '%s' is not of the form key=value",
                        m->name, option);
    *value++ = '\0';
    k = find_key(m, option);
    if (!m->family->keys[k].name || !is_open(open, option))
        return say_unknown_key(m, open, option, err);
    if (is_set[k])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s': option '%s' is given twice",
                        m->name, option);
    is_set[k] = true;
    return read_value(m, &m->family->keys[k], value, values, err);
}

/* "key=value,key=value", of the keys that `open` lists. */
static enum fr_status read_options(const struct fr__model *m, const char *open, const char *options,
                                   uint32_t values[], struct fr_error *err)
{
    bool is_set[FR__MAX_MODEL_KEYS] = {false};
    size_t length = strlen(options);
    char text[MAX_SPEC];

    if (length >= sizeof(text))
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "the options of model '%s' are over %d bytes",
                        m->name, MAX_SPEC - 1);
    memcpy(text, options, length + 1);
    for (char *option = text, *next; option; option = next) {
        next = strchr(option, ',');
        if (next)
            *next++ = '\0';
        FR_TRY(read_option(m, open, option, values, is_set, err));
    }
    return FR_OK;
}

/* What the model is, then what its name and the options behind it say. */
static enum fr_status read_values(const struct fr__model *m, const char *spec, uint32_t values[],
                                  struct fr_error *err)
{
    const char *colon = strchr(spec, ':');

    for (size_t k = 0; m->family->keys && m->family->keys[k].name; k++)
        values[k] = m->family->keys[k].fallback;
    if (m->sizes)
        FR_TRY(read_options(m, every_key, m->sizes, values, err));
    if (m->family->read_name)
        FR_TRY(read_name(m, spec, values, err));
    if (!colon)
        return FR_OK;
    if (!m->options)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s' takes no options, found '%s'",
                        m->name, colon + 1);
    return read_options(m, m->options, colon + 1, values, err);
}

/* ---- loading ---- */

static enum fr_status settle_images(const struct fr__model *m, uint32_t *image_size,
                                    struct fr_error *err)
{
    const struct fr__family *f = m->family;

    if (*image_size && !f->image_size)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s' has no images", m->name);
    if (!*image_size)
        *image_size = f->image_size;
    if (f->is_image_fixed && *image_size != f->image_size)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s' takes images of %ux%u only, for its fully connected layers",
                        m->name, f->image_size, f->image_size);
    if (*image_size > MAX_IMAGE)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "an image size of %u is over %d", *image_size,
                        MAX_IMAGE);
    return FR_OK;
}

static enum fr_status say_too_long(const struct fr__model *m, uint32_t seq_len, uint32_t longest,
                                   struct fr_error *err)
{
    if (m->family->positions)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "model '%s' has %u learned positions, a sequence of %u does not fit",
                        m->name, longest, seq_len);
    if (longest == FR__ANY_LENGTH)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "a sequence of %u is over %u", seq_len,
                        longest);
    return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                    "model '%s' is unrolled into %u steps at most, not %u", m->name, longest,
                    seq_len);
}

static enum fr_status settle_length(const struct fr__model *m, const uint32_t values[],
                                    uint32_t n_learned, uint32_t *seq_len, struct fr_error *err)
{
    const struct fr__family *f = m->family;
    uint32_t longest = f->positions ? values[find_key(m, f->positions)] : f->longest;

    if (*seq_len && !f->length)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s' has no sequence length", m->name);
    if (n_learned && !f->length)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s' has no prompt to tune", m->name);
    if (!*seq_len && f->length)
        *seq_len = values[find_key(m, f->length)];
    if (*seq_len < m->min_seq_len)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "model '%s' takes sequences of %u tokens or more, not %u", m->name,
                        m->min_seq_len, *seq_len);
    *seq_len += n_learned; /* a prompt takes positions */
    return *seq_len > longest ? say_too_long(m, *seq_len, longest, err) : FR_OK;
}

/* What the model and the user's options together ask for. */
static enum fr_status settle(const struct fr__model *m, const struct fr_workload_options *opt,
                             const uint32_t values[], uint32_t n_learned,
                             struct fr_workload_options *out, struct fr_error *err)
{
    *out = *opt;
    FR_TRY(settle_images(m, &out->image_size, err));
    if (m->family->has_whole_heads)
        FR_TRY(fr__check_heads(m->name, values[find_key(m, "hidden")], values[find_key(m, "heads")],
                               err));
    if (m->family->check)
        FR_TRY(m->family->check(m, values, err));
    if (!out->batch)
        out->batch = m->family->batch;
    if (out->batch > MAX_BATCH)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "batch %u is over %d", out->batch, MAX_BATCH);
    if ((unsigned)out->dtype >= FR_N_DTYPES)
        out->dtype = m->dtype;
    return settle_length(m, values, n_learned, &out->seq_len, err);
}

static enum fr_status cast(struct fr_graph **forward, struct fr_error *err)
{
    struct fr_graph *full = *forward;

    FR_TRY(fr__autocast(full, forward, err));
    fr_graph_free(full);
    return FR_OK;
}

static enum fr_status tune(struct fr_graph **forward, const struct fr__tuning *how,
                           struct fr_error *err)
{
    struct fr_graph *whole = *forward;

    FR_TRY(fr__tune(whole, how, forward, err));
    fr_graph_free(whole);
    return FR_OK;
}

enum fr_status fr__zoo_load(struct fr_graph **out, const char *spec,
                            const struct fr_workload_options *opt, struct fr_error *err)
{
    return fr__zoo_load_as(out, spec, spec, NULL, opt, err);
}

enum fr_status fr__zoo_load_as(struct fr_graph **out, const char *spec, const char *name,
                               const char *source, const struct fr_workload_options *opt,
                               struct fr_error *err)
{
    static const struct fr_workload_options own = {.dtype = FR_N_DTYPES};
    const struct fr__model *m = find(spec);
    uint32_t values[FR__N_MODEL_VALUES] = {0};
    struct fr_workload_options o;
    struct fr__tuning tuning = {.tokens = 0};
    struct fr_graph *forward;
    struct fr__net net;
    enum fr_status st;

    if (!m)
        return say_unknown_model(spec, err);
    FR_TRY(read_values(m, spec, values, err));
    if (opt && opt->tune)
        FR_TRY(fr__tuning_read(&tuning, opt->tune, err));
    FR_TRY(settle(m, opt ? opt : &own, values, tuning.tokens, &o, err));
    FR_TRY(fr__nn_init(&net, o.batch, o.seq_len, o.dtype == FR_AMP ? FR_FP32 : o.dtype, err));
    net.trained_in = o.dtype;
    net.image_size = o.image_size;
    net.has_float_masks = opt && opt->is_tf1; /* XLA makes them of bytes where they are read */
    net.is_tf1 = opt && (opt->is_tf1 || opt->fusions >> FR_FUSE_XLA & 1);
    m->family->build(&net, values);
    st = fr__nn_finish(&net, name, source ? source : m->source, &forward, err);
    fr__nn_fini(&net);
    if (st != FR_OK)
        return st;
    if (o.tune)
        st = tune(&forward, &tuning, err);
    if (st == FR_OK && o.dtype == FR_AMP)
        st = cast(&forward, err);
    if (st == FR_OK)
        st = fr_graph_expand_training(forward, out, err);
    fr_graph_free(forward);
    return st;
}
