/* workloads/import/import.h - the readers of other programs' workload files. */
#ifndef FR_WORKLOADS_IMPORT_IMPORT_H
#define FR_WORKLOADS_IMPORT_IMPORT_H

#include "base/arena.h"
#include "workloads/workloads.h"

/* A file that is read. */
struct fr__import {
    const char *text; /* len bytes and a NUL after them */
    size_t len;
    const char *name;                      /* stands for the path */
    const struct fr_workload_options *opt; /* that shape a model; may be NULL */
    const char *more;        /* options of the model behind the path, "mtp=1,skew=30"; NULL: none */
    struct fr__arena *arena; /* until the graph is made */
};

/* A foreign format: one file that fills this in, and one word in the list below. */
struct fr__importer {
    const char *name, *summary; /* token; one line for messages and help */
    /* Whether the first len bytes of a file (NUL-terminated) look like this format. */
    bool (*recognises)(const char *head, size_t len);
    size_t max_bytes; /* of a file */
    bool is_model;    /* options shape it; else a recorded workload, which is as it is */
    enum fr_status (*load)(struct fr_graph **out, const struct fr__import *in,
                           struct fr_error *err);
};

/* The model of the zoo that a config.json is one of; NULL: it is none. */
const char *fr__hf_model(const char *path);

#define FR__IMPORTERS(X) X(pipedream) X(tasks) X(stg) X(dax) X(wfcommons) X(hf_config)

#define FR__IMPORTER_DECLARE(name) extern const struct fr__importer fr__importer_##name;
FR__IMPORTERS(FR__IMPORTER_DECLARE)
#undef FR__IMPORTER_DECLARE

/* A file of the importer's format in memory: len bytes and a NUL after them; name stands for the
 * path; opt may be NULL. */
enum fr_status fr__import_text(struct fr_graph **out, const struct fr__importer *importer,
                               const char *text, size_t len, const char *name,
                               const struct fr_workload_options *opt, struct fr_error *err);
#endif
