/* tests/support/report_check.c - compares the numbers and pictures of a report with its records. */
#include "config.h"

#include "tests/support/report_check.h"

#include "base/units.h"
#include "results/html/inline.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/speed_up.h"
#include "results/parts/table.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WISH(...) ((struct xml_wish){__VA_ARGS__})
enum { MOST_LINKS = 12, MOST_HOLDERS = 10, MOST_PIECES = 10 };

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

/* The table between a heading and the next one. */
static bool find_table(struct xml_tree *page, const struct xml_node *section, const char *heading,
                       struct table *out)
{
    const struct xml_node *n = xml_next(section, NULL, WISH(.text = heading));

    if (!n)
        return false;
    for (n = xml_sibling(n); n && !is_tag(n, "table"); n = xml_sibling(n))
        ck_assert_msg(!is_tag(n, "h3"), "no table under '%s'", heading);
    *out = read_table(page, n);
    return true;
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

/* `sort`: what the script sorts by. */
static void check_cell(const struct table *t, size_t row, const char *column, double sort,
                       const char *want)
{
    check_text(t, row, column, want);
    ck_assert_double_eq(xml_number(find_cell(t, row, column), "data-v"), sort);
}

static void check_time(const struct table *t, size_t row, const char *column, double s)
{
    char text[FR__HTML_TEXT];

    check_cell(t, row, column, s, fr__format_time(s, text, sizeof(text)));
}

static void check_bytes(const struct table *t, size_t row, const char *column, double bytes)
{
    char text[FR__HTML_TEXT];

    check_cell(t, row, column, bytes, fr__format_bytes(bytes, text, sizeof(text)));
}

static void check_percent(const struct table *t, size_t row, const char *column, double frac)
{
    char text[FR__HTML_TEXT];

    check_cell(t, row, column, frac, fr__html_percent(frac, text, sizeof(text)));
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void check_sensitivities(struct xml_tree *page, const struct xml_node *section,
                                const struct fr_record *r)
{
    char text[FR__HTML_TEXT];
    struct table t;
    size_t n = 0;

    while (n < r->n_sensitivities && fabs(r->sensitivities[n].part_s) >= 0.0025 * r->iteration_s)
        n++;
    ck_assert_int_eq(find_table(page, section, "What would help", &t), n > 0);
    if (n == 0)
        return;
    ck_assert_uint_eq(xml_n_children(t.body), n);
    for (size_t i = 0; i < n; i++) {
        const struct fr_record_sensitivity *s = &r->sensitivities[i];

        check_text(&t, i, "resource", s->resource);
        check_cell(&t, i, "iteration time", s->faster_frac,
                   fr__html_change(s->faster_frac, text, sizeof(text)));
        check_percent(&t, i, "of the time", s->part_s / r->iteration_s);
    }
}

static void check_holders(struct xml_tree *page, const struct xml_node *section,
                          const struct fr_record *r)
{
    const struct fr_record_peak *p = &r->peak;
    size_t n = p->device ? least(p->n_holders, MOST_HOLDERS) : 0;
    struct table t;

    ck_assert_int_eq(find_table(page, section, "Who holds the memory", &t), n > 0);
    if (n == 0)
        return;
    ck_assert_uint_eq(xml_n_children(t.body), n);
    for (size_t i = 0; i < n; i++) {
        const struct fr_record_holder *h = &p->holders[i];

        check_text(&t, i, "held by", h->name);
        check_text(&t, i, "as", fr_buffer_kind_name(h->kind));
        check_bytes(&t, i, "bytes", (double)h->bytes);
        check_percent(&t, i, "of all", (double)h->bytes / (double)p->bytes);
        if (h->stays)
            check_cell(&t, i, "since", 0, "always");
        else
            check_time(&t, i, "since", h->since_s);
    }
}

static void check_links(struct xml_tree *page, const struct xml_node *section,
                        const struct fr_record *r)
{
    size_t n = least(r->n_links, MOST_LINKS);
    struct table t;

    ck_assert_int_eq(find_table(page, section, "Links by utilisation", &t), n > 0);
    if (n == 0)
        return;
    ck_assert_uint_eq(xml_n_children(t.body), n);
    for (size_t i = 0; i < n; i++) {
        check_text(&t, i, "link, one direction", r->links[i].name);
        check_bytes(&t, i, "carries", r->links[i].bytes);
        check_percent(&t, i, "busy", r->links[i].utilisation_frac);
    }
}

static void check_devices(struct xml_tree *page, const struct xml_node *section,
                          const struct fr_record *r, size_t most)
{
    struct table t;

    ck_assert(find_table(page, section, "Devices in numbers", &t));
    ck_assert_uint_eq(xml_n_children(t.body), least(r->n_devices, most));
    for (size_t i = 0; i < least(r->n_devices, most); i++) {
        const struct fr_record_device *d = &r->devices[i];

        check_text(&t, i, "device", d->name);
        check_time(&t, i, "compute", d->compute_s);
        check_time(&t, i, "exposed", d->exposed_comm_s);
        check_time(&t, i, "bubble", d->idle_s);
        check_time(&t, i, "critical", d->critical_s);
        check_bytes(&t, i, "peak memory", (double)d->peak_bytes);
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

    ck_assert_int_eq(find_table(page, section, "Its longest tasks", &t), r->plan != NULL);
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
    const struct fr_record *base = fr__speed_up_base(rs);
    char text[FR__HTML_TEXT], more[FR__HTML_TEXT + 8];
    struct table t;

    ck_assert(find_table(page, page->root, "Strategies side by side", &t));
    ck_assert_uint_eq(xml_n_children(t.body), rs->n);
    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];
        const struct xml_node *link =
            xml_next(find_cell(&t, i, "strategy"), NULL, WISH(.tag = "a"));

        check_text(&t, i, "strategy", r->strategy);
        check_time(&t, i, "iteration", r->iteration_s);
        check_bytes(&t, i, "peak memory", (double)r->peak_bytes);
        snprintf(more, sizeof(more), "%s×",
                 fr__fixed(base->iteration_s / r->iteration_s, 2, text, sizeof(text)));
        check_cell(&t, i, "speed-up", 1 / r->iteration_s, more);
        ck_assert_int_eq(link != NULL, i < FR__HTML_PICTURED);
        if (!link)
            continue;
        snprintf(more, sizeof(more), "#run%zu", i + 1);
        ck_assert_str_eq(xml_attribute(link, "href"), more);
    }
}

/* ---- bars and axes ---- */

/* "background:#123456" of a style. */
static const char *background(const struct xml_node *n)
{
    const char *at = strstr(xml_attribute(n, "style"), "background:");

    ck_assert_ptr_nonnull(at);
    return at + strlen("background:");
}

/* Each bar that is cut into parts: they fill it, and its key names them in order. */
static void check_stacks(struct xml_tree *page)
{
    const struct xml_wish wish = WISH(.tag = "div", .attribute = "class", .value = "stack");

    for (const struct xml_node *n = NULL; (n = xml_next(page->root, n, wish));) {
        const struct xml_node *key = xml_sibling(n);
        double sum = 0;

        ck_assert_uint_eq(xml_n_children(n), xml_n_children(key));
        for (size_t i = 0; i < xml_n_children(n); i++) {
            const struct xml_node *slice = xml_child(n, i);
            double percent = 0;

            ck_assert_str_eq(background(slice), background(xml_child(xml_child(key, i), 0)));
            ck_assert_int_eq(sscanf(xml_attribute(slice, "style"), "width:%lf%%", &percent), 1);
            for (size_t k = 0; k < i; k++)
                ck_assert_str_ne(background(slice), background(xml_child(n, k)));
            sum += percent;
        }
        if (xml_n_children(n) > 0)
            ck_assert_double_eq_tol(sum, 100, 0.6); /* parts below a thousandth are left out */
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

static void check_tile(struct xml_tree *page, const struct xml_node *tiles, size_t i,
                       const char *number, const char *what)
{
    const struct xml_node *tile = xml_child(tiles, i);

    ck_assert_ptr_nonnull(tile);
    ck_assert_str_eq(xml_text(page, xml_child(tile, 0)), number);
    /* what follows is the range of the time */
    ck_assert_msg(strncmp(xml_text(page, xml_child(tile, 1)), what, strlen(what)) == 0, "%s: %s",
                  what, xml_text(page, xml_child(tile, 1)));
}

/* The bar below the key figures. */
static void check_time_parts(struct xml_tree *page, const struct xml_node *stack,
                             const struct fr_record *r)
{
    const struct {
        const char *title, *colour;
        double s;
    } parts[] = {{"compute", FR__COLOUR_FORWARD, r->compute_s},
                 {"exposed communication", FR__COLOUR_COMMUNICATION, r->exposed_comm_s},
                 {"bubble", FR__COLOUR_IDLE, r->bubble_s}};
    double whole_s = r->compute_s + r->exposed_comm_s + r->bubble_s, percent = 0;
    char want[128], text[FR__HTML_TEXT];
    size_t n = 0;

    for (size_t i = 0; i < 3; i++) {
        const struct xml_node *slice, *entry;

        if (parts[i].s < 0.001 * whole_s)
            continue;
        slice = xml_child(stack, n);
        entry = xml_child(xml_sibling(stack), n++);
        ck_assert(slice && entry);
        snprintf(want, sizeof(want), "%s %s", parts[i].title,
                 fr__format_time(parts[i].s, text, sizeof(text)));
        ck_assert_str_eq(xml_text(page, entry), want);
        ck_assert_str_eq(background(slice), parts[i].colour);
        ck_assert_int_eq(sscanf(xml_attribute(slice, "style"), "width:%lf%%", &percent), 1);
        ck_assert_double_eq_tol(percent, 100 * parts[i].s / whole_s, 0.006);
    }
    ck_assert_uint_eq(xml_n_children(stack), n);
}

static void check_tiles(struct xml_tree *page, const struct xml_node *section,
                        const struct fr_record *r)
{
    const struct xml_node *tiles =
        xml_only(section, WISH(.tag = "div", .attribute = "class", .value = "tiles"));
    char number[FR__HTML_TEXT], what[128], more[FR__HTML_TEXT];

    ck_assert_uint_eq(xml_n_children(tiles), 4);
    check_time_parts(page, xml_sibling(tiles), r);
    check_tile(page, tiles, 0, fr__format_time(r->iteration_s, number, sizeof(number)),
               r->oom ? "iteration, if it fitted" : "iteration");
    check_tile(
        page, tiles, 1,
        fr__fixed(r->samples_per_s, r->samples_per_s >= 1000 ? 0 : 1, number, sizeof(number)),
        "samples a second");
    snprintf(what, sizeof(what), "peak memory of %s",
             fr__format_bytes((double)r->peak_capacity_bytes, more, sizeof(more)));
    check_tile(page, tiles, 3, fr__format_bytes((double)r->peak_bytes, number, sizeof(number)),
               what);
}

static const struct xml_node *section_of(struct xml_tree *page, const struct fr_results *rs,
                                         size_t i)
{
    const struct xml_node *section;
    char id[24];

    if (!rs->is_comparison)
        return xml_only(page->root, WISH(.tag = "section", .attribute = "class", .value = "only"));
    snprintf(id, sizeof(id), "run%zu", i + 1);
    section = xml_only(page->root, WISH(.tag = "section", .attribute = "id", .value = id));
    ck_assert_str_eq(xml_text(page, xml_child(section, 0)), rs->records[i]->strategy);
    return section;
}

void check_report(struct xml_tree *page, const struct fr_results *rs)
{
    size_t n = least(rs->n, FR__HTML_PICTURED);

    ck_assert_uint_eq(
        xml_count(page->root, WISH(.tag = "section", .attribute = "class", .value = "run")),
        rs->is_comparison ? n : 0);
    if (rs->is_comparison)
        check_strategies(page, rs);
    check_stacks(page);
    for (size_t i = 0; i < n; i++) {
        const struct xml_node *section = section_of(page, rs, i);
        const struct fr_record *r = rs->records[i];

        check_tiles(page, section, r);
        check_sensitivities(page, section, r);
        check_holders(page, section, r);
        check_path(page, section, r);
        check_links(page, section, r);
        check_devices(page, section, r, rs->n > 1 ? 16 : 64);
        if (!r->run)
            continue;
        check_axes(page, section, r->run->makespan_s);
        check_timeline(page, section, r, rs->n > 1 ? 8 : 16);
        check_memory_charts(page, section, r);
    }
}
