/* tests/support/report_check.c - compares the numbers and pictures of a report with its records. */
#include "config.h"

#include "tests/support/report_check.h"

#include "base/units.h"
#include "results/html/inline.h"
#include "results/html/html.h"
#include "results/parts/cells.h"
#include "results/parts/number.h"
#include "results/parts/rows.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WISH(...) ((struct xml_wish){__VA_ARGS__})
enum { MOST_DEVICES = 64, MOST_PIECES = 10, MOST_PARTS = 16 };

static bool is_tag(const struct xml_node *n, const char *tag)
{
    return n && strcmp(n->tag, tag) == 0;
}

void check_outline(struct xml_tree *page, const char *const headings[])
{
    size_t i = 0;

    for (const struct xml_node *n = NULL; (n = xml_next(page->root, n, WISH(.tag = NULL)));) {
        if (!is_tag(n, "h1") && !is_tag(n, "h2") && !is_tag(n, "h3") && !is_tag(n, "summary"))
            continue;
        ck_assert_msg(headings[i] != NULL, "one heading more: '%s'", xml_text(page, n));
        ck_assert_str_eq(xml_text(page, n), headings[i++]);
    }
    ck_assert_msg(!headings[i], "no heading '%s'", headings[i]);
}

/* ---- tables ---- */

struct table {
    struct xml_tree *page;
    const struct xml_node *head, *body;
};

static struct table read_table(struct xml_tree *page, const struct xml_node *n)
{
    struct table t = {.page = page};

    ck_assert(is_tag(n, "table"));
    t.head = xml_only(n, WISH(.tag = "thead"));
    t.body = xml_only(n, WISH(.tag = "tbody"));
    t.head = xml_only(t.head, WISH(.tag = "tr"));
    for (const struct xml_node *row = NULL; (row = xml_next(t.body, row, WISH(.tag = "tr")));)
        ck_assert_uint_eq(xml_n_children(row), xml_n_children(t.head));
    return t;
}

/* The table in the section whose first column is called so. */
static bool find_table(struct xml_tree *page, const struct xml_node *section, const char *title,
                       struct table *out)
{
    const struct xml_wish sorted = WISH(.tag = "table", .attribute = "class", .value = "sort");

    for (const struct xml_node *n = NULL; (n = xml_next(section, n, sorted));) {
        *out = read_table(page, n);
        if (strcmp(xml_text(page, xml_child(out->head, 0)), title) == 0)
            return true;
    }
    return false;
}

static const struct xml_node *find_cell(const struct table *t, size_t row, const char *column)
{
    size_t i = 0;

    while (xml_child(t->head, i) && strcmp(xml_text(t->page, xml_child(t->head, i)), column) != 0)
        i++;
    ck_assert_msg(xml_child(t->head, i) != NULL, "no column '%s'", column);
    ck_assert_ptr_nonnull(xml_child(t->body, row));
    return xml_child(xml_child(t->body, row), i);
}

static void check_text(const struct table *t, size_t row, const char *column, const char *want)
{
    ck_assert_str_eq(xml_text(t->page, find_cell(t, row, column)), want);
}

/* `sort`: what the script sorts by, which has no more digits than the cell: off by at most. */
static void check_cell(const struct table *t, size_t row, const char *column, double sort,
                       double off, const char *want)
{
    check_text(t, row, column, want);
    ck_assert_double_eq_tol(xml_number(find_cell(t, row, column), "data-v"), sort, off);
    ck_assert_str_eq(xml_attribute(find_cell(t, row, column), "class"), "n");
}

static void check_time(const struct table *t, size_t row, const char *column, double s)
{
    char text[FR__HTML_TEXT];

    check_cell(t, row, column, s, 0.0051 * s + 1e-12, fr__format_time(s, text, sizeof(text)));
}

static void check_bytes(const struct table *t, size_t row, const char *column, double bytes)
{
    char text[FR__HTML_TEXT];

    check_cell(t, row, column, bytes, 0.0051 * bytes + 1e-12,
               fr__format_bytes(bytes, text, sizeof(text)));
}

