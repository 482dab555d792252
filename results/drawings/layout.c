/* results/drawings/layout.c - computes the positions in the picture of a cluster.
 *
 * It is separate from topo.c, which draws what is placed.
 *
 * The first machine is drawn in full: its CPU on top, below it the tree of sockets and PCIe
 * switches, then the GPUs (in two rows if they are wired to each other, so that a hybrid cube mesh
 * looks like one), its NVSwitches, its NICs. Vertices of no machine are bars below, and the other
 * machines are boxes. Switches that join only switches (spines, cores) stand above those and right
 * of the machine, a row for each tier.
 *
 * No line passes behind what it does not touch: an NVSwitch is as narrow as a column, between the
 * lines down to the NICs, and its links meet on a line above it; NVSwitches of no machine stand
 * below the other machines where there is a network, and the lines to them go around.
 */
#include "config.h"

#include "base/error.h"
#include "results/canvas/canvas.h"
#include "results/drawings/topo.h"

#include <math.h>
#include <string.h>

enum {
    MAX_DRAWN_OUT = 160, /* vertices of a machine; larger ones are boxes */
    MAX_SWITCHES = 12,   /* of the network, in one row */
    MAX_BOXES = 8,
    MAX_TIERS = 4,
    GPU_W = 58,
    GPU_H = 34,
    GAP_W = 26, /* right of a column of GPUs, for lines down to what is below */
    MESH_GAP_W = 46,
    BOX_W = 132,
    BOX_H = 46,
    NIC_W = 44,
    SWITCH_H = 26,
    BAR_H = 24,
    LEVEL = 62, /* from one row to the next */
    MESH_LEVEL = 96
};

struct maker {
    const struct fr_topo *topo;
    struct fr__arena *arena;
    struct fr__layout *out;
    uint32_t *children;    /* [n_vertices] by parent, in order */
    uint32_t *first_child; /* [n_vertices + 1] */
    uint32_t *parent;      /* [n_vertices] in the PCIe tree, FR_NONE */
    unsigned *depth;       /* [n_vertices] */
    unsigned max_depth;
    double x;             /* the next free column */
    const uint32_t *tier; /* [n_vertices] of network switches, see find_tiers */
    double shared_right;  /* right end of what is shared, and of the boxes */
};

static bool is_inside(const struct maker *m, uint32_t v)
{
    return m->topo->vertices[v].machine == 0;
}

static double text_width(const char *text)
{
    return 14.0 + fr__text_wide(text, strlen(text), 10);
}

static struct fr__spot *put(struct maker *m, uint32_t vertex, double x, double y, double w,
                            double h)
{
    struct fr__layout *l = m->out;
    struct fr__spot *s = &l->spots[l->n_spots];

    *s = (struct fr__spot){
        .vertex = vertex, .x = x, .y = y, .w = w, .h = h, .parent = FR_NONE, .gap_x = x};
    if (vertex != FR_NONE) {
        l->spot_of[vertex] = (uint32_t)l->n_spots;
        s->parent = m->parent[vertex];
    }
    l->n_spots++;
    return s;
}

/* ---- the tree of one machine ---- */

/* Whether a link puts one vertex below another: PCIe, a socket's link to its CPU, and NVLink from a
 * socket (NVLink-C2C). */
static bool is_tree_link(const struct fr_topo *t, const struct fr_link *x)
{
    enum fr_vertex_kind from = t->vertices[x->src].kind, to = t->vertices[x->dst].kind;

    if (from != FR_VERTEX_PCIE && from != FR_VERTEX_CPU)
        return false;
    if (to != FR_VERTEX_PCIE && to != FR_VERTEX_GPU && to != FR_VERTEX_NIC)
        return false;
    return x->kind != FR_LINK_NET;
}

static uint32_t find_root(const struct maker *m)
{
    const struct fr_topo *t = m->topo;
    uint32_t root = FR_NONE;

    for (uint32_t v = 0; v < t->n_vertices; v++) {
        if (!is_inside(m, v))
            continue;
        if (t->vertices[v].kind == FR_VERTEX_CPU)
            return v;
        if (t->vertices[v].kind == FR_VERTEX_PCIE && root == FR_NONE)
            root = v;
    }
    return root;
}

