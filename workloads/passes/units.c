/* workloads/passes/units.c - finds the units of a graph; the rules are in units.h. */
#include "config.h"

#include "workloads/passes/units.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a layer's forward ops are, as two hashes: with their sizes, and of their kinds only. Equal
 * ops give equal hashes; others differ but for a chance of about 2^-64 a pair. */
enum { EXACT, KINDS, N_LIKENESSES };

struct layer {
    const char *name;
    uint64_t hash[N_LIKENESSES];
    uint64_t param_bytes;
    uint32_t unit; /* index of finding.units; FR_NONE */
};

/* Layers whose names begin alike up to their n-th number. */
struct block {
    const char *name;
    uint64_t hash[N_LIKENESSES];
    uint64_t param_bytes;
    uint32_t first_layer, n_layers;
    uint32_t pattern;  /* its name without numbers, as a number of finding.patterns */
    uint32_t previous; /* block of the same pattern before it; FR_NONE */
};

struct finding {
    const struct fr_graph *g;
    struct fr__arena *keep, *scratch;
    struct layer *layers;   /* [n_layers] */
    struct block *blocks;   /* [n_layers], those of the depth at hand */
    uint32_t *block_of;     /* [n_layers]; FR_NONE */
    uint32_t *last;         /* [n_layers]: last block of each pattern so far */
    bool *is_alike;         /* [n_layers]: two blocks of the pattern are */
    struct fr__unit *units; /* [n_layers] */
    size_t n_blocks, n_units;
};

static void mix(uint64_t *hash, uint64_t value)
{
    *hash = fr__hash_id(*hash + UINT64_C(0x9e3779b97f4a7c15) + value);
}

static void mix_number(uint64_t *hash, double value)
{
    mix(hash, fr__hash_bytes(&value, sizeof(value)));
}

static void describe_layers(struct finding *f)
{
    const struct fr_graph *g = f->g;

    for (size_t i = 0; i < g->n_layers; i++)
        f->layers[i] = (struct layer){.name = g->layer_names[i], .unit = FR_NONE};
    for (size_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];
        struct layer *layer = &f->layers[op->layer];
        uint64_t *exact = &layer->hash[EXACT];

        if (op->phase > FR_PHASE_FORWARD)
            continue;
        layer->param_bytes += op->param_bytes;
        mix(&layer->hash[KINDS], op->kind);
        mix(exact, op->kind);
        mix(exact, op->param_bytes);
        mix_number(exact, op->flops);
        mix_number(exact, op->bytes);
        for (uint32_t t = 0; t < op->n_tensors; t++)
            mix(exact, g->tensors[op->first_tensor + t].bytes);
    }
}

/* ---- blocks by name ---- */

/* Length of the name up to the n-th (from 0) of its dotted parts that end in a number; 0: it has
 * not so many. */
static size_t prefix_of(const char *name, unsigned n)
{
    size_t end = 0;

    for (;;) {
        size_t part = strcspn(name + end, ".");

        end += part;
        if (part > 0 && isdigit((unsigned char)name[end - 1]) && n-- == 0)
            return end;
        if (name[end] == '\0')
            return 0;
        end++;
    }
}

/* The first len characters of name with each number as '#', in scratch. */
static const char *pattern_of(struct finding *f, const char *name, size_t len)
{
    char *text = fr__arena_take(f->scratch, len + 1, 1);
    size_t n = 0;

    for (size_t i = 0; text && i < len; i++) {
        if (!isdigit((unsigned char)name[i]))
            text[n++] = name[i];
        else if (i == 0 || !isdigit((unsigned char)name[i - 1]))
            text[n++] = '#';
    }
    if (text)
        text[n] = '\0';
    return text;
}

/* The block of that name, made unless it is there. FR_NONE: out of memory. */
static uint32_t block_named(struct finding *f, uint32_t layer, size_t len,
                            struct fr__strings *names, struct fr__strings *patterns)
{
    const char *name = fr__arena_strndup(f->keep, f->layers[layer].name, len);
    const char *pattern = name ? pattern_of(f, name, len) : NULL;
    struct block *b = &f->blocks[f->n_blocks];
    bool is_new;
    uint32_t id = pattern ? fr__strings_add(names, name, &is_new) : FR_NONE;

