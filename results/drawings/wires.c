/* results/drawings/wires.c - how a line gets past a box in its way. */
#include "config.h"

#include "results/drawings/wires.h"

#include <math.h>

/* Cuts the part from *low to *high of a line, which runs at x + t dx, to where it is within half of
 * middle; false: nowhere. */
static bool cut(double x, double dx, double middle, double half, double *low, double *high)
{
    double from = middle - half - x, to = middle + half - x;

    if (fabs(dx) < 1e-9)
        return from <= 0 && to >= 0;
    *low = fmax(*low, fmin(from / dx, to / dx));
    *high = fmin(*high, fmax(from / dx, to / dx));
    return *low < *high;
}

/* Whether the line from p to q passes behind any spot but a and b. */
static bool is_hidden(const struct fr__layout *l, const struct fr__spot *a,
                      const struct fr__spot *b, const double p[2], const double q[2])
{
    for (size_t i = 0; i < l->n_spots; i++) {
        const struct fr__spot *s = &l->spots[i];
        double low = 0, high = 1;

        if (s != a && s != b && cut(p[0], q[0] - p[0], s->x, s->w / 2 - 1, &low, &high) &&
            cut(p[1], q[1] - p[1], s->y, s->h / 2 - 1, &low, &high))
            return true;
    }
    return false;
}

void fr__wire_past(struct fr__wire *w, const struct fr__layout *l, const struct fr__spot *a,
                   const struct fr__spot *b)
{
    const struct fr__spot *high = a->y > b->y ? a : b, *low = high == a ? b : a;
    double bottom = high->y - high->h / 2, top = low->y + low->h / 2, bus = (bottom + top) / 2;
    double aside = low->x + (high->x > low->x ? 1 : -1) * low->w / 4;
    const double middles[2][2] = {{high->x, high->y}, {low->x, low->y}};
    const double edges[2][2] = {{high->x, bottom}, {low->x, top}};
    bool is_bent;

    if (bottom - top < 8 || !is_hidden(l, a, b, middles[0], middles[1]))
        return;
    is_bent = is_hidden(l, a, b, edges[0], edges[1]);
    fr__wire_to(w, high->x, bottom);
    if (is_bent) {
        fr__wire_to(w, high->x, bus);
        fr__wire_to(w, aside, bus);
    }
    fr__wire_to(w, is_bent ? aside : low->x, top);
}
