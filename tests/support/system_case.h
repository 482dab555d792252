/* tests/support/system_case.h - systems whose parameters are known, for the tests of calibrate/. */
#ifndef FR_TESTS_SUPPORT_SYSTEM_CASE_H
#define FR_TESTS_SUPPORT_SYSTEM_CASE_H

#include "calibrate/messages/model.h"

/* What a call on one node takes. */
double system_case_s(const struct fr_system *s, enum fr_system_op op, unsigned n, double bytes,
                     bool is_summed);
/* One node of eight GPUs with rings and all-to-all, and sums in the switch if has_nvls. */
struct fr_system system_case_one_node(bool has_nvls);
/* A GPU of four on each node of a bus of 100 GB/s, with all ways: by hand with NCCL's constants. */
struct fr_system_nodes system_case_nodes(void);
/* A call of n GPUs on that many nodes. */
struct fr_system_call system_case_over_nodes(enum fr_system_op op, unsigned n, unsigned nodes,
                                             double bytes);
/* A file of this process's own in the working folder; the caller removes it. */
const char *system_case_path(void);

#endif
