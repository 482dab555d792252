/* collectives/nccl/levels.c - NCCL's search: which speeds and conditions are tried, in which
 * order.
 *
 * Source: NVIDIA/nccl src/graph/search.cc (ncclTopoCompute, ncclTopoDupChannels), connect.cc and
 * init.cc of 2.30.7. Of older versions the lists of speeds and crossNic differ.
 */
#include "config.h"

#include "collectives/nccl/try.h"

#include "base/error.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEADS = 32 }; /* of NVLS: NCCL_MAX_NVLS_ARITY */

/* GB/s, ending with 0. */
static const float INSIDE_OLD[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 0};
static const float INSIDE_90[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3, 0};
static const float INSIDE_90_218[] = {60, 40, 30, 24, 20, 15, 12, 6, 3, 0};
static const float INSIDE_100[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18, 0};
static const float ACROSS_OLD[] = {48, 30, 28, 24, 20, 18,   15,   12,   10,   9,
                                   7,  6,  5,  4,  3,  2.4f, 1.2f, .24f, .12f, 0};
static const float ACROSS_90[] = {48, 45, 42, 40, 30,   24,   22,   20,   17.5f,
                                  15, 12, 6,  3,  2.4f, 1.2f, .24f, .12f, 0};
static const float ACROSS_90_218[] = {48, 45, 42, 40,   30,   24,   20,   17.5f, 15,
                                      12, 6,  3,  2.4f, 1.2f, .24f, .12f, 0};
static const float ACROSS_100[] = {96,    86, 80, 48, 45.1f, 42,   40,   30,   24,   22, 20,
                                   17.5f, 15, 12, 6,  3,     2.4f, 1.2f, .24f, .12f, 0};

/* Visits of GPUs, of one try and of all together (NCCL_SEARCH_TIMEOUT, ...). */
enum { TIME_ALL = 1 << 19, TIME_TRY = 1 << 14, TIME_SAME = 1 << 8 };

static const float *speeds_of(const struct fr__ns *s, unsigned sm)
{
    bool is_inside = s->count[FR__NS_NET] == 0;

    if (sm >= 100 && s->version >= 223)
        return is_inside ? INSIDE_100 : ACROSS_100;
    if (sm >= 90 && s->version < 221)
        return is_inside ? INSIDE_90_218 : ACROSS_90_218;
    if (sm >= 90)
        return is_inside ? INSIDE_90 : ACROSS_90;
    return is_inside ? INSIDE_OLD : ACROSS_OLD;
}

/* A search in progress. */
struct levels {
    struct trial trial;
    struct found best, start; /* start: the conditions to begin with */
    const float *speeds;
    unsigned at, sm; /* at: the speed; sm: lowest capability */
    unsigned type_intra_most, type_inter_most;
    unsigned cross_nic; /* that may be tried at last; 0: none */
    long time_left;     /* of all tries */
    int time;           /* left of the last one */
    float total_bw;
};

static unsigned min_sm(const struct fr__ns *s)
{
    unsigned sm = UINT_MAX;

    for (uint32_t g = 0; g < s->count[FR__NS_GPU]; g++)
        if (fr__ns_at(s, FR__NS_GPU, g)->sm < sm)
            sm = fr__ns_at(s, FR__NS_GPU, g)->sm;
    return sm;
}

/* The best kind of path from a GPU to others of a type, and the worst there and back. */
static void span_of(const struct fr__ns *s, enum fr__ns_type to, unsigned *least, unsigned *most)
{
    *least = FR__PATH_DIS;
    *most = FR__PATH_LOC;
    for (uint32_t g = 0; g < s->count[FR__NS_GPU]; g++)
        for (uint32_t i = 0; i < s->count[to]; i++) {
            unsigned type = fr__ns_path(s, FR__NS_GPU, g, to, i)->type;

            if (to == FR__NS_GPU && i == g)
                continue;
            *least = type < *least ? type : *least;
            *most = type > *most ? type : *most;
            type = fr__ns_path(s, to, i, FR__NS_GPU, g)->type;
            *most = type > *most ? type : *most;
        }
}

