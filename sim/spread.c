/* sim/spread.c - draws random factors of mean 1 from the distributions that people name.
 *
 * Normal:    1 + cv z, z of mean 0 and variance 1, cut below a tenth. The cut moves the mean by
 *            less than 2e-4 up to the largest cv that is accepted, 0.3.
 * Uniform:   1 + cv sqrt(3) (2u - 1), from 0 on for the largest cv, 1 / sqrt(3).
 * Lognormal: exp(s z - m). z is a sum of twelve uniform numbers less six (base/rng.h), so its
 *            moments are known without an approximation: E exp(t z) = (sinh(t/2) / (t/2))^12.
 *            With h = s/2: m = 12 ln(sinh h / h) makes the mean 1, and
 *            1 + cv^2 = E exp(2 s z) / (E exp(s z))^2 = (h coth h)^12 gives s.
 * Gamma:     shape 1/cv^2, scale cv^2. Source: G. Marsaglia and W. W. Tsang, ACM TOMS 26(3), 2000;
 *            normal numbers for it by G. E. P. Box and M. E. Muller, Ann. Math. Stat. 29(2), 1958.
 *
 * A number alone is normal up to the cv where the cut begins to matter, and lognormal above.
 */
#include "config.h"

#include "sim/spread.h"

#include "base/error.h"
#include "base/names.h"

#include <math.h>

static const double LEAST_FACTOR = 0.1;
static const double MOST_NORMAL = 0.3;
static const double MOST_UNIFORM = 0.57735; /* 1 / sqrt(3) */
static const double MOST_CV = 10;
static const double PI = 3.14159265358979323846;

static const char *const shape_names[FR_N_SPREAD_SHAPES] = {"by-size", "normal", "uniform",
                                                            "lognormal", "gamma"};
static const struct fr__name_list shapes = FR__NAMES(shape_names);

const char *fr_spread_shape_name(enum fr_spread_shape s)
{
    return fr__name_of(&shapes, s);
}

static double largest_cv(enum fr_spread_shape shape)
{
    switch (shape) {
    case FR_SPREAD_NORMAL:
        return MOST_NORMAL;
    case FR_SPREAD_UNIFORM:
        return MOST_UNIFORM;
    case FR_SPREAD_BY_SIZE:
    case FR_SPREAD_LOGNORMAL:
    case FR_SPREAD_GAMMA:
    case FR_N_SPREAD_SHAPES:
        break;
    }
    return MOST_CV;
}

enum fr_status fr_spread_check(enum fr_spread_shape shape, double cv, const char *what,
                               struct fr_error *err)
{
    double most = largest_cv(shape);

    if (cv >= 0 && cv <= most)
        return FR_OK;
    if (!(cv > most) || most == MOST_CV)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%s is %g, expected 0 to %g", what, cv, most);
    return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                    "%s: times above 0 with mean 1 and a spread of %g are not %s; expected %g at "
                    "most, or lognormal or gamma",
                    what, cv, fr_spread_shape_name(shape), most);
}

/* h with h coth h = target >= 1; h coth h grows from 1 on, and is above h. */
static double solve_h_coth_h(double target)
{
    double low = 0, high = target;

    for (unsigned i = 0; i < 100; i++) {
        double h = 0.5 * (low + high);

        if (h / tanh(h) < target)
            low = h;
        else
            high = h;
    }
    return 0.5 * (low + high);
}

void fr__spread_init(struct fr__spread *s, enum fr_spread_shape shape, double cv)
{
    *s = (struct fr__spread){.shape = shape, .cv = cv, .scale = cv * cv};
    if (shape == FR_SPREAD_BY_SIZE)
        s->shape = cv <= MOST_NORMAL ? FR_SPREAD_NORMAL : FR_SPREAD_LOGNORMAL;
    if (s->shape == FR_SPREAD_LOGNORMAL && cv > 0) {
        double h = solve_h_coth_h(pow(1 + cv * cv, 1.0 / 12));

        s->scale = 2 * h;
        s->centre = h > 1e-4 ? 12 * log(sinh(h) / h) : 2 * h * h; /* its series: h^2 / 6 each */
    }
}

/* Above 0 and at most 1. */
static double positive_uniform(struct fr__rng *rng)
{
    return 1 - fr__rng_uniform(rng);
}

static double exact_normal(struct fr__rng *rng)
{
    double radius = sqrt(-2 * log(positive_uniform(rng)));

    return radius * cos(2 * PI * fr__rng_uniform(rng));
}

/* Gamma of scale 1, shape a >= 1. */
static double draw_gamma(double a, struct fr__rng *rng)
{
    double d = a - 1.0 / 3, c = 1 / sqrt(9 * d);

    for (;;) {
        double x = exact_normal(rng), v = 1 + c * x;

        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(positive_uniform(rng)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

double fr__spread_draw(const struct fr__spread *s, struct fr__rng *rng)
{
    double f, a;

    if (!(s->cv > 0))
        return 1;
    switch (s->shape) {
    case FR_SPREAD_UNIFORM:
        f = 1 + s->cv * sqrt(3) * (2 * fr__rng_uniform(rng) - 1);
        return f > 0 ? f : 0;
    case FR_SPREAD_LOGNORMAL:
        return exp(s->scale * fr__rng_normal(rng) - s->centre);
    case FR_SPREAD_GAMMA:
        a = 1 / s->scale;
        if (a >= 1)
            return s->scale * draw_gamma(a, rng);
        f = pow(positive_uniform(rng), 1 / a); /* shape a + 1, times U^(1/a), has shape a */
        return s->scale * draw_gamma(a + 1, rng) * f;
    case FR_SPREAD_BY_SIZE:
    case FR_SPREAD_NORMAL:
    case FR_N_SPREAD_SHAPES:
        break;
    }
    f = 1 + s->cv * fr__rng_normal(rng);
    return f < LEAST_FACTOR ? LEAST_FACTOR : f;
}
