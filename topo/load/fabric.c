/* topo/load/fabric.c - reads the word that names a fabric, "rails:8x400Gbps,spine=2:1". */
#include "config.h"

#include "base/units.h"
#include "topo/load/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which options a shape has. */
enum key {
    KEY_KIND = 1,
    KEY_LATENCY = 2,
    KEY_LINK = 4,
    KEY_SPINE = 8,
    KEY_SPINES = 16,
    KEY_OVER = 32,
    KEY_MACHINES = 64,
    KEY_LEAVES = 128,
    KEY_CORES = 256,
    KEY_CORE_OVER = 512,
    KEY_ROUTERS = 1024,
    KEY_DIMS = 2048,
    KEY_BOND = 4096,
    KEY_RAILS = 8192, /* the N of NxRATE */
    KEY_ROUTING = 16384,
    KEYS_ALL = KEY_KIND | KEY_LATENCY | KEY_BOND
};

static const unsigned keys_of[FR__N_SHAPES] = {
    [FR__SHAPE_RAILS] = KEYS_ALL | KEY_RAILS | KEY_SPINE | KEY_SPINES | KEY_ROUTING,
    [FR__SHAPE_LEAVES] = KEYS_ALL | KEY_MACHINES | KEY_SPINES | KEY_OVER | KEY_ROUTING,
    [FR__SHAPE_FAT_TREE] = KEYS_ALL | KEY_MACHINES | KEY_SPINES | KEY_OVER | KEY_LEAVES |
                           KEY_CORES | KEY_CORE_OVER | KEY_ROUTING,
    [FR__SHAPE_DRAGONFLY] = KEYS_ALL | KEY_MACHINES | KEY_ROUTERS | KEY_LINK,
    [FR__SHAPE_TORUS] = KEYS_ALL | KEY_DIMS | KEY_LINK,
    [FR__SHAPE_MESH] = KEYS_ALL | KEY_DIMS | KEY_LINK,
    [FR__SHAPE_RING] = KEYS_ALL | KEY_LINK,
    [FR__SHAPE_FULL] = KEYS_ALL | KEY_LINK,
};

static const struct {
    const char *name;
    enum key key;
} keys[] = {
    {"kind", KEY_KIND},           {"latency", KEY_LATENCY}, {"link", KEY_LINK},
    {"spine", KEY_SPINE},         {"spines", KEY_SPINES},   {"over", KEY_OVER},
    {"machines", KEY_MACHINES},   {"leaves", KEY_LEAVES},   {"cores", KEY_CORES},
    {"core-over", KEY_CORE_OVER}, {"routers", KEY_ROUTERS}, {"dims", KEY_DIMS},
    {"bond", KEY_BOND},           {"routing", KEY_ROUTING},
};

enum { N_KEYS = sizeof(keys) / sizeof(keys[0]), OPTION = 64, MAX_COUNT = 65536 };

struct reader {
    struct fr__fabric *f;
    struct fr_loc loc;
    struct fr_error *err;
    unsigned seen;
};

/* Up to the options: "rails:spine=2:1", and "rails,spine=2:1" means the same. */
static size_t shape_length(const char *text)
{
    return strcspn(text, ":,");
}

static bool find_shape(const char *text, enum fr__shape *out)
{
    size_t n = shape_length(text);

    for (unsigned i = 0; i < FR__N_SHAPES; i++)
        if (strlen(fr__fabric_shape_name(i)) == n &&
            strncmp(fr__fabric_shape_name(i), text, n) == 0) {
            *out = (enum fr__shape)i;
            return true;
        }
    return false;
}

bool fr__fabric_is(const char *text)
{
    enum fr__shape unused;

    return find_shape(text, &unused);
}

/* ---- values ---- */

static enum fr_status read_count(struct reader *r, const char *text, const char *what,
                                 uint32_t *out)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(text, what, r->loc, 1, MAX_COUNT, &n, r->err));
    *out = (uint32_t)n;
    return FR_OK;
}

/* "2:1", "1.5:1" or "3:2": how many times more goes down than up. */
static enum fr_status read_ratio(struct reader *r, const char *text, const char *what, double *out)
{
    const char *colon = strchr(text, ':');
    double down = 0, up = 0;
    char number[OPTION];