static void check_percent(const struct table *t, size_t row, const char *column, double frac)
{
    char text[FR__HTML_TEXT];

    check_cell(t, row, column, frac, 0.00051, fr__percent(frac, text, sizeof(text)));
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void check_sensitivities(struct xml_tree *page, const struct xml_node *section,
                                const struct fr_record *r)
{
    char text[FR__TABLE_CELL];
    struct table t;
    size_t n = 0;

    while (n < r->n_sensitivities && fabs(r->sensitivities[n].part_s) >= 0.0005 * r->iteration_s)
        n++;
    ck_assert_int_eq(find_table(page, section, "resource", &t), n > 0);
    if (n == 0)
        return;
    ck_assert_uint_eq(xml_n_children(t.body), n);
    for (size_t i = 0; i < n; i++) {
        const struct fr_record_sensitivity *s = &r->sensitivities[i];

        check_text(&t, i, "resource", s->resource);
        fr__change_cell(text, s->faster_frac);
        check_cell(&t, i, "iteration time", s->faster_frac, 0.00051, text);
        check_percent(&t, i, "of the time", s->part_s / r->iteration_s);
    }
}

static void check_holders(struct xml_tree *page, const struct xml_node *section,
                          const struct fr_record *r)
{
    const struct fr_record_peak *p = &r->peak;
    size_t n = p->device ? p->n_holders : 0;
    struct table t;

    ck_assert_int_eq(find_table(page, section, "held", &t), n > 0);
    if (n == 0)
        return;
    ck_assert_uint_eq(xml_n_children(t.body), n);
    for (size_t i = 0; i < n; i++) {
        const struct fr_record_holder *h = &p->holders[i];

        check_text(&t, i, "held", h->name);
        check_text(&t, i, "as", fr_buffer_kind_name(h->kind));
        check_bytes(&t, i, "size", (double)h->bytes);
        check_percent(&t, i, "of all", (double)h->bytes / (double)p->bytes);
        if (h->stays)
            check_text(&t, i, "since", "always");
        else
            check_time(&t, i, "since", h->since_s);
    }
}

static void check_links(struct xml_tree *page, const struct xml_node *section,
                        const struct fr_record *r)
{
    size_t n = r->n_links;
    struct table t;

    ck_assert_int_eq(find_table(page, section, "link", &t), n > 0);
    if (n == 0)
        return;
    ck_assert_uint_eq(xml_n_children(t.body), n);
    for (size_t i = 0; i < n; i++) {
        check_text(&t, i, "link", r->links[i].name);
        check_bytes(&t, i, "bytes", r->links[i].bytes);
        check_percent(&t, i, "busy", r->links[i].utilisation_frac);
    }
}

static void check_devices(struct xml_tree *page, const struct xml_node *section,
                          const struct fr_record *r)
{
    size_t n = least(r->n_devices, MOST_DEVICES);
    struct table t;

    ck_assert(find_table(page, section, "device", &t));
    ck_assert_uint_eq(xml_n_children(t.body), n);
    for (size_t i = 0; i < n; i++) {
        const struct fr_record_device *d = &r->devices[i];

        check_text(&t, i, "device", d->name);
        check_time(&t, i, "compute", d->compute_s);
        check_time(&t, i, "exposed", d->exposed_comm_s);
        check_time(&t, i, "bubble", d->idle_s);
        check_time(&t, i, "critical", d->critical_s);
        check_bytes(&t, i, "peak", (double)d->peak_bytes);
        for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++)
            if (d->memory_bytes[kind] > 0)
                check_bytes(&t, i, fr_buffer_kind_name((enum fr_buffer_kind)kind),
                            (double)d->memory_bytes[kind]);
    }
}

/* Whether that row is the i-th task of the path: its name, where, from when, how long. */
static bool is_piece(const struct table *t, size_t row, const struct fr_record *r, size_t i)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    uint32_t task = r->run->critical[i];
    double before_s = i > 0 ? r->run->end_s[r->run->critical[i - 1]] : 0;
    double start_s = r->run->start_s[task], end_s = r->run->end_s[task];
    char label[256], starts[FR__HTML_TEXT], takes[FR__HTML_TEXT];
    const char *const cells[][2] = {
        {"task", fr_plan_task_label(r->plan, task, label, sizeof(label))},
        {"device", v->topo->devices[v->tasks[task].device].name},
        {"starts", fr__format_time(start_s, starts, sizeof(starts))},
        {"takes", fr__format_time(end_s - fmax(start_s, before_s), takes, sizeof(takes))}};

    for (size_t k = 0; k < 4; k++)
        if (strcmp(xml_text(t->page, find_cell(t, row, cells[k][0])), cells[k][1]) != 0)
            return false;
    return true;
}

