/* tests/study/test_properties.c - what holds of every answer, over questions drawn at random.
 *
 * A question is a cluster, a workload, a strategy with options, a batch, an order, a network and a
 * number of iterations, all drawn from a seed that is printed. Its answer must account for the
 * whole iteration, lie above its bound and hold all that stays in memory. The answer must be the
 * same with other names, twice as long where everything takes twice as long, and not longer with
 * more bandwidth, except for anomalies: these are printed, and doc/scheduling.md says what they
 * are.
 *
 * PROPERTIES_N: how many answers (60; 500 with FORERUN_TESTS_WHOLE in the environment);
 * PROPERTIES_SEED: where to begin (1).
 */
#include "config.h"

#include "base/error.h"
#include "base/rng.h"
#include "lowering/schedules/schedule.h"
#include "study/answer/record.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 96, MOST_RESOURCES = 256, ANSWERS_A_CLUSTER = 6 };

struct drawn {
    struct fr__rng rng;
    char folder[LONGEST], topology[LONGEST], renamed[LONGEST], tasks[LONGEST], retasked[LONGEST];
    unsigned n_machines, n_each;
    bool has_tasks; /* the workload is a graph of tasks and not a model */
};

struct count {
    unsigned answers, refused, anomalies;
    double worst; /* time with twice the bandwidth over time, the largest */
};

static unsigned below(struct drawn *d, unsigned n)
{
    return (unsigned)fr__rng_below(&d->rng, n);
}

