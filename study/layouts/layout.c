/* study/layouts/layout.c - a layout as text: as the strategy that has it, and what became of it;
 * and which stage of it has a layer. */
#include "config.h"

#include "study/layouts/state.h"

#include "base/units.h"
#include "lowering/schedules/schedule.h"

#include <stdio.h>

static const char *const recompute_names[FR_N_LAYOUT_RECOMPUTES] = {"none", "selective", "full"};

const char *fr__recompute_name(enum fr_layout_recompute r)
{
    return recompute_names[r];
}

/* Schedules that take any number of parts a rank have two where none is said. */
static bool says_parts(const struct fr_search_layout *l)
{
    const struct fr_schedule_kind *k = fr_schedule_kind_find(l->schedule);

    return l->n_virtual > 1 || (k && k->most_virtual == 0);
}

const char *fr_layout_text(const struct fr_search_layout *l, char buf[FR_LAYOUT_TEXT])
{
    int n = snprintf(buf, FR_LAYOUT_TEXT, "hybrid:dp=%u,tp=%u,pp=%u,micro=%u", l->dp, l->tp, l->pp,
                     l->micro);
    size_t at = n > 0 ? (size_t)n : 0;

#define ADD(...) at += (size_t)snprintf(buf + at, FR_LAYOUT_TEXT - at, __VA_ARGS__)
    if (l->cp > 1)
        ADD(",cp=%u", l->cp);
    if (l->ep > 1)
        ADD(",ep=%u", l->ep);
    if (l->etp > 0)
        ADD(",etp=%u", l->etp);
    if (l->tp > 1)
        ADD(",sp=1");
    if (l->pp > 1)
        ADD(",schedule=%.60s,cut=layers", l->schedule);
    if (l->pp > 1 && says_parts(l))
        ADD(",virtual=%u", l->n_virtual);
    if (l->zero > 0)
        ADD(",zero=%u", l->zero);
    if (l->recompute != FR_LAYOUT_KEEPS_ALL)
        ADD(",recompute=%s", recompute_names[l->recompute]);
    if (l->map)
        ADD(",map=%.40s", l->map);
#undef ADD
    return buf;
}

const char *fr_layout_fate_name(enum fr_layout_fate f)
{
    static const char *const names[FR_N_LAYOUT_FATES] = {
        [FR_LAYOUT_PENDING] = "not looked at",
        [FR_LAYOUT_LAYERS] = "stages do not divide the layers",
        [FR_LAYOUT_BATCH] = "dp does not divide the batch",
        [FR_LAYOUT_EXPERTS] = "ep x etp does not divide a stage",
        [FR_LAYOUT_SCHEDULE] = "not served by the schedule",
        [FR_LAYOUT_REFUSED] = "the model cannot be split so",
        [FR_LAYOUT_KEPT] = "weights and optimizer do not fit",
        [FR_LAYOUT_MEMORY] = "does not fit with activations",
        [FR_LAYOUT_OOM] = "does not fit op by op",
        [FR_LAYOUT_BOUNDED] = "bounded away",
        [FR_LAYOUT_COARSE] = "slower, simulated coarsely",
        [FR_LAYOUT_EXACT] = "simulated op by op",
    };

    return f < FR_N_LAYOUT_FATES ? names[f] : "";
}

const char *fr_search_reason(const struct fr_search_row *r, char buf[FR_SEARCH_REASON])
{
    const struct fr_search_layout *l = &r->layout;
    char over[32];

    switch (r->fate) {
    case FR_LAYOUT_LAYERS:
        snprintf(buf, FR_SEARCH_REASON, "%u x %u stages do not divide the layers", l->pp,
                 l->n_virtual);
        break;
    case FR_LAYOUT_BATCH:
        snprintf(buf, FR_SEARCH_REASON, "dp=%u does not divide the batch", l->dp);
        break;
    case FR_LAYOUT_EXPERTS:
        snprintf(buf, FR_SEARCH_REASON, "ep=%u x etp=%u does not divide the %u ranks of a stage",
                 l->ep, l->etp, l->dp * l->tp * l->cp);
        break;
    case FR_LAYOUT_SCHEDULE:
        snprintf(buf, FR_SEARCH_REASON, "%.40s does not serve %u micro-batches on %u x %u stages",
                 l->schedule, l->n_micros, l->pp, l->n_virtual);
        break;
    case FR_LAYOUT_REFUSED:
        snprintf(buf, FR_SEARCH_REASON, "%.190s", r->why ? r->why : "");
        break;
    case FR_LAYOUT_KEPT:
        snprintf(buf, FR_SEARCH_REASON, "weights and optimizer alone are %s too much",
                 fr__format_bytes(r->over_bytes, over, sizeof(over)));
        break;
    case FR_LAYOUT_MEMORY:
        snprintf(buf, FR_SEARCH_REASON, "does not fit by %s on pipeline rank %u",
                 fr__format_bytes(r->over_bytes, over, sizeof(over)), r->device);
        break;
    case FR_LAYOUT_OOM:
        snprintf(buf, FR_SEARCH_REASON, "op by op it does not fit by %s",
                 fr__format_bytes(r->over_bytes, over, sizeof(over)));
        break;
    case FR_LAYOUT_BOUNDED:
        snprintf(buf, FR_SEARCH_REASON, "takes at least %.4g s", r->bound_s);
        break;
    case FR_LAYOUT_COARSE:
        snprintf(buf, FR_SEARCH_REASON, "takes %.4g s", r->coarse_s);
        break;
    case FR_LAYOUT_EXACT:
        snprintf(buf, FR_SEARCH_REASON, "takes %.4g s op by op", r->exact_s);
        break;
    case FR_LAYOUT_PENDING:
    case FR_N_LAYOUT_FATES:
        snprintf(buf, FR_SEARCH_REASON, "not looked at");
        break;
    }
    return buf;
}

/* As hybrid's cut=layers (lowering/pipeline/stages.c): as many layers a stage; where they do not
 * divide, the ends count as layers too. */
uint32_t fr__stage_of_item(size_t item, size_t n_items, uint32_t n_stages)
{
    size_t n_units = n_items - 2;

    if (n_units % n_stages != 0)
        return (uint32_t)(item / (n_items / n_stages));
    if (item == 0)
        return 0;
    if (item == n_items - 1)
        return n_stages - 1;
    return (uint32_t)((item - 1) / (n_units / n_stages));
}
