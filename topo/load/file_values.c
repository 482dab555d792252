/* topo/load/file_values.c - reads single values of a topology file: words, lists, numbers, systems.
 *
 * This is apart, since the readers of device types, of machines and of the whole file share it.
 */
#include "config.h"

#include "base/units.h"
#include "topo/load/file.h"

#include <stdio.h>
#include <string.h>

/* The value of a key that must be one of a list of words; its number. */
enum fr_status fr__topo_value_word(const struct fr__yaml *map, const char *key,
                                   const char *fallback, const char *const words[], size_t n,
                                   unsigned *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    char hint[128];

    FR_TRY(fr__yaml_text(map, key, fallback, &text, &loc, err));
    for (unsigned i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return FR_OK;
        }
    return fr__fail(err, FR_EPARSE, loc, "'%s' is '%s', which is not known%s", key, text,
                    fr__did_you_mean(text, words, n, hint, sizeof(hint)));
}

/* A list under a key, or NULL where it may be missing; each item must be a map with known keys. */
enum fr_status fr__topo_value_list(const struct fr__yaml *map, const char *key,
                                   const char *const known[], const struct fr__yaml **out,
                                   struct fr_error *err)
{
    const struct fr__yaml *list = fr__yaml_get(map, key);

    *out = list;
    if (!list)
        return FR_OK;
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, key, err));
    for (size_t i = 0; i < list->n; i++) {
        FR_TRY(fr__yaml_expect(list->items[i], FR__YAML_MAP, "each item", err));
        FR_TRY(fr__yaml_only(list->items[i], known, err));
    }
    return FR_OK;
}

/* A quantity with its unit; 0 when it is missing and may be. */
enum fr_status fr__topo_value_quantity(const struct fr__yaml *map, const char *key,
                                       bool is_required, fr__parse_fn parse, double *out,
                                       struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    char what[64];

    *out = 0;
    if (!is_required && !fr__yaml_get(map, key))
        return FR_OK;
    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    snprintf(what, sizeof(what), "'%s'", key);
    return parse(text, what, loc, out, err);
}

enum fr_status fr__topo_value_count(const struct fr__yaml *map, const char *key,
                                    const char *fallback, uint64_t max, uint32_t *out,
                                    struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    uint64_t n;

    FR_TRY(fr__yaml_text(map, key, fallback, &text, &loc, err));
    FR_TRY(fr__parse_count(text, key, loc, 1, max, &n, err));
    *out = (uint32_t)n;
    return FR_OK;
}

/* A name with a dot or a slash is a file, in the folder of this one unless its path is absolute. */
/* A file names files only in its own folder and below: nobody expects a topology that was sent to
 * them to open others. */
static enum fr_status check_inside(const char *path, const char *key, struct fr_loc loc,
                                   struct fr_error *err)
{
    bool leads_out = path[0] == '/';

    for (const char *part = path; part && !leads_out; part = strchr(part, '/')) {
        part += *part == '/';
        leads_out = strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0');
    }
    return leads_out ? fr__fail(err, FR_EPARSE, loc,
                                "'%s' is \"%.80s\", which leads out of the topology's folder; "
                                "expected the name of a system or of a file there",
                                key, path)
                     : FR_OK;
}

enum fr_status fr__topo_value_system(const struct fr__topo_file *f, const struct fr__yaml *map,
                                     const char *key, const char **system, struct fr_loc *loc,
                                     struct fr_error *err)
{
    const char *slash = strrchr(f->path, '/');
    size_t n_folder = slash ? (size_t)(slash - f->path) + 1 : 0, size;
    char *path;

    if (!fr__yaml_get(map, key))
        return FR_OK;
    FR_TRY(fr__yaml_text(map, key, NULL, system, loc, err));
    if (!(*system)[0])
        return fr__fail(err, FR_EPARSE, *loc, "'%s' names no system", key);
    FR_TRY(check_inside(*system, key, *loc, err));
    if (!strpbrk(*system, "./") || n_folder == 0)
        return FR_OK;
    size = n_folder + strlen(*system) + 1;
    path = fr__arena_alloc(f->arena, size, 1);
    if (!path)
        return fr__fail_nomem(err);
    snprintf(path, size, "%.*s%s", (int)n_folder, f->path, *system);
    *system = path;
    return FR_OK;
}
