/* results/parts/nics.h - the NICs of machines, in the words of tables and reports. */
#ifndef FR_RESULTS_PARTS_NICS_H
#define FR_RESULTS_PARTS_NICS_H

#include "results/results.h"

enum { FR__NICS_TEXT = 1024 }; /* bytes, with the end */

/* "8 x 400 Gbit/s, PCIe 48 GB/s (PCIe limits)"; kinds are told apart by ";". n 0: "". Returns
 * buf. */
const char *fr__nics_text(const struct fr_topo_nics nics[], size_t n, char buf[FR__NICS_TEXT]);
/* Of topology i of a sweep, "NICs of a machine: 8 x 400 Gbit/s". Where topologies differ in their
 * NICs the line names the topology: "NICs of a machine of 2x dgx2: 8 x 100 Gbit/s". "" where it has
 * none between its machines, or one before it has the same line. Returns buf. */
const char *fr__sweep_nics_text(const struct fr_sweep *s, size_t i, char buf[FR__NICS_TEXT]);
#endif
