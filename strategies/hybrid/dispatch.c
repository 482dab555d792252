/* strategies/hybrid/dispatch.c - which experts get how many tokens.
 *
 * Every rank is simulated as the busiest one, which is the first: its time is that of the step. Its
 * experts' rows, and the bytes of an all-to-all, are those of the mean times the skew, the busiest
 * rank's rows over the mean. Published benchmarks force a balanced dispatch; what a trained router
 * does is between that and Zipf's law.
 */
#include "config.h"

#include "strategies/hybrid/hybrid.h"

#include "base/error.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

enum { MOST_ZIPF = 10 };

static bool begins_with(const char *text, const char *word, const char **rest)
{
    size_t n = strlen(word);

    *rest = text + n;
    return strncmp(text, word, n) == 0;
}

enum fr_status fr__hybrid_read_dispatch(struct fr__hybrid_options *o, const char *text,
                                        struct fr_error *err)
{
    const char *number;
    double most = o->ep;
    enum fr_status st;

    if (strcmp(text, "balanced") == 0)
        return FR_OK;
    if (strcmp(text, "model") == 0)
        o->dispatch = FR__DISPATCH_MODEL;
    else if (begins_with(text, "skew:", &number))
        o->dispatch = FR__DISPATCH_SKEW;
    else if (begins_with(text, "zipf:", &number)) {
        o->dispatch = FR__DISPATCH_ZIPF;
        most = MOST_ZIPF;
    } else
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "dispatch=%s is not balanced, model, skew:F (rows of the busiest rank over "
                        "the mean) or zipf:S (the exponent)",
                        text);
    if (o->ep < 2)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "dispatch=%s needs ep: one rank has all experts, so it gets all tokens",
                        text);
    if (o->dispatch == FR__DISPATCH_MODEL)
        return FR_OK;
    st = fr__parse_number(number, "dispatch", FR_NOWHERE, 0, most, &o->dispatch_by, err);
    if (st == FR_OK && o->dispatch == FR__DISPATCH_SKEW && o->dispatch_by < 1)
        st = fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                      "dispatch=%s: the busiest of %u ranks gets 1 to %u times the mean", text,
                      o->ep, o->ep);
    return st;
}

void fr__hybrid_dispatch(const struct fr__hybrid_options *o, uint32_t n_experts, double shares[],
                         struct fr__shard_experts *out)
{
    double sum = 0;

    *out = (struct fr__shard_experts){.ep = o->ep, .etp = o->etp, .is_balanced = true, .skew = 1};
    out->is_balanced = o->dispatch != FR__DISPATCH_MODEL;
    if (o->dispatch == FR__DISPATCH_SKEW)
        out->skew = o->dispatch_by;
    if (o->dispatch != FR__DISPATCH_ZIPF)
        return;
    for (uint32_t e = 0; e < n_experts; e++)
        sum += shares[e] = pow(e + 1.0, -o->dispatch_by);
    for (uint32_t e = 0; e < n_experts; e++)
        shares[e] /= sum;
    out->shares = shares;
    out->n_shares = n_experts;
}
