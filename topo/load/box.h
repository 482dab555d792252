/* topo/load/box.h - a machine of PCIe cards in one word, "box:8xa40,switch=4,bridge".
 *
 *   box    = "box:" COUNT "x" TYPE { "," option }
 *   option = "switch=" CARDS | "sockets=" 1..2 | "nics=" COUNT | "bridge"
 *
 * Cards have a slot of their own on a socket, or share the uplink of a PCIe switch by `switch`
 * cards. `bridge` joins every two neighbours by all NVLinks that a card has. Slots, host, NVLinks
 * and network are those that the importers take for the type (topo/gpus/gpus.yaml).
 */
#ifndef FR_TOPO_LOAD_BOX_H
#define FR_TOPO_LOAD_BOX_H

#include "topo/gpus/gpus.h"

struct fr__box {
    const struct fr__gpu_facts *card;
    uint32_t n_cards, n_sockets, n_nics;
    uint32_t per_switch; /* 0: no switches */
    bool has_bridges;
};

/* Whether the word names a box. */
bool fr__box_is(const char *word);
/* FR_EPARSE, FR_ERANGE: what is wrong with it; FR_ENOENT: an unknown type; FR_EUSAGE: one that is
 * no card. */
enum fr_status fr__box_parse(struct fr__box *out, const char *word, struct fr_error *err);
/* Adds it as that machine; faults stay in the builder. */
void fr__box_build(const struct fr__box *box, struct fr_topo_builder *b, uint32_t machine);

#endif
