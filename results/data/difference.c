/* results/data/difference.c - a difference of two answers as JSON.
 *
 * It is separate from json.c because compare --explain and forerun diff share it.
 */
#include "config.h"

#include "results/data/data.h"
#include "study/difference/figures.h"

void fr__difference_write_json(struct fr__json *j, const struct fr_difference *d)
{
    fr__json_open(j, NULL, '{', false);
    fr__figures_json(j, fr__difference_figures, d);
    fr__json_open(j, "parts", '[', false);
    for (unsigned p = 0; p < FR_N_PARTS; p++) {
        const struct fr_difference_row row = {fr_part_name((enum fr_time_part)p),
                                              d->parts_a->part_s[p], d->parts_b->part_s[p]};

        fr__json_open(j, NULL, '{', true);
        fr__figures_json(j, fr__difference_row_figures, &row);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__figures_json(j, fr__difference_pieces_figures, d);
    fr__json_close(j, '}');
}

void fr__difference_json(FILE *f, const void *what)
{
    struct fr__json j;

    fr__json_init(&j, f);
    fr__difference_write_json(&j, ((const struct fr_difference_answer *)what)->difference);
}
