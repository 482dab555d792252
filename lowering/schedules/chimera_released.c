/* lowering/schedules/chimera_released.c - Chimera as its authors' released generator orders it.
 *
 * Placement and slots within a unit are those of chimera.c. There a unit begins when the first
 * micro-batch of the one before has ended, 2 p slots later. The generator lets one begin, in the
 * same direction, whenever a micro-batch ends that is not its unit's last, as long as micro-batches
 * are left: with p / 2 of them a unit, p / 2 - 1 units for each. So units overlap from three times
 * as many micro-batches as ranks on, where there are six ranks or more. Of two passes that fall
 * into one slot of a rank that of the older unit comes first; the generator's table of slots, which
 * has room for one of them, loses the other. The result is shorter, and holds several times as
 * much. With two ranks the generator ends after two micro-batches; here units follow each other
 * then.
 * Source: S. Li and T. Hoefler, Chimera, SC 2021; the rule is that of the class
 * AutoGeneratePipelineRank in chimera_pipeline_rank.py of their repository, Shigangli/Chimera.
 */
#include "config.h"

#include "base/error.h"
#include "lowering/schedules/maker.h"

#include <stdlib.h>

/* A unit's micro-batches enter two slots apart. */
struct unit {
    uint64_t begin; /* slot */
    uint32_t direction, n;
    uint32_t n_ended; /* of those after which another unit may begin */
};

/* A micro-batch of a unit, and the number that it has in its direction. */
struct entry {
    uint64_t slot;
    uint32_t unit, direction, number;
};

struct pass {
    uint64_t slot;
    uint32_t unit;
    struct fr_action action;
};

struct making {
    const struct fr_schedule_spec *spec;
    struct unit *units;
    struct entry *entries; /* [n_micros] */
    struct pass *passes;   /* [2 n_micros] of a rank */
    uint32_t n_units, n_begun;
};

static enum fr_status check(const struct fr_schedule_spec *spec, struct fr_error *err)
{
    if (spec->n_ranks % 2 == 0 && spec->n_micros % spec->n_ranks == 0)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'chimera-released' needs an even number of ranks, not %u, that divides the "
                    "number of micro-batches, not %u",
                    spec->n_ranks, spec->n_micros);
}

static void begin_unit(struct making *g, uint64_t slot, uint32_t direction)
{
    uint32_t half = g->spec->n_ranks / 2, left = g->spec->n_micros - g->n_begun;
    uint32_t n = left < half ? left : half;

    if (n == 0)
        return;
    g->units[g->n_units++] = (struct unit){.begin = slot, .direction = direction, .n = n};
    g->n_begun += n;
}

/* Slot by slot, in each the units in the order in which they were begun, until all micro-batches
 * are in one. */
static void begin_units(struct making *g)
{
    uint32_t p = g->spec->n_ranks;

    begin_unit(g, 0, 0);
    begin_unit(g, 0, 1);
    for (uint64_t slot = 2 * (uint64_t)p; g->n_begun < g->spec->n_micros; slot += 2)
        for (uint32_t u = 0; u < g->n_units; u++) {
            struct unit *k = &g->units[u];

            /* of two ranks a unit is one micro-batch, the last */
            if (k->begin + 2 * ((uint64_t)p + k->n_ended) == slot &&
                (k->n_ended + 1 < k->n || (p == 2 && k->n_ended == 0))) {
                k->n_ended++;
                begin_unit(g, slot, k->direction);
            }
        }
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->direction != y->direction)
        return x->direction < y->direction ? -1 : 1;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* The micro-batches of each direction count on in the order in which they enter. */
static void number_entries(struct making *g)
{
    uint32_t n = 0;

    for (uint32_t u = 0; u < g->n_units; u++)
        for (uint32_t k = 0; k < g->units[u].n; k++)
            g->entries[n++] = (struct entry){.slot = g->units[u].begin + 2 * (uint64_t)k,
                                             .unit = u,
                                             .direction = g->units[u].direction};
    qsort(g->entries, n, sizeof(*g->entries), compare_entries);
    for (uint32_t i = 0; i < n; i++)
        g->entries[i].number = i; /* the first direction has half of them */
}

static int compare_passes(const void *a, const void *b)
{
    const struct pass *x = a, *y = b;

    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void add_rank(struct making *g, uint32_t r, struct fr_schedule *out)
{
    uint32_t p = g->spec->n_ranks, n = 0;

    for (uint32_t i = 0; i < g->spec->n_micros; i++) {
        const struct entry *e = &g->entries[i];
        uint32_t stage = e->direction == 0 ? r : p - 1 - r;
        const struct fr_action f = {.kind = FR_ACTION_F, .stage = stage, .micro = e->number};
        const struct fr_action b = {.kind = FR_ACTION_B, .stage = stage, .micro = e->number};

        g->passes[n++] = (struct pass){e->slot + stage, e->unit, f};
        g->passes[n++] = (struct pass){e->slot + 2 * (uint64_t)p - 1 - stage, e->unit, b};
    }
    qsort(g->passes, n, sizeof(*g->passes), compare_passes);
    fr__schedule_rank(out, r);
    for (uint32_t i = 0; i < n; i++) {
        const struct fr_action *a = &g->passes[i].action;

        fr__schedule_add(out, (enum fr_action_kind)a->kind, a->stage, a->micro);
    }
}

static enum fr_status make(const struct fr_schedule_spec *spec, struct fr_schedule *out,
                           struct fr_error *err)
{
    struct making g = {.spec = spec};
    enum fr_status st = FR_OK;

    g.units = calloc((size_t)spec->n_micros + 2, sizeof(*g.units));
    g.entries = calloc(spec->n_micros, sizeof(*g.entries));
    g.passes = calloc(2 * (size_t)spec->n_micros, sizeof(*g.passes));
    if (!g.units || !g.entries || !g.passes) {
        st = fr__fail_nomem(err);
    } else {
        begin_units(&g);
        number_entries(&g);
        for (uint32_t r = 0; r < spec->n_ranks; r++)
            add_rank(&g, r, out);
    }
    free(g.units);
    free(g.entries);
    free(g.passes);
    return st;
}

const struct fr_schedule_kind fr__schedule_chimera_released = {
    .name = "chimera-released",
    .summary = "Chimera by its authors' generator: units overlap, shorter, holds more",
    .source = "Li and Hoefler, Chimera, SC 2021, released generator",
    .placement = FR_STAGES_TWO,
    .least_virtual = 2,
    .most_virtual = 2,
    .check = check,
    .make = make,
};
