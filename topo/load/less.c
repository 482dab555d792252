/* topo/load/less.c - clusters whose links carry less than their line says, by options of a
 * question: these are put behind the line, as "less" and "over sockets". */
#include "config.h"

#include "topo/load/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char over_sockets[] = " over sockets";

/* The line with `less` and "over sockets" behind what it says already. On the heap. */
static char *append(const char *spec, const char *less, bool is_over_sockets)
{
    static const char word[] = " less ";
    const char *over = strstr(spec, over_sockets);
    size_t n = strlen(spec) + (less ? strlen(less) : 0) + sizeof(word) + sizeof(over_sockets);
    int n_before = (int)(over ? (size_t)(over - spec) : strlen(spec));
    char *text = malloc(n);

    if (text)
        snprintf(text, n, "%.*s%s%s%s", n_before, spec,
                 !less                ? ""
                 : strstr(spec, word) ? ","
                                      : word,
                 less ? less : "", over || is_over_sockets ? over_sockets : "");
    return text;
}

enum fr_status fr_topo_load_less(struct fr_topo **out, const char *spec, const char *less,
                                 bool is_over_sockets, struct fr_error *err)
{
    enum fr_status st;
    char *text;

    if (!less && !is_over_sockets)
        return fr_topo_load(out, spec, err);
    text = append(spec, less, is_over_sockets);
    if (!text)
        return fr__fail_nomem(err);
    st = fr_topo_load(out, text, err);
    free(text);
    return st;
}
