/* jobfile/derive.c - what follows from what a job says: defaults of its framework, degrees and
 * batches that are products of others, the padded vocabulary, patterns of layers.
 *
 * Sources:  Megatron-LM, megatron/training/arguments.py, validate_args (world size, micro-batches,
 *           feed-forward width) and megatron/core/tokenizers, _vocab_size_with_padding; DeepSpeed,
 *           runtime/config.py, _batch_assertion: batch = micro-batch x steps x ranks.
 */
#include "config.h"

#include "jobfile/facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 4096 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- defaults and rows of implications ---- */

static void unset(struct fr_job *j, enum fr__job_fact_kind k)
{
    j->facts[k] = (struct fr__job_held){.value = NULL};
}

static bool is_met(const struct fr_job *j, const char *fact, const char *value)
{
    enum fr__job_fact_kind k = fr__job_fact_parse(fact);

    if (strcmp(fact, "-") == 0)
        return true;
    if (k == FR__N_JOB_FACTS)
        return false;
    if (strcmp(value, "-") == 0)
        return !j->facts[k].value && !j->facts[k].unknown;
    return j->facts[k].value && (strcmp(value, "*") == 0 || fr__job_is(j, k, value));
}

static void apply_rows(struct fr_job *j, const struct fr__job_framework *f)
{
    for (size_t i = 0; i < COUNT(f->implies) && f->implies[i][0]; i++) {
        const char *const *row = f->implies[i];
        enum fr__job_fact_kind k = fr__job_fact_parse(row[4]);

        if (k == FR__N_JOB_FACTS || !is_met(j, row[0], row[1]) || !is_met(j, row[2], row[3]))
            continue;
        if (strcmp(row[5], "-") == 0)
            unset(j, k);
        else
            j->facts[k].value = row[5];
    }
    for (size_t i = 0; i < COUNT(f->defaults) && f->defaults[i][0]; i++) {
        enum fr__job_fact_kind k = fr__job_fact_parse(f->defaults[i][0]);

        if (k < FR__N_JOB_FACTS && !j->facts[k].value && !j->facts[k].unknown)
            j->facts[k].value = f->defaults[i][1];
    }
    if (f->like)
        apply_rows(j, fr__job_framework(f->like));
}

/* ---- the model ---- */

static enum fr_status vocabulary(struct fr_job *j, struct fr_error *err)
{
    uint64_t size = fr__job_number(j, FR__JOB_VOCAB_SIZE),
             by = fr__job_number(j, FR__JOB_VOCAB_MULTIPLE) * fr__job_number(j, FR__JOB_TP);

    if (j->facts[FR__JOB_VOCAB].value || size == 0)
        return FR_OK;
    if (by > 0)
        size = (size + by - 1) / by * by;
    return fr__job_set(j, FR__JOB_VOCAB, err, "%" PRIu64, size);
}

static enum fr_status widths(struct fr_job *j, struct fr_error *err)
{
    uint64_t hidden = fr__job_number(j, FR__JOB_HIDDEN), heads = fr__job_number(j, FR__JOB_HEADS);
    uint64_t ratio = fr__job_number(j, FR__JOB_FFN_RATIO);
    bool is_gated = fr__job_is(j, FR__JOB_GATED, "1");