static unsigned from_environment(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* ---- drawing ---- */

/* A switch in each machine, one between them; what is drawn is drawn before the names are used. */
static void write_cluster(const struct drawn *d, const char *path, const char *gpu, const char *hub,
                          const unsigned draw[5])
{
    static const char *const types[] = {"v100-sxm2-16gb", "a100-sxm4-40gb", "h100-sxm5-80gb",
                                        "p100-sxm2-16gb", "t4"};
    static const char *const kinds[] = {"nvlink", "pcie"};
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fprintf(f,
            "name: drawn\nsource: drawn at random\nmachines:\n  - count: %u\n    vertices:\n"
            "      - {name: %shost, kind: cpu, type: 2x-epyc-7742}\n"
            "      - {name: %s, kind: pcie}\n      - {name: %snic, kind: nic}\n",
            d->n_machines, hub, hub, hub);
    for (unsigned i = 0; i < d->n_each; i++)
        fprintf(f, "      - {name: %s%u, kind: gpu, type: %s}\n", gpu, i, types[draw[0]]);
    fprintf(
        f,
        "    links:\n      - {from: %shost, to: %s, kind: cpu, bandwidth: 64GB/s, latency: "
        "0.1us}\n      - {from: %snic, to: %s, kind: pcie, bandwidth: 32GB/s, latency: 0.5us}\n",
        hub, hub, hub, hub);
    for (unsigned i = 0; i < d->n_each; i++)
        fprintf(f, "      - {from: %s%u, to: %s, kind: %s, bandwidth: %uGB/s, latency: %uus}\n",
                gpu, i, hub, kinds[draw[1]], 4 << draw[2], draw[3]);
    fputs("switches:\n  - {name: core}\nlinks:\n", f);
    for (unsigned i = 0; i < d->n_machines; i++)
        fprintf(f, "  - {from: n%u.%snic, to: core, kind: net, bandwidth: %uGbps, latency: 2us}\n",
                i, hub, 10 << draw[4]);
    ck_assert_int_eq(fclose(f), 0);
}

/* A graph of tasks whose times are multiples of a millisecond. */
static void write_tasks(struct drawn *d, const char *path, const char *name)
{
    unsigned n = 4 + below(d, 12);
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs("task,time,after\n", f);
    for (unsigned i = 0; i < n; i++) {
        fprintf(f, "%s%u,%ums,", name, i, 1 + below(d, 9));
        for (unsigned k = 0, n_before = 0; k < i && n_before < 3; k++)
            if (below(d, i) == 0)
                fprintf(f, "%s%s%u:%uMB", n_before++ ? " " : "", name, k, below(d, 20));
        putc('\n', f);
    }
    ck_assert_int_eq(fclose(f), 0);
}

static void draw_cluster(struct drawn *d)
{
    unsigned draw[5];
    struct fr__rng before;

    d->n_machines = 1 + below(d, 3);
    d->n_each = 1u << below(d, 3);
    draw[0] = below(d, 5);
    draw[1] = below(d, 2);
    draw[2] = below(d, 6);
    draw[3] = below(d, 8);
    draw[4] = below(d, 5);
    write_cluster(d, d->topology, "gpu", "hub", draw);
    write_cluster(d, d->renamed, "a", "zz", draw);
    before = d->rng;
    write_tasks(d, d->tasks, "t");
    d->rng = before;
    write_tasks(d, d->retasked, "another");
    d->has_tasks = below(d, 4) == 0;
}

__attribute__((format(printf, 2, 3))) static void say(char spec[LONGEST], const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(spec, LONGEST, format, list);
    va_end(list);
}

/* A strategy for tasks. */
static void draw_list(struct drawn *d, char spec[LONGEST])
{
    static const char *const names[] = {"heft", "cpop",          "mcp",    "etf",
                                        "fifo", "critical-path", "dpos",   "os-dpos",
                                        "mp",   "random",        "single", "dpos"};

    say(spec, "%s", names[below(d, sizeof(names) / sizeof(names[0]))]);
}

static void draw_pipeline(struct drawn *d, char spec[LONGEST])
{
    size_t n = 0;

    while (fr_schedule_kind_at(n))
        n++;
    say(spec, "pp:schedule=%s,micro=%u", fr_schedule_kind_at(below(d, (unsigned)n))->name,
        1u << below(d, 3));
}

/* A strategy for models on n GPUs. */
static void draw_strategy(struct drawn *d, unsigned n, char spec[LONGEST])
{
    static const char *const syncs[] = {"ring", "ps-cpu", "ps-gpu0", "ps-sharded"};
    static const char *const recompute[] = {"none", "selective", "full"};
    unsigned tp = 1u << below(d, 2), pp = 1u << below(d, 2);

    switch (below(d, 8)) {
    case 0:
    case 1:
        say(spec, "dp:sync=%s,overlap=%u,accumulate=%u", syncs[below(d, 4)], below(d, 2),
            1u << below(d, 2));
        return;
    case 2:
    case 3:
        draw_pipeline(d, spec);
        return;
    case 4:
    case 5:
        tp = n % (tp * pp) ? 1 : tp;
        pp = n % (tp * pp) ? 1 : pp;
        say(spec, "hybrid:dp=%u,tp=%u,pp=%u,micro=%u,zero=%u,recompute=%s", n / (tp * pp), tp, pp,
            1u << below(d, 2), below(d, 4), recompute[below(d, 3)]);
        return;
    case 6:
        say(spec, "pipedream:flush=1");
        return;
    default:
        draw_list(d, spec);
    }
}

static void draw_question(struct drawn *d, struct fr_question *q, char spec[LONGEST])
{
    unsigned n = 1 + below(d, d->n_machines * d->n_each);

    if (d->has_tasks)
        draw_list(d, spec);
    else
        draw_strategy(d, n, spec);
    q->strategy = spec;
    q->n_gpus = n;
    q->global_batch = d->has_tasks ? 0 : n * (4u << below(d, 3));
    q->iterations = below(d, 3) ? 1 : 1 + below(d, 4);
    q->run.order = (enum fr_order)fr__rng_below(&d->rng, FR_N_ORDERS);
    if (strncmp(spec, "pp", 2) == 0 && fr_order_is_pass(q->run.order))
        q->run.order = FR_ORDER_FIFO; /* tac takes a minute for an unrolled pipeline */
    q->run.network = (enum fr_network)fr__rng_below(&d->rng, FR_N_NETWORKS);
    q->run.channels = below(d, 4) == 0;
    q->run.seed = below(d, 1000);
    q->collectives = (enum fr_collectives)below(d, 3);
    q->optimizer = (enum fr_optimizer)fr__rng_below(&d->rng, FR_N_OPTIMIZERS);
}

static void draw_workload(struct drawn *d, struct fr_question *q)
{
    static const char *const models[] = {
        "lenet", "alexnet", "gpt:layers=4,hidden=64,heads=4,seq=32,vocab=128",
        "rnnlm:layers=2,hidden=32,vocab=100", "gpt:layers=8,hidden=128,heads=8,seq=64,vocab=256"};

    fr_question_init(q);
    q->no_timing = true;
    q->topology = d->topology;
    q->workload = d->has_tasks ? d->tasks : models[below(d, 5)];
}

/* ---- what must hold ---- */

static void check_account(const struct fr_record *r, const char *what)
{
    double sum_s = r->compute_s + r->exposed_comm_s + r->bubble_s;

    ck_assert_msg(isfinite(r->iteration_s) && r->iteration_s > 0, "%s: %g s", what, r->iteration_s);
    ck_assert_msg(fabs(sum_s - r->iteration_s) <= 1e-9 * r->iteration_s,
                  "%s: %.17g s of %.17g s are accounted for", what, sum_s, r->iteration_s);
    ck_assert_msg(r->lower_bound_s <= r->iteration_s * (1 + 1e-9),
                  "%s: the bound %.17g s is above the time %.17g s", what, r->lower_bound_s,
                  r->iteration_s);
}

/* A device's peak is at least what is there from the beginning to the end. */
static void check_memory(const struct fr_record *r, const char *what)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);

    for (size_t i = 0; i < r->n_devices; i++) {
        uint64_t stays = 0;

        for (size_t b = 0; b < v->n_buffers; b++)
            if (v->buffers[b].device == r->devices[i].device && v->buffers[b].alloc == FR_NONE &&
                v->buffers[b].alias == FR_NONE)
                stays += v->buffers[b].bytes;
        ck_assert_msg(r->devices[i].peak_bytes >= stays, "%s: %s: peak %llu, but %llu stay", what,
                      r->devices[i].name, (unsigned long long)r->devices[i].peak_bytes,
                      (unsigned long long)stays);
    }
}

