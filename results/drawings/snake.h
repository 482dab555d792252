/* results/drawings/snake.h - where nodes stand that are drawn in rows, every second row backwards.
 *
 * So a chain of any length has the shape of a slide, and its neighbours stand side by side.
 */
#ifndef FR_RESULTS_DRAWINGS_SNAKE_H
#define FR_RESULTS_DRAWINGS_SNAKE_H

#include <stddef.h>
#include <stdio.h>

/* The size of a node and of the cell in which it stands, in points of 1/72 inch. */
enum {
    FR__SNAKE_NODE_W = 150,
    FR__SNAKE_NODE_H = 66,
    FR__SNAKE_CELL_W = 184,
    FR__SNAKE_CELL_H = 108
};

/* How many columns n nodes take. */
size_t fr__snake_columns(size_t n);
/* The place and size of node i, as further attributes. */
void fr__snake_node(FILE *f, size_t n_columns, size_t i);
/* An edge's way around the nodes between its ends, as a further attribute. */
void fr__snake_detour(FILE *f, size_t n_columns, size_t from, size_t to);
/* The node of the title, up to its open label. */
void fr__snake_title(FILE *f);
#endif
