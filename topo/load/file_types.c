/* topo/load/file_types.c - reads the device types of a topology file, and finds one by its name.
 *
 * This is apart from machines, since a type is data on its own and may be built in as well.
 */
#include "config.h"

#include "base/units.h"
#include "topo/load/file.h"

#include <string.h>

static enum fr_status read_bytes(const struct fr__yaml *map, const char *key, const char *fallback,
                                 uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, key, fallback, &text, &loc, err));
    return fr__parse_bytes(text, key, loc, out, err);
}

/* 0 would mean that there are no units for the format, which is said by leaving it out. */
static enum fr_status read_peak(const struct fr__yaml *flops, const char *format, double *out,
                                struct fr_error *err)
{
    const struct fr__yaml *value = fr__yaml_get(flops, format);

    FR_TRY(fr__topo_value_quantity(flops, format, false, fr__parse_flops_rate, out, err));
    return value && !(*out > 0) ? fr__fail(err, FR_ERANGE, value->loc,
                                           "'%s' is 0; leave out a format that there are no units "
                                           "for",
                                           format)
                                : FR_OK;
}

static enum fr_status read_flops(const struct fr__yaml *map, struct fr_device_type *type,
                                 struct fr_error *err)
{
    const struct fr__yaml *flops = fr__yaml_get(map, "flops");
    const char *known[FR_AMP + 1] = {NULL};

    if (!flops)
        return FR_OK;
    FR_TRY(fr__yaml_expect(flops, FR__YAML_MAP, "'flops'", err));
    for (unsigned i = 0; i < FR_AMP; i++)
        known[i] = fr_dtype_name((enum fr_dtype)i);
    FR_TRY(fr__yaml_only(flops, known, err));
    for (unsigned i = 0; i < FR_AMP; i++)
        FR_TRY(read_peak(flops, known[i], &type->flops_per_s[i], err));
    return FR_OK;
}

static enum fr_status read_type(const struct fr__topo_file *f, const struct fr__yaml *map,
                                struct fr_device_type *type, struct fr_error *err)
{
    static const char *const kinds[] = {"gpu", "cpu", NULL}, *const units[] = {"any", "mx", "mx-nv",
                                                                               NULL};
    struct fr_loc loc;
    unsigned kind, matrix, n_sms;

    FR_TRY(fr__yaml_text(map, "name", NULL, &type->name, &loc, err));
    if (!type->name[0])
        return fr__fail(err, FR_EPARSE, loc, "a device type has an empty name");
    if (fr_device_type_find(type->name))
        return fr__fail(err, FR_ERANGE, loc, "'%s' is a built-in device type, choose another name",
                        type->name);
    FR_TRY(fr__topo_value_word(map, "kind", "gpu", kinds, 2, &kind, err));
    type->is_gpu = kind == 0;
    FR_TRY(read_bytes(map, "memory", NULL, &type->mem_bytes, err));
    FR_TRY(fr__topo_value_quantity(map, "memory_bandwidth", true, fr__parse_rate, &type->mem_Bps,
                                   err));
    FR_TRY(fr__topo_value_quantity(map, "vector", true, fr__parse_flops_rate,
                                   &type->vector_flops_per_s, err));
    FR_TRY(read_flops(map, type, err));
    FR_TRY(fr__topo_value_word(map, "units", "any", units, 3, &matrix, err));
    type->units = (enum fr_units)matrix;
    FR_TRY(fr__topo_value_count(map, "sms", NULL, 1 << 20, &n_sms, err));
    type->n_sms = n_sms;
    FR_TRY(fr__topo_value_quantity(map, "launch", false, fr__parse_time, &type->launch_s, err));
    FR_TRY(read_bytes(map, "context", "0B", &type->context_bytes, err));
    FR_TRY(
        fr__topo_value_quantity(map, "board_power", false, fr__parse_power, &type->board_W, err));
    return fr__yaml_text(map, "source", f->source, &type->source, &loc, err);
}

enum fr_status fr__topo_file_types(struct fr__topo_file *f, const struct fr__yaml *root,
                                   struct fr_error *err)
{
    static const char *const known[] = {
        "name",   "kind",    "memory",      "memory_bandwidth", "vector", "flops", "sms",
        "launch", "context", "board_power", "source",           "units",  NULL};
    const struct fr__yaml *list;

    FR_TRY(fr__topo_value_list(root, "types", known, &list, err));
    if (!list)
        return FR_OK;
    if (list->n > FR__MAX_TYPES)
        return fr__fail(err, FR_ERANGE, list->loc, "more than %d device types", FR__MAX_TYPES);
    f->types = fr__arena_alloc(f->arena, list->n, sizeof(*f->types));
    if (!f->types)
        return fr__fail_nomem(err);
    for (; f->n_types < list->n; f->n_types++) {
        FR_TRY(read_type(f, list->items[f->n_types], &f->types[f->n_types], err));
        for (size_t i = 0; i < f->n_types; i++)
            if (strcmp(f->types[i].name, f->types[f->n_types].name) == 0)
                return fr__fail(err, FR_ERANGE, list->items[f->n_types]->loc,
                                "two device types are named '%s'", f->types[i].name);
    }
    return FR_OK;
}

/* The file's own types, then the built-in ones. */
enum fr_status fr__topo_file_type(const struct fr__topo_file *f, const struct fr__yaml *map,
                                  const struct fr_device_type **out, struct fr_error *err)
{
    const char *names[64] = {NULL}, *name;
    struct fr_loc loc;
    char hint[128];
    size_t n = 0;

    FR_TRY(fr__yaml_text(map, "type", NULL, &name, &loc, err));
    for (size_t i = 0; i < f->n_types; i++)
        if (strcmp(f->types[i].name, name) == 0) {
            *out = &f->types[i];
            return FR_OK;
        }
    *out = fr_device_type_find(name);
    if (*out)
        return FR_OK;
    for (size_t i = 0; i < f->n_types && n < 32; i++)
        names[n++] = f->types[i].name;
    for (size_t i = 0; fr_device_type_builtin(i) && n < 64; i++)
        names[n++] = fr_device_type_builtin(i)->name;
    return fr__fail(err, FR_ENOENT, loc, "no device type '%s'%s", name,
                    fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}
