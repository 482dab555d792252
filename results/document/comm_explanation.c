/* results/document/comm_explanation.c - how a collective goes, as text: what was chosen, the links,
 * and who sends what to whom in each round. */
#include "config.h"

#include "results/document/builders.h"
#include "results/results.h"

#include "base/units.h"
#include "results/document/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DRAWN_RANKS = 16, MOST_DRAWN_ROUNDS = 64, CELL = 64 };

static const char *const KINDS[FR_N_LINK_KINDS] = {
    [FR_LINK_NVLINK] = "NVLink",
    [FR_LINK_PCIE] = "PCIe",
    [FR_LINK_CPU] = "CPU",
    [FR_LINK_NET] = "network",
};

static void print_choice(struct fr__document *doc, const struct fr_comm_table *t)
{
    const struct fr_comm_row *r = &t->rows[0];
    char bytes[32], time[32], estimate[32];

    fr__say(doc, "%s of %s on %zu GPUs of %zu machine%s of %s\n", fr_collective_kind_name(t->kind),
            fr__format_bytes((double)r->bytes, bytes, sizeof(bytes)), t->n_gpus, t->n_machines,
            t->n_machines == 1 ? "" : "s", t->topology);
    fr__put_nics(doc, t->nics, t->n_nics);
    fr__say(doc, "\n");
    fr__say_drawn(doc);
    fr__say(doc, "  time       %s, %.1f GB/s of the bus, by %s\n",
            fr__format_time(r->time_s, time, sizeof(time)), r->bus_Bps / 1e9,
            fr_comm_source_name(r->source));
    if (r->algorithm)
        fr__say(doc, "  algorithm  %s%s%s", r->algorithm, r->protocol ? " by protocol " : "",
                r->protocol ? r->protocol : "");
    else
        fr__say(doc, "  algorithm  the usual one");
    if (r->channels > 0)
        fr__say(doc, ", %u channel%s", r->channels, r->channels == 1 ? "" : "s");
    fr__say(doc, "%s", t->way ? ", as asked\n" : t->nccl_why ? "\n" : ", NCCL's choice\n");
    if (!isnan(r->nccl_s))
        fr__say(doc, "  NCCL says  %s, its tuner's own estimate\n",
                fr__format_time(r->nccl_s, estimate, sizeof(estimate)));
    if (t->nccl_why)
        fr__say(doc, "  NCCL       has no model of these GPUs: %s\n", t->nccl_why);
    fr__say_plain(doc);
}

static void print_links(struct fr__document *doc, const struct fr_comm_explanation *s)
{
    if (s->n_links == 0)
        return;
    fr__say(doc, "\nLinks, the part of the time that they are in use:\n\n");
    fr__say_drawn(doc);
    for (unsigned k = 0; k < FR_N_LINK_KINDS; k++)
        if (s->n_used[k] > 0)
            fr__say(doc, "  %-8s %6zu link%s %5.1f %% in the mean, %5.1f %% at most\n", KINDS[k],
                    s->n_used[k], s->n_used[k] == 1 ? ": " : "s:", 100 * s->mean_frac[k],
                    100 * s->most_frac[k]);
    fr__say(doc, "\n  the busiest\n");
    for (size_t i = 0; i < s->n_links; i++) {
        char bytes[32], rate[32];

        fr__say(doc, "  %-40s %10s at %-10s %5.1f %%\n", s->links[i].name,
                fr__format_bytes(s->links[i].bytes, bytes, sizeof(bytes)),
                fr__format_rate(s->links[i].bw_Bps, rate, sizeof(rate)),
                100 * s->links[i].used_frac);
    }
    fr__say_plain(doc);
}

/* "3", or "sw0" of a switch. */
static const char *entity(const struct fr_collective_rounds *t, uint32_t e, char *buf, size_t n)
{
    if (e < t->n_ranks)
        snprintf(buf, n, "%u", e);
    else
        snprintf(buf, n, "sw%u", e - t->n_ranks);
    return buf;
}