    if (!colon)
        return fr__fail(r->err, FR_EPARSE, r->loc, "%s is \"%s\", a ratio like 2:1 expected", what,
                        text);
    snprintf(number, sizeof(number), "%.*s", (int)(colon - text), text);
    FR_TRY(fr__parse_number(number, what, r->loc, 1e-3, 1e3, &down, r->err));
    FR_TRY(fr__parse_number(colon + 1, what, r->loc, 1e-3, 1e3, &up, r->err));
    if (down / up < 1e-3 || down / up > 1e3)
        return fr__fail(r->err, FR_ERANGE, r->loc, "%s is \"%s\", expected from 1:1000 to 1000:1",
                        what, text);
    *out = down / up;
    return FR_OK;
}

/* "4x4x2" */
static enum fr_status read_dims(struct reader *r, const char *text)
{
    struct fr__fabric *f = r->f;

    for (f->n_dims = 0; *text;) {
        size_t n = strcspn(text, "x");
        char number[OPTION];

        if (f->n_dims == FR__MAX_FABRIC_DIMS)
            return fr__fail(r->err, FR_ERANGE, r->loc, "the fabric has more than %d dimensions",
                            (int)FR__MAX_FABRIC_DIMS);
        snprintf(number, sizeof(number), "%.*s", (int)n, text);
        FR_TRY(read_count(r, number, "a dimension of the fabric", &f->dims[f->n_dims++]));
        if (text[n] == 'x' && !text[n + 1])
            return fr__fail(r->err, FR_EPARSE, r->loc,
                            "the dimensions of the fabric end with an x, one like 4x4 expected");
        text += n + (text[n] == 'x');
    }
    return FR_OK;
}

static const char *routing_name(unsigned i)
{
    static const char *const names[FR__N_ROUTINGS] = {"modulo", "hash", "adaptive"};

    return names[i];
}

static enum fr_status read_value(struct reader *r, enum key key, const char *what,
                                 const char *value)
{
    struct fr__fabric *f = r->f;
    double seconds = 0;
    unsigned word = 0;

    switch (key) {
    case KEY_KIND:
        return fr__network_kind(&f->net, value, r->loc, r->err);
    case KEY_LATENCY:
        FR_TRY(fr__parse_time(value, what, r->loc, &seconds, r->err));
        f->net.latency_s = seconds / 2;
        f->net.source = "latency: as given";
        return FR_OK;
    case KEY_LINK:
        return fr__parse_rate(value, what, r->loc, &f->link_Bps, r->err);
    case KEY_SPINE:
    case KEY_OVER:
        return read_ratio(r, value, what, &f->over);
    case KEY_CORE_OVER:
        return read_ratio(r, value, what, &f->core_over);
    case KEY_SPINES:
        return read_count(r, value, what, &f->spines);
    case KEY_MACHINES:
        return read_count(r, value, what, &f->machines);
    case KEY_LEAVES:
        return read_count(r, value, what, &f->leaves);
    case KEY_CORES:
        return read_count(r, value, what, &f->cores);
    case KEY_ROUTERS:
        return read_count(r, value, what, &f->routers);
    case KEY_DIMS:
        return read_dims(r, value);
    case KEY_ROUTING:
        FR_TRY(fr__parse_choice(value, what, FR__N_ROUTINGS, routing_name, &word, r->err));
        f->routing = (enum fr__routing)word;
        return FR_OK;
    case KEY_BOND:
    case KEY_RAILS:
    case KEYS_ALL:
        break;
    }
    return read_count(r, value, what, &f->bond);
}

/* ---- options ---- */

/* "8x400Gbps" or "400Gbps" */
static enum fr_status read_rate(struct reader *r, const char *text)
{
    size_t n = strspn(text, "0123456789");
    char number[OPTION];

