/* study/question/question.c - the settings of a question by name, from text and back to text. */
#include "config.h"

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "study/interval/measured.h"
#include "study/question/loading.h"
#include "study/question/software.h"
#include "study/question/spreads.h"
#include "study/study.h"
#include "workloads/graph/formats.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE = FR__SETTING_VALUE, MAX_SEEDS = 10000 };

struct setting {
    const char *name;
    bool is_list; /* values have no comma of their own */
    bool is_late; /* came later than the first keys */
    enum fr_status (*set)(struct fr_question *q, const char *text, const char *what,
                          struct fr_error *err);
    /* The value as set() reads it; buf: room for numbers. */
    const char *(*text)(const struct fr_question *q, char buf[VALUE]);
};

/* ---- names ---- */

#define NAME_SETTING(member, word_for_null)                                                        \
    static enum fr_status set_##member(struct fr_question *q, const char *text, const char *what,  \
                                       struct fr_error *err)                                       \
    {                                                                                              \
        (void)what;                                                                                \
        (void)err;                                                                                 \
        q->member = text;                                                                          \
        return FR_OK;                                                                              \
    }                                                                                              \
    static const char *text_##member(const struct fr_question *q, char buf[VALUE])                 \
    {                                                                                              \
        (void)buf;                                                                                 \
        return q->member ? q->member : word_for_null;                                              \
    }
NAME_SETTING(workload, "none")
NAME_SETTING(topology, "none")
NAME_SETTING(strategy, "none")
NAME_SETTING(costs, "calibrated")
#undef NAME_SETTING

/* Of these "none" is what stands for "not given". */
#define OPTIONAL_NAME_SETTING(name, member)                                                        \
    static enum fr_status set_##name(struct fr_question *q, const char *text, const char *what,    \
                                     struct fr_error *err)                                         \
    {                                                                                              \
        (void)what;                                                                                \
        (void)err;                                                                                 \
        q->member = strcmp(text, "none") == 0 ? NULL : text;                                       \
        return FR_OK;                                                                              \
    }                                                                                              \
    static const char *text_##name(const struct fr_question *q, char buf[VALUE])                   \
    {                                                                                              \
        (void)buf;                                                                                 \
        return q->member ? q->member : "none";                                                     \
    }
OPTIONAL_NAME_SETTING(devices, devices)
OPTIONAL_NAME_SETTING(slow, slow)
OPTIONAL_NAME_SETTING(degrade, degrade)
OPTIONAL_NAME_SETTING(profile_device, profile_device)
OPTIONAL_NAME_SETTING(measured_text, measured)
#undef OPTIONAL_NAME_SETTING

/* A time is refused here, before anything runs; a table where it is read. */
static enum fr_status set_measured(struct fr_question *q, const char *text, const char *what,
                                   struct fr_error *err)
{
    if (strcmp(text, "none") != 0)
        FR_TRY(fr__measured_check(text, what, err));
    return set_measured_text(q, text, what, err);
}

static const char *text_measured(const struct fr_question *q, char buf[VALUE])
{
    return text_measured_text(q, buf);
}

/* ---- how collectives go ---- */

/* What no collective can be is refused here, before anything runs: a sweep would call each of its
 * points impossible. "auto" is what "none" is: a fitted time where there is one, else NCCL's
 * choice. */
#define WAY_SETTING(name, member)                                                                  \
    static enum fr_status set_##name(struct fr_question *q, const char *text, const char *what,    \
                                     struct fr_error *err)                                         \
    {                                                                                              \
        struct fr_collective_options o = {.algorithm = "nccl"};                                    \
        bool is_none = strcmp(text, "none") == 0 || strcmp(text, "auto") == 0;                     \
        struct fr_collective_way *way;                                                             \
                                                                                                   \
        (void)what;                                                                                \
        o.member = text;                                                                           \
        if (!is_none) {                                                                            \
            FR_TRY(fr_collective_way_new(&way, &o, err));                                          \
            fr_collective_way_free(way);                                                           \
        }                                                                                          \
        q->way.member = is_none ? NULL : text;                                                     \
        return FR_OK;                                                                              \
    }                                                                                              \
    static const char *text_##name(const struct fr_question *q, char buf[VALUE])                   \
    {                                                                                              \
        (void)buf;                                                                                 \
        return q->way.member ? q->way.member : "none";                                             \
    }
