/* results/text/learn.c - rounds of learning as a table, as CSV and as JSON. */
#include "config.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "results/results.h"
#include "results/pictures/learn.h"
#include "results/text/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- the table ---- */

static const double LEAST_SHOWN = 5e-4; /* 0.1 % */

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

static const char *start_name(const struct fr_learning *l)
{
    if (l->n_gpus == 1)
        return "on one GPU";
    return l->is_data_parallel ? "data parallel" : "model parallel";
}

static void print_end(FILE *f, const struct fr_learning *l)
{
    const struct fr_learn_round *last = &l->rounds[l->n_pre_training - 1];
    size_t n_tried = l->n_activated - l->n_rolled_back;
    char first[32], end[32], text[40];

    fprintf(f, "\nThe first strategy, %s, takes %s an iteration, the one in use at the end %s",
            start_name(l), fr__format_time(l->first_s, first, sizeof(first)),
            fr__format_time(l->in_use_s, end, sizeof(end)));
    if (l->has_changed)
        fputs(" after what has changed.\n", f);
    else
        fprintf(f, ": %sx as fast.\n",
                fr__fixed(l->in_use_s > 0 ? l->first_s / l->in_use_s : 1, 2, text, sizeof(text)));
    if (l->has_converged)
        fprintf(f, "Pre-training ended with round %zu, in which nothing new was learned.\n",
                l->n_pre_training - 1);
    else
        fprintf(
            f,
            "Pre-training was cut short after round %zu, in which %zu costs were new and %zu had "
            "changed (--rounds).\n",
            l->n_pre_training - 1, last->n_new, last->n_changed);
    fprintf(f, "Tried %zu strategies and left %zu of them again: activations took %s", n_tried,
            l->n_rolled_back, fr__format_time(l->activation_s, text, sizeof(text)));
    fprintf(f, ", %" PRIu64 " iterations %s.\n", l->n_iterations,
            fr__format_time(l->training_s, text, sizeof(text)));
}

static void print_in_use(FILE *f, const struct fr_learning *l)
{
    fputs("\nOperations of the strategy in use:", f);
    for (size_t d = 0; d < l->n_gpus; d++)
        fprintf(f, "%s %s %zu", d ? "," : "", l->gpus[d].name, l->gpus[d].n_ops);
    fputs(".\n", f);
    for (size_t i = 0; i < l->n_splits; i++)
        fprintf(f, "  %s\n", l->splits[i]);
}

void fr_learning_print(FILE *f, const struct fr_learning *l, bool is_verbose)
{
    const size_t n_columns = sizeof(columns) / sizeof(columns[0]);

    fprintf(f, "%s on %zu of %zu GPUs of %s, global batch %u, %s learns its costs\n\n", l->workload,
            l->n_gpus, l->n_gpus_total, l->topology, l->global_batch, l->strategy);
    fr__table_print(f, &(struct fr__table){columns, n_columns, l->n_rounds, fill_row, l});
    print_end(f, l);
    if (is_verbose)
        print_in_use(f, l);
}

/* ---- JSON ---- */

static void write_round(struct fr__json *j, const struct fr_learn_round *r)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_bool(j, "is_profile", r->is_profile);
    fr__json_count(j, "iteration", r->iteration);
    fr__json_count(j, "strategy", r->strategy);
    fr__json_string(j, "outcome", fr_learn_outcome_name(r->outcome));
    fr__json_count(j, "in_use", r->in_use);
    fr__json_number(j, "planned_s", r->planned_s);
    fr__json_number(j, "estimated_s", r->estimated_s);
    fr__json_number(j, "measured_s", r->measured_s);
    fr__json_bool(j, "oom", isinf(r->measured_s));
    fr__json_number(j, "activation_s", r->activation_s);
    fr__json_count(j, "ops", r->n_ops);
    fr__json_count(j, "splits", r->n_splits);
    fr__json_count(j, "gpus", r->n_gpus);
    fr__json_count(j, "costs_measured", r->n_measured);
    fr__json_count(j, "costs_new", r->n_new);
    fr__json_count(j, "costs_changed", r->n_changed);
    fr__json_number(j, "largest_change", r->change);
    fr__json_string(j, "largest_change_of", r->changed[0] ? r->changed : NULL);
    fr__json_close(j, '}');
}

