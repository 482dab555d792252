/* papers/pipedream/experiments.c - PipeDream's plans by cluster (SOSP 2019, Table 1), and its
 * optimizer's own runs.
 *
 * Three answers stand side by side: the paper's; its published program's, on profiles that its
 * authors measured; and ours. Ours are two: our planner on the same profiles, where the caller has
 * them, and the engine's run of such a plan on a model and a cluster of our own. Nothing is fitted
 * to any of them.
 *
 * Figures of the paper come from summaries of it, those marked "not verified" from memory; plans
 * of the program from running it (commit 7db6a1c of github.com/msr-fiddle/pipedream).
 */
#include "config.h"

#include "papers/parts/build.h"

#include "base/file.h"
#include "lowering/stage_plan.h"
#include "study/answer/staging.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the optimizer on its own profiles ---- */

struct run {
    const char *profile, *cluster, *options;
    double pipeline_s, per_dp; /* data parallelism over the pipeline */
    const char *stages;        /* as the program had them */
};

/* Bandwidths are the authors' for their machines, in bytes a second; 4294967296 is theirs, too.
 * Where the program's order of states changes from run to run, it may print other stages of the
 * same time. */
static const struct run runs[] = {
    {"vgg16", "A, 4x4", "machines=4x4,bandwidth=10GB/s;10Gbps,compression=1", 0.067133997, 2.017231,
     "outer 3-1"},
    {"vgg16", "B, 8x2", "machines=8x2,bandwidth=30GB/s;25Gbps,compression=1", 0.065766687, 1.037092,
     "8-8"},
    {"vgg16", "4", "machines=4,bandwidth=1GB/s", 0.175732624, 3.318714, "3-1"},
    {"vgg16", "4", "machines=4,bandwidth=1GB/s,compression=1", 0.205520896, 2.837699, "3-1"},
    {"vgg16", "4", "machines=4,bandwidth=4GiB/s,compression=1", 0.172849377, 1.531827, "3-1"},
    {"vgg16", "16", "machines=16,bandwidth=10Gbps", 0.046587489, 3.129630, "9-1-2-1-1-1-1"},
    {"resnet50", "A, 4x4", "machines=4x4,bandwidth=10GB/s;10Gbps,compression=1", 0.043208469,
     1.040645, "outer 4"},
    {"resnet50", "B, 8x2", "machines=8x2,bandwidth=30GB/s;25Gbps,compression=1", 0.031988747,
     1.017490, "outer 2"},
    {"resnet50", "4", "machines=4,bandwidth=4GiB/s,compression=1", 0.112051364, 1.148635, "2-1-1"},
    {"alexnet", "A, 4x4", "machines=4x4,bandwidth=10GB/s;10Gbps,compression=1", 0.015099494,
     3.084582, "outer 2-1-1"},
    {"alexnet", "B, 8x2", "machines=8x2,bandwidth=30GB/s;25Gbps,compression=1", 0.009682566,
     1.744455, "8 and a tail"},
    {"gnmt", "10", "machines=10,bandwidth=1GB/s", 0.019032, 15.130547, "straight"},
    {"gnmt", "5x5", "machines=5x5,bandwidth=800MB/s;1GB/s", 0.019032, 11.916510, ""},
    {"gnmt_large", "4", "machines=4,bandwidth=1GB/s", 0.137129, 7.024524, "straight"},
};
enum { N_RUNS = sizeof(runs) / sizeof(runs[0]) };

struct ours {
    double pipeline_s, per_dp; /* NaN: no profile */
    char stages[96];           /* "3-1" */
};

static void list_stages(char *out, size_t n, const struct fr_stage_plan *p)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < p->n_stages && used + 8 < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%u", i ? "-" : "",
                                 (unsigned)p->stages[i].replicas);
}

