/* strategies/pipedream/options.c - the options of PipeDream's planner, read from their texts. */
#include "config.h"

#include "strategies/pipedream/pipedream.h"

#include "base/error.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum option {
    OPTION_MODE,
    OPTION_MACHINES,
    OPTION_BANDWIDTH,
    OPTION_MEMORY,
    OPTION_STRAIGHT,
    OPTION_FEWER,
    OPTION_COMPRESSION,
    OPTION_MAX_STATES,
    OPTION_MICRO,
    OPTION_FLUSH
};

#define OF_CLUSTER "cluster"
#define COMPRESSION_AUTO "auto"

const struct fr_option fr__pd_option_list[] = {
    [OPTION_MODE] = {.name = "mode",
                     .type = FR_OPTION_CHOICE,
                     .fallback = "code",
                     .choices = "code|paper",
                     .help = "arithmetic of the published program, or the paper's formula"},
    [OPTION_MACHINES] = {.name = "machines",
                         .type = FR_OPTION_TEXT,
                         .fallback = OF_CLUSTER,
                         .help = "how many on each level, innermost first: 4, 8x2"},
    [OPTION_BANDWIDTH] = {.name = "bandwidth",
                          .type = FR_OPTION_TEXT,
                          .fallback = OF_CLUSTER,
                          .help = "between them, a level each: 30GB/s;25Gbps (1GB/s)"},
    [OPTION_MEMORY] = {.name = "memory",
                       .type = FR_OPTION_TEXT,
                       .fallback = "0",
                       .help = "of a machine: 16GB; 0: no limit"},
    [OPTION_STRAIGHT] = {.name = "straight",
                         .type = FR_OPTION_BOOL,
                         .fallback = "0",
                         .help = "no stage is replicated"},
    [OPTION_FEWER] = {.name = "fewer",
                      .type = FR_OPTION_BOOL,
                      .fallback = "0",
                      .help = "machines may stay idle"},
    [OPTION_COMPRESSION] = {.name = "compression",
                            .type = FR_OPTION_TEXT,
                            .fallback = COMPRESSION_AUTO,
                            .help = "of activations between stages; 0: their time is not counted; "
                                    "auto: 1 with -t, else 0"},
    [OPTION_MAX_STATES] = {.name = "max-states",
                           .type = FR_OPTION_COUNT,
                           .fallback = "4096",
                           .help = "more places to cut at: only cuts through a single tensor"},
    [OPTION_MICRO] = {.name = "micro",
                      .type = FR_OPTION_COUNT,
                      .fallback = "0",
                      .help =
                          "with -t: samples a micro-batch; 0: at least four micro-batches a GPU",
                      .advice = FR_ADVICE_LEAST,
                      .advice_text = "1"},
    [OPTION_FLUSH] = {.name = "flush",
                      .type = FR_OPTION_BOOL,
                      .fallback = "0",
                      .help = "with -t: one update of all at the end; else one after each "
                              "micro-batch, with weight stashing"},
    {.name = NULL},
};

enum { MAX_MACHINES = 1024, MAX_STATES = 16384, MAX_PART = 64 };

/* Copies text up to the separator; false: too long or empty. */
static bool next_part(const char **at, char separator, char out[MAX_PART])
{
    const char *end = strchr(*at, separator);
    size_t n = end ? (size_t)(end - *at) : strlen(*at);

    if (n == 0 || n >= MAX_PART)
        return false;
    memcpy(out, *at, n);
    out[n] = '\0';
    *at = end ? end + 1 : NULL;
    return true;
}

static enum fr_status read_machines(const char *text, struct fr__pd_options *out,
                                    struct fr_error *err)
{
    char part[MAX_PART];
    uint64_t n;

