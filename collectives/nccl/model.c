/* collectives/nccl/model.c - NCCL's own estimate and choice, for people: see collectives.h. */
#include "config.h"

#include "collectives/collectives.h"
#include "collectives/nccl/from_topo.h"
#include "collectives/nccl/tuner.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct fr_nccl_model {
    struct fr__nccl_model table;
};

enum fr_status fr_nccl_model_new(struct fr_nccl_model **out, const struct fr_topo *t,
                                 const uint32_t devices[], uint32_t n, const char *version,
                                 struct fr_error *err)
{
    unsigned number = fr__nccl_version_parse(version ? version : "2.30");
    struct fr__nccl_comm comm;
    struct fr_nccl_model *m;

    if (number == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no NCCL '%s'; known are 2.5 and later",
                        version);
    FR_TRY(fr__nccl_comm_of(t, devices, n, number, &comm, NULL, err));
    m = calloc(1, sizeof(*m));
    if (!m)
        return fr__fail_nomem(err);
    fr__nccl_model_make(&m->table, &comm);
    *out = m;
    return FR_OK;
}

const char *fr_nccl_version_name(const char *version)
{
    return fr__nccl_version_name(version);
}

void fr_nccl_model_free(struct fr_nccl_model *m)
{
    free(m);
}

/* NCCL's algorithm of one of ours; FR__NCCL_N_ALGORITHMS: it has none such. */
static enum fr__nccl_algorithm algorithm_of(const struct fr_nccl_model *m,
                                            enum fr_collective_kind kind, const char *name)
{
    bool is_chain = kind == FR_BROADCAST || kind == FR_REDUCE;

    if (strcmp(name, is_chain ? "chain" : "ring") == 0)
        return FR__NCCL_ALGO_RING;
    if (strcmp(name, "tree") == 0)
        return FR__NCCL_ALGO_TREE;
    if (strcmp(name, "nvls") == 0)
        return m->table.comm.n_nodes > 1 ? FR__NCCL_ALGO_NVLS_TREE : FR__NCCL_ALGO_NVLS;
    return strcmp(name, "pat") == 0 ? FR__NCCL_ALGO_PAT : FR__NCCL_N_ALGORITHMS;
}

static bool choose(const struct fr_nccl_model *m, enum fr_collective_kind kind, double bytes,
                   const struct fr_collective_options *o, struct fr__nccl_choice *out)
{
    enum fr__nccl_protocol only =
        o->protocol ? fr__nccl_protocol_parse(o->protocol) : FR__NCCL_N_PROTOCOLS;
    enum fr__nccl_algorithm a;

    if (!o->algorithm || strcmp(o->algorithm, "nccl") == 0)
        return fr__nccl_choose_for(&m->table, kind, bytes, only, !o->no_switch_sums, out);
    a = algorithm_of(m, kind, o->algorithm);
    return a < FR__NCCL_N_ALGORITHMS && fr__nccl_choose(&m->table, kind, bytes, a, only, out);
}

bool fr_nccl_model_choose(const struct fr_nccl_model *m, enum fr_collective_kind kind, double bytes,
                          const struct fr_collective_options *o, struct fr_nccl_choice *out)
{
    struct fr__nccl_choice c;

    if (!choose(m, kind, bytes, o, &c))
        return false;
    *out = (struct fr_nccl_choice){.algorithm = fr__nccl_algorithm_name(c.algorithm),
                                   .protocol = fr__nccl_protocol_name(c.protocol),
                                   .channels = c.channels,
                                   .threads = c.threads,
                                   .time_s = 1e-6 * c.time_us};
    return true;
}
