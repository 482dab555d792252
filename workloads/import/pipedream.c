/* workloads/import/pipedream.c - the importer of PipeDream profiles (graph.txt). */
#include "config.h"

#include "workloads/import/import.h"

#include "base/error.h"
#include "workloads/import/pipedream.h"

#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 30)

static bool recognises(const char *head, size_t len)
{
    (void)len;
    return strstr(head, " -- forward_compute_time=") != NULL;
}

enum fr_status fr__pipedream_load_text(struct fr_graph **out, const char *text, size_t len,
                                       const char *name, struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr__profile profile = {0};
    enum fr_status st;

    if (!arena)
        return fr__fail_nomem(err);
    st = fr__profile_parse(arena, text, len, name, &profile, err);
    if (st == FR_OK)
        st = fr__profile_to_graph(&profile, out, err);
    fr__arena_free(arena);
    return st;
}

const struct fr__importer fr__importer_pipedream = {
    .name = "pipedream",
    .summary = "PipeDream profile (graph.txt)",
    .recognises = recognises,
    .max_bytes = MAX_FILE_BYTES,
    .load_text = fr__pipedream_load_text,
};
