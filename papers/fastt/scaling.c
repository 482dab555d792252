/* papers/fastt/scaling.c - strong and weak scaling (Tables 1 and 2), and the baselines that they
 * may have been compared with.
 *
 * FastT is what its pre-training ends with: costs learned round by round on the simulated cluster
 * (`forerun learn`, by the paper's rule), or OS-DPOS's plan by known costs where that is faster, or
 * slim, to which it rolls back. Pre-training of a large graph is cut after fewer rounds, so that
 * the tables take a minute: rounds times operations are at most `most_work`.
 */
#include "config.h"

#include "papers/fastt/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OWN "os-dpos:plain=ignore"
#define LEARNED "os-dpos:rule=paper"

static const struct fr__fastt_place weak[] = {{"2", FR__FASTT_SERVER, 2, false},
                                              {"4", FR__FASTT_SERVER, 4, false},
                                              {"8", FR__FASTT_SERVER, 8, false},
                                              {"2x8", "2x dgx1-v100 via ib:100Gbps", 16, false}};

static const size_t most_work = 40000;

/* What FastT ends with. */
struct fastt {
    const struct fr__repro_answer *kept; /* of a plan by known costs, or slim */
    double iteration_s;
    const char *which;
    bool is_planned;
    char rounds[32];
};

static const char *kept_word(const struct fr__repro_answer *a)
{
    return a->oom              ? ""
           : a->n_ops == 0     ? "slim"
           : a->keeps_replicas ? "replicas"
           : a->n_splits > 0   ? "placed, split"
                               : "placed";
}

/* Pre-training, if there is time for it. */
static enum fr_status pre_train(struct fr__repro *b, struct fr_question q,
                                const struct fr__repro_answer *split, struct fastt *f,
                                struct fr_error *err)
{
    size_t rounds = split->n_ops ? most_work / split->n_ops : 0;
    struct fr__repro_learned learned;

    snprintf(f->rounds, sizeof(f->rounds), "none");
    if (rounds == 0)
        return FR_OK;
    q.strategy = LEARNED;
    FR_TRY(fr__repro_learn(b, &q, rounds > 100 ? 100 : (uint32_t)rounds, &learned, err));
    snprintf(f->rounds, sizeof(f->rounds), "%zu%s", learned.n_rounds,
             learned.has_converged ? "" : ", cut");
    if (!learned.is_first && learned.iteration_s < f->iteration_s) {
        f->iteration_s = learned.iteration_s;
        f->which = learned.n_splits ? "learned, split" : "learned";
        f->is_planned = true;
    }
    return FR_OK;
}

static enum fr_status ask_fastt(struct fr__repro *b, struct fr_question q, struct fastt *f,
                                struct fr_error *err)
{
    const struct fr__repro_answer *split, *slim[2];

    FR_TRY(fr__fastt_ask_slim(b, q, slim, err));
    FR_TRY(fr__fastt_ask(b, q, FR__FASTT_SPLIT, &split, err));
    f->kept = fr__fastt_faster(split, fr__fastt_faster(slim[0], slim[1]));
    f->iteration_s = f->kept->iteration_s;
    f->which = kept_word(f->kept);
    f->is_planned = f->kept->n_ops > 0;
    return pre_train(b, q, split, f, err);
}

static const struct fr_repro_column scaling_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"gpus", "GPUs", FR_UNIT_TEXT},
    {"slim_cpu_s", "slim, CPU", FR_UNIT_SECONDS},
    {"slim_gpu0_s", "slim, GPU 0", FR_UNIT_SECONDS},
    {"ring_s", "ring", FR_UNIT_SECONDS},
    {"fastt_s", "FastT", FR_UNIT_SECONDS},
    {"kept", "which is", FR_UNIT_TEXT},
    {"rounds", "rounds", FR_UNIT_TEXT},
    {"gain", "gain", FR_UNIT_FRACTION},
    {"gain_cpu", "over CPU", FR_UNIT_FRACTION},
    {"published", "paper", FR_UNIT_FRACTION},
    {"difference", "difference", FR_UNIT_FRACTION},
    {"own_s", "own rules", FR_UNIT_SECONDS},
    {"own_rule", "by", FR_UNIT_TEXT},
};

