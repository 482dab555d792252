/* results/charts/chart.c - builds the description of a chart.
 *
 * It is separate from what draws it: this file knows no format.
 */
#include "config.h"

#include "results/charts/chart.h"
#include "results/parts/colours.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct fr__chart *fr__chart_new(void)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr__chart *c = arena ? fr__arena_alloc(arena, 1, sizeof(*c)) : NULL;

    if (!c) {
        fr__arena_free(arena);
        return NULL;
    }
    c->arena = arena;
    c->wide = 1600;
    c->high = 900;
    return c;
}

void fr__chart_free(struct fr__chart *c)
{
    if (c)
        fr__arena_free(c->arena);
}

/* Memory of the chart; NULL is remembered. */
static void *take(struct fr__chart *c, size_t n, size_t size)
{
    void *memory = fr__arena_alloc(c->arena, n, size);

    c->is_out_of_memory = c->is_out_of_memory || !memory;
    return memory;
}

static const char *copy(struct fr__chart *c, const char *text)
{
    const char *own = text ? fr__arena_strdup(c->arena, text) : NULL;

    c->is_out_of_memory = c->is_out_of_memory || (text && !own);
    return own;
}

/* An array with room for one more than n, whose first n elements are kept; NULL: out of memory. */
static void *grow(struct fr__chart *c, void *array, size_t n, size_t *cap, size_t size)
{
    void *more;

    if (n < *cap)
        return array;
    more = take(c, *cap ? 2 * *cap : 8, size);
    if (!more)
        return NULL;
    if (n > 0)
        memcpy(more, array, n * size);
    *cap = *cap ? 2 * *cap : 8;
    return more;
}

const char *fr__chart_text(struct fr__chart *c, const char *format, ...)
{
    char text[1024];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return copy(c, text);
}

struct fr__panel *fr__chart_panel(struct fr__chart *c, double left, double right, double bottom,
                                  double top)
{
    struct fr__panel *p = &c->panels[c->n_panels < FR__CHART_PANELS ? c->n_panels++ : 0];

    *p = (struct fr__panel){.left = left, .right = right, .bottom = bottom, .top = top, .chart = c};
    return p;
}

struct fr__chart_series *fr__panel_series(struct fr__panel *p, struct fr__chart_style style)
{
    struct fr__chart_series *s = take(p->chart, 1, sizeof(*s));

    if (!s)
        return NULL;
    s->style = style;
    s->style.title = copy(p->chart, style.title);
    s->chart = p->chart;
    *(p->series ? &p->last_series->next : &p->series) = s;
    p->last_series = s;
    return s;
}

void fr__series_box(struct fr__chart_series *s, double x0, double x1, double y0, double y1)
{
    size_t cap;
    void *rows;

    if (!s)
        return;
    cap = s->cap;
    rows = grow(s->chart, s->rows, s->n, &cap, sizeof(*s->rows));
    if (!rows)
        return;
    s->rows = rows;
    if (s->hints && cap != s->cap) {
        size_t had = s->cap;

        s->hints = grow(s->chart, s->hints, s->n, &had, sizeof(*s->hints));
    }
    s->cap = cap;
    s->rows[s->n][0] = x0;
    s->rows[s->n][1] = x1;
    s->rows[s->n][2] = y0;
    s->rows[s->n++][3] = y1;
}

void fr__series_point(struct fr__chart_series *s, double x, double y)
{
    fr__series_box(s, x, y, 0, 0);
}

void fr__series_hint(struct fr__chart_series *s, const char *hint)
{
    if (!s || s->n == 0)
        return;
    if (!s->hints)
        s->hints = take(s->chart, s->cap, sizeof(*s->hints));
    if (s->hints)
        s->hints[s->n - 1] = copy(s->chart, hint);
}

void fr__axis_tick(struct fr__panel *p, struct fr__chart_axis *axis, double at, const char *text)
{
    void *ticks =
        grow(p->chart, axis->ticks, axis->n_ticks, &axis->cap_ticks, sizeof(*axis->ticks));

    if (!ticks)
        return;
    axis->ticks = ticks;
    axis->ticks[axis->n_ticks++] = (struct fr__chart_tick){copy(p->chart, text), at};
}

void fr__panel_note(struct fr__panel *p, struct fr__chart_note note)
{
    struct fr__chart_note *own = take(p->chart, 1, sizeof(*own));

    if (!own)
        return;
    *own = note;
    own->text = copy(p->chart, note.text);
    own->next = NULL;
    *(p->notes ? &p->last_note->next : &p->notes) = own;
    p->last_note = own;
}

void fr__panel_line(struct fr__panel *p, struct fr__chart_line line)
{
    struct fr__chart_line *own = take(p->chart, 1, sizeof(*own));

    if (!own)
        return;
    *own = line;
    own->next = NULL;
    *(p->lines ? &p->last_line->next : &p->lines) = own;
    p->last_line = own;
}

void fr__panel_limit(struct fr__panel *p, double at, bool is_upright)
{
    struct fr__chart_line line = {
        .colour = FR__COLOUR_LIMIT, .width = 1.5, .is_dashed = true, .is_behind = is_upright};

    if (is_upright) {
        line.x0 = line.x1 = at;
        line.y1 = 1;
        line.y_by = FR__BY_PANEL;
    } else {
        line.y0 = line.y1 = at;
        line.x1 = 1;
        line.x_by = FR__BY_PANEL;
    }
    fr__panel_line(p, line);
}
