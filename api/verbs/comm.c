/* api/verbs/comm.c - a collective over a range of sizes as nccl-tests prints it, or by each of our
 * models (`topo time`); how it goes. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "api/verbs/verbs.h"
#include "results/results.h"

#include <stdlib.h>
#include <string.h>

static enum fr_status list_algorithms(FILE *f)
{
    fprintf(f, "%-22s %s\n", "auto", "a fitted time where there is one, else nccl");
    fprintf(f, "%-22s %s\n", "nccl", "what NCCL's tuner would take, each collective");
    for (size_t i = 0; fr_collective_algorithm_name(i); i++)
        fprintf(f, "%-22s %s\n", fr_collective_algorithm_name(i),
                fr_collective_algorithm_summary(i));
    fprintf(f, "%-22s %s\n", "file:PATH", "your own, from a text file");
    return FR_OK;
}

static struct fr_comm_question question_of(const struct fr__options *o)
{
    return (struct fr_comm_question){.topology = o->question.topology,
                                     .kind = o->arguments[0],
                                     .n_gpus = o->question.n_gpus,
                                     .is_spread = o->question.is_spread,
                                     .devices = o->question.devices,
                                     .costs = o->question.costs,
                                     .min_bytes = o->comm_min_bytes ? o->comm_min_bytes : 8,
                                     .max_bytes =
                                         o->comm_max_bytes ? o->comm_max_bytes : (uint64_t)1 << 30,
                                     .factor = o->comm_factor ? o->comm_factor : 2,
                                     .step_bytes = o->comm_factor ? 0 : o->comm_step_bytes,
                                     .sizes = o->n_comm_sizes ? o->comm_sizes : NULL,
                                     .n_sizes = o->n_comm_sizes,
                                     .type = o->comm_type,
                                     .op = o->comm_op,
                                     .wants_links = o->comm_links,
                                     .way = o->question.way,
                                     .allow_implausible = o->question.allow_implausible};
}

static enum fr_status explain(struct fr__call *s, const struct fr_comm_question *q,
                              struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_comm_explanation *explanation = NULL;
    enum fr_status st;

    if (o->n_comm_ways > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--explain' takes one algorithm, not %zu", o->n_comm_ways);
    FR_TRY(fr__check_files(o, FR_KIND_COMM_EXPLANATION, err));
    FR_TRY(fr_comm_explain(&explanation, q, &s->context, err));
    st = fr__show(s, fr_shown_comm_explanation(explanation), err);
    fr_comm_explanation_free(explanation);
    return st;
}

static enum fr_status tables(struct fr__call *s, struct fr_comm_question q, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_comm_table *t[FR__MOST_WAYS] = {NULL};
    size_t n = o->n_comm_ways ? o->n_comm_ways : 1;
    enum fr_status st = FR_OK;

    FR_TRY(fr__check_files(o, FR_KIND_CURVES, err));
    for (size_t i = 0; i < n && st == FR_OK; i++) {
        q.way.algorithm = o->comm_ways[i];
        st = fr_comm(&t[i], &q, &s->context, err);
    }
    if (st == FR_OK)
        st = fr__show(s, fr_shown_curves(&(struct fr_curves_answer){t, n, o->comm_links}), err);
    for (size_t i = 0; i < n; i++)
        fr_comm_free(t[i]);
    return st;
}

enum fr_status fr__verb_comm(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_comm_question q = question_of(o);

    if (strcmp(q.kind, "list") == 0 && (o->json || o->n_files > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'forerun comm list' writes a table only: no --json, no files");
    if (strcmp(q.kind, "list") == 0)
        return list_algorithms(s->out);
    if (!q.topology)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no topology given (-t, --topology)");
    if (o->comm_factor && o->comm_step_bytes)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "options '--stepfactor' and '--stepbytes' exclude each other");
    q.way.algorithm = o->comm_ways[0];
    return o->comm_explain ? explain(s, &q, err) : tables(s, q, err);
}

enum fr_status fr__verb_topo_time(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_comm_question q = question_of(o);
    uint64_t *sizes = malloc((o->n_arguments + 1) * sizeof(*sizes));
    enum fr_status st = sizes ? FR_OK : fr__fail_nomem(err);

    q.topology = o->arguments[0];
    q.kind = o->arguments[1];
    q.is_by_models = true;
    q.sizes = sizes;
    q.n_sizes = o->n_arguments - 2;
    for (size_t i = 0; i < q.n_sizes && st == FR_OK; i++)
        st = fr__parse_bytes(o->arguments[2 + i], "the size", FR_NOWHERE, &sizes[i], err);
    if (st == FR_OK)
        st = tables(s, q, err);
    free(sizes);
    return st;
}
