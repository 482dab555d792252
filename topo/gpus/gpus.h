/* topo/gpus/gpus.h - what a format leaves out of a GPU or a host, by the device's type.
 *
 * A topology file knows what is plugged where. What a link carries, how much memory a GPU has and
 * what its board was measured at follow from what the device is. Every choice that the file did not
 * make is told by a note.
 */
#ifndef FR_TOPO_GPUS_GPUS_H
#define FR_TOPO_GPUS_GPUS_H

#include "topo/hosts/hosts.h"

/* How a GPU is joined to others, which tells models of one chip apart. */
enum fr__gpu_join {
    FR__JOIN_NONE,  /* PCIe only */
    FR__JOIN_PEERS, /* NVLink or xGMI from GPU to GPU */
    FR__JOIN_SWITCH /* NVLink to NVSwitch */
};

struct fr__gpu_facts {
    const char *type;                /* device type's name */
    int sm;                          /* compute capability, 80 for 8.0; AMD: 0 */
    const char *gcn;                 /* AMD's architecture, or NULL */
    uint16_t ids[4];                 /* PCI device numbers, ended by 0 */
    enum fr__gpu_join join;          /* as it is sold */
    unsigned n_links;                /* NVLinks of one GPU */
    const struct fr__wire *link;     /* one, between two GPUs; NULL: none */
    const struct fr__wire *switched; /* all n_links, to the NVSwitches; NULL: none */
    unsigned n_board;                /* GPUs of the board that the next two were measured on */
    const char *collectives;         /* inside a whole board of them; NULL: not measured */
    const char *messages[2]; /* between two over NVLink: of a system, a link; NULL: not measured */
    const struct fr__wire *pcie;     /* its slot */
    const struct fr__host *host;     /* of the machines it is mostly in */
    const char *network;             /* what the NICs of such machines mostly speak */
    const char *network_collectives; /* over whole boards on that network; NULL: not measured */
};

extern const struct fr__gpu_facts fr__gpus[];
extern const size_t fr__n_gpus;
/* AMD's device types (topo/gpus/amd): Forerun has no curves of them. */
extern const struct fr_device_type fr__amd_types[];
extern const size_t fr__n_amd_types;

/* What a file tells of a GPU. */
struct fr__gpu_clues {
    const char *type; /* the device type itself, which wins; NULL: unsaid */
    int64_t device;   /* PCI number, -1: unsaid */
    int64_t sm;       /* -1: unsaid */
    const char *gcn;  /* NULL: unsaid */
    enum fr__gpu_join join;
    bool has_c2c; /* to a Grace */
};

/* The facts of the GPU that fits the clues best, and how sure that is; NULL where nothing fits. */
enum fr__gpu_match {
    FR__MATCH_DEVICE, /* by its PCI number */
    FR__MATCH_MODEL,  /* by architecture and how it is joined: several models fit */
    FR__MATCH_CHIP,   /* by architecture alone */
    FR__MATCH_NEAREST /* an older architecture stands for it */
};
const struct fr__gpu_facts *fr__gpu_facts_find(const struct fr__gpu_clues *clues,
                                               enum fr__gpu_match *match);
/* The first with that many NVLinks, joined like that; NULL: none. */
const struct fr__gpu_facts *fr__gpu_facts_by_links(enum fr__gpu_join join, unsigned n_links);
/* All facts, NULL past the end. */
const struct fr__gpu_facts *fr__gpu_facts_at(size_t i);
/* The device type of the facts: built in, or one of AMD's. */
const struct fr_device_type *fr__gpu_facts_type(const struct fr__gpu_facts *f);

#endif
