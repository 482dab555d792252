/* workloads/zoo/zoo.c - finds a model by name, reads its options and makes its training graph. */
#include "config.h"

#include "workloads/passes/autocast.h"
#include "workloads/zoo/zoo.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

struct family {
    const char *group;
    const struct fr__model *models;
};

#define FR__IMAGE_FAMILY(family) {"Convolutional", fr__models_##family},
#define FR__RECURRENT_FAMILY(family) {"Recurrent", fr__models_##family},
#define FR__TRANSFORMER_FAMILY(family) {"Transformers", fr__models_##family},
/* clang-format off */
static const struct family families[] = {
    FR__IMAGE_FAMILIES(FR__IMAGE_FAMILY)
    FR__RECURRENT_FAMILIES(FR__RECURRENT_FAMILY)
    FR__TRANSFORMER_FAMILIES(FR__TRANSFORMER_FAMILY)
};
/* clang-format on */
#undef FR__IMAGE_FAMILY
#undef FR__RECURRENT_FAMILY
#undef FR__TRANSFORMER_FAMILY

enum { N_FAMILIES = sizeof(families) / sizeof(families[0]), MAX_SPEC = 1024, MAX_BATCH = 1 << 24 };
enum { MAX_IMAGE = 1 << 16 };

/* group may be NULL. */
static const struct fr__model *find_at(size_t i, const char **group)
{
    for (size_t f = 0; f < N_FAMILIES; f++)
        for (const struct fr__model *m = families[f].models; m->name; m++)
            if (i-- == 0) {
                if (group)
                    *group = families[f].group;
                return m;
            }
    return NULL;
}

static const struct fr__model *model_at(size_t i)
{
    return find_at(i, NULL);
}

const char *fr_zoo_group(size_t i)
{
    const char *group = NULL;

    find_at(i, &group);
    return group;
}

const char *fr_zoo_name(size_t i)
{
    const struct fr__model *m = model_at(i);

    return m ? m->name : NULL;
}

const char *fr_zoo_summary(size_t i)
{
    const struct fr__model *m = model_at(i);

    return m ? m->summary : NULL;
}

/* Whether the first n bytes of spec are what the model's pattern stands for. */
static bool fits_pattern(const struct fr__model *m, const char *spec, size_t n)
{
    size_t head = strcspn(m->name, "-") + 1;

    return m->read_name && n > head && memcmp(m->name, spec, head) == 0 && spec[head] >= '0' &&
           spec[head] <= '9';
}

static const struct fr__model *find(const char *spec)
{
    const struct fr__model *m;
    size_t n = strcspn(spec, ":");

    for (size_t i = 0; (m = model_at(i)) != NULL; i++)
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

static enum fr_status say_unknown_key(const struct fr__model *m, const char *word,
                                      struct fr_error *err)
{
    const char *names[FR__MAX_MODEL_KEYS];
    char hint[128];
    size_t n = 0;

    while (n < FR__MAX_MODEL_KEYS && m->keys[n].name) {
        names[n] = m->keys[n].name;
        n++;
    }
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

static enum fr_status read_value(const struct fr__model *m, const struct fr__model_key *key,
                                 const char *text, uint32_t *value, struct fr_error *err)
{
    char what[64];
    uint64_t count;

    if (key->choices)
        return read_choice(m, key, text, value, err);
    snprintf(what, sizeof(what), "option '%s' of model '%s'", key->name, m->name);
    FR_TRY(fr__parse_count(text, what, FR_NOWHERE, key->min, key->max, &count, err));
    *value = (uint32_t)count;
    return FR_OK;
}

/* What the name of a model with a pattern says. */
static enum fr_status read_name(const struct fr__model *m, const char *spec, uint32_t values[],
                                struct fr_error *err)
{
    char name[64];
    size_t n = strcspn(spec, ":");

    if (!m->read_name)
        return FR_OK;
    if (strlen(m->name) == n && memcmp(m->name, spec, n) == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' is a pattern, write numbers for its capital letters", m->name);
    if (n >= sizeof(name))
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "the name of a '%s' is over %zu bytes", m->name,
                        sizeof(name) - 1);
    memcpy(name, spec, n);
    name[n] = '\0';
    return m->read_name(m, strchr(name, '-') + 1, values, err);
}

/* One "key=value", which is cut in two. is_set: [keys]. */
static enum fr_status read_option(const struct fr__model *m, char *option, uint32_t values[],
                                  bool is_set[], struct fr_error *err)
{
    char *value = strchr(option, '=');
    size_t k = 0;

    if (!value)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "model '%s': '%s' is not of the form key=value",
                        m->name, option);
    *value++ = '\0';
    while (m->keys[k].name && strcmp(m->keys[k].name, option) != 0)
        k++;
    if (!m->keys[k].name)
        return say_unknown_key(m, option, err);
    if (is_set[k])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s': option '%s' is given twice",
                        m->name, option);
    is_set[k] = true;
    return read_value(m, &m->keys[k], value, &values[k], err);
}