void fr_learning_print_json(FILE *f, const struct fr_learning *l)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "workload", l->workload);
    fr__json_string(&j, "topology", l->topology);
    fr__json_string(&j, "strategy", l->strategy);
    fr__json_count(&j, "n_gpus", l->n_gpus);
    fr__json_count(&j, "global_batch", l->global_batch);
    fr__json_count(&j, "seed", l->seed);
    fr__json_string(&j, "start", l->is_data_parallel ? "dp" : "model");
    fr__json_open(&j, "rounds", '[', false);
    for (size_t i = 0; i < l->n_rounds; i++)
        write_round(&j, &l->rounds[i]);
    fr__json_close(&j, ']');
    fr__json_bool(&j, "has_converged", l->has_converged);
    fr__json_count(&j, "rounds_of_pre_training", l->n_pre_training);
    fr__json_number(&j, "first_s", l->first_s);
    fr__json_number(&j, "in_use_s", l->in_use_s);
    fr__json_count(&j, "iterations", l->n_iterations);
    fr__json_number(&j, "training_s", l->training_s);
    fr__json_number(&j, "activation_s", l->activation_s);
    fr__json_count(&j, "activated", l->n_activated);
    fr__json_count(&j, "rolled_back", l->n_rolled_back);
    fr__json_open(&j, "placement", '{', true);
    for (size_t d = 0; d < l->n_gpus; d++)
        fr__json_count(&j, l->gpus[d].name, l->gpus[d].n_ops);
    fr__json_close(&j, '}');
    fr__json_open(&j, "splits", '[', false);
    for (size_t i = 0; i < l->n_splits; i++)
        fr__json_string(&j, NULL, l->splits[i]);
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
}

/* ---- CSV ---- */

/* An empty cell: not known. */
static void csv_number(FILE *f, double x)
{
    char text[40];

    putc(',', f);
    if (isfinite(x))
        fputs(fr__format_double(x, text, sizeof(text)), f);
}

static void write_csv(FILE *f, const struct fr_learning *l)
{
    fputs("round,is_profile,iteration,strategy,outcome,in_use,planned_s,estimated_s,measured_s,"
          "activation_s,splits,gpus,costs_measured,costs_new,costs_changed,largest_change,"
          "largest_change_of\n",
          f);
    for (size_t i = 0; i < l->n_rounds; i++) {
        const struct fr_learn_round *r = &l->rounds[i];

        fprintf(f, "%zu,%d,%" PRIu64 ",%u,%s,%u", i, r->is_profile, r->iteration, r->strategy,
                fr_learn_outcome_name(r->outcome), r->in_use);
        csv_number(f, r->planned_s);
        csv_number(f, r->estimated_s);
        csv_number(f, r->measured_s);
        csv_number(f, r->activation_s);
        fprintf(f, ",%zu,%zu,%zu,%zu,%zu", r->n_splits, r->n_gpus, r->n_measured, r->n_new,
                r->n_changed);
        csv_number(f, r->change);
        putc(',', f);
        fr__csv_write_cell(f, r->changed);
        putc('\n', f);
    }
}

/* ---- files ---- */

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);

    return n > m && strcmp(path + n - m, ending) == 0;
}

const char *fr_learning_format(size_t i, const char **summary)
{
    static const char *const formats[][2] = {
        {".csv", "one row a round"},
        {".json", "every value, as --json prints it"},
        {".png", "picture: estimated and measured time by round, ways back marked"},
        {".svg", "the same, to scale without loss"},
        {".pdf", "the same, for print"},
    };

    if (i >= sizeof(formats) / sizeof(formats[0]))
        return NULL;
    *summary = formats[i][1];
    return formats[i][0];
}

enum fr_status fr_learning_check_path(const char *path, struct fr_error *err)
{
    if (ends_in(path, ".csv") || ends_in(path, ".json") || fr__is_learning_picture(path))
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s': the name ends in none of .csv, .json, .png, .svg and .pdf", path);
}

enum fr_status fr_learning_write(const struct fr_learning *l, const char *path,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__out out;

    FR_TRY(fr_learning_check_path(path, err));
    if (fr__is_learning_picture(path))
        return fr__draw_learning(l, path, ctx, err);
    FR_TRY(fr__out_open(&out, path, err));
    if (ends_in(path, ".csv"))
        write_csv(out.f, l);
    else
        fr_learning_print_json(out.f, l);
    return fr__out_commit(&out, err);
}