/* Plans the profile of that name in the folder; FR_OK without an answer where it is not there. */
static enum fr_status plan(struct ours *out, const char *folder, const char *profile,
                           const char *options, const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_staging s;
    struct fr_question q;
    char path[1024], spec[256];
    FILE *f;

    *out = (struct ours){NAN, NAN, ""};
    if (!folder)
        return FR_OK;
    snprintf(path, sizeof(path), "%s/%s/graph.txt", folder, profile);
    f = fopen(path, "r");
    if (!f)
        return FR_OK;
    fclose(f);
    snprintf(spec, sizeof(spec), "pipedream:%s", options);
    fr_question_init(&q);
    q.workload = path;
    q.strategy = spec;
    FR_TRY(fr_staging_make(&s, &q, ctx, err));
    out->pipeline_s = s.plan->pipeline_time_s;
    out->per_dp = s.plan->dp_time_s / s.plan->pipeline_time_s;
    list_stages(out->stages, sizeof(out->stages), s.plan);
    fr_staging_fini(&s);
    return FR_OK;
}

static struct fr_repro_cell number(double value)
{
    return (struct fr_repro_cell){.value = value};
}

static struct fr_repro_cell word(const char *text)
{
    return (struct fr_repro_cell){.text = text, .value = NAN};
}

static const struct fr_repro_column optimizer_columns[] = {
    {"profile", "profile", FR_UNIT_TEXT},       {"cluster", "machines", FR_UNIT_TEXT},
    {"options", "options", FR_UNIT_TEXT},       {"program_stages", "program", FR_UNIT_TEXT},
    {"program_s", "its time", FR_UNIT_SECONDS}, {"program_over_dp", "over DP", FR_UNIT_TIMES},
    {"ours_stages", "ours", FR_UNIT_TEXT},      {"ours_s", "our time", FR_UNIT_SECONDS},
    {"ours_over_dp", "over DP", FR_UNIT_TIMES},
};

static enum fr_status optimizer(struct fr__repro *b, const char *folder,
                                const struct fr_context *ctx, struct fr_error *err)
{
    size_t n_met = 0, n_there = 0;

    FR_TRY(fr__repro_begin(b, "optimizer",
                           "The optimizer on its authors' profiles: replicas of the stages",
                           "its program's runs, printed to nine digits", optimizer_columns,
                           sizeof(optimizer_columns) / sizeof(optimizer_columns[0]), err));
    for (size_t i = 0; i < N_RUNS; i++) {
        const struct run *r = &runs[i];
        const char *stages;
        struct ours o;

        FR_TRY(plan(&o, folder, r->profile, r->options, ctx, err));
        stages = fr__repro_text(b, o.stages);
        if (!stages)
            return fr__fail_nomem(err);
        n_there += (size_t)!isnan(o.pipeline_s);
        n_met += (size_t)(fabs(o.pipeline_s - r->pipeline_s) <= 0.6e-9);
        FR_TRY(fr__repro_row(
            b,
            (struct fr_repro_cell[]){word(r->profile), word(r->cluster), word(r->options),
                                     word(r->stages), number(r->pipeline_s), number(r->per_dp),
                                     word(stages), number(o.pipeline_s), number(o.per_dp)},
            err));
    }
    if (n_there == 0)
        return fr__repro_found(
            b, err, "no profiles at hand; 'forerun reproduce pipedream FOLDER' takes them");
    return fr__repro_found(b, err,
                           "%zu of %zu times equal to all printed digits; %d runs have no "
                           "profile here",
                           n_met, n_there, (int)N_RUNS - (int)n_there);
}

/* ---- Table 1 ---- */

struct cluster {
    const char *name, *topology;
    size_t n_gpus;
};

/* A: Azure NC24 v3, PCIe inside a server; there is no such preset, so ours has NVLink there. B: AWS
 * p3.16xlarge. */