/* FR_OK: the answer's time and peak; other statuses are refusals. */
static enum fr_status ask(const struct fr_setting *s, const struct fr_question *q, double *time_s,
                          uint64_t *peak, const char *what, struct fr_error *err)
{
    struct fr_record *r;

    FR_TRY(fr_answer_on(s, q, NULL, &r, err));
    check_account(r, what);
    check_memory(r, what);
    *time_s = r->iteration_s;
    *peak = r->peak_bytes;
    fr_record_free(r);
    return FR_OK;
}

/* The same question where resources take `factor` times as long: links' bandwidth alone, or all. */
static double ask_slower(const struct fr_setting *s, const struct fr_question *q, double factor,
                         bool bandwidth_alone, const char *what)
{
    double slowness[MOST_RESOURCES], time_s = 0;
    struct fr_question changed = *q;
    struct fr_error err = {.text = ""};
    uint64_t peak;

    ck_assert_uint_le(fr_n_resources(s->topo), MOST_RESOURCES);
    for (size_t i = 0; i < fr_n_resources(s->topo); i++) {
        struct fr_resource k = fr_resource_at(s->topo, i);

        slowness[i] =
            bandwidth_alone && (!k.is_link || k.link_what != FR_LINK_BANDWIDTH) ? 1 : factor;
    }
    changed.run.slowness = slowness;
    ck_assert_msg(ask(s, &changed, &time_s, &peak, what, &err) == FR_OK, "%s: %s", what, err.text);
    return time_s;
}

/* The two settings differ in names alone. */
struct pair {
    struct fr_setting as_is, renamed;
};

static void check_question(const struct pair *p, const struct fr_question *q, const char *what,
                           struct count *n)
{
    struct fr_error err = {.text = ""}, other = {.text = ""};
    uint64_t peak, other_peak;
    double time_s, other_s;
    enum fr_status st = ask(&p->as_is, q, &time_s, &peak, what, &err);

