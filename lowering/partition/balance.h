/* lowering/partition/balance.h - a cut in which ranks with several stages have as much to do as
 * each other, whatever their stages have. */
#ifndef FR_LOWERING_PARTITION_BALANCE_H
#define FR_LOWERING_PARTITION_BALANCE_H

#include "lowering/partition/chain.h"

/* first: in, a cut; out, one whose ranks' passes of a micro-batch have no larger sum of sixth
 * powers, which is nearly the largest alone and still tells which way is down. Borders move one at
 * a time to any place between their neighbours, and two at a time by a few items, as long as that
 * helps and the stages fit in memory (a cut that does not fit stays). Transfers are not counted. A
 * descent: not exact. FR_ENOMEM. O(n_stages^2) moves a round. */
enum fr_status fr__cut_balance(const struct fr__chain *c, uint32_t first[], struct fr_error *err);

#endif
