/* topo/import/nccl_xml.h - an NCCL topology file as a typed tree: what the file says, no more.
 *
 * NCCL writes the file with NCCL_TOPO_DUMP_FILE and reads it with NCCL_TOPO_FILE; RCCL's has the same
 * grammar with some names of its own. The tree keeps the order of the file, since NCCL numbers GPUs
 * and breaks ties by it. It is neutral: nccl.c makes a machine of Forerun of it, and a model of
 * NCCL's own graph may be made of it as well. What the file leaves out is told by a value that no
 * file has (FR__NCCL_UNSAID, or NULL), never by a default.
 *
 * Source:  NVIDIA/nccl 2.30.7, src/graph/xml.cc (grammar), topo.h and topo.cc (units); ROCm/rccl,
 *          tools/topo_expl/models (its names).
 * Grammar: system > cpu* > (pci | nic)*;  pci > (pci | gpu | nic | pcilink)*;
 *          gpu > (nvlink | xgmi | c2c)*;  nic > net*.  Other elements are passed over.
 */
#ifndef FR_TOPO_IMPORT_NCCL_XML_H
#define FR_TOPO_IMPORT_NCCL_XML_H

#include "base/arena.h"
#include "base/base.h"
#include "base/xml.h"

enum { FR__NCCL_UNSAID = -1 }; /* of a whole number that is never negative in a file */

enum fr__nccl_tag {
    FR__NCCL_SYSTEM,
    FR__NCCL_CPU,
    FR__NCCL_PCI,
    FR__NCCL_GPU,
    FR__NCCL_NVLINK, /* RCCL's xgmi too */
    FR__NCCL_C2C,
    FR__NCCL_NIC,
    FR__NCCL_NET,
    FR__NCCL_PCILINK
};

enum fr__nccl_arch { FR__NCCL_ARCH_UNSAID, FR__NCCL_X86, FR__NCCL_ARM, FR__NCCL_POWER };
enum fr__nccl_vendor {
    FR__NCCL_VENDOR_UNSAID, /* or one that NCCL does not know */
    FR__NCCL_INTEL,
    FR__NCCL_AMD,
    FR__NCCL_ZHAOXIN
};

/* What a PCI class means to NCCL (topo.cc, kvDictPciClass). */
enum fr__nccl_pci_kind {
    FR__NCCL_PCI_UNSAID, /* the file has no class */
    FR__NCCL_PCI_SWITCH,
    FR__NCCL_PCI_NVSWITCH,
    FR__NCCL_PCI_CPU_BRIDGE, /* NVLink to a POWER CPU */
    FR__NCCL_PCI_GPU,
    FR__NCCL_PCI_NIC
};

/* One NUMA domain. */
struct fr__nccl_cpu {
    int64_t numa_id;
    const char *affinity; /* hex words with commas, or NULL */
    uint64_t host_hash;   /* 0: unsaid */
    enum fr__nccl_arch arch;
    enum fr__nccl_vendor vendor;
    int64_t family_id, model_id; /* of x86; may be FR__NCCL_UNSAID */
};

struct fr__nccl_pci {
    const char *busid; /* as written, "0000:10:00.0" */
    uint64_t address;  /* its hexadecimal digits as one number, as NCCL compares them */
    enum fr__nccl_pci_kind kind;
    uint32_t class_code;    /* 0x030200; 0: unsaid */
    int64_t vendor, device; /* 0x10de, 0x20b0; may be FR__NCCL_UNSAID */
    int64_t sub_vendor, sub_device;
    const char *link_speed; /* "16.0 GT/s PCIe", NULL: unsaid or "Unknown" */
    double link_GTps;       /* 2.5, 5, 8, 16, 32 or 64; 0: unsaid */
    int64_t link_width;     /* lanes; 0 or FR__NCCL_UNSAID: NCCL takes 16 */
};

struct fr__nccl_gpu {
    int64_t dev;  /* CUDA's number; each may be FR__NCCL_UNSAID */
    int64_t sm;   /* compute capability, 80 for 8.0; of RCCL: compute units */
    int64_t rank; /* NCCL leaves a GPU without rank out */
    int64_t gdr;  /* GPUDirect RDMA, 0 or 1 */
    int64_t gcn;  /* RCCL's architecture: 906, 908, 910 (gfx90a), 940, ... */
};