    if (!j->facts[FR__JOB_POSITIONS].value)
        j->facts[FR__JOB_POSITIONS].value = j->facts[FR__JOB_SEQ].value;
    if (hidden && !j->facts[FR__JOB_FFN].value && !j->facts[FR__JOB_FFN].unknown)
        FR_TRY(fr__job_set(j, FR__JOB_FFN, err, "%" PRIu64,
                           ratio      ? ratio * hidden
                           : is_gated ? hidden * 4 * 2 / 3 / 64 * 64
                                      : 4 * hidden));
    if (j->facts[FR__JOB_EXPERTS].value && !j->facts[FR__JOB_EXPERT_FFN].value)
        j->facts[FR__JOB_EXPERT_FFN] = j->facts[FR__JOB_FFN];
    if (fr__job_is(j, FR__JOB_GROUPED, "1") && !j->facts[FR__JOB_KV_HEADS].value)
        FR_TRY(fr__job_set(j, FR__JOB_KV_HEADS, err, "1"));
    if (heads && fr__job_number(j, FR__JOB_KV_HEADS) == heads)
        unset(j, FR__JOB_KV_HEADS);
    if (heads && fr__job_number(j, FR__JOB_HEAD_WIDTH) * heads == hidden)
        unset(j, FR__JOB_HEAD_WIDTH);
    if (fr__job_number(j, FR__JOB_EXPERTS) == 1 && fr__job_is(j, FR__JOB_CHOSEN, "1"))
        unset(j, FR__JOB_EXPERTS);
    return FR_OK;
}

/* "([0]*3+[1]*58)*2", Python of brackets, '+', '*' and numbers, as a text of a digit a layer. */
struct pattern {
    const char *at;
    char layers[MOST_LAYERS + 1];
    size_t n;
    unsigned depth;
    bool is_wrong;
};

static uint64_t pattern_number(struct pattern *p)
{
    uint64_t n = 0;

    for (; *p->at >= '0' && *p->at <= '9'; p->at++)
        n = n < MOST_LAYERS ? n * 10 + (uint64_t)(*p->at - '0') : n;
    return n;
}

static void pattern_sum(struct pattern *p);

static void pattern_term(struct pattern *p)
{
    size_t from = p->n, n;
    char close = *p->at == '[' ? ']' : ')';

    if (*p->at == '(' && ++p->depth < 16) {
        p->at++;
        pattern_sum(p);
    } else if (*p->at == '[') {
        do {
            p->at++;
            p->at += strspn(p->at, " ");
            if (p->n < MOST_LAYERS && *p->at >= '0' && *p->at <= '9')
                p->layers[p->n++] = *p->at;
            p->is_wrong |= pattern_number(p) > 9 || p->n >= MOST_LAYERS;
            p->at += strspn(p->at, " ");
        } while (*p->at == ',' && !p->is_wrong);
    }
    p->is_wrong |= *p->at != close;
    if (p->is_wrong)
        return;
    p->at++;
    if (*p->at != '*')
        return;
    p->at++;
    n = p->n - from;
    for (uint64_t times = pattern_number(p); times > 1 && !p->is_wrong; times--) {
        p->is_wrong |= p->n + n > MOST_LAYERS;
        if (!p->is_wrong)
            memcpy(p->layers + p->n, p->layers + from, n);
        p->n += n;
    }
}

static void pattern_sum(struct pattern *p)
{
    pattern_term(p);
    while (*p->at == '+' && !p->is_wrong) {
        p->at++;
        pattern_term(p);
    }
}

/* A fact that another's argument said. */
static enum fr_status set_from(struct fr_job *j, enum fr__job_fact_kind k,
                               enum fr__job_fact_kind from, uint64_t n, struct fr_error *err)
{
    j->facts[k] = j->facts[from];
    return fr__job_set(j, k, err, "%" PRIu64, n);
}

/* The period of a pattern in which one layer in each so many has experts, the one `at`; 0: none. */
static size_t find_period(const char *layers, size_t *at)
{
    size_t n = strlen(layers);

    for (size_t every = 2; every <= n; every++) {
        size_t i = 0;

        *at = strcspn(layers, "1");
        while (i < n && (layers[i] == '1') == (i % every == *at) && layers[i] <= '1')
            i++;
        if (i == n && *at < every)
            return every;
    }
    return 0;
}

static enum fr_status experts_every(struct fr_job *j, uint64_t every, uint64_t at,
                                    struct fr_error *err)
{
    FR_TRY(set_from(j, FR__JOB_EXPERTS_EVERY, FR__JOB_EXPERT_LAYERS, every, err));
    FR_TRY(set_from(j, FR__JOB_EXPERTS_AT, FR__JOB_EXPERT_LAYERS, at, err));
    j->facts[FR__JOB_EXPERT_LAYERS].value = "1";
    return FR_OK;
}

