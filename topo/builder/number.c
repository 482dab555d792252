/* topo/builder/number.c - makes a topology of what a builder has collected.
 *
 * It numbers the devices and checks what can only be checked of the whole: each machine has a
 * device and at most one CPU, and systems of collectives belong to machines that exist.
 */
#include "config.h"

#include "topo/builder/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers the devices of one kind machine by machine, in the order added inside a machine (a
 * counting sort). first: [n_machines + 1], filled with each machine's first index. */
static void number_devices(const struct fr_topo_builder *b, enum fr_vertex_kind kind, uint32_t base,
                           uint32_t first[], struct fr_vertex vertices[],
                           struct fr_device devices[])
{
    for (size_t m = 0; m <= b->n_machines; m++)
        first[m] = 0;
    for (size_t v = 0; v < b->n_vertices; v++)
        if (vertices[v].kind == kind)
            first[vertices[v].machine + 1]++;
    first[0] = base;
    for (size_t m = 0; m < b->n_machines; m++)
        first[m + 1] += first[m];
    for (size_t v = 0; v < b->n_vertices; v++) {
        uint32_t d;

        if (vertices[v].kind != kind)
            continue;
        d = first[vertices[v].machine]++;
        vertices[v].device = d;
        devices[d] = (struct fr_device){vertices[v].name, b->vertex_types[v], vertices[v].machine,
                                        (uint32_t)v};
    }
    for (size_t m = b->n_machines; m > 0; m--) /* restores the counters that placing has advanced */
        first[m] = first[m - 1];
    first[0] = base;
}

/* Each machine has a device, and one CPU at most. cpu: [n_machines + 1] as number_devices fills. */
static enum fr_status check_machines(const struct fr_topo_builder *b, const uint32_t gpu[],
                                     const uint32_t cpu[], struct fr_error *err)
{
    if (b->n_devices == 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the topology has no device");
    for (size_t m = 0; m < b->n_machines; m++) {
        if (cpu[m + 1] - cpu[m] > 1)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "machine %zu has %u CPUs: write all sockets of a machine as one CPU", m,
                            (unsigned)(cpu[m + 1] - cpu[m]));
        if (cpu[m + 1] == cpu[m] && gpu[m + 1] == gpu[m])
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "machine %zu has no device", m);
    }
    if (b->n_system_of > b->n_machines)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "a system of collectives is on machine %zu of %zu", b->n_system_of - 1,
                        b->n_machines);
    return FR_OK;
}

/* "16 GPUs (16x v100-sxm2-16gb) on 2 machines", cut where the line gets long. */
static const char *write_summary(const struct fr_topo_builder *b, const struct fr_device devices[])
{
    char line[256];
    size_t used =
        (size_t)snprintf(line, sizeof(line), "%zu GPU%s", b->n_gpus, b->n_gpus == 1 ? "" : "s");
    const char *before = " (";

    if (b->is_plain) {
        snprintf(line, sizeof(line), "%zu machine%s without hardware", b->n_gpus,
                 b->n_gpus == 1 ? "" : "s");
        return fr__arena_strdup(b->arena, line);
    }
    for (uint32_t t = 0; t < b->n_types && used < 160; t++) {
        size_t n = 0;

        for (size_t d = 0; d < b->n_gpus; d++)
            n += devices[d].type == t;
        if (n == 0)
            continue;
        used += (size_t)snprintf(line + used, 80, "%s%zux %.48s", before, n, b->types[t].name);
        before = ", ";
    }
    snprintf(line + used, sizeof(line) - used, "%s on %zu machine%s", b->n_gpus ? ")" : "",
             b->n_machines, b->n_machines == 1 ? "" : "s");
    return fr__arena_strdup(b->arena, line);
}

/* Gives back what an array of the heap has too much; false: out of memory, it is as it was. */
static bool shrink(void *array, size_t n, size_t size)
{
    void *old, *fit;

    memcpy(&old, array, sizeof(old));
    fit = realloc(old, (n ? n : 1) * size);
    if (!fit)
        return false;
    memcpy(array, &fit, sizeof(fit));
    return true;
}

/* An array of the arena with the same content as the heap array. */
static void *settle(struct fr__arena *a, const void *from, size_t n, size_t size)
{
    void *to = fr__arena_alloc(a, n, size);

    if (to && n)
        memcpy(to, from, n * size);
    return to;
}