static bool is_amd(const struct fr__ns *s)
{
    const struct fr__ns_node *cpu = s->count[FR__NS_CPU] ? fr__ns_at(s, FR__NS_CPU, 0) : NULL;

    return cpu && cpu->is_x86 && cpu->vendor == FR__NCCL_CPU_AMD;
}

static void set_speed(struct levels *l)
{
    l->trial.now.speed_intra = l->trial.now.speed_inter = l->speeds[l->at];
}

static bool has_slower(const struct levels *l)
{
    return l->speeds[l->at + 1] > 0;
}

static void run_try(struct levels *l)
{
    l->time = l->trial.now.same_channels ? TIME_SAME : TIME_TRY;
    l->time_left -= l->time;
    l->trial.now.n = 0;
    fr__ns_try(&l->trial, &l->time);
}

/* The next conditions of the first pass, easier than the last ones; false: none. */
static bool relax(struct levels *l)
{
    struct found *now = &l->trial.now;
    const struct found *best = &l->best;
    const struct fr__ns *s = l->trial.s;
    bool has_nets = s->count[FR__NS_NET] > 0;
    unsigned most = has_nets ? now->type_inter : l->type_intra_most;

    if (now->same_channels && !(is_amd(s) && now->type_intra == FR__PATH_SYS)) {
        now->same_channels = false;
        return true;
    }
    now->same_channels = l->start.same_channels;
    if (l->time != -1)
        l->time_left += l->time;
    else
        l->time_left = TIME_ALL;
    if (l->time_left < 0 && best->n > 0)
        return false;
    if (l->sm >= 90 && now->pattern == FR__NCCL_BALANCED_TREE) {
        now->pattern = FR__NCCL_TREE;
        return true;
    }
    now->pattern = l->start.pattern;
    if (now->type_intra < most && (best->n == 0 || now->type_intra < best->type_intra)) {
        now->type_intra++;
        return true;
    }
    now->type_intra = l->start.type_intra;
    if (has_nets && now->type_inter < l->type_inter_most &&
        (best->n == 0 || now->type_inter < best->type_inter || now->type_inter < FR__PATH_PXN)) {
        now->type_inter++;
        return true;
    }
    now->type_inter = l->start.type_inter;
    if (l->cross_nic > 0 && now->cross_nic == 0 &&
        (l->start.pattern == FR__NCCL_RING || l->start.pattern == FR__NCCL_BALANCED_TREE)) {
        now->cross_nic = l->cross_nic;
        return true;
    }
    now->cross_nic = 0;
    if (has_slower(l) && (best->n == 0 || l->speeds[l->at + 1] / best->speed_inter > .49f)) {
        l->at++;
        set_speed(l);
        return true;
    }
    return false;
}

/* Twice the channels at half the speed, where a channel alone is faster than a block can go. */
static void double_channels(struct levels *l)
{
    struct found *b = &l->best;
    uint32_t n_gpus = l->trial.s->count[FR__NS_GPU], n;

    if (b->n == 0 || b->pattern == FR__NCCL_NVLS || b->speed_intra < 25 ||
        (l->sm > 80 && b->speed_intra < 50 && b->n > 4))
        return;
    n = 2 * b->n < l->trial.most ? 2 * b->n : l->trial.most;
    memcpy(b->gpus + b->n * n_gpus, b->gpus, (n - b->n) * n_gpus * sizeof(*b->gpus));
    memcpy(b->nets + 2 * b->n, b->nets, 2 * (n - b->n) * sizeof(*b->nets));
    b->speed_intra /= (float)((n + b->n - 1) / b->n);
    b->speed_inter /= (float)((n + b->n - 1) / b->n);
    b->n = n;
}