    if (r->f->net.bw_Bps > 0)
        return fr__fail(r->err, FR_EPARSE, r->loc, "the network's rate appears twice");
    if (text[n] == 'x') {
        if (!(keys_of[r->f->shape] & KEY_RAILS))
            return fr__fail(r->err, FR_EPARSE, r->loc,
                            "\"%s\" in the fabric: a count of rails stands with rails alone", text);
        snprintf(number, sizeof(number), "%.*s", (int)n, text);
        FR_TRY(read_count(r, number, "the number of rails", &r->f->rails));
        text += n + 1;
    }
    FR_TRY(fr__parse_rate(text, "the network's rate", r->loc, &r->f->net.bw_Bps, r->err));
    if (r->f->net.bw_Bps > 0)
        return FR_OK;
    return fr__fail(r->err, FR_ERANGE, r->loc, "the network's rate is 0");
}

static enum fr_status read_option(struct reader *r, char *text)
{
    const char *names[N_KEYS + 1] = {NULL};
    char *value = strchr(text, '='), what[OPTION + 32], hint[128];
    size_t k = 0, n = 0;

    if (*text >= '0' && *text <= '9')
        return read_rate(r, text);
    if (value)
        *value++ = '\0';
    for (size_t i = 0; i < N_KEYS; i++)
        if (keys_of[r->f->shape] & keys[i].key)
            names[n++] = keys[i].name;
    while (k < N_KEYS && strcmp(keys[k].name, text) != 0)
        k++;
    if (k == N_KEYS || !(keys_of[r->f->shape] & keys[k].key))
        return fr__fail(r->err, FR_EPARSE, r->loc, "'%s' is no option of %s%s", text,
                        fr__fabric_shape_name(r->f->shape),
                        fr__did_you_mean(text, names, n, hint, sizeof(hint)));
    snprintf(what, sizeof(what), "'%s' of the fabric", text);
    if (r->seen & keys[k].key)
        return fr__fail(r->err, FR_EPARSE, r->loc, "%s appears twice", what);
    r->seen |= keys[k].key;
    if (!value && keys[k].key == KEY_SPINE)
        return FR_OK; /* 1:1 */
    if (!value)
        return fr__fail(r->err, FR_EPARSE, r->loc, "%s has no value", what);
    return read_value(r, keys[k].key, what, value);
}

/* What a shape needs and was not given. */
static enum fr_status complete(struct reader *r)
{
    struct fr__fabric *f = r->f;

    if (f->shape == FR__SHAPE_RAILS && r->seen & (KEY_SPINE | KEY_SPINES))
        f->spines = f->spines ? f->spines : 1;
    if ((f->shape == FR__SHAPE_LEAVES || f->shape == FR__SHAPE_FAT_TREE) && f->spines == 0)
        f->spines = 1;
    if (f->routing == FR__ROUTING_ADAPTIVE) {
        f->spines = f->spines ? 1 : 0;
        f->cores = 1;
    }
    if ((f->shape == FR__SHAPE_TORUS || f->shape == FR__SHAPE_MESH) && f->n_dims == 0)
        return fr__fail(r->err, FR_EPARSE, r->loc, "%s lacks dims=..., one like dims=4x4",
                        fr__fabric_shape_name(f->shape));
    return FR_OK;
}

enum fr_status fr__fabric_parse(struct fr__fabric *out, const char *text, struct fr_loc loc,
                                struct fr_error *err)
{
    struct fr__fabric f = {.text = text,
                           .over = 1,
                           .core_over = 1,
                           .machines = 16,
                           .leaves = 4,
                           .cores = 1,
                           .routers = 4,
                           .bond = 1};
    struct reader r = {&f, loc, err, 0};

    if (!find_shape(text, &f.shape))
        return fr__fail(err, FR_EPARSE, loc, "'%.40s' is no fabric", text);
    FR_TRY(fr__network_kind(&f.net, "ib", loc, err));
    f.net.bw_Bps = 0;
    f.net.text = text;
    text += shape_length(text);
    if (*text && !text[1])
        return fr__fail(err, FR_EPARSE, loc, "nothing behind '%s%s'",
                        fr__fabric_shape_name(f.shape), text);
    while (*text) {
        size_t n = strcspn(++text, ",");
        char option[OPTION];

        if (n >= OPTION || n == 0)
            return fr__fail(err, FR_EPARSE, loc, "the fabric has an option of %zu characters", n);
        snprintf(option, sizeof(option), "%.*s", (int)n, text);
        FR_TRY(read_option(&r, option));
        text += n;
    }
    FR_TRY(complete(&r));
    *out = f;
    return FR_OK;
}