WAY_SETTING(collective_algorithm, algorithm)
WAY_SETTING(protocol, protocol)
WAY_SETTING(nccl_version, nccl_version)
#undef WAY_SETTING

/* ---- counts: some have a word for what 0 stands for ---- */

static enum fr_status parse_u32(const char *text, const char *what, const char *word_for_0,
                                uint32_t max, uint32_t *out, struct fr_error *err)
{
    uint64_t n = 0;

    if (!word_for_0 || strcmp(text, word_for_0) != 0)
        FR_TRY(fr__parse_count(text, what, FR_NOWHERE, 1, max, &n, err));
    *out = (uint32_t)n;
    return FR_OK;
}

static const char *count_text(uint64_t n, const char *word_for_0, char buf[VALUE])
{
    if (n == 0 && word_for_0)
        return word_for_0;
    snprintf(buf, VALUE, "%" PRIu64, n);
    return buf;
}

#define COUNT_SETTING(name, type, member, word_for_0, max)                                         \
    static enum fr_status set_##name(struct fr_question *q, const char *text, const char *what,    \
                                     struct fr_error *err)                                         \
    {                                                                                              \
        uint32_t n;                                                                                \
                                                                                                   \
        FR_TRY(parse_u32(text, what, word_for_0, max, &n, err));                                   \
        q->member = (type)n;                                                                       \
        return FR_OK;                                                                              \
    }                                                                                              \
    static const char *text_##name(const struct fr_question *q, char buf[VALUE])                   \
    {                                                                                              \
        return count_text(q->member, word_for_0, buf);                                             \
    }
COUNT_SETTING(gpus, size_t, n_gpus, "all", UINT32_MAX - 1)
COUNT_SETTING(batch, uint32_t, global_batch, "default", UINT32_MAX - 1)
COUNT_SETTING(batch_per_gpu, uint32_t, batch_per_gpu, "default", UINT32_MAX - 1)
COUNT_SETTING(seq_len, uint32_t, seq_len, "default", UINT32_MAX - 1)
COUNT_SETTING(image_size, uint32_t, image_size, "default", UINT32_MAX - 1)
COUNT_SETTING(channels, unsigned, run.channels, "inf", UINT32_MAX - 1)
COUNT_SETTING(nccl_channels, unsigned, way.nccl_channels, "default", 1024)
#undef COUNT_SETTING

static enum fr_status set_iterations(struct fr_question *q, const char *text, const char *what,
                                     struct fr_error *err)
{
    return parse_u32(text, what, NULL, 1000, &q->iterations, err);
}

static const char *text_iterations(const struct fr_question *q, char buf[VALUE])
{
    return count_text(q->iterations ? q->iterations : 1, NULL, buf);
}

/* "7", or "0..19" for 20 of them. */
static enum fr_status set_seed(struct fr_question *q, const char *text, const char *what,
                               struct fr_error *err)
{
    const char *dots = strstr(text, "..");
    uint64_t first = 0, last = 0;
    char number[VALUE];

    if (!dots || (size_t)(dots - text) >= sizeof(number)) {
        FR_TRY(fr__parse_count(text, what, FR_NOWHERE, 0, UINT64_MAX, &q->run.seed, err));
        q->n_seeds = 0;
        return FR_OK;
    }
    snprintf(number, sizeof(number), "%.*s", (int)(dots - text), text);
    FR_TRY(fr__parse_count(number, what, FR_NOWHERE, 0, UINT64_MAX, &first, err));
    FR_TRY(fr__parse_count(dots + 2, what, FR_NOWHERE, 0, UINT64_MAX, &last, err));
    if (last < first || last - first >= MAX_SEEDS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "%s is \"%s\", expected FIRST..LAST with at most %d seeds", what, text,
                        (int)MAX_SEEDS);
    q->run.seed = first;
    q->n_seeds = (uint32_t)(last - first) + 1;
    return FR_OK;
}

