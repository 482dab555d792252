/* study/comm/figures.c - the figures of collectives: over sizes, how one goes, and three models of
 * one beside each other. */
#include "config.h"

#include "study/comm/figures.h"

#include "study/answer/figures.h"

#include <math.h>

/* ---- a size ---- */

#define OF(function, member, expression)                                                           \
    FR_VALUE(function, struct fr__comm_answer, x, member, expression)
#define NUMBER(function) .kind = FR_FIGURE_NUMBER, .of = function
#define TEXT(function) .kind = FR_FIGURE_TEXT, .of = function

OF(bytes_of, count, x->row->bytes)
OF(us_of, number, x->row->time_s * 1e6)
OF(GBps_of, number, x->row->time_s > 0 ? (double)x->row->bytes / x->row->time_s / 1e9 : 0)
OF(bus_GBps_of, number, x->row->bus_Bps / 1e9)
OF(algorithm_of, text, x->row->algorithm)
OF(protocol_of, text, x->row->protocol)
OF(channels_of, count, x->row->channels)
OF(nccl_us_of, number, x->row->nccl_s * 1e6)
OF(source_of, text, fr_comm_source_name(x->row->source))
OF(error_of, number, x->row->error_frac)
OF(way_of, text, x->table->way)
OF(way_or_auto_of, text, x->table->way ? x->table->way : "auto")
OF(busiest_of, text, x->row->busiest == FR_NONE ? NULL : x->table->links[x->row->busiest])
OF(busiest_frac_of, number, x->row->busiest == FR_NONE ? NAN : x->row->busiest_frac)

/* Names of algorithms have no comma but that of a file: they are quoted. */
const struct fr_figure fr__comm_figures[] = {
    {.key = "size_bytes", .kind = FR_FIGURE_COUNT, .of = bytes_of},
    {.key = "time_us", NUMBER(us_of)},
    {.key = "algbw_GBps", NUMBER(GBps_of)},
    {.key = "busbw_GBps", NUMBER(bus_GBps_of)},
    {.key = "algorithm", TEXT(algorithm_of), .is_quoted = true},
    {.key = "protocol", TEXT(protocol_of)},
    {.key = "channels", .kind = FR_FIGURE_COUNT, .of = channels_of},
    {.key = "nccl_time_us", NUMBER(nccl_us_of)},
    {.key = "source", TEXT(source_of)},
    {.key = "error", NUMBER(error_of), .is_detail = true},
    {.key = "asked", TEXT(way_of), .is_detail = true},
    {.key = "asked_or_auto", TEXT(way_or_auto_of), .is_column = true, .is_quoted = true},
    {.key = "busiest_link", TEXT(busiest_of)},
    {.key = "busiest_link_frac", NUMBER(busiest_frac_of)},
    FR_END_OF_FIGURES,
};

/* ---- a table ---- */

FR_VALUE(kind_of, struct fr_comm_table, x, text, fr_collective_kind_name(x->kind))
FR_VALUE(type_of, struct fr_comm_table, x, text, x->type->name)
FR_CONDITION(has_nics, struct fr_comm_table, x, x->n_nics > 0)

#define TABLE(m) FR_MEMBER(struct fr_comm_table, m)
const struct fr_figure fr__comm_question_figures[] = {
    {.key = "topology", TABLE(topology)},
    {.key = "collective", TEXT(kind_of)},
    {.key = "gpus", TABLE(n_gpus)},
    {.key = "machines", TABLE(n_machines)},
    {.key = "nics",
     FR_ARRAY(struct fr_comm_table, nics, n_nics, fr__nics_figures),
     .when = has_nics,
     .is_open = true},
    {.key = "type", TEXT(type_of)},
    {.key = "nccl_why", TABLE(nccl_why)},
    {.key = "transferred_why", TABLE(why_transferred)},
    FR_END_OF_FIGURES,
};

/* ---- how one goes ---- */

#define LINK(m) FR_MEMBER(struct fr_comm_link, m)
static const struct fr_figure links[] = {
    {.key = "link", LINK(name)},
    {.key = "bytes", LINK(bytes)},
    {.key = "bw_Bps", LINK(bw_Bps)},
    {.key = "used_frac", LINK(used_frac)},
    FR_END_OF_FIGURES,
};

FR_VALUE(round_of, struct fr_collective_message, x, count, x->round + UINT64_C(1))

