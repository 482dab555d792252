/* study/layouts/memory.c - what some rank of a layout holds at least, by closed form: no run and no
 * plan is needed to know that it does not fit.
 *
 * Source:   S. Rajbhandari et al., ZeRO, SC 2020, section 3.1; the recipes of
 *           lowering/recipe.h.
 * Ignores:  gradients, which the plain strategies hold for a moment only; activations; what tensor
 *           groups hold whole (norms), and an uneven cut of the layers. So it is a bound from
 *           below.
 */
#include "config.h"

#include "study/layouts/state.h"

#include "lowering/recipe.h"

double fr__kept_at_least(const struct fr__job *j, const struct fr_search_layout *l)
{
    static const enum fr__recipe_part parts[] = {FR__PART_WEIGHT, FR__PART_MASTER, FR__PART_STATES};
    const struct fr__recipe *recipe = fr__recipe_of(j->setting.graph->dtype);
    /* experts are split by ep x etp, everything else by tp at most */
    double split = l->tp > l->ep * l->etp ? l->tp : l->ep * l->etp, bytes = 0;
    double shards = (double)l->dp * l->cp * l->tp; /* experts share with all ranks of a stage */

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        /* cast-gathered=1, which a recipe may say, keeps no weights beside the master weights */
        if (parts[i] != FR__PART_WEIGHT || l->zero < 3 || !(recipe->bytes[FR__PART_MASTER] > 0))
            bytes += fr__recipe_part_bytes(recipe, parts[i], j->q.optimizer, l->zero, shards);
    return j->n_params / (split * l->pp) * bytes;
}
