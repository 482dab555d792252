/* jobfile/ask.c - from facts to the settings of a question.
 *
 * It is separate from reading, so that a job whose model or optimizer cannot be asked for is still
 * understood. A model is asked for by the first row of asked_models.yaml that knows all facts about
 * it.
 */
#include "config.h"

#include "base/text.h"
#include "jobfile/facts.h"
#include "workloads/passes/recompute.h"
#include "study/study.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC = 1024 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static enum fr_status add(struct fr_job *j, const char *name, const char *text,
                          struct fr_error *err)
{
    if (j->n_settings == j->cap_settings) {
        struct fr_job_setting *grown =
            fr__arena_alloc(j->arena, j->cap_settings + 16, sizeof(*grown));

        if (!grown)
            return fr__fail_nomem(err);
        if (j->n_settings)
            memcpy(grown, j->settings, j->n_settings * sizeof(*grown));
        j->settings = grown;
        j->cap_settings += 16;
    }
    text = fr__arena_strdup(j->arena, text);
    if (!text)
        return fr__fail_nomem(err);
    j->settings[j->n_settings++] = (struct fr_job_setting){name, text};
    return FR_OK;
}

static enum fr_status add_fact(struct fr_job *j, const char *name, enum fr__job_fact_kind k,
                               struct fr_error *err)
{
    return j->facts[k].value ? add(j, name, j->facts[k].value, err) : FR_OK;
}

/* ---- the model ---- */

/* Whether a word of "a|b" is the fact's value; "-": it is not set, "*": it is. */
static bool is_one_of(const struct fr_job *j, enum fr__job_fact_kind k, const char *words)
{
    const char *value = j->facts[k].value;

    while (*words) {
        size_t n = strcspn(words, "|");

        if (n == 1 && words[0] == (value ? '*' : '-'))
            return true;
        if (value && strlen(value) == n && strncmp(words, value, n) == 0)
            return true;
        words += n + (words[n] != '\0');
    }
    return false;
}

static bool knows(const struct fr__job_model *m, enum fr__job_fact_kind k)
{
    const char *name = fr__job_fact_name(k);

    for (size_t i = 0; i < COUNT(m->needs) && m->needs[i][0]; i++)
        if (strcmp(m->needs[i][0], name) == 0)
            return true;
    for (size_t i = 0; i < COUNT(m->keys) && m->keys[i][0]; i++)
        if (strcmp(m->keys[i][1], name) == 0)
            return true;
    for (size_t i = 0; i < COUNT(m->notes) && m->notes[i][0]; i++)
        if (strcmp(m->notes[i][0], name) == 0)
            return true;
    return false;
}

/* How many facts stand in the model's way; *first: one of them. */
static size_t count_obstacles(const struct fr_job *j, const struct fr__job_model *m,
                              enum fr__job_fact_kind *first)
{
    size_t n = 0;

    *first = FR__N_JOB_FACTS;
    for (unsigned i = 0; i < FR__N_JOB_FACTS; i++) {
        enum fr__job_fact_kind k = (enum fr__job_fact_kind)i;
        bool is_wrong =
            i >= FR__JOB_FIRST_MODEL && j->facts[k].value && !fr__job_is(j, k, "0") && !knows(m, k);

        for (size_t r = 0; r < COUNT(m->needs) && m->needs[r][0]; r++)
            is_wrong |= fr__job_fact_parse(m->needs[r][0]) == k && !is_one_of(j, k, m->needs[r][1]);
        if (!is_wrong)
            continue;
        if (n == 0 || (!j->facts[*first].argument && j->facts[k].argument))
            *first = k;
        n++;
    }
    return n;
}