static const char *text_seed(const struct fr_question *q, char buf[VALUE])
{
    if (q->n_seeds < 2)
        return count_text(q->run.seed, NULL, buf);
    snprintf(buf, VALUE, "%" PRIu64 "..%" PRIu64, q->run.seed, q->run.seed + q->n_seeds - 1);
    return buf;
}

/* ---- one word of several ---- */

/* FR_FP4 is no word: which numbers share a scale decides what such a step costs. */
static const enum fr_dtype precisions[] = {FR_FP32, FR_TF32, FR_FP16,    FR_BF16,
                                           FR_FP8,  FR_AMP,  FR_N_DTYPES};
enum { N_PRECISIONS = sizeof(precisions) / sizeof(precisions[0]) };

static const char *name_precision(unsigned i)
{
    return precisions[i] < FR_N_DTYPES ? fr_dtype_name(precisions[i]) : "default";
}

/* A number-format recipe by its name or file, where the text is one. */
static bool names_formats(const char *text)
{
    return fr__formats_named(text) || strchr(text, '/') || strstr(text, ".yaml") ||
           strncmp(text, "mx", 2) == 0 || strncmp(text, "nv", 2) == 0 ||
           strncmp(text, "fp8-", 4) == 0 || strcmp(text, "fp4") == 0;
}

static enum fr_status set_precision(struct fr_question *q, const char *text, const char *what,
                                    struct fr_error *err)
{
    const struct fr_formats *formats;
    struct fr__formats_file *owned;
    unsigned i;

    if (names_formats(text)) {
        FR_TRY(fr__formats_load(&formats, &owned, text, err));
        q->dtype = formats->dtype;
        q->formats = text;
        fr__formats_free(owned);
        return FR_OK;
    }
    FR_TRY(fr__parse_choice(text, what, N_PRECISIONS, name_precision, &i, err));
    q->dtype = precisions[i];
    q->formats = NULL;
    return FR_OK;
}

static const char *text_precision(const struct fr_question *q, char buf[VALUE])
{
    (void)buf;
    if (q->formats)
        return q->formats;
    return q->dtype < FR_N_DTYPES ? fr_dtype_name(q->dtype) : "default";
}

static const char *name_optimizer(unsigned i)
{
    return fr_optimizer_name((enum fr_optimizer)i);
}

static const char *name_order(unsigned i)
{
    return fr_order_name((enum fr_order)i);
}

static const char *name_network(unsigned i)
{
    return fr_network_name((enum fr_network)i);
}

static const char *name_collectives(unsigned i)
{
    static const char *const names[] = {"auto", "expanded", "closed"};

    return names[i];
}

static const char *name_alloc(unsigned i)
{
    return i ? "start" : "dispatch";
}

static const char *name_spread(unsigned i)
{
    return i ? "1" : "0";
}

static const char *name_zero_grad(unsigned i)
{
    return i ? "zero" : "none";
}

static const char *name_memory(unsigned i)
{
    return fr_memory_model_name((enum fr_memory_model)i);
}

