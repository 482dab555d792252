/* results/document/stages.c - a plan of stages as a table for people. */
#include "config.h"

#include "results/document/builders.h"

#include "base/units.h"
#include "results/parts/cells.h"
#include "results/parts/number.h"
#include "study/answer/stage_figures.h"

#include <inttypes.h>

static void name_cell(char cell[FR__TABLE_CELL], const struct fr_stage_plan *p,
                      const struct fr_stage *s)
{
    char text[FR__TABLE_CELL] = "-";

    if (s->n_layers == 1)
        snprintf(text, sizeof(text), "%s", p->profile->layers[s->layers[0]].name);
    else if (s->n_layers > 1)
        snprintf(text, sizeof(text), "%.60s .. %.60s", p->profile->layers[s->layers[0]].name,
                 p->profile->layers[s->layers[s->n_layers - 1]].name);
    fr__table_text(cell, text);
}

/* The figures of a stage that have a column, behind its number. */
static const char *const keys[] = {"replicas",  "time_s",      "exchange_s",
                                   "compute_s", "param_bytes", "out_bytes"};
enum { N_KEYS = sizeof(keys) / sizeof(keys[0]) };

static void fill_row(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_stage_plan *p = user;
    const struct fr_stage *s = &p->stages[i];
    const union fr_item item = {.pointers = {p, s}};

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", i);
    for (size_t k = 0; k < N_KEYS; k++) {
        const struct fr_figure *f = fr__figure_find(fr__stage_figures, keys[k]);
        struct fr_value v;

        fr__figure_value(f, &item, &v);
        fr__figure_cell(row->cell[1 + k], f, &v, false);
    }
    snprintf(row->cell[1 + N_KEYS], FR__TABLE_CELL, "%zu", s->n_layers);
    name_cell(row->cell[2 + N_KEYS], p, s);
}

static void print_machines(struct fr__document *doc, const struct fr_stage_plan *p)
{
    char text[40], name[FR__TABLE_CELL];

    fr__table_text(name, p->profile->name);
    fr__say(doc, "%s cut into stages by %s (mode=%s) for ", name, p->strategy, p->mode);
    for (size_t i = 0; i < p->n_levels; i++)
        fr__say(doc, "%s%" PRIu32 " at %s", i ? " x " : "", p->machines[i],
                fr__format_rate(p->bandwidth_Bps[i], text, sizeof(text)));
    fr__say(doc, "\n\n");
}

static void print_time(struct fr__document *doc, const char *what, double s, double single_s)
{
    char text[40], speed[40];

    fr__say(doc, "%-18s %s", what, fr__format_time(s, text, sizeof(text)));
    if (s > 0)
        fr__say(doc, ", %s times one machine", fr__fixed(single_s / s, 2, speed, sizeof(speed)));
    fr__say(doc, "\n");
}

static void print_notes(struct fr__document *doc, const struct fr_stage_plan *p)
{
    char text[40];

    if (p->is_restricted)
        fr__say(doc,
                "restricted: the model can be cut at %s%zu places, too many to try; cuts here go "
                "through\na single tensor (%zu places, the best of these). No plan takes less than "
                "%s.\n",
                p->n_states ? "" : "more than ", p->n_states ? p->n_states : p->n_states_at_least,
                p->n_planned, fr__format_time(p->lower_bound_s, text, sizeof(text)));
    if (p->first_unreal < p->n_stages)
        fr__say(doc,
                "impossible: stage %zu begins where the one before does not end, as the published "
                "program's\narithmetic allows; mode=paper does not\n",
                p->first_unreal);
    if (p->n_unreached)
        fr__say(doc, "unreached: %zu layers that do not hang on the first source have no stage\n",
                p->n_unreached);
}

enum fr_status fr__document_of_stages(struct fr__document *doc, const void *what,
                                      struct fr_error *err)
{
    const struct fr_stage_plan *p = what;
    struct fr__table_column columns[N_KEYS + 3] = {{"stage", true}};
    const struct fr__table table = {.columns = columns,
                                    .n_columns = N_KEYS + 3,
                                    .n_rows = p->n_stages,
                                    .fill = fill_row,
                                    .user = p};

    for (size_t k = 0; k < N_KEYS; k++)
        columns[1 + k] =
            (struct fr__table_column){fr__figure_find(fr__stage_figures, keys[k])->title, true};
    columns[1 + N_KEYS] = (struct fr__table_column){"layers", true};
    columns[2 + N_KEYS] = (struct fr__table_column){"", false};
    print_machines(doc, p);
    fr__say_table(doc, &table, 0);
    fr__say(doc, "\ntime: of a mini-batch, with all replicas and the sums of gradients among them; "
                 "exchange: "
                 "of\nwhat crosses into the stage; compute: of its layers on one machine\n\n");
    fr__say_drawn(doc);
    print_time(doc, "pipeline", p->pipeline_time_s, p->single_time_s);
    print_time(doc, "data parallelism", p->dp_time_s, p->single_time_s);
    print_time(doc, "one machine", p->single_time_s, p->single_time_s);
    fr__say_plain(doc);
    print_notes(doc, p);
    return fr__document_check(doc, err);
}
