/* topo/machines/machines.h - the machines we know, by name.
 *
 * A machine is a file of figures, topo/machines/NAME.yaml; the build makes a constant table of them
 * (machine.schema.yaml says the keys). How its parts are wired is a rule, one of wiring.c.
 */
#ifndef FR_TOPO_MACHINES_MACHINES_H
#define FR_TOPO_MACHINES_MACHINES_H

#include "topo/hosts/hosts.h"

enum { FR__MESH_GPUS = 8 };

struct fr__preset {
    const char *name;    /* token [a-z0-9.-]+ */
    const char *summary; /* one line for help */
    /* What its NICs speak, "ib:100Gbps"; taken where a composition says none. */
    const char *network;
    /* What collectives over several of it behave like on that network, or NULL. */
    const char *network_system;
    uint32_t n_machines; /* that it has; 0: one */
    /* The rule of its wiring: adds them under the numbers from machine on; faults stay in the
     * builder. */
    void (*build)(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *self);
    const char *gpu;                                     /* device type */
    const struct fr__wire *nvlink;                       /* one, or all of a GPU to its switches */
    unsigned char nvlinks[FR__MESH_GPUS][FR__MESH_GPUS]; /* cube mesh: how many between two GPUs */
    const struct fr__wire *boards;                       /* between the switches of two boards */
    const struct fr__wire *c2c;                          /* from a GPU to its Grace */
    const char *collectives; /* inside, a system of calibrate/systems; NULL: not measured */
    const char *messages[2]; /* over an NVLink: of a system, a link; NULL: not measured */
    unsigned last_nvswitch;  /* the vertex is called "nvswitch0-<last>" */
    const struct fr__host *host;
    const char *cpu;             /* instead of the host's; NULL: the host's */
    const struct fr__wire *pcie; /* of GPUs, switches and NICs */
    const struct fr__wire *die;  /* from a die to its board's switch */
    unsigned n_pcie_switches;    /* 0: a GPU has its own slot */
    bool has_one_nic;            /* on the first socket, instead of some on each PCIe switch */
};

extern const struct fr__preset fr__presets[];
extern const size_t fr__n_presets;

const struct fr__preset *fr__preset_find(const char *name); /* NULL: unknown */

/* The rules (wiring.c). */
typedef void fr__wiring(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m);
fr__wiring fr__wire_cube_mesh, fr__wire_nvswitch, fr__wire_nvswitch_boards, fr__wire_nvswitch_rack,
    fr__wire_every_pair, fr__wire_every_pair_of_8, fr__wire_k80_boards;

/* Other names, the last row's NULL; topo/machines/aliases.csv. */
extern const struct fr_topo_alias fr__topo_aliases[];
/* The row of a word: a machine's other name, or a GPU's, "h100" or "8xh100", in any case. *n_gpus:
 * the number before a GPU's name, 0 without one. NULL: unknown. */
const struct fr_topo_alias *fr__topo_alias_find(const char *word, uint32_t *n_gpus);
/* The same where the word names a whole machine: of GPUs, as many as it has. */
const struct fr_topo_alias *fr__topo_alias_of_machine(const char *word);

/* A machine that clouds rent and that has no preset: how it is written; topo/machines/rented.csv,
 * the last row's name NULL. */
struct fr__rented {
    const char *name;  /* in any case; ends with . - or _: of all sizes that no other row has */
    const char *write; /* "box:8xa10g" */
    const char *nics;  /* what joins several, "eth:100Gbps"; "": the machine's own */
    const char *says;  /* what it is, in words */
};
extern const struct fr__rented fr__topo_rented[];
/* A name without Azure's "Standard_". */
const char *fr__topo_plain_name(const char *word);
/* The row of a word; NULL: unknown. */
const struct fr__rented *fr__topo_rented_find(const char *word);
/* A machine's name here of the same kind: of a word that is the name of a cloud's machine in
 * another size ("p4d.8xlarge") or without size ("p5"), the name with the same GPUs. NULL:
 * unknown. */
const char *fr__topo_same_kind(const char *word);
/* Whether a word looks like a name that a cloud gives its machines, so that spelling alone says
 * nothing of its GPUs: "x9.48xlarge", "a9-highgpu-8g", "Standard_NC6". */
bool fr__topo_is_rented(const char *word);

#endif
