/* tests/support/html_check.c - looks through the tree of a page for links, scripts and faults. */
#include "config.h"

#include "tests/support/html_check.h"

#include <stdio.h>
#include <string.h>

static const char *const loading_elements[] = {"link",  "img",   "iframe",       "object", "embed",
                                               "base",  "form",  "use",          "image",  "audio",
                                               "video", "frame", "foreignObject"};
static const char *const loading_attributes[] = {"src",  "srcset",     "action",
                                                 "data", "xlink:href", "ping"};

static bool is_one_of(const char *word, const char *const list[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(word, list) is_one_of(word, list, sizeof(list) / sizeof((list)[0]))

static bool fail(struct xml_tree *t, const char *what, const char *name)
{
    snprintf(t->fault, sizeof(t->fault), "%s: %.100s", what, name);
    return false;
}

static bool is_harmless(struct xml_tree *t, const struct xml_node *n, const struct xml_attribute *a)
{
    if (IS_ONE_OF(a->name, loading_attributes) || strncmp(a->name, "on", 2) == 0)
        return fail(t, "an attribute that loads or runs", a->name);
    if (strcmp(a->name, "style") == 0 && strchr(a->value, '('))
        return fail(t, "a style that may load", a->value);
    if (strcmp(a->name, "href") != 0)
        return true;
    if (a->value[0] != '#')
        return fail(t, "an address elsewhere", a->value);
    if (xml_count(t->root, (struct xml_wish){.attribute = "id", .value = a->value + 1}) != 1)
        return fail(t, "a link to nothing", a->value);
    return strcmp(n->tag, "a") == 0 || fail(t, "a link that is none", n->tag);
}

const char *html_fault(struct xml_tree *page)
{
    const struct xml_wish any = {.tag = NULL};

    if (!page->root)
        return page->fault;
    for (const struct xml_node *n = NULL; (n = xml_next(page->root, n, any));) {
        if (IS_ONE_OF(n->tag, loading_elements)) {
            fail(page, "an element that loads", n->tag);
            return page->fault;
        }
        for (const struct xml_attribute *a = n->attributes; a; a = a->next)
            if (!is_harmless(page, n, a))
                return page->fault;
    }
    if (xml_count(page->root, (struct xml_wish){.tag = "script"}) > 1)
        fail(page, "a second script", "");
    return page->fault[0] ? page->fault : NULL;
}
