/* tests/sim/test_symmetry.c - what is worked out once for all machines that are alike is what each
 * message by itself comes to: times and bytes of every link, to the last bit. */
#include "config.h"

#include "base/error.h"
#include "collectives/algorithms/schedule.h"
#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers of bytes for any message of up to 96 ranks. */
static const double S = 96 * 5040;

/* ---- traffic ---- */

struct matrix {
    double *bytes; /* [n][n] between entities */
    uint32_t n;
};

static void add(void *user, uint32_t from, uint32_t to, double n, double bytes)
{
    struct matrix *m = user;

    ck_assert_uint_ne(from, to);
    m->bytes[from * m->n + to] += n * bytes;
}

/* By steps, whatever the algorithm says of itself. */
static void add_steps(const struct fr__schedule *s, struct matrix *m)
{
    for (uint32_t slot = 0; slot < s->n_entities * s->n_slots; slot++)
        for (uint32_t i = 0; i < s->n_steps; i++) {
            struct fr__step at;

            fr__schedule_step(s, slot, i, &at);
            for (uint32_t k = 0; k < at.n_sends; k++) {
                uint32_t from = fr__slot_entity(s, slot);
                struct fr__send send;

                fr__schedule_send(s, slot, i, k, &send);
                if (fr__slot_entity(s, send.to) != from)
                    add(m, from, fr__slot_entity(s, send.to), 1, send.bytes);
            }
        }
}

static void must_be_the_steps(const struct fr__schedule *s)
{
    struct matrix one = {.n = s->n_entities}, other = {.n = s->n_entities};
    size_t n = (size_t)one.n * one.n;

    one.bytes = calloc(n, sizeof(*one.bytes));
    other.bytes = calloc(n, sizeof(*other.bytes));
    add_steps(s, &one);
    for (uint32_t entity = 0; entity < s->n_entities; entity++)
        fr__schedule_traffic(s, entity, add, &other);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(fabs(one.bytes[i] - other.bytes[i]) <= 1e-9 * S,
                      "%s of %s, %u ranks, %u a machine: %g and %g from %zu to %zu",
                      fr_collective_kind_name(s->kind), s->algorithm->name, s->n, s->per_node,
                      one.bytes[i], other.bytes[i], i / one.n, i % one.n);
    free(one.bytes);
    free(other.bytes);
}

TEST(traffic_is_what_all_steps_send)
{
    static const uint32_t SIZES[] = {1, 2, 3, 5, 6, 8, 12, 16, 17, 24, 64};

    for (size_t i = 0; fr__algorithm_at(i); i++)
        for (unsigned kind = 0; kind < FR_RING_STEP; kind++)
            for (size_t j = 0; j < sizeof(SIZES) / sizeof(SIZES[0]); j++)
                for (uint32_t m = 1; m <= SIZES[j]; m *= 2) {
                    struct fr__schedule s = {.algorithm = fr__algorithm_at(i),
                                             .kind = (enum fr_collective_kind)kind,
                                             .n = SIZES[j],
                                             .per_node = m,
                                             .root = SIZES[j] / 2,
                                             .bytes = S};
                    struct fr_error err;

                    s.n_chunks = s.algorithm->is_pipeline ? 3 : 1;
                    if (s.algorithm->kinds >> kind & 1 && fr__schedule_make(&s, &err) == FR_OK)
                        must_be_the_steps(&s);
                }
}

/* ---- times and links ---- */

struct walk {
    const struct fr_topo *topo;
    struct fr_router *router;
    struct fr_topo *own; /* the same, to be freed */
    uint32_t *devices;
    double *link_bytes;
};

static void links_of(const struct walk *w, uint32_t from, uint32_t to, const uint32_t **links,
                     size_t *n)
{
    struct fr_error err = {.text = ""};

    ck_assert_msg(fr_router_path(w->router, w->devices[from], w->devices[to], links, n, &err) ==
                      FR_OK,
                  "%s", err.text);
}

static void add_to_links(void *user, uint32_t from, uint32_t to, double n, double bytes)
{
    const struct walk *w = user;
    const uint32_t *links;
    size_t n_links;

    links_of(w, from, to, &links, &n_links);
    for (size_t i = 0; i < n_links; i++)
        w->link_bytes[links[i]] += n * bytes;
}

