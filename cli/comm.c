/* cli/comm.c - a collective over a range of sizes, as nccl-tests prints it. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"
#include "results/comm_table.h"

#include <string.h>

static enum fr_status list_algorithms(void)
{
    printf("%-22s %s\n", "nccl", "what NCCL's tuner would take, each collective");
    for (size_t i = 0; fr_collective_algorithm_name(i); i++)
        printf("%-22s %s\n", fr_collective_algorithm_name(i), fr_collective_algorithm_summary(i));
    printf("%-22s %s\n", "file:PATH", "your own, from a text file");
    return FR_OK;
}

enum fr_status cli_comm(struct session *s, struct fr_error *err)
{
    const struct options *o = &s->options;
    const struct fr_comm_question q = {.topology = o->question.topology,
                                       .kind = o->arguments[0],
                                       .n_gpus = o->question.n_gpus,
                                       .is_spread = o->question.is_spread,
                                       .devices = o->question.devices,
                                       .costs = o->question.costs,
                                       .min_bytes = o->comm_min_bytes ? o->comm_min_bytes : 8,
                                       .max_bytes = o->comm_max_bytes ? o->comm_max_bytes
                                                                      : (uint64_t)1 << 30,
                                       .factor = o->comm_factor ? o->comm_factor : 2,
                                       .way = o->question.way};
    struct fr_comm_table *t = NULL;

    if (strcmp(q.kind, "list") == 0)
        return list_algorithms();
    if (!q.topology)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no topology given (-t, --topology)");
    FR_TRY(fr_comm(&t, &q, &s->context, err));
    if (o->json)
        fr_comm_print_json(stdout, t);
    else
        fr_comm_print(stdout, t);
    fr_comm_free(t);
    return FR_OK;
}