    if (id == FR_NONE || !is_new)
        return id;
    *b = (struct block){.name = name, .first_layer = layer};
    b->pattern = fr__strings_add(patterns, pattern, &is_new);
    if (b->pattern == FR_NONE)
        return FR_NONE;
    if (is_new)
        f->last[b->pattern] = FR_NONE;
    b->previous = f->last[b->pattern];
    f->last[b->pattern] = id;
    f->n_blocks++;
    return id;
}

/* Puts the layers of no unit into blocks. */
static bool make_blocks(struct finding *f, unsigned depth)
{
    struct fr__strings names = {0}, patterns = {0};
    bool is_done = true;

    f->n_blocks = 0;
    for (uint32_t i = 0; i < f->g->n_layers; i++) {
        struct layer *layer = &f->layers[i];
        size_t len = layer->unit == FR_NONE ? prefix_of(layer->name, depth) : 0;
        struct block *b;

        f->block_of[i] = len ? block_named(f, i, len, &names, &patterns) : FR_NONE;
        if (len == 0)
            continue;
        is_done = is_done && f->block_of[i] != FR_NONE;
        if (!is_done)
            break;
        b = &f->blocks[f->block_of[i]];
        b->n_layers++;
        b->param_bytes += layer->param_bytes;
        for (unsigned k = 0; k < N_LIKENESSES; k++)
            mix(&b->hash[k], layer->hash[k]);
    }
    fr__strings_fini(&names);
    fr__strings_fini(&patterns);
    return is_done;
}

/* The blocks of a pattern two of which are alike become units. */
static void take_units(struct finding *f, unsigned likeness)
{
    for (size_t b = 0; b < f->n_blocks; b++)
        f->is_alike[f->blocks[b].pattern] = false;
    for (size_t b = 0; b < f->n_blocks; b++) {
        const struct block *block = &f->blocks[b];

        if (block->previous != FR_NONE && block->param_bytes > 0 &&
            block->hash[likeness] == f->blocks[block->previous].hash[likeness])
            f->is_alike[block->pattern] = true;
    }
    for (uint32_t i = 0; i < f->g->n_layers; i++) {
        const struct block *b = f->block_of[i] == FR_NONE ? NULL : &f->blocks[f->block_of[i]];

        if (!b || !f->is_alike[b->pattern] || b->param_bytes == 0)
            continue;
        if (b->first_layer == i)
            f->units[f->n_units++] =
                (struct fr__unit){b->name, b->first_layer, b->n_layers, b->param_bytes};
        f->layers[i].unit = b->first_layer;
    }
}

static bool find_by_name(struct finding *f)
{
    for (unsigned likeness = 0; likeness < N_LIKENESSES; likeness++) {
        unsigned depth = 0;

        do {
            if (!make_blocks(f, depth++))
                return false;
            take_units(f, likeness);
        } while (f->n_blocks > 0);
    }
    return true;
}

/* ---- blocks by structure ---- */

struct run {
    uint32_t first, n, period; /* of layers */
};

/* The run of most layers in which each is equal to the one `period` layers before it. */
static struct run longest_run(const struct layer layers[], uint32_t n_layers)
{
    struct run best = {0};

    for (uint32_t period = 1; period <= n_layers / 2; period++) {
        uint32_t n_equal = 0;

        for (uint32_t i = period; i < n_layers; i++) {
            uint32_t n;

            n_equal = layers[i].hash[EXACT] == layers[i - period].hash[EXACT] ? n_equal + 1 : 0;
            n = n_equal / period * period + period;
            if (n_equal >= period && n > best.n)
                best = (struct run){i + 1 - n_equal - period, n, period};
        }
    }
    return best;
}

static bool find_by_structure(struct finding *f)
{
    struct run run = longest_run(f->layers, (uint32_t)f->g->n_layers);

    for (uint32_t i = run.first; i < run.first + run.n; i++) {
        uint32_t first = i - (i - run.first) % run.period;

        if (i == first) {
            const char *name = fr__arena_strdup(f->keep, f->layers[i].name);

            if (!name)
                return false;
            f->units[f->n_units++] = (struct fr__unit){name, i, run.period, 0};
        }
        f->layers[i].unit = first;
        f->units[f->n_units - 1].param_bytes += f->layers[i].param_bytes;
    }
    if (f->n_units > 0 && f->units[0].param_bytes == 0) {
        f->n_units = 0;
        for (uint32_t i = 0; i < f->g->n_layers; i++)
            f->layers[i].unit = FR_NONE;
    }
    return true;
}

