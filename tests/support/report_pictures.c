/* tests/support/report_pictures.c - the report's timeline and memory charts against the run; see
 * report_check.h. */
#include "config.h"

#include "tests/support/report_check.h"

#include "base/units.h"
#include "results/html/inline.h"
#include "results/html/html.h"
#include "results/parts/lanes.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WISH(...) ((struct xml_wish){__VA_ARGS__})
/* y of a lane's bands as the picture has them: computing above, messages below */
enum { LANE = 40, BELOW = 24, MOST_COLOURS = 32 };

struct colours {
    const char *used[MOST_COLOURS];
    size_t n;
};

static bool has_colour(const struct colours *c, const char *colour)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->used[i], colour) == 0)
            return true;
    return false;
}

static void add_colour(struct colours *c, const char *colour)
{
    if (has_colour(c, colour))
        return;
    ck_assert_uint_lt(c->n, MOST_COLOURS);
    c->used[c->n++] = colour;
}

/* The key has each colour of the picture once, and no other. */
static void check_key(const struct xml_node *figure, const struct colours *used)
{
    const struct xml_node *key =
        xml_only(figure, WISH(.tag = "ul", .attribute = "class", .value = "key"));
    struct colours keyed = {.n = 0};

    for (size_t i = 0; i < xml_n_children(key); i++) {
        const char *style = xml_attribute(xml_child(xml_child(key, i), 0), "style");

        ck_assert_int_eq(strncmp(style, "background:", 11), 0);
        ck_assert_msg(!has_colour(&keyed, style + 11), "%s twice in the key", style);
        add_colour(&keyed, style + 11);
        ck_assert_msg(has_colour(used, style + 11), "%s is in the key alone", style);
    }
    ck_assert_uint_eq(keyed.n, used->n);
}

static const struct xml_node *figure_under(const struct xml_node *section, const char *heading)
{
    const struct xml_node *h = xml_only(section, WISH(.tag = "h3", .text = heading));
    const struct xml_node *figure = xml_sibling(h);

    ck_assert(figure && strcmp(figure->tag, "figure") == 0);
    return figure;
}

/* ---- the timeline ---- */

static bool is_drawn(const struct fr_record *r, uint32_t task)
{
    return fr_plan_view(r->plan)->tasks[task].kind != FR_TASK_MARKER &&
           r->run->end_s[task] > r->run->start_s[task];
}

/* The task of that device that the box of one task is: its label, its time, its part of the
 * lane. */
static bool is_task_of_box(const struct fr_record *r, uint32_t task, uint32_t device, double y,
                           double x, const char *label)
{
    const struct fr_task *k = &fr_plan_view(r->plan)->tasks[task];
    bool is_message = k->kind != FR_TASK_COMPUTE;
    char own[128];
    size_t n;

    if (k->device != device || !is_drawn(r, task) || is_message != (y >= BELOW) ||
        fabs(r->run->start_s[task] / r->run->makespan_s * FR__INLINE_PLOT - x) > 0.0051)
        return false;
    fr_plan_task_label(r->plan, task, own, sizeof(own));
    n = strlen(own);
    return strncmp(label, own, n) == 0 && label[n] == '\n';
}

/* How many tasks the box stands for, which its hint says. */
static size_t check_box(struct xml_tree *page, const struct xml_node *box,
                        const struct fr_record *r, const uint32_t shown[], size_t n_shown)
{
    const char *hint = xml_text(page, xml_only(box, WISH(.tag = "title")));
    double x = xml_number(box, "x"), y = xml_number(box, "y"), width = xml_number(box, "width");
    size_t lane = (size_t)(y / LANE), n = 0;
    const char *second = strchr(hint, '\n');
    uint32_t task = 0;

    ck_assert_uint_lt(lane, n_shown);
    ck_assert_double_ge(x, 0);
    ck_assert_double_gt(width, 0);
    ck_assert_double_le(x + width, FR__INLINE_PLOT + 0.25);
    ck_assert_double_le(y - (double)lane * LANE + xml_number(box, "height"), LANE);
    ck_assert_ptr_nonnull(second);
    if (sscanf(second, "\n%zu tasks, mostly", &n) == 1) {
        ck_assert_uint_gt(n, 1);
        return n;
    }
    while (task < r->n_tasks &&
           !is_task_of_box(r, task, shown[lane], y - (double)lane * LANE, x, hint))
        task++;
    ck_assert_msg(task < r->n_tasks, "no task is '%s' at %g on lane %zu", hint, x, lane);
    return 1;
}

/* The page's style paints a class of boxes as the key has it. Even and odd micro-batches share an
 * entry of the key. */
static void use_class(struct xml_tree *page, struct colours *used, const char *class_name)
{
    unsigned c = (unsigned)strtoul(class_name + 1, NULL, 10);
    char rule[48];

    ck_assert(class_name[0] == 'c' && c < FR__N_CATEGORIES);
    snprintf(rule, sizeof(rule), "\n.c%u{fill:%s}\n", c, fr__category_colour((enum fr__category)c));
    ck_assert_ptr_nonnull(strstr(xml_text(page, xml_only(page->root, WISH(.tag = "style"))), rule));
    add_colour(used, fr__category_colour(fr__category_even((enum fr__category)c)));
}

