/* study/advice/advice.c - finds changes that make a question fit in memory, by trying them. */
#include "config.h"

#include "study/advice/advice.h"

#include "base/error.h"
#include "study/advice/adviser.h"
#include "study/session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t MOST_EVENTS_ONCE = 1000000;
static const double MOST_TASKS = 1e6;

static enum fr_status try_batch(struct adviser *a, uint32_t batch, struct trial *out)
{
    struct fr_question q = a->question;

    if (q.batch_per_gpu)
        q.batch_per_gpu = batch;
    else
        q.global_batch = batch;
    return fr__advice_try(a, a->setting, &q, out);
}

static enum fr_status advise_batch(struct adviser *a)
{
    bool is_per_gpu = a->question.batch_per_gpu > 0;
    uint32_t asked = is_per_gpu ? a->question.batch_per_gpu : a->record->global_batch;
    uint32_t fits = 0, too_many = asked;
    struct trial best = {0}, t;
    char change[96], options[32];

    while (too_many - fits > 1) {
        uint32_t batch = fits + (too_many - fits) / 2;

        FR_TRY(try_batch(a, batch, &t));
        if (t.fits) {
            fits = batch;
            best = t;
        } else {
            too_many = batch;
        }
    }
    snprintf(change, sizeof(change), "%u samples%s instead of %u", fits, is_per_gpu ? " a GPU" : "",
             asked);
    snprintf(options, sizeof(options), "%s %u", is_per_gpu ? "-B" : "-b", fits);
    return fr__advice_add(a, &best, change, options, true);
}

static enum fr_status try_strategy(struct adviser *a, const char *spec, bool *fits)
{
    struct fr_question q = a->question;
    char change[96], options[96];
    struct trial t;

    q.strategy = spec;
    FR_TRY(fr__advice_try(a, a->setting, &q, &t));
    snprintf(change, sizeof(change), "strategy %s", spec);
    snprintf(options, sizeof(options), "-s %s", spec);
    *fits = t.fits;
    return fr__advice_add(a, &t, change, options, false);
}

/* Whether a plan of the strategy would cost more than an answer about advice is worth. */
static bool is_too_large(struct adviser *a, const struct fr_strategy *s)
{
    bool is_large =
        !s->folds && (double)a->record->n_gpus * (double)a->setting->graph->n_ops > MOST_TASKS;

    a->is_cut_short |= is_large;
    return is_large;
}

static bool is_asked_for(const struct adviser *a, const struct fr_strategy *strategy)
{
    size_t n = strlen(strategy->name);

    return strncmp(a->question.strategy, strategy->name, n) == 0 &&
           (a->question.strategy[n] == '\0' || a->question.strategy[n] == ':');
}

/* Options of the strategy that the user asked for; then every other strategy with its defaults,
 * and if one does not fit, with its options. */
static enum fr_status advise_strategies(struct adviser *a)
{
    const struct fr_strategy *strategy;
    bool fits;

    for (size_t i = 0; (strategy = fr_strategy_at(i)) != NULL; i++)
        if (is_asked_for(a, strategy))
            FR_TRY(fr__advise_options(a, strategy, a->question.strategy, true));
    for (size_t i = 0; (strategy = fr_strategy_at(i)) != NULL; i++) {
        if (strategy->is_by_name_only || is_asked_for(a, strategy) || is_too_large(a, strategy))
            continue;
        FR_TRY(try_strategy(a, strategy->name, &fits));
        if (!fits)
            FR_TRY(fr__advise_options(a, strategy, strategy->name, false));
    }
    return FR_OK;
}

static enum fr_status advise_gpus(struct adviser *a)
{
    struct fr_question q = a->question;
    size_t n_all = a->setting->topo->n_gpus, n = a->record->n_gpus;
    char change[96], options[32];
    struct trial t = {0};

    while (n < n_all && !t.fits) {
        n = 2 * n < n_all ? 2 * n : n_all;
        q.n_gpus = n;
        q.devices = NULL;
        FR_TRY(fr__advice_try(a, a->setting, &q, &t));
    }
    snprintf(change, sizeof(change), "%zu GPUs instead of %s%zu", n,
             a->question.devices ? "the named " : "", a->record->n_gpus);
    snprintf(options, sizeof(options), "-g %zu", n);
    return fr__advice_add(a, &t, change, options, q.batch_per_gpu > 0);
}

static enum fr_status advise_gradients(struct adviser *a)
{
    struct fr_question q = a->question;
    struct trial t;

    if (!q.keeps_gradients)
        return FR_OK;
    q.keeps_gradients = false;
    FR_TRY(fr__advice_try(a, a->setting, &q, &t));
    return fr__advice_add(a, &t, "gradients dropped after the step", "--zero-grad none", false);
}

