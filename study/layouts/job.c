/* study/layouts/job.c - what all layouts of a search share: the graph, the cluster, the GPUs and
 * the counts that bounds need; what would refuse every layout is refused here.
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/error.h"
#include "study/interval/measured.h"
#include "study/recipes/recipes.h"
#include "study/answer/record.h"
#include "study/question/slow.h"
#include "workloads/passes/shard.h"
#include "workloads/passes/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void count_params(struct fr__job *j)
{
    const struct fr_graph *g = j->setting.graph;

    for (size_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].phase == FR_PHASE_FORWARD)
            j->n_params += (double)g->ops[o].param_bytes / g->param_elem_bytes;
}

/* workloads/passes/recompute_groups.c: a softmax between two products. */
static bool has_core(const struct fr_graph *g)
{
    bool has_softmax = false, has_product = false;

    for (size_t o = 0; o < g->n_ops; o++) {
        has_softmax |= g->ops[o].kind == FR_OP_SOFTMAX && g->ops[o].phase == FR_PHASE_FORWARD;
        has_product |= g->ops[o].kind == FR_OP_BATCH_MATMUL && g->ops[o].phase == FR_PHASE_FORWARD;
    }
    return has_softmax && has_product;
}

static enum fr_status count_gpus(struct fr__job *j, struct fr_search_summary *m,
                                 struct fr_error *err)
{
    const struct fr_topo *t = j->setting.topo;
    uint32_t *devices = NULL;
    struct fr_problem problem;
    enum fr_status st;

    FR_TRY(fr__problem_make(&problem, &devices, &j->setting, &j->q, err));
    j->n_gpus = (uint32_t)problem.n_devices;
    j->global_batch = problem.global_batch;
    j->capacity_bytes = INFINITY;
    for (size_t i = 0; i < problem.n_devices; i++)
        j->capacity_bytes =
            fmin(j->capacity_bytes, (double)t->types[t->devices[devices[i]].type].mem_bytes);
    st = fr_topo_nics_of(t, devices, problem.n_devices, m->nics,
                         sizeof(m->nics) / sizeof(m->nics[0]), &m->n_nics, err);
    free(devices);
    return st;
}

/* What all layouts would be refused for: a recipe, names of devices, and measured steps that
 * cannot be read. */
static enum fr_status check_shared(const struct fr__job *j, struct fr_error *err)
{
    const struct fr_topo *t = j->setting.topo;
    const struct fr__measured_of of = {.model = j->q.workload ? j->q.workload : "",
                                       .graph = j->setting.graph->name,
                                       .gpu = t->types[t->devices[0].type].name,
                                       .dtype = j->setting.graph->dtype,
                                       .batch = 1};
    struct fr__measured *measured;
    struct fr_recipe *recipe = NULL;
    double *slow = NULL;
    enum fr_status st;

    FR_TRY(fr__recipe_check(&j->q, err));
    if (j->q.recipe && strcmp(j->q.recipe, "usual") != 0 &&
        strcmp(j->q.recipe, FR_RECIPE_DEFAULT) != 0)
        FR_TRY(fr_recipe_load(&recipe, j->q.recipe, err));
    fr_recipe_free(recipe);
    FR_TRY(fr__slow_devices(&slow, t, &j->q, err));
    free(slow);
    if (!j->q.measured)
        return FR_OK;
    measured = calloc(1, sizeof(*measured));
    st = measured ? fr__measured_read(measured, j->q.measured, &of, err) : fr__fail_nomem(err);
    free(measured);
    return st;
}

enum fr_status fr__job_make(struct fr_search *s, const struct fr_question *q, struct fr_error *err)
{
    const struct fr_session_options no_answers = {.answer_bytes = 0};
    struct fr__job *j = &s->job;
    struct fr__units u;

    j->q = *q;
    j->session = fr_session_new(&no_answers);
    if (!j->session)
        return fr__fail_nomem(err);
    FR_TRY(fr_session_setting(j->session, &j->q, &j->setting, err));
    FR_TRY(check_shared(j, err));
    FR_TRY(count_gpus(j, &s->summary, err));
    FR_TRY(fr__units_find(&u, j->setting.graph, err));
    j->n_units = u.n_units;
    fr__units_free(&u);
    j->n_experts = fr__shard_n_experts(j->setting.graph);
    j->has_core = has_core(j->setting.graph);
    count_params(j);
    return FR_OK;
}
