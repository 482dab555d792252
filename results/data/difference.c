/* results/data/difference.c - a difference of two answers as JSON. The manual promises the keys.
 *
 * It is separate from json.c because compare --explain and forerun diff share it.
 */
#include "config.h"

#include "results/data/difference.h"

static void write_answer(struct fr__json *j, const char *key, const struct fr_record *r)
{
    fr__json_open(j, key, '{', true);
    fr__json_string(j, "workload", r->workload);
    fr__json_string(j, "topology", r->topology);
    fr__json_string(j, "strategy", r->strategy);
    fr__json_count(j, "gpus", r->n_gpus);
    fr__json_count(j, "global_batch", r->global_batch);
    fr__json_number(j, "iteration_s", r->run->iteration_s);
    fr__json_bool(j, "oom", r->oom);
    fr__json_close(j, '}');
}

static void write_row(struct fr__json *j, const char *name, double a_s, double b_s)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_string(j, "name", name);
    fr__json_number(j, "a_s", a_s);
    fr__json_number(j, "b_s", b_s);
    fr__json_number(j, "difference_s", b_s - a_s);
    fr__json_close(j, '}');
}

static void write_rows(struct fr__json *j, const char *key, const struct fr_difference_row rows[],
                       size_t n)
{
    fr__json_open(j, key, '[', false);
    for (size_t i = 0; i < n; i++)
        write_row(j, rows[i].name, rows[i].a_s, rows[i].b_s);
    fr__json_close(j, ']');
}

void fr__difference_write_json(struct fr__json *j, const struct fr_difference *d)
{
    static const char *const keys[FR_N_PIECES] = {
        [FR_PIECES_OPS] = "compute",   [FR_PIECES_TRANSFERS] = "exposed_communication",
        [FR_PIECES_WAITS] = "bubble",  [FR_PIECES_LAUNCHES] = "launches",
        [FR_PIECES_PLACES] = "places",
    };
    const struct fr_parts *a = d->parts_a, *b = d->parts_b;

    fr__json_open(j, NULL, '{', false);
    write_answer(j, "a", d->a);
    write_answer(j, "b", d->b);
    fr__json_number(j, "difference_s", b->iteration_s - a->iteration_s);
    fr__json_open(j, "settings", '[', false);
    for (size_t i = 0; i < d->n_settings; i++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "name", d->settings[i].name);
        fr__json_string(j, "a", d->settings[i].a);
        fr__json_string(j, "b", d->settings[i].b);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__json_open(j, "parts", '[', false);
    for (unsigned p = 0; p < FR_N_PARTS; p++)
        write_row(j, fr_part_name((enum fr_time_part)p), a->part_s[p], b->part_s[p]);
    fr__json_close(j, ']');
    for (unsigned kind = 0; kind < FR_N_PIECES; kind++)
        write_rows(j, keys[kind], d->rows[kind], d->n[kind]);
    write_rows(j, "links", d->links, d->n_links);
    fr__json_close(j, '}');
}

void fr_difference_print_json(FILE *f, const struct fr_difference *d)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__difference_write_json(&j, d);
}
