/* results/drawings/snake.c - places nodes in rows, every second row backwards, and bends edges.
 *
 * It is separate because graphs of layers, of ops and of explained plans are all placed so.
 */
#include "config.h"

#include "results/drawings/dot.h"
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

void fr__snake_node(FILE *f, size_t n_columns, size_t i)
{
    double x, y;

    place(n_columns, i, &x, &y);
    fprintf(f, ", pos=\"%ld,%ld!\", width=", lround(x), lround(y));
    fr__dot_inches(f, FR__SNAKE_NODE_W);
    fputs(", height=", f);
    fr__dot_inches(f, FR__SNAKE_NODE_H);
    fputs(", fixedsize=true", f);
}

/* Down into the gap below the row, along it to one between columns, down there, and along the last
 * gap: straight pieces, whose control points are their ends. */
static void detour_past_rows(FILE *f, double out, double y0, double in, double y1)
{
    double down = y1 < y0 ? -1 : 1, reach = FR__SNAKE_NODE_H / 2.0;
    double gap = (FR__SNAKE_CELL_H - FR__SNAKE_NODE_H) / 2.0;
    double beside = (floor(out / FR__SNAKE_CELL_W) + 0.5) * FR__SNAKE_CELL_W;
    const double points[6][2] = {{out, y0 + down * reach},
                                 {out, y0 + down * (reach + gap - 4)},
                                 {beside, y0 + down * (reach + gap - 4)},
                                 {beside, y1 - down * (reach + gap + 4)},
                                 {in, y1 - down * (reach + gap + 4)},
                                 {in, y1 - down * (reach + 7)}};

    fprintf(f, ", pos=\"e,%ld,%ld %ld,%ld", lround(in), lround(y1 - down * reach),
            lround(points[0][0]), lround(points[0][1]));
    for (unsigned i = 1; i < 6; i++)
        fprintf(f, " %ld,%ld %ld,%ld %ld,%ld", lround(points[i - 1][0]), lround(points[i - 1][1]),
                lround(points[i][0]), lround(points[i][1]), lround(points[i][0]),
                lround(points[i][1]));
    putc('"', f);
}

/* In a row over the nodes between the ends; from row to row between the columns. */
void fr__snake_detour(FILE *f, size_t n_columns, size_t from, size_t to)
{
    double x0, y0, x1, y1, aside, out, in, down, reach = FR__SNAKE_NODE_H / 2.0;

    place(n_columns, from, &x0, &y0);
    place(n_columns, to, &x1, &y1);
    if (lround(y0) == lround(y1)) {
        double up = reach + 18 + 6 * fabs(x1 - x0) / FR__SNAKE_CELL_W;

        fprintf(f, ", pos=\"e,%ld,%ld %ld,%ld %ld,%ld %ld,%ld %ld,%ld\"", lround(x1),
                lround(y1 + reach), lround(x0), lround(y0 + reach), lround(x0), lround(y0 + up),
                lround(x1), lround(y1 + up), lround(x1), lround(y1 + reach + 7));
        return;
    }
    aside = (x1 >= x0 ? 1 : -1) * FR__SNAKE_NODE_W / 4.0;
    out = x0 + aside;
    in = x1 - aside;
    down = y1 < y0 ? -1 : 1;
    if (fabs(y1 - y0) > 1.5 * FR__SNAKE_CELL_H) {
        detour_past_rows(f, out, y0, in, y1);
        return;
    }
    fprintf(f, ", pos=\"e,%ld,%ld %ld,%ld %ld,%ld %ld,%ld %ld,%ld\"", lround(in),
            lround(y1 - down * reach), lround(out), lround(y0 + down * reach), lround(out),
            lround(y0 + down * (reach + 40)), lround(in), lround(y1 - down * (reach + 40)),
            lround(in), lround(y1 - down * (reach + 7)));
}

void fr__snake_title(FILE *f)
{
    double width = FR__SNAKE_CELL_W * 4.0;

    fprintf(f, "  title [pos=\"%ld,%d!\", width=", lround(width / 2 - FR__SNAKE_NODE_W / 2.0),
            FR__SNAKE_NODE_H + 32);
    fr__dot_inches(f, lround(width));
    fputs(", height=0.5, fixedsize=true, shape=plaintext, style=\"\", fontsize=16, label=\"", f);
}
