/* results/document/learn.c - the rounds of learning costs as a table for people.
 *
 * It is separate because a learning has columns and sentences of its own.
 */
#include "config.h"

#include "results/document/builders.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/results.h"
#include "results/parts/table.h"

#include <inttypes.h>
#include <math.h>

static const double LEAST_SHOWN = 5e-4; /* a share: 0.1 % when rounded */

static void time_cell(char cell[FR__TABLE_CELL], double s)
{
    char text[40];

    if (isinf(s))
        snprintf(cell, FR__TABLE_CELL, "no room");
    else if (!isnan(s))
        snprintf(cell, FR__TABLE_CELL, "%s", fr__fixed(1e3 * s, 3, text, sizeof(text)));
}

static void change_cell(char cell[FR__TABLE_CELL], const struct fr_learn_round *r)
{
    char text[512], percent[40];

    if (r->change < LEAST_SHOWN)
        return;
    snprintf(text, sizeof(text), "%s%s %% %s", r->after_s < r->before_s ? "-" : "+",
             fr__fixed(100 * r->change, 1, percent, sizeof(percent)), r->changed);
    fr__table_text(cell, text);
}

static void fill_row(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_learn_round *r = &((const struct fr_learning *)user)->rounds[i];

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu%s", i, r->is_profile ? " profile" : "");
    snprintf(row->cell[1], FR__TABLE_CELL, "%" PRIu64, r->iteration);
    snprintf(row->cell[2], FR__TABLE_CELL, "%u", r->strategy);
    snprintf(row->cell[3], FR__TABLE_CELL, "%zu", r->n_gpus);
    snprintf(row->cell[4], FR__TABLE_CELL, "%zu", r->n_splits);
    time_cell(row->cell[5], r->estimated_s);
    time_cell(row->cell[6], r->measured_s);
    snprintf(row->cell[7], FR__TABLE_CELL, "%s", fr_learn_outcome_name(r->outcome));
    snprintf(row->cell[8], FR__TABLE_CELL, "%u", r->in_use);
    snprintf(row->cell[9], FR__TABLE_CELL, "%zu", r->n_new);
    change_cell(row->cell[10], r);
}

static const struct fr__table_column columns[] = {
    {"round", false}, {"iteration", true},    {"strategy", true},     {"GPUs", true},
    {"splits", true}, {"estimated ms", true}, {"measured ms", true},  {"outcome", false},
    {"in use", true}, {"new costs", true},    {"most changed", false}};

static void print_end(struct fr__document *doc, const struct fr_learning *l)
{
    const struct fr_learn_round *last = &l->rounds[l->n_pre_training - 1];
    size_t n_tried = l->n_activated - l->n_rolled_back;
    char first[32], end[32], text[40];

    fr__say(doc, "\nThe first strategy, %s, takes %s an iteration, the one in use at the end %s",
            l->start_words, fr__format_time(l->first_s, first, sizeof(first)),
            fr__format_time(l->in_use_s, end, sizeof(end)));
    if (l->has_changed)
        fr__say(doc, " after what has changed.\n");
    else
        fr__say(doc, ": %sx as fast.\n",
                fr__fixed(l->in_use_s > 0 ? l->first_s / l->in_use_s : 1, 2, text, sizeof(text)));
    if (l->has_converged)
        fr__say(doc, "Pre-training ended with round %zu, in which nothing new was learned.\n",
                l->n_pre_training - 1);
    else
        fr__say(
            doc,
            "Pre-training was cut short after round %zu, in which %zu costs were new and %zu had "
            "changed (--rounds).\n",
            l->n_pre_training - 1, last->n_new, last->n_changed);
    fr__say(doc, "Tried %zu strategies and left %zu of them again: activations took %s", n_tried,
            l->n_rolled_back, fr__format_time(l->activation_s, text, sizeof(text)));
    fr__say(doc, ", %" PRIu64 " iterations %s.\n", l->n_iterations,
            fr__format_time(l->training_s, text, sizeof(text)));
}

static void print_in_use(struct fr__document *doc, const struct fr_learning *l)
{
    fr__say(doc, "\nOperations of the strategy in use:");
    for (size_t d = 0; d < l->n_gpus; d++)
        fr__say(doc, "%s %s %zu", d ? "," : "", l->gpus[d].name, l->gpus[d].n_ops);
    fr__say(doc, ".\n");
    for (size_t i = 0; i < l->n_splits; i++)
        fr__say(doc, "  %s\n", l->splits[i]);
}

enum fr_status fr__document_of_learning(struct fr__document *doc, const void *what,
                                        struct fr_error *err)
{
    const struct fr_learning_answer *a = what;
    const struct fr_learning *l = a->learning;
    const size_t n_columns = sizeof(columns) / sizeof(columns[0]);

    fr__say(doc, "%s on %zu of %zu GPUs of %s, global batch %u, %s learns its costs\n\n",
            l->workload, l->n_gpus, l->n_gpus_total, l->topology, l->global_batch, l->strategy);
    fr__say_table(doc, &(struct fr__table){columns, n_columns, l->n_rounds, fill_row, l}, 0);
    print_end(doc, l);
    if (a->is_verbose)
        print_in_use(doc, l);
    fr__say_picture(doc, FR__PICTURE_CHART, a, 0);
    return fr__document_check(doc, err);
}
