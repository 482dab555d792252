/* topo/import/smi_matrix.h - the matrix that `nvidia-smi topo -m` prints, as numbers.
 *
 * Source: NVIDIA's nvidia-smi manual, "topo"; the legend below each matrix.
 */
#ifndef FR_TOPO_IMPORT_SMI_MATRIX_H
#define FR_TOPO_IMPORT_SMI_MATRIX_H

#include "base/arena.h"
#include "base/base.h"

enum { FR__SMI_MAX = 256 }; /* GPUs and NICs of one machine */

/* Nearer is less. NVLinks are a number of their own, since they hide what PCIe is below. */
enum fr__smi_way {
    FR__SMI_SELF,
    FR__SMI_PIX,  /* at most one PCIe switch */
    FR__SMI_PXB,  /* several PCIe switches */
    FR__SMI_PHB,  /* a PCIe host bridge: the CPU */
    FR__SMI_NODE, /* host bridges of one NUMA domain */
    FR__SMI_SYS,  /* between sockets; SOC in old versions */
    FR__SMI_NVLINK
};

struct fr__smi_cell {
    enum fr__smi_way way;
    unsigned n_links; /* of NVLINK */
};

struct fr__smi_matrix {
    size_t n, n_gpus;                 /* GPUs come first */
    bool lacks_nics;                  /* their rows: what is between two NICs is unknown */
    const char *const *names;         /* [n] "GPU0", "mlx5_0", "NIC0" */
    const char *const *adapters;      /* [n] what the legend says NIC0 is, or NULL */
    const struct fr__smi_cell *cells; /* [n][n] */
    const char *const *cpus;          /* [n] "0-47,96-143", NULL where unsaid */
    const char *const *domains;       /* [n] NUMA number as text, NULL where unsaid */
    const struct fr_loc *locs;        /* [n] of the rows */
};

/* Whether a line of the text begins a matrix. */
bool fr__smi_matrix_is(const char *text, size_t len);

/* All memory belongs to the arena. FR_EPARSE, FR_ERANGE: a row too few, a code that is none, two
 * halves that differ, more than FR__SMI_MAX columns, each at its line; FR_ENOMEM. */
enum fr_status fr__smi_matrix_read(struct fr__arena *a, const char *text, size_t len,
                                   const char *name, const struct fr__smi_matrix **out,
                                   struct fr_error *err);
#endif
