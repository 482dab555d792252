/* results/drawings/topo.c - the drawing of a cluster.
 *
 * It is separate from layout.c, which says where each part stands.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/canvas/drawing.h"
#include "results/drawings/topo.h"
#include "results/drawings/wires.h"

#include <math.h>
#include <string.h>

enum { MAX_NAME = 28, MAX_TITLE = 110, NUMBER = 32, MAX_CLASSES = 12, LEGEND_W = 190 };

/* What a link is drawn and explained as. */
enum link_use {
    USE_NVLINK,   /* between GPUs */
    USE_NVSWITCH, /* GPU to NVSwitch */
    USE_TRUNK,    /* between NVSwitches */
    USE_C2C,      /* GPU to socket */
    USE_PCIE,
    USE_MEMORY,
    USE_SOCKETS,
    USE_NETWORK,
    N_USES
};

static const struct {
    const char *text;
    const char *colours[3]; /* from the narrowest of the use on */
    double width;
} uses[N_USES] = {
    [USE_NVLINK] = {"NVLink", {"#009E73", "#D55E00", "#0072B2"}, 2.0},
    [USE_NVSWITCH] = {"NVLink to NVSwitch", {"#009E73", "#D55E00", "#0072B2"}, 2.0},
    [USE_TRUNK] = {"NVLink between NVSwitches", {"#D55E00", "#D55E00", "#D55E00"}, 5.0},
    [USE_C2C] = {"NVLink to the CPU", {"#56B4E9", "#56B4E9", "#56B4E9"}, 2.4},
    [USE_PCIE] = {"PCIe", {"#8C8C8C", "#8C8C8C", "#8C8C8C"}, 1.2},
    [USE_MEMORY] = {"memory of a socket", {"#B8B8B8", "#B8B8B8", "#B8B8B8"}, 3.0},
    [USE_SOCKETS] = {"between the sockets", {"#333333", "#333333", "#333333"}, 2.4},
    [USE_NETWORK] = {"network", {"#CC79A7", "#CC79A7", "#CC79A7"}, 1.6},
};

/* Links of one use and bandwidth: one line of the legend. */
struct link_class {
    enum link_use use;
    double bw_Bps;
    unsigned rank; /* among those of the use */
};

struct picture {
    struct fr_drawing *d;
    const struct fr_topo *topo;
    const struct fr__layout *layout;
    struct link_class classes[MAX_CLASSES];
    size_t n_classes;
};

/* ---- pieces ---- */

/* The name inside its machine: "n0.gpu3" is "gpu3". */
static const char *local_name(const struct fr_topo *t, uint32_t vertex)
{
    const char *name = t->vertices[vertex].name, *dot = strchr(name, '.');

    return t->vertices[vertex].machine != FR_NONE && dot && dot[1] ? dot + 1 : name;
}

/* ---- links ---- */

static enum link_use use_of(const struct fr_topo *t, const struct fr_link *l)
{
    enum fr_vertex_kind a = t->vertices[l->src].kind, b = t->vertices[l->dst].kind;
    int n_nvswitches = (a == FR_VERTEX_NVSWITCH) + (b == FR_VERTEX_NVSWITCH);

    switch (l->kind) {
    case FR_LINK_NVLINK:
        if (a == FR_VERTEX_PCIE || b == FR_VERTEX_PCIE || a == FR_VERTEX_CPU || b == FR_VERTEX_CPU)
            return USE_C2C;
        return n_nvswitches == 2 ? USE_TRUNK : n_nvswitches ? USE_NVSWITCH : USE_NVLINK;
    case FR_LINK_CPU:
        return a == FR_VERTEX_CPU || b == FR_VERTEX_CPU ? USE_MEMORY : USE_SOCKETS;
    case FR_LINK_NET:
        return USE_NETWORK;
    case FR_LINK_PCIE:
    case FR_N_LINK_KINDS:
        break;
    }
    return USE_PCIE;
}

static bool is_drawn(const struct picture *p, const struct fr_link *l)
{
    return p->layout->spot_of[l->src] != FR_NONE && p->layout->spot_of[l->dst] != FR_NONE;
}

static const struct link_class *class_of(const struct picture *p, const struct fr_link *l)
{
    enum link_use use = use_of(p->topo, l);

    for (size_t i = 0; i < p->n_classes; i++)
        if (p->classes[i].use == use && p->classes[i].bw_Bps == l->bw_Bps)
            return &p->classes[i];
    return NULL;
}