static double hop(void *user, uint32_t from, uint32_t to, double bytes)
{
    const struct walk *w = user;
    double latency_s = 0, least_Bps = INFINITY;
    const uint32_t *links;
    size_t n;

    links_of(w, from, to, &links, &n);
    for (size_t i = 0; i < n; i++) {
        latency_s += w->topo->links[links[i]].latency_s;
        least_Bps = fmin(least_Bps, w->topo->links[links[i]].bw_Bps);
    }
    return latency_s + bytes / least_Bps;
}

/* Every message by itself. */
static double walk_all(struct walk *w, const struct fr__schedule *s)
{
    double most_s = 0;

    memset(w->link_bytes, 0, w->topo->n_links * sizeof(*w->link_bytes));
    for (uint32_t rank = 0; rank < s->n; rank++)
        fr__schedule_traffic(s, rank, add_to_links, w);
    for (size_t l = 0; l < w->topo->n_links; l++)
        most_s = fmax(most_s, w->link_bytes[l] / w->topo->links[l].bw_Bps);
    return fmax(fr__schedule_alone(s, hop, w), most_s);
}

static struct fr_run *run(const struct fr_topo *t, const uint32_t devices[], uint32_t n,
                          const char *algorithm, enum fr_collective_kind kind)
{
    const struct fr_collective_options options = {.algorithm = algorithm};
    const struct fr_collective c = {.bytes = S, .label = FR_NONE, .kind = kind};
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr_collective_way *way = NULL;
    struct fr_error err = {.text = ""};
    struct fr_run_options o;
    struct fr_run *r = NULL;

    fr_plan_add_group_of(p, devices, n);
    fr_plan_add_collective(p, &c);
    for (uint32_t rank = 0; rank < n; rank++)
        fr_plan_add_task(p, &(struct fr_task){.device = devices[rank],
                                              .cost_id = FR_NONE,
                                              .op = FR_NONE,
                                              .collective = 0,
                                              .rank = rank,
                                              .microbatch = FR_NONE,
                                              .kind = FR_TASK_COLLECTIVE,
                                              .stream = FR_STREAM_COMM});
    fixture_finish(p);
    fr_run_options_init(&o);
    o.network = algorithm ? FR_NETWORK_FLOW : FR_NETWORK_ANALYTIC; /* shifts: by their form */
    o.closed_form_collectives = true;
    o.want = FR_WANT_LINKS;
    if (algorithm) {
        ck_assert(fr_collective_way_new(&way, &options, &err) == FR_OK);
        o.way = way;
    }
    ck_assert_msg(fr_simulate(p, &o, &r, &err) == FR_OK, "%s", err.text);
    fr_collective_way_free(way);
    fr_plan_free(p);
    return r;
}

/* Machines that are alike, at one switch and on rails; that are not, all or some of them. */
static const struct {
    const char *before, *after;
} FABRICS[] = {
    {"", "x hgx-h100"},
    {"", "x dgx1-v100 via ib:100Gbps"},
    {"", "x hgx-h100 via rails:8x400Gbps,spine=2:1"},
    {"", "x hgx-h100 via leaf-spine:400Gbps,machines=2,spines=3"},
    {"", "x hgx-h100 via rails less n0.nic3=0.5,n1.nic2=0.25"},
    {"1x dgx1-v100 + ", "x dgx1-v100 + 1x dgx1-v100 via ib:100Gbps"},
};
enum { N_FABRICS = sizeof(FABRICS) / sizeof(FABRICS[0]) };

static struct walk begin(int fabric, uint32_t machines)
{
    struct fr_error err = {.text = ""};
    struct fr_topo *t = NULL;
    struct walk w = {.topo = NULL};
    char spec[128];

    snprintf(spec, sizeof(spec), "%s%u%s", FABRICS[fabric].before, machines, FABRICS[fabric].after);
    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s: %s", spec, err.text);
    w.topo = t;
    w.own = t;
    w.devices = calloc(t->n_gpus, sizeof(*w.devices));
    w.link_bytes = calloc(t->n_links, sizeof(*w.link_bytes));
    ck_assert(fr_router_new(&w.router, t, &err) == FR_OK);
    for (uint32_t d = 0; d < t->n_gpus; d++)
        w.devices[d] = d;
    return w;
}