/* Parallel links from the GPU around it; NCCL adds up several elements with one target. */
struct fr__nccl_nvlink {
    const char *target; /* bus number */
    uint64_t address;
    enum fr__nccl_pci_kind kind; /* of the target by tclass: GPU, NVSwitch or CPU bridge */
    int64_t count;
    const struct fr__nccl_node *gpu; /* the <gpu> at the target, or NULL */
};

/* GPU to the CPU that it hangs below. */
struct fr__nccl_c2c {
    double bw_MBps; /* of one link */
    int64_t count;
};

struct fr__nccl_net {
    const char *name;  /* "mlx5_0", or NULL */
    int64_t dev;       /* NCCL leaves a port without dev out; may be FR__NCCL_UNSAID */
    double speed_Mbps; /* 0: unsaid, NCCL takes 10000 */
    int64_t port;
    double latency_us; /* 0: unsaid */
    uint64_t guid;
    bool has_guid;     /* ports of one guid are one adapter */
    int64_t gdr, coll; /* 0 or 1, FR__NCCL_UNSAID */
    int64_t max_connections;
    int64_t rail, plane; /* may be FR__NCCL_UNSAID */
};

struct fr__nccl_pcilink {
    const char *target;
    uint64_t address;
};

struct fr__nccl_node {
    enum fr__nccl_tag tag;
    struct fr_loc loc;
    const struct fr__nccl_node *parent; /* NULL for the system */
    size_t n;                           /* elements directly inside that are known */
    const struct fr__nccl_node *const *items;
    union {
        struct fr__nccl_cpu cpu;
        struct fr__nccl_pci pci;
        struct fr__nccl_gpu gpu;
        struct fr__nccl_nvlink nvlink;
        struct fr__nccl_c2c c2c;
        struct fr__nccl_net net;
        struct fr__nccl_pcilink pcilink;
    } u; /* by tag; SYSTEM and NIC have none */
};

struct fr__nccl_system {
    const char *file; /* as it was named */
    int64_t version;
    bool is_rccl; /* version 2, or a gcn or xgmi somewhere */
    const struct fr__nccl_node *root;
    size_t n_nodes; /* in the tree, the root included */
    size_t n_cpus, n_gpus, n_nets;
    const struct fr__nccl_node *const *gpus; /* [n_gpus] in order of the file */
    const struct fr__nccl_node *const *nets; /* [n_nets] in order of the file */
    size_t n_skipped;                        /* elements that NCCL does not know either */
    const char *skipped;                     /* name of the first, or NULL */
};

/* Whether the document's root is what such a file begins with. */
bool fr__nccl_xml_is(const struct fr__xml *root);

/* The tree; all memory belongs to the arena.
 * FR_EPARSE, FR_ERANGE: not such a file, an attribute that NCCL needs is missing (numaid, busid), a
 * number or link speed that no machine has, one bus number twice, more than 4096 elements;
 * FR_ENOMEM. *out is set on FR_OK only. */
enum fr_status fr__nccl_xml_parse(struct fr__arena *a, const struct fr__xml *root,
                                  const struct fr__nccl_system **out, struct fr_error *err);
/* The same of a text, or a file, as fr__xml_load reads it. */
enum fr_status fr__nccl_xml_load_text(struct fr__arena *a, const char *text, size_t len,
                                      const char *name, const struct fr__nccl_system **out,
                                      struct fr_error *err);
enum fr_status fr__nccl_xml_load(struct fr__arena *a, const char *path,
                                 const struct fr__nccl_system **out, struct fr_error *err);

/* The GPU's own PCI element, or NULL where the file has it elsewhere. */
const struct fr__nccl_node *fr__nccl_pci_of(const struct fr__nccl_node *node);
/* The NUMA domain above a node, or NULL (of the system). */
const struct fr__nccl_node *fr__nccl_cpu_of(const struct fr__nccl_node *node);
/* What NCCL counts on a PCIe link, bytes per second and direction: lanes x 0.75 GB/s for 8 GT/s and
 * in proportion (topo.cc, kvDictPciGen); what is unsaid is 8 GT/s and 16 lanes. */
double fr__nccl_pcie_Bps(const struct fr__nccl_pci *pci);

#endif
