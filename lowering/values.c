/* lowering/values.c - reads the values of a strategy's options. It knows no list of
 * strategies, so that a strategy can ask another with the defaults of its options. */
#include "config.h"

#include "lowering/values.h"

#include "base/error.h"
#include "base/names.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CHOICES = 32 };

enum fr_status fr__word_read(const char **at, const char *stops, const char *what, size_t room,
                             struct fr__word *out, struct fr_error *err)
{
    size_t n = strcspn(*at, stops);

    if (n >= room)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s of %zu bytes, at most %zu are allowed",
                        what, n, room - 1);
    memcpy(out->text, *at, n);
    out->text[n] = '\0';
    *at += n;
    return FR_OK;
}

static enum fr_status parse_choice(const struct fr_option *o, const char *what, const char *text,
                                   uint64_t *out, struct fr_error *err)
{
    struct fr__word choices[MAX_CHOICES];
    const char *names[MAX_CHOICES], *at = o->choices;
    char hint[FR__MAX_WORD];
    size_t n = 0;

    for (; n < MAX_CHOICES; n++) {
        FR_TRY(fr__word_read(&at, "|", "choice", FR__MAX_WORD, &choices[n], err));
        names[n] = choices[n].text;
        if (strcmp(text, names[n]) == 0) {
            *out = n;
            return FR_OK;
        }
        if (*at++ == '\0')
            break;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s is \"%s\", not one of %s%s", what, text,
                    o->choices,
                    fr__did_you_mean(text, names, n < MAX_CHOICES ? n + 1 : n, hint, sizeof(hint)));
}

/* Keeps the text behind those that are there already. */
static enum fr_status keep_text(struct fr__values_parsing *p, size_t option, const char *what,
                                const char *text, struct fr_error *err)
{
    struct fr_option_values *v = p->values;
    size_t n = strlen(text) + 1;

    if (n > sizeof(v->text) - p->n_text)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s: all texts together exceed %zu bytes", what,
                        sizeof(v->text) - 1);
    memcpy(v->text + p->n_text, text, n);
    v->value[option] = p->n_text;
    p->n_text += n;
    return FR_OK;
}

enum fr_status fr__value_parse(struct fr__values_parsing *p, size_t option, const char *text,
                               struct fr_error *err)
{
    const struct fr_option *o = &p->options[option];
    uint64_t *out = &p->values->value[option];
    char what[FR__MAX_WORD];

    snprintf(what, sizeof(what), "option '%s' of '%s'", o->name, p->owner);
    switch (o->type) {
    case FR_OPTION_COUNT:
        return fr__parse_count(text, what, FR_NOWHERE, 0, UINT32_MAX - 1, out, err);
    case FR_OPTION_BYTES:
        return fr__parse_bytes(text, what, FR_NOWHERE, out, err);
    case FR_OPTION_CHOICE:
        return parse_choice(o, what, text, out, err);
    case FR_OPTION_TEXT:
    case FR_OPTION_FILE:
        return keep_text(p, option, what, text, err);
    default:
        if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s is \"%s\", not 0 or 1", what, text);
        *out = text[0] == '1';
        return FR_OK;
    }
}

enum fr_status fr__values_begin(struct fr__values_parsing *p, const char *owner,
                                const struct fr_option *options, struct fr_option_values *values,
                                struct fr_error *err)
{
    *values = (struct fr_option_values){.value = {0}};
    *p = (struct fr__values_parsing){.owner = owner, .options = options, .values = values};
    for (size_t i = 0; options[i].name; i++)
        FR_TRY(fr__value_parse(p, i, options[i].fallback, err));
    return FR_OK;
}

enum fr_status fr__values_default(const char *owner, const struct fr_option *options,
                                  struct fr_option_values *values, struct fr_error *err)
{
    struct fr__values_parsing p;

    return fr__values_begin(&p, owner, options, values, err);
}