/* The longest tasks of the path are on it. */
static void check_path(struct xml_tree *page, const struct xml_node *section,
                       const struct fr_record *r)
{
    struct table t;

    ck_assert_int_eq(find_table(page, section, "task", &t) && r->plan != NULL, r->plan != NULL);
    if (!r->plan)
        return;
    ck_assert_uint_eq(xml_n_children(t.body), least(r->run->n_critical, MOST_PIECES));
    for (size_t row = 0; row < xml_n_children(t.body); row++) {
        size_t i = 0;

        while (i < r->run->n_critical && !is_piece(&t, row, r, i))
            i++;
        ck_assert_msg(i < r->run->n_critical, "'%s' is not on the path",
                      xml_text(page, find_cell(&t, row, "task")));
    }
}

static void check_strategies(struct xml_tree *page, const struct fr_results *rs)
{
    const struct fr_record *base = rs->records[fr__row_base(rs)];
    char text[FR__HTML_TEXT], more[FR__HTML_TEXT + 8];
    struct table t;

    ck_assert(find_table(page, page->root, "strategy", &t));
    ck_assert_uint_eq(xml_n_children(t.body), rs->n);
    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];
        const struct xml_node *link =
            xml_next(find_cell(&t, i, "strategy"), NULL, WISH(.tag = "a"));
        size_t first = 1;

        check_text(&t, i, "strategy", r->strategy);
        check_time(&t, i, "iteration", r->iteration_s);
        check_bytes(&t, i, "peak memory", (double)r->peak_bytes);
        snprintf(more, sizeof(more), "%sx",
                 fr__fixed(base->iteration_s / r->iteration_s, 2, text, sizeof(text)));
        check_cell(&t, i, "speed-up", base->iteration_s / r->iteration_s, 0.0051, more);
        ck_assert_ptr_nonnull(link);
        for (size_t k = 0; strcmp(rs->records[k]->strategy, r->strategy) != 0; k++)
            first = k + 2;
        snprintf(more, sizeof(more), "#part%zu", first);
        ck_assert_str_eq(xml_attribute(link, "href"), more);
    }
}

/* ---- bars and axes ---- */

/* Bars of a table: the longest fills its cell, and none is longer. */
static void check_bars(struct xml_tree *page)
{
    const struct xml_wish table = WISH(.tag = "tbody");
    const struct xml_wish bar = WISH(.tag = "span", .attribute = "class", .value = "bar");

    for (const struct xml_node *t = NULL; (t = xml_next(page->root, t, table));) {
        double longest = 0;

        for (const struct xml_node *n = NULL; (n = xml_next(t, n, bar));) {
            double sum = 0, percent = 0;

            for (size_t i = 0; i < xml_n_children(n); i++) {
                ck_assert_int_eq(
                    sscanf(xml_attribute(xml_child(n, i), "style"), "width:%lf%%", &percent), 1);
                sum += percent;
            }
            longest = fmax(longest, sum);
        }
        ck_assert(longest == 0 || fabs(longest - 100) < 0.02);
    }
}

