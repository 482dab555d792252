/* study/question/spreads.c - settings that say how unlike runs, GPUs and samples are, and how
 * unlike a kernel is beside a collective. They are numbers with words of their own. */
#include "config.h"

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "study/question/spreads.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { VALUE = FR__SETTING_VALUE };

/* ---- how runs differ ---- */

static const char *name_shape(unsigned i)
{
    return fr_spread_shape_name((enum fr_spread_shape)(i + 1));
}

/* "0.05", or with its distribution "gamma:0.5". */
static enum fr_status parse_spread(const char *text, const char *what, enum fr_spread_shape *shape,
                                   double *cv, struct fr_error *err)
{
    enum fr_spread_shape s = FR_SPREAD_BY_SIZE;
    const char *colon = strchr(text, ':');
    double x = 0;

    if (colon) {
        char word[VALUE];
        unsigned i = 0;

        snprintf(word, sizeof(word), "%.*s", (int)(colon - text < VALUE ? colon - text : VALUE - 1),
                 text);
        FR_TRY(fr__parse_choice(word, what, FR_N_SPREAD_SHAPES - 1, name_shape, &i, err));
        s = (enum fr_spread_shape)(i + 1);
    }
    FR_TRY(fr__parse_number(colon ? colon + 1 : text, what, FR_NOWHERE, 0, 10, &x, err));
    FR_TRY(fr_spread_check(s, x, what, err));
    *shape = s;
    *cv = x;
    return FR_OK;
}

static const char *spread_text(enum fr_spread_shape shape, double cv, char buf[VALUE])
{
    char number[VALUE];

    if (shape == FR_SPREAD_BY_SIZE)
        return fr__format_double(cv, buf, VALUE);
    snprintf(buf, VALUE, "%s:%.30s", fr_spread_shape_name(shape),
             fr__format_double(cv, number, sizeof(number)));
    return buf;
}

#define SPREAD_SETTING(name, shape, cv)                                                            \
    enum fr_status fr__set_##name(struct fr_question *q, const char *text, const char *what,       \
                                  struct fr_error *err)                                            \
    {                                                                                              \
        return parse_spread(text, what, &q->shape, &q->cv, err);                                   \
    }                                                                                              \
    const char *fr__text_##name(const struct fr_question *q, char buf[VALUE])                      \
    {                                                                                              \
        return spread_text(q->shape, q->cv, buf);                                                  \
    }
SPREAD_SETTING(jitter, run.jitter_shape, run.jitter_cv)
SPREAD_SETTING(device_jitter, run.device_shape, run.device_cv)
#undef SPREAD_SETTING

/* ---- slowdown of compute while collectives run ---- */

/* "measured", "none", "published", "measured-or-published" or a factor. */
enum fr_status fr__set_interference(struct fr_question *q, const char *text, const char *what,
                                    struct fr_error *err)
{
    static const char *const words[] = {"measured", "none", "published", "measured-or-published"};
    static const double factors[] = {0, 1, FR_PUBLISHED_INTERFERENCE, -FR_PUBLISHED_INTERFERENCE};
    enum { N_WORDS = sizeof(words) / sizeof(words[0]) };
    char hint[128];

    for (size_t i = 0; i < N_WORDS; i++)
        if (strcmp(text, words[i]) == 0) {
            q->beside_collectives = factors[i];
            return FR_OK;
        }
    if (isdigit((unsigned char)text[0]))
        return fr__parse_number(text, what, FR_NOWHERE, 1, 100, &q->beside_collectives, err);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "%s is \"%.40s\", expected measured, none, published or a factor such as 1.2%s",
                    what, text, fr__did_you_mean(text, words, N_WORDS, hint, sizeof(hint)));
}

const char *fr__text_interference(const struct fr_question *q, char buf[VALUE])
{
    double x = q->beside_collectives;

    if (x == FR_PUBLISHED_INTERFERENCE)
        return "published";
    if (x < 0)
        return "measured-or-published";
    return x <= 0 ? "measured" : x <= 1 ? "none" : fr__format_double(x, buf, VALUE);
}

/* ---- how GPUs and their batches differ ---- */

/* A standard deviation over a mean. */
static enum fr_status parse_variation(const char *text, const char *what, double *out,
                                      struct fr_error *err)
{
    *out = 0;
    if (strcmp(text, "default") == 0)
        return FR_OK;
    FR_TRY(fr__parse_number(text, what, FR_NOWHERE, 0, 0.3, out, err));
    if (!(*out > 0))
        *out = -1; /* no recipe changes what is typed */
    return FR_OK;
}

static const char *format_variation(double x, char buf[VALUE])
{
    return x > 0 ? fr__format_double(x, buf, VALUE) : x < 0 ? "0" : "default";
}

enum fr_status fr__set_gpu_variation(struct fr_question *q, const char *text, const char *what,
                                     struct fr_error *err)
{
    return parse_variation(text, what, &q->gpu_variation, err);
}

const char *fr__text_gpu_variation(const struct fr_question *q, char buf[VALUE])
{
    return format_variation(q->gpu_variation, buf);
}

enum fr_status fr__set_length_variation(struct fr_question *q, const char *text, const char *what,
                                        struct fr_error *err)
{
    return parse_variation(text, what, &q->length_variation, err);
}

const char *fr__text_length_variation(const struct fr_question *q, char buf[VALUE])
{
    return format_variation(q->length_variation, buf);
}
