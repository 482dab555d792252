/* results/data/collectives.c - times of collectives as JSON, for programs.
 *
 * It is separate from the table for people, which rounds numbers and explains its columns.
 */
#include "config.h"

#include "base/json.h"
#include "results/results.h"

#include <math.h>

/* A time that is not known (NaN) becomes null. */
static void write_row(struct fr__json *j, const struct fr_collective_times *t,
                      const struct fr_collective_row *r)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_count(j, "bytes", r->bytes);
    fr__json_number(j, "expanded_s", r->expanded_s);
    fr__json_number(j, "closed_s", r->closed_s);
    fr__json_number(j, "fitted_s", r->fitted_s);
    fr__json_number(j, "fitted_error", r->fitted_error);
    fr__json_bool(j, "is_extrapolated", r->is_extrapolated);
    fr__json_number(j, "expanded_bus_Bps",
                    r->expanded_s > 0 ? (double)r->bytes / r->expanded_s * t->bus_factor : NAN);
    fr__json_number(j, "fitted_bus_Bps",
                    r->fitted_s > 0 ? (double)r->bytes / r->fitted_s * t->bus_factor : NAN);
    fr__json_close(j, '}');
}

void fr_collective_times_print_json(FILE *f, const struct fr_collective_times *t)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "topology", t->topology);
    fr__json_string(&j, "collective", fr_collective_kind_name(t->kind));
    fr__json_count(&j, "gpus", t->n_gpus);
    fr__json_count(&j, "machines", t->n_machines);
    fr__json_string(&j, "system", t->system);
    fr__json_string(&j, "system_why", t->why);
    fr__json_open(&j, "times", '[', false);
    for (size_t i = 0; i < t->n_rows; i++)
        write_row(&j, t, &t->rows[i]);
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
    putc('\n', f);
}
