/* strategies/spec.c - reads a strategy as people write it, "name:key=value,...". */
#include "config.h"

#include "base/error.h"
#include "base/names.h"
#include "strategies/plugin.h"
#include "strategies/strategies.h"
#include "lowering/values.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_NAME = 128, /* bytes of a name, terminator included */
    MAX_STRATEGIES = 128
};

static enum fr_status find_strategy(const char *name, const struct fr_strategy **out,
                                    struct fr_error *err)
{
    const char *names[MAX_STRATEGIES];
    const struct fr_strategy *s;
    char hint[FR__MAX_WORD];
    const struct fr_strategy_alias *alias = fr_strategy_alias_of(name);
    size_t n = 0;

    for (; n < MAX_STRATEGIES && (s = fr_strategy_at(n)) != NULL; n++) {
        names[n] = s->name;
        if (strcmp(name, names[n]) == 0) {
            *out = s;
            return FR_OK;
        }
    }
    if (!name[0])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no strategy given");
    if (alias)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no strategy is called '%s': %s", name,
                        alias->says);
    for (size_t i = 0; n < MAX_STRATEGIES && (alias = fr_strategy_alias_at(i)) != NULL; i++)
        names[n++] = alias->name;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unknown strategy '%s'%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

static enum fr_status find_option(const struct fr_strategy *s, const char *name, size_t *out,
                                  struct fr_error *err)
{
    const char *names[FR_MAX_OPTIONS];
    char hint[FR__MAX_WORD];
    size_t n = 0;

    for (; s->options[n].name; n++) {
        names[n] = s->options[n].name;
        if (strcmp(name, names[n]) == 0) {
            *out = n;
            return FR_OK;
        }
    }
    if (n == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "strategy '%s' has no options, so no '%s'",
                        s->name, name);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "strategy '%s' has no option '%s'%s", s->name, name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

static enum fr_status parse_option(struct fr__values_parsing *p, const struct fr_strategy *s,
                                   const char **at, struct fr_error *err)
{
    struct fr__word key, value;
    size_t i = 0;

    FR_TRY(fr__word_read(at, "=,", "an option's name", MAX_NAME, &key, err));
    if (!key.text[0])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "an option of strategy '%s' has no name (expected key=value)", s->name);
    FR_TRY(find_option(s, key.text, &i, err));
    if (**at != '=')
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' of '%s' has no value", key.text,
                        s->name);
    ++*at;
    FR_TRY(fr__word_read(at, ",", "an option's value", FR__MAX_WORD, &value, err));
    if (!value.text[0])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' of '%s' has no value", key.text,
                        s->name);
    if (p->values->is_set[i])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' of '%s' is given twice", key.text,
                        s->name);
    FR_TRY(fr__value_parse(p, i, value.text, err));
    p->values->is_set[i] = true;
    return FR_OK;
}

/* A value that cannot be read is wrong usage, whatever the number readers call it. */
static enum fr_status as_usage(enum fr_status st, struct fr_error *err)
{
    if (st != FR_EPARSE && st != FR_ERANGE)
        return st;
    if (err)
        err->code = FR_EUSAGE;
    return FR_EUSAGE;
}

/* Options to the end of the text, which begins with ':' or ','. */
static enum fr_status parse_options(struct fr__values_parsing *p, const struct fr_strategy *s,
                                    const char *at, struct fr_error *err)
{
    while (*at) {
        at++;
        FR_TRY(parse_option(p, s, &at, err));
    }
    return FR_OK;
}

/* Whether the text begins with the name of a strategy itself. */
static bool is_strategy(const char *spec)
{
    size_t n = strcspn(spec, ":");
    const struct fr_strategy *s;

    for (size_t i = 0; (s = fr_strategy_at(i)) != NULL; i++)
        if (strlen(s->name) == n && strncmp(s->name, spec, n) == 0)
            return true;
    return false;
}

static enum fr_status parse(const char *spec, const struct fr_strategy **out,
                            struct fr_option_values *values, struct fr_error *err)
{
    const struct fr_strategy_alias *alias = fr_strategy_alias_of(spec);
    const struct fr_strategy *found = NULL;
    struct fr__values_parsing p;
    const char *more = NULL; /* options behind an alias */
    char path[FR__PLUGIN_PATH];
    struct fr__word name;

    if (alias && alias->spec[0] && !is_strategy(spec)) {
        more = spec + strcspn(spec, ":");
        spec = alias->spec;
    }

    *values = (struct fr_option_values){.value = {0}};
    /* a path may be longer than a name */
    FR_TRY(fr__word_read(&spec, ":", "a strategy's name",
                         fr__plugin_path(spec, path, sizeof(path)) ? FR__MAX_WORD : MAX_NAME, &name,
                         err));
    if (fr__is_plugin(name.text))
        FR_TRY(fr__plugin_load(&found, name.text, err));
    else
        FR_TRY(find_strategy(name.text, &found, err));
    FR_TRY(fr__values_begin(&p, found->name, found->options, values, err));
    FR_TRY(parse_options(&p, found, spec, err));
    if (more)
        FR_TRY(parse_options(&p, found, more, err));
    for (size_t i = 0; found->required_option && found->options[i].name; i++)
        if (strcmp(found->options[i].name, found->required_option) == 0 && !values->is_set[i])
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "strategy '%s' needs its option: %s:%s=... (%s)", found->name,
                            found->name, found->required_option, found->options[i].help);
    *out = found;
    return FR_OK;
}

enum fr_status fr_strategy_parse(const char *spec, const struct fr_strategy **out,
                                 struct fr_option_values *values, struct fr_error *err)
{
    const struct fr_strategy *found = NULL;
    enum fr_status st = as_usage(parse(spec, &found, values, err), err);

    if (st == FR_OK)
        *out = found;
    return st;
}

enum fr_status fr_strategy_fill(const struct fr_strategy *s, struct fr_option_values *values,
                                const char *option, const char *text, bool *has,
                                struct fr_error *err)
{
    struct fr__values_parsing p = {.owner = s->name, .options = s->options, .values = values};

    *has = false;
    for (size_t i = 0; s->options[i].name; i++) {
        if (strcmp(s->options[i].name, option) != 0 || s->options[i].type == FR_OPTION_TEXT ||
            s->options[i].type == FR_OPTION_FILE)
            continue;
        *has = true;
        return values->is_set[i] ? FR_OK : as_usage(fr__value_parse(&p, i, text, err), err);
    }
    return FR_OK;
}