static enum fr_status fail_model(const struct fr_job *j, enum fr__job_fact_kind k,
                                 const struct fr__job_model *nearest, struct fr_error *err)
{
    const struct fr__job_held *f = &j->facts[k];

    return fr__fail(err, FR_EUNSUPPORTED, f->argument ? f->loc : FR_NOWHERE,
                    "this model cannot be asked for yet: %s%.80s%s%s is %.60s, which '%s' has "
                    "not; -w MODEL asks for another",
                    f->argument ? "'" : "", f->argument ? f->argument : "",
                    f->argument ? "', " : "", fr__job_fact_name(k), f->value ? f->value : "not set",
                    nearest->model);
}

static const char *value_of_key(const struct fr_job *j, const char *const key[])
{
    const char *value;

    if (key[1][0] == '=')
        return key[1] + 1;
    value = j->facts[fr__job_fact_parse(key[1])].value;
    return !value && key[2] ? j->facts[fr__job_fact_parse(key[2])].value : value;
}

static enum fr_status write_model(struct fr_job *j, const struct fr__job_model *m,
                                  struct fr_error *err)
{
    size_t len;
    char *text = NULL;
    FILE *f = fr__text_open(&text, &len);
    enum fr_status st;
    bool is_first = true;

    if (!f)
        return fr__fail_nomem(err);
    fputs(m->model, f);
    if (m->sizes)
        fprintf(f, ":%s", m->sizes);
    for (size_t i = 0; i < COUNT(m->keys) && m->keys[i][0]; i++) {
        const char *value = value_of_key(j, m->keys[i]);

        if (!value)
            continue;
        fprintf(f, "%c%s=%s", is_first ? ':' : ',', m->keys[i][0], value);
        is_first = false;
    }
    if (!fr__text_close(f, &text))
        return fr__fail_nomem(err);
    st = add(j, "workload", text, err);
    free(text);
    return st;
}

static bool takes_sizes(const struct fr__job_model *m)
{
    return m->keys[0][0] != NULL;
}

static enum fr_status ask_model(struct fr_job *j, const struct fr__job_model **chosen,
                                struct fr_error *err)
{
    const struct fr__job_model *nearest = NULL;
    enum fr__job_fact_kind first = FR__N_JOB_FACTS, k;
    bool has_sizes = j->facts[FR__JOB_LAYERS].value || j->facts[FR__JOB_ENCODER_LAYERS].value;
    size_t least = SIZE_MAX;

    *chosen = NULL;
    if (j->facts[FR__JOB_CONFIG].value)
        return add_fact(j, "workload", FR__JOB_CONFIG, err);
    for (size_t i = 0; i < fr__n_job_models; i++) {
        size_t n = takes_sizes(&fr__job_models[i]) == has_sizes
                       ? count_obstacles(j, &fr__job_models[i], &k)
                       : SIZE_MAX;

        if (n >= least)
            continue;
        least = n;
        first = k;
        nearest = &fr__job_models[i];
    }
    if (!has_sizes && least > 0)
        return fr__fail(err, FR_EUSAGE,
                        j->facts[FR__JOB_NAME].argument ? j->facts[FR__JOB_NAME].loc : FR_NOWHERE,
                        "the job does not say the model's sizes%s%.80s%s; give its config.json as "
                        "one more --job, or a model with -w",
                        j->facts[FR__JOB_NAME].value ? ", only its name '" : "",
                        j->facts[FR__JOB_NAME].value ? j->facts[FR__JOB_NAME].value : "",
                        j->facts[FR__JOB_NAME].value ? "'" : "");
    if (least > 0)
        return fail_model(j, first, nearest, err);
    *chosen = nearest;
    for (size_t i = 0; i < COUNT(nearest->notes) && nearest->notes[i][0]; i++)
        if (strcmp(nearest->notes[i][2], "-") != 0 &&
            is_one_of(j, fr__job_fact_parse(nearest->notes[i][0]), nearest->notes[i][1]))
            FR_TRY(fr__job_note(j, err, "not modelled: %s", nearest->notes[i][2]));
    if (!j->facts[FR__JOB_VOCAB].value && takes_sizes(nearest))
        FR_TRY(fr__job_note(j, err,
                            "the job does not say how many words the model knows: those of "
                            "'%s' are taken",
                            nearest->model));
    return write_model(j, nearest, err);
}

