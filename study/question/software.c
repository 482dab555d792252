/* study/question/software.c - settings that say what software and hosts do, from text and back to
 * text. */
#include "config.h"

#include "study/question/software.h"

#include "base/error.h"
#include "base/units.h"
#include "lowering/update.h"
#include "workloads/passes/tune.h"
#include "study/recipes/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the recipe ---- */

/* A sweep would call each of its points impossible, and a search each of its layouts. */
enum fr_status fr__set_recipe(struct fr_question *q, const char *text, const char *what,
                              struct fr_error *err)
{
    bool is_none = strcmp(text, "none") == 0;
    bool is_default = strcmp(text, FR_RECIPE_DEFAULT) == 0;

    (void)what;
    if (!is_none && !is_default)
        FR_TRY(fr__recipe_exists(text, err));
    q->recipe = is_none ? NULL : text;
    return FR_OK;
}

const char *fr__text_recipe(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    (void)buf;
    return q->recipe ? q->recipe : "none";
}

/* ---- the graph ---- */

/* Names of fusions with '+' between them. */
enum fr_status fr__set_fuse(struct fr_question *q, const char *text, const char *what,
                            struct fr_error *err)
{
    const char *names[FR_N_FUSIONS];
    unsigned fusions = 0;
    char hint[128], word[40];

    for (unsigned f = 0; f < FR_N_FUSIONS; f++)
        names[f] = fr_fusion_name((enum fr_fusion)f);
    for (const char *at = text; strcmp(text, "none") != 0;) {
        size_t n = strcspn(at, "+"), f = 0;

        snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word)), at);
        while (f < FR_N_FUSIONS && strcmp(names[f], word) != 0)
            f++;
        if (f == FR_N_FUSIONS)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "%s: no fusion is called '%s' (several are joined by '+')%s", what,
                            word, fr__did_you_mean(word, names, FR_N_FUSIONS, hint, sizeof(hint)));
        fusions |= 1u << f;
        if (at[n] == '\0')
            break;
        at += n + 1;
    }
    for (unsigned f = FR_FUSE_SMALL_OPS; f <= FR_FUSE_TORCH_GELU; f++)
        if ((fusions >> f & 1) && (fusions & (1u << FR_FUSE_XLA | 1u << FR_FUSE_INDUCTOR)))
            return fr__fail(
                err, FR_EUSAGE, FR_NOWHERE,
                "%s: %s is what is run without a compiler, so it does not go with xla or inductor",
                what, names[f]);
    if ((fusions >> FR_FUSE_SMALL_OPS & 1) && (fusions >> FR_FUSE_TORCH_GELU & 1))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%s: small-ops and torch-gelu are of two frameworks", what);
    q->fusions = fusions;
    return FR_OK;
}

const char *fr__text_fuse(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    size_t used = 0;

    buf[0] = '\0';
    for (unsigned f = 0; f < FR_N_FUSIONS && used < FR__SETTING_VALUE; f++)
        if (q->fusions >> f & 1)
            used += (size_t)snprintf(buf + used, FR__SETTING_VALUE - used, "%s%s", used ? "+" : "",
                                     fr_fusion_name((enum fr_fusion)f));
    return used ? buf : "none";
}

enum fr_status fr__set_tune(struct fr_question *q, const char *text, const char *what,
                            struct fr_error *err)
{
    bool is_none = strcmp(text, "none") == 0;
    struct fr__tuning how;

    (void)what;
    if (!is_none)
        FR_TRY(fr__tuning_read(&how, text, err));
    q->tune = is_none ? NULL : text;
    return FR_OK;
}

const char *fr__text_tune(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    (void)buf;
    return q->tune ? q->tune : "none";
}

enum fr_status fr__set_input_rate(struct fr_question *q, const char *text, const char *what,
                                  struct fr_error *err)
{
    if (strcmp(text, "any") != 0)
        return fr__parse_number(text, what, FR_NOWHERE, 1e-6, 1e12, &q->input_rate, err);
    q->input_rate = 0;
    return FR_OK;
}

const char *fr__text_input_rate(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    return q->input_rate > 0 ? fr__format_double(q->input_rate, buf, FR__SETTING_VALUE) : "any";
}

/* ---- the host ---- */

bool fr__has_host_op(const struct fr_question *q)
{
    for (unsigned i = 0; i < FR_N_HOST_WORK; i++)
        if (q->host_op_s[i] > 0)
            return true;
    return false;
}

static enum fr_status parse_host_time(const char *text, const char *what, double *s,
                                      struct fr_error *err)
{
    double x = 0;

    *s = 0;
    if (strcmp(text, "device") == 0)
        return FR_OK;
    FR_TRY(fr__parse_time(text, what, FR_NOWHERE, &x, err));
    if (!(x > 0 && x <= 60)) /* beyond: a misprint */
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "%s is \"%.40s\", expected more than 0 and at most 60s", what, text);
    *s = x;
    return FR_OK;
}

/* "12us", or of an op of the forward pass, of the backward pass, and of the update of a tensor:
 * "16us/12us/20us"; any of them may be "device", as the GPU's type says. */