/* The classes of the links drawn, by use and bandwidth. Beyond MAX_CLASSES the legend has no
 * room. */
static void classify(struct picture *p)
{
    for (size_t i = 0; i < p->topo->n_links; i++) {
        const struct fr_link *l = &p->topo->links[i];
        struct link_class c = {use_of(p->topo, l), l->bw_Bps, 0};
        size_t at = p->n_classes;

        if (!is_drawn(p, l) || class_of(p, l) || p->n_classes == MAX_CLASSES)
            continue;
        while (at > 0 &&
               (p->classes[at - 1].use > c.use ||
                (p->classes[at - 1].use == c.use && p->classes[at - 1].bw_Bps > c.bw_Bps))) {
            p->classes[at] = p->classes[at - 1];
            at--;
        }
        p->classes[at] = c;
        p->n_classes++;
    }
    for (size_t i = 1; i < p->n_classes; i++)
        if (p->classes[i].use == p->classes[i - 1].use)
            p->classes[i].rank = p->classes[i - 1].rank + 1;
}

static struct fr__wire *put_wire(const struct picture *p, const struct fr__box *from,
                                 const struct fr__box *to, enum link_use use, unsigned rank)
{
    rank = rank < 2 ? rank : 2;
    return fr__wire(p->d, from, to, uses[use].colours[rank],
                    uses[use].width + (use == USE_NVLINK ? 1.2 * rank : 0));
}

/* Whether a third one stands between two of the same row. */
static bool is_blocked(const struct fr__layout *l, const struct fr__spot *a,
                       const struct fr__spot *b)
{
    if (lround(a->y) != lround(b->y))
        return false;
    for (size_t i = 0; i < l->n_spots; i++)
        if (lround(l->spots[i].y) == lround(a->y) &&
            (l->spots[i].x - a->x) * (l->spots[i].x - b->x) < 0)
            return true;
    return false;
}

/* An arc over the upper row, under the lower one; a low one where it is not of GPUs, for what
 * stands above is near. */
static void write_arc(struct fr__wire *w, const struct fr__spot *a, const struct fr__spot *b,
                      bool is_low)
{
    double up = a->row ? -1 : 1, length = fabs(a->x - b->x);
    double height = is_low ? fmin(8 + 0.05 * length, 34) : 16 + 0.13 * length;
    double aim = a->x < b->x ? 10 : -10;

    w->is_curve = true;
    fr__wire_to(w, a->x + aim, a->y + up * a->h / 2);
    fr__wire_to(w, a->x + 3 * aim, a->y + up * (a->h / 2 + height));
    fr__wire_to(w, b->x - 3 * aim, b->y + up * (b->h / 2 + height));
    fr__wire_to(w, b->x - aim, b->y + up * b->h / 2);
}

/* Draws a line from a switch down to what is in its tree: straight to the upper row, to the side to
 * the lower one, and through a gap between the GPUs to a NIC. */
static void write_branch(const struct picture *p, struct fr__wire *w, const struct fr__spot *up,
                         const struct fr__spot *down)
{
    enum fr_vertex_kind kind = p->topo->vertices[down->vertex].kind;
    double top = up->y - up->h / 2, turn = top - 16, reach = up->w / 2 - 6;
    bool is_beside = kind == FR_VERTEX_GPU && down->row;

    fr__wire_to(w, fmin(fmax(down->gap_x, up->x - reach), up->x + reach), top);
    if (is_beside || kind == FR_VERTEX_NIC)
        fr__wire_to(w, down->gap_x, turn);
    if (is_beside) { /* NVLinks are at its middle */
        fr__wire_to(w, down->gap_x, down->y + 9);
        fr__wire_to(w, down->x + down->w / 2, down->y + 9);
    } else {
        fr__wire_to(w, down->x, down->y + down->h / 2);
    }
}

/* Straight up or down between a wide bar and what stands above or below. */
static bool write_upright(struct fr__wire *w, const struct fr__spot *a, const struct fr__spot *b)
{
    const struct fr__spot *bar = a->w > b->w ? a : b, *other = a->w > b->w ? b : a;
    double up = other->y > bar->y ? 1 : -1;

    if (lround(a->y) == lround(b->y) || other->x < bar->x - bar->w / 2 ||
        other->x > bar->x + bar->w / 2)
        return false;
    fr__wire_to(w, other->x, bar->y + up * bar->h / 2);
    fr__wire_to(w, other->x, other->y - up * other->h / 2);
    return true;
}

