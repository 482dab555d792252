/* study/session/inputs.c - two lists of loaded inputs behind one lock. */
#include "config.h"

#include "study/session/inputs.h"

#include "base/arena.h"
#include "base/error.h"
#include "calibrate/cost/memo.h"
#include "lowering/params.h"
#include "study/question/loading.h"
#include "study/recipes/recipes.h"
#include "workloads/load.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum state { LOADING, LOADED, REFUSED };

/* A workload or a topology, by the parts of a question that name it. */
struct input {
    enum state state;
    char *name;
    char *profile_device; /* as the question has it, or NULL */
    char *costs;          /* topologies: likewise */
    char *degrade;        /* topologies: likewise */
    char *profile; /* topologies: the workload whose samples the cost model may move, or NULL */
    uint32_t seq_len, image_size; /* workloads */
    char *tune;                   /* workloads: as the question has it, or NULL */
    struct fr__recipe_form form;  /* of it what concerns its list */
    enum fr_dtype dtype;
    char *formats;
    bool allow_implausible;
    struct fr_topo *topo; /* with its cost model; or */
    struct fr_cost_model *cost_model;
    struct fr_graph *graph;
    uint64_t id;                  /* graphs: a number that no other graph of the session has */
    struct fr__tools *idle_tools; /* topologies */
    size_t n_users;
    uint64_t given_back; /* when it was given back, counted in gives */
    struct fr_error why; /* REFUSED */
};

struct list {
    bool is_of_topos;
    size_t n, cap, n_idle_max;
    struct input **inputs;
};

struct fr__inputs {
    pthread_mutex_t lock;
    pthread_cond_t loaded;
    uint64_t clock, n_loaded;
    struct list topos, graphs;
};

/* How many unused inputs are kept. A sweep goes through its topologies again for each workload, and
 * all presets fit; graphs are larger. */
enum { IDLE_TOPOS = 24, IDLE_GRAPHS = 8, MOST_IDLE_TASKS = 1 << 18 };

struct fr__inputs *fr__inputs_new(void)
{
    struct fr__inputs *in = calloc(1, sizeof(*in));

    if (!in)
        return NULL;
    in->topos = (struct list){.is_of_topos = true, .n_idle_max = IDLE_TOPOS};
    in->graphs = (struct list){.is_of_topos = false, .n_idle_max = IDLE_GRAPHS};
    if (pthread_mutex_init(&in->lock, NULL) == 0) {
        if (pthread_cond_init(&in->loaded, NULL) == 0)
            return in;
        pthread_mutex_destroy(&in->lock);
    }
    free(in);
    return NULL;
}

static void free_input(struct input *x)
{
    if (!x)
        return;
    assert(x->n_users == 0);
    while (x->idle_tools) {
        struct fr__tools *t = x->idle_tools;

        x->idle_tools = t->next;
        fr__tools_free(t);
    }
    fr_cost_model_free(x->cost_model);
    fr_topo_free(x->topo);
    fr_graph_free(x->graph);
    free(x->name);
    free(x->formats);
    free(x->costs);
    free(x->degrade);
    free(x->profile_device);
    free(x->tune);
    free(x->profile);
    free(x);
}

static void free_list(struct list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free_input(l->inputs[i]);
    free(l->inputs);
}

void fr__inputs_free(struct fr__inputs *in)
{
    if (!in)
        return;
    free_list(&in->topos);
    free_list(&in->graphs);
    pthread_cond_destroy(&in->loaded);
    pthread_mutex_destroy(&in->lock);
    free(in);
}

/* ---- one list ---- */

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The workload if it has samples, else NULL: all others share a cost model. */
static const char *profile_of(const struct fr_graph *g, const struct fr_question *q)
{
    return g && g->n_samples > 0 ? q->workload : NULL;
}

/* g: of a topology, the workload that its cost model is for. */
static bool is_wanted(const struct list *l, const struct input *x, const struct fr_question *q,
                      const struct fr__recipe_form *form, const struct fr_graph *g)
{
    if (x->state == REFUSED && x->why.code == FR_ENOMEM)
        return false; /* it may be there next time */
    if (!is_same(x->profile_device, q->profile_device))
        return false;
    if (l->is_of_topos)
        return strcmp(x->name, q->topology) == 0 && is_same(x->costs, q->costs) &&
               x->allow_implausible == q->allow_implausible && is_same(x->degrade, q->degrade) &&
               x->form.transport == form->transport && is_same(x->profile, profile_of(g, q));
    return strcmp(x->name, q->workload) == 0 && x->seq_len == q->seq_len &&
           x->image_size == q->image_size && x->dtype == q->dtype &&
           is_same(x->formats, q->formats) && x->form.is_tf1 == form->is_tf1 &&
           x->form.fusions == form->fusions && x->form.layout == form->layout &&
           is_same(x->tune, q->tune);
}

/* What of a question's form concerns a list. */
static struct fr__recipe_form form_of(const struct list *l, const struct fr_question *q)
{
    struct fr__recipe_form form = fr__recipe_form(q);

