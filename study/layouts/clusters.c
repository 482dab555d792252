/* study/layouts/clusters.c - the clusters that a search is asked of: a topology's networks, and how
 * many of its GPUs.
 *
 * A network takes the place of what follows "via" in the topology's line (topo/load/compose.c). All
 * combinations are asked, networks in the order given, and for each of them all numbers of GPUs.
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/error.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 64 };

struct fr_search_clusters {
    struct fr__arena *arena;
    const char *nics[MOST_VALUES];
    uint64_t gpus[MOST_VALUES];
    size_t n_nics, n_gpus;
};

struct fr_search_clusters *fr_search_clusters_new(void)
{
    struct fr_search_clusters *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->arena = fr__arena_new();
    if (c->arena)
        return c;
    free(c);
    return NULL;
}

void fr_search_clusters_free(struct fr_search_clusters *c)
{
    if (!c)
        return;
    fr__arena_free(c->arena);
    free(c);
}

static enum fr_status too_many(const char *axis, struct fr_error *err)
{
    return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%s has more than %d values", axis, MOST_VALUES);
}

/* The end of a network's text: a comma before a word without ':' belongs to it, as in
 * "roce:25Gbps,4us". */
static const char *end_of_network(const char *text)
{
    const char *comma = strchr(text, ',');

    while (comma) {
        size_t n = strcspn(comma + 1, ",:");

        if (comma[1 + n] == ':')
            return comma;
        comma = strchr(comma + 1, ',');
    }
    return text + strlen(text);
}

static enum fr_status add_nics(struct fr_search_clusters *c, const char *text, struct fr_error *err)
{
    for (;;) {
        const char *end = end_of_network(text);
        char *nic = fr__arena_alloc(c->arena, (size_t)(end - text) + 1, 1);

        if (!nic)
            return fr__fail_nomem(err);
        if (end == text || strcspn(text, " ") < (size_t)(end - text))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "\"nic=%.60s\" is not a network such as ib:200Gbps", text);
        if (c->n_nics == MOST_VALUES)
            return too_many("nic", err);
        memcpy(nic, text, (size_t)(end - text));
        c->nics[c->n_nics++] = nic;
        if (*end == '\0')
            return FR_OK;
        text = end + 1;
    }
}

static enum fr_status add_gpus(struct fr_search_clusters *c, const char *text, struct fr_error *err)
{
    for (;;) {
        size_t n = strcspn(text, ",");
        char number[32];

        if (c->n_gpus == MOST_VALUES)
            return too_many("gpus", err);
        if (n >= sizeof(number))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "\"gpus=%.60s\" is not a number of GPUs",
                            text);
        memcpy(number, text, n);
        number[n] = '\0';
        FR_TRY(
            fr__parse_count(number, "gpus", FR_NOWHERE, 1, UINT32_MAX, &c->gpus[c->n_gpus], err));
        c->n_gpus++;
        if (text[n] == '\0')
            return FR_OK;
        text += n + 1;
    }
}

enum fr_status fr_search_clusters_axis(struct fr_search_clusters *c, const char *text,
                                       bool *is_cluster, struct fr_error *err)
{
    *is_cluster = true;
    if (strncmp(text, "nic=", 4) == 0)
        return add_nics(c, text + 4, err);
    if (strncmp(text, "gpus=", 5) == 0)
        return add_gpus(c, text + 5, err);
    *is_cluster = false;
    return FR_OK;
}

size_t fr_search_clusters_count(const struct fr_search_clusters *c)
{
    return (c->n_nics ? c->n_nics : 1) * (c->n_gpus ? c->n_gpus : 1);
}

/* The line with another network; NULL: out of memory. */
static const char *with_network(struct fr__arena *a, const char *topology, const char *nic)
{
    static const char word[] = " via ";
    const char *via = strstr(topology, word), *less = strstr(topology, " less ");
    size_t head =
        via ? (size_t)(via - topology) : (less ? (size_t)(less - topology) : strlen(topology));
    size_t tail = less ? strlen(less) : 0, length = strlen(nic), at = head + sizeof(word) - 1;
    char *text = fr__arena_alloc(a, at + length + tail + 1, 1);

    if (!text)
        return NULL;
    memcpy(text, topology, head);
    memcpy(text + head, word, sizeof(word) - 1);
    memcpy(text + at, nic, length);
    if (tail)
        memcpy(text + at + length, less, tail);
    return text;
}

enum fr_status fr_search_clusters_question(struct fr_search_clusters *c, size_t i,
                                           const struct fr_question *q, struct fr_question *out,
                                           struct fr_error *err)
{
    size_t n = c->n_gpus ? c->n_gpus : 1;

    *out = *q;
    if (c->n_gpus && q->devices)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "gpus= says how many GPUs, and --devices which; leave one of them out");
    if (c->n_gpus)
        out->n_gpus = (size_t)c->gpus[i % n];
    if (c->n_nics) {
        out->topology = with_network(c->arena, q->topology, c->nics[i / n]);
        if (!out->topology)
            return fr__fail_nomem(err);
    }
    return FR_OK;
}
