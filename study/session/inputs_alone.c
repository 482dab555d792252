/* study/session/inputs_alone.c - loads the inputs of a question that has no session, and releases
 * settings of both kinds. */
#include "config.h"

#include "base/error.h"
#include "study/session/kept.h"
#include "study/question/loading.h"
#include "study/recipes/recipes.h"
#include "workloads/load.h"

enum fr_status fr_setting_load(struct fr_setting *out, const struct fr_question *q,
                               struct fr_error *err)
{
    const struct fr_workload_options opt = fr_question_workload(q);
    struct fr_setting s = {.topo = NULL};
    enum fr_status st;

    *out = s;
    FR_TRY(fr__question_check(q, err));
    FR_TRY(fr_topo_load_less(&s.topo, q->topology, q->degrade,
                             fr__recipe_form(q).transport == FR_TRANSPORT_SOCKETS, err));
    st = fr__workload_load_in(&s.graph, q->workload, &opt, q->formats, err);
    if (st == FR_OK)
        st = fr__costs_load(&s.costs, s.topo, s.graph, q, err);
    if (st == FR_OK)
        *out = s;
    else
        fr_setting_fini(&s);
    return st;
}

enum fr_status fr_question_graph(struct fr_graph **out, const struct fr_question *q,
                                 const struct fr_workload_options *opt, struct fr_error *err)
{
    return fr__workload_load_in(out, q->workload, opt, q->formats, err);
}

void fr_setting_fini(struct fr_setting *s)
{
    if (s->session) {
        fr__session_take_back(s->session, s);
    } else {
        fr_graph_free(s->graph);
        fr_cost_model_free(s->costs);
        fr_topo_free(s->topo);
    }
    *s = (struct fr_setting){.topo = NULL};
}
