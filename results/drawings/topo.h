/* results/drawings/topo.h - where everything stands in the picture of a cluster. */
#ifndef FR_RESULTS_DRAWINGS_TOPO_H
#define FR_RESULTS_DRAWINGS_TOPO_H

#include "results/canvas/drawing.h"

/* Points of 1/72 inch, y upwards. */
struct fr__spot {
    uint32_t vertex; /* FR_NONE: a box for machines that are not drawn out */
    double x, y;     /* of the middle */
    double w, h;
    /* a box stands for n machines from number first on; n 0: none of the two */
    uint32_t first, n;
    uint32_t parent; /* the vertex that hangs it into the PCIe tree, or FR_NONE */
    double gap_x;    /* a GPU's or NIC's line from the parent comes down here */
    unsigned row;    /* of GPUs in a mesh: 0 above, 1 below; else 0 */
    bool is_socket;
    const struct fr__box *box; /* when it is drawn */
};

struct fr__layout {
    struct fr__spot *spots;
    size_t n_spots;
    uint32_t *spot_of;               /* [n_vertices] index into spots, FR_NONE: not drawn */
    double left, right, top, bottom; /* of all spots */
    double frame_left, frame_right, frame_top, frame_bottom; /* of the machine that is drawn out */
    bool has_frame;                                          /* there are others */
    bool is_mesh;             /* GPUs wired to each other, in two rows */
    size_t n_hidden_switches; /* of the network, beyond those that fit */
    /* Lines to NVSwitches of no machine go along around_y to around_x, and come from below. */
    bool is_around;
    double around_x, around_y;
};
enum { FR__LAYOUT_AROUND = 16 }; /* below the row of these NVSwitches */

/* Places what is drawn; all memory is the arena's. FR_ENOMEM. */
enum fr_status fr__layout_make(struct fr__layout *out, struct fr__arena *a, const struct fr_topo *t,
                               struct fr_error *err);
#endif
