/* collectives/nccl/system.c - nodes and links of a machine as NCCL keeps them (topo.cc). */
#include "config.h"

#include "base/error.h"
#include "collectives/nccl/system.h"

#include <stdlib.h>

void fr__ns_fini(struct fr__ns *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->nodes[i].links);
    free(s->nodes);
    for (unsigned t = 0; t < FR__NS_N; t++) {
        free(s->of[t]);
        free(s->paths[t]);
    }
    *s = (struct fr__ns){.n = 0};
}

static uint32_t no_memory(struct fr__ns *s)
{
    s->is_out_of_memory = true;
    return FR_NONE;
}

uint32_t fr__ns_add(struct fr__ns *s, enum fr__ns_type type)
{
    uint32_t *of;

    if (s->n == FR__NS_MOST_NODES || (type == FR__NS_GPU && s->count[type] == FR__NS_MOST_GPUS))
        return FR_NONE;
    if (s->n == s->cap) {
        uint32_t cap = 2 * s->cap + 16;
        struct fr__ns_node *more = realloc(s->nodes, cap * sizeof(*more));

        if (!more)
            return no_memory(s);
        s->nodes = more;
        s->cap = cap;
    }
    of = realloc(s->of[type], (s->count[type] + 1) * sizeof(*of));
    if (!of)
        return no_memory(s);
    s->of[type] = of;
    of[s->count[type]] = s->n;
    s->nodes[s->n] = (struct fr__ns_node){.type = type, .number = s->count[type]++};
    return s->n++;
}

/* Links of the same type to the same node are one. The list stays in falling order of bandwidth;
 * NCCL's searches follow it. */
bool fr__ns_link(struct fr__ns *s, uint32_t from, uint32_t to, enum fr__ns_link_type type, float bw)
{
    struct fr__ns_node *node = &s->nodes[from];
    struct fr__ns_link link;
    uint32_t i = 0;

    while (i < node->n_links && (node->links[i].to != to || node->links[i].type != type))
        i++;
    if (i == node->n_links) {
        if (node->n_links == FR__NS_MOST_LINKS)
            return false;
        if (node->n_links == node->cap_links) {
            uint32_t cap = 2 * node->cap_links + 4;
            struct fr__ns_link *more = realloc(node->links, cap * sizeof(*more));

            if (!more) {
                (void)no_memory(s);
                return false;
            }
            node->links = more;
            node->cap_links = cap;
        }
        node->links[node->n_links++] = (struct fr__ns_link){.to = to, .type = type};
    }
    node->links[i].bw += bw;
    link = node->links[i];
    for (; i > 0 && node->links[i - 1].bw < link.bw; i--)
        node->links[i] = node->links[i - 1];
    node->links[i] = link;
    return true;
}

bool fr__ns_connect(struct fr__ns *s, uint32_t one, uint32_t other, enum fr__ns_link_type type,
                    float bw)
{
    return fr__ns_link(s, one, other, type, bw) && fr__ns_link(s, other, one, type, bw);
}

enum fr_status fr__ns_fail_full(const struct fr__ns *s, struct fr_error *err)
{
    if (s->is_out_of_memory)
        return fr__fail_nomem(err);
    return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                    "the machine has more parts than NCCL knows of (%d GPUs, %d nodes)",
                    FR__NS_MOST_GPUS, FR__NS_MOST_NODES);
}
