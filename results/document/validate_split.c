/* results/document/validate_split.c - which part of a step is off, as tables for people.
 *
 * It is separate from the rows and their errors, since here several rows make one line.
 */
#include "config.h"

#include "results/document/builders.h"

#include "results/document/validate_split.h"
#include "results/parts/number.h"
#include "results/parts/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Behind the point, so that three digits count: no more than five. */
static unsigned digits_of(double x)
{
    unsigned digits = 1;

    while (digits < 5 && fabs(x) * pow(10, digits) < 100)
        digits++;
    return digits;
}

static void milliseconds(char cell[FR__TABLE_CELL], double seconds, bool has_sign)
{
    char text[40];

    if (isnan(seconds))
        return;
    snprintf(cell, FR__TABLE_CELL, "%s%s", has_sign && seconds >= 0 ? "+" : "",
             fr__fixed(1e3 * seconds, digits_of(1e3 * seconds), text, sizeof(text)));
}

static void count(char cell[FR__TABLE_CELL], uint64_t n)
{
    snprintf(cell, FR__TABLE_CELL, "%" PRIu64, n);
}

/* ---- by software ---- */

static void fill_software(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_validation_software *s = &((const struct fr_validation *)user)->software[i];
    char text[40];

    fr__table_text(row->cell[0], s->software);
    count(row->cell[1], s->n_lines);
    if (!isnan(s->per_sample_error))
        snprintf(row->cell[2], FR__TABLE_CELL, "%s%s %%", s->per_sample_error >= 0 ? "+" : "",
                 fr__fixed(100 * s->per_sample_error, 1, text, sizeof(text)));
    milliseconds(row->cell[3], s->per_step_missing_s, true);
    count(row->cell[4], s->n_changes);
    milliseconds(row->cell[5], s->per_change_missing_s, true);
}

static const struct fr__table_column software_columns[] = {
    {"software", false},          {"lines", true},   {"per sample", true},
    {"per step, ms short", true}, {"changes", true}, {"per added GPUs, ms short", true}};

/* ---- lines ---- */

static void fill_line(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_validation_line *l = &((const struct fr_validation *)user)->lines[i];

    fr__table_text(row->cell[0], l->software);
    fr__table_text(row->cell[1], l->workload);
    fr__table_text(row->cell[2], l->precision);
    count(row->cell[3], l->gpus);
    snprintf(row->cell[4], FR__TABLE_CELL, "%g to %g", l->least_batch, l->most_batch);
    milliseconds(row->cell[5], l->measured_per_sample_s, false);
    milliseconds(row->cell[6], l->predicted_per_sample_s, false);
    milliseconds(row->cell[7], l->measured_per_step_s, false);
    milliseconds(row->cell[8], l->noise_s, false);
    milliseconds(row->cell[9], l->predicted_per_step_s, false);
    fr__table_text(row->cell[10], l->notes[0] ? l->notes : l->options);
}

static const struct fr__table_column line_columns[] = {
    {"software", false},   {"workload", false},     {"precision", false}, {"GPUs", true},
    {"batch a GPU", true}, {"per sample ms", true}, {"predicted", true},  {"per step ms", true},
    {"+-", true},          {"predicted", true},     {"notes", false}};

/* ---- changes ---- */

static void fill_change(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_validation_change *c = &((const struct fr_validation *)user)->changes[i];

    fr__table_text(row->cell[0], c->software);
    fr__table_text(row->cell[1], c->workload);
    fr__table_text(row->cell[2], c->precision);
    snprintf(row->cell[3], FR__TABLE_CELL, "%s -> %s%s", c->from, c->to,
             c->of == FR_CHANGE_GPUS ? " GPUs" : "");
    count(row->cell[4], c->n);
    milliseconds(row->cell[5], c->measured_added_s, true);
    milliseconds(row->cell[6], c->predicted_added_s, true);
    snprintf(row->cell[7], FR__TABLE_CELL, "%.3f", c->measured_ratio);
    snprintf(row->cell[8], FR__TABLE_CELL, "%.3f", c->predicted_ratio);
    fr__table_text(row->cell[9], c->strategy);
    fr__table_text(row->cell[10], c->options);
}

static const struct fr__table_column change_columns[] = {
    {"software", false}, {"workload", false}, {"precision", false}, {"change", false},
    {"pairs", true},     {"adds ms", true},   {"predicted", true},  {"ratio", true},
    {"predicted", true}, {"strategy", false}, {"options", false}};

/* ---- all of it ---- */

void fr__say_split(struct fr__document *doc, const struct fr_validation *v, bool with_lines)
{
    if (v->n_lines + v->n_changes == 0)
        return;
    fr__say(doc, "\nwhich part of a step is off (medians; ms short: measured less predicted):\n");
    if (v->n_software > 0)
        fr__say_table(doc,
                      &(struct fr__table){software_columns, 6, v->n_software, fill_software, v}, 0);
    if (!with_lines) {
        fr__say(doc,
                "  --all shows %zu line%s over batches and %zu change%s of GPUs or precision\n",
                v->n_lines, v->n_lines == 1 ? "" : "s", v->n_changes, v->n_changes == 1 ? "" : "s");
        return;
    }
    if (v->n_lines > 0) {
        fr__say(doc, "\nrows that differ in the batch alone:\n");
        fr__say_table(doc, &(struct fr__table){line_columns, 11, v->n_lines, fill_line, v}, 0);
    }
    if (v->n_changes > 0) {
        fr__say(doc, "\nrows that differ in GPUs or precision alone (ratio: of step times):\n");
        fr__say_table(doc, &(struct fr__table){change_columns, 11, v->n_changes, fill_change, v},
                      0);
    }
}
