/* lowering/partition/kinds.h - further cuts of a problem, for a run to decide among.
 *
 * The replay that chooses (choose.h) lets each message have its links alone. Where links are
 * shared, another cut may be faster: one that sends less, or one that computes more evenly. Apart
 * from choose.h, since nobody asks for them but who runs plans. */
#ifndef FR_LOWERING_PARTITION_KINDS_H
#define FR_LOWERING_PARTITION_KINDS_H

#include "lowering/partition/choose.h"

/* Those first that more often were the fastest: for large plans only a few are run. */
enum fr__cut_kind {
    FR__CUT_BY_REPLAY,     /* fr__cut_choose */
    FR__CUT_BY_COUNT,      /* the caller's: as many layers a stage, where it knows layers */
    FR__CUT_SLOWER_LINKS,  /* as if messages took twice as long */
    FR__CUT_EVEN,          /* fr__cut_evenly */
    FR__CUT_BY_PASSES,     /* the caller's */
    FR__CUT_FASTER_LINKS,  /* as if messages took half as long, */
    FR__CUT_SLOWEST_LINKS, /* four times as long */
    FR__N_CUT_KINDS
};

/* As fr__cut_choose, by that kind. Of *out only planned_s, of the problem as it is, and fits say
 * something; the cut may be one that does not fit, or that of another kind. FR_ENOMEM. */
enum fr_status fr__cut_choose_kind(const struct fr__choice_problem *in, enum fr__cut_kind kind,
                                   uint32_t first[], struct fr__choice *out, struct fr_error *err);

#endif