/* ---- the layout ---- */

static void option(FILE *f, const struct fr_job *j, const char *name, enum fr__job_fact_kind k,
                   const char *plain)
{
    if (j->facts[k].value && strcmp(j->facts[k].value, plain) != 0)
        fprintf(f, ",%s=%s", name, j->facts[k].value);
}

/* Modules that spaces separate, "mlp moe", as ",recompute=mlp+moe"; false: a word is none, or
 * they are the one that selective recomputation is alone. */
static bool write_modules(FILE *f, const char *modules)
{
    char text[128];

    if (strlen(modules) >= sizeof(text) || strcmp(modules, "core_attn") == 0)
        return false;
    memcpy(text, modules, strlen(modules) + 1);
    for (char *at = text; *at; at++)
        if (*at == ' ' || *at == ',')
            *at = '+';
    if (!fr__modules_read(text))
        return false;
    fprintf(f, ",recompute=%s", text);
    return true;
}

/* full, selective, modules, or so many layers of a stage. */
static enum fr_status write_recompute(FILE *f, struct fr_job *j, struct fr_error *err)
{
    const char *how = j->facts[FR__JOB_RECOMPUTE].value,
               *modules = j->facts[FR__JOB_RECOMPUTE_MODULES].value;
    uint64_t n = fr__job_number(j, FR__JOB_RECOMPUTE_LAYERS);

    if (!how || strcmp(how, "none") == 0)
        return FR_OK;
    if (strcmp(how, "full") == 0 && fr__job_is(j, FR__JOB_RECOMPUTE_METHOD, "block") && n > 0) {
        fprintf(f, ",recompute=%" PRIu64, n);
        return FR_OK;
    }
    if (strcmp(how, "selective") == 0 && modules && write_modules(f, modules))
        return FR_OK;
    fprintf(f, ",recompute=%s", how);
    if (strcmp(how, "full") == 0 && n > 1)
        return fr__job_note(j, err,
                            "not modelled: %" PRIu64 " layers that are recomputed together: each "
                            "is by itself",
                            n);
    if (strcmp(how, "selective") == 0 && modules && strcmp(modules, "core_attn") != 0)
        return fr__job_note(j, err,
                            "not modelled: recomputation of %.80s: that of the attention core is "
                            "counted",
                            modules);
    return FR_OK;
}

/* What is kept of a parameter, where the job says it: weights in 8 bits, gradients in 16. */
static enum fr_status write_kept(FILE *f, struct fr_job *j, struct fr_error *err)
{
    const char *precision = j->facts[FR__JOB_PRECISION].value;
    bool is_fp8 =
        precision && (strncmp(precision, "fp8", 3) == 0 || strncmp(precision, "mxfp8", 5) == 0);
    bool has_weights = is_fp8 && fr__job_is(j, FR__JOB_NARROW_WEIGHTS, "1");
    bool has_gradients = fr__job_is(j, FR__JOB_NARROW_GRADIENTS, "1");

    if (has_weights)
        fprintf(f, ",recipe=%s", has_gradients ? "fp8-nemo" : "fp8-weights");
    else if (has_gradients && precision && strcmp(precision, "fp8") == 0)
        return fr__job_note(j, err,
                            "not modelled: gradients in 16 bits under a format without "
                            "a recipe: those of 32 bits are counted");
    else if (has_gradients && precision && strcmp(precision, "fp16") != 0)
        fputs(",recipe=master16", f);
    return FR_OK;
}

static enum fr_status write_strategy(FILE *f, struct fr_job *j, const struct fr__job_model *m,
                                     struct fr_error *err)
{
    const char *zero = j->facts[FR__JOB_ZERO].value;

