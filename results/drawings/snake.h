/* results/drawings/snake.h - where nodes stand that are drawn in rows, every second row backwards.
 *
 * So a chain of any length has the shape of a slide, and its neighbours stand side by side.
 */
#ifndef FR_RESULTS_DRAWINGS_SNAKE_H
#define FR_RESULTS_DRAWINGS_SNAKE_H

#include "results/canvas/drawing.h"

/* The size of a node and of the cell in which it stands, in points. */
enum {
    FR__SNAKE_NODE_W = 150,
    FR__SNAKE_NODE_H = 66,
    FR__SNAKE_CELL_W = 184,
    FR__SNAKE_CELL_H = 108
};

/* How many columns n nodes take. */
size_t fr__snake_columns(size_t n);
/* The place and size of node i; none without columns, which is where graphviz is to find it. */
struct fr__box fr__snake_node(size_t n_columns, size_t i);
/* The way around the nodes between the ends of a wire. */
void fr__snake_detour(struct fr__wire *w, size_t n_columns, size_t from, size_t to);
/* Large words above the nodes, and smaller ones below those. */
struct fr__box *fr__snake_title(struct fr_drawing *d);
struct fr__box *fr__snake_subtitle(struct fr_drawing *d);
#endif