/* Breadth first, so that each vertex is below the one that is nearest to the CPU. */
static void grow_tree(struct maker *m, uint32_t root)
{
    const struct fr_topo *t = m->topo;
    bool has_grown = root != FR_NONE;

    for (uint32_t v = 0; v < t->n_vertices; v++)
        m->parent[v] = FR_NONE;
    for (unsigned depth = 0; has_grown; depth++) {
        has_grown = false;
        for (size_t l = 0; l < t->n_links; l++) {
            const struct fr_link *x = &t->links[l];

            if (!is_inside(m, x->src) || !is_inside(m, x->dst) || x->dst == root ||
                m->parent[x->dst] != FR_NONE || !is_tree_link(t, x) || m->depth[x->src] != depth ||
                (x->src != root && m->parent[x->src] == FR_NONE))
                continue;
            m->parent[x->dst] = x->src;
            m->depth[x->dst] = depth + 1;
            if (t->vertices[x->dst].kind == FR_VERTEX_PCIE && depth + 1 > m->max_depth)
                m->max_depth = depth + 1;
            has_grown = true;
        }
    }
}

/* children, grouped by parent (a counting sort). */
static void list_children(struct maker *m)
{
    size_t n = m->topo->n_vertices;

    memset(m->first_child, 0, (n + 1) * sizeof(*m->first_child));
    for (size_t v = 0; v < n; v++)
        if (m->parent[v] != FR_NONE)
            m->first_child[m->parent[v] + 1]++;
    for (size_t v = 0; v < n; v++)
        m->first_child[v + 1] += m->first_child[v];
    for (size_t v = 0; v < n; v++)
        if (m->parent[v] != FR_NONE)
            m->children[m->first_child[m->parent[v]]++] = (uint32_t)v;
    for (size_t v = n; v > 0; v--)
        m->first_child[v] = m->first_child[v - 1];
    m->first_child[0] = 0;
}

static size_t count_children(const struct maker *m, uint32_t v, enum fr_vertex_kind kind)
{
    size_t n = 0;

    for (uint32_t c = m->first_child[v]; c < m->first_child[v + 1]; c++)
        n += m->topo->vertices[m->children[c]].kind == kind;
    return n;
}

/* ---- rows ---- */

static double level_y(unsigned depth)
{
    return -(double)LEVEL * depth;
}

static double gpu_y(const struct maker *m, unsigned row)
{
    return level_y(m->max_depth) - (m->out->is_mesh ? MESH_LEVEL : LEVEL) -
           (double)row * MESH_LEVEL;
}

static double nvswitch_y(const struct maker *m)
{
    return gpu_y(m, m->out->is_mesh) - LEVEL;
}

/* machine: 0, or FR_NONE for what is shared. */
static bool has_kind(const struct maker *m, enum fr_vertex_kind kind, uint32_t machine)
{
    for (uint32_t v = 0; v < m->topo->n_vertices; v++)
        if (m->topo->vertices[v].machine == machine && m->topo->vertices[v].kind == kind)
            return true;
    return false;
}

static double nic_y(const struct maker *m)
{
    double from = has_kind(m, FR_VERTEX_NVSWITCH, 0) ? nvswitch_y(m) : gpu_y(m, m->out->is_mesh);

    return from - (m->out->is_mesh ? MESH_LEVEL - 14 : LEVEL - 8);
}

/* ---- columns ---- */

static double gap_width(const struct maker *m)
{
    return m->out->is_mesh ? MESH_GAP_W : GAP_W;
}

/* GPUs from m->x on, each column with a gap right of it; the NICs come down in the gaps. Returns
 * the width. */
