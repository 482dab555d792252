/* cli/options/help.c - help on every level, made from the tables. */
#include "config.h"

#include "cli/cli.h"
#include "base/units.h"
#include "study/recipes/recipe.h"

#include <string.h>
#include <strings.h>

static const char *const exit_statuses =
    "Exit status: 0 done; 1 something failed while running; 2 wrong usage or bad input;\n"
    "3 done, but nothing fits in memory; 130 interrupted.\n";

void cli_print_help(FILE *f, const struct fr__verb verbs[], size_t n)
{
    char name[64];

    fputs(
        "Usage: forerun COMMAND [OPTION]...\n\n"
        "Runs a distributed training job before anyone rents the GPUs: predicts the time and the\n"
        "memory of one training iteration and shows where the time goes.\n\n"
        "Commands:\n",
        f);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "%s%s%s", verbs[i].group ? verbs[i].group : "",
                 verbs[i].group ? " " : "", verbs[i].name);
        fr__print_row(f, name, 15, verbs[i].summary);
    }
    fputs("\n'forerun help COMMAND' says more. Try:\n\n"
          "  forerun compare -w vgg19 -t dgx1-v100 -g 4 -b 64\n\n",
          f);
    fputs(exit_statuses, f);
}

void cli_print_group_help(FILE *f, const struct fr__verb verbs[], size_t n, const char *group)
{
    char name[64];

    fprintf(f, "Usage: forerun %s COMMAND [OPTION]...\n\nCommands:\n", group);
    for (size_t i = 0; i < n; i++) {
        if (!verbs[i].group || strcmp(verbs[i].group, group) != 0)
            continue;
        snprintf(name, sizeof(name), "%s %s", verbs[i].name, verbs[i].arguments);
        fr__print_row(f, name, 24, verbs[i].summary);
    }
    fputs("\nExamples:\n", f);
    for (size_t i = 0; i < n; i++)
        if (verbs[i].group && strcmp(verbs[i].group, group) == 0)
            fputs(verbs[i].examples, f);
}

static void print_strategy_options(FILE *f, const struct fr_strategy *s)
{
    for (const struct fr_option *o = s->options; o && o->name; o++) {
        char name[64];

        snprintf(name, sizeof(name), "  %s=%s", o->name, o->fallback ? o->fallback : "");
        fprintf(f, "  %-24s  %s%s%s%s\n", name, o->help, o->choices ? " (" : "",
                o->choices ? o->choices : "", o->choices ? ")" : "");
    }
}

static void print_strategies(FILE *f)
{
    const struct fr_strategy *s;

    fputs("\nStrategies and their options (with defaults):\n", f);
    for (size_t i = 0; (s = fr_strategy_at(i)) != NULL; i++) {
        fr__print_row(f, s->name, 14, s->summary);
        print_strategy_options(f, s);
    }
}

static void print_grid(FILE *f)
{
    fputs("\nThe grid: options that say what to simulate may be given several times; -w, -t and -s "
          "know\n"
          "\"all\". Numbers and words may be lists, 1,2,4,8, and counts ranges: 1..8 by one, "
          "16..64+16 by\n"
          "a step, 1..64x2 by a factor. Options of strategies take grids with |: "
          "-s NAME:micro=4|8.\n"
          "--seed 0..19 answers each point with all these seeds: mean, standard error, min, max.\n"
          "\nColumns, for --columns:",
          f);
    for (size_t i = 0; fr_sweep_column_name(i); i++)
        fprintf(f, "%s%s%s", i ? "," : "", i % 9 ? " " : "\n  ", fr_sweep_column_name(i));
    fputc('\n', f);
}

static const char *format_of(const struct fr__verb *v, size_t i, const char **summary)
{
    return v->format ? v->format(i, summary) : fr_kind_ending(v->kind, i, summary);
}

static void print_formats(FILE *f, const struct fr__verb *v)
{
    const char *ending, *summary;

    if (format_of(v, 0, &summary))
        fputs("\nOutput files, by ending:\n", f);
    for (size_t i = 0; (ending = format_of(v, i, &summary)) != NULL; i++)
        fr__print_row(f, ending, 14, summary);
}

/* ---- short help: what fits a screen ---- */

enum { SCREEN = 24, SHORT_EXAMPLES = 2 };