static enum fr_status read_options(const struct fr__model *m, const char *spec, uint32_t values[],
                                   struct fr_error *err)
{
    bool is_set[FR__MAX_MODEL_KEYS] = {false};
    const char *colon = strchr(spec, ':');
    char text[MAX_SPEC];
    size_t length;

    for (size_t k = 0; m->keys && m->keys[k].name; k++)
        values[k] = m->keys[k].fallback;
    if (!colon)
        return FR_OK;
    if (!m->keys)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s' takes no options, found '%s'",
                        m->name, colon + 1);
    length = strlen(++colon);
    if (length >= sizeof(text))
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "the options of model '%s' are over %d bytes",
                        m->name, MAX_SPEC - 1);
    memcpy(text, colon, length + 1);
    for (char *option = text, *next; option; option = next) {
        next = strchr(option, ',');
        if (next)
            *next++ = '\0';
        FR_TRY(read_option(m, option, values, is_set, err));
    }
    return FR_OK;
}

/* ---- loading ---- */

static enum fr_status settle_images(const struct fr__model *m, uint32_t *image_size,
                                    struct fr_error *err)
{
    if (*image_size && !m->image_size)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s' has no images", m->name);
    if (!*image_size)
        *image_size = m->image_size;
    if (m->is_image_fixed && *image_size != m->image_size)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "model '%s' takes images of %ux%u only, for its fully connected layers",
                        m->name, m->image_size, m->image_size);
    if (*image_size > MAX_IMAGE)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "an image size of %u is over %d", *image_size,
                        MAX_IMAGE);
    return FR_OK;
}

/* What the model and the user's options together ask for. */
static enum fr_status settle(const struct fr__model *m, const struct fr_workload_options *opt,
                             const uint32_t values[], struct fr_workload_options *out,
                             struct fr_error *err)
{
    uint32_t seq_len = m->seq_len, longest = m->n_positions;

    *out = *opt;
    FR_TRY(settle_images(m, &out->image_size, err));
    if (m->check)
        FR_TRY(m->check(m, values, &seq_len, err));
    if (!longest)
        longest = seq_len;
    if (!out->batch)
        out->batch = m->batch;
    if (out->batch > MAX_BATCH)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "batch %u is over %d", out->batch, MAX_BATCH);
    if ((unsigned)out->dtype >= FR_N_DTYPES)
        out->dtype = m->dtype;
    if (out->seq_len && !seq_len)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "model '%s' has no sequence length", m->name);
    if (!out->seq_len)
        out->seq_len = seq_len;
    if (out->seq_len < m->min_seq_len)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "model '%s' takes sequences of %u tokens or more, not %u", m->name,
                        m->min_seq_len, out->seq_len);
    if (out->seq_len > longest && longest == FR__ANY_LENGTH)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "a sequence of %u is over %u", out->seq_len,
                        longest);
    if (out->seq_len > longest && m->n_positions == FR__MAX_STEPS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "model '%s' is unrolled into %u steps at most, not %u", m->name, longest,
                        out->seq_len);
    if (out->seq_len > longest)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "model '%s' has %u learned positions, a sequence of %u does not fit",
                        m->name, longest, out->seq_len);
    return FR_OK;
}

static enum fr_status cast(struct fr_graph **forward, struct fr_error *err)
{
    struct fr_graph *full = *forward;

    FR_TRY(fr__autocast(full, forward, err));
    fr_graph_free(full);
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
    uint32_t values[FR__MAX_MODEL_KEYS] = {0};
    struct fr_workload_options o;
    struct fr_graph *forward;
    struct fr__net net;
    enum fr_status st;

    if (!m)
        return say_unknown_model(spec, err);
    FR_TRY(read_name(m, spec, values, err));
    FR_TRY(read_options(m, spec, values, err));
    FR_TRY(settle(m, opt ? opt : &own, values, &o, err));
    FR_TRY(fr__nn_init(&net, o.batch, o.seq_len, o.dtype == FR_AMP ? FR_FP32 : o.dtype, err));
    net.trained_in = o.dtype;
    net.image_size = o.image_size;
    net.has_float_masks = opt && opt->is_tf1; /* XLA makes them of bytes where they are read */
    net.is_tf1 = opt && (opt->is_tf1 || opt->fusions >> FR_FUSE_XLA & 1);
    m->build(&net, m, values);
    st = fr__nn_finish(&net, name, source ? source : m->source, &forward, err);
    fr__nn_fini(&net);
    if (st != FR_OK)
        return st;
    if (o.dtype == FR_AMP)
        st = cast(&forward, err);
    if (st == FR_OK)
        st = fr_graph_expand_training(forward, out, err);
    fr_graph_free(forward);
    return st;
}
