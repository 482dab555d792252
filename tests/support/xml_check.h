/* tests/support/xml_check.h - reads an XML document or an HTML page into a tree of nodes, for tests
 * of what we write.
 *
 * XML: what graphviz, gnuplot and SVG need. No DTD is read; only the five entities of XML and
 * numeric ones are known. HTML: "<!DOCTYPE html>" first, then one <html>. <meta> has no end tag,
 * <style> and <script> hold plain text, every other element is closed, every attribute is quoted
 * with ". This is stricter than HTML, and right for what the report writes.
 */
#ifndef FR_TESTS_SUPPORT_XML_CHECK_H
#define FR_TESTS_SUPPORT_XML_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct xml_attribute {
    const char *name, *value; /* value: entities decoded */
    struct xml_attribute *next;
};

/* An element, or a piece of text between elements (tag is NULL). */
struct xml_node {
    const char *tag, *text; /* text: entities decoded; NULL for an element */
    struct xml_attribute *attributes;
    struct xml_node *parent, *first, *last, *next;
};

struct xml_tree {
    struct xml_node *root; /* NULL: the text is not well-formed, see fault */
    char fault[256];
    struct fr__arena *arena;
};

/* The caller releases it with xml_free(). An id that two elements have is a fault, too. */
struct xml_tree *xml_parse(const char *text);
struct xml_tree *html_parse(const char *text);
void xml_free(struct xml_tree *t);

/* NULL: it has no such attribute. */
const char *xml_attribute(const struct xml_node *n, const char *name);
/* The attribute as a number; fails the test when there is none or it is something else. */
double xml_number(const struct xml_node *n, const char *name);

/* What is looked for. Each that is not NULL must hold. */
struct xml_wish {
    const char *tag;
    const char *attribute, *value; /* of "class": one of its words; no value: any */
    const char *text;              /* all the text inside, exactly */
};
/* The element after `after` in the order of the document (NULL: the first) inside root, root itself
 * left out, that is as wished; NULL: no more. */
const struct xml_node *xml_next(const struct xml_node *root, const struct xml_node *after,
                                struct xml_wish wish);
size_t xml_count(const struct xml_node *root, struct xml_wish wish);
/* The only one; fails the test when there is none or more than one. */
const struct xml_node *xml_only(const struct xml_node *root, struct xml_wish wish);
/* All the text inside n; the tree's. */
const char *xml_text(struct xml_tree *t, const struct xml_node *n);
/* The next element beside n, NULL for the last. */
const struct xml_node *xml_sibling(const struct xml_node *n);
/* The elements right inside n. */
size_t xml_n_children(const struct xml_node *n);
const struct xml_node *xml_child(const struct xml_node *n, size_t i); /* NULL: fewer */
/* Tags and names of attributes in order, no text and no values: two documents of the same shape
 * have equal ones. The tree's. */
const char *xml_skeleton(struct xml_tree *t);
#endif
