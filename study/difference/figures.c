/* study/difference/figures.c - the figures of a difference of two answers. The manual promises the
 * keys. */
#include "config.h"

#include "study/difference/figures.h"

FR_VALUE(time_of, struct fr_record, r, number, r->run->iteration_s)

#define RECORD(m) FR_MEMBER(struct fr_record, m)
static const struct fr_figure answer[] = {
    {.key = "workload", RECORD(workload)},
    {.key = "topology", RECORD(topology)},
    {.key = "strategy", RECORD(strategy)},
    {.key = "gpus", RECORD(n_gpus)},
    {.key = "global_batch", RECORD(global_batch)},
    {.key = "iteration_s", FR_NUMBER(time_of)},
    {.key = "oom", RECORD(oom)},
    FR_END_OF_FIGURES,
};

static const struct fr_figure settings[] = {
    {.key = "name", FR_MEMBER(struct fr_difference_setting, name)},
    {.key = "a", FR_MEMBER(struct fr_difference_setting, a)},
    {.key = "b", FR_MEMBER(struct fr_difference_setting, b)},
    FR_END_OF_FIGURES,
};

FR_VALUE(change_of, struct fr_difference_row, x, number, x->b_s - x->a_s)
FR_VALUE(difference_of, struct fr_difference, d, number,
         d->parts_b->iteration_s - d->parts_a->iteration_s)

const struct fr_figure fr__difference_row_figures[] = {
    {.key = "name", FR_MEMBER(struct fr_difference_row, name)},
    {.key = "a_s", FR_MEMBER(struct fr_difference_row, a_s)},
    {.key = "b_s", FR_MEMBER(struct fr_difference_row, b_s)},
    {.key = "difference_s", FR_NUMBER(change_of)},
    FR_END_OF_FIGURES,
};

#define ANSWER(m) FR_INSIDE(struct fr_difference, m, answer), .is_pointer = true
const struct fr_figure fr__difference_figures[] = {
    {.key = "a", ANSWER(a)},
    {.key = "b", ANSWER(b)},
    {.key = "difference_s", FR_NUMBER(difference_of)},
    {.key = "settings", FR_ITEMS(struct fr_difference, settings, n_settings, settings)},
    FR_END_OF_FIGURES,
};

#define PIECES(kind) FR_ITEMS(struct fr_difference, rows[kind], n[kind], fr__difference_row_figures)
const struct fr_figure fr__difference_pieces_figures[] = {
    {.key = "compute", PIECES(FR_PIECES_OPS)},
    {.key = "exposed_communication", PIECES(FR_PIECES_TRANSFERS)},
    {.key = "bubble", PIECES(FR_PIECES_WAITS)},
    {.key = "launches", PIECES(FR_PIECES_LAUNCHES)},
    {.key = "places", PIECES(FR_PIECES_PLACES)},
    {.key = "links", FR_ITEMS(struct fr_difference, links, n_links, fr__difference_row_figures)},
    FR_END_OF_FIGURES,
};
