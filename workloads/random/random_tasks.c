/* workloads/random/random_tasks.c - draws task graphs and writes them down.
 *
 * Each number has a stream of random numbers of its own (times, messages, edges), so that the shape
 * of a graph stays when only its times change.
 */
#include "config.h"

#include "workloads/random/random_tasks.h"

#include "base/error.h"
#include "base/rng.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TASKS = 100000, MAX_WIDTH = 10000, MAX_WORD = 64 };

/* A random graph has tasks^2 / 2 pairs, all of which are looked at. */
enum { MAX_PAIRED_TASKS = 20000 };

enum kind { LAYERED, FORK_JOIN, ERDOS_RENYI, N_KINDS };
static const char *const kinds[N_KINDS] = {"layered", "fork-join", "erdos-renyi"};

enum stream { TIMES, MESSAGES, EDGES, WIDTHS, N_STREAMS };

struct drawing {
    FILE *f;
    unsigned kind;
    uint64_t tasks, width, seed;
    double density, time_s, ccr, bandwidth_Bps;
    struct fr__rng rng[N_STREAMS];
    const char *blank; /* before the next name in `after` */
};

/* ---- the spec ---- */

static const char *kind_name(unsigned i)
{
    return kinds[i];
}

static const char *const keys[] = {"tasks", "width", "density", "time", "ccr", "bandwidth", "seed"};
enum { N_KEYS = sizeof(keys) / sizeof(keys[0]) };

static enum fr_status set(struct drawing *d, const char *key, const char *value,
                          struct fr_error *err)
{
    char what[MAX_WORD + 16], hint[128];

    snprintf(what, sizeof(what), "'%s'", key);
    if (strcmp(key, "tasks") == 0)
        return fr__parse_count(value, what, FR_NOWHERE, 1, MAX_TASKS, &d->tasks, err);
    if (strcmp(key, "width") == 0)
        return fr__parse_count(value, what, FR_NOWHERE, 1, MAX_WIDTH, &d->width, err);
    if (strcmp(key, "seed") == 0)
        return fr__parse_count(value, what, FR_NOWHERE, 0, UINT64_MAX, &d->seed, err);
    if (strcmp(key, "density") == 0)
        return fr__parse_number(value, what, FR_NOWHERE, 0, 1, &d->density, err);
    if (strcmp(key, "ccr") == 0)
        return fr__parse_number(value, what, FR_NOWHERE, 0, 1e6, &d->ccr, err);
    if (strcmp(key, "time") == 0)
        return fr__parse_time(value, what, FR_NOWHERE, &d->time_s, err);
    if (strcmp(key, "bandwidth") == 0)
        return fr__parse_rate(value, what, FR_NOWHERE, &d->bandwidth_Bps, err);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "random task graphs have no '%s'%s", key,
                    fr__did_you_mean(key, keys, N_KEYS, hint, sizeof(hint)));
}

static enum fr_status take_word(const char **at, const char *stops, char word[MAX_WORD],
                                struct fr_error *err)
{
    size_t n = strcspn(*at, stops);

    if (n == 0 || n >= MAX_WORD)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "\"%.40s\": expected KIND:key=value,key=value",
                        *at);
    memcpy(word, *at, n);
    word[n] = '\0';
    *at += n;
    return FR_OK;
}

/* A key that is given twice is a slip: neither value is taken. */
static enum fr_status check_first(unsigned *seen, const char *key, struct fr_error *err)
{
    for (unsigned i = 0; i < N_KEYS; i++) {
        if (strcmp(keys[i], key) != 0)
            continue;
        if (*seen & 1u << i)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' is given twice", key);
        *seen |= 1u << i;
    }
    return FR_OK;
}

static enum fr_status parse(struct drawing *d, const char *spec, struct fr_error *err)
{
    char word[MAX_WORD], value[MAX_WORD];
    unsigned seen = 0;

