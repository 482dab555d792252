/* tests/results/test_draw.c - DOT text, and a cluster's picture, read as a graph: its nodes and
 * edges are the cluster's, and no input breaks out of it. */
#include "config.h"

#include "results/canvas/canvas.h"
#include "results/canvas/drawing.h"
#include "tests/support/base_check.h"
#include "tests/support/drawing_check.h"
#include "tests/support/xml_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static struct fr_drawing *new_drawing(void)
{
    struct fr_drawing *d;
    struct fr_error err;

    ck_assert_int_eq(fr__drawing_new(&d, "test", true, &err), FR_OK);
    return d;
}

/* Inside a quoted string of DOT a quote ends it, a backslash begins an escape (\N is the node's
 * name), and & begins an entity. */
LOOP_TEST(text_from_inputs_stays_inside_its_string, 0, 10)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"conv1", "conv1"},
        {"", ""},
        {"a\"]; x [b", "a\\\"]; x [b"},
        {"\\N\\\"", "\\\\N\\\\\\\""},
        {"<b>&lt;", "<b>&amp;lt;"},
        {"a\nb\tc\x7f", "a\\\\x0ab\\\\x09c\\\\x7f"},
        {"\xff\xc3(\xc3\xa9", "\\\\xff\\\\xc3(\xc3\xa9"},
        {"twelve chars", "twelve chars"},
        {"thirteen char", "thirteen cha..."},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9",
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9"},
    };
    struct fr_drawing *d = new_drawing();
    char *text, label[80];

    fr__label_name(fr__box(d, "a", 0, (struct fr__box){.shape = FR__RECT}), rows[_i].in, 12);
    text = drawing_text(d, false);
    snprintf(label, sizeof(label), ", label=\"%s\"];\n", rows[_i].out);
    ck_assert_ptr_nonnull(strstr(text, label));
    free(text);
    fr_drawing_free(d);
}

/* Two boxes and a wire are a graph in both languages: XML that is well formed, with the text of the
 * boxes as it stands in them. */
TEST(a_drawing_is_the_same_as_svg)
{
    const struct fr__box like = {.shape = FR__ROUND, .w = 100, .h = 40, .fill = "#DDF0D0"};
    struct fr_drawing *d = new_drawing();
    struct fr__box *a = fr__box(d, "a", 1, like), *b = fr__box(d, "b", 2, like);
    char *text;

    b->x = 200;
    fr__label_name(a, "</text>&\"<b>\x01", 40);
    snprintf(fr__wire(d, a, b, FR__WIRE_COLOUR, 1)->text, 10, "<4 B>");
    text = drawing_text(d, true);
    xml_free(xml_parse(text));
    ck_assert_ptr_nonnull(strstr(text, ">&lt;/text&gt;&amp;&quot;&lt;b&gt;\\x01</text>"));
    ck_assert_ptr_nonnull(strstr(text, "data-ends=\"a1 b2\"><title>&lt;4 B&gt;</title>"));
    /* from the right edge of the one to the left edge of the other, 14 points from the picture's */
    ck_assert_ptr_nonnull(strstr(text, "<path d=\"M152 45.33L285.33 45.33\""));
    free(text);
    fr_drawing_free(d);
}

/* Advance widths of DejaVu Sans: 'i' 28, 'W' 99, 'e' 62 hundredths. */
TEST(text_is_measured_and_made_smaller_until_its_box_takes_it)
{
    struct fr__box b = {.shape = FR__RECT, .w = 60, .h = 30, .text = "WWWW\nii"};
    struct fr__extent e;

    ck_assert_double_eq_tol(fr__text_wide("Wie", 3, 10), 18.9, 1e-9);
    ck_assert_double_eq_tol(fr__text_wide("\xe6\x97\xa5\xc3\xa9", 5, 10), 18.4, 1e-9);
    ck_assert_double_eq(fr__box_points(&b, "WWWW", 4), 10);
    b.w = 30; /* 26 for 3.96 */
    ck_assert_double_eq_tol(fr__box_points(&b, "WWWW", 4), 26 / 3.96, 1e-9);
    ck_assert_double_eq(fr__box_points(&b, "nii", 3), 10);
    b.h = 13; /* 12 for two lines of 1.2 */
    ck_assert_double_eq_tol(fr__box_points(&b, "nii", 3), 5, 1e-9);
    b = (struct fr__box){.shape = FR__WORDS, .x = 7, .y = 1, .points = 10, .text = "WW\ni"};
    e = fr__box_extent(&b);
    ck_assert_double_eq_tol(e.right - e.left, 19.8, 1e-9);
    ck_assert_double_eq_tol(e.top - e.bottom, 24, 1e-9);
    ck_assert_double_eq(e.left, 7);
}