/* "0001111": without experts at first; "0101", "1010": experts in one layer of each so many. What
 * is neither is left as it is. */
static enum fr_status simplify_expert_layers(struct fr_job *j, struct fr_error *err)
{
    const char *text = j->facts[FR__JOB_EXPERT_LAYERS].value;
    size_t n_dense = strspn(text, "0"), at = 0, every = 0;

    if (strlen(text) > 1 && n_dense > 0 && text[n_dense] == '1' &&
        text[n_dense + strspn(text + n_dense, "1")] == '\0')
        FR_TRY(set_from(j, FR__JOB_DENSE_FIRST, FR__JOB_EXPERT_LAYERS, n_dense, err));
    else if (strlen(text) == fr__job_number(j, FR__JOB_LAYERS) && strlen(text) > 1)
        every = find_period(text, &at);
    if (every > 0)
        FR_TRY(experts_every(j, every, at, err));
    else if (!j->facts[FR__JOB_DENSE_FIRST].value)
        return FR_OK;
    j->facts[FR__JOB_EXPERT_LAYERS].value = "1";
    return FR_OK;
}

/* Experts that every token visits: a number of the others' width, or one behind a gate. */
static enum fr_status shared_experts(struct fr_job *j, struct fr_error *err)
{
    uint64_t width = fr__job_number(j, FR__JOB_SHARED_FFN),
             each = fr__job_number(j, FR__JOB_EXPERT_FFN);

    if (!j->facts[FR__JOB_EXPERTS].value)
        unset(j, FR__JOB_SHARED_FFN);
    if (!width)
        return FR_OK;
    if (fr__job_is(j, FR__JOB_SHARED_GATE, "1")) {
        FR_TRY(set_from(j, FR__JOB_SHARED_GATED, FR__JOB_SHARED_FFN, width, err));
        unset(j, FR__JOB_SHARED_FFN);
        return FR_OK;
    }
    if (each == 0 || width % each != 0)
        return FR_OK;
    FR_TRY(set_from(j, FR__JOB_SHARED_EXPERTS, FR__JOB_SHARED_FFN, width / each, err));
    unset(j, FR__JOB_SHARED_FFN);
    return FR_OK;
}

/* ---- attention ---- */

/* "127,0" of Transformer Engine: so many positions before a position, and it. What also looks ahead
 * is left as it is. */
static enum fr_status window_size(struct fr_job *j, struct fr_error *err)
{
    const char *text = j->facts[FR__JOB_WINDOW_SIZE].value;
    uint64_t n = 0;

    if (!text)
        return FR_OK;
    text += strspn(text, "([ ");
    for (; *text >= '0' && *text <= '9' && n < UINT32_MAX; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    text += strspn(text, ", ");
    if (*text != '0' || text[1 + strspn(text + 1, ")] ")])
        return FR_OK;
    FR_TRY(set_from(j, FR__JOB_WINDOW, FR__JOB_WINDOW_SIZE, n + 1, err));
    unset(j, FR__JOB_WINDOW_SIZE);
    return FR_OK;
}

/* Each layer of so many sees all positions; of one, each: there is no window. */
static enum fr_status window(struct fr_job *j, struct fr_error *err)
{
    uint64_t every = fr__job_number(j, FR__JOB_WINDOW_LAYERS);

