/* study/setting_cache.c - a short list of loaded workloads and topologies behind one lock. */
#include "config.h"

#include "base/error.h"
#include "study/record.h"
#include "study/setting_cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum state { EMPTY, LOADING, LOADED, REFUSED };

/* A workload or a topology. Names are borrowed from the questions. */
struct entry {
    enum state state;
    const char *name;
    uint32_t seq_len, image_size; /* workloads */
    enum fr_dtype dtype;
    const char *costs; /* topologies: as the question has it */
    struct fr_cost_model *cost_model;
    struct fr_topo *topo; /* one of the two */
    struct fr_graph *graph;
    size_t n_users;
    uint64_t given_back; /* a clock of givings */
    struct fr_error why; /* REFUSED */
};

struct shelf {
    bool is_of_topos;
    size_t n;
    struct entry *entries; /* [n] */
};

struct fr__setting_cache {
    pthread_mutex_t lock;
    pthread_cond_t loaded;
    uint64_t clock;
    struct shelf topos, graphs;
};

/* What is in use, and more: a sweep goes through its topologies again for each workload, and of a list
 * longer than the shelf none would ever be found on it. All presets fit. */
enum { MORE_TOPOS = 24, MORE_GRAPHS = 8 };

static struct shelf new_shelf(bool is_of_topos, size_t n)
{
    return (struct shelf){is_of_topos, n, calloc(n, sizeof(struct entry))};
}

struct fr__setting_cache *fr__setting_cache_new(size_t n_threads)
{
    struct fr__setting_cache *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->topos = new_shelf(true, n_threads + MORE_TOPOS);
    c->graphs = new_shelf(false, n_threads + MORE_GRAPHS);
    if (c->topos.entries && c->graphs.entries && pthread_mutex_init(&c->lock, NULL) == 0) {
        if (pthread_cond_init(&c->loaded, NULL) == 0)
            return c;
        pthread_mutex_destroy(&c->lock);
    }
    free(c->topos.entries);
    free(c->graphs.entries);
    free(c);
    return NULL;
}

static void empty(struct entry *e)
{
    assert(e->n_users == 0);
    fr_cost_model_free(e->cost_model);
    fr_topo_free(e->topo);
    fr_graph_free(e->graph);
    *e = (struct entry){.state = EMPTY};
}

static void empty_shelf(struct shelf *s)
{
    for (size_t i = 0; i < s->n; i++)
        empty(&s->entries[i]);
}

void fr__setting_cache_free(struct fr__setting_cache *c)
{
    if (!c)
        return;
    empty_shelf(&c->topos);
    empty_shelf(&c->graphs);
    pthread_cond_destroy(&c->loaded);
    pthread_mutex_destroy(&c->lock);
    free(c->topos.entries);
    free(c->graphs.entries);
    free(c);
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_wanted(const struct shelf *s, const struct entry *e, const struct fr_question *q)
{
    if (e->state == EMPTY)
        return false;
    if (s->is_of_topos)
        return strcmp(e->name, q->topology) == 0 && is_same(e->costs, q->costs);
    return strcmp(e->name, q->workload) == 0 && e->seq_len == q->seq_len &&
           e->image_size == q->image_size && e->dtype == q->dtype;
}

static struct entry *find(const struct shelf *s, const struct fr_question *q)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_wanted(s, &s->entries[i], q))
            return &s->entries[i];
    return NULL;
}

/* An empty place, made by giving up what was used longest ago. There always is one: each thread
 * uses one entry at most. */
static struct entry *make_room(const struct shelf *s)
{
    struct entry *oldest = NULL;

    for (size_t i = 0; i < s->n; i++) {
        struct entry *e = &s->entries[i];

        if (e->state == EMPTY)
            return e;
        if (e->n_users == 0 && (!oldest || e->given_back < oldest->given_back))
            oldest = e;
    }
    assert(oldest);
    empty(oldest);
    return oldest;
}

static void load(struct entry *e, bool is_topo)
{
    const struct fr_workload_options opt = {
        .seq_len = e->seq_len, .dtype = e->dtype, .image_size = e->image_size};
    enum fr_status st = is_topo ? fr_topo_load(&e->topo, e->name, &e->why)
                                : fr_workload_load(&e->graph, e->name, &opt, &e->why);

    if (is_topo && st == FR_OK)
        st = fr__costs_load(&e->cost_model, e->topo, e->costs, &e->why);
    e->why.code = st;
}

/* Locked. The entry is counted as used. */
static struct entry *take(struct fr__setting_cache *c, struct shelf *s, const struct fr_question *q)
{
    struct entry *e = find(s, q), loaded;

    if (e) {
        e->n_users++;
        while (e->state == LOADING)
            pthread_cond_wait(&c->loaded, &c->lock);
        return e;
    }
    e = make_room(s);
    *e = (struct entry){.state = LOADING,
                        .name = s->is_of_topos ? q->topology : q->workload,
                        .costs = q->costs,
                        .seq_len = q->seq_len,
                        .image_size = q->image_size,
                        .dtype = q->dtype,
                        .n_users = 1};
    loaded = *e; /* others look at the entry meanwhile */
    pthread_mutex_unlock(&c->lock);
    load(&loaded, s->is_of_topos);
    pthread_mutex_lock(&c->lock);
    e->topo = loaded.topo;
    e->cost_model = loaded.cost_model;
    e->graph = loaded.graph;
    e->why = loaded.why;
    e->state = e->why.code == FR_OK ? LOADED : REFUSED;
    pthread_cond_broadcast(&c->loaded);
    return e;
}

static void give(struct fr__setting_cache *c, struct entry *e)
{
    assert(e->n_users > 0);
    e->n_users--;
    e->given_back = ++c->clock;
}

enum fr_status fr__setting_cache_take(struct fr__setting_cache *c, const struct fr_question *q,
                                      struct fr_setting *out, struct fr_error *err)
{
    struct entry *topo, *graph = NULL;
    enum fr_status st;

    pthread_mutex_lock(&c->lock);
    topo = take(c, &c->topos, q);
    st = topo->why.code;
    if (st != FR_OK) {
        *err = topo->why;
    } else {
        graph = take(c, &c->graphs, q);
        st = graph->why.code;
        if (st != FR_OK)
            *err = graph->why;
        *out = (struct fr_setting){topo->topo, graph->graph, topo->cost_model};
    }
    if (st != FR_OK) {
        give(c, topo);
        if (graph)
            give(c, graph);
    }
    pthread_mutex_unlock(&c->lock);
    return st;
}

void fr__setting_cache_give(struct fr__setting_cache *c, const struct fr_setting *s)
{
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->topos.n; i++)
        if (c->topos.entries[i].topo == s->topo)
            give(c, &c->topos.entries[i]);
    for (size_t i = 0; i < c->graphs.n; i++)
        if (c->graphs.entries[i].graph == s->graph)
            give(c, &c->graphs.entries[i]);
    pthread_mutex_unlock(&c->lock);
}
