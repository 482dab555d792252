/* results/document/sweep.c - a sweep as tables for people: what is best, what does not fit.
 *
 * It is separate from the tables of points, whose columns depend on which settings vary.
 */
#include "config.h"

#include "results/document/builders.h"

#include "base/units.h"
#include "results/parts/nics.h"
#include "results/parts/number.h"
#include "results/parts/sweep_names.h"
#include "results/parts/cells.h"
#include "results/document/sweep_points.h"
#include "study/sweep/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_GROUPS = 4,      /* with a table each */
    MAX_PAGE_GROUPS = 9, /* of a page, with a picture each */
    MAX_PAGE_ROWS = 2000,
    MAX_LISTED = 10, /* of what does not fit or cannot be, unless all are asked for */
    NUMBER = 32
};

/* What a table is printed from. */
struct page {
    struct fr__document *doc;
    const struct fr_sweep_answer *answer;
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    const struct fr_sweep_table *wanted;
};

static void put_points(const struct page *p, const size_t points[], const char *const labels[],
                       size_t n, const char *label_title)
{
    fr__sweep_put_points(p->doc, &(struct fr__sweep_points){p->sweep, p->summary, p->wanted, points,
                                                            labels, n, label_title});
}

/* The points that are best by something, each once, and the words for it ("time, cost"). */
struct winners {
    size_t points[3], n;
    char words[3][32];
};

/* Without prices nobody knows what is cheapest, only what takes the fewest GPU hours. */
static bool has_prices(const struct page *p)
{
    return fr_prices_any(&p->summary->terms.prices);
}

static void find_winners(const struct page *p, const struct fr_sweep_group *g, struct winners *w)
{
    const char *const names[] = {"time", "memory", has_prices(p) ? "cost" : "GPU hours"};
    const size_t best[] = {g->best_time, g->best_memory, g->best_cost};
    size_t n = p->sweep->has_training ? 3 : 1; /* tasks have neither memory nor costs */

    w->n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0, used;

        if (best[i] == SIZE_MAX)
            continue;
        while (k < w->n && w->points[k] != best[i])
            k++;
        if (k == w->n) {
            w->points[w->n++] = best[i];
            w->words[k][0] = '\0';
        }
        used = strlen(w->words[k]);
        snprintf(w->words[k] + used, sizeof(w->words[k]) - used, "%s%s", used ? ", " : "",
                 names[i]);
    }
}

static void print_best(const struct page *p, const struct fr_sweep_group *g)
{
    const char *labels[3];
    struct winners w;

    find_winners(p, g, &w);
    for (size_t i = 0; i < w.n; i++)
        labels[i] = w.words[i];
    put_points(p, w.points, labels, w.n, "best by");
}

static void print_frontier(const struct page *p, const struct fr_sweep_group *g)
{
    static const char *const nothing[MAX_LISTED] = {"", "", "", "", "", "", "", "", "", ""};
    bool is_cut = g->n_frontier > MAX_LISTED;

    if (g->n_frontier == 1) {
        fr__say(p->doc, "\n  frontier: the fastest %s, too\n",
                has_prices(p) ? "is the cheapest" : "takes the fewest GPU hours");
        return;
    }
    fr__say(p->doc, "\n  frontier: nothing is both faster and %s than one of these%s\n\n",
            has_prices(p) ? "cheaper" : "takes fewer GPU hours",
            is_cut ? " (the fastest ten)" : "");
    put_points(p, g->frontier, nothing, is_cut ? MAX_LISTED : g->n_frontier, "");
}

