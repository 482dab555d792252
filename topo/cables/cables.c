/* topo/cables/cables.c - joins two vertices by cables. */
#include "config.h"

#include "topo/cables/cables.h"

void fr__wire_join(struct fr_topo_builder *b, enum fr_link_kind kind, uint32_t one, uint32_t other,
                   const struct fr__wire *wire, unsigned n)
{
    fr__topo_builder_cable(b, kind, one, other, n * wire->bw_Bps, wire->latency_s, wire->source);
}

void fr__wire_join_measured(struct fr_topo_builder *b, uint32_t one, uint32_t other,
                            const struct fr__wire *nvlink, unsigned n, const char *system,
                            const char *message)
{
    uint32_t link = fr_topo_builder_link(b, FR_LINK_NVLINK, one, other, n * nvlink->bw_Bps,
                                         nvlink->latency_s, true, nvlink->source, FR_NOWHERE);

    if (link == FR_NONE || !system)
        return;
    fr_topo_builder_message(b, link, system, message, FR_NOWHERE);
    fr_topo_builder_message(b, link + 1, system, message, FR_NOWHERE);
}