static void check_lane_names(struct xml_tree *page, const struct xml_node *chart,
                             const struct fr_record *r, const uint32_t shown[], size_t n_shown)
{
    const struct xml_wish lane = WISH(.tag = "rect", .attribute = "class", .value = "lane");
    const struct xml_node *n = NULL;

    ck_assert_uint_eq(xml_count(chart, lane), n_shown);
    for (size_t i = 0; i < n_shown; i++) {
        n = xml_next(chart, n, lane);
        ck_assert_double_eq(xml_number(n, "y"), (double)i * LANE + 2);
        ck_assert_str_eq(xml_text(page, xml_sibling(n)),
                         fr_plan_view(r->plan)->topo->devices[shown[i]].name);
    }
}

size_t check_timeline(struct xml_tree *page, const struct xml_node *section,
                      const struct fr_record *r, size_t most_lanes)
{
    const struct xml_node *figure = figure_under(section, "Timeline");
    const struct xml_node *chart = xml_only(figure, WISH(.attribute = "class", .value = "chart"));
    const struct xml_node *plot = xml_only(chart, WISH(.attribute = "class", .value = "zoom"));
    const struct fr_task *tasks = fr_plan_view(r->plan)->tasks;
    uint32_t shown[FR__TIMELINE_LANES];
    size_t n_busy, n_shown = fr__shown_devices(r, most_lanes, shown, &n_busy);
    size_t in_boxes[FR__TIMELINE_LANES] = {0}, in_run[FR__TIMELINE_LANES] = {0}, sum = 0;
    struct colours used = {.n = 0};

    check_lane_names(page, chart, r, shown, n_shown);
    for (const struct xml_node *n = NULL; (n = xml_next(plot, n, WISH(.tag = "rect")));) {
        if (!xml_attribute(n, "class"))
            continue; /* what the pointer is caught by */
        in_boxes[(size_t)(xml_number(n, "y") / LANE) % FR__TIMELINE_LANES] +=
            check_box(page, n, r, shown, n_shown);
        use_class(page, &used, xml_attribute(n, "class"));
    }
    for (uint32_t t = 0; t < r->n_tasks; t++) {
        size_t lane = fr__lane_of(shown, n_shown, tasks[t].device);

        if (lane < n_shown && is_drawn(r, t))
            in_run[lane]++;
    }
    for (size_t i = 0; i < n_shown; i++) {
        ck_assert_uint_eq(in_boxes[i], in_run[i]);
        sum += in_boxes[i];
    }
    check_key(figure, &used);
    return sum;
}

/* ---- memory ---- */

/* "M0 120H20V33.1...Z": every x from 0 to the plot's end, every y from 0 to the chart's height. */
static void check_area(const struct xml_node *path, double height)
{
    const char *at = xml_attribute(path, "d");
    double last = 0;

    ck_assert_int_eq(strncmp(at, "M0 ", 3), 0);
    for (at += strcspn(at, "HV"); *at && *at != 'Z'; at += strcspn(at, "HVZ")) {
        bool is_x = *at == 'H';
        char *end;
        double x = strtod(at + 1, &end);

        ck_assert(end != at + 1);
        ck_assert(x >= (is_x ? last : 0) && x <= (is_x ? FR__INLINE_PLOT : height) + 0.05);
        if (is_x)
            last = x;
        at = end;
    }
    ck_assert_str_eq(at, "Z");
    ck_assert_double_eq(last, FR__INLINE_PLOT);
}

/* How many devices hold what the chart shows; the first of them is named. */
static size_t check_chart(struct xml_tree *page, const struct xml_node *chart,
                          const struct fr_record *r, struct colours *used)
{
    const struct fr_topo *topo = fr_plan_view(r->plan)->topo;
    const char *title = xml_text(page, xml_child(chart, 0)), *most = strstr(title, ", at most ");
    const struct xml_node *plot = xml_only(chart, WISH(.attribute = "class", .value = "zoom"));
    size_t len = strcspn(title, " ,"), n_more = 0, device = 0, n_areas = 0;
    char text[FR__HTML_TEXT];

    while (device < topo->n_devices && (strncmp(topo->devices[device].name, title, len) != 0 ||
                                        topo->devices[device].name[len] != '\0'))
        device++;
    ck_assert_msg(device < topo->n_devices && most, "'%s' names no device", title);
    ck_assert_str_eq(
        most + strlen(", at most "),
        fr__format_bytes((double)r->run->devices[device].peak_bytes, text, sizeof(text)));
    sscanf(title + len, " and %zu more alike", &n_more);
    for (const struct xml_node *n = NULL; (n = xml_next(plot, n, WISH(.tag = "path"))); n_areas++) {
        check_area(n, xml_number(plot, "height"));
        add_colour(used, xml_attribute(n, "fill"));
    }
    ck_assert_uint_gt(n_areas, 0);
    return 1 + n_more;
}

void check_memory_charts(struct xml_tree *page, const struct xml_node *section,
                         const struct fr_record *r)
{
    const struct xml_node *figure = figure_under(section, "Memory over time");
    const char *caption = xml_text(page, xml_only(figure, WISH(.tag = "figcaption")));
    const char *rest = strstr(caption, "; the fullest devices, ");
    struct colours used = {.n = 0};
    size_t n_told = 0, n_holding = 0, n_left_out = 0;

    for (const struct xml_node *n = NULL;
         (n = xml_next(figure, n, WISH(.attribute = "class", .value = "chart")));)
        n_told += check_chart(page, n, r, &used);
    if (rest)
        ck_assert_int_eq(sscanf(rest, "; the fullest devices, %zu others", &n_left_out), 1);
    for (size_t d = 0; d < fr_plan_view(r->plan)->topo->n_devices; d++)
        n_holding += r->run->devices[d].peak_bytes > 0;
    ck_assert_uint_eq(n_told + n_left_out, n_holding);
    check_key(figure, &used);
}