static void print_group(const struct page *p, const struct fr_sweep_group *g)
{
    const struct fr_sweep_summary *m = p->summary;
    struct fr__document *doc = p->doc;
    char name[FR__TABLE_CELL], clean[FR__TABLE_CELL], deadline[NUMBER], likeness[NUMBER];

    fr__sweep_group_text(g, name, sizeof(name));
    fr__table_text(clean, name);
    if (fr__is_page(doc))
        fr__say_heading(doc, name);
    fr__say(doc, "\n%s: %zu of %zu fit", clean, g->n_fits, g->n_points);
    if (m->terms.deadline_s > 0)
        fr__say(doc, ", %zu of them within %s", g->n_in_time,
                fr__format_time(m->terms.deadline_s, deadline, sizeof(deadline)));
    fr__say(doc, "\n");
    if (g->n_fits == 0)
        return;
    fr__say(doc, "\n");
    print_best(p, g);
    if (g->n_like_best > 0)
        fr__say(
            doc,
            "\n  not distinguishable from the fastest: %zu other%s (less than %s slower, which\n"
            "  measured pairs of one model and software do not show reliably)\n",
            g->n_like_best, g->n_like_best == 1 ? "" : "s",
            fr__percent(fr_sweep_least_difference(), likeness, sizeof(likeness)));
    if (g->n_frontier > 0 && p->sweep->has_training) {
        print_frontier(p, g);
        fr__say_picture(doc, FR__PICTURE_COST, p->answer, (size_t)(g - m->groups));
    }
}

/* ---- many workloads in one table ---- */

/* The best of all groups; arrays on the arena, [3 a group]. */
struct digest {
    size_t *points, n;
    const char **labels;
    char (*texts)[FR__TABLE_CELL];
};

/* "vgg19: time, cost", then "  memory" */
static void add_group(struct digest *d, const struct page *p, const struct fr_sweep_group *g)
{
    struct winners w;
    char name[FR__TABLE_CELL];

    find_winners(p, g, &w);
    fr__sweep_group_text(g, name, sizeof(name));
    for (size_t i = 0; i < w.n; i++) {
        snprintf(d->texts[d->n], FR__TABLE_CELL, "%.150s%s%s", i ? "" : name, i ? "  " : ": ",
                 w.words[i]);
        d->labels[d->n] = d->texts[d->n];
        d->points[d->n++] = w.points[i];
    }
}

static void print_digest(const struct page *p)
{
    const struct fr_sweep_summary *m = p->summary;
    size_t n = 3 * m->n_groups;
    struct digest d = {.points = calloc(n, sizeof(*d.points)),
                       .labels = calloc(n, sizeof(*d.labels)),
                       .texts = calloc(n, sizeof(*d.texts))};

    if (d.points && d.labels && d.texts) {
        for (size_t i = 0; i < m->n_groups; i++)
            add_group(&d, p, &m->groups[i]);
        fr__say(p->doc, "\n");
        put_points(p, d.points, d.labels, d.n, "best by");
    } else {
        fr__say(p->doc, "\nout of memory for a table\n");
    }
    free(d.points);
    free(d.labels);
    free(d.texts);
}

static void print_nothing_fits(struct fr__document *doc, const struct fr_sweep_summary *m)
{
    const char *separator = "\nnothing fits: ";
    char name[FR__TABLE_CELL], clean[FR__TABLE_CELL];

    for (size_t i = 0; i < m->n_groups; i++) {
        if (m->groups[i].n_points == 0 || m->groups[i].n_fits > 0)
            continue;
        fr__sweep_group_text(&m->groups[i], name, sizeof(name));
        fr__table_text(clean, name);
        fr__say(doc, "%s%s", separator, clean);
        separator = ", ";
    }
    if (separator[0] == ',')
        fr__say(doc, "\n");
}

/* ---- rows that do not fit ---- */

