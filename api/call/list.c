/* api/call/list.c - the verbs and their options as JSON: other languages make their functions of
 * it. */
#include "config.h"

#include "api/call/reply.h"
#include "api/verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

/* What a value is, by the word that stands for it in help. */
static const char *type_of(const struct fr__option *o)
{
    static const struct {
        const char *argument, *type;
    } types[] = {{.argument = "N", .type = "count"},       {.argument = "X", .type = "number"},
                 {.argument = "FACTOR", .type = "number"}, {.argument = "PART", .type = "number"},
                 {.argument = "SIZE", .type = "size"},     {.argument = "TIME", .type = "time"},
                 {.argument = "FILE", .type = "path"}};

    if (!o->argument)
        return "flag";
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(o->argument, types[i].argument) == 0)
            return types[i].type;
    return "text";
}

/* What a setting of a question is if nobody says otherwise; NULL: the option is none, or there is
 * no memory. The caller frees it. */
static char *setting_default(const struct fr__option *o)
{
    struct fr_question q;

    fr_question_init(&q);
    for (size_t i = 0; o->is_setting && fr_question_setting(i); i++)
        if (strcmp(fr_question_setting(i), o->name) == 0)
            return fr_question_text(&q, i);
    return NULL;
}

static void list_option(struct fr__json *j, const struct fr__option *o)
{
    char letter[2] = {o->letter, '\0'}, *text = o->fallback ? NULL : setting_default(o);

    fr__json_open(j, NULL, '{', true);
    fr__json_string(j, "name", o->name);
    fr__json_string(j, "letter", o->letter ? letter : NULL);
    fr__json_string(j, "type", type_of(o));
    fr__json_string(j, "argument", o->argument);
    fr__json_string(j, "default", o->argument ? (o->fallback ? o->fallback : text) : NULL);
    fr__json_bool(j, "several", o->adds_up);
    fr__json_string(j, "help", o->help);
    fr__json_close(j, '}');
    free(text);
}

void fr__list_verbs(FILE *f)
{
    size_t n;
    const struct fr__verb *verbs = fr__verbs(&n);
    struct fr__option o;
    struct fr__json j;
    char name[64];

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '[', false);
    for (size_t i = 0; i < n; i++) {
        fr__json_open(&j, NULL, '{', false);
        fr__json_string(&j, "verb", fr__verb_name(&verbs[i], name, sizeof(name)));
        fr__json_string(&j, "summary", verbs[i].summary);
        fr__json_string(&j, "arguments", verbs[i].arguments);
        fr__json_count(&j, "least_arguments", verbs[i].n_arguments);
        fr__json_bool(&j, "more_arguments", verbs[i].has_more_arguments);
        fr__json_open(&j, "options", '[', false);
        for (size_t at = 0; fr__options_next(verbs[i].options, &at, &o);)
            if (strcmp(o.name, "help") != 0 && strcmp(o.name, "version") != 0)
                list_option(&j, &o);
        fr__json_close(&j, ']');
        fr__json_close(&j, '}');
    }
    fr__json_close(&j, ']');
}
