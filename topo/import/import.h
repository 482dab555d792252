/* topo/import/import.h - topology files of other tools, told by their content.
 *
 * A format is a file here and a word in the list. What is read becomes rows (topo/rows.h), so that
 * a file of any format may stand wherever one of our own may.
 */
#ifndef FR_TOPO_IMPORT_IMPORT_H
#define FR_TOPO_IMPORT_IMPORT_H

#include "base/yaml.h"
#include "topo/gpus/gpus.h"
#include "topo/import/sketch.h"

struct fr__importer {
    const char *name;    /* token [a-z-]+ */
    const char *summary; /* one line for help */
    const char *source;  /* what describes the format */
    /* Whether the text looks like it: cheap, may be wrong for broken files. */
    bool (*is)(const char *text, size_t len);
    /* Draws the machines. The text ends with a NUL that is not counted. */
    enum fr_status (*read)(struct fr__sketch *s, const char *text, size_t len);
};

#define FR__IMPORTERS(X) X(nccl) X(nvidia_smi) X(hwloc) X(simgrid) X(astra) X(taccl)

#define FR__DECLARE_IMPORTER(id) extern const struct fr__importer fr__importer_##id;
FR__IMPORTERS(FR__DECLARE_IMPORTER)
#undef FR__DECLARE_IMPORTER

/* FR_EUSAGE: nothing is known of GPUs of that name, with the nearest that is. */
enum fr_status fr__import_check_gpu(const char *gpu_type, struct fr_error *err);

/* The table, NULL past the end; the one whose format the text is in, or NULL. */
const struct fr__importer *fr__importer_at(size_t i);
const struct fr__importer *fr__importer_find(const char *text, size_t len);

/* Reads the text into rows that live in the arena; path names the file,
 * gpu_type what its GPUs are (NULL: what it says). FR_EPARSE, FR_ERANGE,
 * FR_ENOMEM, FR_EUSAGE (XML without expat), each at its place; *out is set on FR_OK only. */
enum fr_status fr__import(const struct fr__importer *importer, struct fr__arena *a,
                          const char *text, size_t len, const char *path, const char *gpu_type,
                          struct fr__topo_file **out, struct fr_error *err);

/* ---- for the importers ---- */

/* The type that the caller names, else the fallback, with a note that it was assumed. */
const struct fr__gpu_facts *fr__import_gpu(struct fr__sketch *s, const char *fallback);
/* The number of a scalar of YAML or JSON, in [min, max]; what names it. */
enum fr_status fr__import_number(const struct fr__yaml *node, const char *what, double min,
                                 double max, double *out, struct fr_error *err);
/* The same of a whole number. */
enum fr_status fr__import_count(const struct fr__yaml *node, const char *what, uint64_t min,
                                uint64_t max, uint32_t *out, struct fr_error *err);
/* Whether the first element of an XML text is <name>; looks at its first 64 KiB. */
bool fr__xml_begins_with(const char *text, size_t len, const char *name);

#endif
