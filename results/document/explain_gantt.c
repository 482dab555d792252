/* results/document/explain_gantt.c - a plan as lanes of characters, for small graphs.
 *
 * It is separate because it draws; the other files print tables.
 */
#include "config.h"

#include "results/document/explain.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 88, MAX_OPS = 48, MAX_LANES = 16, MAX_TICKS = 11 };

struct lane {
    char text[WIDTH + 1];
};

static size_t column_of(const struct fr__telling *t, double s)
{
    return (size_t)lround(s / t->p->makespan_s * WIDTH);
}

/* "[t7====]" where it is wide enough for brackets; a name that does not fit is left out. */
static void draw_op(const struct fr__telling *t, struct lane *lane, uint32_t op)
{
    size_t from = column_of(t, t->p->ops[op].start_s);
    size_t to = column_of(t, t->p->ops[op].end_s);
    const char *name = t->p->ops[op].name;
    size_t n = strlen(name);

    if (to - from < 2) {
        memset(lane->text + from, '|', to - from);
        return;
    }
    memset(lane->text + from, '=', to - from);
    lane->text[from] = '[';
    lane->text[to - 1] = ']';
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < 0x20 || (unsigned char)name[i] > 0x7e)
            return;
    if (n + 2 <= to - from)
        memcpy(lane->text + from + 1, name, n);
}

/* The smallest of 1, 2, 5, 10, ... for which at most MAX_TICKS fit. */
static double choose_step(double length)
{
    double power = pow(10, floor(log10(length / MAX_TICKS)));

    for (unsigned k = 0; k < 3; k++)
        if (length / (power * (double[]){1, 2, 5}[k]) <= MAX_TICKS)
            return power * (double[]){1, 2, 5}[k];
    return 10 * power;
}

static void draw_axis(const struct fr__telling *t, size_t margin)
{
    double length = t->unit.factor * t->p->makespan_s, step = choose_step(length);
    char text[40];
    size_t at = 0;

    fr__say(t->doc, "  %*s  ", (int)margin, "");
    for (unsigned tick = 0; tick * step <= length * (1 + 1e-12); tick++) {
        for (; at < column_of(t, tick * step / t->unit.factor); at++)
            fr__say(t->doc, " ");
        fr__format_double(tick * step, text, sizeof(text));
        fr__say(t->doc, "%s", text);
        at += strlen(text);
    }
    fr__say(t->doc, "%s\n", t->unit.after);
}

void fr__tell_gantt(const struct fr__telling *t)
{
    size_t n_devices = t->x->n_devices, margin = 0;
    struct lane lane;

    if (t->p->n_ops > MAX_OPS || n_devices > MAX_LANES || !(t->p->makespan_s > 0))
        return;
    fr__say(t->doc, "\n");
    fr__say_drawn(t->doc);
    for (size_t d = 0; d < n_devices; d++)
        if (strlen(t->x->devices[d].name) > margin)
            margin = strlen(t->x->devices[d].name);
    for (size_t d = 0; d < n_devices; d++) {
        memset(lane.text, '.', WIDTH);
        lane.text[WIDTH] = '\0';
        for (uint32_t op = 0; op < t->p->n_ops; op++)
            if (t->p->ops[op].device == d)
                draw_op(t, &lane, op);
        fr__say(t->doc, "  %-*s  %s\n", (int)margin, t->x->devices[d].name, lane.text);
    }
    draw_axis(t, margin);
    fr__say_plain(t->doc);
}