enum fr_status fr__set_host_op(struct fr_question *q, const char *text, const char *what,
                               struct fr_error *err)
{
    double op_s[FR_N_HOST_WORK] = {0};
    bool is_by_part = strchr(text, '/') != NULL;
    const char *at = text;

    for (unsigned i = 0; i < FR_N_HOST_WORK && strcmp(text, "device") != 0; i++) {
        size_t n = strcspn(at, "/");
        char word[40];

        if (n >= sizeof(word) || (is_by_part && (at[n] == '/') != (i + 1 < FR_N_HOST_WORK)))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "%s is \"%.60s\", expected a time, or three as in 16us/16us/20us", what,
                            text);
        snprintf(word, sizeof(word), "%.*s", (int)n, at);
        FR_TRY(parse_host_time(word, what, &op_s[i], err));
        at += is_by_part ? n + 1 : 0;
    }
    memcpy(q->host_op_s, op_s, sizeof(op_s));
    q->is_host_op_by_part = is_by_part && fr__has_host_op(q);
    return FR_OK;
}

const char *fr__text_host_op(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    unsigned n = q->is_host_op_by_part ? FR_N_HOST_WORK : 1;
    char number[40];
    size_t used = 0;

    if (!fr__has_host_op(q))
        return "device";
    for (unsigned i = 0; i < n; i++) {
        bool is_given = q->host_op_s[i] > 0;

        fr__format_double(q->host_op_s[i], number, sizeof(number));
        used += (size_t)snprintf(buf + used, FR__SETTING_VALUE - used, "%s%s%s", i ? "/" : "",
                                 is_given ? number : "device", is_given ? "s" : "");
    }
    return buf;
}

static const char *const sync_names[] = {"loss", "micro", "norm", "scaler", "sum", "step"};
static const unsigned syncs[] = {FR_HOST_SYNC_LOSS,   FR_HOST_SYNC_MICRO, FR_HOST_SYNC_NORM,
                                 FR_HOST_SYNC_SCALER, FR_HOST_SYNC_SUM,   FR_HOST_SYNC_STEP};
enum { N_SYNCS = sizeof(syncs) / sizeof(syncs[0]) };

/* Names of points with '+' between them; "none"; "default". */
enum fr_status fr__set_host_sync(struct fr_question *q, const char *text, const char *what,
                                 struct fr_error *err)
{
    unsigned found = 0;
    char hint[128], word[24];

    for (const char *at = text; strcmp(text, "none") != 0 && strcmp(text, "default") != 0;) {
        size_t n = strcspn(at, "+"), i = 0;

        snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word)), at);
        while (i < N_SYNCS && strcmp(sync_names[i], word) != 0)
            i++;
        if (i == N_SYNCS)
            return fr__fail(
                err, FR_EUSAGE, FR_NOWHERE,
                "%s: hosts do not wait at '%s' (loss, micro, norm, scaler, sum, step, none; "
                "several are joined by '+')%s",
                what, word, fr__did_you_mean(word, sync_names, N_SYNCS, hint, sizeof(hint)));
        found |= syncs[i];
        if (at[n] == '\0')
            break;
        at += n + 1;
    }
    q->host_syncs = found | (strcmp(text, "default") != 0 ? FR_HOST_SYNC_GIVEN : 0);
    return FR_OK;
}

const char *fr__text_host_sync(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    size_t used = 0;

    if (!(q->host_syncs & FR_HOST_SYNC_GIVEN))
        return "default";
    for (size_t i = 0; i < N_SYNCS; i++)
        if (q->host_syncs & syncs[i])
            used += (size_t)snprintf(buf + used, FR__SETTING_VALUE - used, "%s%s", used ? "+" : "",
                                     sync_names[i]);
    return used ? buf : "none";
}

/* What is typed as 0 is kept below 0, so that no recipe changes it. */
enum fr_status fr__set_host_step(struct fr_question *q, const char *text, const char *what,
                                 struct fr_error *err)
{
    double s = 0;

    if (strcmp(text, "default") != 0) {
        FR_TRY(fr__parse_time(text, what, FR_NOWHERE, &s, err));
        if (s > 3600) /* beyond: a misprint */
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%s is \"%.40s\", expected at most 1h",
                            what, text);
        s = s > 0 ? s : -1;
    }
    q->host_step_s = s;
    return FR_OK;
}

const char *fr__text_host_step(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    char number[40];

    if (!(q->host_step_s > 0))
        return q->host_step_s < 0 ? "0s" : "default";
    snprintf(buf, FR__SETTING_VALUE, "%ss",
             fr__format_double(q->host_step_s, number, sizeof(number)));
    return buf;
}

/* One of three names, of which the first is the default. */
static enum fr_status find_word(unsigned *out, const char *text, const char *what,
                                const char *const names[], unsigned n, struct fr_error *err)
{
    char hint[128];

    for (*out = 0; *out < n; ++*out)
        if (strcmp(text, names[*out]) == 0)
            return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s is \"%.40s\", expected %s, %s or %s%s", what,
                    text, names[1], names[2], names[0],
                    fr__did_you_mean(text, names, n, hint, sizeof(hint)));
}