/* ---- clusters ---- */

static struct fr_drawing *read_drawn(const struct fr_topo *t)
{
    struct fr_drawing *d;
    struct fr_error err;

    ck_assert_int_eq(fr_draw_topo(&d, t, &err), FR_OK);
    return d;
}

static struct fr_topo *load(const char *spec)
{
    struct fr_topo *t;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s", err.text);
    return t;
}

static const struct fr__box *node_of(const struct fr_drawing *d, uint32_t vertex)
{
    char id[16];

    snprintf(id, sizeof(id), "v%u", (unsigned)vertex);
    return drawing_box(d, id);
}

/* The node of a vertex has its name inside its machine, "gpu3" of "n0.gpu3", and nothing after it
 * but what is told of it on the same line or the next. */
static void check_vertex(const struct fr_topo *t, uint32_t vertex, const struct fr__box *n)
{
    const char *name = t->vertices[vertex].name, *dot = strchr(name, '.');
    const char *label = n->text;
    const char *local = t->vertices[vertex].machine != FR_NONE && dot && dot[1] ? dot + 1 : name;
    size_t len = strlen(local) < 28 ? strlen(local) : 28;

    ck_assert_msg(strncmp(label, local, len) == 0 &&
                      strspn(label + len, ":\n.") == strcspn(label + len, " PG0123456789"),
                  "%s is '%s'", name, label);
}

/* Each machine is drawn out, a box of its own, or one of those that a box counts. */
static void check_machines(const struct fr_topo *t, const struct fr_drawing *d, const bool is_out[])
{
    size_t n_told = 0;

    for (const struct fr__box *n = d->boxes; n; n = n->next) {
        const char *label = n->text;
        unsigned first, last, n_more = 1;

        if (n->id[0] != 'm')
            continue;
        ck_assert_int_eq(sscanf(label, "n%u", &first), 1);
        if (sscanf(label, "n%u ... n%u\n%u more, folded", &first, &last, &n_more) == 3)
            ck_assert_uint_eq(n_more, last - first + 1);
        for (unsigned m = first; m < first + n_more; m++)
            ck_assert_msg(m < t->n_machines && !is_out[m], "machine %u twice", m);
        n_told += n_more;
    }
    for (size_t m = 0; m < t->n_machines; m++)
        n_told += is_out[m];
    ck_assert_uint_eq(n_told, t->n_machines);
}

static bool has_equal_way_back(const struct fr_topo *t, const struct fr_link *l)
{
    for (size_t i = 0; i < t->n_links; i++)
        if (t->links[i].src == l->dst && t->links[i].dst == l->src &&
            t->links[i].bw_Bps == l->bw_Bps)
            return true;
    return false;
}

/* One line for the two directions of a link, if they are alike. */
static size_t count_lines(const struct fr_topo *t, const struct fr_drawing *d)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_links; i++) {
        const struct fr_link *l = &t->links[i];
        const struct fr__box *a = node_of(d, l->src), *b = node_of(d, l->dst);
        size_t n_between = 0, n_links = 0;

        if (!a || !b || (has_equal_way_back(t, l) && l->src > l->dst))
            continue;
        n++;
        for (size_t k = 0; k < t->n_links; k++)
            n_links += t->links[k].src == l->src && t->links[k].dst == l->dst;
        for (const struct fr__wire *w = d->wires; w; w = w->next)
            n_between += w->from == a && w->to == b;
        ck_assert_msg(n_between == n_links, "%zu lines for %zu links from %s to %s", n_between,
                      n_links, t->vertices[l->src].name, t->vertices[l->dst].name);
    }
    return n;
}

