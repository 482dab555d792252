/* tests/support/topo_case.h - loading topologies, finding links, for the tests of topo/load/. */
#ifndef FR_TESTS_SUPPORT_TOPO_CASE_H
#define FR_TESTS_SUPPORT_TOPO_CASE_H

#include "topo/topo.h"

/* A text that must be refused. */
struct topo_case_refusal {
    const char *text;
    enum fr_status status;
    const char *sentence; /* a part of it */
};

/* Fails the test where one of the texts is not refused so. */
void topo_case_refuse(const struct topo_case_refusal cases[], size_t n);

/* Fails the test where it does not load. The caller frees it. */
struct fr_topo *topo_case_load(const char *spec);
/* NULL: no link of that name. */
const struct fr_link *topo_case_link(const struct fr_topo *t, const char *name);
/* For fr_topo_check: prints what is wrong. */
void topo_case_print(void *user, const char *line);
/* Makes a file of the text; the caller removes it. */
void topo_case_write(const char *path, const char *text);

#endif
