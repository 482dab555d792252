/* study/advice/options.c - options of a strategy that make a question fit, alone or two together.
 *
 * A remedy is an option with a value. Of an option's values, and of the pairs that two options
 * make, the mildest that fits is kept; what fits alone is in no pair.
 */
#include "config.h"

#include "base/error.h"
#include "study/advice/adviser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_REMEDIES = 24,
    MOST_FITS = 16,
    MOST_ANSWERED = 32, /* simulations of one strategy, */
    MOST_OVERFULL = 64, /* and plans that need none */
    MOST_SHOWN = 4,
    MOST_DOUBLED = 64,
    VALUE_SIZE = 24,
    SPEC_SIZE = 128
};

struct remedy {
    const struct fr_option *option;
    char value[VALUE_SIZE];
    bool is_in_pairs; /* it does not fit alone, and it could be simulated */
};

/* What fits: one remedy, or two. */
struct fit {
    const struct remedy *first, *second; /* second: NULL, or of another option */
    struct trial trial;
    char spec[SPEC_SIZE];
};

struct search {
    struct adviser *a;
    const char *spec;
    struct remedy remedies[MOST_REMEDIES];
    size_t n_remedies;
    struct fit fits[MOST_FITS];
    size_t n_fits;
    unsigned n_answered, n_overfull;
};

/* ---- specs ---- */

/* The place in the spec where the option's name begins; NULL: it is not there. */
static const char *find_in_spec(const char *spec, const char *name)
{
    const char *at = strchr(spec, ':');
    size_t n = strlen(name);

    while (at && (strncmp(at + 1, name, n) != 0 || at[1 + n] != '='))
        at = strchr(at + 1, ',');
    return at ? at + 1 : NULL;
}

/* Writes the spec with the remedy in place of the option's value; false: no room. */
static bool change_option(const char *spec, const struct remedy *r, char *out, size_t size)
{
    const char *name = r->option->name, *old = find_in_spec(spec, name);
    int before = old ? (int)(old - spec) : (int)strlen(spec);
    const char *after = old ? old + strcspn(old, ",") : "";
    int n = snprintf(out, size, "%.*s%s%s=%s%s", before, spec,
                     old                 ? ""
                     : strchr(spec, ':') ? ","
                                         : ":",
                     name, r->value, after);

    return n >= 0 && (size_t)n < size;
}

/* The option's value in the spec, or its default. */
static void value_in_spec(const char *spec, const struct fr_option *o, char *out)
{
    const char *at = find_in_spec(spec, o->name);
    const char *text = at ? at + strlen(o->name) + 1 : o->fallback;

    snprintf(out, VALUE_SIZE, "%.*s", (int)strcspn(text, ","), text);
}

/* ---- remedies ---- */

static void add_remedy(struct search *s, const struct fr_option *o, const char *value, size_t n)
{
    struct remedy *r = &s->remedies[s->n_remedies];

    if (s->n_remedies == MOST_REMEDIES || n >= VALUE_SIZE)
        return;
    *r = (struct remedy){.option = o};
    memcpy(r->value, value, n);
    s->n_remedies++;
}

static void add_doubled(struct search *s, const struct fr_option *o)
{
    char value[VALUE_SIZE];
    uint64_t n;

    value_in_spec(s->spec, o, value);
    n = strtoull(value, NULL, 10);
    while (n > 0 && n <= MOST_DOUBLED / 2) {
        n *= 2;
        snprintf(value, sizeof(value), "%" PRIu64, n);
        add_remedy(s, o, value, strlen(value));
    }
}

/* The values of the list that come after the one that is there. */
static void add_least(struct search *s, const struct fr_option *o)
{
    char value[VALUE_SIZE];
    size_t before = s->n_remedies;

    value_in_spec(s->spec, o, value);
    for (const char *at = o->advice_text; *at;) {
        size_t n = strcspn(at, "|");

        if (strlen(value) == n && strncmp(at, value, n) == 0)
            s->n_remedies = before;
        else
            add_remedy(s, o, at, n);
        at += n;
        at += *at == '|';
    }
}

static void collect(struct search *s, const struct fr_strategy *strategy, bool with_doubled)
{
    for (const struct fr_option *o = strategy->options; o->name; o++)
        if (o->advice == FR_ADVICE_LEAST)
            add_least(s, o);
        else if (o->advice == FR_ADVICE_DOUBLE && with_doubled)
            add_doubled(s, o);
}