static void print_oom(const struct page *p)
{
    const struct fr_sweep *s = p->sweep;
    size_t points[MAX_LISTED], n = 0;

    for (size_t i = 0; i < s->n_points && n < MAX_LISTED; i++)
        if (s->rows[i] && s->rows[i]->outcome == FR_OOM)
            points[n++] = i;
    if (n == 0)
        return;
    fr__say(p->doc, "\nout of memory: %zu\n\n", p->summary->n[FR_OOM]);
    fr__sweep_put_oom(
        p->doc, &(struct fr__sweep_points){s, p->summary, p->wanted, points, NULL, n, "workload"});
    if (p->summary->n[FR_OOM] > n)
        fr__say(p->doc, "  and %zu more (--all)\n", p->summary->n[FR_OOM] - n);
}

/* Each reason once, with how often it is given. */
static void print_reasons(struct fr__document *doc, const struct fr_sweep *s,
                          const struct fr_sweep_summary *m, enum fr_outcome outcome)
{
    const struct fr_sweep_row *first[MAX_LISTED];
    size_t count[MAX_LISTED] = {0}, n = 0, n_others = 0;
    char clean[FR__TABLE_CELL];

    for (size_t i = 0; i < s->n_points; i++) {
        const struct fr_sweep_row *r = s->rows[i];
        size_t k = 0;

        if (!r || r->outcome != outcome)
            continue;
        while (k < n && strcmp(first[k]->reason, r->reason) != 0)
            k++;
        if (k == MAX_LISTED) {
            n_others++;
            continue;
        }
        if (k == n)
            first[n++] = r;
        count[k]++;
    }
    if (n == 0)
        return;
    fr__say(doc, "\n%s: %zu\n\n", fr_outcome_name(outcome), m->n[outcome]);
    fr__say_drawn(doc);
    for (size_t k = 0; k < n; k++) {
        fr__table_text(clean, first[k]->reason);
        fr__say(doc, "  %6zu  %s\n", count[k], clean);
    }
    if (n_others > 0)
        fr__say(doc, "  %6zu  for other reasons (--all)\n", n_others);
    fr__say_plain(doc);
}

/* ---- each row ---- */

static void print_all(const struct page *p)
{
    const struct fr_sweep *s = p->sweep;
    size_t *points = calloc(s->n_points, sizeof(*points)), n = 0, n_told;

    if (!points) {
        fr__say(p->doc, "\nout of memory for a table\n");
        return;
    }
    for (size_t i = 0; i < s->n_points; i++)
        if (s->rows[i])
            points[n++] = i;
    if (fr__is_page(p->doc))
        fr__say_heading(p->doc, "All points");
    n_told = fr__is_page(p->doc) && n > MAX_PAGE_ROWS ? MAX_PAGE_ROWS : n;
    fr__say(p->doc, "\nall points: %zu\n\n", n);
    put_points(p, points, NULL, n_told, "workload");
    if (n_told < n)
        fr__say(p->doc, "The first %zu of %zu; the CSV file has all.\n", n_told, n);
    free(points);
}

/* ---- the whole ---- */

/* What was given with one value, so that the table need not repeat it. */
static void print_fixed(struct fr__document *doc, const struct fr_sweep *s)
{
    const char *separator = "";
    char clean[FR__TABLE_CELL];

    for (size_t i = 0; i < FR_N_SETTINGS; i++) {
        if (s->axes[i].n != 1 || strcmp(fr_question_setting(i), "workload") == 0)
            continue;
        fr__table_text(clean, s->axes[i].values[0]);
        fr__say(doc, "%s%s %s", separator, fr_question_setting(i), clean);
        separator = ", ";
    }
    if (separator[0])
        fr__say(doc, "\n");
}

/* A line for each topology whose machines are joined by other NICs than the others'. */
static void print_nics(struct fr__document *doc, const struct fr_sweep *s)
{
    char text[FR__NICS_TEXT];

    for (size_t i = 0; i < s->n_nics; i++)
        if (fr__sweep_nics_text(s, i, text)[0]) {
            fr__say_name(doc, text);
            fr__say(doc, "\n");
        }
}

