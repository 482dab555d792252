/* topo/builder/repeat.c - copies machines inside a builder.
 *
 * A composition of thousands of machines is built once and copied. What was checked of the first
 * one is true of its copies: they have the same parts under other numbers, and their names differ
 * in the machine's. So nothing is parsed, checked or hashed again.
 */
#include "config.h"

#include "topo/builder/builder.h"

#include <stdio.h>
#include <string.h>

/* "n0.gpu3" of machine 0 as "n17.gpu3" of machine 17, "rack0.nvswitch" of no machine, but of a rack
 * that begins with machine 0, likewise. false: it is too long, or named otherwise. */
static bool rename_vertex(const struct fr__repeated *r, const struct fr_vertex *v, uint32_t machine,
                          char text[FR__MAX_VERTEX_NAME + 1])
{
    uint32_t was = v->machine == FR_NONE ? r->first_machine : v->machine;
    size_t letters = strcspn(v->name, "0123456789.");
    char number[16];
    int n = snprintf(number, sizeof(number), "%u.", (unsigned)was), n_all;

    if (strncmp(v->name + letters, number, (size_t)n) != 0)
        return false;
    n_all = snprintf(text, FR__MAX_VERTEX_NAME + 1, "%.*s%u%s", (int)letters, v->name,
                     (unsigned)(was - r->first_machine + machine), v->name + letters + n - 1);
    return n_all > 0 && n_all <= FR__MAX_VERTEX_NAME;
}

/* Whether another copy keeps all limits. What does not is left to the builder's own functions,
 * which say why. */
static bool has_room(const struct fr_topo_builder *b, const struct fr__repeated *r,
                     uint32_t past_machine)
{
    size_t n_vertices = r->past_vertex - r->first_vertex, n_gpus = 0;
    char text[FR__MAX_VERTEX_NAME + 1];

    for (uint32_t v = r->first_vertex; v < r->past_vertex; v++) {
        n_gpus += b->vertices[v].kind == FR_VERTEX_GPU;
        if (!rename_vertex(r, &b->vertices[v], past_machine, text))
            return false;
    }
    return b->fault == FR_OK && past_machine <= FR__MAX_MACHINES &&
           b->n_gpus + n_gpus <= FR__MAX_GPUS && b->n_vertices + n_vertices <= FR__MAX_VERTICES &&
           b->n_links + (r->past_link - r->first_link) <= FR__MAX_LINKS;
}

static bool copy_vertices(struct fr_topo_builder *b, const struct fr__repeated *r, uint32_t machine)
{
    size_t n = b->n_vertices + (r->past_vertex - r->first_vertex);

    if (!fr__grow(&b->vertices, &b->cap_vertices, n, sizeof(*b->vertices)) ||
        !fr__grow(&b->vertex_types, &b->cap_vertex_types, n, sizeof(*b->vertex_types)))
        return false;
    for (uint32_t v = r->first_vertex; v < r->past_vertex; v++) {
        struct fr_vertex copy = b->vertices[v];
        char text[FR__MAX_VERTEX_NAME + 1];

        rename_vertex(r, &copy, machine, text);
        if (copy.machine != FR_NONE)
            copy.machine += machine - r->first_machine;
        copy.name = fr__arena_strdup(b->arena, text);
        if (!copy.name)
            return false;
        b->vertex_types[b->n_vertices] = b->vertex_types[v];
        b->vertices[b->n_vertices++] = copy;
        b->n_devices += copy.kind == FR_VERTEX_GPU || copy.kind == FR_VERTEX_CPU;
        b->n_gpus += copy.kind == FR_VERTEX_GPU;
    }
    return true;
}

static bool copy_links(struct fr_topo_builder *b, const struct fr__repeated *r, uint32_t vertex)
{
    size_t n = b->n_links + (r->past_link - r->first_link);

    if (!fr__grow(&b->links, &b->cap_links, n, sizeof(*b->links)))
        return false;
    for (uint32_t l = r->first_link; l < r->past_link; l++) {
        struct fr_link copy = b->links[l];

        copy.src += vertex - r->first_vertex;
        copy.dst += vertex - r->first_vertex;
        b->links[b->n_links++] = copy;
    }
    return true;
}

static bool copy_systems(struct fr_topo_builder *b, const struct fr__repeated *r, uint32_t machine)
{
    uint32_t n = r->past_machine - r->first_machine;

    if (b->n_system_of <= r->first_machine)
        return true; /* none of them has one */
    if (!fr__grow(&b->system_of, &b->cap_system_of, (size_t)machine + n, sizeof(*b->system_of)))
        return false;
    while (b->n_system_of < machine + n)
        b->system_of[b->n_system_of++] = FR_NONE;
    for (uint32_t m = 0; m < n; m++)
        b->system_of[machine + m] = b->system_of[r->first_machine + m];
    return true;
}

struct fr__repeated fr__topo_builder_begin(const struct fr_topo_builder *b, uint32_t machine)
{
    return (struct fr__repeated){.first_vertex = (uint32_t)b->n_vertices,
                                 .first_link = (uint32_t)b->n_links,
                                 .first_machine = machine};
}

void fr__topo_builder_end(const struct fr_topo_builder *b, struct fr__repeated *r, uint32_t machine)
{
    r->past_vertex = (uint32_t)b->n_vertices;
    r->past_link = (uint32_t)b->n_links;
    r->past_machine = machine;
}

bool fr__topo_builder_repeat(struct fr_topo_builder *b, const struct fr__repeated *r,
                             uint32_t machine)
{
    uint32_t vertex = (uint32_t)b->n_vertices;
    uint32_t past_machine = machine + (r->past_machine - r->first_machine);

    if (!has_room(b, r, past_machine))
        return false;
    if (!copy_vertices(b, r, machine) || !copy_links(b, r, vertex) || !copy_systems(b, r, machine))
        b->fault = fr__fail_nomem(&b->fault_error);
    b->n_machines = past_machine > b->n_machines ? past_machine : b->n_machines;
    return true;
}