/* ---- the whole ---- */

static int compare_units(const void *a, const void *b)
{
    const struct fr__unit *x = a, *y = b;

    return (x->first_layer > y->first_layer) - (x->first_layer < y->first_layer);
}

/* Orders the units and numbers the layers' by it. Until then a layer's unit is that of its first
 * layer. */
static enum fr_status publish(struct finding *f, struct fr__units *out, struct fr_error *err)
{
    size_t n = f->g->n_layers;
    uint32_t *unit_of_layer = fr__arena_alloc(f->keep, n, sizeof(*unit_of_layer));
    uint32_t *number = fr__arena_alloc(f->scratch, n, sizeof(*number));
    uint64_t root_bytes = 0;

    if (!unit_of_layer || !number)
        return fr__fail_nomem(err);
    qsort(f->units, f->n_units, sizeof(*f->units), compare_units);
    for (size_t u = 0; u < f->n_units; u++)
        number[f->units[u].first_layer] = (uint32_t)u;
    for (size_t i = 0; i < n; i++) {
        uint32_t unit = f->layers[i].unit;

        unit_of_layer[i] = unit == FR_NONE ? FR_NONE : number[unit];
        root_bytes += unit == FR_NONE ? f->layers[i].param_bytes : 0;
    }
    *out = (struct fr__units){.n_units = f->n_units,
                              .units = f->units,
                              .unit_of_layer = unit_of_layer,
                              .root_param_bytes = root_bytes,
                              .priv = f->keep};
    return FR_OK;
}

static bool allocate(struct finding *f)
{
    size_t n = f->g->n_layers;

    f->keep = fr__arena_new();
    f->scratch = fr__arena_new();
    if (!f->keep || !f->scratch)
        return false;
    f->layers = fr__arena_alloc(f->scratch, n, sizeof(*f->layers));
    f->blocks = fr__arena_alloc(f->scratch, n + 1, sizeof(*f->blocks));
    f->block_of = fr__arena_alloc(f->scratch, n, sizeof(*f->block_of));
    f->last = fr__arena_alloc(f->scratch, n, sizeof(*f->last));
    f->is_alike = fr__arena_alloc(f->scratch, n, sizeof(*f->is_alike));
    f->units = fr__arena_alloc(f->keep, n, sizeof(*f->units));
    return f->layers && f->blocks && f->block_of && f->last && f->is_alike && f->units;
}

enum fr_status fr__units_find(struct fr__units *out, const struct fr_graph *g, struct fr_error *err)
{
    struct finding f = {.g = g};
    enum fr_status st = FR_OK;

    if (!allocate(&f)) {
        st = fr__fail_nomem(err);
        goto done;
    }
    describe_layers(&f);
    if (!find_by_name(&f) || (f.n_units == 0 && !find_by_structure(&f))) {
        st = fr__fail_nomem(err);
        goto done;
    }
    st = publish(&f, out, err);
done:
    if (st != FR_OK)
        fr__arena_free(f.keep);
    fr__arena_free(f.scratch);
    return st;
}

/* ---- in a graph made from it ---- */

/* The parameters of units and root, of g's ops. */
static void count_parameters(struct fr__unit units[], const uint32_t unit_of_layer[],
                             uint64_t *root_bytes, const struct fr_graph *g)
{
    for (size_t o = 0; o < g->n_ops; o++) {
        uint32_t unit = unit_of_layer[g->ops[o].layer];

        if (g->ops[o].phase > FR_PHASE_FORWARD)
            continue;
        *(unit == FR_NONE ? root_bytes : &units[unit].param_bytes) += g->ops[o].param_bytes;
    }
}

/* known: names of the model's layers, numbered like them. */
static enum fr_status map_units(struct fr__units *out, const struct fr_graph *g,
                                const struct fr__units *of, const struct fr__strings *known,
                                struct fr_error *err)
{
    struct fr__arena *keep = fr__arena_new();
    struct fr__unit *units = keep ? fr__arena_alloc(keep, of->n_units + 1, sizeof(*units)) : NULL;
    uint32_t *unit_of = units ? fr__arena_alloc(keep, g->n_layers, sizeof(*unit_of)) : NULL;
    uint64_t root_bytes = 0;