static const char *const process_names[FR_N_PROCESSES] = {
    [FR_PROCESS_DEFAULT] = "default",
    [FR_PROCESS_GPU] = "gpu",
    [FR_PROCESS_MACHINE] = "machine",
};

enum fr_status fr__set_host_process(struct fr_question *q, const char *text, const char *what,
                                    struct fr_error *err)
{
    unsigned i;

    FR_TRY(find_word(&i, text, what, process_names, FR_N_PROCESSES, err));
    q->host_process = (enum fr_host_process)i;
    return FR_OK;
}

const char *fr__text_host_process(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    (void)buf;
    return process_names[q->host_process];
}

static const char *const transport_names[FR_N_TRANSPORTS] = {
    [FR_TRANSPORT_DEFAULT] = "default",
    [FR_TRANSPORT_VERBS] = "verbs",
    [FR_TRANSPORT_SOCKETS] = "sockets",
};

enum fr_status fr__set_transport(struct fr_question *q, const char *text, const char *what,
                                 struct fr_error *err)
{
    unsigned i;

    FR_TRY(find_word(&i, text, what, transport_names, FR_N_TRANSPORTS, err));
    q->transport = (enum fr_transport)i;
    return FR_OK;
}

const char *fr__text_transport(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    (void)buf;
    return transport_names[q->transport];
}

#define RATE_SETTING(name, member, word, low, high)                                                \
    enum fr_status fr__set_##name(struct fr_question *q, const char *text, const char *what,       \
                                  struct fr_error *err)                                            \
    {                                                                                              \
        double x = 0;                                                                              \
                                                                                                   \
        if (strcmp(text, word) != 0)                                                               \
            FR_TRY(fr__parse_number(text, what, FR_NOWHERE, low, high, &x, err));                  \
        q->member = x;                                                                             \
        return FR_OK;                                                                              \
    }                                                                                              \
    const char *fr__text_##name(const struct fr_question *q, char buf[FR__SETTING_VALUE])          \
    {                                                                                              \
        return q->member > 0 ? fr__format_double(q->member, buf, FR__SETTING_VALUE) : word;        \
    }
RATE_SETTING(host_speed, host_speed, "default", 0.01, 100)
RATE_SETTING(host_cores, host_cores, "machine", 1, 1e6)
#undef RATE_SETTING

enum fr_status fr__set_update(struct fr_question *q, const char *text, const char *what,
                              struct fr_error *err)
{
    return fr__updates_read(&q->updates, text, what, err);
}

const char *fr__text_update(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    return fr__updates_text(q->updates, buf, FR__SETTING_VALUE);
}

enum fr_status fr__set_power_limit(struct fr_question *q, const char *text, const char *what,
                                   struct fr_error *err)
{
    double watts = strcmp(text, "none") == 0 ? INFINITY : 0;

    if (strcmp(text, "none") != 0 && strcmp(text, "board") != 0) {
        FR_TRY(fr__parse_power(text, what, FR_NOWHERE, &watts, err));
        if (watts < 1 || watts > 1e5)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%s: a GPU draws between 1 W and 100 kW",
                            what);
    }
    q->power_limit_W = watts;
    return FR_OK;
}

const char *fr__text_power_limit(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    char number[40];

    if (!(q->power_limit_W > 0))
        return "board";
    if (isinf(q->power_limit_W))
        return "none";
    snprintf(buf, FR__SETTING_VALUE, "%sW",
             fr__format_double(q->power_limit_W, number, sizeof(number)));
    return buf;
}

/* "any" is kept below 0, so that no recipe changes it. */
enum fr_status fr__set_decode_rate(struct fr_question *q, const char *text, const char *what,
                                   struct fr_error *err)
{
    if (strcmp(text, "any") == 0 || strcmp(text, "default") == 0) {
        q->decode_rate = strcmp(text, "any") == 0 ? -1 : 0;
        return FR_OK;
    }
    return fr__parse_number(text, what, FR_NOWHERE, 1e-6, 1e12, &q->decode_rate, err);
}

const char *fr__text_decode_rate(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    double x = q->decode_rate;

    return x > 0 ? fr__format_double(x, buf, FR__SETTING_VALUE) : x < 0 ? "any" : "default";
}

enum fr_status fr__set_layout(struct fr_question *q, const char *text, const char *what,
                              struct fr_error *err)
{
    const char *names[FR_N_LAYOUTS];
    enum fr_image_layout layout = fr_image_layout_parse(text);
    char hint[128];

    for (unsigned i = 0; i < FR_N_LAYOUTS; i++)
        names[i] = fr_image_layout_name((enum fr_image_layout)i);
    if (layout == FR_N_LAYOUTS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%s is \"%.40s\", expected nchw, nhwc or default%s", what, text,
                        fr__did_you_mean(text, names, FR_N_LAYOUTS, hint, sizeof(hint)));
    q->layout = layout;
    return FR_OK;
}

const char *fr__text_layout(const struct fr_question *q, char buf[FR__SETTING_VALUE])
{
    (void)buf;
    return fr_image_layout_name(q->layout);
}