/* From a GPU down to a line that all links of the NVSwitch share, and along it. */
static void write_bus(struct fr__wire *w, const struct fr__spot *gpu,
                      const struct fr__spot *nvswitch)
{
    double top = nvswitch->y + nvswitch->h / 2, bus = (top + gpu->y - gpu->h / 2) / 2;

    fr__wire_to(w, gpu->x, gpu->y - gpu->h / 2);
    fr__wire_to(w, gpu->x, bus);
    fr__wire_to(w, nvswitch->x, bus);
    fr__wire_to(w, nvswitch->x, top);
}

/* From a GPU around the network and the other machines. */
static void write_around(const struct picture *p, struct fr__wire *w, const struct fr__spot *gpu,
                         const struct fr__spot *nvswitch)
{
    const struct fr__layout *l = p->layout;
    double bottom = nvswitch->y - nvswitch->h / 2, low = bottom - FR__LAYOUT_AROUND / 2.0;

    fr__wire_to(w, gpu->x, gpu->y - gpu->h / 2);
    fr__wire_to(w, gpu->x, l->around_y);
    fr__wire_to(w, l->around_x, l->around_y);
    fr__wire_to(w, l->around_x, low);
    fr__wire_to(w, nvswitch->x, low);
    fr__wire_to(w, nvswitch->x, bottom);
}

/* Draws a link between a GPU and an NVSwitch that it does not stand over; false: it is none. */
static bool write_nvswitch_link(const struct picture *p, struct fr__wire *w,
                                const struct fr__spot *a, const struct fr__spot *b)
{
    const struct fr_vertex *vertices = p->topo->vertices;
    const struct fr__spot *gpu = vertices[a->vertex].kind == FR_VERTEX_GPU ? a : b;
    const struct fr__spot *nvswitch = gpu == a ? b : a;

    if (vertices[gpu->vertex].kind != FR_VERTEX_GPU ||
        vertices[nvswitch->vertex].kind != FR_VERTEX_NVSWITCH)
        return false;
    if (vertices[nvswitch->vertex].machine == FR_NONE && p->layout->is_around)
        write_around(p, w, gpu, nvswitch);
    else if (vertices[nvswitch->vertex].machine != FR_NONE && !p->layout->is_mesh)
        write_bus(w, gpu, nvswitch);
    else
        return false;
    return true;
}

static bool has_way_back(const struct picture *p, const struct fr_link *l)
{
    for (size_t i = 0; i < p->topo->n_links; i++) {
        const struct fr_link *x = &p->topo->links[i];

        if (x->src == l->dst && x->dst == l->src)
            return x->bw_Bps == l->bw_Bps;
    }
    return false;
}

static void write_link(struct picture *p, const struct fr_link *l)
{
    const struct fr__spot *a = &p->layout->spots[p->layout->spot_of[l->src]];
    const struct fr__spot *b = &p->layout->spots[p->layout->spot_of[l->dst]];
    const struct link_class *c = class_of(p, l);
    bool is_duplex = has_way_back(p, l);
    struct fr__wire *w;

    if (is_duplex && l->src > l->dst)
        return;
    w = put_wire(p, a->box, b->box, use_of(p->topo, l), c ? c->rank : 0);
    w->has_head = !is_duplex;
    if (!is_duplex)
        return;
    if (b->parent == l->src)
        write_branch(p, w, a, b);
    else if (a->parent == l->dst)
        write_branch(p, w, b, a);
    else if (write_nvswitch_link(p, w, a, b))
        ;
    else if (is_blocked(p->layout, a, b))
        write_arc(w, a, b, p->topo->vertices[l->src].kind != FR_VERTEX_GPU);
    else if ((a->w > 2 * b->w || b->w > 2 * a->w) && write_upright(w, a, b))
        ;
    else
        fr__wire_past(w, p->layout, a, b);
}

/* ---- what stands ---- */

static struct fr__box *put_box(const struct picture *p, const char *prefix, size_t id,
                               const struct fr__spot *s, const char *fill)
{
    return fr__box(
        p->d, prefix, id,
        (struct fr__box){
            .shape = FR__RECT, .x = s->x, .y = s->y, .w = s->w, .h = s->h, .fill = fill});
}