static double place_leaves(struct maker *m, uint32_t switch_)
{
    const struct fr_topo *t = m->topo;
    size_t n_gpus = count_children(m, switch_, FR_VERTEX_GPU);
    size_t n_nics = count_children(m, switch_, FR_VERTEX_NIC);
    size_t n_rows = m->out->is_mesh && n_gpus > 1 ? 2 : 1;
    size_t n_columns = (n_gpus + n_rows - 1) / n_rows, gpu = 0, nic = 0;
    double column = GPU_W + gap_width(m), nic_column = n_gpus ? column : NIC_W + 12;

    for (uint32_t c = m->first_child[switch_]; c < m->first_child[switch_ + 1]; c++) {
        uint32_t v = m->children[c];
        struct fr__spot *s;

        if (t->vertices[v].kind == FR_VERTEX_GPU) {
            s = put(m, v, m->x + column * (double)(gpu / n_rows) + GPU_W / 2.0,
                    gpu_y(m, (unsigned)(gpu % n_rows)), GPU_W, GPU_H);
            s->row = (unsigned)(gpu % n_rows);
            s->gap_x = s->x + (s->row ? GPU_W / 2.0 + 16 : 0);
            gpu++;
        } else if (t->vertices[v].kind == FR_VERTEX_NIC) {
            double at =
                nic_column * (double)nic + (n_gpus ? GPU_W + gap_width(m) / 2 : NIC_W / 2.0);

            s = put(m, v, m->x + at + (n_rows > 1 ? 6 : 0), nic_y(m), NIC_W, SWITCH_H);
            nic++;
        }
    }
    return fmax(column * (double)n_columns, n_nics ? nic_column * (double)n_nics : 0);
}

/* Places a switch above what is below it, and moves m->x on. */
static void place_switch(struct maker *m, uint32_t v, unsigned left)
{
    const struct fr_topo *t = m->topo;
    double from = m->x, width = place_leaves(m, v), label = text_width(t->vertices[v].name) - 12;
    struct fr__spot *s;

    m->x += width;
    for (uint32_t c = m->first_child[v]; left > 0 && c < m->first_child[v + 1]; c++)
        if (t->vertices[m->children[c]].kind == FR_VERTEX_PCIE)
            place_switch(m, m->children[c], left - 1);
    m->x = fmax(m->x, from + fmax(label, 74) + 10);
    s = put(m, v, (from + m->x - (width > 0 ? gap_width(m) : 10)) / 2, level_y(m->depth[v]),
            fmax(label, 74), SWITCH_H + 8);
    s->is_socket = t->vertices[m->parent[v] == FR_NONE ? v : m->parent[v]].kind == FR_VERTEX_CPU;
    if (s->is_socket) {
        s->w = fmax(s->w, (m->x - from) * 0.6);
        m->x += 12;
    }
}

static bool is_gpu_mesh(const struct maker *m)
{
    const struct fr_topo *t = m->topo;

    for (size_t l = 0; l < t->n_links; l++)
        if (is_inside(m, t->links[l].src) && is_inside(m, t->links[l].dst) &&
            t->vertices[t->links[l].src].kind == FR_VERTEX_GPU &&
            t->vertices[t->links[l].dst].kind == FR_VERTEX_GPU)
            return true;
    return false;
}

/* GPUs and NICs that hang in no tree, behind the others. */
static void place_loose(struct maker *m)
{
    const struct fr_topo *t = m->topo;

    for (uint32_t v = 0; v < t->n_vertices; v++) {
        enum fr_vertex_kind kind = t->vertices[v].kind;

        if (!is_inside(m, v) || m->out->spot_of[v] != FR_NONE || kind == FR_VERTEX_NVSWITCH ||
            kind == FR_VERTEX_CPU || kind == FR_VERTEX_SWITCH)
            continue;
        put(m, v, m->x + GPU_W / 2.0,
            kind == FR_VERTEX_NIC    ? nic_y(m)
            : kind == FR_VERTEX_PCIE ? level_y(1)
                                     : gpu_y(m, 0),
            kind == FR_VERTEX_NIC ? NIC_W : GPU_W, GPU_H);
        m->x += GPU_W + GAP_W;
    }
}

/* The x of the GPU in the middle of those from .. to; no other line comes down there. */
static double middle_gpu(const struct maker *m, double from, double to)
{
    double best = (from + to) / 2, least = 1e9;

    for (size_t i = 0; i < m->out->n_spots; i++) {
        const struct fr__spot *s = &m->out->spots[i];
        double off = s->x - (from + to) / 2;

        if (s->vertex == FR_NONE || m->topo->vertices[s->vertex].kind != FR_VERTEX_GPU ||
            off * off >= least)
            continue;
        least = off * off;
        best = s->x;
    }
    return best;
}

