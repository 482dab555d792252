/* results/document/record_memory.c - a record's memory as text: who holds it, what would fit.
 *
 * It is separate because it answers one question, why a run fits in memory or does not.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/number.h"
#include "results/parts/cells.h"
#include "results/parts/colours.h"
#include "results/document/record.h"

#include <string.h>

enum { NUMBER = 32 };

void fr__record_put_oom(struct fr__document *doc, const struct fr_record *r)
{
    char peak[NUMBER], capacity[NUMBER], over[NUMBER];

    fr__say(doc, "out of memory: ");
    fr__say_name(doc, r->oom_why.device);
    for (size_t i = 0; i < r->n_devices; i++) {
        const struct fr_record_device *d = &r->devices[i];

        if (strcmp(d->name, r->oom_why.device) != 0)
            continue;
        fr__say(doc, " must hold %s, has %s (%s too little); ",
                fr__format_bytes((double)d->peak_bytes, peak, sizeof(peak)),
                fr__format_bytes((double)d->capacity_bytes, capacity, sizeof(capacity)),
                fr__format_bytes((double)r->oom_why.over_bytes, over, sizeof(over)));
    }
    if (r->oom_why.task) {
        fr__say(doc, "first to go over: ");
        fr__say_name(doc, r->oom_why.task);
        if (r->oom_why.phase)
            fr__say(doc, " (%s), asking for %s", r->oom_why.phase,
                    fr__format_bytes((double)r->oom_why.asked_bytes, over, sizeof(over)));
        fr__say(doc, "\n");
    } else {
        fr__say(doc, "what stays for the whole iteration alone is too much\n");
    }
}

/* "10.2 ms in fc6.wgrad" */
static void moment(const struct fr_record_peak *p, char *buf, size_t n)
{
    char time[NUMBER], task[FR__TABLE_CELL];

    fr__table_text(task, p->task ? p->task : "");
    fr__format_time(p->at_s, time, sizeof(time));
    snprintf(buf, n, "at %s%s%.60s%s%s%s", time, p->task ? " in " : "", task, p->phase ? " (" : "",
             p->phase ? p->phase : "", p->phase ? ")" : "");
}

static void fill_holder(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record_peak *p = user;
    const struct fr_record_holder *h = &p->holders[i];

    fr__table_text(row->cell[0], h->name);
    fr__table_text(row->cell[1], fr_buffer_kind_name(h->kind));
    fr__format_bytes((double)h->bytes, row->cell[2], NUMBER);
    if (h->stays)
        fr__table_text(row->cell[3], "always");
    else
        fr__format_time(h->since_s, row->cell[3], NUMBER);
    fr__percent(p->bytes > 0 ? (double)h->bytes / (double)p->bytes : 0, row->cell[4], NUMBER);
}

void fr__record_put_holders(struct fr__document *doc, const struct fr_record_peak *p, size_t most)
{
    static const struct fr__table_column columns[] = {
        {"held", false}, {"as", false}, {"size", true}, {"since", true}, {"of all", true}};
    static const char *const bar[] = {FR__COLOUR_COPY};
    size_t n = p->n_holders < most ? p->n_holders : most;
    char text[FR__TABLE_CELL];

    if (!p->device)
        return;
    moment(p, text, sizeof(text));
    fr__say(doc, "\nmost is held on ");
    fr__say_name(doc, p->device);
    fr__say(doc, " %s:\n", text);
    fr__say_table(doc, &(struct fr__table){columns, fr__is_page(doc) ? 5 : 4, n, fill_holder, p},
                  0);
    if (fr__is_page(doc))
        fr__say_bars(doc, 4, 1, bar);
    if (p->holders_total > n)
        fr__say(doc, "  and %zu more\n", p->holders_total - n);
}

static void fill_advice(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record_advice *a = &((const struct fr_record *)user)->advice[i];
    size_t used;

    fr__table_text(row->cell[0], a->change);
    fr__table_text(row->cell[1], a->options);
    fr__rate_cell(row->cell[2], a->samples_per_s);
    used = strlen(fr__fixed(a->speed, 2, row->cell[3], NUMBER));
    snprintf(row->cell[3] + used, FR__TABLE_CELL - used, "x");
    fr__format_bytes((double)a->peak_bytes, row->cell[4], NUMBER);
    fr__table_text(row->cell[5], a->changes_training ? "changes the training" : "");
}

void fr__record_put_advice(struct fr__document *doc, const struct fr_record *r)
{
    static const struct fr__table_column columns[] = {{"what would fit", false}, {"options", false},
                                                      {"samples/s", true},       {"speed", true},
                                                      {"peak memory", true},     {"", false}};

    if (!r->has_advice)
        return;
    fr__say(doc, "\n");
    if (r->n_advice > 0)
        fr__say_table(doc, &(struct fr__table){columns, 6, r->n_advice, fill_advice, r}, 0);
    else if (r->advice_tried > 0)
        fr__say(doc, "no change fits: %u were simulated\n", r->advice_tried);
    if (r->is_advice_cut_short)
        fr__say(doc, "not everything was tried: simulations of this size take too long\n");
}

/* When it is, and the three kinds that hold most. */
void fr__record_held_cell(char cell[FR__TABLE_CELL], const struct fr_record_peak *p)
{
    bool is_told[FR_N_BUFFER_KINDS] = {false};
    char text[NUMBER];
    size_t used;

    moment(p, cell, FR__TABLE_CELL);
    for (int i = 0; i < 3; i++) {
        unsigned most = 0;

        for (unsigned kind = 1; kind < FR_N_BUFFER_KINDS; kind++)
            if (is_told[most] || (!is_told[kind] && p->memory_bytes[kind] > p->memory_bytes[most]))
                most = kind;
        if (is_told[most] || p->memory_bytes[most] == 0)
            return;
        is_told[most] = true;
        used = strlen(cell);
        snprintf(cell + used, FR__TABLE_CELL - used, "%s%s %s", i == 0 ? ": " : ", ",
                 fr_buffer_kind_name((enum fr_buffer_kind)most),
                 fr__format_bytes((double)p->memory_bytes[most], text, sizeof(text)));
    }
}