/* A sample in the legend hangs between no boxes. */
static bool has_style(const struct fr_drawing *d, const struct fr__wire *like, bool is_key)
{
    for (const struct fr__wire *w = d->wires; w; w = w->next)
        if (!w->from == is_key && strcmp(w->colour, like->colour) == 0 &&
            fabs(w->pen - like->pen) < 1e-9)
            return true;
    return false;
}

/* What holds for the picture of any cluster. Returns how many lines there are for its links. */
static size_t check_cluster(const struct fr_topo *t, const struct fr_drawing *d)
{
    bool *is_out = calloc(t->n_machines + 1, sizeof(*is_out));
    size_t n_lines, n_vertices = 0;

    ck_assert_ptr_nonnull(is_out);
    for (uint32_t v = 0; v < t->n_vertices; v++) {
        const struct fr__box *n = node_of(d, v);

        if (!n)
            continue;
        check_vertex(t, v, n);
        ck_assert(drawing_is_node(n) && n->w > 0 && n->h > 0);
        n_vertices++;
        if (t->vertices[v].machine != FR_NONE)
            is_out[t->vertices[v].machine] = true;
    }
    for (uint32_t v = 0; v < t->n_vertices; v++) /* all of a machine, or nothing */
        if (t->vertices[v].machine != FR_NONE && is_out[t->vertices[v].machine])
            ck_assert_msg(node_of(d, v) != NULL, "%s is not drawn", t->vertices[v].name);
    check_machines(t, d, is_out);
    free(is_out);
    drawing_check_places(d);
    n_lines = count_lines(t, d);
    for (const struct fr__wire *w = d->wires; w; w = w->next) {
        bool is_key = !w->from, is_of_box = !is_key && w->from->id[0] == 'm';

        ck_assert_msg(is_of_box || has_style(d, w, !is_key), "%s: no such line in the %s",
                      is_key ? w->colour : w->from->id, is_key ? "picture" : "legend");
        if (!is_key && !is_of_box)
            n_lines--;
    }
    ck_assert_uint_eq(n_lines, 0); /* no line is of no link */
    return count_lines(t, d);
}

/* Every vertex once, every cable once: 8 GPUs, 1 CPU, 2 sockets, 4 switches, 4 NICs; 16 NVLink
 * edges, 2 memories, 1 QPI, 4 uplinks, 8 + 4 below the switches (matrix and DGX-1 guide). The
 * legend has 5 samples. */
TEST(a_dgx1_shows_each_part_and_each_cable_once)
{
    struct fr_topo *t = load("dgx1-v100");
    struct fr_drawing *d = read_drawn(t);
    size_t n_samples = 0;

    ck_assert_uint_eq(check_cluster(t, d), 16 + 2 + 1 + 4 + 8 + 4);
    for (const struct fr__wire *w = d->wires; w; w = w->next)
        n_samples += !w->from;
    ck_assert_uint_eq(n_samples, 5);
    ck_assert_uint_eq(drawing_count(d, "gpu"), 8);
    ck_assert_uint_eq(drawing_count(d, "nic"), 4);
    ck_assert_uint_eq(drawing_count(d, "plx"), 4);
    ck_assert_uint_eq(drawing_count(d, "socket"), 2);
    ck_assert_uint_eq(drawing_count(d, "cpu0: 2x-xeon-e5-2698v4"), 1);
    drawing_labelled(d, "2 NVLinks side by side, 48 GB/s");
    fr_drawing_free(d);
    fr_topo_free(t);
}

