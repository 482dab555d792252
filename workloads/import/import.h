/* workloads/import/import.h - the readers of other programs' workload files. */
#ifndef FR_WORKLOADS_IMPORT_IMPORT_H
#define FR_WORKLOADS_IMPORT_IMPORT_H

#include "workloads/workloads.h"

/* A foreign format: one file that fills this in, and one word in the list below. */
struct fr__importer {
    const char *name, *summary; /* token; one line for messages and help */
    /* Whether the first len bytes of a file (NUL-terminated) look like this format. */
    bool (*recognises)(const char *head, size_t len);
    size_t max_bytes; /* of a file */
    /* One of the two: a recorded workload, which is as it is, or a model, which options shape
     * (they may be NULL). Both take len bytes and a NUL after them; name stands for the path. */
    enum fr_status (*load_text)(struct fr_graph **out, const char *text, size_t len,
                                const char *name, struct fr_error *err);
    enum fr_status (*load_model_text)(struct fr_graph **out, const char *text, size_t len,
                                      const char *name, const struct fr_workload_options *opt,
                                      struct fr_error *err);
};

#define FR__IMPORTERS(X) X(pipedream) X(tasks) X(stg) X(dax) X(wfcommons) X(hf_config)

#define FR__IMPORTER_DECLARE(name) extern const struct fr__importer fr__importer_##name;
FR__IMPORTERS(FR__IMPORTER_DECLARE)
#undef FR__IMPORTER_DECLARE

/* A task graph in memory (tasks.c): len bytes and a NUL after them; name stands for the path. */
enum fr_status fr__tasks_load_text(struct fr_graph **out, const char *text, size_t len,
                                   const char *name, struct fr_error *err);
/* A standard task graph, a Pegasus workflow, one of WfCommons, likewise (stg.c, dax.c,
 * wfcommons.c). */
enum fr_status fr__stg_load_text(struct fr_graph **out, const char *text, size_t len,
                                 const char *name, struct fr_error *err);
enum fr_status fr__dax_load_text(struct fr_graph **out, const char *text, size_t len,
                                 const char *name, struct fr_error *err);
enum fr_status fr__wfcommons_load_text(struct fr_graph **out, const char *text, size_t len,
                                       const char *name, struct fr_error *err);
/* A config.json in memory (hf_config.c), likewise; opt may be NULL. */
enum fr_status fr__hf_config_load_text(struct fr_graph **out, const char *text, size_t len,
                                       const char *name, const struct fr_workload_options *opt,
                                       struct fr_error *err);
/* A PipeDream profile in memory: len bytes and a NUL after them; name stands for the path. */
enum fr_status fr__pipedream_load_text(struct fr_graph **out, const char *text, size_t len,
                                       const char *name, struct fr_error *err);
#endif
