/* tests/support/tictac_plain.c - TIC and TAC by their definition, slowly, to compare with
 * plan/orders/tictac.c. */
#include "config.h"

#include "tests/support/tictac_plain.h"

#include <math.h>

/* The paper's UpdateProperties, op by op. */
static void update_properties(struct fixture_tictac *k, bool is_timed)
{
    for (uint32_t r = 0; r < k->n; r++) {
        k->p[r] = 0;
        k->mp[r] = INFINITY;
    }
    for (uint32_t o = 0; o < k->n_ops; o++) {
        uint32_t count = 0, last = 0;
        double sum_s = 0;

        for (uint32_t r = 0; r < k->n; r++)
            if (k->needs[o][r] && k->is_left[r]) {
                count++;
                last = r;
                sum_s += is_timed ? k->recv_s[r] : 1;
            }
        if (count == 1)
            k->p[last] += is_timed ? k->op_s[o] : 0;
        for (uint32_t r = 0; count > 1 && r < k->n; r++)
            if (k->needs[o][r] && k->is_left[r])
                k->mp[r] = fmin(k->mp[r], sum_s);
    }
}

static bool is_before(const struct fixture_tictac *k, uint32_t a, uint32_t b)
{
    double a_first = fmin(k->p[b], k->recv_s[a]), b_first = fmin(k->p[a], k->recv_s[b]);

    return a_first != b_first ? a_first < b_first : k->mp[a] < k->mp[b];
}

void fixture_tac(struct fixture_tictac *k, uint32_t number[])
{
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t best = FR_NONE;

        update_properties(k, true);
        for (uint32_t r = 0; r < k->n; r++)
            if (k->is_left[r] && (best == FR_NONE || is_before(k, r, best)))
                best = r;
        number[best] = i;
        k->is_left[best] = false;
    }
}

void fixture_tic(struct fixture_tictac *k, uint32_t number[])
{
    update_properties(k, false);
    for (uint32_t r = 0; r < k->n; r++) {
        number[r] = 0;
        for (uint32_t other = 0; other < k->n; other++)
            number[r] += k->mp[other] < k->mp[r];
    }
}
