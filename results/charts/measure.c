/* results/charts/measure.c - where the parts of a chart stand: ticks, keys, panels beside keys.
 *
 * It is separate because it holds what both renderers must agree about.
 */
#include "config.h"

#include "results/charts/chart.h"
#include "results/parts/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

/* Widths in sans serif, of the widest font that renderers take (DejaVu Sans), as shares of its
 * size: narrow, slim, wide and capital letters; all others are small letters or digits. */
static double letter(unsigned char c)
{
    if (strchr("ijl.,:;'|![](){}Itfr-/ ", c))
        return 0.38;
    if (strchr("ckszvxy", c))
        return 0.58;
    if (strchr("mwMW%@+=~", c))
        return 0.9;
    return c >= 'A' && c <= 'Z' ? 0.71 : 0.62;
}

double fr__text_pixels(const char *text, double points)
{
    double size = points * 4.0 / 3, sum = 0;

    for (const unsigned char *s = (const unsigned char *)text; *s; s++)
        sum += (*s & 0xc0) == 0x80 ? 0 : letter(*s); /* a letter's further bytes have no width */
    return size * sum;
}

/* ---- axes ---- */

enum { TICK_WIDE = 110, TICK_HIGH = 45 }; /* pixels that a number takes at least */

double fr__chart_step(double least)
{
    double power = pow(10, floor(log10(least)));

    return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

/* "2M", "0.5", "1e-05". */
static void put_number(char text[FR__TICK_TEXT], double x, bool has_si)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t u = 0;

    while (has_si && fabs(x) >= 1000 && u + 1 < sizeof(units) / sizeof(units[0])) {
        x /= 1000;
        u++;
    }
    snprintf(text, FR__TICK_TEXT, "%.6g%s", fabs(x) < 1e-12 ? 0 : x, units[u]);
}

void fr__axis_settle(struct fr__panel *p, struct fr__chart_axis *axis, unsigned most)
{
    double low = fmin(axis->low, axis->high), high = fmax(axis->low, axis->high);
    double ticks[FR__MAX_TICKS];
    unsigned n = 0;

    if (axis->n_ticks > 0 || !(high > low))
        return;
    if (axis->log > 0) {
        n = fr__log_ticks(low, high, most, ticks);
    } else {
        double step = fr__chart_step((high - low) / most);

        for (double i = ceil(low / step - 1e-9);
             i * step <= high + 1e-9 * (high - low) && n < most + 2; i++)
            ticks[n++] = i * step;
    }
    for (unsigned i = 0; i < n; i++) {
        char text[FR__TICK_TEXT] = "";

        if (!axis->hides_numbers)
            put_number(text, ticks[i], axis->has_si);
        fr__axis_tick(p, axis, ticks[i], text);
    }
}

void fr__panel_settle(struct fr__panel *p)
{
    struct fr__panel_place at = fr__panel_place(p);
    double wide = (at.right - at.left) * p->chart->wide;
    double high = (at.top - at.bottom) * p->chart->high;

    fr__axis_settle(p, &p->x, (unsigned)fmax(4, wide / (p->x.log > 0 ? TICK_HIGH : TICK_WIDE)));
    fr__axis_settle(p, &p->y, (unsigned)fmax(3, high / TICK_HIGH));
}

double fr__axis_share(const struct fr__chart_axis *a, double x)
{
    return a->log > 0 ? log(x / a->low) / log(a->high / a->low) : (x - a->low) / (a->high - a->low);
}

/* ---- keys ---- */

static unsigned key_points(const struct fr__chart *c)
{
    return c->is_small ? 9 : 12;
}

static double row_pixels(const struct fr__chart *c)
{
    return c->is_small ? 16 : FR__KEY_ROW;
}

/* Of a sample, its title and the gap behind them. */
static double item_pixels(const struct fr__chart *c, const char *title)
{
    return FR__KEY_SWATCH + 8 + fr__text_pixels(title, key_points(c)) + 18;
}

static bool is_listed(const struct fr__key_item items[], size_t n, const char *title)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].series && strcmp(items[i].series->style.title, title) == 0)
            return true;
    return false;
}

static size_t list_items(const struct fr__panel *p, struct fr__key_item items[FR__KEY_ITEMS])
{
    const struct fr__panel *first = p->has_key_of_all ? p->chart->panels : p;
    const struct fr__panel *last = p->has_key_of_all ? first + p->chart->n_panels - 1 : p;
    size_t n = 0;

    if (p->key == FR__KEY_NONE)
        return 0;
    if (p->key_title)
        items[n++].series = NULL;
    for (; first <= last; first++)
        for (const struct fr__chart_series *s = first->series; s && n < FR__KEY_ITEMS; s = s->next)
            if (s->style.title && (s->n > 0 || s->style.is_key_alone) &&
                !is_listed(items, n, s->style.title))
                items[n++].series = s;
    return n;
}

static double wide_of(const struct fr__panel *p, const struct fr__key_item *item)
{
    return item->series ? item_pixels(p->chart, item->series->style.title)
                        : fr__text_pixels(p->key_title, key_points(p->chart)) + 18;
}

/* Puts items into rows of at most `room` pixels: x from the row's left, y the number of the row.
 * Returns how many rows. */
