/* study/layouts/figures.c - the figures of a layout that a search went through: what it is, what
 * became of it, and what it takes as far as that was worked out. */
#include "config.h"

#include "study/layouts/figures.h"

#include <math.h>

static const char *const recompute_names[FR_N_LAYOUT_RECOMPUTES] = {"none", "selective", "full"};

_Static_assert((int)FR_VALUE_TEXT >= (int)FR_LAYOUT_TEXT, "a value holds a layout's name");
_Static_assert((int)FR_VALUE_TEXT >= (int)FR_SEARCH_REASON, "a value holds a reason");

#define OF(function, member, expression)                                                           \
    FR_VALUE(function, struct fr_search_row, x, member, expression)
/* 0: not worked out. */
#define WORKED_OUT(function, m) OF(function, number, x->m > 0 ? x->m : NAN)

OF(strategy_of, text, fr_layout_text(&x->layout, out->room))
OF(etp_of, count, x->layout.etp ? x->layout.etp : 1)
OF(schedule_of, text, x->layout.pp > 1 ? x->layout.schedule : "none")
OF(recompute_of, text, recompute_names[x->layout.recompute])
OF(map_of, text, x->layout.map ? x->layout.map : "megatron")
OF(fate_of, text, fr_layout_fate_name(x->fate))
OF(reason_of, text, fr_search_reason(x, out->room))
WORKED_OUT(over_of, over_bytes)
WORKED_OUT(bound_of, bound_s)
WORKED_OUT(coarse_s_of, coarse_s)
WORKED_OUT(coarse_bytes_of, coarse_bytes)
WORKED_OUT(exact_s_of, exact_s)
WORKED_OUT(exact_bytes_of, exact_bytes)
WORKED_OUT(low_of, low_s)
WORKED_OUT(high_of, high_s)

#define LAYOUT(m) FR_MEMBER(struct fr_search_row, layout.m)
const struct fr_figure fr__layout_figures[] = {
    {.key = "strategy", FR_TEXT(strategy_of), .is_quoted = true},
    {.key = "dp", LAYOUT(dp)},
    {.key = "tp", LAYOUT(tp)},
    {.key = "pp", LAYOUT(pp)},
    {.key = "cp", LAYOUT(cp)},
    {.key = "ep", LAYOUT(ep)},
    {.key = "etp", FR_COUNT(etp_of)},
    {.key = "micro", LAYOUT(micro)},
    {.key = "micro_batches", LAYOUT(n_micros)},
    {.key = "virtual", LAYOUT(n_virtual)},
    {.key = "schedule", FR_TEXT(schedule_of)},
    {.key = "zero", LAYOUT(zero)},
    {.key = "recompute", FR_TEXT(recompute_of)},
    {.key = "map", FR_TEXT(map_of)},
    {.key = "fate", FR_TEXT(fate_of), .is_quoted = true},
    {.key = "reason", FR_TEXT(reason_of), .is_quoted = true},
    {.key = "over_bytes", FR_NUMBER(over_of)},
    {.key = "bound_s", FR_NUMBER(bound_of)},
    {.key = "coarse_s", FR_NUMBER(coarse_s_of)},
    {.key = "coarse_bytes", FR_NUMBER(coarse_bytes_of)},
    {.key = "iteration_s", FR_NUMBER(exact_s_of), .is_optional = true},
    {.key = "peak_bytes", FR_NUMBER(exact_bytes_of), .is_optional = true},
    {.key = "low_s", FR_NUMBER(low_of), .is_optional = true},
    {.key = "high_s", FR_NUMBER(high_of), .is_optional = true},
    FR_END_OF_FIGURES,
};