static const struct cluster a4x4 = {"A 4x4", "4x p3.16xlarge via eth:10Gbps", 16};
static const struct cluster a1x4 = {"A 1x4", "p3.16xlarge", 4};
static const struct cluster a3x4 = {"A 3x4", "3x p3.16xlarge via eth:10Gbps", 12};
static const struct cluster b2x8 = {"B 2x8", "2x p3.16xlarge via eth:25Gbps", 16};

struct row {
    const char *model, *workload; /* NULL: not in our zoo */
    const struct cluster *cluster;
    uint32_t batch;                /* of a GPU */
    const char *stages;            /* the paper's configuration */
    double epoch;                  /* its speed-up over data parallelism in time an epoch */
    const char *profile, *options; /* of the program's run for such a cluster; NULL: none */
    double program;                /* what that promises */
};

#define OPTIONS_A "machines=4x4,bandwidth=10GB/s;10Gbps,compression=1"
#define OPTIONS_B "machines=8x2,bandwidth=30GB/s;25Gbps,compression=1"

static const struct row rows[] = {
    {"VGG-16", "vgg16", &a4x4, 64, "15-1", 5.28, "vgg16", OPTIONS_A, 2.017231},
    {"VGG-16", "vgg16", &b2x8, 64, "15-1", 2.98, "vgg16", OPTIONS_B, 1.037092},
    {"ResNet-50", "resnet50", &a4x4, 128, "16", 1, "resnet50", OPTIONS_A, 1.040645},
    {"ResNet-50", "resnet50", &b2x8, 128, "16", 1, "resnet50", OPTIONS_B, 1.017490},
    {"AlexNet", "alexnet", &a4x4, 256, "15-1", 4.92, "alexnet", OPTIONS_A, 3.084582},
    {"AlexNet", "alexnet", &b2x8, 256, "15-1", 2.04, "alexnet", OPTIONS_B, 1.744455},
    {"GNMT-16", "gnmt-16", &a1x4, 64, "straight", 1.46, NULL, NULL, NAN},
    {"GNMT-16", "gnmt-16", &a4x4, 64, "straight", 2.34, NULL, NULL, NAN},
    {"GNMT-16", "gnmt-16", &b2x8, 64, "straight", 3.14, NULL, NULL, NAN},
    {"GNMT-8", "gnmt-8", &a1x4, 64, "straight", 1.5, "gnmt", "machines=4,bandwidth=10GB/s", NAN},
    {"GNMT-8", "gnmt-8", &a3x4, 64, "straight", 2.95, "gnmt",
     "machines=4x3,bandwidth=10GB/s;10Gbps", NAN},
    {"GNMT-8", "gnmt-8", &b2x8, 64, "16", 1, "gnmt", "machines=8x2,bandwidth=30GB/s;25Gbps", NAN},
    {"AWD-LM", NULL, &a1x4, 0, "straight", 4.25, NULL, NULL, NAN},
    {"S2VT", NULL, NULL, 0, "2-1-1", 3.01, NULL, NULL, NAN},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Mini-batches a GPU between two flushes of our pipeline; PipeDream's never is. */
enum { ROUNDS = 4 };

/* Samples a second of the pipeline over those of data parallelism, mini-batches of a GPU's batch
 * in both. */
static enum fr_status simulate(struct fr__repro *b, const struct row *r, struct fr_repro_cell *out,
                               struct fr_error *err)
{
    const struct fr__repro_answer *dp, *pipeline;
    uint32_t samples;
    struct fr_question q;
    char spec[64];

    *out = word("no such model");
    if (!r->workload)
        return FR_OK;
    samples = r->batch * (uint32_t)r->cluster->n_gpus;
    fr_question_init(&q);
    q.workload = r->workload;
    q.topology = r->cluster->topology;
    q.n_gpus = r->cluster->n_gpus;
    q.is_spread = true;
    q.is_brief = true;
    q.global_batch = samples;
    q.strategy = "dp";
    FR_TRY(fr__repro_ask(b, &q, &dp, err));
    snprintf(spec, sizeof(spec), "pipedream:micro=%u", (unsigned)r->batch);
    q.global_batch = samples * ROUNDS;
    q.strategy = spec;
    FR_TRY(fr__repro_ask(b, &q, &pipeline, err));
    *out = dp->oom || pipeline->oom ? word("out of memory")
                                    : number(ROUNDS * dp->iteration_s / pipeline->iteration_s);
    return FR_OK;
}

static const struct fr_repro_column cluster_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"cluster", "cluster", FR_UNIT_TEXT},
    {"paper_stages", "paper", FR_UNIT_TEXT},
    {"paper_over_dp", "an epoch", FR_UNIT_TIMES},
    {"program_over_dp", "program", FR_UNIT_TIMES},
    {"ours_stages", "ours, its profile", FR_UNIT_TEXT},
    {"ours_over_dp", "promises", FR_UNIT_TIMES},
    {"simulated_over_dp", "simulated", FR_UNIT_TIMES},
};