    return l->is_of_topos ? (struct fr__recipe_form){.transport = form.transport} : form;
}

static struct input *find(const struct list *l, const struct fr_question *q,
                          const struct fr_graph *g)
{
    const struct fr__recipe_form form = form_of(l, q);

    for (size_t i = 0; i < l->n; i++)
        if (is_wanted(l, l->inputs[i], q, &form, g))
            return l->inputs[i];
    return NULL;
}

/* Drops the inputs used longest ago while too many are unused. */
static void drop_idle(struct list *l)
{
    for (;;) {
        size_t n_idle = 0, oldest = 0;

        for (size_t i = 0; i < l->n; i++) {
            if (l->inputs[i]->n_users > 0)
                continue;
            if (n_idle == 0 || l->inputs[i]->given_back < l->inputs[oldest]->given_back)
                oldest = i;
            n_idle++;
        }
        if (n_idle <= l->n_idle_max)
            return;
        free_input(l->inputs[oldest]);
        l->inputs[oldest] = l->inputs[--l->n];
    }
}

/* false: out of memory. */
static bool copy(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

/* A new member of the list, being loaded and counted as used. */
static struct input *add(struct list *l, const struct fr_question *q, const struct fr_graph *g,
                         struct fr_error *err)
{
    struct input *x = calloc(1, sizeof(*x));

    if (x && fr__grow(&l->inputs, &l->cap, l->n + 1, sizeof(struct input *))) {
        *x = (struct input){.state = LOADING,
                            .seq_len = q->seq_len,
                            .image_size = q->image_size,
                            .dtype = q->dtype,
                            .form = form_of(l, q),
                            .allow_implausible = q->allow_implausible,
                            .n_users = 1};
        if (copy(&x->name, l->is_of_topos ? q->topology : q->workload) &&
            copy(&x->profile_device, q->profile_device) &&
            copy(&x->formats, l->is_of_topos ? NULL : q->formats) &&
            copy(&x->tune, l->is_of_topos ? NULL : q->tune) &&
            copy(&x->costs, l->is_of_topos ? q->costs : NULL) &&
            copy(&x->degrade, l->is_of_topos ? q->degrade : NULL) &&
            copy(&x->profile, l->is_of_topos ? profile_of(g, q) : NULL)) {
            l->inputs[l->n++] = x;
            return x;
        }
        x->n_users = 0;
    }
    free_input(x);
    fr__fail_nomem(err);
    return NULL;
}

/* Called without the lock, on a copy of the input, because other threads search the list
 * meanwhile. */
static void load(struct input *x, bool is_topo, const struct fr_graph *g)
{
    const struct fr_question q = {.costs = x->costs,
                                  .profile_device = x->profile_device,
                                  .allow_implausible = x->allow_implausible};
    const struct fr_workload_options opt = {.seq_len = x->seq_len,
                                            .dtype = x->dtype,
                                            .image_size = x->image_size,
                                            .profile_device = x->profile_device,
                                            .is_tf1 = x->form.is_tf1,
                                            .fusions = x->form.fusions,
                                            .layout = x->form.layout,
                                            .tune = x->tune};
    enum fr_status st = is_topo
                            ? fr_topo_load_less(&x->topo, x->name, x->degrade,
                                                x->form.transport == FR_TRANSPORT_SOCKETS, &x->why)
                            : fr__workload_load_in(&x->graph, x->name, &opt, x->formats, &x->why);

    if (is_topo && st == FR_OK)
        st = fr__costs_load(&x->cost_model, x->topo, g, &q, &x->why);
    x->why.code = st;
}

/* Locked. NULL: out of memory. The input is counted as used. */
static struct input *take(struct fr__inputs *in, struct list *l, const struct fr_question *q,
                          const struct fr_graph *g, struct fr_error *err)
{
    struct input *x = find(l, q, g), loaded;

    if (x) {
        x->n_users++;
        while (x->state == LOADING)
            pthread_cond_wait(&in->loaded, &in->lock);
        return x;
    }
    drop_idle(l);
    x = add(l, q, g, err);
    if (!x)
        return NULL;
    loaded = *x;
    pthread_mutex_unlock(&in->lock);
    load(&loaded, l->is_of_topos, g);
    pthread_mutex_lock(&in->lock);
    x->topo = loaded.topo;
    x->cost_model = loaded.cost_model;
    x->graph = loaded.graph;
    x->why = loaded.why;
    x->id = ++in->n_loaded;
    x->state = x->why.code == FR_OK ? LOADED : REFUSED;
    pthread_cond_broadcast(&in->loaded);
    return x;
}

static void give(struct fr__inputs *in, struct input *x)
{
    assert(x->n_users > 0);
    x->n_users--;
    x->given_back = ++in->clock;
}

/* ---- settings ---- */

enum fr_status fr__inputs_take(struct fr__inputs *in, const struct fr_question *q,
                               struct fr_setting *out, struct fr_error *err)
{
    struct input *topo = NULL, *graph;
    enum fr_status st = FR_ENOMEM;

    *out = (struct fr_setting){.topo = NULL};
    pthread_mutex_lock(&in->lock);
    graph = take(in, &in->graphs, q, NULL, err);
    if (graph)
        topo = take(in, &in->topos, q, graph->graph, err);
    if (topo) {
        const struct input *refused = topo->state == REFUSED ? topo : graph;

        st = refused->why.code;
        if (st != FR_OK && err)
            *err = refused->why;
    }
    if (st == FR_OK) {
        *out = (struct fr_setting){
            .topo = topo->topo, .graph = graph->graph, .costs = topo->cost_model};
    } else {
        if (topo)
            give(in, topo);
        if (graph)
            give(in, graph);
    }
    pthread_mutex_unlock(&in->lock);
    return st;
}

void fr__inputs_give(struct fr__inputs *in, const struct fr_setting *s)
{
    pthread_mutex_lock(&in->lock);
    for (size_t i = 0; i < in->topos.n; i++)
        if (in->topos.inputs[i]->topo == s->topo)
            give(in, in->topos.inputs[i]);
    for (size_t i = 0; i < in->graphs.n; i++)
        if (in->graphs.inputs[i]->graph == s->graph)
            give(in, in->graphs.inputs[i]);
    pthread_mutex_unlock(&in->lock);
}

/* ---- tools ---- */

void fr__tools_free(struct fr__tools *t)
{
    if (!t)
        return;
    fr_simulation_free(t->simulation);
    fr__cost_memo_free(t->memo);
    fr__kept_params_free(t->params);
    free(t);
}

/* Gives the tools what they keep of the setting's graph. false: out of memory. */
static bool turn_to_graph(struct fr__tools *t, const struct fr_setting *s)
{
    fr__cost_memo_free(t->memo);
    fr__kept_params_free(t->params);
    t->memo = fr__cost_memo_new(s->costs, s->graph);
    t->params = fr__kept_params_new(s->graph);
    return t->memo && t->params;
}

enum fr_status fr__tools_new(struct fr__tools **out, const struct fr_setting *s,
                             struct fr_error *err)
{
    struct fr__tools *t = calloc(1, sizeof(*t));
    enum fr_status st;

    if (!t)
        return fr__fail_nomem(err);
    st = fr_simulation_new(&t->simulation, s->topo, err);
    if (st == FR_OK && !turn_to_graph(t, s))
        st = fr__fail_nomem(err);
    if (st == FR_OK)
        *out = t;
    else
        fr__tools_free(t);
    return st;
}

/* Locked. The setting's topology, and its graph's number. */
static struct input *find_taken(struct fr__inputs *in, const struct fr_setting *s,
                                uint64_t *graph_id)
{
    struct input *found = NULL;

    for (size_t i = 0; i < in->topos.n; i++)
        if (in->topos.inputs[i]->topo == s->topo)
            found = in->topos.inputs[i];
    for (size_t i = 0; i < in->graphs.n; i++)
        if (in->graphs.inputs[i]->graph == s->graph)
            *graph_id = in->graphs.inputs[i]->id;
    assert(found && *graph_id);
    return found;
}

/* Locked. Idle tools whose memo is of the graph, else any idle ones, else NULL. */
static struct fr__tools *pick(struct input *topo, uint64_t graph_id)
{
    struct fr__tools **at = &topo->idle_tools, *t;

    while (*at && (*at)->graph_id != graph_id)
        at = &(*at)->next;
    if (!*at)
        at = &topo->idle_tools;
    t = *at;
    if (t)
        *at = t->next;
    return t;
}

enum fr_status fr__inputs_take_tools(struct fr__inputs *in, const struct fr_setting *s,
                                     struct fr__tools **out, struct fr_error *err)
{
    uint64_t graph_id = 0;
    struct fr__tools *t;
    bool is_ready = true;

    pthread_mutex_lock(&in->lock);
    t = pick(find_taken(in, s, &graph_id), graph_id);
    pthread_mutex_unlock(&in->lock);
    if (!t)
        FR_TRY(fr__tools_new(&t, s, err));
    else if (t->graph_id != graph_id)
        is_ready = turn_to_graph(t, s);
    t->graph_id = graph_id;
    *out = t;
    if (is_ready)
        return FR_OK;
    fr__tools_free(t);
    return fr__fail_nomem(err);
}

void fr__inputs_give_tools(struct fr__inputs *in, const struct fr_setting *s, struct fr__tools *t)
{
    uint64_t graph_id = 0;
    struct input *topo;

    if (!t || t->most_tasks > MOST_IDLE_TASKS) {
        fr__tools_free(t);
        return;
    }
    pthread_mutex_lock(&in->lock);
    topo = find_taken(in, s, &graph_id);
    t->next = topo->idle_tools;
    topo->idle_tools = t;
    pthread_mutex_unlock(&in->lock);
}
