/* study/comm/figures.c - the figures of collectives: over sizes, how one goes, and three models of
 * one beside each other. */
#include "config.h"

#include "study/comm/figures.h"

#include "study/answer/figures.h"

#include <math.h>

/* ---- a size ---- */

#define OF(function, member, expression)                                                           \
    FR_VALUE(function, struct fr__comm_answer, x, member, expression)

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
    {.key = "size_bytes", FR_COUNT(bytes_of)},
    {.key = "time_us", FR_NUMBER(us_of)},
    {.key = "algbw_GBps", FR_NUMBER(GBps_of)},
    {.key = "busbw_GBps", FR_NUMBER(bus_GBps_of)},
    {.key = "algorithm", FR_TEXT(algorithm_of), .is_quoted = true},
    {.key = "protocol", FR_TEXT(protocol_of)},
    {.key = "channels", FR_COUNT(channels_of)},
    {.key = "nccl_time_us", FR_NUMBER(nccl_us_of)},
    {.key = "source", FR_TEXT(source_of)},
    {.key = "error", FR_NUMBER(error_of), FR_DETAIL},
    {.key = "asked", FR_TEXT(way_of), FR_DETAIL},
    {.key = "asked_or_auto", FR_TEXT(way_or_auto_of), .is_column = true, .is_quoted = true},
    {.key = "busiest_link", FR_TEXT(busiest_of)},
    {.key = "busiest_link_frac", FR_NUMBER(busiest_frac_of)},
    FR_END_OF_FIGURES,
};

/* ---- a table ---- */

FR_VALUE(kind_of, struct fr_comm_table, x, text, fr_collective_kind_name(x->kind))
FR_VALUE(type_of, struct fr_comm_table, x, text, x->type->name)
FR_CONDITION(has_nics, struct fr_comm_table, x, x->n_nics > 0)

#define TABLE(m) FR_MEMBER(struct fr_comm_table, m)
const struct fr_figure fr__comm_question_figures[] = {
    {.key = "topology", TABLE(topology)},
    {.key = "collective", FR_TEXT(kind_of)},
    {.key = "gpus", TABLE(n_gpus)},
    {.key = "machines", TABLE(n_machines)},
    {.key = "nics",
     FR_ARRAY(struct fr_comm_table, nics, n_nics, fr__nics_figures),
     .when = has_nics},
    {.key = "type", FR_TEXT(type_of)},
    {.key = "nccl_why", TABLE(nccl_why)},
    {.key = "transferred_why", TABLE(why_transferred)},
    FR_END_OF_FIGURES,
};

/* ---- how one goes ---- */

#define LINK(m) FR_MEMBER(struct fr_comm_link, m)
static const struct fr_figure links[] = {{.key = "link", LINK(name)},
                                         {.key = "bytes", LINK(bytes)},
                                         {.key = "bw_Bps", LINK(bw_Bps)},
                                         {.key = "used_frac", LINK(used_frac)},
                                         FR_END_OF_FIGURES};

FR_VALUE(round_of, struct fr_collective_message, x, count, x->round + UINT64_C(1))

#define MESSAGE(m) FR_MEMBER(struct fr_collective_message, m)
static const struct fr_figure messages[] = {{.key = "round", FR_COUNT(round_of)},
                                            {.key = "from", MESSAGE(from)},
                                            {.key = "to", MESSAGE(to)},
                                            {.key = "bytes", MESSAGE(bytes)},
                                            {.key = "first_piece", MESSAGE(first_piece)},
                                            {.key = "pieces", MESSAGE(n_pieces)},
                                            {.key = "is_sum", MESSAGE(is_sum)},
                                            FR_END_OF_FIGURES};

