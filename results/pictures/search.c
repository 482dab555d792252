/* results/pictures/search.c - draws the layouts of a search by gnuplot: time against memory, and
 * the frontier that no layout beats in both. With one cluster the price is in proportion to the
 * time: a second axis shows it. */
#include "config.h"

#include "results/pictures/search.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/palette.h"
#include "results/parts/number.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

#include <math.h>

enum { MOST_NAMED = 8 };

enum { N_COLOURS = FR__PALETTE - 1 };

struct picture {
    FILE *f;
    const struct fr_search_results *r;
    const struct fr_search_summary *m;
    double top_bytes; /* of its axis */
};

static bool is_shown(const struct fr_search_row *x)
{
    return (x->fate == FR_LAYOUT_COARSE || x->fate == FR_LAYOUT_EXACT) && x->coarse_s > 0;
}

/* tp = 2^k has colour k. */
static unsigned colour_of(const struct fr_search_row *x)
{
    unsigned k = 0;

    for (uint32_t t = x->layout.tp; t > 1 && k + 1 < N_COLOURS; t /= 2)
        k++;
    return k;
}

static void put_point(const struct picture *p, const struct fr_search_row *x)
{
    fr__plot_number(p->f, x->coarse_s);
    fr__plot_number(p->f, x->coarse_bytes / 1073741824.0);
    putc('\n', p->f);
}

/* A block for each colour, then the frontier. */
static void write_data(const struct picture *p)
{
    for (unsigned k = 0; k < N_COLOURS; k++) {
        const struct fr_search_row *x;

        fprintf(p->f, "$points%u << FORERUN_END\nNaN NaN\n", k);
        for (size_t i = 0; (x = fr_search_row(p->r->search, i)); i++)
            if (is_shown(x) && colour_of(x) == k)
                put_point(p, x);
        fputs("FORERUN_END\n", p->f);
    }
    fputs("$frontier << FORERUN_END\nNaN NaN\n", p->f);
    for (size_t i = 0; i < p->m->n_frontier; i++)
        put_point(p, fr_search_row(p->r->search, p->m->frontier[i]));
    fputs("FORERUN_END\n", p->f);
}

/* Names of the frontier, below and left of their points, where no layout can be: it would be faster
 * and smaller. One that would stand on the one before it is left out. */
static void write_names(const struct picture *p, double low, double high)
{
    size_t n = p->m->n_frontier, step = n / MOST_NAMED + 1;
    double last_s = -INFINITY, last_bytes = INFINITY;

    for (size_t i = 0; i < n; i += step) {
        const struct fr_search_row *x = fr_search_row(p->r->search, p->m->frontier[i]);
        const struct fr_search_layout *l = &x->layout;
        char text[80];

        if (x->coarse_s - last_s < 0.12 * (high - low) &&
            last_bytes - x->coarse_bytes < 0.03 * p->top_bytes)
            continue;
        last_s = x->coarse_s;
        last_bytes = x->coarse_bytes;
        snprintf(text, sizeof(text), "tp%u pp%u dp%u micro %u", l->tp, l->pp, l->dp, l->micro);
        fputs("set label ", p->f);
        fr__gnuplot_string(p->f, text, 60);
        fputs(" at ", p->f);
        fr__plot_number(p->f, x->coarse_s);
        putc(',', p->f);
        fr__plot_number(p->f, x->coarse_bytes / 1073741824.0);
        fputs("right offset -0.8,-0.5 font ',9' tc rgb '" FR__COLOUR_TEXT "' front\n", p->f);
    }
}

static void write_heading(const struct picture *p)
{
    char text[400];

    snprintf(text, sizeof(text), "%s on %zu GPUs of %s, global batch %u", p->m->workload,
             p->m->n_gpus, p->m->topology, p->m->global_batch);
    fputs("set title ", p->f);
    fr__gnuplot_string(p->f, text, 110);
    fputs(" font ',15' tc rgb '" FR__COLOUR_TEXT "'\n", p->f);
}

/* From the best time to twice as long, or to the end of the frontier. */
static void find_range(const struct picture *p, double *low, double *high)
{
    const struct fr_search_row *x;
    double longest = 0;

    *low = fr_search_row(p->r->search, p->m->frontier[0])->coarse_s;
    *high = fr_search_row(p->r->search, p->m->frontier[p->m->n_frontier - 1])->coarse_s;
    for (size_t i = 0; (x = fr_search_row(p->r->search, i)); i++)
        if (is_shown(x) && x->coarse_s < 2 * *low)
            longest = fmax(longest, x->coarse_s);
    *high = fmax(*high, longest);
    *high += 0.05 * (*high > *low ? *high - *low : *low);
    *low -= 0.14 * (*high - *low); /* for names */
}

