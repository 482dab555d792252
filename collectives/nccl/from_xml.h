/* collectives/nccl/from_xml.h - an NCCL topology file as NCCL itself sees it. */
#ifndef FR_COLLECTIVES_NCCL_FROM_XML_H
#define FR_COLLECTIVES_NCCL_FROM_XML_H

#include "collectives/nccl/system.h"
#include "topo/import/nccl_xml.h"

/* Fills *s, empty before but for version and can_peer; fr__ns_finish is the caller's to call.
 * FR_ERANGE: more than such a machine may have; FR_ENOMEM. */
enum fr_status fr__ns_from_xml(struct fr__ns *s, const struct fr__nccl_system *x,
                               struct fr_error *err);
/* GB/s of one NVLink of a GPU (topo.h, ncclTopoNVLinkBw). */
float fr__ns_nvlink(unsigned version, unsigned sm);

#endif
