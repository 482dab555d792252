/* topo/gpus/gpus.c - finds the facts of a GPU that a topology file names by numbers. */
#include "config.h"

#include "topo/gpus/gpus.h"

#include <string.h>

/* RCCL writes 910 for gfx90a in its older files, and "gfx" before the number in newer ones. */
static const char *plain_gcn(const char *gcn)
{
    if (strncmp(gcn, "gfx", 3) == 0)
        gcn += 3;
    return strcmp(gcn, "910") == 0 ? "90a" : gcn;
}

static bool is_chip(const struct fr__gpu_facts *g, const struct fr__gpu_clues *c)
{
    if (c->gcn)
        return g->gcn && strcmp(g->gcn, plain_gcn(c->gcn)) == 0;
    return c->sm > 0 && g->sm == c->sm;
}

static bool has_id(const struct fr__gpu_facts *g, int64_t device)
{
    for (size_t i = 0; i < 4 && g->ids[i]; i++)
        if (g->ids[i] == device)
            return true;
    return false;
}

static bool is_grace(const struct fr__gpu_facts *g)
{
    return strncmp(g->type, "gb", 2) == 0 || strncmp(g->type, "gh", 2) == 0;
}

/* The newest older architecture, first of those joined alike. */
static const struct fr__gpu_facts *find_older(const struct fr__gpu_clues *c)
{
    const struct fr__gpu_facts *best = NULL;

    for (size_t i = 0; i < fr__n_gpus && !c->gcn; i++) {
        const struct fr__gpu_facts *g = &fr__gpus[i];

        if (!g->sm || g->sm > c->sm)
            continue;
        if (!best || g->sm > best->sm ||
            (g->sm == best->sm && best->join != c->join && g->join == c->join))
            best = g;
    }
    return best;
}

const struct fr__gpu_facts *fr__gpu_facts_find(const struct fr__gpu_clues *c,
                                               enum fr__gpu_match *match)
{
    const struct fr__gpu_facts *chip = NULL;

    *match = FR__MATCH_DEVICE;
    for (size_t i = 0; i < fr__n_gpus; i++)
        if (c->type ? strcmp(fr__gpus[i].type, c->type) == 0 : has_id(&fr__gpus[i], c->device)) {
            return &fr__gpus[i];
        }
    if (c->type)
        return NULL;
    for (size_t i = 0; i < fr__n_gpus; i++) {
        const struct fr__gpu_facts *g = &fr__gpus[i];

        if (!is_chip(g, c))
            continue;
        chip = chip ? chip : g;
        if (g->join == c->join && is_grace(g) == c->has_c2c) {
            *match = FR__MATCH_MODEL;
            return g;
        }
    }
    *match = chip ? FR__MATCH_CHIP : FR__MATCH_NEAREST;
    return chip ? chip : find_older(c);
}

const struct fr__gpu_facts *fr__gpu_facts_by_links(enum fr__gpu_join join, unsigned n_links)
{
    for (size_t i = 0; i < fr__n_gpus; i++)
        if (fr__gpus[i].join == join && fr__gpus[i].n_links == n_links)
            return &fr__gpus[i];
    return NULL;
}

const struct fr__gpu_facts *fr__gpu_facts_at(size_t i)
{
    return i < fr__n_gpus ? &fr__gpus[i] : NULL;
}

const struct fr_device_type *fr__gpu_facts_type(const struct fr__gpu_facts *f)
{
    const struct fr_device_type *type = fr_device_type_find(f->type);

    for (size_t i = 0; !type && i < fr__n_amd_types; i++)
        if (strcmp(fr__amd_types[i].name, f->type) == 0)
            type = &fr__amd_types[i];
    return type;
}