/* ---- trials ---- */

/* Whether milder remedies of the same options fit. second may be NULL. */
static bool is_needless(const struct search *s, const struct remedy *first,
                        const struct remedy *second)
{
    for (size_t i = 0; i < s->n_fits; i++) {
        const struct fit *f = &s->fits[i];

        if (f->first->option == first->option && f->first <= first && !f->second == !second &&
            (!second || (f->second->option == second->option && f->second <= second)))
            return true;
    }
    return false;
}

static enum fr_status try_remedies(struct search *s, const struct remedy *first,
                                   const struct remedy *second, struct trial *out)
{
    struct fit *f = &s->fits[s->n_fits];
    struct fr_question q = s->a->question;
    char spec[SPEC_SIZE];

    *out = (struct trial){0};
    if (s->n_fits == MOST_FITS || is_needless(s, first, second))
        return FR_OK;
    if (s->n_answered == MOST_ANSWERED || s->n_overfull == MOST_OVERFULL) {
        s->a->is_cut_short = true;
        return FR_OK;
    }
    *f = (struct fit){.first = first, .second = second};
    if (!change_option(s->spec, first, second ? spec : f->spec, SPEC_SIZE) ||
        (second && !change_option(spec, second, f->spec, SPEC_SIZE)))
        return FR_OK;
    q.strategy = f->spec;
    FR_TRY(fr__advice_try(s->a, s->a->setting, &q, out));
    f->trial = *out;
    s->n_answered += out->is_answered && !out->is_overfull;
    s->n_overfull += out->is_overfull;
    s->n_fits += out->fits;
    return FR_OK;
}

static enum fr_status try_all(struct search *s)
{
    struct trial t;

    for (size_t i = 0; i < s->n_remedies; i++) {
        FR_TRY(try_remedies(s, &s->remedies[i], NULL, &t));
        s->remedies[i].is_in_pairs = t.is_answered && !t.fits;
    }
    for (size_t i = 0; i < s->n_remedies; i++)
        for (size_t k = i + 1; k < s->n_remedies; k++)
            if (s->remedies[i].is_in_pairs && s->remedies[k].is_in_pairs &&
                s->remedies[i].option != s->remedies[k].option)
                FR_TRY(try_remedies(s, &s->remedies[i], &s->remedies[k], &t));
    return FR_OK;
}

/* ---- what is shown ---- */

static int by_speed(const void *x, const void *y)
{
    const struct fit *a = x, *b = y;

    if (a->trial.samples_per_s != b->trial.samples_per_s)
        return a->trial.samples_per_s > b->trial.samples_per_s ? -1 : 1;
    return strcmp(a->spec, b->spec);
}

static int describe(const struct remedy *r, char *out, size_t size)
{
    return r->option->advice == FR_ADVICE_DOUBLE
               ? snprintf(out, size, "%s %s", r->value, r->option->advice_text)
               : snprintf(out, size, "%s=%s", r->option->name, r->value);
}

static enum fr_status show(struct search *s, bool is_asked)
{
    qsort(s->fits, s->n_fits, sizeof(s->fits[0]), by_speed);
    for (size_t i = 0; i < s->n_fits && i < MOST_SHOWN; i++) {
        const struct fit *f = &s->fits[i];
        char change[2 * SPEC_SIZE], second[SPEC_SIZE], options[SPEC_SIZE + 3];

        if (!is_asked) {
            snprintf(change, sizeof(change), "strategy %s", f->spec);
        } else {
            int n = describe(f->first, change, SPEC_SIZE);

            if (f->second) {
                describe(f->second, second, sizeof(second));
                snprintf(change + n, sizeof(change) - (size_t)n, " and %s", second);
            }
        }
        snprintf(options, sizeof(options), "-s %s", f->spec);
        FR_TRY(fr__advice_add(s->a, &f->trial, change, options, false));
    }
    return FR_OK;
}

enum fr_status fr__advise_options(struct adviser *a, const struct fr_strategy *strategy,
                                  const char *spec, bool is_asked)
{
    struct search s = {.a = a, .spec = spec};

    collect(&s, strategy, is_asked || strategy->folds);
    FR_TRY(try_all(&s));
    return show(&s, is_asked);
}
