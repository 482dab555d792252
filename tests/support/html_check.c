/* tests/support/html_check.c - see html_check.h. */
#include "config.h"

#include "tests/support/html_check.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 64, NAME = 32 };

struct page {
    const char *at;
    char open[DEPTH][NAME];
    int depth, n_scripts;
    char fault[256];
};

static bool fail(struct page *p, const char *what)
{
    snprintf(p->fault, sizeof(p->fault), "%s before: %.120s", what, p->at);
    return false;
}

static bool is_one_of(const char *word, const char *const list[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(word, list) is_one_of(word, list, sizeof(list) / sizeof((list)[0]))

static bool entity(struct page *p)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(p->at, known[i], strlen(known[i])) == 0)
            return true;
    return fail(p, "a bare &");
}

static bool read_name(struct page *p, char name[NAME])
{
    size_t n = 0;

    while (isalnum((unsigned char)*p->at) || *p->at == '-' || *p->at == ':') {
        if (n + 1 == NAME)
            return fail(p, "a long name");
        name[n++] = *p->at++;
    }
    name[n] = '\0';
    return n > 0 || fail(p, "no name");
}

static bool attribute(struct page *p)
{
    static const char *const loading[] = {"src", "srcset", "action", "data", "xlink:href", "ping"};
    char name[NAME];

    if (!read_name(p, name))
        return false;
    if (IS_ONE_OF(name, loading) || strncmp(name, "on", 2) == 0)
        return fail(p, "an attribute that loads or runs");
    if (strncmp(p->at, "=\"", 2) != 0)
        return fail(p, "an attribute without a quoted value");
    p->at += 2;
    if (strcmp(name, "href") == 0 && *p->at != '#')
        return fail(p, "an address elsewhere");
    for (; *p->at && *p->at != '"'; p->at++)
        if (*p->at == '<' || *p->at == '>' || (*p->at == '&' && !entity(p)))
            return p->fault[0] ? false : fail(p, "an angle in an attribute");
    return *p->at++ == '"' || fail(p, "an open attribute");
}

static bool skip_to(struct page *p, const char *end)
{
    const char *found = strstr(p->at, end);

    if (!found)
        return fail(p, "no end");
    p->at = found;
    return true;
}

static bool closing(struct page *p)
{
    char name[NAME];

    p->at += 2;
    if (!read_name(p, name))
        return false;
    if (p->depth == 0 || strcmp(p->open[p->depth - 1], name) != 0)
        return fail(p, "an end of another element");
    p->depth--;
    return *p->at++ == '>' || fail(p, "no end of a tag");
}

static bool element(struct page *p)
{
    static const char *const empty[] = {"meta"};
    static const char *const loading[] = {"link",  "img",   "iframe",       "object", "embed",
                                          "base",  "form",  "image",        "use",    "audio",
                                          "video", "frame", "foreignObject"};
    char name[NAME];

    p->at++;
    if (!read_name(p, name))
        return false;
    if (IS_ONE_OF(name, loading))
        return fail(p, "an element that loads");
    while (*p->at == ' ') {
        p->at++;
        if (!attribute(p))
            return false;
    }
    if (strncmp(p->at, "/>", 2) == 0) {
        p->at += 2;
        return true;
    }
    if (*p->at++ != '>')
        return fail(p, "no end of a tag");
    if (IS_ONE_OF(name, empty))
        return true;
    if (p->depth == DEPTH)
        return fail(p, "too deep");
    strcpy(p->open[p->depth++], name);
    if (strcmp(name, "style") == 0)
        return skip_to(p, "</style>");
    if (strcmp(name, "script") == 0)
        return (p->n_scripts++ == 0 || fail(p, "a second script")) && skip_to(p, "</script>");
    return true;
}

const char *html_fault(const char *text)
{
    static const char doctype[] = "<!DOCTYPE html>\n";
    static struct page p; /* its fault is handed out */

    p = (struct page){.at = text};
    if (strncmp(text, doctype, sizeof(doctype) - 1) != 0)
        return "no doctype";
    p.at += sizeof(doctype) - 1;
    while (*p.at) {
        unsigned char c = (unsigned char)*p.at;

        if (strncmp(p.at, "</", 2) == 0) {
            if (!closing(&p))
                return p.fault;
        } else if (c == '<') {
            if (!element(&p))
                return p.fault;
        } else if (c == '>' || (c < 0x20 && c != '\n') || c == 0x7f || (c == '&' && !entity(&p))) {
            if (!p.fault[0])
                fail(&p, "a character that does not belong in text");
            return p.fault;
        } else {
            p.at++;
        }
    }
    return p.depth == 0 ? NULL : "elements left open";
}
