/* study/advice/machines.c - other clusters on which a question would fit: more machines of the
 * kind, or machines whose GPUs have more memory.
 *
 * It is separate because it asks about other topologies than the user's, and only where nothing on
 * that one fits.
 */
#include "config.h"

#include "base/error.h"
#include "study/advice/adviser.h"
#include "study/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PRESETS = 2, /* tried, by rising memory */
    MOST_LISTED = 4   /* of one cluster */
};

/* A network that most clusters of these machines have; what fits does not hang on it. */
static const char network[] = "via ib:100Gbps";

/* The cluster with so many times the machines: "2x dgx1-v100 via ib:100Gbps". false: the name is
 * no composition of one kind. */
static bool more_machines(const char *topology, unsigned factor, char *out, size_t size)
{
    char *end;
    unsigned long n = strtoul(topology, &end, 10);
    bool is_counted = end != topology && end[0] == 'x' && end[1] == ' ' && n > 0 && n < 65536;
    int length;

    if (strchr(topology, '+') || (!is_counted && strchr(topology, ' ')))
        return false;
    length = is_counted ? snprintf(out, size, "%lux %s", n * factor, end + 2)
                        : snprintf(out, size, "%ux %s %s", factor, topology, network);
    return length > 0 && (size_t)length < size;
}

/* What the new pieces of advice say of the cluster too, on which they were tried. */
static enum fr_status name_cluster(struct adviser *a, size_t from, const char *topology,
                                   size_t n_gpus)
{
    const char *quote = strchr(topology, ' ') ? "\"" : "";
    char change[512], options[512], gpus[32] = "";

    if (a->question.n_gpus > 0) /* a number that was given for the smaller one */
        snprintf(gpus, sizeof(gpus), " -g %zu", n_gpus);

    if (a->n > from + MOST_LISTED)
        a->n = from + MOST_LISTED;
    for (size_t i = from; i < a->n; i++) {
        struct fr_record_advice *x = &a->list[i];

        snprintf(change, sizeof(change), "%.200s%s%.200s", topology, x->change[0] ? ", " : "",
                 x->change);
        snprintf(options, sizeof(options), "-t %s%.200s%s%s%s%.200s", quote, topology, quote, gpus,
                 x->options[0] ? " " : "", x->options);
        x->change = fr__arena_strdup(a->arena, change);
        x->options = fr__arena_strdup(a->arena, options);
        if (!x->change || !x->options)
            return fr__fail_nomem(a->err);
    }
    return FR_OK;
}

/* The question as it is, else with other strategies and options, on another cluster. */
static enum fr_status try_on(struct adviser *a, const struct fr_setting *s,
                             enum fr_status (*advise)(struct adviser *a))
{
    const struct fr_setting *own = a->setting;
    struct trial t;
    enum fr_status st;

    FR_TRY(fr__advice_try(a, s, &a->question, &t));
    if (t.fits)
        return fr__advice_add(a, &t, "", "", false);
    a->setting = s;
    st = advise(a);
    a->setting = own;
    return st;
}

static enum fr_status try_cluster(struct adviser *a, const char *topology,
                                  enum fr_status (*advise)(struct adviser *a))
{
    struct fr_question asked = a->question;
    size_t from = a->n, n_gpus = 0;
    struct fr_setting s;
    struct fr_error err;
    enum fr_status st;

    a->question.topology = topology;
    a->question.n_gpus = 0;
    a->question.devices = NULL;
    st = fr_session_setting(a->setting->session, &a->question, &s, &err);
    if (st == FR_OK) {
        n_gpus = s.topo->n_gpus;
        st = try_on(a, &s, advise);
        fr_setting_fini(&s);
    } else if (st == FR_ENOMEM) {
        *a->err = err;
    } else {
        st = FR_OK; /* no such cluster: nothing to advise */
    }
    a->question = asked;
    return st == FR_OK ? name_cluster(a, from, topology, n_gpus) : st;
}

/* ---- machines with larger GPUs ---- */

struct preset {
    const char *name;
    uint64_t memory_bytes; /* of the smallest GPU */
};

static uint64_t memory_of(const struct fr_topo *t)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < t->n_devices; i++) {
        const struct fr_device_type *type = &t->types[t->devices[i].type];

        if (type->is_gpu && type->mem_bytes < least)
            least = type->mem_bytes;
    }
    return least;
}

/* Presets with more memory a GPU than `above`, the least first, one of each size; found:
 * [MOST_PRESETS]. */
static size_t larger_presets(uint64_t above, struct preset found[])
{
    const char *name;
    size_t n = 0;

    for (size_t i = 0; (name = fr_topo_preset_name(i)) != NULL; i++) {
        struct fr_topo *t;
        struct fr_error err;
        uint64_t bytes;
        size_t at = 0;

        if (fr_topo_load(&t, name, &err) != FR_OK)
            continue;
        bytes = memory_of(t);
        fr_topo_free(t);
        while (at < n && found[at].memory_bytes < bytes)
            at++;
        if (bytes <= above || bytes == UINT64_MAX || at == MOST_PRESETS ||
            (at < n && found[at].memory_bytes == bytes))
            continue;
        n += n < MOST_PRESETS;
        memmove(found + at + 1, found + at, (n - at - 1) * sizeof(*found));
        found[at] = (struct preset){name, bytes};
    }
    return n;
}

enum fr_status fr__advise_machines(struct adviser *a, enum fr_status (*advise)(struct adviser *a))
{
    static const unsigned factors[] = {2, 8};
    struct preset larger[MOST_PRESETS];
    size_t n_larger = larger_presets(memory_of(a->setting->topo), larger), from = a->n;
    char topology[256];

    a->events = 0; /* the trials on the user's own cluster had their share */
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]) && a->n == from; i++)
        if (more_machines(a->question.topology, factors[i], topology, sizeof(topology)))
            FR_TRY(try_cluster(a, topology, advise));
    from = a->n;
    for (size_t i = 0; i < n_larger && a->n == from; i++)
        FR_TRY(try_cluster(a, larger[i].name, advise));
    return FR_OK;
}
