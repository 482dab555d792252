/* results/document/recipe_fit.c - a fitted recipe for people: its parts, its rows, and what to
 * measure next. */
#include "config.h"

#include "results/document/builders.h"

#include "results/parts/number.h"
#include "results/parts/table.h"
#include "study/recipe_fit/recipe_fit.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NUMBER = 40 };

static void percent(char cell[FR__TABLE_CELL], double x, bool has_sign)
{
    char text[NUMBER];

    if (!isnan(x))
        snprintf(cell, FR__TABLE_CELL, "%s%s %%", has_sign && x >= 0 ? "+" : "",
                 fr__fixed(100 * x, 1, text, sizeof(text)));
}

static void milliseconds(char cell[FR__TABLE_CELL], double s)
{
    char text[NUMBER];

    if (!isnan(s))
        snprintf(cell, FR__TABLE_CELL, "%s", fr__fixed(1e3 * s, 3, text, sizeof(text)));
}

/* ---- parts ---- */

/* "1.031 times +- 2.1 %" of a factor, "+0.31 +- 0.11" of what is added. */
static void part_cell(char cell[FR__TABLE_CELL], const char *name, double mean, double deviation)
{
    bool is_factor = strcmp(name, "compute") == 0 || strcmp(name, "host") == 0;
    char a[NUMBER], b[NUMBER];

    if (is_factor)
        snprintf(cell, FR__TABLE_CELL, "%s times +- %s %%", fr__fixed(exp(mean), 3, a, sizeof(a)),
                 fr__fixed(100 * deviation, 1, b, sizeof(b)));
    else
        snprintf(cell, FR__TABLE_CELL, "%s%s +- %s", mean >= 0 ? "+" : "",
                 fr__fixed(mean, 2, a, sizeof(a)), fr__fixed(deviation, 2, b, sizeof(b)));
}

static void fill_part(const void *user, size_t i, struct fr__table_row *row)
{
    static const char *const meanings[FR_RECIPE_FIT_PARTS] = {
        "of what computes", "of host time an op", "of all that is exchanged, hidden or not",
        "of its updates and 5 ms, once a step", "of a read and a write of what is exchanged"};
    const struct fr_recipe_fit_part *p = &((const struct fr_recipe_fit *)user)->parts[i];

    fr__table_text(row->cell[0], p->name);
    part_cell(row->cell[1], p->name, p->believed_mean, p->believed_deviation);
    part_cell(row->cell[2], p->name, p->mean, p->deviation);
    fr__table_text(row->cell[3], meanings[i]);
}

/* ---- rows ---- */

static void fill_row(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_recipe_fit_row *r = &((const struct fr_recipe_fit *)user)->rows[i];

    fr__table_text(row->cell[0], r->id);
    snprintf(row->cell[1], FR__TABLE_CELL, "%" PRIu64, r->gpus);
    snprintf(row->cell[2], FR__TABLE_CELL, "%" PRIu64, r->global_batch);
    milliseconds(row->cell[3], r->measured_s);
    milliseconds(row->cell[4], r->before_s);
    milliseconds(row->cell[5], r->after_s);
    milliseconds(row->cell[6], r->low_s);
    milliseconds(row->cell[7], r->high_s);
    percent(row->cell[8], r->error_after, true);
}

static void say_odd_steps(struct fr__document *doc, const struct fr_recipe_fit *f)
{
    char error[NUMBER], weight[NUMBER];

    for (size_t i = 0; i < f->n_rows; i++)
        if (f->rows[i].weight < 0.3)
            fr__say(
                doc,
                "\nrow '%.60s' contradicts the others (%s %% off), and counts as %s of a step\n",
                f->rows[i].id, fr__fixed(100 * f->rows[i].error_after, 1, error, sizeof(error)),
                fr__fixed(f->rows[i].weight, 2, weight, sizeof(weight)));
}

/* ---- next ---- */

static void say_next(struct fr__document *doc, const struct fr_recipe_fit *f)
{
    bool have_questions = f->n_steps < f->n_rows;
    char text[NUMBER];

    if (f->n_next == 0)
        return;
    fr__say(doc, "\nranges of %s are %s %% wide in the mean; one more step would leave\n",
            have_questions ? "the rows without a time" : "these rows",
            fr__fixed(100 * f->next[0].width_before, 1, text, sizeof(text)));
    for (size_t i = 0; i < f->n_next; i++) {
        const struct fr_recipe_fit_next *x = &f->next[i];

        fr__say(doc, "  %s %%: %" PRIu64 " GPU%s, %" PRIu64 " sample%s, %s, else as row '%.60s'\n",
                fr__fixed(100 * x->width_after, 1, text, sizeof(text)), x->gpus,
                x->gpus == 1 ? "" : "s", x->global_batch, x->global_batch == 1 ? "" : "s",
                x->strategy, x->like);
    }
}

enum fr_status fr__document_of_recipe_fit(struct fr__document *doc, const void *what,
                                          struct fr_error *err)
{
    static const struct fr__table_column parts[] = {
        {"part", false}, {"believed before", true}, {"with these steps", true}, {"", false}};
    static const struct fr__table_column rows[] = {
        {"row", false},      {"GPUs", true},      {"batch", true},
        {"measured", true},  {"simulated", true}, {"with it, ms", true},
        {"90 % from", true}, {"to", true},        {"error", true}};
    const struct fr_recipe_fit *f = what;

    fr__say(doc, "%zu measured step%s on top of %s\n\n", f->n_steps, f->n_steps == 1 ? "" : "s",
            f->base ? f->base : "no recipe");
    fr__say_table(doc, &(struct fr__table){parts, 4, FR_RECIPE_FIT_PARTS, fill_part, f}, 0);
    fr__say(doc, "\n");
    fr__say_table(doc, &(struct fr__table){rows, 9, f->n_rows, fill_row, f}, 0);
    say_odd_steps(doc, f);
    if (f->lacks_network)
        fr__say(doc, "\nno measured step is on several machines: what an exchange between machines "
                     "takes is a guess\n");
    say_next(doc, f);
    return fr__document_check(doc, err);
}
