/* tests/support/nccl_case.h - reading ../shared/data/nccl: what NCCL itself found on 41 machines.
 * */
#ifndef FR_TESTS_SUPPORT_NCCL_CASE_H
#define FR_TESTS_SUPPORT_NCCL_CASE_H

#include "collectives/nccl/comm.h"

#include <stdio.h>

enum { NCCL_FIELDS = 16 };

/* A line of a file whose first four columns are version, system, nodes and p2p. */
struct nccl_row {
    char line[512], text[512];
    const char *field[NCCL_FIELDS]; /* into text */
    unsigned n_fields, nodes;
};

struct nccl_data; /* graphs.csv */

/* NULL, and a word on standard output: the data are not there. */
struct nccl_data *nccl_data_load(void);
void nccl_data_free(struct nccl_data *d);
/* The file, after its header; NULL: not there. */
FILE *nccl_data_open(const char *name);
bool nccl_row_read(FILE *f, struct nccl_row *row);
bool nccl_same_comm(const struct nccl_row *a, const struct nccl_row *b);
/* The communicator of a row, with the graphs that NCCL found; false: its machine is not in xml/, or
 * has one of the stated exceptions. */
bool nccl_data_comm(const struct nccl_data *d, const struct nccl_row *row,
                    struct fr__nccl_comm *out);
enum fr__nccl_path nccl_path_of(const char *name);
/* The path of a system's XML file into path. */
bool nccl_xml_path(const char *system, char *path, size_t n);

#endif