/* Options that most questions need, of whatever verb; the others stand in the whole help. */
static bool is_usual(const char *name)
{
    static const char *const names[] = {"workload",  "topology",  "gpus",   "strategy", "batch",
                                        "precision", "optimizer", "recipe", "tokens",   "price",
                                        "deadline",  "explain",   "output", "json",     "top",
                                        "fix",       "store"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static size_t count_options(uint64_t groups)
{
    struct fr__option row;
    size_t n = 0;

    for (size_t at = 0; fr__options_next(groups, &at, &row);)
        n++;
    return n;
}

/* Names alone, in lines. */
static void print_strategy_names(FILE *f)
{
    const struct fr_strategy *s;
    size_t column = 0;

    for (size_t i = 0; (s = fr_strategy_at(i)) != NULL; i++) {
        size_t n = strlen(s->name) + 1;

        if (column == 0 || column + n > 76)
            column = (size_t)fprintf(f, column ? "\n " : "Strategies:");
        column += (size_t)fprintf(f, " %s", s->name);
    }
    putc('\n', f);
}

/* The first so many examples; one may go on in the next line. */
static void print_examples(FILE *f, const char *examples, size_t most)
{
    for (size_t n = 0; *examples && n < most;) {
        size_t length = strcspn(examples, "\n");

        fprintf(f, "%.*s\n", (int)length, examples);
        n += length == 0 || examples[length - 1] != '\\';
        examples += length + (examples[length] == '\n');
    }
}

/* The endings of files that the verb writes, which the whole help lists below the options. Returns
 * how many. */
static size_t list_endings(char *help, size_t n, const struct fr__verb *v)
{
    const char *ending, *summary;
    size_t used = (size_t)snprintf(help, n, "also write files, by their ending:"), i = 0;

    for (; (ending = format_of(v, i, &summary)) != NULL && used < n; i++)
        used += (size_t)snprintf(help + used, n - used, " %s", ending);
    return i;
}

/* Rows about the options of the verb, all or the usual ones. */
static void print_options(FILE *f, const struct fr__verb *v, bool is_whole)
{
    struct fr__option row;
    char left[64], help[300];

    for (size_t at = 0; fr__options_next(v->options, &at, &row);) {
        if (!is_whole && !is_usual(row.name))
            continue;
        snprintf(left, sizeof(left), "%c%c%c --%s%s%s", row.letter ? '-' : ' ',
                 row.letter ? row.letter : ' ', row.letter ? ',' : ' ', row.name,
                 row.argument ? " " : "", row.argument ? row.argument : "");
        if (is_whole || strcmp(row.name, "output") != 0 || list_endings(help, sizeof(help), v) == 0)
            snprintf(help, sizeof(help), "%s", row.help);
        fr__print_row(f, left, is_whole ? 38 : 34, help);
    }
}

static void print_short_help(FILE *f, const struct fr__verb *v)
{
    print_options(f, v, false);
    if (v->options & OPTIONS_PROBLEM)
        print_strategy_names(f);
    fputs("Examples:\n", f);
    print_examples(f, v->examples, SHORT_EXAMPLES);
    fprintf(f, "All %zu options: forerun help %s%s%s --all", count_options(v->options),
            v->group ? v->group : "", v->group ? " " : "", v->name);
    fputs(v->options & OPTIONS_PROBLEM ? "; a strategy's: forerun help hybrid\n" : "\n", f);
}

void cli_print_verb_help(FILE *f, const struct fr__verb *v, bool is_whole)
{
    fprintf(f, "Usage: forerun %s%s%s %s%s[OPTION]...\n\n", v->group ? v->group : "",
            v->group ? " " : "", v->name, v->arguments, v->arguments[0] ? " " : "");
    fprintf(f, "%s\n\nOptions:\n", v->summary);
    if (!is_whole && count_options(v->options) > SCREEN - 4) {
        print_short_help(f, v);
        return;
    }
    print_options(f, v, true);
    if (v->options & OPTIONS_SWEEP)
        print_grid(f);
    if (v->options & OPTIONS_PROBLEM)
        print_strategies(f);
    print_formats(f, v);
    fprintf(f, "\nExamples:\n%s\n%s", v->examples, exit_statuses);
}

bool cli_wants_whole_help(int n, char *const words[])
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], "--all") == 0)
            return true;
    return false;
}

/* ---- help on words that are no command ---- */

static bool print_strategy_help(FILE *f, const char *word)
{
    const struct fr_strategy_alias *alias = fr_strategy_alias_of(word);
    const struct fr_strategy *s;
    size_t n;

    for (size_t i = 0; (s = fr_strategy_at(i)) != NULL && strcmp(s->name, word) != 0; i++)
        ;
    if (!s && !alias)
        return false;
    if (!s && !alias->spec[0]) {
        fprintf(f, "No strategy is called '%s': %s\n", word, alias->says);
        return true;
    }
    if (!s) {
        fprintf(f, "'%s' stands for %s: %s\n\n", word, alias->spec, alias->says);
        n = strcspn(alias->spec, ":");
        for (size_t i = 0; (s = fr_strategy_at(i)) != NULL &&
                           (strlen(s->name) != n || strncmp(s->name, alias->spec, n) != 0);
             i++)
            ;
    }
    if (!s)
        return true;
    fprintf(f, "Strategy %s: %s\nSource: %s\n", s->name, s->summary, s->source);
    fprintf(f,
            s->options && s->options[0].name ? "\nOptions, -s %s:KEY=VALUE,... (with defaults):\n"
                                             : "\nIt has no options: -s %s\n",
            s->name);
    print_strategy_options(f, s);
    return true;
}

