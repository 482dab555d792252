/* strategies/pipedream/bound.c - what no plan of a profile can fall below. */
#include "config.h"

#include "strategies/pipedream/pipedream.h"

#include <math.h>

/* Work of one layer, that one stage must do: on each level on as many groups as serve it best. */
static double layer_s(const struct fr__pd_layers *l, size_t v, const struct fr__pd_states *s,
                      const struct fr__pd_options *o)
{
    double seconds = l->both_s[v];

    for (size_t level = 0; level < o->n_levels; level++) {
        const struct fr__pd_table t = {.states = s, .options = o, .level = level};
        uint32_t most = o->is_straight ? 1 : o->levels[level].n;
        double least_s = INFINITY;

        for (uint32_t m = 1; m <= most; m++)
            least_s = fmin(least_s, fr__pd_spread_s(&t, seconds, l->param_bytes[v], m, true));
        seconds = least_s;
    }
    return seconds;
}

double fr__pd_bound_s(const struct fr__pd_layers *l, const struct fr__pd_states *s,
                      const struct fr__pd_options *o)
{
    const uint64_t *whole = s->sets + (s->n - 1) * l->n_words;
    double bound_s = s->both_s[s->n - 1];

    for (size_t level = 0; level < o->n_levels; level++)
        bound_s /= o->levels[level].n;
    for (uint32_t v = 0; v < l->n; v++)
        if (fr__pd_has(whole, v))
            bound_s = fmax(bound_s, layer_s(l, v, s, o));
    return bound_s;
}
