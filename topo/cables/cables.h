/* topo/cables/cables.h - the cables of the machines and importers that we know.
 *
 * They are rows of topo/cables/cables.yaml, each with its source; the build makes a constant table.
 */
#ifndef FR_TOPO_CABLES_CABLES_H
#define FR_TOPO_CABLES_CABLES_H

#include "topo/internal.h"

/* One cable, full duplex. */
struct fr__wire {
    double bw_Bps;    /* what a large message gets, each direction */
    double latency_s; /* first bit in to first bit out */
    const char *source;
};

extern const struct fr__wire fr__wires[];
extern const size_t fr__n_wires;

/* n cables of the kind between two vertices, as one link with their sum. */
void fr__wire_join(struct fr_topo_builder *b, enum fr_link_kind kind, uint32_t one, uint32_t other,
                   const struct fr__wire *wire, unsigned n);

/* The same; messages between two GPUs whose way it is behave like that link of that system (NULL:
 * of none). */
void fr__wire_join_measured(struct fr_topo_builder *b, uint32_t one, uint32_t other,
                            const struct fr__wire *nvlink, unsigned n, const char *system,
                            const char *message);

#endif
