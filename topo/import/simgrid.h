/* topo/import/simgrid.h - what the readers of SimGrid platforms share. */
#ifndef FR_TOPO_IMPORT_SIMGRID_H
#define FR_TOPO_IMPORT_SIMGRID_H

#include "topo/import/simgrid_graph.h"

struct fr__sg_reader {
    struct fr__sg graph;
    struct fr__sketch *s;
    uint32_t n_hosts;
};

/* A quantity with SimGrid's units ("125MBps", "50us", "1Gf"); what is missing is the fallback,
 * NULL: must be there. */
enum fr_status fr__sg_rate(const struct fr__xml *x, const char *key, const char *fallback,
                           double *out_Bps, struct fr_error *err);
enum fr_status fr__sg_time(const struct fr__xml *x, const char *key, const char *fallback,
                           double *out_s, struct fr_error *err);
/* SHARED, SPLITDUPLEX or FATPIPE; the fallback where it is missing. */
enum fr_status fr__sg_read_policy(const struct fr__xml *x, const char *key,
                                  enum fr__sg_policy fallback, enum fr__sg_policy *out,
                                  struct fr_error *err);
/* n hosts of speed times cores flop/s (attributes of x), each a machine of one GPU; the first is
 * machine *first. */
enum fr_status fr__sg_hosts(struct fr__sg_reader *r, const struct fr__xml *x, uint32_t n,
                            uint32_t *first);
/* Host number `host` of all is called so in the file; its vertex. */
enum fr_status fr__sg_name_host(struct fr__sg_reader *r, uint32_t host, const char *id,
                                struct fr_loc loc, uint32_t *vertex);

/* <cluster>: hosts, router and links of any shape that is known (simgrid_cluster.c). */
enum fr_status fr__sg_cluster(struct fr__sg_reader *r, const struct fr__xml *x);

#endif