#define CHOICE_SETTING(name, type, member, n)                                                      \
    static enum fr_status set_##name(struct fr_question *q, const char *text, const char *what,    \
                                     struct fr_error *err)                                         \
    {                                                                                              \
        unsigned i;                                                                                \
                                                                                                   \
        FR_TRY(fr__parse_choice(text, what, n, name_##name, &i, err));                             \
        q->member = (type)i;                                                                       \
        return FR_OK;                                                                              \
    }                                                                                              \
    static const char *text_##name(const struct fr_question *q, char buf[VALUE])                   \
    {                                                                                              \
        (void)buf;                                                                                 \
        return name_##name((unsigned)q->member);                                                   \
    }
CHOICE_SETTING(spread, bool, is_spread, 2)
CHOICE_SETTING(optimizer, enum fr_optimizer, optimizer, FR_N_OPTIMIZERS)
CHOICE_SETTING(zero_grad, bool, keeps_gradients, 2)
CHOICE_SETTING(order, enum fr_order, run.order, FR_N_ORDERS)
CHOICE_SETTING(network, enum fr_network, run.network, FR_N_NETWORKS)
CHOICE_SETTING(collectives, enum fr_collectives, collectives, 3)
CHOICE_SETTING(memory, enum fr_memory_model, run.memory, FR_N_MEMORY_MODELS)
CHOICE_SETTING(alloc, bool, run.alloc_at_start, 2)
#undef CHOICE_SETTING

/* ---- the table ---- */

/* The order is that of keys, so it may only change together with FR_STORE_FORMAT. APART: of
 * study/question/spreads.c; LATE: of that or of software.c, and came later than the first keys. */
#define SETTINGS(X, APART, LATE)                                                                   \
    X(workload, "workload", false)                                                                 \
    X(topology, "topology", false)                                                                 \
    X(precision, "precision", true)                                                                \
    X(seq_len, "seq-len", true)                                                                    \
    X(image_size, "image-size", true)                                                              \
    X(gpus, "gpus", true)                                                                          \
    X(spread, "spread", true)                                                                      \
    X(devices, "devices", false)                                                                   \
    X(batch, "batch", true)                                                                        \
    X(batch_per_gpu, "batch-per-gpu", true)                                                        \
    X(strategy, "strategy", false)                                                                 \
    X(optimizer, "optimizer", true)                                                                \
    X(zero_grad, "zero-grad", true)                                                                \
    X(order, "order", true)                                                                        \
    X(network, "network", true)                                                                    \
    X(channels, "channels", true)                                                                  \
    X(collectives, "collectives", true)                                                            \
    X(alloc, "alloc", true)                                                                        \
    X(memory, "memory", true)                                                                      \
    X(iterations, "iterations", true)                                                              \
    X(seed, "seed", true)                                                                          \
    APART(jitter, "jitter", true)                                                                  \
    APART(device_jitter, "device-jitter", true)                                                    \
    APART(interference, "interference", true)                                                      \
    X(slow, "slow", false)                                                                         \
    X(degrade, "degrade", false)                                                                   \
    X(costs, "costs", false)                                                                       \
    X(profile_device, "profile-device", true)                                                      \
    X(collective_algorithm, "collective-algorithm", true)                                          \
    X(protocol, "protocol", true)                                                                  \
    X(nccl_channels, "nccl-channels", true)                                                        \
    X(nccl_version, "nccl-version", true)                                                          \
    LATE(recipe, "recipe", true)                                                                   \
    X(measured, "measured", true)                                                                  \
    LATE(fuse, "fuse", true)                                                                       \
    LATE(input_rate, "input-rate", true)                                                           \
    LATE(host_op, "host-op", true)                                                                 \
    LATE(gpu_variation, "gpu-variation", true)                                                     \
    LATE(length_variation, "length-variation", true)                                               \
    LATE(host_sync, "host-sync", true)                                                             \
    LATE(host_step, "host-step", true)                                                             \
    LATE(host_process, "host-process", true)                                                       \
    LATE(transport, "transport", true)                                                             \
    LATE(host_speed, "host-speed", true)                                                           \
    LATE(decode_rate, "decode-rate", true)                                                         \
    LATE(host_cores, "host-cores", true)                                                           \
    LATE(layout, "layout", true)                                                                   \
    LATE(power_limit, "power-limit", true)                                                         \
    LATE(update, "update", true)                                                                   \
    LATE(tune, "tune", false)

#define SETTING_ROW(name, option, is_list) {option, is_list, false, set_##name, text_##name},
#define APART_ROW(name, option, is_list) {option, is_list, false, fr__set_##name, fr__text_##name},
#define LATE_ROW(name, option, is_list) {option, is_list, true, fr__set_##name, fr__text_##name},
static const struct setting settings[] = {SETTINGS(SETTING_ROW, APART_ROW, LATE_ROW)};
#undef SETTING_ROW
#undef APART_ROW
#undef LATE_ROW

enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]) };
_Static_assert((int)N_SETTINGS == (int)FR_N_SETTINGS, "study/sweep/sweep.h counts the settings");