static void end(struct walk *w)
{
    fr_router_free(w->router);
    free(w->link_bytes);
    free(w->devices);
    fr_topo_free(w->own);
}

static void must_be_same_bytes(const struct walk *w, const struct fr_run *r, const char *what,
                               uint32_t n)
{
    for (size_t l = 0; l < w->topo->n_links; l++)
        ck_assert_msg(memcmp(&r->link_bytes[l], &w->link_bytes[l], sizeof(double)) == 0,
                      "%s, %u ranks of %s: link %zu has %.17g and %.17g bytes", what, n,
                      w->topo->name, l, r->link_bytes[l], w->link_bytes[l]);
}

static void must_be_all(struct walk *w, uint32_t n, uint32_t per_node, const char *algorithm,
                        enum fr_collective_kind kind)
{
    struct fr__schedule s = {.algorithm = fr__algorithm_find(algorithm),
                             .kind = kind,
                             .n = n,
                             .per_node = per_node,
                             .bytes = S};
    struct fr_error err;
    struct fr_run *r;
    double alone_s;

    s.dims[0] = per_node;
    s.dims[1] = n / per_node;
    s.n_dims = per_node > 1 && n > per_node ? 2 : 0;
    if (!(s.algorithm->kinds >> kind & 1) || fr__schedule_make(&s, &err) != FR_OK)
        return;
    alone_s = walk_all(w, &s);
    r = run(w->topo, w->devices, n, algorithm, kind);
    ck_assert_msg(fabs(r->makespan_s - alone_s) <= 1e-14 * alone_s, "%s %u: %.17g and %.17g s",
                  algorithm, n, r->makespan_s, alone_s);
    must_be_same_bytes(w, r, algorithm, n);
    fr_run_free(r);
}

/* Of whole machines, and of two GPUs of each, other ones of the last. */
LOOP_TEST(one_machine_for_all_gives_what_all_give, 0, N_FABRICS)
{
    static const char *const NAMES[] = {
        "pairwise", "shift", "hierarchical-pairwise", "pat", "bruck", "direct", "bucket"};

    for (uint32_t machines = 2; machines <= 6; machines += machines > 3 ? 2 : 1) {
        struct walk w = begin(_i, machines);
        uint32_t n = (uint32_t)w.topo->n_gpus;

        for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
            for (unsigned kind = 0; kind < FR_RING_STEP; kind++) {
                for (uint32_t d = 0; d < n; d++)
                    w.devices[d] = d;
                must_be_all(&w, n, 8, NAMES[i], (enum fr_collective_kind)kind);
                for (uint32_t d = 0; d < n / 4; d++)
                    w.devices[d] = d / 2 * 8 + d % 2 * 3 + (d / 2 + 1 == n / 8);
                must_be_all(&w, n / 4, 2, NAMES[i], (enum fr_collective_kind)kind);
            }
        end(&w);
    }
}

/* The shifts that an all-to-all takes where nothing is chosen: rank i to i + r in round r. */
LOOP_TEST(shifts_of_one_machine_give_those_of_all, 0, N_FABRICS)
{
    for (uint32_t machines = 2; machines <= 6; machines += machines > 3 ? 2 : 1) {
        struct walk w = begin(_i, machines);
        uint32_t n = (uint32_t)w.topo->n_gpus;
        double sum_s = 0;
        struct fr_run *r;

        for (uint32_t round = 1; round < n; round++) {
            double most_s = 0;

            for (uint32_t i = 0; i < n; i++) {
                add_to_links(&w, i, (i + round) % n, 1, S / n);
                most_s = fmax(most_s, hop(&w, i, (i + round) % n, S / n));
            }
            sum_s += most_s;
        }
        r = run(w.topo, w.devices, n, NULL, FR_ALL_TO_ALL);
        ck_assert_double_eq_tol(r->makespan_s, sum_s, 1e-14 * sum_s);
        must_be_same_bytes(&w, r, "shifts", n);
        fr_run_free(r);
        end(&w);
    }
}

int main(void)
{
    TCase *c = tcase_create("even");

    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "sim/symmetry");
}
