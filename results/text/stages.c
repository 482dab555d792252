/* results/text/stages.c - a plan of stages as a table for people. */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/results.h"
#include "results/text/table.h"

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

static void fill_row(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_stage_plan *p = user;
    const struct fr_stage *s = &p->stages[i];

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", i);
    snprintf(row->cell[1], FR__TABLE_CELL, "%" PRIu32, s->replicas);
    fr__format_time(s->time_s, row->cell[2], FR__TABLE_CELL);
    fr__format_time(s->exchange_s, row->cell[3], FR__TABLE_CELL);
    fr__format_time(s->compute_s, row->cell[4], FR__TABLE_CELL);
    fr__format_bytes(s->param_bytes, row->cell[5], FR__TABLE_CELL);
    fr__format_bytes(s->out_bytes, row->cell[6], FR__TABLE_CELL);
    snprintf(row->cell[7], FR__TABLE_CELL, "%zu", s->n_layers);
    name_cell(row->cell[8], p, s);
}

static void print_machines(FILE *f, const struct fr_stage_plan *p)
{
    char text[40], name[FR__TABLE_CELL];

    fr__table_text(name, p->profile->name);
    fprintf(f, "%s cut into stages by %s (mode=%s) for ", name, p->strategy, p->mode);
    for (size_t i = 0; i < p->n_levels; i++)
        fprintf(f, "%s%" PRIu32 " at %s", i ? " x " : "", p->machines[i],
                fr__format_rate(p->bandwidth_Bps[i], text, sizeof(text)));
    fputs("\n\n", f);
}

static void print_time(FILE *f, const char *what, double s, double single_s)
{
    char text[40], speed[40];

    fprintf(f, "%-18s %s", what, fr__format_time(s, text, sizeof(text)));
    if (s > 0)
        fprintf(f, ", %s times one machine", fr__fixed(single_s / s, 2, speed, sizeof(speed)));
    putc('\n', f);
}

static void print_notes(FILE *f, const struct fr_stage_plan *p)
{
    char text[40];

    if (p->is_restricted)
        fprintf(f,
                "restricted: the model can be cut at %s%zu places, too many to try; cuts here go "
                "through\na single tensor (%zu places, the best of these). No plan takes less than "
                "%s.\n",
                p->n_states ? "" : "more than ", p->n_states ? p->n_states : p->n_states_at_least,
                p->n_planned, fr__format_time(p->lower_bound_s, text, sizeof(text)));
    if (p->first_unreal < p->n_stages)
        fprintf(f,
                "impossible: stage %zu begins where the one before does not end, as the published "
                "program's\narithmetic allows; mode=paper does not\n",
                p->first_unreal);
    if (p->n_unreached)
        fprintf(f, "unreached: %zu layers that do not hang on the first source have no stage\n",
                p->n_unreached);
}

void fr_stages_print(FILE *f, const struct fr_stage_plan *p)
{
    static const struct fr__table_column columns[] = {
        {"stage", true},    {"replicas", true}, {"time", true},
        {"exchange", true}, {"compute", true},  {"parameters", true},
        {"sends on", true}, {"layers", true},   {"", false},
    };
    const struct fr__table table = {.columns = columns,
                                    .n_columns = sizeof(columns) / sizeof(columns[0]),
                                    .n_rows = p->n_stages,
                                    .fill = fill_row,
                                    .user = p};

    print_machines(f, p);
    fr__table_print(f, &table);
    fputs("\ntime: of a mini-batch, with all replicas and the sums of gradients among them; "
          "exchange: "
          "of\nwhat crosses into the stage; compute: of its layers on one machine\n\n",
          f);
    print_time(f, "pipeline", p->pipeline_time_s, p->single_time_s);
    print_time(f, "data parallelism", p->dp_time_s, p->single_time_s);
    print_time(f, "one machine", p->single_time_s, p->single_time_s);
    print_notes(f, p);
}