    for (size_t u = 0; unit_of && u < of->n_units; u++) {
        const char *name = fr__arena_strdup(keep, of->units[u].name);

        units[u] = (struct fr__unit){.name = name};
        unit_of = name ? unit_of : NULL;
    }
    if (!unit_of) {
        fr__arena_free(keep);
        return fr__fail_nomem(err);
    }
    for (uint32_t i = 0; i < g->n_layers; i++) {
        uint32_t layer = fr__strings_find(known, g->layer_names[i]);
        uint32_t unit = layer == FR_NONE ? FR_NONE : of->unit_of_layer[layer];

        unit_of[i] = unit;
        if (unit != FR_NONE && units[unit].n_layers++ == 0)
            units[unit].first_layer = i;
    }
    count_parameters(units, unit_of, &root_bytes, g);
    *out = (struct fr__units){.n_units = of->n_units,
                              .units = units,
                              .unit_of_layer = unit_of,
                              .root_param_bytes = root_bytes,
                              .priv = keep};
    return FR_OK;
}

enum fr_status fr__units_within(struct fr__units *out, const struct fr_graph *g,
                                const struct fr_graph *model, struct fr_error *err)
{
    struct fr__strings known = {0};
    struct fr__units of;
    enum fr_status st;
    bool is_new;

    if (g == model)
        return fr__units_find(out, g, err);
    FR_TRY(fr__units_find(&of, model, err));
    st = FR_OK;
    for (size_t i = 0; st == FR_OK && i < model->n_layers; i++)
        if (fr__strings_add(&known, model->layer_names[i], &is_new) != i)
            st = fr__fail_nomem(err); /* no two layers have one name */
    if (st == FR_OK)
        st = map_units(out, g, &of, &known, err);
    fr__strings_fini(&known);
    fr__units_free(&of);
    return st;
}

void fr__units_free(struct fr__units *u)
{
    fr__arena_free(u->priv);
    *u = (struct fr__units){0};
}

/* ---- modules ---- */

struct modules {
    const struct fr__units *given;
    const struct fr_graph *g;
    struct fr__unit *units;
    uint32_t *unit_of_op;
    uint32_t *current; /* [n_units] the module of each unit so far; FR_NONE */
    size_t n;
};

/* Ops that do not run forward are of the module whose forward op they belong to. */
static void add_op(struct modules *m, uint32_t o, uint64_t least_bytes)
{
    const struct fr_op *op = &m->g->ops[o];
    uint32_t unit = m->given->unit_of_layer[op->layer];
    uint32_t *module;

    m->unit_of_op[o] = FR_NONE;
    if (unit == FR_NONE)
        return;
    module = &m->current[unit];
    if (op->phase != FR_PHASE_FORWARD && op->forward < o) {
        m->unit_of_op[o] = m->unit_of_op[op->forward];
        return;
    }
    if (*module == FR_NONE ||
        (op->param_bytes >= least_bytes && m->units[*module].param_bytes >= least_bytes)) {
        *module = (uint32_t)m->n++;
        m->units[*module] =
            (struct fr__unit){.name = m->given->units[unit].name, .first_layer = op->layer};
    }
    m->units[*module].n_layers = op->layer + 1 - m->units[*module].first_layer;
    m->units[*module].param_bytes += op->phase == FR_PHASE_FORWARD ? op->param_bytes : 0;
    m->unit_of_op[o] = *module;
}

enum fr_status fr__units_by_module(struct fr__units *out, const struct fr__units *u,
                                   const struct fr_graph *g, uint64_t least_bytes,
                                   struct fr_error *err)
{
    struct fr__arena *keep = fr__arena_new();
    struct modules m = {.given = u, .g = g};

    if (keep) {
        m.units = fr__arena_alloc(keep, g->n_ops + 1, sizeof(*m.units));
        m.unit_of_op = fr__arena_alloc(keep, g->n_ops + 1, sizeof(*m.unit_of_op));
        m.current = fr__arena_nones(keep, u->n_units);
    }
    if (!m.units || !m.unit_of_op || !m.current) {
        fr__arena_free(keep);
        return fr__fail_nomem(err);
    }
    for (uint32_t o = 0; o < g->n_ops; o++)
        add_op(&m, o, least_bytes);
    *out = (struct fr__units){.n_units = m.n,
                              .units = m.units,
                              .unit_of_layer = u->unit_of_layer,
                              .unit_of_op = m.unit_of_op,
                              .root_param_bytes = u->root_param_bytes,
                              .priv = keep};
    return FR_OK;
}
