/* lowering/pipeline/stages_given.c - names of layers and ops become the borders of stages. */
#include "config.h"

#include "lowering/pipeline/stages_given.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 256 };

size_t fr__stages_count_given(const char *text)
{
    size_t n = 1;

    for (const char *at = text; *at; at++)
        n += *at == ';';
    return *text ? n : 0;
}

/* Greedy with one place to come back to, so that the cost is O(name pattern). */
static bool matches_pattern(const char *pattern, const char *name)
{
    const char *star = NULL, *back = name;

    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            back = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++back;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static bool matches(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);

    if (strpbrk(pattern, "*?"))
        return matches_pattern(pattern, name);
    return strncmp(pattern, name, n) == 0 && (name[n] == '\0' || name[n] == '.' || name[n] == '/');
}

/* The first forward op of that name, or of a layer of that name; FR_NONE. */
static uint32_t find(const struct fr_graph *g, const char *pattern)
{
    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];

        if (op->phase == FR_PHASE_FORWARD &&
            (matches(pattern, op->name) ||
             (op->layer != FR_NONE && matches(pattern, g->layer_names[op->layer]))))
            return o;
    }
    return FR_NONE;
}

static enum fr_status fail_missing(const struct fr_graph *g, const char *name, struct fr_error *err)
{
    const char *near = fr__nearest(name, g->layer_names, g->n_layers);

    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "option 'cuts': '%s' has no layer or forward op '%s'%s%s%s", g->name, name,
                    near ? "; nearest is '" : "", near ? near : "", near ? "'" : "");
}

/* The stage that begins with a name. */
static enum fr_status begin_stage(uint32_t first[], size_t s, const char *name,
                                  const struct fr_graph *g, const struct fr__items *items,
                                  struct fr_error *err)
{
    uint32_t op = find(g, name), item = op == FR_NONE ? 0 : items->item_of[op];

    if (op == FR_NONE)
        return fail_missing(g, name, err);
    if (items->first[item] != op)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'cuts': '%s' is in the middle of what stays together from '%s' on",
                        name, g->ops[items->first[item]].name);
    if (item == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'cuts': the first stage begins with '%s' anyway", name);
    if (item <= first[s - 1])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'cuts': '%s' does not come after '%s', with which the stage before "
                        "begins",
                        name, g->ops[items->first[first[s - 1]]].name);
    first[s] = item;
    return FR_OK;
}

enum fr_status fr__stages_given(uint32_t first[], size_t n_stages, const char *text,
                                const struct fr_graph *g, const struct fr__items *items,
                                struct fr_error *err)
{
    size_t n = fr__stages_count_given(text);
    char name[MOST_NAME];

    if (n + 1 != n_stages)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'cuts' names %zu place%s, but %zu stages need %zu", n,
                        n == 1 ? "" : "s", n_stages, n_stages - 1);
    first[0] = 0;
    for (size_t s = 1; s < n_stages; s++) {
        size_t length = strcspn(text, ";");

        if (length == 0 || length >= sizeof(name))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "option 'cuts' has a name that is empty or of over %d letters",
                            MOST_NAME - 1);
        memcpy(name, text, length);
        name[length] = '\0';
        FR_TRY(begin_stage(first, s, name, g, items, err));
        text += length + (text[length] == ';');
    }
    first[n_stages] = (uint32_t)items->n;
    return FR_OK;
}