/* The plain ones, and Adam in 8 bits, which trains most like Adam. */
static enum fr_status advise_optimizers(struct adviser *a)
{
    static const enum fr_optimizer tried[] = {FR_SGD, FR_MOMENTUM, FR_ADAM_8BIT};

    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        struct fr_question q = a->question;
        char change[96], options[32];
        struct trial t;

        if (fr_optimizer_bytes(tried[i]) >= fr_optimizer_bytes(q.optimizer))
            continue;
        q.optimizer = tried[i];
        FR_TRY(fr__advice_try(a, a->setting, &q, &t));
        snprintf(change, sizeof(change), "%s instead of %s", fr_optimizer_name(q.optimizer),
                 fr_optimizer_name(a->question.optimizer));
        snprintf(options, sizeof(options), "-O %s", fr_optimizer_name(q.optimizer));
        FR_TRY(fr__advice_add(a, &t, change, options, true));
    }
    return FR_OK;
}

/* Whether some GPU type of the topology is faster in that format than in fp32. */
static bool has_format(const struct fr_topo *t, enum fr_dtype dtype)
{
    enum fr_dtype unit = dtype == FR_AMP ? FR_FP16 : dtype;

    for (size_t i = 0; i < t->n_devices; i++) {
        const struct fr_device_type *type = &t->types[t->devices[i].type];

        if (type->is_gpu && type->flops_per_s[unit] > 0)
            return true;
    }
    return false;
}

static enum fr_status try_format(struct adviser *a, enum fr_dtype dtype)
{
    struct fr_question q = a->question;
    char change[96], options[32];
    struct fr_setting s;
    struct fr_error err;
    struct trial t;
    enum fr_status st;

    q.dtype = dtype;
    st = fr_session_setting(a->setting->session, &q, &s, &err);
    if (st != FR_OK) {
        *a->err = err;
        return st == FR_ENOMEM ? st : FR_OK;
    }
    st = fr__advice_try(a, &s, &q, &t);
    fr_setting_fini(&s);
    FR_TRY(st);
    snprintf(change, sizeof(change), "%s instead of %s", fr_dtype_name(dtype), a->record->dtype);
    snprintf(options, sizeof(options), "-p %s", fr_dtype_name(dtype));
    return fr__advice_add(a, &t, change, options, true);
}

static enum fr_status advise_formats(struct adviser *a)
{
    static const enum fr_dtype formats[] = {FR_AMP, FR_BF16, FR_FP16};
    enum fr_dtype asked = a->setting->graph->dtype;

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if ((asked == FR_FP32 || asked == FR_TF32) && has_format(a->setting->topo, formats[i]))
            FR_TRY(try_format(a, formats[i]));
    return FR_OK;
}

/* Order of advice: changes that leave the training as it is come first, then faster ones, then the
 * ones tried first. */
static bool goes_before(const struct fr_record_advice *x, const struct fr_record_advice *y)
{
    if (x->changes_training != y->changes_training)
        return y->changes_training;
    return x->samples_per_s > y->samples_per_s;
}

static enum fr_status keep(struct adviser *a)
{
    struct fr_record_advice *kept = fr__arena_alloc(a->arena, a->n, sizeof(*kept));

    if (!kept)
        return fr__fail_nomem(a->err);
    for (size_t i = 0; i < a->n; i++) {
        size_t at = i;

        for (; at > 0 && goes_before(&a->list[i], &kept[at - 1]); at--)
            kept[at] = kept[at - 1];
        kept[at] = a->list[i];
    }
    a->record->advice = kept;
    a->record->n_advice = a->n;
    return FR_OK;
}

enum fr_status fr__fill_advice(struct fr_record *r, struct fr__arena *arena,
                               const struct fr_setting *s, const struct fr_question *q,
                               const struct fr_context *ctx, struct fr_error *err)
{
    struct adviser a = {.setting = s, .question = *q, .record = r, .arena = arena, .err = err};
    enum fr_status st = FR_OK;

    r->has_advice = true;
    if (ctx)
        a.context.cancel = ctx->cancel;
    a.question.sensitivity = FR_SENSITIVITY_NONE;
    a.question.with_advice = false;
    a.question.is_brief = true;
    if (r->run->stats.events + r->correction.n_events > MOST_EVENTS_ONCE)
        a.is_cut_short = true;
    else if ((st = advise_batch(&a)) == FR_OK && (st = advise_strategies(&a)) == FR_OK &&
             (st = advise_gpus(&a)) == FR_OK && (st = advise_gradients(&a)) == FR_OK &&
             (st = advise_optimizers(&a)) == FR_OK)
        st = advise_formats(&a);
    if (st == FR_OK && a.n == 0 && !a.is_cut_short)
        st = fr__advise_machines(&a, advise_strategies);
    r->advice_tried = a.n_tried;
    r->is_advice_cut_short = a.is_cut_short;
    return st == FR_OK ? keep(&a) : st;
}