/* What the data sheet says of a GPU. */
static void print_gpu_facts(FILE *f, const struct fr_device_type *t)
{
    enum fr_dtype half = fr_device_type_arithmetic(t, FR_FP16);
    char memory[32], bandwidth[32];

    fprintf(f, "%s has %s of memory at %s; fp32 %.4g TFLOP/s", t->name,
            fr__format_bytes((double)t->mem_bytes, memory, sizeof(memory)),
            fr__format_rate(t->mem_Bps, bandwidth, sizeof(bandwidth)),
            t->flops_per_s[FR_FP32] / 1e12);
    if (half != FR_FP32)
        fprintf(f, ", %s %.4g TFLOP/s", fr_dtype_name(half), t->flops_per_s[half] / 1e12);
    putc('\n', f);
}

/* "a100", "8xh100", "a10g": a GPU in a machine that has a name, or a card. */
static bool print_gpu_help(FILE *f, const char *word)
{
    const struct fr_device_type *t = fr_device_type_find(word);
    const struct fr_topo_alias *a;
    struct fr_topo *topo;

    for (size_t i = 0; (a = fr_topo_alias_at(i)) != NULL; i++)
        if (a->gpus[0] && strcasecmp(a->name, word) == 0)
            break;
    if (a) {
        fprintf(f, "'%s' is a GPU, %s; %s of them are in the machine %s\n", word, a->says, a->gpus,
                a->preset);
        if (fr_topo_load(&topo, a->preset, NULL) == FR_OK) {
            for (size_t d = 0; d < topo->n_devices; d++)
                if (topo->types[topo->devices[d].type].is_gpu) {
                    print_gpu_facts(f, &topo->types[topo->devices[d].type]);
                    break;
                }
            fr_topo_free(topo);
        }
        fprintf(f,
                "Example: forerun simulate -w resnet50 -t %s -g 2 -b 128 -s dp\n"
                "More: forerun topo show %s\n",
                a->preset, a->preset);
        return true;
    }
    if (!t || !t->is_gpu)
        return false;
    fprintf(f, "'%s' is a GPU; a machine of eight such cards is box:8x%s\n", word, word);
    print_gpu_facts(f, t);
    fprintf(f,
            "Example: forerun simulate -w resnet50 -t box:8x%s -g 2 -b 128 -s dp\n"
            "More: forerun topo show box:8x%s\n",
            word, word);
    return true;
}

/* "nccl", "ring": how collectives go. */
static bool print_collective_help(FILE *f, const char *word)
{
    static const char nccl[] = "nccl";
    const char *name = nccl, *summary = "what NCCL's tuner would take, each collective by itself";

    for (size_t i = 0; name && strcasecmp(name, word) != 0; i++) {
        name = fr_collective_algorithm_name(i);
        summary = name ? fr_collective_algorithm_summary(i) : NULL;
    }
    if (!name)
        return false;
    fprintf(f,
            "'%s' is a way in which collectives go: %s\n"
            "Example: forerun comm all-reduce -t dgx1-v100 --collective-algorithm %s\n"
            "More: forerun comm list; forerun help comm\n",
            word, summary, name);
    return true;
}

bool cli_print_word_help(FILE *f, const char *word)
{
    const struct fr_topo_alias *alias = fr_topo_alias_in(word, 0);

    if (print_strategy_help(f, word))
        return true;
    for (size_t i = 0; fr_topo_preset_name(i); i++)
        if (strcmp(fr_topo_preset_name(i), word) == 0) {
            fprintf(f, "'%s' is a machine: %s\nMore: forerun topo show %s\n", word,
                    fr_topo_preset_summary(i), word);
            return true;
        }
    for (size_t i = 0; fr_zoo_name(i); i++)
        if (strcmp(fr_zoo_name(i), word) == 0) {
            fprintf(f, "'%s' is a model: %s\nMore: forerun graph show %s\n", word,
                    fr_zoo_summary(i), word);
            return true;
        }
    for (size_t i = 0; fr_recipe_shipped(i); i++)
        if (strcmp(fr_recipe_shipped(i), word) == 0) {
            fprintf(f, "'%s' is a recipe of software\nMore: forerun recipe show %s\n", word, word);
            return true;
        }
    if (print_gpu_help(f, word) || print_collective_help(f, word))
        return true;
    if (!alias)
        return false;
    fprintf(f, "'%s' stands for the machine %s%s%s: %s\n", word, alias->preset,
            alias->network[0] ? " via " : "", alias->network, alias->says);
    return true;
}