#define MESSAGE(m) FR_MEMBER(struct fr_collective_message, m)
static const struct fr_figure messages[] = {
    {.key = "round", .kind = FR_FIGURE_COUNT, .of = round_of},
    {.key = "from", MESSAGE(from)},
    {.key = "to", MESSAGE(to)},
    {.key = "bytes", MESSAGE(bytes)},
    {.key = "first_piece", MESSAGE(first_piece)},
    {.key = "pieces", MESSAGE(n_pieces)},
    {.key = "is_sum", MESSAGE(is_sum)},
    FR_END_OF_FIGURES,
};

#define STEPS(m) FR_MEMBER(struct fr_collective_story, m)
static const struct fr_figure steps[] = {
    {.key = "steps_of", STEPS(algorithm)},
    {.key = "summary", STEPS(summary)},
    {.key = "source", STEPS(source)},
    {.key = "rounds", STEPS(n_rounds)},
    {.key = "switches", STEPS(n_switches)},
    {.key = "lanes", STEPS(n_lanes)},
    {.key = "most_sent_bytes", STEPS(most_sent_bytes)},
    {.key = "sent_bytes", STEPS(sent_bytes)},
    {.key = "messages",
     FR_ITEMS(struct fr_collective_story, messages, n_messages, messages),
     .is_open = true},
    FR_END_OF_FIGURES,
};

const struct fr_figure fr__comm_story_figures[] = {
    {.key = "links", FR_ARRAY(struct fr_comm_story, links, n_links, links), .is_open = true},
    {.key = "why_no_steps", FR_MEMBER(struct fr_comm_story, why_no_steps)},
    {.kind = FR_FIGURE_GROUP,
     .figures = steps,
     .offset = offsetof(struct fr_comm_story, steps),
     .is_pointer = true},
    FR_END_OF_FIGURES,
};

/* ---- three models ---- */

/* As in fr__comm_figures, a size of a table: the models' times of it stand beside the rows. */
static size_t index_of(const struct fr__comm_answer *x)
{
    return (size_t)(x->row - x->table->rows);
}

#define TIMES_OF(x) (&(x)->table->times[index_of(x)])
#define BUS(x, time_s) fr_comm_bus_Bps((x)->table, index_of(x), time_s)

OF(size_of, count, x->row->bytes)
OF(expanded_of, number, TIMES_OF(x)->expanded_s)
OF(closed_of, number, TIMES_OF(x)->closed_s)
OF(fitted_of, number, TIMES_OF(x)->fitted_s)
OF(fitted_error_of, number, TIMES_OF(x)->fitted_error)
OF(extrapolated_of, count, TIMES_OF(x)->is_extrapolated)
OF(expanded_bus_of, number, BUS(x, TIMES_OF(x)->expanded_s))
OF(fitted_bus_of, number, BUS(x, TIMES_OF(x)->fitted_s))

static const struct fr_figure times[] = {
    {.key = "bytes", .kind = FR_FIGURE_COUNT, .of = size_of},
    {.key = "expanded_s", NUMBER(expanded_of)},
    {.key = "closed_s", NUMBER(closed_of)},
    {.key = "fitted_s", NUMBER(fitted_of)},
    {.key = "fitted_error", NUMBER(fitted_error_of)},
    {.key = "is_extrapolated", .kind = FR_FIGURE_FLAG, .of = extrapolated_of},
    {.key = "expanded_bus_Bps", NUMBER(expanded_bus_of)},
    {.key = "fitted_bus_Bps", NUMBER(fitted_bus_of)},
    FR_END_OF_FIGURES,
};

static const void *time_item(const void *table, size_t i, union fr_item *room)
{
    const struct fr_comm_table *t = table;

    room->pointers[0] = t;
    room->pointers[1] = i < t->n_rows ? &t->rows[i] : NULL;
    return room->pointers[1] ? room : NULL;
}

const struct fr_figure fr__comm_models_figures[] = {
    {.key = "topology", TABLE(topology)},
    {.key = "collective", TEXT(kind_of)},
    {.key = "gpus", TABLE(n_gpus)},
    {.key = "machines", TABLE(n_machines)},
    {.key = "system", TABLE(system)},
    {.key = "system_why", TABLE(system_why)},
    {.key = "times", .kind = FR_FIGURE_LIST, .figures = times, .item = time_item, .is_open = true},
    FR_END_OF_FIGURES,
};