static enum fr_status add_cluster_row(struct fr__repro *b, const struct row *r, const char *folder,
                                      const struct fr_context *ctx, size_t *n_faster,
                                      struct fr_error *err)
{
    struct ours o = {NAN, NAN, ""};
    struct fr_repro_cell simulated;
    const char *stages;

    if (r->profile)
        FR_TRY(plan(&o, folder, r->profile, r->options, ctx, err));
    FR_TRY(simulate(b, r, &simulated, err));
    stages = fr__repro_text(b, o.stages);
    if (!stages)
        return fr__fail_nomem(err);
    *n_faster += (size_t)(simulated.value > 1);
    return fr__repro_row(
        b,
        (struct fr_repro_cell[]){word(r->model), word(r->cluster ? r->cluster->name : "C 4x1"),
                                 word(r->stages), number(r->epoch), number(r->program),
                                 word(stages), number(o.per_dp), simulated},
        err);
}

static enum fr_status clusters(struct fr__repro *b, const char *folder,
                               const struct fr_context *ctx, struct fr_error *err)
{
    size_t n_faster = 0;

    FR_TRY(fr__repro_begin(b, "clusters",
                           "Speed over data parallelism by cluster (Table 1), and replicas of the "
                           "stages",
                           "15-1 for VGG-16 and AlexNet, data parallelism for ResNet-50, straight "
                           "pipelines for GNMT-16; epochs of GNMT-16 on A and of GNMT-8 are not "
                           "verified",
                           cluster_columns, sizeof(cluster_columns) / sizeof(cluster_columns[0]),
                           err));
    for (size_t i = 0; i < N_ROWS; i++)
        FR_TRY(add_cluster_row(b, &rows[i], folder, ctx, &n_faster, err));
    return fr__repro_found(
        b, err,
        "%zu of 12 simulated pipelines are faster than data parallelism. The program "
        "promises VGG-16 and AlexNet less than the paper measured, and ResNet-50 "
        "data parallelism within 5 %%, as there",
        n_faster);
}

enum fr_status fr__reproduce_pipedream(struct fr_reproduction **out, const char *data,
                                       const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__repro *b = fr__repro_new(
        "pipedream",
        "D. Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP "
        "2019",
        "simulated: our models and V100 servers, fp32, SGD, calibrated costs, weights "
        "stashed, an update after each mini-batch; A has NVLink inside servers here, PCIe there",
        ctx);
    enum fr_status st = FR_OK;

    if (!b)
        return fr__fail_nomem(err);
    if (data && !fr__is_folder(data))
        st = fr__fail(err, FR_ENOENT, FR_NOWHERE, "no folder '%.200s' of profiles", data);
    if (st == FR_OK)
        st = clusters(b, data, ctx, err);
    if (st == FR_OK)
        st = optimizer(b, data, ctx, err);
    return fr__repro_finish(b, st, out);
}