static void begin_from_best(struct levels *l)
{
    uint32_t *gpus = l->trial.now.gpus, *nets = l->trial.now.nets;

    l->trial.now = l->best;
    l->trial.now.gpus = gpus;
    l->trial.now.nets = nets;
}

/* Faster conditions of the second pass; false: none. */
static bool tighten(struct levels *l)
{
    struct found *now = &l->trial.now;
    const struct found *best = &l->best;

    if (l->time == 0 || l->at == 0)
        return false;
    if (l->start.pattern == FR__NCCL_RING) {
        l->at--;
        set_speed(l);
        return true;
    }
    if (l->start.pattern == FR__NCCL_NVLS) {
        if (now->speed_inter != best->speed_inter || now->speed_inter >= now->speed_intra * 2)
            return false;
        l->trial.least = l->trial.most = best->n;
        now->speed_inter = l->speeds[--l->at];
        return true;
    }
    if (now->speed_intra != best->speed_intra || now->speed_intra >= now->speed_inter * 2)
        return false;
    now->speed_intra = l->speeds[--l->at];
    return true;
}

static void search_all(struct levels *l)
{
    bool goes_on = true;

    while (goes_on) {
        run_try(l);
        goes_on = l->time != -1 && (float)l->best.n * l->best.speed_inter < l->total_bw && relax(l);
    }
    l->time = -1;
    double_channels(l);
    begin_from_best(l);
    l->at = 0;
    while (l->speeds[l->at] > l->best.speed_inter && has_slower(l))
        l->at++;
    set_speed(l);
    l->trial.least = l->best.n;
    while (tighten(l))
        run_try(l);
}

/* ---- one graph ---- */

static void set_conditions(struct levels *l, enum fr__nccl_pattern pattern)
{
    const struct fr__ns *s = l->trial.s;
    uint32_t n_gpus = s->count[FR__NS_GPU];
    unsigned least = FR__PATH_LOC, most = FR__PATH_SYS;

    l->start.pattern = n_gpus == 1 && pattern != FR__NCCL_RING ? FR__NCCL_TREE : pattern;
    if (pattern == FR__NCCL_NVLS)
        l->start.pattern = pattern;
    l->start.same_channels = pattern != FR__NCCL_NVLS;
    if (n_gpus > 1)
        span_of(s, FR__NS_GPU, &least, &most);
    l->start.type_intra = least;
    l->type_intra_most = most;
    l->start.type_inter = FR__PATH_PIX;
    l->type_inter_most = FR__PATH_SYS;
    if (s->count[FR__NS_NET] > 0) {
        span_of(s, FR__NS_NET, &l->start.type_inter, &l->type_inter_most);
        l->type_intra_most = l->type_inter_most;
    }
    if (s->count[FR__NS_NET] > 1 && pattern != FR__NCCL_NVLS)
        l->cross_nic = s->version >= 223 ? 2 : 1;
}

static void fall_back(struct levels *l)
{
    struct found *b = &l->best;

    for (uint32_t i = 0; i < l->trial.s->count[FR__NS_GPU]; i++)
        b->gpus[i] = i;
    b->nets[0] = b->nets[1] = 0;
    b->speed_intra = b->speed_inter = .1f;
    b->type_intra = b->type_inter = FR__PATH_SYS;
    b->n = 1;
}

static enum fr_status take_room(struct levels *l, struct fr_error *err)
{
    size_t n = (size_t)l->trial.most + 2, n_gpus = l->trial.s->count[FR__NS_GPU];

    l->trial.now.gpus = calloc(n * n_gpus + 1, sizeof(uint32_t));
    l->trial.now.nets = calloc(2 * n, sizeof(uint32_t));
    l->best.gpus = calloc(n * n_gpus + 1, sizeof(uint32_t));
    l->best.nets = calloc(2 * n, sizeof(uint32_t));
    l->trial.room = calloc(fr__ns_room_of(l->trial.s, l->trial.most), sizeof(uint32_t));
    l->trial.scores = calloc(n_gpus + 1, sizeof(*l->trial.scores));
    if (!l->trial.now.gpus || !l->trial.now.nets || !l->best.gpus || !l->best.nets ||
        !l->trial.room || !l->trial.scores)
        return fr__fail_nomem(err);
    return FR_OK;
}