/* Shares over what fits, each point weighing the same. */
static void print_cost_sources(struct fr__document *doc, const struct fr_sweep *s,
                               const struct fr_sweep_summary *m)
{
    double sum[FR_N_TRUSTS] = {0};
    const char *separator = " ";
    char text[NUMBER];

    for (size_t i = 0; i < s->n_points; i++)
        for (unsigned t = 0; t < FR_N_TRUSTS && s->rows[i]; t++)
            if (s->rows[i]->outcome == FR_FITS)
                sum[t] += s->rows[i]->cost_frac[t];
    if (m->n[FR_FITS] == 0 || !s->has_training)
        return;
    fr__say(doc, "\ntimes of ops from");
    for (unsigned t = 0; t < FR_N_TRUSTS; t++) {
        double frac = sum[t] / (double)m->n[FR_FITS];

        if (frac < 0.0005)
            continue;
        fr__say(doc, "%s%s %s %%%s", separator, fr_trust_name((enum fr_trust)t),
                fr__fixed(100 * frac, 1, text, sizeof(text)), fr_trust_note((enum fr_trust)t));
        separator = ", ";
    }
    fr__say(doc, "%s", separator[0] == ' ' ? " nothing\n" : "\n");
}

/* What several seeds mean for the columns; nothing where a seed alone was asked for. */
static void print_seeds(const struct page *p)
{
    for (size_t i = 0; i < p->sweep->n_points; i++) {
        const struct fr_sweep_row *r = p->sweep->rows[i];

        if (!r || isnan(r->standard_error_s))
            continue;
        fr__say(p->doc, "times are means of %llu seeds, with their standard error, min and max\n",
                (unsigned long long)r->n_seeds);
        return;
    }
}

/* What is best: of few groups each, of many in one table. */
static void print_groups(const struct page *p)
{
    const struct fr_sweep_summary *m = p->summary;
    size_t most = fr__is_page(p->doc)   ? MAX_PAGE_GROUPS
                  : p->wanted->all_rows ? m->n_groups
                                        : MAX_GROUPS;

    if (m->n_groups > most) {
        print_digest(p);
        print_nothing_fits(p->doc, m);
        return;
    }
    for (size_t i = 0; i < m->n_groups; i++)
        if (m->groups[i].n_points > 0)
            print_group(p, &m->groups[i]);
}

enum fr_status fr__document_of_sweep(struct fr__document *doc, const void *what,
                                     struct fr_error *err)
{
    const struct fr_sweep_answer *a = what;
    const struct fr_sweep *s = a->sweep;
    const struct fr_sweep_summary *m = a->summary;
    static const char *const words[FR_N_OUTCOMES] = {"fit", "out of memory", "impossible",
                                                     "failed"};
    const struct page p = {doc, a, s, m, a->wanted};
    size_t n = 0;

    for (unsigned o = 0; o < FR_N_OUTCOMES; o++)
        n += m->n[o];
    fr__say(doc, "%zu point%s", n, n == 1 ? "" : "s");
    if (s->n_shards > 1)
        fr__say(doc, " of %zu, shard %u of %u", s->n_points, s->shard + 1, s->n_shards);
    for (unsigned o = 0; o < FR_N_OUTCOMES; o++)
        if (m->n[o] > 0)
            fr__say(doc, "%s %zu %s", o ? "," : ":", m->n[o], words[o]);
    fr__say(doc, "\n");
    print_fixed(doc, s);
    print_nics(doc, s);
    print_seeds(&p);
    print_groups(&p);
    if (fr__is_page(doc) && a->ask)
        fr__say_heading(doc, "The best points");
    fr__say_picture(doc, FR__PICTURE_BEST, a, 0);
    if (a->wanted->all_rows || fr__is_page(doc))
        print_all(&p);
    print_oom(&p);
    print_reasons(doc, s, m, FR_IMPOSSIBLE);
    print_reasons(doc, s, m, FR_FAILED);
    print_cost_sources(doc, s, m);
    return fr__document_check(doc, err);
}