static size_t fill_rows(const struct fr__panel *p, struct fr__key_item items[], size_t n,
                        double room)
{
    size_t row = 0;
    double x = 0;

    for (size_t i = 0; i < n; i++) {
        double wide = wide_of(p, &items[i]);

        if (x > 0 && x + wide > room) {
            row++;
            x = 0;
        }
        items[i].x = x;
        items[i].y = (double)row;
        x += wide;
    }
    return n > 0 ? row + 1 : 0;
}

static double room_of(const struct fr__panel *p)
{
    return p->chart->wide * (p->key == FR__KEY_BELOW
                                 ? 0.94
                                 : p->right - (p->title ? 0.5 * (p->left + p->right) : 0));
}

static size_t count_rows(const struct fr__panel *p)
{
    struct fr__key_item items[FR__KEY_ITEMS];
    size_t n = list_items(p, items);

    return fill_rows(p, items, n, room_of(p));
}

/* Rows of a key at the foot of the picture. */
static size_t rows_below(const struct fr__chart *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_panels; i++)
        if (c->panels[i].key == FR__KEY_BELOW)
            n = count_rows(&c->panels[i]);
    return n;
}

static double widest_item(const struct fr__panel *p)
{
    struct fr__key_item items[FR__KEY_ITEMS];
    size_t n = list_items(p, items);
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, wide_of(p, &items[i]));
    return most;
}

struct fr__panel_place fr__panel_place(const struct fr__panel *p)
{
    const struct fr__chart *c = p->chart;
    struct fr__panel_place at = {p->left, p->right, p->bottom, p->top};
    double row = row_pixels(c) / c->high;

    at.bottom += row * (double)rows_below(c);
    if (p->key == FR__KEY_ABOVE && count_rows(p) > 2) /* two have room below a heading */
        at.top -= row * (double)(count_rows(p) - 2);
    if (p->key == FR__KEY_RIGHT)
        at.right -= (widest_item(p) + 12) / c->wide;
    if (p->narrows_to > 0)
        at.right =
            fmin(at.right, at.left + p->narrows_to * (at.top - at.bottom) * c->high / c->wide);
    return at;
}

size_t fr__panel_key(const struct fr__panel *p, struct fr__key_item items[FR__KEY_ITEMS])
{
    const struct fr__chart *c = p->chart;
    struct fr__panel_place at = fr__panel_place(p);
    size_t n = list_items(p, items), n_rows = fill_rows(p, items, n, room_of(p));
    double row = row_pixels(c), ends[FR__KEY_ITEMS] = {0};
    double top = c->high * at.top + row * ((double)n_rows - 0.5) + 6;

    if (p->key == FR__KEY_BELOW)
        top = row * ((double)n_rows - 0.5) + 8;
    for (size_t i = 0; i < n; i++)
        ends[(size_t)items[i].y] = items[i].x + wide_of(p, &items[i]) - 18;
    for (size_t i = 0; i < n; i++) {
        if (p->key == FR__KEY_ABOVE) {
            items[i].x += c->wide * at.right - ends[(size_t)items[i].y];
            items[i].y = top - row * items[i].y;
        } else if (p->key == FR__KEY_BELOW) {
            items[i].x += (c->wide - ends[(size_t)items[i].y]) / 2;
            items[i].y = top - row * items[i].y;
        } else {
            items[i].x = p->key == FR__KEY_RIGHT ? c->wide * at.right + 18 : c->wide * at.left + 14;
            items[i].y = c->high * at.top - row * ((double)i + 0.8);
        }
    }
    return n;
}

/* ---- lengths ---- */

double fr__panel_wide(const struct fr__panel *p, double length)
{
    struct fr__panel_place at = fr__panel_place(p);

    return p->chart->wide * (at.right - at.left) * length / fabs(p->x.high - p->x.low);
}

double fr__panel_high(const struct fr__panel *p, double length)
{
    struct fr__panel_place at = fr__panel_place(p);

    return p->chart->high * (at.top - at.bottom) * length / fabs(p->y.high - p->y.low);
}

/* ---- names ---- */

enum { LEAST_POINTS = 9 }; /* of a name in its box */

bool fr__panel_name_box(struct fr__panel *p, const double box[4], const char *const names[],
                        size_t n, unsigned points, const char *colour)
{
    double wide = fr__panel_wide(p, box[1] - box[0]), high = fr__panel_high(p, box[3] - box[2]);

    for (unsigned size = points; size >= LEAST_POINTS && high >= size * 1.2; size -= 3)
        for (size_t i = 0; i < n; i++) {
            if (!names[i] || !names[i][0] || fr__text_pixels(names[i], size) + 2 > wide)
                continue;
            fr__panel_note(p, (struct fr__chart_note){.text = names[i],
                                                      .x = (box[0] + box[1]) / 2,
                                                      .y = (box[2] + box[3]) / 2,
                                                      .points = size,
                                                      .on = colour});
            return true;
        }
    return false;
}

bool fr__panel_heading(const struct fr__panel *p, struct fr__chart_note *out)
{
    bool is_title = p->title != NULL;

    *out = (struct fr__chart_note){.text = is_title ? p->title : p->caption,
                                   .x = is_title ? 0.5 : 0,
                                   .y = 1,
                                   .up = is_title ? 1 : 0.7,
                                   .x_by = FR__BY_PANEL,
                                   .y_by = FR__BY_PANEL,
                                   .align = is_title ? FR__CENTRE : FR__FROM,
                                   .points = p->title_points ? p->title_points
                                             : is_title      ? 15
                                                             : 13};
    return out->text != NULL;
}