    FR_TRY(window_size(j, err));
    if (every == 1)
        unset(j, FR__JOB_WINDOW);
    if (!j->facts[FR__JOB_WINDOW].value) {
        unset(j, FR__JOB_WINDOW_LAYERS);
        return FR_OK;
    }
    FR_TRY(fr__job_set(j, FR__JOB_MIXERS, err, "w"));
    if (every == 0)
        return FR_OK;
    FR_TRY(set_from(j, FR__JOB_FULL_EVERY, FR__JOB_WINDOW_LAYERS, every, err));
    unset(j, FR__JOB_WINDOW_LAYERS);
    return FR_OK;
}

/* Latent attention has one head of keys and values for each of queries; norms of queries and keys
 * are those of the latents (Megatron-LM, multi_latent_attention.py). */
static enum fr_status latent(struct fr_job *j, struct fr_error *err)
{
    if (fr__job_is(j, FR__JOB_ROTARY, "100"))
        unset(j, FR__JOB_ROTARY);
    if (!fr__job_is(j, FR__JOB_MLA, "1"))
        return FR_OK;
    if (!fr__job_is(j, FR__JOB_QK_NORM, "1"))
        FR_TRY(fr__job_note(j, err,
                            "latent attention without norms of the latents: they are counted"));
    unset(j, FR__JOB_QK_NORM);
    unset(j, FR__JOB_HEAD_WIDTH);
    unset(j, FR__JOB_KV_HEADS);
    return FR_OK;
}

/* Which layers have experts: "1" all, "2" every second, else a digit a layer: "0001111". */
static enum fr_status expert_layers(struct fr_job *j, struct fr_error *err)
{
    const char *text = j->facts[FR__JOB_EXPERT_LAYERS].value;
    uint64_t n = fr__job_number(j, FR__JOB_EXPERT_LAYERS);
    struct pattern *p;

    if (!j->facts[FR__JOB_EXPERTS].value)
        unset(j, FR__JOB_EXPERT_LAYERS);
    if (!text)
        return FR_OK;
    if (!strpbrk(text, "[("))
        return n > 1 ? experts_every(j, n, 0, err) : FR_OK; /* layers 0, n, 2 n, ... */
    p = calloc(1, sizeof(*p));
    if (!p)
        return fr__fail_nomem(err);
    p->at = text;
    pattern_sum(p);
    if (!p->is_wrong && !*p->at && p->n > 0) {
        p->layers[p->n] = '\0';
        j->facts[FR__JOB_EXPERT_LAYERS].value =
            p->layers[strspn(p->layers, "1")] == '\0' ? "1" : fr__arena_strdup(j->arena, p->layers);
    }
    free(p);
    if (!j->facts[FR__JOB_EXPERT_LAYERS].value)
        return fr__fail_nomem(err);
    return simplify_expert_layers(j, err);
}

/* ---- the layout ---- */

static enum fr_status stages(struct fr_job *j, struct fr_error *err)
{
    uint64_t layers = fr__job_number(j, FR__JOB_LAYERS), pp = fr__job_number(j, FR__JOB_PP),
             each = fr__job_number(j, FR__JOB_VIRTUAL_LAYERS);

    if (each > 0 && pp > 0 && layers % (each * pp) == 0 && !j->facts[FR__JOB_VIRTUAL].value)
        FR_TRY(fr__job_set(j, FR__JOB_VIRTUAL, err, "%" PRIu64, layers / pp / each));
    if (fr__job_is(j, FR__JOB_VIRTUAL, "1"))
        unset(j, FR__JOB_VIRTUAL);
    return FR_OK;
}

static uint64_t at_least_1(uint64_t n)
{
    return n ? n : 1;
}

/* Ranks that split a replica. */
static uint64_t ranks_of_replica(const struct fr_job *j)
{
    return at_least_1(fr__job_number(j, FR__JOB_TP)) * at_least_1(fr__job_number(j, FR__JOB_PP)) *
           at_least_1(fr__job_number(j, FR__JOB_CP));
}

static enum fr_status ranks(struct fr_job *j, struct fr_error *err)
{
    uint64_t nodes = fr__job_number(j, FR__JOB_NODES),
             each = fr__job_number(j, FR__JOB_GPUS_PER_NODE),
             shard = fr__job_number(j, FR__JOB_DP_SHARD),
             copies = fr__job_number(j, FR__JOB_DP_REPLICATE), n = ranks_of_replica(j), dp, gpus,
             pipes = at_least_1(fr__job_number(j, FR__JOB_PP)),
             experts = at_least_1(fr__job_number(j, FR__JOB_EP)) *
                       at_least_1(fr__job_number(j, j->facts[FR__JOB_ETP].value ? FR__JOB_ETP
                                                                                : FR__JOB_TP));