struct best {
    double gain;
    const char *model, *gpus;
    size_t n_rows, n_planned, n_own_first; /* rows; FastT is a plan; our rules are the fastest */
};

static void count(struct best *best, const struct fr__fastt_model *m,
                  const struct fr__fastt_place *p, const struct fastt *f, double gain)
{
    best->n_rows++;
    best->n_planned += f->is_planned;
    if (!(gain > best->gain))
        return;
    best->gain = gain;
    best->model = m->name;
    best->gpus = p->title;
}

/* Speed over that of the faster of slim's two ways. */
static enum fr_status add_scaling_row(struct fr__repro *b, const struct fr__fastt_model *m,
                                      const struct fr__fastt_place *p, bool is_weak,
                                      double published, struct best *best, struct fr_error *err)
{
    const struct fr_question q = fr__fastt_question(m, p, is_weak);
    const struct fr__repro_answer *slim[2], *ring, *own = NULL;
    const char *rounds;
    struct fastt f;
    double gain;

    FR_TRY(fr__fastt_ask_slim(b, q, slim, err));
    FR_TRY(fr__fastt_ask(b, q, "dp", &ring, err));
    FR_TRY(ask_fastt(b, q, &f, err));
    if (!is_weak) { /* 16 replicas of GNMT take too long */
        FR_TRY(fr__fastt_ask(b, q, OWN, &own, err));
        best->n_own_first +=
            own->iteration_s < fmin(ring->iteration_s, f.iteration_s); /* NaN: not */
    }
    rounds = fr__repro_text(b, f.rounds);
    if (!rounds)
        return fr__fail_nomem(err);
    gain = fr__fastt_faster(slim[0], slim[1])->iteration_s / f.iteration_s - 1;
    count(best, m, p, &f, gain);
    return fr__repro_row(
        b,
        (struct fr_repro_cell[]){
            fr__fastt_word(m->name), fr__fastt_word(p->title), fr__fastt_time(slim[0]),
            fr__fastt_time(slim[1]), fr__fastt_time(ring), fr__fastt_number(f.iteration_s),
            fr__fastt_word(f.which), fr__fastt_word(rounds), fr__fastt_number(gain),
            fr__fastt_number(slim[0]->iteration_s / f.iteration_s - 1), fr__fastt_number(published),
            fr__fastt_number(gain - published), own ? fr__fastt_time(own) : fr__fastt_word(""),
            fr__fastt_word(own ? own->own_rule : "")},
        err);
}

static enum fr_status begin_scaling(struct fr__repro *b, bool is_weak, struct fr_error *err)
{
    return fr__repro_begin(
        b, is_weak ? "weak" : "strong",
        is_weak ? "Weak scaling (Table 2): time of an iteration, the same batch on each GPU"
                : "Strong scaling (Table 1): time of an iteration, the same batch over all GPUs",
        is_weak
            ? "up to 19.2 % faster than data parallelism (VGG, 16 GPUs of two servers); less than "
              "under strong scaling everywhere"
            : "up to 59.4 % (introduction, 6.3; 63.6 % in the conclusion) faster than data "
              "parallelism: VGG, 4 GPUs; at 8 GPUs both may get slower",
        scaling_columns, sizeof(scaling_columns) / sizeof(scaling_columns[0]), err);
}

enum fr_status fr__fastt_scaling(struct fr__repro *b, bool is_weak, struct fr_error *err)
{
    const struct fr__fastt_place *places = is_weak ? weak : fr__fastt_strong;
    struct best best = {.gain = -1, .model = "", .gpus = ""};
    char own[80] = "";

    FR_TRY(begin_scaling(b, is_weak, err));
    for (size_t m = 0; m < FR__FASTT_N_MODELS; m++)
        for (size_t p = 0; p < 4; p++) {
            const struct fr__fastt_model *model = &fr__fastt_models[m];
            bool is_vgg = strcmp(model->workload, "vgg19") == 0;
            double published = is_vgg && is_weak && p == 3    ? 0.192
                               : is_vgg && !is_weak && p == 1 ? 0.594
                                                              : (double)NAN;

            FR_TRY(add_scaling_row(b, model, &places[p], is_weak, published, &best, err));
        }
    if (!is_weak)
        snprintf(own, sizeof(own), "; our own rules are faster than all of them in %zu",
                 best.n_own_first);
    return fr__repro_found(
        b, err,
        "at best %.1f %% over the faster of slim's two ways: %s on %s GPUs; FastT "
        "is a plan of its own in %zu of %zu rows, and slim, rolled back to, in the "
        "others%s",
        100 * best.gain, best.model, best.gpus, best.n_planned, best.n_rows, own);
}

