/* results/drawings/snake.c - places nodes in rows, every second row backwards, and bends edges.
 *
 * It is separate because graphs of layers, of ops and of explained plans are all placed so.
 */
#include "config.h"

#include "results/drawings/snake.h"

#include <math.h>

size_t fr__snake_columns(size_t n)
{
    size_t columns = (size_t)ceil(sqrt((double)n * 16 / 9 * FR__SNAKE_CELL_H / FR__SNAKE_CELL_W));

    return columns > 0 ? columns : 1;
}

/* The middle of node i. */
static void place(size_t n_columns, size_t i, double *x, double *y)
{
    size_t row = i / n_columns, column = i % n_columns;

    *x = FR__SNAKE_CELL_W * (double)(row % 2 ? n_columns - 1 - column : column);
    *y = -FR__SNAKE_CELL_H * (double)row;
}

struct fr__box fr__snake_node(size_t n_columns, size_t i)
{
    struct fr__box b = {.shape = FR__ROUND};

    if (n_columns == 0)
        return b;
    place(n_columns, i, &b.x, &b.y);
    b.w = FR__SNAKE_NODE_W;
    b.h = FR__SNAKE_NODE_H;
    return b;
}

/* In a row over the nodes between the ends; to the next row between the columns; past rows down
 * into the gap below the row, along it to one between columns, down there, and along the last. */
void fr__snake_detour(struct fr__wire *w, size_t n_columns, size_t from, size_t to)
{
    double x0, y0, x1, y1, aside, down, beside, reach = FR__SNAKE_NODE_H / 2.0;
    double gap = (FR__SNAKE_CELL_H - FR__SNAKE_NODE_H) / 2.0;

    place(n_columns, from, &x0, &y0);
    place(n_columns, to, &x1, &y1);
    w->is_curve = fabs(y1 - y0) < 1.5 * FR__SNAKE_CELL_H;
    if (lround(y0) == lround(y1)) {
        double up = reach + 18 + 6 * fabs(x1 - x0) / FR__SNAKE_CELL_W;

        fr__wire_to(w, x0, y0 + reach);
        fr__wire_to(w, x0, y0 + up);
        fr__wire_to(w, x1, y1 + up);
        fr__wire_to(w, x1, y1 + reach);
        return;
    }
    aside = (x1 >= x0 ? 1 : -1) * FR__SNAKE_NODE_W / 4.0;
    x0 += aside;
    x1 -= aside;
    down = y1 < y0 ? -1 : 1;
    y0 += down * reach;
    y1 -= down * reach;
    beside = (floor(x0 / FR__SNAKE_CELL_W) + 0.5) * FR__SNAKE_CELL_W;
    fr__wire_to(w, x0, y0);
    if (w->is_curve) {
        fr__wire_to(w, x0, y0 + down * 40);
        fr__wire_to(w, x1, y1 - down * 40);
    } else {
        fr__wire_to(w, x0, y0 + down * (gap - 4));
        fr__wire_to(w, beside, y0 + down * (gap - 4));
        fr__wire_to(w, beside, y1 - down * (gap + 4));
        fr__wire_to(w, x1, y1 - down * (gap + 4));
    }
    fr__wire_to(w, x1, y1);
}

struct fr__box *fr__snake_title(struct fr_drawing *d)
{
    return fr__words(d, "title", 0, -FR__SNAKE_NODE_W / 2.0, FR__SNAKE_NODE_H + 32, 16);
}

struct fr__box *fr__snake_subtitle(struct fr_drawing *d)
{
    return fr__words(d, "words", 0, -FR__SNAKE_NODE_W / 2.0, FR__SNAKE_NODE_H + 12, 11);
}
