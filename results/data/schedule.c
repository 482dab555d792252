/* results/data/schedule.c - pipeline schedules as CSV and JSON. */
#include "config.h"

#include "base/csv.h"
#include "base/json.h"
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

static void write_counts(struct fr__json *j, const char *key, const uint32_t counts[], uint32_t n)
{
    fr__json_open(j, key, '[', true);
    for (uint32_t r = 0; r < n; r++)
        fr__json_count(j, NULL, counts[r]);
    fr__json_close(j, ']');
}

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
    const struct fr_schedule *s = x->schedule;

    fr__json_open(j, NULL, '{', false);
    fr__json_string(j, "name", s->name);
    if (x->unit)
        fr__json_string(j, "unit", x->unit);
    fr__json_count(j, "ranks", s->n_ranks);
    fr__json_count(j, "virtual", s->n_virtual);
    fr__json_count(j, "micro_batches", s->n_micros);
    fr__json_count(j, "stages", s->n_stages);
    fr__json_count(j, "actions", s->n_actions);
    fr__json_number(j, "makespan", x->replay.makespan);
    fr__json_number(j, "longest_rank_span", x->replay.longest_span);
    fr__json_number(j, "bubble", x->replay.bubble_frac);
    fr__json_open(j, "busy", '[', true);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        fr__json_number(j, NULL, x->replay.busy[r]);
    fr__json_close(j, ']');
    write_counts(j, "peak_live_until_weight", x->replay.live_weight, s->n_ranks);
    write_counts(j, "peak_live_until_input_grad", x->replay.live_input, s->n_ranks);
    write_counts(j, "weight_versions", x->replay.versions, s->n_ranks);
    write_counts(j, "staleness", x->replay.staleness, s->n_ranks);
    if (s->weights == FR_WEIGHTS_CURRENT) {
        fr__json_open(j, "delay_steps", '[', true);
        for (uint32_t r = 0; r < s->n_ranks; r++)
            fr__json_number(j, NULL, x->replay.delay_steps[r]);
        fr__json_close(j, ']');
    }
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