/* The price of a million samples, along the top, at steps of 1, 2 or 5 times a power of ten. */
static void write_price(const struct picture *p, double low, double high)
{
    const struct fr_priced what = {p->m->topology, p->m->machines, p->m->gpu_types};
    double usd = p->r->terms->prices.n && p->m->gpu_types
                     ? fr_prices_usd_per_hour(&p->r->terms->prices, &what)
                     : NAN;
    double per_s = (isnan(usd) ? (double)p->m->n_gpus : usd) / 3600 * 1e6 / p->m->global_batch;
    double least = per_s * (high - low) / 8, power = pow(10, floor(log10(least)));
    double step = power * (least <= power       ? 1
                           : least <= 2 * power ? 2
                           : least <= 5 * power ? 5
                                                : 10);
    const char *comma = "";

    fputs("set xtics nomirror\nset x2range [", p->f);
    fr__plot_number(p->f, low);
    fputs(":", p->f);
    fr__plot_number(p->f, high);
    fprintf(p->f, "]\nset x2label '%s for a million samples'\nset x2tics (",
            isnan(usd) ? "GPU hours" : "USD");
    for (double i = ceil(low * per_s / step); i * step <= high * per_s; i++) {
        fprintf(p->f, "%s'%.6g' ", comma, i * step);
        fr__plot_number(p->f, i * step / per_s);
        comma = ", ";
    }
    fputs(")\n", p->f);
}

/* Whether any layout of the class is shown, for the key. */
static bool has_class(const struct picture *p, unsigned k)
{
    const struct fr_search_row *x;

    for (size_t i = 0; (x = fr_search_row(p->r->search, i)); i++)
        if (is_shown(x) && colour_of(x) == k)
            return true;
    return false;
}

/* All layouts, and the memory of a GPU where they fill half of it. */
static double find_top(const struct picture *p)
{
    double most = 0;
    const struct fr_search_row *x;

    for (size_t i = 0; (x = fr_search_row(p->r->search, i)); i++)
        if (is_shown(x))
            most = fmax(most, x->coarse_bytes);
    return most > p->m->capacity_bytes / 2 ? 1.05 * p->m->capacity_bytes : 1.15 * most;
}

static void write_plot(const struct picture *p, double low, double high)
{
    fputs("set xlabel 'time of an iteration, s'\nset ylabel 'memory of the fullest GPU, GiB'\n"
          "set grid lc rgb '#dddddd'\nset key outside right top Left reverse title "
          "'colour: tp'\nset border lc rgb '#BBBBBB'\nset tics scale 0.5 tc rgb '" FR__COLOUR_TEXT
          "'\nset xrange [",
          p->f);
    fr__plot_number(p->f, low);
    fputs(":", p->f);
    fr__plot_number(p->f, high);
    fputs("]\nset yrange [0:", p->f);
    fr__plot_number(p->f, p->top_bytes / 1073741824.0);
    fputs("]\nplot ", p->f);
    for (unsigned k = 0; k < N_COLOURS; k++)
        if (has_class(p, k))
            fprintf(p->f, "$points%u using 1:2 with points pt 7 ps 0.8 lc rgb '%s' title '%u%s', ",
                    k, fr__palette(k), 1u << k, k + 1 == N_COLOURS ? " and more" : "");
    fr__plot_number(p->f, p->m->capacity_bytes / 1073741824.0);
    fputs("with lines dt 2 lc rgb '" FR__COLOUR_LIMIT "' title 'memory of a GPU, ", p->f);
    fprintf(p->f, "%.0f", p->m->capacity_bytes / 1073741824.0);
    fputs(" GiB', $frontier using 1:2 with linespoints pt 6 lw 1.5 lc rgb '" FR__COLOUR_TEXT
          "' title 'frontier'\n",
          p->f);
}

enum fr_status fr__draw_search(FILE *picture, const struct fr_search_results *r, const char *ending,
                               const struct fr_context *ctx, struct fr_error *err)
{
    struct picture p = {.r = r, .m = fr_search_summary(r->search)};
    double low, high;
    enum fr_status st;

    if (p.m->n_frontier == 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "no layout fits, so there is nothing to draw");
    p.top_bytes = find_top(&p);
    FR_TRY(fr__gnuplot_script(&p.f, err));
    fprintf(p.f, "%s\n", fr__plot_frame(ending)->terminal);
    write_heading(&p);
    write_data(&p);
    find_range(&p, &low, &high);
    write_names(&p, low, high);
    write_price(&p, low, high);
    write_plot(&p, low, high);
    st = fr__gnuplot_run(p.f, picture, ctx, err);
    fclose(p.f);
    return st;
}