static const uint32_t *lay_out_systems(const struct fr_topo_builder *b)
{
    uint32_t *system_of = fr__arena_alloc(b->arena, b->n_machines, sizeof(*system_of));

    for (size_t m = 0; system_of && m < b->n_machines; m++)
        system_of[m] = m < b->n_system_of ? b->system_of[m] : FR_NONE;
    return system_of;
}

static enum fr_status lay_out(const struct fr_topo_builder *b, const char *name,
                              struct fr_topo **out, struct fr_error *err)
{
    struct fr__arena *a = b->arena;
    struct fr_topo *t = fr__arena_alloc(a, 1, sizeof(*t));
    struct fr__topo_priv *priv = fr__arena_alloc(a, 1, sizeof(*priv));
    struct fr_vertex *vertices = b->vertices;
    struct fr_device *devices = fr__arena_alloc(a, b->n_devices, sizeof(*devices));
    uint32_t *gpu = fr__arena_alloc(a, b->n_machines + 1, sizeof(*gpu));
    uint32_t *cpu = fr__arena_alloc(a, b->n_machines + 1, sizeof(*cpu));

    if (!t || !priv || !devices || !gpu || !cpu)
        return fr__fail_nomem(err);
    number_devices(b, FR_VERTEX_GPU, 0, gpu, vertices, devices);
    number_devices(b, FR_VERTEX_CPU, (uint32_t)b->n_gpus, cpu, vertices, devices);
    FR_TRY(check_machines(b, gpu, cpu, err));
    for (size_t m = 0; m < b->n_machines; m++)
        if (cpu[m] == cpu[m + 1])
            cpu[m] = FR_NONE; /* cpu[m + 1] is read before it is changed */
    *t = (struct fr_topo){.name = fr__arena_strdup(a, name ? name : ""),
                          .summary = write_summary(b, devices),
                          .n_types = b->n_types,
                          .n_vertices = b->n_vertices,
                          .n_devices = b->n_devices,
                          .n_gpus = b->n_gpus,
                          .n_links = b->n_links,
                          .n_machines = b->n_machines,
                          .types = settle(a, b->types, b->n_types, sizeof(*b->types)),
                          .vertices = vertices,
                          .devices = devices,
                          .links = b->links,
                          .n_systems = b->n_systems,
                          .systems = settle(a, b->systems, b->n_systems, sizeof(*b->systems)),
                          .system_of = lay_out_systems(b),
                          .n_messages = b->n_messages,
                          .messages = settle(a, b->messages, b->n_messages, sizeof(*b->messages)),
                          .network_system = b->network_system,
                          .has_relays = b->has_relays,
                          .has_hash = b->has_hash,
                          .network_system_why = b->network_system_why,
                          .n_notes = b->n_notes,
                          .notes = settle(a, b->notes, b->n_notes, sizeof(*b->notes)),
                          .n_parts = b->n_parts,
                          .parts = settle(a, b->parts, b->n_parts, sizeof(*b->parts)),
                          .is_plain = b->is_plain,
                          .priv = priv};
    *priv = (struct fr__topo_priv){a, b->vertices, b->links, cpu, gpu};
    if (!t->name || !t->summary || !t->types || !t->systems || !t->system_of || !t->messages ||
        !t->notes || !t->parts)
        return fr__fail_nomem(err);
    *out = t;
    return FR_OK;
}

enum fr_status fr_topo_builder_finish(struct fr_topo_builder *b, const char *name,
                                      struct fr_topo **out, struct fr_error *err)
{
    struct fr_topo *t = NULL;

    fr__hash_fini(&b->by_ends); /* nothing is added any more */
    fr__hash_fini(&b->by_name);
    if (b->fault == FR_OK && (!shrink(&b->links, b->n_links, sizeof(*b->links)) ||
                              !shrink(&b->vertices, b->n_vertices, sizeof(*b->vertices))))
        b->fault = fr__fail_nomem(&b->fault_error);
    if (b->fault == FR_OK)
        b->fault = lay_out(b, name, &t, &b->fault_error);
    if (b->fault != FR_OK) {
        if (err)
            *err = b->fault_error;
        return b->fault;
    }
    b->arena = NULL; /* all of these belong to the topology now */
    b->vertices = NULL;
    b->links = NULL;
    *out = t;
    return FR_OK;
}