    fprintf(f, "hybrid:tp=%s", j->facts[FR__JOB_TP].value ? j->facts[FR__JOB_TP].value : "1");
    option(f, j, fr__job_fact_name(FR__JOB_PP), FR__JOB_PP, "1");
    option(f, j, "cp", FR__JOB_CP, "1");
    if (fr__job_number(j, FR__JOB_CP) > 1)
        option(f, j, "cp-comm", FR__JOB_CP_COMM, "");
    option(f, j, "ep", FR__JOB_EP, "1");
    if (j->facts[FR__JOB_EXPERTS].value || fr__job_number(j, FR__JOB_EP) > 1)
        option(f, j, "etp", FR__JOB_ETP,
               j->facts[FR__JOB_TP].value ? j->facts[FR__JOB_TP].value : "1");
    if (fr__job_number(j, FR__JOB_TP) > 1) {
        fprintf(f, ",sp=%s", fr__job_is(j, FR__JOB_SP, "1") ? "1" : "0");
        option(f, j, "tp-overlap", FR__JOB_TP_OVERLAP, "0");
    }
    option(f, j, "micro", FR__JOB_MICRO, "");
    if (fr__job_number(j, FR__JOB_PP) > 1) {
        option(f, j, "schedule", FR__JOB_SCHEDULE, "");
        option(f, j, "virtual", FR__JOB_VIRTUAL, "1");
    }
    fprintf(f, ",zero=%s", zero ? zero : "0");
    if (fr__job_is(j, FR__JOB_ZERO, "3"))
        option(f, j, "reshard", FR__JOB_RESHARD, "");
    option(f, j, "overlap", FR__JOB_OVERLAP_GRADIENTS, "");
    if (fr__job_is(j, FR__JOB_ZERO, "1") || fr__job_is(j, FR__JOB_ZERO, "2"))
        option(f, j, "overlap-gather", FR__JOB_OVERLAP_PARAMETERS, "");
    FR_TRY(write_kept(f, j, err));
    FR_TRY(write_recompute(f, j, err));
    for (size_t i = 0; m && i < COUNT(m->strategy) && m->strategy[i][0]; i++)
        if (fr__job_is(j, fr__job_fact_parse(m->strategy[i][0]), m->strategy[i][1]))
            fprintf(f, ",%s", m->strategy[i][2]);
    return FR_OK;
}

static enum fr_status ask_strategy(struct fr_job *j, const struct fr__job_model *m,
                                   struct fr_error *err)
{
    size_t len;
    char *text = NULL;
    FILE *f = fr__text_open(&text, &len);
    enum fr_status st;

    if (!f)
        return fr__fail_nomem(err);
    st = write_strategy(f, j, m, err);
    if (!fr__text_close(f, &text) && st == FR_OK)
        st = fr__fail_nomem(err);
    if (st == FR_OK)
        st = add(j, "strategy", text, err);
    free(text);
    return st;
}

/* ---- the rest ---- */

static uint64_t at_least_1(uint64_t n)
{
    return n ? n : 1;
}

/* Where the job does not say the batch, it follows from the GPUs. */
static enum fr_status ask_batch(struct fr_job *j, const struct fr_job_ask *ask,
                                struct fr_error *err)
{
    uint64_t micro = fr__job_number(j, FR__JOB_MICRO),
             steps = at_least_1(fr__job_number(j, FR__JOB_ACCUMULATE)),
             ranks = at_least_1(fr__job_number(j, FR__JOB_TP)) *
                     at_least_1(fr__job_number(j, FR__JOB_PP)) *
                     at_least_1(fr__job_number(j, FR__JOB_CP));
    char text[32];