/* Under what is wired to it; several under the same stand side by side. */
static void place_nvswitches(struct maker *m)
{
    const struct fr_topo *t = m->topo;
    double taken = -1e9, column = GPU_W + gap_width(m);

    for (uint32_t v = 0; v < t->n_vertices; v++) {
        double from = 1e9, to = -1e9;

        if (!is_inside(m, v) ||
            (t->vertices[v].kind != FR_VERTEX_NVSWITCH && t->vertices[v].kind != FR_VERTEX_SWITCH))
            continue;
        for (size_t l = 0; l < t->n_links; l++) {
            uint32_t at = t->links[l].dst == v ? m->out->spot_of[t->links[l].src] : FR_NONE;
            const struct fr__spot *s = at == FR_NONE ? NULL : &m->out->spots[at];

            if (!s || t->vertices[s->vertex].kind != FR_VERTEX_GPU)
                continue;
            from = fmin(from, s->x - s->w / 2);
            to = fmax(to, s->x + s->w / 2);
        }
        if (from > to || from < taken) {
            from = fmax(taken + 10, from > to ? 0 : from);
            to = fmax(from + 80, taken + 90);
        }
        taken = to;
        if (m->out->is_mesh)
            put(m, v, (from + to) / 2, nvswitch_y(m), to - from, BAR_H);
        else
            put(m, v, middle_gpu(m, from, to), nvswitch_y(m), column - 8, BAR_H);
    }
}

static void place_machine(struct maker *m)
{
    const struct fr_topo *t = m->topo;
    uint32_t root = find_root(m);

    grow_tree(m, root);
    list_children(m);
    m->out->is_mesh = is_gpu_mesh(m);
    if (root != FR_NONE && t->vertices[root].kind == FR_VERTEX_CPU) {
        double from = m->x, own = place_leaves(m, root);

        m->x += own;
        for (uint32_t c = m->first_child[root]; c < m->first_child[root + 1]; c++)
            if (t->vertices[m->children[c]].kind == FR_VERTEX_PCIE)
                place_switch(m, m->children[c], MAX_DRAWN_OUT);
        m->x = fmax(m->x, from + 200);
        put(m, root, (from + m->x - gap_width(m)) / 2, level_y(0), m->x - gap_width(m) - from,
            SWITCH_H);
    } else if (root != FR_NONE) {
        place_switch(m, root, MAX_DRAWN_OUT);
    }
    place_loose(m);
    place_nvswitches(m);
}

/* ---- what is shared, and the other machines ---- */

static void bound(struct fr__layout *l)
{
    l->left = l->bottom = l->n_spots ? INFINITY : 0;
    l->right = l->top = l->n_spots ? -INFINITY : 0;
    for (size_t i = 0; i < l->n_spots; i++) {
        const struct fr__spot *s = &l->spots[i];

        l->left = fmin(l->left, s->x - s->w / 2);
        l->right = fmax(l->right, s->x + s->w / 2);
        l->bottom = fmin(l->bottom, s->y - s->h / 2);
        l->top = fmax(l->top, s->y + s->h / 2);
    }
}

/* Switches of a higher tier stand in rows of their own. */
static bool is_in_row(const struct maker *m, uint32_t v, enum fr_vertex_kind kind)
{
    const struct fr_vertex *x = &m->topo->vertices[v];

    return x->machine == FR_NONE && x->kind == kind &&
           !(kind == FR_VERTEX_SWITCH && m->tier[v] != FR_NONE && m->tier[v] > 0);
}

/* A row of bars for the vertices of one kind that belong to no machine. */
static void place_shared(struct maker *m, enum fr_vertex_kind kind, double *y)
{
    const struct fr_topo *t = m->topo;
    double width = m->shared_right - m->out->left, from = m->out->left;
    size_t n = 0, at = 0;

    for (uint32_t v = 0; v < t->n_vertices; v++)
        n += is_in_row(m, v, kind);
    if (n > MAX_SWITCHES) {
        m->out->n_hidden_switches += n - MAX_SWITCHES;
        n = MAX_SWITCHES;
    }
    width = fmax(width, 90.0 * (double)n);
    for (uint32_t v = 0; v < t->n_vertices && at < n; v++) {
        if (!is_in_row(m, v, kind))
            continue;
        put(m, v, from + width * ((double)at + 0.5) / (double)n, *y, width / (double)n - 12, BAR_H);
        at++;
    }
    if (n)
        *y -= LEVEL;
}

