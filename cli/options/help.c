/* cli/options/help.c - help on every level, made from the tables. */
#include "config.h"

#include "cli/cli.h"

#include <string.h>

static const char *const exit_statuses =
    "Exit status: 0 done; 1 something failed while running; 2 wrong usage or bad input;\n"
    "3 done, but nothing fits in memory; 130 interrupted.\n";

void cli_print_help(FILE *f, const struct verb verbs[], size_t n)
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
        cli_print_row(f, name, 15, verbs[i].summary);
    }
    fputs("\n'forerun help COMMAND' says more. Try:\n\n"
          "  forerun compare -w vgg19 -t dgx1-v100 -g 4 -b 64\n\n",
          f);
    fputs(exit_statuses, f);
}

void cli_print_group_help(FILE *f, const struct verb verbs[], size_t n, const char *group)
{
    char name[64];

    fprintf(f, "Usage: forerun %s COMMAND [OPTION]...\n\nCommands:\n", group);
    for (size_t i = 0; i < n; i++) {
        if (!verbs[i].group || strcmp(verbs[i].group, group) != 0)
            continue;
        snprintf(name, sizeof(name), "%s %s", verbs[i].name, verbs[i].arguments);
        cli_print_row(f, name, 24, verbs[i].summary);
    }
    fputs("\nExamples:\n", f);
    for (size_t i = 0; i < n; i++)
        if (verbs[i].group && strcmp(verbs[i].group, group) == 0)
            fputs(verbs[i].examples, f);
}

static void print_strategies(FILE *f)
{
    const struct fr_strategy *s;

    fputs("\nStrategies and their options (with defaults):\n", f);
    for (size_t i = 0; (s = fr_strategy_at(i)) != NULL; i++) {
        cli_print_row(f, s->name, 14, s->summary);
        for (const struct fr_option *o = s->options; o && o->name; o++) {
            char name[64];

            snprintf(name, sizeof(name), "  %s=%s", o->name, o->fallback ? o->fallback : "");
            fprintf(f, "  %-24s  %s%s%s%s\n", name, o->help, o->choices ? " (" : "",
                    o->choices ? o->choices : "", o->choices ? ")" : "");
        }
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

static void print_formats(FILE *f, const char *(*format)(size_t i, const char **summary))
{
    const char *ending, *summary;

    fputs("\nOutput files, by ending:\n", f);
    for (size_t i = 0; (ending = format(i, &summary)) != NULL; i++)
        cli_print_row(f, ending, 14, summary);
}

void cli_print_verb_help(FILE *f, const struct verb *v)
{
    fprintf(f, "Usage: forerun %s%s%s %s%s[OPTION]...\n\n", v->group ? v->group : "",
            v->group ? " " : "", v->name, v->arguments, v->arguments[0] ? " " : "");
    fprintf(f, "%s\n\nOptions:\n", v->summary);
    cli_print_options(f, v->options);
    if (v->options & OPTIONS_SWEEP)
        print_grid(f);
    if (v->options & OPTIONS_PROBLEM)
        print_strategies(f);
    if (v->options & OPTIONS_FILES)
        print_formats(f, v->options & OPTIONS_SWEEP   ? fr_sweep_format
                         : v->options & OPTIONS_LEARN ? fr_learning_format
                         : v->options & OPTIONS_DIFF  ? fr_difference_format
                                                      : fr_results_format);
    fprintf(f, "\nExamples:\n%s\n%s", v->examples, exit_statuses);
}