    if (each && !nodes && !j->facts[FR__JOB_NODES].argument) /* a launcher's default */
        nodes = 1;
    if (!j->facts[FR__JOB_DP].value && shard > 0)
        FR_TRY(fr__job_set(j, FR__JOB_DP, err, "%" PRIu64, shard * at_least_1(copies)));
    dp = fr__job_number(j, FR__JOB_DP);
    if (dp && !j->facts[FR__JOB_GPUS].value) /* what the layout says holds against the launcher */
        FR_TRY(fr__job_set(j, FR__JOB_GPUS, err, "%" PRIu64, dp * n));
    else if (!j->facts[FR__JOB_GPUS].value && nodes && each)
        FR_TRY(fr__job_set(j, FR__JOB_GPUS, err, "%" PRIu64, nodes * each));
    gpus = fr__job_number(j, FR__JOB_GPUS);
    if (gpus && (gpus % n != 0 || gpus / pipes % experts != 0)) {
        FR_TRY(fr__job_note(j, err,
                            "%" PRIu64 " GPUs, as the job says, do not hold a replica of %" PRIu64
                            " ranks: all GPUs of the cluster are taken",
                            gpus, gpus % n != 0 ? n : pipes * experts));
        unset(j, FR__JOB_GPUS);
        return FR_OK;
    }
    if (!j->facts[FR__JOB_DP].value && gpus)
        FR_TRY(fr__job_set(j, FR__JOB_DP, err, "%" PRIu64, gpus / n));
    return FR_OK;
}

static enum fr_status batches(struct fr_job *j, struct fr_error *err)
{
    uint64_t micro = fr__job_number(j, FR__JOB_MICRO), dp = fr__job_number(j, FR__JOB_DP),
             steps = at_least_1(fr__job_number(j, FR__JOB_ACCUMULATE)),
             batch = fr__job_number(j, FR__JOB_BATCH),
             tokens = fr__job_number(j, FR__JOB_BATCH_TOKENS), seq = fr__job_number(j, FR__JOB_SEQ);

    if (!batch && tokens && seq)
        FR_TRY(fr__job_set(j, FR__JOB_BATCH, err, "%" PRIu64, tokens / seq));
    else if (!batch && micro && dp)
        FR_TRY(fr__job_set(j, FR__JOB_BATCH, err, "%" PRIu64, micro * dp * steps));
    else if (batch && micro && !dp && j->facts[FR__JOB_ACCUMULATE].value &&
             batch % (micro * steps) == 0)
        FR_TRY(fr__job_set(j, FR__JOB_DP, err, "%" PRIu64, batch / (micro * steps)));
    return FR_OK;
}

static void numbers(struct fr_job *j)
{
    struct fr__job_held *f = j->facts;

    if (f[FR__JOB_FP8].value && !fr__job_is(j, FR__JOB_FP8, "0"))
        f[FR__JOB_PRECISION] = (struct fr__job_held){
            .value = "fp8", .argument = f[FR__JOB_FP8].argument, .loc = f[FR__JOB_FP8].loc};
    if (f[FR__JOB_SHARDING].value)
        f[FR__JOB_ZERO] = f[FR__JOB_SHARDING];
}

enum fr_status fr__job_derive(struct fr_job *j, struct fr_error *err)
{
    for (size_t i = 0; i < j->n_frameworks; i++)
        apply_rows(j, j->frameworks[i]);
    numbers(j);
    FR_TRY(vocabulary(j, err));
    FR_TRY(widths(j, err));
    FR_TRY(expert_layers(j, err));
    FR_TRY(shared_experts(j, err));
    FR_TRY(window(j, err));
    FR_TRY(latent(j, err));
    FR_TRY(stages(j, err));
    FR_TRY(ranks(j, err));
    return batches(j, err);
}
