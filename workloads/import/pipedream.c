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

static enum fr_status load(struct fr_graph **out, const struct fr__import *in, struct fr_error *err)
{
    struct fr__profile profile = {0};

    FR_TRY(fr__profile_parse(in->arena, in->text, in->len, in->name, &profile, err));
    return fr__profile_to_graph(&profile, out, err);
}

const struct fr__importer fr__importer_pipedream = {
    .name = "pipedream",
    .summary = "PipeDream profile (graph.txt)",
    .recognises = recognises,
    .max_bytes = MAX_FILE_BYTES,
    .load = load,
};