static void set_result(const struct levels *l, struct fr__nccl_graph *graph)
{
    const struct found *b = &l->best;

    *graph = (struct fr__nccl_graph){.pattern = b->pattern,
                                     .n_channels = b->n,
                                     .bw_intra = (double)b->speed_intra,
                                     .bw_inter = (double)b->speed_inter,
                                     .latency_inter = (double)b->latency_inter,
                                     .type_intra = (enum fr__nccl_path)b->type_intra,
                                     .type_inter = (enum fr__nccl_path)b->type_inter,
                                     .same_channels = b->same_channels,
                                     .cross_nic = b->cross_nic};
    if (l->trial.s->count[FR__NS_NET] == 0)
        graph->type_inter = FR__PATH_LOC;
}

static void begin(struct levels *l)
{
    const struct fr__ns *s = l->trial.s;
    uint32_t n_gpus = s->count[FR__NS_GPU], *gpus = l->trial.now.gpus, *nets = l->trial.now.nets;
    float total = s->total_bw;

    if (n_gpus > 1 && l->start.pattern != FR__NCCL_RING)
        total *= (float)n_gpus / (float)(n_gpus - 1);
    while (has_slower(l) &&
           (l->speeds[l->at] > s->max_bw || l->speeds[l->at] * (float)l->trial.least > total))
        l->at++;
    l->trial.now = l->start;
    l->trial.now.gpus = gpus;
    l->trial.now.nets = nets;
    set_speed(l);
    l->best.pattern = l->start.pattern;
    l->best.same_channels = l->start.same_channels;
    l->best.type_intra = l->start.type_intra;
    l->best.type_inter = l->start.type_inter;
    l->total_bw = s->total_bw;
    l->time_left = TIME_ALL;
}