    if (strcmp(text, OF_CLUSTER) == 0)
        return FR_OK;
    for (const char *at = text; at;) {
        if (out->n_levels == FR_STAGE_MAX_LEVELS)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option 'machines' has over %d levels",
                            FR_STAGE_MAX_LEVELS);
        if (!next_part(&at, 'x', part))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "option 'machines' is \"%s\", expected counts like 8 or 8x2", text);
        FR_TRY(fr__parse_count(part, "option 'machines'", FR_NOWHERE, 1, MAX_MACHINES, &n, err));
        out->levels[out->n_levels++] = (struct fr__pd_level){(uint32_t)n, 1e9};
    }
    return FR_OK;
}

static enum fr_status read_bandwidths(const char *text, struct fr__pd_options *out,
                                      struct fr_error *err)
{
    char part[MAX_PART];
    size_t n = 0;

    if (strcmp(text, OF_CLUSTER) == 0)
        return FR_OK;
    if (out->n_levels == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'bandwidth' needs 'machines', a count for each of its levels");
    for (const char *at = text; at; n++) {
        double *to = n < out->n_levels ? &out->levels[n].bytes_per_s : NULL;

        if (!next_part(&at, ';', part))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "option 'bandwidth' is \"%s\", expected rates like 30GB/s;25Gbps",
                            text);
        if (to)
            FR_TRY(fr__parse_rate(part, "option 'bandwidth'", FR_NOWHERE, to, err));
        if (to && !(*to > 0))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option 'bandwidth' holds a rate of 0");
    }
    out->has_bandwidths = true;
    if (n != out->n_levels)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'bandwidth' has %zu levels, but 'machines' has %zu", n,
                        out->n_levels);
    return FR_OK;
}

static enum fr_status read_memory(const char *text, double *out, struct fr_error *err)
{
    uint64_t bytes = 0;

    if (strcmp(text, "0") != 0)
        FR_TRY(fr__parse_bytes(text, "option 'memory'", FR_NOWHERE, &bytes, err));
    *out = (double)bytes;
    return FR_OK;
}

static enum fr_status read(const struct fr_option_values *v, struct fr__pd_options *out,
                           struct fr_error *err)
{
    const char *compression = fr_option_text(v, OPTION_COMPRESSION);

    FR_TRY(read_machines(fr_option_text(v, OPTION_MACHINES), out, err));
    FR_TRY(read_bandwidths(fr_option_text(v, OPTION_BANDWIDTH), out, err));
    FR_TRY(read_memory(fr_option_text(v, OPTION_MEMORY), &out->memory_bytes, err));
    out->compression_is_auto = strcmp(compression, COMPRESSION_AUTO) == 0;
    if (!out->compression_is_auto)
        FR_TRY(fr__parse_number(compression, "option 'compression'", FR_NOWHERE, 0, 1e9,
                                &out->compression, err));
    if (v->value[OPTION_MAX_STATES] < 2 || v->value[OPTION_MAX_STATES] > MAX_STATES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option 'max-states' is not in 2..%d",
                        MAX_STATES);
    return FR_OK;
}

enum fr_status fr__pd_read_options(const struct fr_option_values *values,
                                   struct fr__pd_options *out, struct fr_error *err)
{
    struct fr__pd_options o = {.mode = (enum fr__pd_mode)values->value[OPTION_MODE],
                               .is_straight = values->value[OPTION_STRAIGHT] != 0,
                               .uses_fewer = values->value[OPTION_FEWER] != 0,
                               .max_states = (size_t)values->value[OPTION_MAX_STATES],
                               .micro_batch = (uint32_t)values->value[OPTION_MICRO],
                               .has_flush = values->value[OPTION_FLUSH] != 0,
                               .is_flush_given = values->is_set[OPTION_FLUSH]};
    enum fr_status st = read(values, &o, err);

    if (st == FR_EPARSE || st == FR_ERANGE) {
        if (err)
            err->code = FR_EUSAGE;
        return FR_EUSAGE;
    }
    FR_TRY(st);
    *out = o;
    return FR_OK;
}
