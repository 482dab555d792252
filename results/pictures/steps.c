/* results/pictures/steps.c - the messages of a collective, round by round.
 *
 * A column is a rank, or a switch that sums, and time goes down. An arrow is a message, with the
 * number of the piece of data that it carries where there are several. What the receiver adds to
 * its own is blue, what it keeps orange.
 */
#include "config.h"

#include "results/pictures/pictures.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"

#include <math.h>

enum { MOST_RANKS = 33, MOST_ROUNDS = 80, MOST_LABELS = 260 };

/* The label stands near its sender, above the arrow. */
static void put_message(struct fr__panel *p, struct fr__chart_series *s,
                        const struct fr_collective_message *m, bool has_label)
{
    const double down = 0.86, label = 0.16;
    double far = (double)m->to - m->from, part = label / fabs(far);

    fr__series_box(s, m->from, m->to, m->round, m->round + down);
    if (!has_label)
        return;
    fr__panel_note(p, (struct fr__chart_note){
                          .text = m->n_pieces > 1 ? fr__chart_text(p->chart, "%ux%u",
                                                                   m->first_piece, m->n_pieces)
                                                  : fr__chart_text(p->chart, "%u", m->first_piece),
                          .x = m->from + part * far,
                          .y = m->round + part * down - 0.07,
                          .points = 10});
}

static void put_messages(struct fr__panel *p, const struct fr_collective_rounds *t)
{
    static const struct fr__chart_style styles[2] = {{.mark = FR__ARROWS,
                                                      .colour = FR__COLOUR_BACKWARD_WEIGHT,
                                                      .width = 1.6,
                                                      .title = "kept by the receiver"},
                                                     {.mark = FR__ARROWS,
                                                      .colour = FR__COLOUR_FORWARD,
                                                      .width = 1.6,
                                                      .title = "added by the receiver"}};
    bool has_labels = t->n_messages <= MOST_LABELS && t->n_pieces / t->n_lanes > 1;

    for (unsigned is_sum = 2; is_sum-- > 0;) {
        struct fr__chart_series *s = fr__panel_series(p, styles[is_sum]);

        for (size_t i = 0; i < t->n_messages; i++)
            if (t->messages[i].is_sum == (is_sum == 1))
                put_message(p, s, &t->messages[i], has_labels);
    }
}

static void set_heading(struct fr__chart *c, const struct fr_comm_explanation *s)
{
    const struct fr_collective_rounds *t = s->steps;
    char bytes[32], most[32];

    c->title = fr__chart_text(
        c, "%s of %s on %u GPUs: %s, %u rounds", fr_collective_kind_name(s->table->kind),
        fr__format_bytes((double)s->table->rows[0].bytes, bytes, sizeof(bytes)), t->n_ranks,
        t->algorithm, t->n_rounds);
    c->subtitle = fr__chart_text(c, "each rank sends at most %s%s; %s",
                                 fr__format_bytes(t->most_sent_bytes, most, sizeof(most)),
                                 t->n_lanes > 1 ? " of the first part of the data" : "", t->source);
}

static void put_axes(struct fr__panel *p, const struct fr_collective_rounds *t)
{
    uint32_t n = t->n_ranks + t->n_switches;

    p->frame = FR__FRAME_NONE;
    p->x = (struct fr__chart_axis){.low = -0.6, .high = n - 0.4};
    p->top_axis = p->x;
    p->top_axis.is_named = true;
    p->top_axis.label = "rank";
    p->y = (struct fr__chart_axis){
        .low = t->n_rounds + 0.1, .high = -0.35, .is_named = true, .label = "round"};
    p->x.hides_numbers = p->x.is_named = true;
    for (uint32_t e = 0; e < n; e++) {
        bool is_rank = e < t->n_ranks;

        fr__axis_tick(p, &p->top_axis, e,
                      is_rank ? fr__chart_text(p->chart, "%u", e)
                              : fr__chart_text(p->chart, "switch %u", e - t->n_ranks));
        fr__panel_line(p, (struct fr__chart_line){.x0 = e,
                                                  .x1 = e,
                                                  .y1 = t->n_rounds,
                                                  .width = is_rank ? 1 : 3,
                                                  .colour = FR__COLOUR_IDLE,
                                                  .is_behind = true});
    }
    for (uint32_t r = 0; r < t->n_rounds; r++)
        fr__axis_tick(p, &p->y, r + 0.45, fr__chart_text(p->chart, "%u", r + 1));
}

static void describe(struct fr__chart *c, const struct fr_comm_explanation *s)
{
    struct fr__panel *p = fr__chart_panel(c, 0.06, 0.98, 0.04, 0.82);

    set_heading(c, s);
    put_axes(p, s->steps);
    put_messages(p, s->steps);
    p->key = FR__KEY_BELOW;
}

enum fr_status fr__chart_of_comm_explanation(struct fr__chart *c, const void *what,
                                             struct fr_error *err)
{
    const struct fr_comm_explanation *s = what;
    const struct fr_collective_rounds *t = s->steps;

    if (!t || t->n_messages == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no messages to draw%s%s", t ? "" : ": ",
                        t ? "" : s->why_no_steps);
    if (t->n_ranks + t->n_switches > MOST_RANKS || t->n_rounds > MOST_ROUNDS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%u ranks in %u rounds are too many to draw, up to %d in %d can be: take "
                        "fewer GPUs (-g)",
                        t->n_ranks, t->n_rounds, MOST_RANKS, MOST_ROUNDS);
    describe(c, s);
    return FR_OK;
}
