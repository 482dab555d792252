/* topo/load/file.h - a topology file as plain arrays of rows, and the readers of its parts.
 *
 * The file becomes plain arrays first: a list of machine makes, each with its vertices and links by
 * local number, and the fabric between machines by global names. Placing a machine is then a loop,
 * so that a composition of a thousand copies parses nothing twice.
 */
#ifndef FR_TOPO_LOAD_FILE_H
#define FR_TOPO_LOAD_FILE_H

#include "base/yaml.h"
#include "topo/load/load.h"
#include "topo/rows.h"

/* ---- the whole file (file.c) ---- */

/* As fr__topo_file_read, of a text; name stands for the path. */
enum fr_status fr__topo_file_read_text(struct fr__arena *a, const char *text, size_t len,
                                       const char *name, struct fr__topo_file **out,
                                       struct fr_error *err);

/* ---- values (file_values.c) ---- */

/* The number of the word under the key, among words[n]; fallback where the key is missing (NULL: it
 * must be there). FR_EPARSE for another word. */
enum fr_status fr__topo_value_word(const struct fr__yaml *map, const char *key,
                                   const char *fallback, const char *const words[], size_t n,
                                   unsigned *out, struct fr_error *err);
/* The list under the key, or NULL where it is missing; each item is a map with known keys. */
enum fr_status fr__topo_value_list(const struct fr__yaml *map, const char *key,
                                   const char *const known[], const struct fr__yaml **out,
                                   struct fr_error *err);

typedef enum fr_status (*fr__parse_fn)(const char *text, const char *what, struct fr_loc loc,
                                       double *out, struct fr_error *err);

/* A quantity with its unit, as `parse` reads it; 0 where it is missing and may be. */
enum fr_status fr__topo_value_quantity(const struct fr__yaml *map, const char *key,
                                       bool is_required, fr__parse_fn parse, double *out,
                                       struct fr_error *err);
/* A count from 1 to max. */
enum fr_status fr__topo_value_count(const struct fr__yaml *map, const char *key,
                                    const char *fallback, uint64_t max, uint32_t *out,
                                    struct fr_error *err);
/* The system that the key names, and where; a file of a system is in the folder of this one unless
 * its path is absolute. Nothing is set where the key is missing. */
enum fr_status fr__topo_value_system(const struct fr__topo_file *f, const struct fr__yaml *map,
                                     const char *key, const char **system, struct fr_loc *loc,
                                     struct fr_error *err);

/* ---- device types (file_types.c) ---- */

/* Reads 'types' into f->types. */
enum fr_status fr__topo_file_types(struct fr__topo_file *f, const struct fr__yaml *root,
                                   struct fr_error *err);
/* The type that 'type' names: the file's own, else a built-in one. FR_ENOENT. */
enum fr_status fr__topo_file_type(const struct fr__topo_file *f, const struct fr__yaml *map,
                                  const struct fr_device_type **out, struct fr_error *err);

/* ---- machines, switches and links (file_machines.c) ---- */

/* Reads 'machines' into f->makes. */
enum fr_status fr__topo_file_machines(struct fr__topo_file *f, const struct fr__yaml *root,
                                      struct fr_error *err);
/* Reads 'switches' into f->switches. */
enum fr_status fr__topo_file_switches(struct fr__topo_file *f, const struct fr__yaml *root,
                                      struct fr_error *err);
/* Reads 'links' of a machine or of the whole file; *out and *n must be NULL and 0. */
enum fr_status fr__topo_file_links(const struct fr__topo_file *f, const struct fr__yaml *map,
                                   struct fr__link_row **out, size_t *n, struct fr_error *err);

#endif