/* "3+2" is piece 3, which rank 2 adds; "3>2" piece 3, which rank 2 keeps; "3x4" are 4 pieces. */
static void add_message(char cell[CELL], const struct fr_collective_rounds *t,
                        const struct fr_collective_message *m)
{
    size_t used = strlen(cell);
    char to[16], more[16] = "";

    if (used + 1 >= CELL)
        return;
    if (m->n_pieces > 1)
        snprintf(more, sizeof(more), "x%u", m->n_pieces);
    snprintf(cell + used, CELL - used, "%s%u%s%c%s", used ? " " : "", m->first_piece, more,
             m->is_sum ? '+' : '>', entity(t, m->to, to, sizeof(to)));
}

/* What an entity sends in a round. */
static void fill_cell(char cell[CELL], const struct fr_collective_rounds *t, uint32_t e, uint32_t r)
{
    cell[0] = '\0';
    for (size_t i = 0; i < t->n_messages; i++)
        if (t->messages[i].round == r && t->messages[i].from == e)
            add_message(cell, t, &t->messages[i]);
}

static int width_of(const struct fr_collective_rounds *t, uint32_t e)
{
    char cell[CELL];
    size_t widest = strlen(entity(t, e, cell, sizeof(cell)));

    for (uint32_t r = 0; r < t->n_rounds; r++) {
        fill_cell(cell, t, e, r);
        widest = strlen(cell) > widest ? strlen(cell) : widest;
    }
    return (int)widest;
}

/* A line of cells without blanks at its end. */
static void print_line(struct fr__document *doc, const struct fr_collective_rounds *t,
                       const int width[], int round)
{
    int blanks = 0;

    for (uint32_t e = 0; e < t->n_ranks + t->n_switches; e++) {
        char cell[CELL];

        if (round < 0)
            entity(t, e, cell, sizeof(cell));
        else
            fill_cell(cell, t, e, (uint32_t)round);
        if (cell[0]) {
            fr__say(doc, "%*s%s", blanks + 2, "", cell);
            blanks = width[e] - (int)strlen(cell);
        } else {
            blanks += width[e] + 2;
        }
    }
    fr__say(doc, "\n");
}

static void print_drawing(struct fr__document *doc, const struct fr_collective_rounds *t)
{
    int width[2 * MOST_DRAWN_RANKS];

    for (uint32_t e = 0; e < t->n_ranks + t->n_switches; e++)
        width[e] = width_of(t, e);
    fr__say(doc, "\n");
    fr__say_drawn(doc);
    fr__say(doc, "  round");
    print_line(doc, t, width, -1);
    for (uint32_t r = 0; r < t->n_rounds; r++) {
        fr__say(doc, "  %5u", r + 1);
        print_line(doc, t, width, (int)r);
    }
    fr__say_plain(doc);
    fr__say(
        doc,
        "\n  3+2 is piece 3 sent to rank 2, which adds it; 3>2 one that rank 2 keeps; 3x4>2 are\n"
        "  4 pieces, the first of them 3.\n");
}

static void print_steps(struct fr__document *doc, const struct fr_collective_rounds *t)
{
    char most[32], all[32];

    fr__say(doc, "\nRounds of %s: %s (%s)\n\n", t->algorithm, t->summary, t->source);
    fr__say(doc, "  %u rounds, %zu messages, at most %s from a rank, %s from all ranks\n",
            t->n_rounds, t->n_messages, fr__format_bytes(t->most_sent_bytes, most, sizeof(most)),
            fr__format_bytes(t->sent_bytes, all, sizeof(all)));
    if (t->n_lanes > 1)
        fr__say(doc, "  told is the first of %u parts of the data, which all go like it\n",
                t->n_lanes);
    if (t->n_ranks > MOST_DRAWN_RANKS || t->n_switches > MOST_DRAWN_RANKS ||
        t->n_rounds > MOST_DRAWN_ROUNDS)
        fr__say(doc, "  up to %d ranks and %d rounds are drawn; --json has all messages\n",
                MOST_DRAWN_RANKS, MOST_DRAWN_ROUNDS);
    else
        print_drawing(doc, t);
}

enum fr_status fr__document_of_comm_explanation(struct fr__document *doc, const void *what,
                                                struct fr_error *err)
{
    const struct fr_comm_explanation *s = what;

    print_choice(doc, s->table);
    print_links(doc, s);
    if (s->steps)
        print_steps(doc, s->steps);
    else if (s->why_no_steps)
        fr__say(doc, "\nNo rounds are told: %s\n", s->why_no_steps);
    fr__say_picture(doc, FR__PICTURE_CHART, s, 0);
    return fr__document_check(doc, err);
}
