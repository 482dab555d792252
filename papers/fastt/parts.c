/* papers/fastt/parts.c - what the experiments of FastT share: models, machines, questions. */
#include "config.h"

#include "papers/fastt/parts.h"

#include "base/error.h"

#include <math.h>

const struct fr__fastt_model fr__fastt_models[FR__FASTT_N_MODELS] = {
    {"AlexNet", "alexnet", 256, 64, 0, FR_SGD, "none"},
    {"VGG-19", "vgg19", 64, 16, 0, FR_SGD, "conv2d"},
    {"LeNet", "lenet", 256, 64, 0, FR_SGD, "none"},
    {"ResNet-200", "resnet200", 32, 8, 0, FR_SGD, "conv2d"},
    {"Inception-v3", "inception-v3", 64, 16, 0, FR_SGD, "conv2d"},
    {"Transformer", "transformer-big", 64, 16, 0, FR_ADAM, "matmul"},
    {"BERT-large", "bert-large", 16, 8, 64, FR_ADAM, "matmul"},
    {"GNMT", "gnmt-8", 128, 32, 0, FR_ADAM, "none"},
    {"RNNLM", "rnnlm", 64, 16, 0, FR_SGD, "none"},
};

const struct fr__fastt_place fr__fastt_strong[4] = {
    {"2", FR__FASTT_SERVER, 2, false},
    {"4", FR__FASTT_SERVER, 4, false},
    {"8", FR__FASTT_SERVER, 8, false},
    {"2x4", "2x dgx1-v100 via ib:100Gbps", 8, true}};

struct fr_question fr__fastt_question(const struct fr__fastt_model *m,
                                      const struct fr__fastt_place *p, bool is_weak)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = m->workload;
    q.topology = p->topology;
    q.n_gpus = p->n_gpus;
    q.is_spread = p->is_spread;
    q.seq_len = m->seq_len;
    q.optimizer = m->optimizer;
    if (is_weak)
        q.batch_per_gpu = m->batch_per_gpu;
    else
        q.global_batch = m->batch;
    return q;
}

enum fr_status fr__fastt_ask(struct fr__repro *b, struct fr_question q, const char *strategy,
                             const struct fr__repro_answer **out, struct fr_error *err)
{
    q.strategy = strategy;
    return fr__repro_ask(b, &q, out, err);
}

/* NaN is slower than anything. */
const struct fr__repro_answer *fr__fastt_faster(const struct fr__repro_answer *a,
                                                const struct fr__repro_answer *b)
{
    return isnan(a->iteration_s) || b->iteration_s < a->iteration_s ? b : a;
}

enum fr_status fr__fastt_ask_slim(struct fr__repro *b, struct fr_question q,
                                  const struct fr__repro_answer *out[2], struct fr_error *err)
{
    FR_TRY(fr__fastt_ask(b, q, FR__FASTT_SLIM_CPU, &out[0], err));
    return fr__fastt_ask(b, q, FR__FASTT_SLIM_GPU0, &out[1], err);
}

struct fr_repro_cell fr__fastt_number(double value)
{
    return (struct fr_repro_cell){.value = value};
}

struct fr_repro_cell fr__fastt_word(const char *text)
{
    return (struct fr_repro_cell){.text = text, .value = NAN};
}

struct fr_repro_cell fr__fastt_time(const struct fr__repro_answer *a)
{
    return a->oom ? fr__fastt_word("out of memory") : fr__fastt_number(a->iteration_s);
}
