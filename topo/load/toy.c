/* topo/load/toy.c - machines without hardware, for teaching and for research on scheduling.
 *
 *   toy = ( COUNT "machines" | "machines" NAME { NAME } ) [ "via" RATE [ "," LATENCY ] ]
 *
 * "3 machines", "2 machines via 1GB/s,1ms", "machines P1 P2 P3 via 1GB/s". Each machine is one
 * device of a type of its own name, so that a task graph may give each its own times (the column
 * time:P1 of workloads/import/tasks.c). Every two machines have a link of their own, as in the
 * model of list scheduling: messages of different pairs do not disturb each other. Without "via" a
 * gigabyte moves in a nanosecond.
 *
 * What has no time of its own runs at nominal rates of 1 Gflop/s and 1 GB/s, without a launch.
 */
#include "config.h"

#include "base/units.h"
#include "topo/load/load.h"

#include <stdio.h>
#include <string.h>

enum { MAX_TOYS = 64 };

/* The most that a link may have: a gigabyte takes a nanosecond. */
static const double FREE_BPS = 1e18;

static const char source[] = "a machine without hardware, of the command line";

struct toy {
    const char *names[MAX_TOYS];
    size_t n;
    double bw_Bps, latency_s;
};

static bool is_machines(const char *word)
{
    return strcmp(word, "machines") == 0 || strcmp(word, "machine") == 0;
}

bool fr__toy_is(const char *const words[], size_t n)
{
    bool is_number = n > 1 && words[0][strspn(words[0], "0123456789")] == '\0';

    return n > 0 && (is_machines(words[0]) || (is_number && is_machines(words[1])));
}

/* ---- reading ---- */

static enum fr_status number_machines(struct toy *t, struct fr__arena *a, const char *count,
                                      struct fr_error *err)
{
    uint64_t n;

    FR_TRY(fr__parse_count(count, "the number of machines", FR_NOWHERE, 1, MAX_TOYS, &n, err));
    for (t->n = 0; t->n < n; t->n++) {
        char name[24];

        snprintf(name, sizeof(name), "m%zu", t->n + 1);
        t->names[t->n] = fr__arena_strdup(a, name);
        if (!t->names[t->n])
            return fr__fail_nomem(err);
    }
    return FR_OK;
}

static enum fr_status name_machines(struct toy *t, const char *const words[], size_t n, size_t *at,
                                    struct fr_error *err)
{
    for (; *at < n && strcmp(words[*at], "via") != 0; ++*at) {
        if (t->n == MAX_TOYS)
            return fr__fail(err, FR_ERANGE, FR_NOWHERE, "more than %d machines", MAX_TOYS);
        for (size_t k = 0; k < t->n; k++)
            if (strcmp(t->names[k], words[*at]) == 0)
                return fr__fail(err, FR_EPARSE, FR_NOWHERE, "two machines are named '%.60s'",
                                words[*at]);
        t->names[t->n++] = words[*at];
    }
    return t->n ? FR_OK
                : fr__fail(err, FR_EPARSE, FR_NOWHERE,
                           "no names after 'machines', 'machines P1 P2' or '2 machines' expected");
}

/* "1GB/s" or "1GB/s,2ms". */
static enum fr_status read_via(struct toy *t, struct fr__arena *a, const char *text,
                               struct fr_error *err)
{
    size_t n = strcspn(text, ",");
    const char *rate = fr__arena_strndup(a, text, n);

    if (!rate)
        return fr__fail_nomem(err);
    FR_TRY(fr__parse_rate(rate, "the rate after 'via'", FR_NOWHERE, &t->bw_Bps, err));
    if (!(t->bw_Bps > 0))
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the rate after 'via' must be above 0");
    if (!text[n])
        return FR_OK;
    return fr__parse_time(text + n + 1, "the latency after 'via'", FR_NOWHERE, &t->latency_s, err);
}

static enum fr_status read(struct toy *t, struct fr__arena *a, const char *const words[], size_t n,
                           struct fr_error *err)
{
    size_t at = 1;

    *t = (struct toy){.bw_Bps = FREE_BPS};
    if (is_machines(words[0])) {
        FR_TRY(name_machines(t, words, n, &at, err));
    } else {
        FR_TRY(number_machines(t, a, words[0], err));
        at = 2;
    }
    if (at + 1 < n && strcmp(words[at], "via") == 0) {
        FR_TRY(read_via(t, a, words[at + 1], err));
        at += 2;
    }
    if (at < n)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                        "'%.60s' after the machines, 'via RATE' expected, as in '2 machines via "
                        "1GB/s'",
                        words[at]);
    return FR_OK;
}

/* ---- building ---- */

static void build(const struct toy *t, struct fr_topo_builder *b)
{
    uint32_t vertex[MAX_TOYS];

    fr__topo_builder_plain(b);
    for (size_t i = 0; i < t->n; i++) {
        struct fr_device_type type = {.name = t->names[i],
                                      .is_gpu = true,
                                      .mem_bytes = UINT64_C(1) << 50,
                                      .mem_Bps = 1e9,
                                      .vector_flops_per_s = 1e9,
                                      .n_sms = 1,
                                      .source = source};

        for (size_t d = 0; d < FR_N_DTYPES; d++)
            type.flops_per_s[d] = 1e9;
        vertex[i] = fr_topo_builder_vertex(b, FR_VERTEX_GPU, t->names[i], 0,
                                           fr_topo_builder_type(b, &type), FR_NOWHERE);
        for (size_t k = 0; k < i; k++)
            fr_topo_builder_link(b, FR_LINK_NVLINK, vertex[k], vertex[i], t->bw_Bps, t->latency_s,
                                 true, source, FR_NOWHERE);
    }
}

enum fr_status fr__toy_load(struct fr__arena *a, const char *const words[], size_t n,
                            const char *name, struct fr_topo **out, struct fr_error *err)
{
    struct fr_topo_builder *b;
    enum fr_status st;
    struct toy t;

    FR_TRY(read(&t, a, words, n, err));
    b = fr_topo_builder_new();
    if (!b)
        return fr__fail_nomem(err);
    build(&t, b);
    st = fr_topo_builder_finish(b, name, out, err);
    fr_topo_builder_free(b);
    return st;
}
