/* lowering/exchange/exchange.c - the table of policies by which replicas sum their gradients: see
 * exchange.h. */
#include "config.h"

#include "lowering/exchange/parts.h"

#include "base/error.h"

static const struct fr__exchange_row policies[] = {
    [FR__EXCHANGE_BUCKETS] = {.prepare = fr__buckets_prepare,
                              .place = fr__reduce_place,
                              .is_chained = true,
                              .keeps_copies = true},
    [FR__EXCHANGE_STAGES] = {.prepare = fr__stages_prepare, .place = fr__reduce_place},
    [FR__EXCHANGE_STAGE_BUCKETS] = {.prepare = fr__stage_buckets_prepare,
                                    .place = fr__reduce_place,
                                    .is_chained = true},
    [FR__EXCHANGE_SERVERS] = {.prepare = fr__servers_prepare, .finish = fr__servers_finish},
};

enum fr_status fr__exchange_new(struct fr__exchange **out, struct fr__placer *pl,
                                const struct fr__exchange_options *o, struct fr_error *err)
{
    struct fr__exchange *x = fr__arena_alloc(pl->arena, 1, sizeof(*x));

    if (!x)
        return fr__fail_nomem(err);
    x->row = &policies[o->policy];
    x->pl = pl;
    x->options = *o;
    FR_TRY(x->row->prepare(x, err));
    FR_TRY(fr__late_prepare(x, err));
    *out = x;
    return FR_OK;
}

bool fr__exchange_is_local(const struct fr__exchange *x)
{
    return !x->row->finish;
}

void fr__exchange_place(struct fr__exchange *x, struct fr__replica *r, uint32_t rank)
{
    if (x->row->place)
        x->row->place(x, r, rank);
}

enum fr_status fr__exchange_finish(struct fr__exchange *x, struct fr__replica replicas[],
                                   struct fr_error *err)
{
    x->workers = replicas;
    return x->row->finish ? x->row->finish(x, err) : FR_OK;
}