/* ---- baselines ---- */

static const struct fr_repro_column baseline_columns[] = {
    {"model", "model", FR_UNIT_TEXT},
    {"gpus", "GPUs", FR_UNIT_TEXT},
    {"cpu_shared_start_s", "CPU, shared, start", FR_UNIT_SECONDS},
    {"cpu_shared_end_s", "end", FR_UNIT_SECONDS},
    {"cpu_own_start_s", "own x16, start", FR_UNIT_SECONDS},
    {"cpu_own_end_s", "end", FR_UNIT_SECONDS},
    {"gpu0_shared_start_s", "GPU 0, shared, start", FR_UNIT_SECONDS},
    {"gpu0_shared_end_s", "end", FR_UNIT_SECONDS},
    {"gpu0_own_start_s", "own x16, start", FR_UNIT_SECONDS},
    {"gpu0_own_end_s", "end", FR_UNIT_SECONDS},
    {"band", "slowest over fastest", FR_UNIT_TIMES},
};

enum { N_WAYS = 8 };

/* Variables, whose PCIe, when parameters are pulled: in the order of the columns. */
static enum fr_status ask_way(struct fr__repro *b, struct fr_question q, size_t way,
                              const struct fr__repro_answer **out, struct fr_error *err)
{
    static const char *const strategies[] = {"dp:sync=ps-cpu,pull=start", "dp:sync=ps-cpu,pull=end",
                                             "dp:sync=ps-gpu0,pull=start",
                                             "dp:sync=ps-gpu0,pull=end"};

    q.topology = way & 2 ? "8x-v100-own-x16" : FR__FASTT_SERVER;
    return fr__fastt_ask(b, q, strategies[way / 4 * 2 + way % 2], out, err);
}

static enum fr_status add_baseline_row(struct fr__repro *b, const struct fr__fastt_model *m,
                                       const struct fr__fastt_place *p, double *widest,
                                       struct fr_error *err)
{
    struct fr_repro_cell cells[2 + N_WAYS + 1] = {fr__fastt_word(m->name),
                                                  fr__fastt_word(p->title)};
    double least_s = INFINITY, most_s = 0;

    for (size_t way = 0; way < N_WAYS; way++) {
        const struct fr__repro_answer *a;

        FR_TRY(ask_way(b, fr__fastt_question(m, p, false), way, &a, err));
        cells[2 + way] = fr__fastt_time(a);
        least_s = fmin(least_s, a->iteration_s);
        most_s = fmax(most_s, a->iteration_s);
    }
    cells[2 + N_WAYS] = fr__fastt_number(most_s / least_s);
    *widest = fmax(*widest, most_s / least_s);
    return fr__repro_row(b, cells, err);
}

enum fr_status fr__fastt_baselines(struct fr__repro *b, struct fr_error *err)
{
    double widest = 0;

    FR_TRY(fr__repro_begin(
        b, "baselines",
        "The band of baselines: slim's replicas, by where variables are, whether two GPUs share a "
        "PCIe switch's x16 (dgx1-v100) or each has its own (8x-v100-own-x16), and when parameters "
        "are pulled",
        "which of these it compares with is not stated", baseline_columns,
        sizeof(baseline_columns) / sizeof(baseline_columns[0]), err));
    for (size_t m = 0; m < FR__FASTT_N_MODELS; m++)
        for (size_t p = 0; p < 3; p++)
            FR_TRY(add_baseline_row(b, &fr__fastt_models[m], &fr__fastt_strong[p], &widest, err));
    return fr__repro_found(b, err,
                           "the slowest baseline takes up to %.1f times as long as the fastest: a "
                           "gain over an unknown one of them says little",
                           widest);
}