    if (ask->has_batch || j->facts[FR__JOB_BATCH].value)
        return ask->has_batch ? FR_OK : add_fact(j, "batch", FR__JOB_BATCH, err);
    if (!micro)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the job says neither a batch nor a micro-batch; give -b BATCH");
    if (ranks > 1 && ask->n_gpus < ranks)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the batch follows from the number of GPUs, which the job does not say; "
                        "give -g GPUS or -b BATCH");
    snprintf(text, sizeof(text), "%" PRIu64, micro * steps * (ranks > 1 ? ask->n_gpus / ranks : 1));
    return add(j, ranks > 1 ? "batch" : "batch-per-gpu", text, err);
}

/* A word of ours, or the argument that asks for another. */
static enum fr_status ask_word(struct fr_job *j, const char *setting, enum fr__job_fact_kind k,
                               struct fr_error *err)
{
    const struct fr__job_held *held = &j->facts[k];
    struct fr_question q;
    struct fr_error why;

    if (!held->value)
        return FR_OK;
    fr_question_init(&q);
    if (fr_question_set(&q, setting, held->value, &why) != FR_OK)
        return fr__fail(err, FR_EUNSUPPORTED, held->argument ? held->loc : FR_NOWHERE,
                        "'%.80s' asks for the %s '%.60s', which cannot be asked for yet",
                        held->argument ? held->argument : fr__job_fact_name(k), setting,
                        held->value);
    return add(j, setting, held->value, err);
}

static enum fr_status ask_tune(struct fr_job *j, struct fr_error *err)
{
    struct fr_question q;
    struct fr_error why;
    const char *text;

    FR_TRY(fr__job_tune(j, &text, err));
    if (!text)
        return FR_OK;
    fr_question_init(&q);
    if (fr_question_set(&q, "tune", text, &why) != FR_OK)
        return fr__fail(err, FR_EUNSUPPORTED, j->facts[FR__JOB_TUNE].loc,
                        "the job asks for '%.100s', but %.100s", text, why.text);
    return add(j, "tune", text, err);
}

/* A fact that is asked for, and whose variable has no value. */
static enum fr_status check_known(const struct fr_job *j, const struct fr_job_ask *ask,
                                  struct fr_error *err)
{
    for (unsigned k = 0; k < FR__N_JOB_FACTS; k++) {
        const struct fr__job_held *f = &j->facts[k];
        bool is_needed = k >= FR__JOB_FIRST_MODEL ? !ask->has_workload
                         : k == FR__JOB_BATCH     ? !ask->has_batch
                                                  : true;

        if (f->unknown && is_needed)
            return fr__fail(err, FR_EUSAGE, f->loc,
                            "'%.80s' needs the value of %s, which only the run knows; give it "
                            "with --set '%s=VALUE'",
                            f->argument, f->unknown, f->unknown);
    }
    return FR_OK;
}

static enum fr_status ask_all(struct fr_job *j, const struct fr_job_ask *ask, struct fr_error *err)
{
    const struct fr__job_model *model = NULL;

    FR_TRY(check_known(j, ask, err));
    if (!ask->has_workload)
        FR_TRY(ask_model(j, &model, err));
    if (!ask->has_strategy)
        FR_TRY(ask_strategy(j, model, err));
    FR_TRY(ask_batch(j, ask, err));
    FR_TRY(add_fact(j, "seq-len", FR__JOB_SEQ, err));
    FR_TRY(ask_word(j, "precision", FR__JOB_PRECISION, err));
    FR_TRY(ask_word(j, "optimizer", FR__JOB_OPTIMIZER, err));
    FR_TRY(ask_word(j, "recipe", FR__JOB_RECIPE, err));
    FR_TRY(ask_tune(j, err));
    if (!ask->has_gpus)
        FR_TRY(add_fact(j, "gpus", FR__JOB_GPUS, err));
    return FR_OK;
}

enum fr_status fr_job_ask(struct fr_job *j, const struct fr_job_ask *ask, struct fr_error *err)
{
    enum fr_status st = ask_all(j, ask, err);

    if (st != FR_OK)
        j->n_settings = 0;
    return st;
}
