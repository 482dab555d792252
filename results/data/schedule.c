/* results/data/schedule.c - pipeline schedules as CSV and JSON. */
#include "config.h"

#include "base/csv.h"
#include "base/figures.h"
#include "base/units.h"
#include "results/data/data.h"

static void print_number(FILE *f, double x)
{
    char buf[40];

    fputs(fr__format_double(x, buf, sizeof(buf)), f);
}

static void print_by_rank(FILE *f, const uint32_t counts[], uint32_t n)
{
    for (uint32_t r = 0; r < n; r++)
        fprintf(f, "%s%u", r ? ";" : ",", counts[r]);
}

void fr_schedules_print_summary(FILE *f, const struct fr_timed_schedule all[], size_t n)
{
    fputs("name,p,v,m,actions,makespan,longest_rank_span,bubble,peak_live_until_weight,"
          "peak_live_until_input_grad,weight_versions,staleness\n",
          f);
    for (size_t i = 0; i < n; i++) {
        const struct fr_schedule *s = all[i].schedule;
        const struct fr_replay *x = &all[i].replay;

        if (fr_schedule_kind_find(s->name))
            fputs(s->name, f);
        else
            fr__csv_write_quoted(f, s->name); /* a file's may hold a comma or a quote */
        fprintf(f, ",%u,%u,%u,%zu,", s->n_ranks, s->n_virtual, s->n_micros, s->n_actions);
        print_number(f, x->makespan);
        putc(',', f);
        print_number(f, x->longest_span);
        putc(',', f);
        print_number(f, x->bubble_frac);
        print_by_rank(f, x->live_weight, s->n_ranks);
        print_by_rank(f, x->live_input, s->n_ranks);
        print_by_rank(f, x->versions, s->n_ranks);
        print_by_rank(f, x->staleness, s->n_ranks);
        putc('\n', f);
    }
}

/* ---- the figures of a schedule ---- */

#define OF(function, member, expression)                                                           \
    FR_VALUE(function, struct fr_timed_schedule, x, member, expression)
OF(name_of, text, x->schedule->name)
OF(unit_of, text, x->unit)
OF(ranks_of, count, x->schedule->n_ranks)
OF(virtual_of, count, x->schedule->n_virtual)
OF(micros_of, count, x->schedule->n_micros)
OF(stages_of, count, x->schedule->n_stages)
OF(actions_of, count, x->schedule->n_actions)
FR_CONDITION(has_unit, struct fr_timed_schedule, x, x->unit != NULL)
FR_CONDITION(has_delays, struct fr_timed_schedule, x, x->schedule->weights == FR_WEIGHTS_CURRENT)

/* What stands by rank in an array of the replay. */
#define BY_RANK(function, member)                                                                  \
    static const void *function(const void *object, size_t i, union fr_item *room)                 \
    {                                                                                              \
        const struct fr_timed_schedule *x = object;                                                \
                                                                                                   \
        (void)room;                                                                                \
        return i < x->schedule->n_ranks ? &x->replay.member[i] : NULL;                             \
    }
BY_RANK(busy_item, busy)
BY_RANK(weight_item, live_weight)
BY_RANK(input_item, live_input)
BY_RANK(versions_item, versions)
BY_RANK(staleness_item, staleness)
BY_RANK(delay_item, delay_steps)

#define REPLAY(m)                                                                                  \
    .kind = FR_FIGURE_NUMBER, .offset = offsetof(struct fr_timed_schedule, replay.m),              \
    .width = sizeof(double)
#define COUNTS(function) .kind = FR_FIGURE_LIST, .figures = fr__values_u32, .item = (function)
#define NUMBERS(function) .kind = FR_FIGURE_LIST, .figures = fr__values_number, .item = (function)
static const struct fr_figure figures[] = {
    {.key = "name", FR_TEXT(name_of)},
    {.key = "unit", FR_TEXT(unit_of), .when = has_unit},
    {.key = "ranks", FR_COUNT(ranks_of)},
    {.key = "virtual", FR_COUNT(virtual_of)},
    {.key = "micro_batches", FR_COUNT(micros_of)},
    {.key = "stages", FR_COUNT(stages_of)},
    {.key = "actions", FR_COUNT(actions_of)},
    {.key = "makespan", REPLAY(makespan)},
    {.key = "longest_rank_span", REPLAY(longest_span)},
    {.key = "bubble", REPLAY(bubble_frac)},
    {.key = "busy", NUMBERS(busy_item)},
    {.key = "peak_live_until_weight", COUNTS(weight_item)},
    {.key = "peak_live_until_input_grad", COUNTS(input_item)},
    {.key = "weight_versions", COUNTS(versions_item)},
    {.key = "staleness", COUNTS(staleness_item)},
    {.key = "delay_steps", NUMBERS(delay_item), .when = has_delays},
    FR_END_OF_FIGURES,
};

/* ---- JSON ---- */

static void write_lists(struct fr__json *j, const struct fr_timed_schedule *x)
{
    const struct fr_schedule *s = x->schedule;

    fr__json_open(j, "ranks_actions", '[', false);
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        fr__json_open(j, NULL, '[', false);
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            char text[FR_ACTION_TEXT];

            fr__json_open(j, NULL, '{', true);
            fr__json_string(j, "action", fr_action_text(&s->actions[i], text));
            fr__json_number(j, "start", x->replay.start[i]);
            fr__json_number(j, "finish", x->replay.finish[i]);
            fr__json_close(j, '}');
        }
        fr__json_close(j, ']');
    }
    fr__json_close(j, ']');
}

static void write_schedule(struct fr__json *j, const struct fr_timed_schedule *x)
{
    fr__json_open(j, NULL, '{', false);
    fr__figures_json(j, figures, x);
    write_lists(j, x);
    fr__json_close(j, '}');
}

void fr__schedules_json(FILE *f, const void *what)
{
    const struct fr_schedules_answer *a = what;
    struct fr__json j;

    fr__json_init(&j, f);
    if (a->n != 1)
        fr__json_open(&j, NULL, '[', false);
    for (size_t i = 0; i < a->n; i++)
        write_schedule(&j, &a->schedules[i]);
    if (a->n != 1)
        fr__json_close(&j, ']');
}