/* Each axis of time: numbers that rise from 0 in equal steps, each below its line, at its place. */
static void check_axes(struct xml_tree *page, const struct xml_node *section, double span_s)
{
    const struct xml_wish wish = WISH(.tag = "g", .attribute = "class", .value = "axis");
    const char *unit;
    double factor = fr__time_unit(span_s, &unit);

    for (const struct xml_node *g = NULL; (g = xml_next(section, g, wish));) {
        double span = xml_number(g, "data-span"), step = 0, last = 0;
        size_t n = xml_n_children(g) / 2;

        ck_assert_double_eq_tol(span, span_s * factor, 1e-9 * span);
        ck_assert_uint_ge(n, 3);
        for (size_t i = 0; i < n; i++) {
            const struct xml_node *line = xml_child(g, 2 * i), *text = xml_child(g, 2 * i + 1);
            double value = strtod(xml_text(page, text), NULL);

            ck_assert(is_tag(line, "line") && is_tag(text, "text"));
            if (i == 1)
                step = value;
            ck_assert_double_eq_tol(value, (double)i * step, 0.006);
            ck_assert(i == 0 ? value == 0 : value > last);
            ck_assert_double_eq_tol(xml_number(text, "x"),
                                    FR__INLINE_LEFT + FR__INLINE_PLOT * value / span,
                                    0.006 * (double)n + 0.01);
            ck_assert_double_eq(xml_number(line, "x1"), xml_number(text, "x"));
            ck_assert_double_eq(xml_number(line, "x2"), xml_number(text, "x"));
            last = value;
        }
        ck_assert_double_le(last, span * (1 + 1e-6));
        ck_assert_double_gt(last + step, span * (1 - 1e-6));
    }
}

/* ---- a section ---- */

/* The row of the key figures that is called so says what is wanted. */
static void check_figure(struct xml_tree *page, const struct xml_node *rows, const char *name,
                         const char *want)
{
    for (size_t i = 0; i < xml_n_children(rows); i++) {
        const struct xml_node *row = xml_child(rows, i);

        if (strcmp(xml_text(page, xml_child(row, 0)), name) != 0)
            continue;
        ck_assert_str_eq(xml_text(page, xml_child(row, 1)), want);
        return;
    }
    ck_abort_msg("no figure '%s'", name);
}

static void check_figures(struct xml_tree *page, const struct xml_node *section,
                          const struct fr_record *r)
{
    const struct xml_node *rows =
        xml_only(xml_only(section, WISH(.tag = "table", .attribute = "class", .value = "figures")),
                 WISH(.tag = "tbody"));
    char text[FR__TABLE_CELL];

    check_figure(page, rows, "iteration time", fr__format_time(r->iteration_s, text, sizeof(text)));
    check_figure(page, rows, "compute", fr__format_time(r->compute_s, text, sizeof(text)));
    check_figure(page, rows, "exposed communication",
                 fr__format_time(r->exposed_comm_s, text, sizeof(text)));
    check_figure(page, rows, "bubble", fr__format_time(r->bubble_s, text, sizeof(text)));
    check_figure(page, rows, "lower bound", fr__format_time(r->lower_bound_s, text, sizeof(text)));
    check_figure(page, rows, "peak memory",
                 fr__format_bytes((double)r->peak_bytes, text, sizeof(text)));
    fr__rate_cell(text, r->samples_per_s);
    check_figure(page, rows, "samples per second", text);
}

static const struct xml_node *section_of(struct xml_tree *page, const struct fr_results *rs,
                                         size_t i)
{
    const struct xml_node *section;
    char id[24];

    if (!rs->is_comparison)
        return xml_only(page->root, WISH(.tag = "section", .attribute = "class", .value = "only"));
    snprintf(id, sizeof(id), "part%zu", i + 1);
    section = xml_only(page->root, WISH(.tag = "section", .attribute = "id", .value = id));
    ck_assert_str_eq(xml_text(page, xml_child(section, 0)), rs->records[i]->strategy);
    return section;
}

void check_report(struct xml_tree *page, const struct fr_results *rs)
{
    size_t n = least(rs->n, MOST_PARTS);

    ck_assert_uint_eq(
        xml_count(page->root, WISH(.tag = "section", .attribute = "class", .value = "run")),
        (rs->is_comparison ? n : 0) + 2); /* how far to trust it, the same again */
    if (rs->is_comparison)
        check_strategies(page, rs);
    check_bars(page);
    for (size_t i = 0; i < n; i++) {
        const struct xml_node *section = section_of(page, rs, i);
        const struct fr_record *r = rs->records[i];

        check_figures(page, section, r);
        check_sensitivities(page, section, r);
        check_holders(page, section, r);
        check_path(page, section, r);
        check_links(page, section, r);
        check_devices(page, section, r);
        if (!r->run)
            continue;
        check_axes(page, section, r->run->makespan_s);
        check_timeline(page, section, r, rs->n > 1 ? 8 : 16);
        check_memory_charts(page, section, r);
    }
}