static void write_vertex(struct picture *p, struct fr__spot *s)
{
    static const char *const fills[FR_N_VERTEX_KINDS] = {
        [FR_VERTEX_GPU] = "#DDF0D0",  [FR_VERTEX_CPU] = "#ECECEC", [FR_VERTEX_NVSWITCH] = "#BFE3D6",
        [FR_VERTEX_PCIE] = "#E3E9F2", [FR_VERTEX_NIC] = "#F3DDE9", [FR_VERTEX_SWITCH] = "#E9C6DA",
    };
    const struct fr_topo *t = p->topo;
    const struct fr_vertex *v = &t->vertices[s->vertex];
    const struct fr_device_type *type =
        v->device == FR_NONE ? NULL : &t->types[t->devices[v->device].type];
    char number[NUMBER] = "";
    struct fr__box *b = put_box(p, "v", s->vertex, s, s->is_socket ? "#FBE3C0" : fills[v->kind]);

    s->box = b;
    fr__label_name(b, local_name(t, s->vertex), MAX_NAME);
    if (type)
        fr__format_bytes((double)type->mem_bytes, number, sizeof(number));
    if (v->kind == FR_VERTEX_CPU) {
        fr__label(b, ": ");
        fr__label_name(b, type->name, MAX_NAME);
        fr__label(b, ", %s", number);
    } else if (v->kind == FR_VERTEX_GPU) {
        fr__label(b, "\n%s", number);
    } else if (v->kind == FR_VERTEX_PCIE && !s->is_socket) {
        fr__label(b, "\nPCIe switch");
    }
}

/* "n3 ... n127": 125 machines. */
static void write_box(struct picture *p, size_t id, struct fr__spot *s)
{
    const struct fr_topo *t = p->topo;
    const char *type = NULL;
    size_t n_gpus = 0, n_nics = 0;
    struct fr__box *b = put_box(p, "m", id, s, s->n > 1 ? "#ECECEC" : "#F7F7F7");

    s->box = b;
    for (size_t d = 0; d < t->n_gpus; d++)
        if (t->devices[d].machine == s->first) {
            type = t->types[t->devices[d].type].name;
            n_gpus++;
        }
    for (size_t v = 0; v < t->n_vertices; v++)
        n_nics += t->vertices[v].machine == s->first && t->vertices[v].kind == FR_VERTEX_NIC;
    fr__label(b, "n%u", (unsigned)s->first);
    if (s->n > 1) {
        fr__label(b, " ... n%u\n%u more, folded", (unsigned)(s->first + s->n - 1), (unsigned)s->n);
    } else if (type) {
        fr__label(b, "\n%zux ", n_gpus);
        fr__label_name(b, type, 18);
        fr__label(b, "\n%zu NIC%s", n_nics, n_nics == 1 ? "" : "s");
    }
}

/* Lines from a box to each shared vertex that its first machine is wired to. */
static void write_box_links(struct picture *p, const struct fr__spot *s)
{
    const struct fr_topo *t = p->topo;

    for (size_t i = 0; i < p->layout->n_spots; i++) {
        const struct fr__spot *shared = &p->layout->spots[i];
        enum link_use use = USE_NETWORK;
        struct fr__wire *w;
        double at = s->x;
        size_t n = 0;

        if (shared->vertex == FR_NONE || t->vertices[shared->vertex].machine != FR_NONE)
            continue;
        for (size_t l = 0; l < t->n_links; l++)
            if (t->links[l].dst == shared->vertex &&
                t->vertices[t->links[l].src].machine == s->first) {
                use = use_of(t, &t->links[l]);
                n++;
            }
        if (n == 0)
            continue;
        w = put_wire(p, s->box, shared->box, use, 0);
        w->dash = s->n > 1 ? FR__DASHED : FR__SOLID;
        if (at > shared->x - shared->w / 2 && at < shared->x + shared->w / 2) {
            const double down = use == USE_NETWORK ? 12 : -12;
            const double up = shared->y > s->y ? 0.5 : -0.5;

            fr__wire_to(w, at + down, s->y + up * s->h);
            fr__wire_to(w, at + down, shared->y - up * shared->h);
        } else {
            fr__wire_past(w, p->layout, s, shared);
        }
    }
}

static void write_frame(const struct picture *p)
{
    const struct fr__layout *l = p->layout;
    const struct fr__box frame = {.shape = FR__FRAME,
                                  .x = (l->frame_left + l->frame_right) / 2,
                                  .y = (l->frame_top + l->frame_bottom) / 2,
                                  .w = l->frame_right - l->frame_left,
                                  .h = l->frame_top - l->frame_bottom,
                                  .edge = "#AAAAAA",
                                  .points = 12};

    if (l->has_frame)
        fr__label(fr__box(p->d, "frame", 0, frame), "n0");
}

/* ---- words ---- */

