/* tests/support/tictac_plain.h - the orders TIC and TAC, computed directly from the paper's
 * definition.
 *
 * Source:  S. H. Hashemi et al., TicTac, MLSys 2019. Each number takes time O(ops x receives);
 *          plan/orders/tictac.c is faster.
 */
#ifndef FR_TESTS_SUPPORT_TICTAC_PLAIN_H
#define FR_TESTS_SUPPORT_TICTAC_PLAIN_H

#include "base/base.h"

enum { FIXTURE_RECEIVES = 150, FIXTURE_OPS = 220 };

/* The partition of one device. */
struct fixture_tictac {
    uint32_t n, n_ops;
    bool needs[FIXTURE_OPS][FIXTURE_RECEIVES];
    double op_s[FIXTURE_OPS], recv_s[FIXTURE_RECEIVES];
    bool is_left[FIXTURE_RECEIVES];                   /* has no number yet; all true at first */
    double p[FIXTURE_RECEIVES], mp[FIXTURE_RECEIVES]; /* scratch */
};

/* number: [n] of each receive. fixture_tac leaves none in is_left. */
void fixture_tac(struct fixture_tictac *k, uint32_t number[]);
void fixture_tic(struct fixture_tictac *k, uint32_t number[]);

#endif