/* How many switches lie between a network switch and the nearest NIC or GPU: leaves 0, spines 1,
 * cores 2. tier: [n_vertices], FR_NONE for all else. Cost: O(tiers * links). */
static uint32_t find_tiers(const struct fr_topo *t, uint32_t tier[])
{
    uint32_t highest = 0;
    bool is_new = true;

    for (uint32_t v = 0; v < t->n_vertices; v++)
        tier[v] = FR_NONE;
    for (uint32_t at = 0; is_new && at < MAX_TIERS; at++) {
        is_new = false;
        for (size_t i = 0; i < t->n_links; i++) {
            const struct fr_link *l = &t->links[i];
            bool is_below =
                at == 0 ? t->vertices[l->src].kind != FR_VERTEX_SWITCH : tier[l->src] == at - 1;

            if (t->vertices[l->dst].kind != FR_VERTEX_SWITCH || tier[l->dst] != FR_NONE ||
                !is_below)
                continue;
            tier[l->dst] = at;
            highest = at;
            is_new = true;
        }
    }
    return highest;
}

/* A row of bars for the switches of a tier above the leaves, from x on. */
static void place_tier(struct maker *m, const uint32_t tier[], uint32_t which, double x, double y)
{
    const struct fr_topo *t = m->topo;
    size_t n = 0;

    for (uint32_t v = 0; v < t->n_vertices; v++) {
        double w = text_width(t->vertices[v].name);

        if (tier[v] != which)
            continue;
        if (n++ >= MAX_SWITCHES) {
            m->out->n_hidden_switches++;
            continue;
        }
        put(m, v, x + w / 2, y, w, BAR_H);
        x += w + 12;
    }
}

/* The network's switches: leaves in a row below the machine, the tiers above them at its right. */
static void place_network(struct maker *m, uint32_t tier[], double *y)
{
    uint32_t highest = find_tiers(m->topo, tier);
    double leaves_y = *y;

    m->tier = tier;
    place_shared(m, FR_VERTEX_SWITCH, y);
    for (uint32_t k = 1; k <= highest; k++)
        place_tier(m, tier, k, m->shared_right + 40, leaves_y + k * LEVEL);
}

/* What a machine is made of, in a number: equal for equal ones. FNV-1a over the kinds and types. */
static void hash_machines(const struct fr_topo *t, uint64_t hash[])
{
    for (size_t i = 0; i < t->n_machines; i++)
        hash[i] = UINT64_C(14695981039346656037);
    for (size_t v = 0; v < t->n_vertices; v++) {
        const struct fr_vertex *x = &t->vertices[v];
        uint64_t what = (uint64_t)x->kind + 16;

        if (x->machine == FR_NONE)
            continue;
        if (x->device != FR_NONE)
            what += 16 * (uint64_t)(t->devices[x->device].type + 1);
        hash[x->machine] = (hash[x->machine] ^ what) * UINT64_C(1099511628211);
    }
}

/* Runs of equal machines: the first and last by themselves, what is between in one box. Returns how
 * many boxes there are; n: [MAX_BOXES] machines in each. */
static size_t fold(const uint64_t hash[], uint32_t n_machines, uint32_t first, uint32_t n[])
{
    size_t n_boxes = 0;

    for (uint32_t from = first, past; from < n_machines; from += n[n_boxes++]) {
        for (past = from + 1; past < n_machines && hash[past] == hash[from];)
            past++;
        n[n_boxes] = 1;
        if (n_boxes + 1 >= MAX_BOXES)
            n[n_boxes] = n_machines - from;
        else if (past - from > 2 && from != first && hash[from - 1] == hash[from])
            n[n_boxes] = past - from - 1;
    }
    return n_boxes;
}