/* The preset's own line where it is one. */
static const char *summary_of(const struct fr_topo *t)
{
    for (size_t i = 0; fr_topo_preset_name(i); i++)
        if (strcmp(fr_topo_preset_name(i), t->name) == 0)
            return fr_topo_preset_summary(i);
    return t->summary ? t->summary : "";
}

static void write_title(const struct picture *p)
{
    const struct fr__layout *l = p->layout;
    double y = (l->has_frame ? l->frame_top : l->top) + 44;
    struct fr__box *below;

    fr__label_name(fr__words(p->d, "title", 0, l->left, y, 16), p->topo->name, MAX_TITLE);
    below = fr__words(p->d, "title", 1, l->left, y - 20, 11);
    fr__label_name(below, summary_of(p->topo), MAX_TITLE);
    if (l->n_hidden_switches)
        fr__label(below, "; %zu more network switches are not drawn", l->n_hidden_switches);
}

static void write_legend_line(struct picture *p, size_t i, double x, double y)
{
    const struct link_class *c = &p->classes[i];
    double narrowest = c->bw_Bps, ratio;
    struct fr__box *text = fr__words(p->d, "text", i, x + 38, y, 10);
    struct fr__wire *line;
    char rate[NUMBER];

    for (size_t k = 0; k < p->n_classes; k++)
        if (p->classes[k].use == c->use && p->classes[k].bw_Bps < narrowest)
            narrowest = p->classes[k].bw_Bps;
    ratio = c->bw_Bps / narrowest;
    line = put_wire(p, NULL, NULL, c->use, c->rank);
    fr__wire_to(line, x, y);
    fr__wire_to(line, x + 30, y);
    if (c->use == USE_NVLINK && ratio > 1.5 && fabs(ratio - round(ratio)) < 1e-6)
        fr__label(text, "%ld ", lround(ratio));
    fr__label(text, "%s%s, %s", uses[c->use].text,
              c->use == USE_NVLINK && ratio > 1.5 ? "s side by side" : "",
              fr__format_rate(c->bw_Bps, rate, sizeof(rate)));
}

/* Right of a narrow picture, below a wide one. */
static void write_legend(struct picture *p)
{
    const struct fr__layout *l = p->layout;
    double right = l->has_frame && l->frame_right > l->right ? l->frame_right : l->right;
    bool is_below = right - l->left > 1000;
    double x = is_below ? l->left : right + 36, y = is_below ? l->bottom - 34 : l->top - 8;
    size_t n_rows = is_below ? 3 : MAX_CLASSES;

    if (p->n_classes == 0)
        return;
    for (size_t i = 0; i < p->n_classes; i++)
        write_legend_line(p, i, x + (double)(i / n_rows) * (LEGEND_W + 50),
                          y - 19.0 * (double)(i % n_rows));
    fr__label(fr__words(p->d, "note", 0, x,
                        y - 19.0 * (double)(p->n_classes < n_rows ? p->n_classes : n_rows) - 6, 9),
              "what large messages get, each way");
}

static void write_all(struct picture *p)
{
    write_frame(p);
    for (size_t i = 0; i < p->layout->n_spots; i++)
        if (p->layout->spots[i].vertex != FR_NONE)
            write_vertex(p, &p->layout->spots[i]);
        else
            write_box(p, i, &p->layout->spots[i]);
    for (unsigned is_nvlink = 0; is_nvlink < 2; is_nvlink++) /* NVLinks over the others */
        for (size_t i = 0; i < p->topo->n_links; i++)
            if (is_drawn(p, &p->topo->links[i]) &&
                (p->topo->links[i].kind == FR_LINK_NVLINK) == is_nvlink)
                write_link(p, &p->topo->links[i]);
    for (size_t i = 0; i < p->layout->n_spots; i++)
        if (p->layout->spots[i].vertex == FR_NONE)
            write_box_links(p, &p->layout->spots[i]);
    write_title(p);
    write_legend(p);
}

enum fr_status fr_draw_topo(struct fr_drawing **out, const struct fr_topo *t, struct fr_error *err)
{
    struct fr__layout layout;
    struct picture p = {.topo = t, .layout = &layout};
    enum fr_status st;

    FR_TRY(fr__drawing_new(&p.d, "cluster_picture", false, err));
    st = fr__layout_make(&layout, p.d->arena, t, err);
    if (st == FR_OK) {
        classify(&p);
        write_all(&p);
    }
    return fr__drawing_finish(p.d, st, out, err);
}
