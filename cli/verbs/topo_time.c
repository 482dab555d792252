/* cli/verbs/topo_time.c - what one collective takes on a cluster. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"
#include "results/results.h"

enum fr_status cli_topo_time(struct session *s, struct fr_error *err)
{
    const struct options *o = &s->options;
    const struct fr_collective_question q = {.topology = o->arguments[0],
                                             .kind = o->arguments[1],
                                             .sizes = o->arguments + 2,
                                             .n_sizes = o->n_arguments - 2,
                                             .n_gpus = o->question.n_gpus,
                                             .is_spread = o->question.is_spread,
                                             .allow_implausible = o->question.allow_implausible,
                                             .devices = o->question.devices,
                                             .costs = o->question.costs};
    struct fr_collective_times *t = NULL;
    enum fr_status st = FR_OK;

    FR_TRY(fr_collective_times(&t, &q, &s->context, err));
    if (o->json)
        fr_collective_times_print_json(stdout, t);
    else
        st = fr_collective_times_print(stdout, t, err);
    fr_collective_times_free(t);
    return st;
}