static unsigned fewer(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Searches rings, trees or heads of NVLS (graph->pattern). least, most: channels. On return *graph
 * is what was found; n_channels 0 of NVLS: not possible. out: NULL, or the channels, the caller's
 * to free. FR_ENOMEM. */
static enum fr_status ns_search(struct fr__ns *s, struct fr__nccl_graph *graph, unsigned least,
                                unsigned most, struct fr__ns_channels *out, struct fr_error *err)
{
    struct levels l = {.trial = {.s = s, .least = least, .most = most}};
    enum fr__nccl_pattern pattern = graph->pattern;
    bool is_nvls = pattern == FR__NCCL_NVLS;
    enum fr_status st = FR_OK;

    l.trial.best = &l.best;
    l.sm = min_sm(s);
    l.speeds = speeds_of(s, l.sm);
    *graph = (struct fr__nccl_graph){.pattern = pattern};
    if (is_nvls && (s->count[FR__NS_NVS] == 0 || l.sm < 90))
        return FR_OK;
    if (is_nvls) {
        l.trial.most = fewer(fewer(most, MOST_HEADS), s->count[FR__NS_GPU]);
        if (s->count[FR__NS_NET] == 0)
            l.trial.least = l.trial.most;
    }
    set_conditions(&l, pattern);
    st = take_room(&l, err);
    if (st == FR_OK) {
        begin(&l);
        search_all(&l);
        if (l.best.n == 0 && !is_nvls)
            fall_back(&l);
        set_result(&l, graph);
    }
    free(l.trial.now.gpus);
    free(l.trial.now.nets);
    free(l.trial.room);
    free(l.trial.scores);
    if (out && st == FR_OK) {
        out->gpus = l.best.gpus;
        out->nets = l.best.nets;
    } else {
        free(l.best.gpus);
        free(l.best.nets);
    }
    return st;
}

/* ---- a communicator ---- */

static unsigned channels_of(const struct fr__nccl_comm *c)
{
    unsigned n =
        2 * (c->ring.n_channels < c->tree.n_channels ? c->ring.n_channels : c->tree.n_channels);
    unsigned most = c->version >= 226 ? 64 : 32;

    if (c->min_sm >= 90 && c->n_nodes > 1 && c->ring.bw_intra > 45 && n < 16)
        n *= 2;
    if (c->version < 223 && c->nvls.n_channels > 0) { /* at least those that NVLS takes */
        unsigned least = c->min_sm < 100 ? 16 : c->n_nodes == 1 ? 24 : 32;

        n = n < least ? least : n;
    }
    return n < most ? n : most;
}

enum fr_status fr__ns_comm(struct fr__ns *s, unsigned n_nodes, struct fr__nccl_comm *out,
                           struct fr__ns_channels *tree, struct fr_error *err)
{
    unsigned most = s->version >= 226 ? 32 : 16;

    *out = (struct fr__nccl_comm){.version = s->version,
                                  .n_nodes = n_nodes,
                                  .n_ranks = n_nodes * s->count[FR__NS_GPU],
                                  .min_sm = min_sm(s)};
    for (uint32_t g = 0; g < s->count[FR__NS_GPU]; g++)
        if (fr__ns_at(s, FR__NS_GPU, g)->sm > out->max_sm)
            out->max_sm = fr__ns_at(s, FR__NS_GPU, g)->sm;
    out->cpu = FR__NCCL_CPU_OTHER;
    if (s->count[FR__NS_CPU] > 0) {
        out->cpu = fr__ns_at(s, FR__NS_CPU, 0)->vendor;
        out->is_x86 = fr__ns_at(s, FR__NS_CPU, 0)->is_x86;
    }
    out->ring.pattern = FR__NCCL_RING;
    FR_TRY(ns_search(s, &out->ring, 1, most, NULL, err));
    out->nvls.pattern = FR__NCCL_NVLS;
    if (s->count[FR__NS_GPU] > 1)
        FR_TRY(ns_search(s, &out->nvls, 1, 2 * most, NULL, err));
    out->tree.pattern = FR__NCCL_BALANCED_TREE;
    FR_TRY(ns_search(s, &out->tree, out->ring.n_channels, out->ring.n_channels, tree, err));
    out->n_channels = channels_of(out);
    return FR_OK;
}

static void merge_graph(struct fr__nccl_graph *into, const struct fr__nccl_graph *other)
{
    into->n_channels = fewer(into->n_channels, other->n_channels);
    into->bw_intra = fmin(into->bw_intra, other->bw_intra);
    into->bw_inter = fmin(into->bw_inter, other->bw_inter);
    into->latency_inter = fmax(into->latency_inter, other->latency_inter);
    into->same_channels &= other->same_channels;
    if (other->type_intra > into->type_intra)
        into->type_intra = other->type_intra;
    if (other->type_inter > into->type_inter)
        into->type_inter = other->type_inter;
    if (other->cross_nic > into->cross_nic)
        into->cross_nic = other->cross_nic;
    if (other->pattern == FR__NCCL_TREE) /* one such machine slows down all trees */
        into->pattern = FR__NCCL_TREE;
}

void fr__ns_comm_merge(struct fr__nccl_comm *into, const struct fr__nccl_comm *other)
{
    into->min_sm = fewer(into->min_sm, other->min_sm);
    into->max_sm = other->max_sm > into->max_sm ? other->max_sm : into->max_sm;
    if (into->cpu != other->cpu)
        into->cpu = FR__NCCL_CPU_MIXED;
    into->is_x86 &= other->is_x86;
    merge_graph(&into->ring, &other->ring);
    merge_graph(&into->tree, &other->tree);
    merge_graph(&into->nvls, &other->nvls);
    into->n_channels = channels_of(into);
}