LOOP_TEST(equal_machines_fold_into_one_box_that_counts_them, 0, 7)
{
    static const struct {
        const char *spec, *box; /* a box's label */
        size_t n_boxes;
    } rows[] = {
        {"1x dgx1-v100 via ib:1Gbps", NULL, 0},
        {"3x dgx1-v100", "n2\n8x v100-sxm2-16gb\n4 NICs", 2},
        {"4x dgx1-v100", "n2\n8x v100-sxm2-16gb\n4 NICs", 3},
        {"1000x dgx1-v100", "n2 ... n998\n997 more, folded", 3},
        {"1x dgx1-v100 + 5x dgx2", "n2 ... n4\n3 more, folded", 3},
        {"gb200-nvl72", "n2 ... n16\n15 more, folded", 3},
        {"1x dgx1-v100 + 1x dgx2 + 1x dgx1-p100 + 1x hgx-h100 + 1x dgx2 + 1x hgx-b200 + 1x dgx2 + "
         "1x dgx1-p100 + 1x dgx2 + 1x hgx-h200",
         "n8 ... n9\n2 more, folded", 8},
    };
    struct fr_topo *t = load(rows[_i].spec);
    struct fr_drawing *d = read_drawn(t);
    size_t n_boxes = 0;

    check_cluster(t, d);
    for (const struct fr__box *n = d->boxes; n; n = n->next)
        n_boxes += n->id[0] == 'm';
    ck_assert_uint_eq(n_boxes, rows[_i].n_boxes);
    if (rows[_i].box)
        drawing_labelled(d, rows[_i].box);
    fr_drawing_free(d);
    fr_topo_free(t);
}

/* The height at which a switch stands in the picture. */
static double height_of(const struct fr_topo *t, const struct fr_drawing *d, const char *name)
{
    for (uint32_t v = 0; v < t->n_vertices; v++)
        if (strcmp(t->vertices[v].name, name) == 0)
            return node_of(d, v)->y;
    ck_abort_msg("no switch %s", name);
    return 0;
}

TEST(a_tier_of_switches_stands_above_the_one_below_it)
{
    struct fr_topo *t = load("8x dgx1-v100 via fat-tree:100Gbps,machines=2,leaves=2,cores=2");
    struct fr_drawing *d = read_drawn(t);
    double leaf = height_of(t, d, "net.leaf0"), spine = height_of(t, d, "net.pod0-spine0");

    check_cluster(t, d);
    ck_assert_double_eq(height_of(t, d, "net.leaf3"), leaf);
    ck_assert_double_gt(spine, leaf);
    ck_assert_double_eq(height_of(t, d, "net.pod1-spine0"), spine);
    ck_assert_double_gt(height_of(t, d, "net.core1"), spine);
    fr_drawing_free(d);
    fr_topo_free(t);
}

TEST(every_preset_is_drawn)
{
    for (size_t i = 0; fr_topo_preset_name(i); i++) {
        struct fr_topo *t = load(fr_topo_preset_name(i));
        struct fr_drawing *d = read_drawn(t);
        char title[256];

        check_cluster(t, d);
        snprintf(title, sizeof(title), "%s", fr_topo_preset_summary(i));
        drawing_labelled(d, title);
        ck_assert_uint_ge(drawing_count(d, "gpu"), 4);
        fr_drawing_free(d);
        fr_topo_free(t);
    }
}

/* A machine of more than 160 parts is a box; one without PCIe or CPU stands for itself. */
TEST(odd_machines_are_drawn_too)
{
    static const struct fr_device_type type = {
        .name = "toy \"gpu\" <b>", .is_gpu = true, .mem_bytes = 1, .source = "test"};
    const struct fr_loc nowhere = {NULL, 0, 0};

    for (unsigned n = 1; n <= 200; n += n < 3 ? 1 : 197) {
        struct fr_topo_builder *b = fr_topo_builder_new();
        uint32_t t = fr_topo_builder_type(b, &type);
        struct fr_topo *topo;
        struct fr_error err;
        struct fr_drawing *d;

        for (unsigned i = 0; i < n; i++) {
            char name[16];

            snprintf(name, sizeof(name), "g%u", i);
            fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, 0, t, nowhere);
        }
        ck_assert_int_eq(fr_topo_builder_finish(b, "a \"name\"\\", &topo, &err), FR_OK);
        fr_topo_builder_free(b);
        d = read_drawn(topo);
        check_cluster(topo, d);
        drawing_labelled(d, "a \"name\"\\");
        ck_assert_uint_eq(drawing_count(d, "g"), n > 160 ? 0 : n);
        if (n > 160)
            drawing_labelled(d, "n0\n200x toy \"gpu\" <b>\n0 NICs");
        fr_drawing_free(d);
        fr_topo_free(topo);
    }
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "results draw");
}