#define STEPS(m) FR_MEMBER(struct fr_collective_rounds, m)
static const struct fr_figure steps[] = {
    {.key = "steps_of", STEPS(algorithm)},
    {.key = "summary", STEPS(summary)},
    {.key = "source", STEPS(source)},
    {.key = "rounds", STEPS(n_rounds)},
    {.key = "switches", STEPS(n_switches)},
    {.key = "lanes", STEPS(n_lanes)},
    {.key = "most_sent_bytes", STEPS(most_sent_bytes)},
    {.key = "sent_bytes", STEPS(sent_bytes)},
    {.key = "messages", FR_ITEMS(struct fr_collective_rounds, messages, n_messages, messages)},
    FR_END_OF_FIGURES,
};

const struct fr_figure fr__comm_explanation_figures[] = {
    {.key = "links", FR_ARRAY(struct fr_comm_explanation, links, n_links, links)},
    {.key = "why_no_steps", FR_MEMBER(struct fr_comm_explanation, why_no_steps)},
    {.kind = FR_FIGURE_GROUP,
     .figures = steps,
     .offset = offsetof(struct fr_comm_explanation, steps),
     .is_pointer = true},
    FR_END_OF_FIGURES,
};

/* ---- three models ---- */

/* A size of a table; x: the table and its row. The models' times of it stand beside the rows. */
#define ROW(x) ((const struct fr_comm_row *)(x)->pointers[1])
#define TIME(function, member, expression) FR_VALUE(function, union fr_item, x, member, expression)

static size_t index_of(const union fr_item *x)
{
    const struct fr_comm_table *t = x->pointers[0];

    return (size_t)(ROW(x) - t->rows);
}

static const struct fr_comm_times *times_of(const union fr_item *x)
{
    return &((const struct fr_comm_table *)x->pointers[0])->times[index_of(x)];
}

static double bus_Bps(const union fr_item *x, double time_s)
{
    return fr_comm_bus_Bps(x->pointers[0], index_of(x), time_s);
}

TIME(size_of, count, ROW(x)->bytes)
TIME(expanded_of, number, times_of(x)->expanded_s)
TIME(closed_of, number, times_of(x)->closed_s)
TIME(fitted_of, number, times_of(x)->fitted_s)
TIME(fitted_error_of, number, times_of(x)->fitted_error)
TIME(extrapolated_of, count, times_of(x)->is_extrapolated)
TIME(expanded_bus_of, number, bus_Bps(x, times_of(x)->expanded_s))
TIME(fitted_bus_of, number, bus_Bps(x, times_of(x)->fitted_s))

static const struct fr_figure times[] = {{.key = "bytes", FR_COUNT(size_of)},
                                         {.key = "expanded_s", FR_NUMBER(expanded_of)},
                                         {.key = "closed_s", FR_NUMBER(closed_of)},
                                         {.key = "fitted_s", FR_NUMBER(fitted_of)},
                                         {.key = "fitted_error", FR_NUMBER(fitted_error_of)},
                                         {.key = "is_extrapolated", FR_FLAG(extrapolated_of)},
                                         {.key = "expanded_bus_Bps", FR_NUMBER(expanded_bus_of)},
                                         {.key = "fitted_bus_Bps", FR_NUMBER(fitted_bus_of)},
                                         FR_END_OF_FIGURES};

static const void *time_item(const void *table, size_t i, union fr_item *room)
{
    const struct fr_comm_table *t = table;

    room->pointers[0] = t;
    room->pointers[1] = i < t->n_rows ? &t->rows[i] : NULL;
    return room->pointers[1] ? room : NULL;
}

const struct fr_figure fr__comm_models_figures[] = {
    {.key = "topology", TABLE(topology)},
    {.key = "collective", FR_TEXT(kind_of)},
    {.key = "gpus", TABLE(n_gpus)},
    {.key = "machines", TABLE(n_machines)},
    {.key = "system", TABLE(system)},
    {.key = "system_why", TABLE(system_why)},
    {.key = "times", .kind = FR_FIGURE_LIST, .figures = times, .item = time_item, .is_open = true},
    FR_END_OF_FIGURES,
};
