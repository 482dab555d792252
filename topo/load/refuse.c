/* topo/load/refuse.c - knows files that lie in the same folders as topologies and are none, to say
 * which file to take instead. */
#include "config.h"

#include "topo/import/import.h"
#include "topo/load/load.h"

#include <string.h>

enum fr_status fr__topo_refuse_others(const char *text, size_t len, const char *name,
                                      struct fr_error *err)
{
    struct fr_loc loc = {name, 1, 1};
    const char *begin = text + strspn(text, " \t\r\n");

    if (fr__xml_begins_with(text, len, "graphs"))
        return fr__fail(err, FR_EPARSE, loc,
                        "is a graph of NCCL, which says how rings go and not what the machine is: "
                        "what NCCL_TOPO_DUMP_FILE writes expected");
    if (*begin == '<')
        return fr__fail(err, FR_EPARSE, loc,
                        "is XML whose root is not of a topology that is known here: NCCL's "
                        "<system>, hwloc's <topology> or SimGrid's <platform>");
    if (*begin == '{' && strstr(text, "\"logical-dims\""))
        return fr__fail(err, FR_EPARSE, loc,
                        "is ASTRA-sim's file for ns-3, which has no rates: its analytical network "
                        "file (topology, npus_count, bandwidth, latency) expected");
    if (strncmp(begin, "Nodes ", 6) == 0)
        return fr__fail(err, FR_EPARSE, loc,
                        "is a topology of htsim, which is not read here: a fabric such as 'via "
                        "fat-tree:200Gbps,machines=2' says the same");
    return FR_OK;
}