static void place_boxes(struct maker *m, const uint32_t n[], size_t n_boxes, uint32_t first,
                        double y)
{
    double slot = (m->shared_right - m->out->left) / (double)(n_boxes ? n_boxes : 1);

    for (size_t i = 0; i < n_boxes; i++) {
        struct fr__spot *s =
            put(m, FR_NONE, m->out->left + slot * ((double)i + 0.5), y, BOX_W, BOX_H);

        s->first = first;
        s->n = n[i];
        first += n[i];
    }
}

static enum fr_status allocate(struct maker *m, uint64_t **hash, struct fr_error *err)
{
    size_t n = m->topo->n_vertices;

    m->out->spots = fr__arena_alloc(m->arena, n + MAX_BOXES, sizeof(*m->out->spots));
    m->out->spot_of = fr__arena_alloc(m->arena, n, sizeof(*m->out->spot_of));
    m->children = fr__arena_alloc(m->arena, n, sizeof(*m->children));
    m->first_child = fr__arena_alloc(m->arena, n + 1, sizeof(*m->first_child));
    m->parent = fr__arena_alloc(m->arena, n, sizeof(*m->parent));
    m->depth = fr__arena_alloc(m->arena, n, sizeof(*m->depth));
    *hash = fr__arena_alloc(m->arena, m->topo->n_machines, sizeof(**hash));
    if (!m->out->spots || !m->out->spot_of || !m->children || !m->first_child || !m->parent ||
        !m->depth || !*hash)
        return fr__fail_nomem(err);
    for (size_t v = 0; v < n; v++)
        m->out->spot_of[v] = FR_NONE;
    return FR_OK;
}

enum fr_status fr__layout_make(struct fr__layout *out, struct fr__arena *a, const struct fr_topo *t,
                               struct fr_error *err)
{
    struct maker m = {.topo = t, .arena = a, .out = out};
    struct fr__layout *l = out;
    uint32_t n_inside = 0, folded[MAX_BOXES], first;
    size_t n_boxes;
    uint32_t *tier = fr__arena_alloc(a, t->n_vertices, sizeof(*tier));
    uint64_t *hash;
    double y;

    if (!tier)
        return fr__fail_nomem(err);
    *out = (struct fr__layout){.has_frame = t->n_machines > 1};
    FR_TRY(allocate(&m, &hash, err));
    for (uint32_t v = 0; v < t->n_vertices; v++)
        n_inside += is_inside(&m, v);
    if (n_inside <= MAX_DRAWN_OUT)
        place_machine(&m);
    else
        l->has_frame = false;
    bound(l);
    l->frame_left = l->left - 14;
    l->frame_right = l->right + 14;
    l->frame_top = l->top + 30;
    l->frame_bottom = l->bottom - 14;
    first = n_inside <= MAX_DRAWN_OUT ? 1 : 0;
    hash_machines(t, hash);
    n_boxes = fold(hash, (uint32_t)t->n_machines, first, folded);
    m.shared_right = fmax(l->right, l->left + (double)n_boxes * (BOX_W + 14));
    y = l->bottom - LEVEL - (l->has_frame ? 14 : 0);
    l->is_around =
        has_kind(&m, FR_VERTEX_NVSWITCH, FR_NONE) && has_kind(&m, FR_VERTEX_SWITCH, FR_NONE);
    l->around_x = fmax(m.shared_right, l->frame_right) + 20;
    l->around_y = l->frame_bottom - 10;
    if (!l->is_around)
        place_shared(&m, FR_VERTEX_NVSWITCH, &y);
    place_network(&m, tier, &y);
    place_shared(&m, FR_VERTEX_PCIE, &y);
    place_boxes(&m, folded, n_boxes, first, y - BOX_H / 2.0 + 6);
    y -= n_boxes ? BOX_H + LEVEL / 2.0 : 0;
    if (l->is_around)
        place_shared(&m, FR_VERTEX_NVSWITCH, &y);
    bound(l);
    l->right = l->is_around ? fmax(l->right, l->around_x) : l->right;
    l->bottom -= l->is_around ? FR__LAYOUT_AROUND : 0;
    return FR_OK;
}
