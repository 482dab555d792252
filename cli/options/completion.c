/* cli/options/completion.c - completes the words of a command line.
 *
 * The shells' functions (api/verbs/completion.c) only hand over the words; what may come next is
 * decided here from the tables of verbs and options, so that a new one is completed without a line
 * more.
 */
#include "config.h"

#include "cli/cli.h"
#include "lowering/schedules/schedule.h"

#include <string.h>

/* What is typed so far. */
struct line {
    const struct fr__verb *verbs;
    size_t n_verbs;
    const char *const *words; /* the last one is being typed, and may be empty */
    size_t n;
};

static void offer(const struct line *l, const char *word)
{
    const char *typed = l->words[l->n - 1];

    if (strncmp(word, typed, strlen(typed)) == 0)
        puts(word);
}

static void offer_all(const struct line *l, const char *(*name_at)(size_t i))
{
    const char *name;

    for (size_t i = 0; (name = name_at(i)) != NULL; i++)
        offer(l, name);
}

static const char *strategy_at(size_t i)
{
    const struct fr_strategy *s = fr_strategy_at(i);

    return s ? s->name : NULL;
}

static const char *collective_at(size_t i)
{
    return i < FR_RING_STEP ? fr_collective_kind_name((enum fr_collective_kind)i) : NULL;
}

/* ---- commands ---- */

/* Names and groups, each once. */
static void offer_commands(const struct line *l)
{
    for (size_t i = 0; i < l->n_verbs; i++) {
        const char *name = l->verbs[i].group ? l->verbs[i].group : l->verbs[i].name;
        bool is_new = true;

        for (size_t k = 0; k < i; k++)
            is_new = is_new &&
                     strcmp(name, l->verbs[k].group ? l->verbs[k].group : l->verbs[k].name) != 0;
        if (is_new)
            offer(l, name);
    }
    offer(l, "help");
}

static void offer_of_group(const struct line *l, const char *group)
{
    for (size_t i = 0; i < l->n_verbs; i++)
        if (l->verbs[i].group && strcmp(l->verbs[i].group, group) == 0)
            offer(l, l->verbs[i].name);
}

/* The verb that the first words name, and how many words that takes; NULL: none. */
static const struct fr__verb *find(const struct line *l, size_t *n_words)
{
    const struct fr__verb *found = NULL;

    for (size_t i = 0; i < l->n_verbs; i++) {
        const struct fr__verb *v = &l->verbs[i];
        size_t n = v->group ? 2 : 1;

        if (l->n <= n || strcmp(l->words[n - 1], v->name) != 0 ||
            (v->group && strcmp(l->words[0], v->group) != 0) || (found && n < *n_words))
            continue;
        found = v;
        *n_words = n;
    }
    return found;
}

/* ---- options and arguments ---- */

/* The option that a word spells; false: none. */
static bool option_of(uint64_t groups, const char *word, struct fr__option *out)
{
    for (size_t at = 0; fr__options_next(groups, &at, out);) {
        bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, out->name) == 0;
        bool is_short = word[0] == '-' && word[1] && word[1] == out->letter && !word[2];

        if (is_long || is_short)
            return true;
    }
    return false;
}

static void offer_options(const struct line *l, uint64_t groups)
{
    struct fr__option option;
    char text[64];

    for (size_t at = 0; fr__options_next(groups, &at, &option);) {
        snprintf(text, sizeof(text), "--%s", option.name);
        offer(l, text);
    }
}

/* Nothing for an option whose values are numbers or files: the shell then offers files. */
static void offer_values(const struct line *l, const char *option)
{
    if (strcmp(option, "workload") == 0)
        offer_all(l, fr_zoo_name);
    else if (strcmp(option, "topology") == 0)
        offer_all(l, fr_topo_preset_name);
    else if (strcmp(option, "strategy") == 0)
        offer_all(l, strategy_at);
    else if (strcmp(option, "collective-algorithm") == 0)
        offer_all(l, fr_collective_algorithm_name);
}

static void offer_arguments(const struct line *l, const struct fr__verb *v)
{
    if (strncmp(v->arguments, "TOPOLOGY", 8) == 0)
        offer_all(l, fr_topo_preset_name);
    else if (strncmp(v->arguments, "WORKLOAD", 8) == 0)
        offer_all(l, fr_zoo_name);
    else if (strncmp(v->arguments, "COLLECTIVE", 10) == 0)
        offer_all(l, collective_at);
}

static void complete(const struct line *l)
{
    size_t n_words = 0;
    const struct fr__verb *v = find(l, &n_words);
    struct fr__option option;

    if (!v && l->n == 1)
        offer_commands(l);
    else if (!v && l->n == 2 && strcmp(l->words[0], "help") == 0)
        offer_commands(l);
    else if (!v && l->n == 2)
        offer_of_group(l, l->words[0]);
    if (!v)
        return;
    if (l->n == n_words + 1 && !v->group)
        offer_of_group(l, v->name);
    if (l->n > n_words + 1 && option_of(v->options, l->words[l->n - 2], &option) && option.argument)
        offer_values(l, option.name);
    else if (l->words[l->n - 1][0] == '-')
        offer_options(l, v->options);
    else
        offer_arguments(l, v);
}

void cli_complete(const struct fr__verb verbs[], size_t n, int argc, char *const argv[])
{
    const struct line l = {verbs, n, (const char *const *)argv, (size_t)argc};

    if (argc > 0)
        complete(&l);
}
