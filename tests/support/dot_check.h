/* tests/support/dot_check.h - a graph in the DOT language as nodes and edges. For tests of writers.
 *
 * Read is what our writers put out: "graph NAME {" or "digraph NAME {", then statements that end
 * with ';': settings, nodes and edges with attributes in brackets. The text of a quoted string
 * is decoded, but for the line ends of labels, which become '\n', and "\N" and others that
 * graphviz would replace, which are faults.
 */
#ifndef FR_TESTS_SUPPORT_DOT_CHECK_H
#define FR_TESTS_SUPPORT_DOT_CHECK_H

#include "results/draw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct dot_attribute {
    const char *name, *value;
    struct dot_attribute *next;
};

struct dot_node {
    const char *id;
    struct dot_attribute *attributes;
    double x, y, w, h; /* points of 1/72 inch; of pos, width and height, where it has them */
    bool has_box;
};

struct dot_edge {
    const struct dot_node *from, *to;
    struct dot_attribute *attributes;
};

struct dot_graph {
    bool is_directed;
    struct dot_node *nodes;
    struct dot_edge *edges;
    size_t n_nodes, n_edges;
    struct dot_attribute *settings;
    struct fr__arena *arena;
};

/* A drawing as ".dot" or ".svg" text; the caller frees it. */
char *drawing_text(const struct fr_drawing *d, const char *ending);
/* A drawing by its DOT text; releases it. */
struct dot_graph *dot_of(struct fr_drawing *d);

/* Fails the test when the text is something else, names a node twice or has an edge to no node. The
 * caller releases it with dot_free(). */
struct dot_graph *dot_parse(const char *text);
void dot_free(struct dot_graph *g);

/* NULL: it has none. Attributes are of a node, an edge or the graph's settings. */
const char *dot_attribute(const struct dot_attribute *attributes, const char *name);
/* NULL: there is no such node. */
const struct dot_node *dot_node(const struct dot_graph *g, const char *id);
/* The node whose label is that; fails the test when there is none or more than one. */
const struct dot_node *dot_labelled(const struct dot_graph *g, const char *label);
/* How many nodes' labels begin so. */
size_t dot_count(const struct dot_graph *g, const char *label_start);
/* Boxes that stand: not plain text, points or frames around others. */
bool dot_is_box(const struct dot_node *n);

/* Fails the test unless no two boxes cover each other, and each edge that has a way of its own
 * begins at the border of one of its two boxes and ends at that of the other. */
void dot_check_places(const struct dot_graph *g);
#endif
