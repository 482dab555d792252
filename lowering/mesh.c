/* lowering/mesh.c - ranks as an array with named axes: see mesh.h. */
#include "config.h"

#include "lowering/mesh.h"

#include "base/error.h"
#include "base/names.h"

#include <stdio.h>
#include <string.h>

static const char *const axis_names[FR__N_MESH_AXES] = {
    [FR__MESH_TP] = "tp", [FR__MESH_CP] = "cp", [FR__MESH_EP] = "ep",
    [FR__MESH_DP] = "dp", [FR__MESH_PP] = "pp",
};
static const struct fr__name_list axis_list = FR__NAMES(axis_names);

static const struct {
    const char *name, *map;
} frameworks[] = {
    {"megatron", "tp-cp-ep-dp-pp"}, {"megatron-dp", "tp-cp-ep-pp-dp"}, {"deepspeed", "tp-cp-dp-pp"},
    {"torchtitan", "tp-cp-dp-pp"},  {"calculon", "tp-cp-pp-dp"},
};

const char *fr__mesh_axis_name(enum fr__mesh_axis a)
{
    return fr__name_of(&axis_list, a);
}

/* ---- the map ---- */

static const char *map_of(const char *text)
{
    for (size_t i = 0; i < sizeof(frameworks) / sizeof(frameworks[0]); i++)
        if (strcmp(frameworks[i].name, text) == 0)
            return frameworks[i].map;
    return text;
}

static enum fr_status unknown_axis(const char *map, const char *name, size_t n,
                                   struct fr_error *err)
{
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "map=%s: \"%.*s\" is no axis; expected tp, cp, ep, dp and pp joined by '-', "
                    "innermost first, or megatron, megatron-dp, deepspeed, torchtitan, calculon",
                    map, (int)n, name);
}

static enum fr_status read_map(struct fr__mesh *m, const char *map, struct fr_error *err)
{
    bool is_there[FR__N_MESH_AXES] = {false};
    size_t n = 0;

    for (const char *at = map_of(map); *at;) {
        size_t len = strcspn(at, "-");
        char name[8] = "";
        unsigned axis;

        if (len >= sizeof(name))
            return unknown_axis(map, at, len, err);
        memcpy(name, at, len);
        axis = fr__name_parse(&axis_list, name);
        if (axis >= FR__N_MESH_AXES)
            return unknown_axis(map, at, len, err);
        if (is_there[axis])
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "map=%s names the axis %s twice", map,
                            name);
        is_there[axis] = true;
        m->order[n++] = (enum fr__mesh_axis)axis;
        at += len;
        at += *at == '-';
    }
    for (int a = 0; a < FR__N_MESH_AXES; a++)
        if (!is_there[a])
            m->order[n++] = (enum fr__mesh_axis)a;
    return FR_OK;
}

enum fr_status fr__mesh_make(struct fr__mesh *out, const char *map, const uint32_t size[],
                             struct fr_error *err)
{
    struct fr__mesh m = {.n_ranks = 1};

    FR_TRY(read_map(&m, map, err));
    for (size_t i = 0; i < FR__N_MESH_AXES; i++) {
        enum fr__mesh_axis a = m.order[i];

        m.size[a] = size[a];
        m.stride[a] = m.n_ranks;
        if ((uint64_t)m.n_ranks * size[a] >= FR_NONE)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "the degrees ask for more than %u ranks",
                            FR_NONE - 1);
        m.n_ranks *= size[a];
    }
    *out = m;
    return FR_OK;
}

/* ---- ranks and groups ---- */

uint32_t fr__mesh_rank(const struct fr__mesh *m, const uint32_t coord[])
{
    uint32_t rank = 0;

    for (int a = 0; a < FR__N_MESH_AXES; a++)
        rank += coord[a] * m->stride[a];
    return rank;
}

void fr__mesh_coord(const struct fr__mesh *m, uint32_t rank, uint32_t coord[])
{
    for (int a = 0; a < FR__N_MESH_AXES; a++)
        coord[a] = rank / m->stride[a] % m->size[a];
}

uint32_t fr__mesh_group_size(const struct fr__mesh *m, fr__mesh_axes axes)
{
    uint32_t n = 1;

    for (int a = 0; a < FR__N_MESH_AXES; a++)
        if (axes & 1u << a)
            n *= m->size[a];
    return n;
}

uint32_t fr__mesh_group(const struct fr__mesh *m, fr__mesh_axes axes, uint32_t rank,
                        uint32_t ranks[])
{
    uint32_t n = fr__mesh_group_size(m, axes), first = rank, position = 0;

    for (int a = 0; a < FR__N_MESH_AXES; a++)
        if (axes & 1u << a)
            first -= rank / m->stride[a] % m->size[a] * m->stride[a];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t left = i;

        ranks[i] = first;
        for (size_t k = 0; k < FR__N_MESH_AXES; k++) {
            enum fr__mesh_axis a = m->order[k];

            if (!(axes & 1u << a))
                continue;
            ranks[i] += left % m->size[a] * m->stride[a];
            left /= m->size[a];
        }
        if (ranks[i] == rank)
            position = i;
    }
    return position;
}

uint32_t fr__mesh_group_index(const struct fr__mesh *m, fr__mesh_axes axes, uint32_t rank)
{
    uint32_t index = 0, n = 1;

    for (size_t k = 0; k < FR__N_MESH_AXES; k++) {
        enum fr__mesh_axis a = m->order[k];

        if (axes & 1u << a)
            continue;
        index += rank / m->stride[a] % m->size[a] * n;
        n *= m->size[a];
    }
    return index;
}