    if (st != FR_OK) { /* options that do not go together, with a reason */
        ck_assert_msg(st != FR_ENOMEM && err.text[0], "%s: %s", what, err.text);
        ck_assert_msg(!strstr(err.text, "bug"), "%s: %s", what, err.text);
        n->refused++;
        return;
    }
    n->answers++;
    st = ask(&p->renamed, q, &other_s, &other_peak, what, &other);
    ck_assert_msg(st == FR_OK && time_s == other_s && peak == other_peak,
                  "%s: %.17g s, with other names %.17g s %s", what, time_s, other_s, other.text);
    other_s = ask_slower(&p->as_is, q, 2, false, what);
    ck_assert_msg(other_s == 2 * time_s, "%s: %.17g s, with all times doubled %.17g s", what,
                  time_s, other_s);
    other_s = ask_slower(&p->as_is, q, 0.5, true, what);
    if (other_s > time_s * (1 + 1e-9)) {
        printf("anomaly: %s: %.9g s, with twice the bandwidth %.9g s\n", what, time_s, other_s);
        n->anomalies++;
        n->worst = fmax(n->worst, other_s / time_s);
    }
}

static void load(struct fr_setting *s, const struct fr_question *q)
{
    struct fr_error err = {.text = ""};

    ck_assert_msg(fr_setting_load(s, q, &err) == FR_OK, "%s", err.text);
}

static void check_cluster(struct drawn *d, unsigned seed, struct count *n)
{
    struct fr_question q, renamed;
    char spec[LONGEST], what[512];
    struct pair p;

    fr__rng_init(&d->rng, seed, 0);
    draw_cluster(d);
    draw_workload(d, &q);
    load(&p.as_is, &q);
    renamed = q;
    renamed.topology = d->renamed;
    renamed.workload = d->has_tasks ? d->retasked : q.workload;
    load(&p.renamed, &renamed);
    for (unsigned i = 0; i < ANSWERS_A_CLUSTER; i++) {
        draw_question(d, &q, spec);
        snprintf(what, sizeof(what),
                 "seed %u, question %u: %s on %u x %u, -g %zu -b %u -s %s, %s, "
                 "%s, %u iterations",
                 seed, i, d->has_tasks ? "tasks" : q.workload, d->n_machines, d->n_each, q.n_gpus,
                 q.global_batch, spec, fr_order_name(q.run.order), fr_network_name(q.run.network),
                 q.iterations);
        check_question(&p, &q, what, n);
    }
    fr_setting_fini(&p.as_is);
    fr_setting_fini(&p.renamed);
}

TEST(answers_account_for_themselves_scale_and_do_not_depend_on_names)
{
    unsigned wanted = from_environment("PROPERTIES_N", getenv("FORERUN_TESTS_WHOLE") ? 500 : 60);
    unsigned first = from_environment("PROPERTIES_SEED", 1), seed = first;
    struct count n = {0, 0, 0, 1};
    struct drawn d;

    say(d.folder, "/tmp/forerun-properties-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(d.folder));
    snprintf(d.topology, LONGEST, "%.60s/a.yaml", d.folder);
    snprintf(d.renamed, LONGEST, "%.60s/b.yaml", d.folder);
    snprintf(d.tasks, LONGEST, "%.60s/a.csv", d.folder);
    snprintf(d.retasked, LONGEST, "%.60s/b.csv", d.folder);
    for (; n.answers < wanted; seed++)
        check_cluster(&d, seed, &n);
    remove(d.topology);
    remove(d.renamed);
    remove(d.tasks);
    remove(d.retasked);
    rmdir(d.folder);
    printf("seeds %u to %u: %u answers, %u refused, %u anomalies, the worst %.3g times\n", first,
           seed - 1, n.answers, n.refused, n.anomalies, n.worst);
    ck_assert_uint_lt(n.refused, n.answers);
    ck_assert_uint_lt(20 * n.anomalies, n.answers + 20); /* rare */
    ck_assert_double_lt(n.worst, 2);                     /* Graham's bound */
}

int main(void)
{
    TCase *tc = tcase_create("properties");

    tcase_set_timeout(tc, 600);
    add_tests(tc);
    return run_case(tc, "study/properties");
}