    FR_TRY(take_word(&spec, ":", word, err));
    FR_TRY(fr__parse_choice(word, "the kind of graph", N_KINDS, kind_name, &d->kind, err));
    while (*spec) { /* at ':' or ',' */
        spec++;
        FR_TRY(take_word(&spec, "=,", word, err));
        if (*spec != '=')
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' has no value", word);
        spec++;
        FR_TRY(take_word(&spec, ",", value, err));
        FR_TRY(check_first(&seen, word, err));
        FR_TRY(set(d, word, value, err));
    }
    if (d->ccr > 0 && !(d->bandwidth_Bps > 0))
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "'bandwidth' is 0, over which nothing moves");
    if (d->kind == ERDOS_RENYI && d->tasks > MAX_PAIRED_TASKS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "erdos-renyi takes at most %d tasks",
                        MAX_PAIRED_TASKS);
    return FR_OK;
}

/* ---- rows ---- */

static bool is_drawn(struct drawing *d)
{
    return fr__rng_uniform(&d->rng[EDGES]) < d->density;
}

static void begin_task(struct drawing *d, uint64_t task)
{
    char text[40];

    fprintf(d->f, "t%" PRIu64 ",%s,", task,
            fr__format_double(2 * d->time_s * fr__rng_uniform(&d->rng[TIMES]), text, sizeof(text)));
    d->blank = "";
}

static void add_need(struct drawing *d, uint64_t before)
{
    double s = 2 * d->ccr * d->time_s * fr__rng_uniform(&d->rng[MESSAGES]);
    double bytes = s * d->bandwidth_Bps;

    fprintf(d->f, "%st%" PRIu64, d->blank, before);
    if (bytes >= 1)
        fprintf(d->f, ":%.0f", bytes < 9e15 ? bytes : 9e15);
    d->blank = " ";
}

static void end_task(struct drawing *d)
{
    putc('\n', d->f);
}

static void draw_layered(struct drawing *d)
{
    uint64_t before = 0, n_before = 0; /* the layer before: its first task, and how many */

    for (uint64_t first = 0; first < d->tasks;) {
        uint64_t n = 1 + fr__rng_below(&d->rng[WIDTHS], 2 * d->width - 1);

        n = n < d->tasks - first ? n : d->tasks - first;
        for (uint64_t t = first; t < first + n; t++) {
            uint64_t sure = n_before ? fr__rng_below(&d->rng[EDGES], n_before) : 0;

            begin_task(d, t);
            for (uint64_t k = 0; k < n_before; k++)
                if (is_drawn(d) || k == sure)
                    add_need(d, before + k);
            end_task(d);
        }
        before = first;
        n_before = n;
        first += n;
    }
}

static void draw_fork_join(struct drawing *d)
{
    uint64_t join = 0, n_side = 0; /* the last one that joined, and tasks since then */

    for (uint64_t t = 0; t < d->tasks; t++) {
        bool joins = t == 0 || n_side == d->width || t + 1 == d->tasks;

        begin_task(d, t);
        for (uint64_t k = t - n_side; joins && k < t; k++)
            add_need(d, k);
        if (!joins || (t > 0 && n_side == 0))
            add_need(d, join);
        end_task(d);
        n_side = joins ? 0 : n_side + 1;
        join = joins ? t : join;
    }
}

static void draw_pairs(struct drawing *d)
{
    for (uint64_t t = 0; t < d->tasks; t++) {
        begin_task(d, t);
        for (uint64_t k = 0; k < t; k++)
            if (is_drawn(d))
                add_need(d, k);
        end_task(d);
    }
}

enum fr_status fr_random_tasks(FILE *f, const char *spec, struct fr_error *err)
{
    struct drawing d = {.f = f,
                        .tasks = 100,
                        .width = 10,
                        .density = 0.3,
                        .time_s = 1,
                        .ccr = 1,
                        .bandwidth_Bps = 1e9};

    FR_TRY(parse(&d, spec, err));
    for (unsigned i = 0; i < N_STREAMS; i++)
        fr__rng_init(&d.rng[i], d.seed, 0x646167 + i); /* "dag" */
    fputs("task,time,after\n", f);
    if (d.kind == LAYERED)
        draw_layered(&d);
    else if (d.kind == FORK_JOIN)
        draw_fork_join(&d);
    else
        draw_pairs(&d);
    return FR_OK;
}