const char *fr_question_setting(size_t i)
{
    return i < N_SETTINGS ? settings[i].name : NULL;
}

static const struct setting *find(const char *name)
{
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (strcmp(settings[i].name, name) == 0)
            return &settings[i];
    return NULL;
}

bool fr_question_setting_is_list(size_t i)
{
    return i < N_SETTINGS && settings[i].is_list;
}

enum fr_status fr_question_set(struct fr_question *q, const char *name, const char *text,
                               struct fr_error *err)
{
    const struct setting *s = find(name);
    char what[64];

    if (!s) {
        const char *names[N_SETTINGS];
        char hint[128];

        for (size_t i = 0; i < N_SETTINGS; i++)
            names[i] = settings[i].name;
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no setting is called '%s'%s", name,
                        fr__did_you_mean(name, names, N_SETTINGS, hint, sizeof(hint)));
    }
    snprintf(what, sizeof(what), "option '--%s'", s->name);
    return s->set(q, text, what, err);
}

/* ---- keys ---- */

/* Text that holds no '|' and no control character raw, and can be told apart from any other. */
static void write_escaped(FILE *f, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '|' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(f, "\\x%02x", c);
        else
            putc(c, f);
    }
}

/* Settings that came later than the first keys: where they say nothing, the keys of answers that
 * were kept before stay theirs. */
static bool is_left_out(const struct setting *s, const struct fr_question *q,
                        const struct fr_question *usual)
{
    char a[VALUE], b[VALUE];

    return s->is_late && strcmp(s->text(q, a), s->text(usual, b)) == 0;
}

char *fr_question_key(const struct fr_question *q)
{
    char *key = NULL, buf[VALUE];
    struct fr_question usual;
    size_t length;
    FILE *f = fr__text_open(&key, &length);

    if (!f)
        return NULL;
    fr_question_init(&usual);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (is_left_out(&settings[i], q, &usual))
            continue;
        fprintf(f, "%s%s=", i ? "|" : "", settings[i].name);
        write_escaped(f, settings[i].text(q, buf));
    }
    (void)fr__text_close(f, &key);
    return key;
}

void fr_question_init(struct fr_question *q)
{
    memset(q, 0, sizeof(*q));
    q->dtype = FR_N_DTYPES;
    q->optimizer = FR_SGD;
    fr_run_options_init(&q->run);
    q->run.memory = FR_MEMORY_DEVICE;
    q->run.order = FR_ORDER_PRIORITY; /* frameworks launch in program order */
}

/* Where it is not said how collectives go, people read "auto". Keys have always had "none". */
static bool is_way(const struct setting *s)
{
    return s->text == text_collective_algorithm || s->text == text_protocol ||
           s->text == text_nccl_version;
}

char *fr_question_text(const struct fr_question *q, size_t setting)
{
    const char *text;
    char buf[VALUE];

    if (setting >= N_SETTINGS)
        return NULL;
    text = settings[setting].text(q, buf);
    return strdup(is_way(&settings[setting]) && strcmp(text, "none") == 0 ? "auto" : text);
}

size_t fr__setting_index(const char *name)
{
    size_t i = 0;

    while (fr_question_setting(i) && strcmp(fr_question_setting(i), name) != 0)
        i++;
    assert(i < FR_N_SETTINGS);
    return i;
}
