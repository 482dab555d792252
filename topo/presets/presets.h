/* topo/presets/presets.h - the machines we know, by name.
 *
 * A new one is a file, or a table in one, and a word in the list. list.c is the table of them all.
 */
#ifndef FR_TOPO_PRESETS_PRESETS_H
#define FR_TOPO_PRESETS_PRESETS_H

#include "topo/topo.h"

struct fr__preset {
    const char *name;    /* token [a-z0-9.-]+ */
    const char *summary; /* one line for help */
    /* What its NICs speak, "ib:100Gbps"; taken where a composition says none. */
    const char *network;
    /* What collectives over several of it behave like on that network, or NULL. */
    const char *network_system;
    uint32_t n_machines; /* that it has; 0: one */
    /* Adds them under the numbers from machine on; faults stay in the builder. */
    void (*build)(struct fr_topo_builder *b, uint32_t machine);
};

/* clang-format off */
#define FR__PRESETS(X)                                                                             \
    X(dgx1_p100) X(dgx1_v100) X(dgx1_v100_32g) X(p2_16xlarge) X(p3_16xlarge)                       \
    X(v100_own_x16) X(dgx2)                                                                        \
    X(dgx_a100_40g) X(dgx_a100_80g) X(hgx_h100) X(hgx_h200) X(gh200_quad)                          \
    X(hgx_b200) X(gb200_nvl72)
/* clang-format on */

#define FR__DECLARE_PRESET(id) extern const struct fr__preset fr__preset_##id;
FR__PRESETS(FR__DECLARE_PRESET)
#undef FR__DECLARE_PRESET

const struct fr__preset *fr__preset_find(const char *name); /* NULL: unknown */

/* Other names, the last row's NULL; topo/presets/aliases.csv. */
extern const struct fr_topo_alias fr__topo_aliases[];
/* The row of a word: a machine's other name, or a GPU's, "h100" or "8xh100", in any case. *n_gpus:
 * the number before a GPU's name, 0 without one. NULL: unknown. */
const struct fr_topo_alias *fr__topo_alias_find(const char *word, uint32_t *n_gpus);
/* The same where the word names a whole machine: of GPUs, as many as it has. */
const struct fr_topo_alias *fr__topo_alias_of_machine(const char *word);

#endif
