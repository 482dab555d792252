/* cli/options.c - the one table of options: parsing, help and suggestions come from it. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "cli/cli.h"

#include <math.h>
#include <string.h>

struct option_row {
    enum option_group group;
    char letter;          /* 0: none */
    const char *name;     /* without the dashes */
    const char *argument; /* NULL: takes none */
    const char *help;
    enum fr_status (*set)(struct options *o, const char *value, struct fr_error *err);
};

/* ---- setting one option ---- */

static enum fr_status set_workload(struct options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->question.workload = value;
    return FR_OK;
}

static enum fr_status set_topology(struct options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->question.topology = value;
    return FR_OK;
}

static enum fr_status add_strategy(struct options *o, const char *value, struct fr_error *err)
{
    if (o->n_strategies == CLI_MAX_STRATEGIES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d strategies", CLI_MAX_STRATEGIES);
    o->strategies[o->n_strategies++] = value;
    return FR_OK;
}

static enum fr_status add_file(struct options *o, const char *value, struct fr_error *err)
{
    if (o->n_files == CLI_MAX_FILES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d output files", CLI_MAX_FILES);
    o->files[o->n_files++] = value;
    return FR_OK;
}

static enum fr_status parse_u32(const char *value, const char *what, uint32_t *out,
                                struct fr_error *err)
{
    uint64_t n;

    FR_TRY(fr__parse_count(value, what, FR_NOWHERE, 1, UINT32_MAX - 1, &n, err));
    *out = (uint32_t)n;
    return FR_OK;
}

static enum fr_status set_gpus(struct options *o, const char *value, struct fr_error *err)
{
    uint32_t n;

    FR_TRY(parse_u32(value, "option '--gpus'", &n, err));
    o->question.n_gpus = n;
    return FR_OK;
}

static enum fr_status set_batch(struct options *o, const char *value, struct fr_error *err)
{
    return parse_u32(value, "option '--batch'", &o->question.global_batch, err);
}

static enum fr_status set_batch_per_gpu(struct options *o, const char *value, struct fr_error *err)
{
    return parse_u32(value, "option '--batch-per-gpu'", &o->question.batch_per_gpu, err);
}

static enum fr_status set_seq_len(struct options *o, const char *value, struct fr_error *err)
{
    return parse_u32(value, "option '--seq-len'", &o->question.seq_len, err);
}

static enum fr_status set_image_size(struct options *o, const char *value, struct fr_error *err)
{
    return parse_u32(value, "option '--image-size'", &o->question.image_size, err);
}

/* Which of n names the value is. name_of: the enumeration's own. */
static enum fr_status parse_choice(const char *value, const char *option, unsigned n,
                                   const char *(*name_of)(unsigned i), unsigned *out,
                                   struct fr_error *err)
{
    const char *names[16];
    char known[128] = "", hint[128];
    size_t used = 0;

    for (unsigned i = 0; i < n; i++) {
        names[i] = name_of(i);
        if (strcmp(names[i], value) == 0) {
            *out = i;
            return FR_OK;
        }
        used +=
            (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? "|" : "", names[i]);
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' is \"%s\", expected %s%s", option,
                    value, known, fr__did_you_mean(value, names, n, hint, sizeof(hint)));
}

static const char *dtype_name(unsigned i)
{
    return fr_dtype_name((enum fr_dtype)i);
}

static const char *optimizer_name(unsigned i)
{
    return fr_optimizer_name((enum fr_optimizer)i);
}

static const char *order_name(unsigned i)
{
    return fr_order_name((enum fr_order)i);
}

static const char *network_name(unsigned i)
{
    return fr_network_name((enum fr_network)i);
}

static const char *collectives_name(unsigned i)
{
    static const char *const names[] = {"auto", "expanded", "closed"};

    return names[i];
}

static const char *alloc_name(unsigned i)
{
    return i ? "start" : "dispatch";
}

static const char *zero_grad_name(unsigned i)
{
    return i ? "zero" : "none";
}

static enum fr_status set_precision(struct options *o, const char *value, struct fr_error *err)
{
    unsigned i;

    FR_TRY(parse_choice(value, "--precision", FR_N_DTYPES, dtype_name, &i, err));
    o->question.dtype = (enum fr_dtype)i;
    return FR_OK;
}

static enum fr_status set_optimizer(struct options *o, const char *value, struct fr_error *err)
{
    unsigned i;

    FR_TRY(parse_choice(value, "--optimizer", FR_N_OPTIMIZERS, optimizer_name, &i, err));
    o->question.optimizer = (enum fr_optimizer)i;
    return FR_OK;
}

static enum fr_status set_zero_grad(struct options *o, const char *value, struct fr_error *err)
{
    unsigned i;

    FR_TRY(parse_choice(value, "--zero-grad", 2, zero_grad_name, &i, err));
    o->question.keeps_gradients = i == 1;
    return FR_OK;
}

static enum fr_status set_order(struct options *o, const char *value, struct fr_error *err)
{
    unsigned i;

    FR_TRY(parse_choice(value, "--order", FR_N_ORDERS, order_name, &i, err));
    o->question.run.order = (enum fr_order)i;
    return FR_OK;
}

static enum fr_status set_network(struct options *o, const char *value, struct fr_error *err)
{
    unsigned i;

    FR_TRY(parse_choice(value, "--network", FR_N_NETWORKS, network_name, &i, err));
    o->question.run.network = (enum fr_network)i;
    return FR_OK;
}

static enum fr_status set_collectives(struct options *o, const char *value, struct fr_error *err)
{
    unsigned i;

    FR_TRY(parse_choice(value, "--collectives", 3, collectives_name, &i, err));
    o->question.collectives = (enum fr_collectives)i;
    return FR_OK;
}

static enum fr_status set_alloc(struct options *o, const char *value, struct fr_error *err)
{
    unsigned i;

    FR_TRY(parse_choice(value, "--alloc", 2, alloc_name, &i, err));
    o->question.run.alloc_at_start = i == 1;
    return FR_OK;
}

static const char *memory_name(unsigned i)
{
    return fr_memory_model_name((enum fr_memory_model)i);
}

static enum fr_status set_memory(struct options *o, const char *value, struct fr_error *err)
{
    unsigned i;

    FR_TRY(parse_choice(value, "--memory", FR_N_MEMORY_MODELS, memory_name, &i, err));
    o->question.run.memory = (enum fr_memory_model)i;
    return FR_OK;
}

static enum fr_status set_channels(struct options *o, const char *value, struct fr_error *err)
{
    uint32_t n = 0; /* no limit */

    if (strcmp(value, "inf") != 0)
        FR_TRY(parse_u32(value, "option '--channels'", &n, err));
    o->question.run.channels = n;
    return FR_OK;
}

static enum fr_status set_seed(struct options *o, const char *value, struct fr_error *err)
{
    return fr__parse_count(value, "option '--seed'", FR_NOWHERE, 0, UINT64_MAX,
                           &o->question.run.seed, err);
}

static enum fr_status set_jitter(struct options *o, const char *value, struct fr_error *err)
{
    return fr__parse_number(value, "option '--jitter'", FR_NOWHERE, 0, 10,
                            &o->question.run.jitter_cv, err);
}

static enum fr_status set_device_jitter(struct options *o, const char *value, struct fr_error *err)
{
    return fr__parse_number(value, "option '--device-jitter'", FR_NOWHERE, 0, 10,
                            &o->question.run.device_cv, err);
}

static enum fr_status set_iterations(struct options *o, const char *value, struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(value, "option '--iterations'", FR_NOWHERE, 1, 1000, &n, err));
    o->question.iterations = (uint32_t)n;
    return FR_OK;
}

static enum fr_status set_sensitivity(struct options *o, const char *value, struct fr_error *err)
{
    (void)value;
    (void)err;
    if (o->question.sensitivity == FR_SENSITIVITY_NONE)
        o->question.sensitivity = FR_SENSITIVITY_RUN;
    return FR_OK;
}

static enum fr_status set_sensitivity_rerun(struct options *o, const char *value,
                                            struct fr_error *err)
{
    (void)value;
    (void)err;
    o->question.sensitivity = FR_SENSITIVITY_RERUN;
    return FR_OK;
}

static const char *phase_name(unsigned i)
{
    return i < FR_N_PHASES ? fr_phase_name((enum fr_phase)i) : "backward";
}

static enum fr_status add_phase(struct options *o, const char *value, struct fr_error *err)
{
    bool *has_phase = o->drawing.has_phase;
    unsigned i;

    FR_TRY(parse_choice(value, "--phase", FR_N_PHASES + 1, phase_name, &i, err));
    if (i < FR_N_PHASES)
        has_phase[i] = true;
    else
        has_phase[FR_PHASE_BACKWARD_DATA] = has_phase[FR_PHASE_BACKWARD_WEIGHT] = true;
    if (i == FR_PHASE_FORWARD)
        has_phase[FR_PHASE_INPUT] = true;
    return FR_OK;
}

static enum fr_status set_layer(struct options *o, const char *value, struct fr_error *err)
{
    (void)err;
    o->drawing.layer = value;
    return FR_OK;
}

#define FLAG_SETTER(name, member)                                                                  \
    static enum fr_status set_##name(struct options *o, const char *value, struct fr_error *err)   \
    {                                                                                              \
        (void)value;                                                                               \
        (void)err;                                                                                 \
        o->member = true;                                                                          \
        return FR_OK;                                                                              \
    }
FLAG_SETTER(spread, question.is_spread)
FLAG_SETTER(no_timing, question.no_timing)
FLAG_SETTER(no_advice, no_advice)
FLAG_SETTER(json, json)
FLAG_SETTER(layers, layers)
FLAG_SETTER(ops, drawing.is_ops)
FLAG_SETTER(quiet, quiet)
FLAG_SETTER(verbose, verbose)
FLAG_SETTER(help, help)
FLAG_SETTER(version, version)
#undef FLAG_SETTER

/* ---- the table ---- */

static const struct option_row rows[] = {
    {OPTIONS_PROBLEM, 'w', "workload", "NAME|PATH", "a zoo model, a workload folder or a profile",
     set_workload},
    {OPTIONS_PROBLEM, 't', "topology", "NAME|PATH", "a preset, a composition or a YAML file",
     set_topology},
    {OPTIONS_PROBLEM, 'g', "gpus", "N", "use the first N GPUs (default: all)", set_gpus},
    {OPTIONS_PROBLEM, 0, "spread", NULL, "take the GPUs evenly over the machines", set_spread},
    {OPTIONS_PROBLEM, 's', "strategy", "NAME[:KEY=VALUE,...]",
     "how to parallelise; several times to compare", add_strategy},
    {OPTIONS_SHAPE, 'b', "batch", "N", "samples an iteration, over all GPUs", set_batch},
    {OPTIONS_PROBLEM, 'B', "batch-per-gpu", "N", "samples an iteration on each GPU",
     set_batch_per_gpu},
    {OPTIONS_SHAPE, 'p', "precision", "TYPE", "fp32, tf32, fp16, bf16, amp or fp8", set_precision},
    {OPTIONS_PROBLEM, 'O', "optimizer", "NAME", "sgd, momentum or adam", set_optimizer},
    {OPTIONS_PROBLEM, 0, "zero-grad", "HOW",
     "gradients after the step: none (dropped) or zero (kept)", set_zero_grad},
    {OPTIONS_SHAPE, 0, "seq-len", "N", "tokens a sample, for sequence models", set_seq_len},
    {OPTIONS_SHAPE, 0, "image-size", "N", "side of the square images, for image models",
     set_image_size},
    {OPTIONS_RUN, 0, "order", "RULE", "ready tasks: fifo, priority or strict", set_order},
    {OPTIONS_RUN, 0, "network", "MODEL", "flow (transfers share links) or analytic", set_network},
    {OPTIONS_RUN, 0, "channels", "N|inf", "transfers a device direction carries at once",
     set_channels},
    {OPTIONS_RUN, 0, "collectives", "FORM", "expanded (steps), closed (formula) or auto",
     set_collectives},
    {OPTIONS_RUN, 0, "alloc", "WHEN", "buffers come to be at dispatch or at start", set_alloc},
    {OPTIONS_RUN, 0, "memory", "MODEL",
     "device (allocator and context) or liveness (tensors alone)", set_memory},
    {OPTIONS_RUN, 0, "seed", "N", "of everything random", set_seed},
    {OPTIONS_RUN, 0, "jitter", "CV", "random spread of task times, deviation over mean",
     set_jitter},
    {OPTIONS_RUN, 0, "device-jitter", "CV", "random slow-down of whole devices, likewise",
     set_device_jitter},
    {OPTIONS_RUN, 0, "iterations", "N",
     "iterations in a row; the interval of the last is the answer", set_iterations},
    {OPTIONS_RUN, 0, "sensitivity", NULL,
     "what faster links and devices would change, from one run", set_sensitivity},
    {OPTIONS_RUN, 0, "sensitivity-rerun", NULL, "the same, and run again with each of them faster",
     set_sensitivity_rerun},
    {OPTIONS_ADVICE, 0, "no-advice", NULL, "out of memory: do not look for what would fit",
     set_no_advice},
    {OPTIONS_RUN, 0, "no-timing", NULL, "0 for wall-clock readings: the same bytes every run",
     set_no_timing},
    {OPTIONS_FILES, 'o', "output", "FILE", "write a file too, by its ending; several times",
     add_file},
    {OPTIONS_LAYERS, 0, "layers", NULL,
     "a row for each layer: output, parameters, FLOPs, what it keeps", set_layers},
    {OPTIONS_OPS, 0, "layer", "NAME", "the layers of one block, or one layer, not folded",
     set_layer},
    {OPTIONS_OPS, 0, "ops", NULL, "single ops instead of layers", set_ops},
    {OPTIONS_OPS, 0, "phase", "PHASE",
     "forward (default), backward, update, ...: ops and FLOPs; several times", add_phase},
    {OPTIONS_PICTURE, 'o', "output", "FILE",
     "the picture: .svg, .png, .pdf, or .dot for its text; several times", add_file},
    {OPTIONS_JSON, 0, "json", NULL, "JSON on standard output", set_json},
    {OPTIONS_COMMON, 'q', "quiet", NULL, "no progress, no notes", set_quiet},
    {OPTIONS_COMMON, 'v', "verbose", NULL, "more detail", set_verbose},
    {OPTIONS_COMMON, 'h', "help", NULL, "this text", set_help},
    {OPTIONS_COMMON, 'V', "version", NULL, "the version", set_version},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- parsing ---- */

/* Where parsing stands. */
struct scan {
    struct options *options;
    const struct verb *verb;
    int argc, at;
    char *const *argv;
};

static enum fr_status apply(struct scan *s, const struct option_row *row, const char *spelling,
                            const char *value, struct fr_error *err)
{
    if (!row->argument)
        return row->set(s->options, NULL, err);
    if (!value) {
        if (s->at + 1 >= s->argc)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' needs a value (%s)", spelling,
                            row->argument);
        value = s->argv[++s->at];
    }
    if (!value[0])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' has an empty value", spelling);
    return row->set(s->options, value, err);
}

static enum fr_status fail_unknown_option(const struct scan *s, const char *name, size_t length,
                                          struct fr_error *err)
{
    const char *names[N_ROWS];
    char word[64], hint[128];
    const char *near;
    size_t n = 0;

    snprintf(word, sizeof(word), "%.*s", (int)(length < 63 ? length : 63), name);
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].group & s->verb->options)
            names[n++] = rows[i].name;
    near = fr__nearest(word, names, n);
    if (near)
        snprintf(hint, sizeof(hint), ", did you mean '--%s'?", near);
    else
        hint[0] = '\0';
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unknown option '--%s'%s", word, hint);
}

static enum fr_status parse_long(struct scan *s, const char *name, struct fr_error *err)
{
    const char *value = strchr(name, '=');
    size_t length = value ? (size_t)(value - name) : strlen(name);
    char spelling[32];

    for (size_t i = 0; i < N_ROWS; i++) {
        if (!(rows[i].group & s->verb->options) || strlen(rows[i].name) != length ||
            strncmp(rows[i].name, name, length) != 0)
            continue;
        snprintf(spelling, sizeof(spelling), "--%s", rows[i].name);
        if (value && !rows[i].argument)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' takes no value", spelling);
        return apply(s, &rows[i], spelling, value ? value + 1 : NULL, err);
    }
    return fail_unknown_option(s, name, length, err);
}

static const struct option_row *find_letter(const struct scan *s, char letter)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if ((rows[i].group & s->verb->options) && rows[i].letter == letter)
            return &rows[i];
    return NULL;
}

/* "-g4", "-g 4", "-qv" */
static enum fr_status parse_letters(struct scan *s, const char *letters, struct fr_error *err)
{
    for (; *letters; letters++) {
        const struct option_row *row = find_letter(s, *letters);
        char spelling[3] = {'-', *letters, '\0'};

        if (!row)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unknown option '%s'", spelling);
        if (row->argument)
            return apply(s, row, spelling, letters[1] ? letters + 1 : NULL, err);
        FR_TRY(apply(s, row, spelling, NULL, err));
    }
    return FR_OK;
}

static enum fr_status add_argument(struct scan *s, const char *word, struct fr_error *err)
{
    struct options *o = s->options;

    if (o->n_arguments >= s->verb->n_arguments)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unexpected argument '%s'", word);
    o->arguments[o->n_arguments++] = word;
    return FR_OK;
}

enum fr_status cli_parse_options(struct options *o, const struct verb *v, int argc,
                                 char *const argv[], struct fr_error *err)
{
    struct scan s = {.options = o, .verb = v, .argc = argc, .argv = argv};
    bool only_arguments = false;

    for (s.at = 0; s.at < argc; s.at++) {
        const char *word = argv[s.at];

        if (only_arguments || word[0] != '-' || !word[1])
            FR_TRY(add_argument(&s, word, err));
        else if (strcmp(word, "--") == 0)
            only_arguments = true;
        else if (word[1] == '-')
            FR_TRY(parse_long(&s, word + 2, err));
        else
            FR_TRY(parse_letters(&s, word + 1, err));
    }
    if (o->n_arguments < v->n_arguments && !o->help && !o->version)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'forerun %s%s%s' needs %s",
                        v->group ? v->group : "", v->group ? " " : "", v->name, v->arguments);
    return FR_OK;
}

void cli_print_options(FILE *f, unsigned groups)
{
    char left[64];

    for (size_t i = 0; i < N_ROWS; i++) {
        if (!(rows[i].group & groups))
            continue;
        snprintf(left, sizeof(left), "%c%c%c --%s%s%s", rows[i].letter ? '-' : ' ',
                 rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? ',' : ' ', rows[i].name,
                 rows[i].argument ? " " : "", rows[i].argument ? rows[i].argument : "");
        cli_print_row(f, left, 38, rows[i].help);
    }
}

enum fr_sensitivity cli_sensitivity(const struct options *o)
{
    if (o->question.sensitivity != FR_SENSITIVITY_NONE)
        return o->question.sensitivity;
    for (size_t i = 0; i < o->n_files; i++)
        if (fr_results_shows_sensitivity(o->files[i]))
            return FR_SENSITIVITY_RUN;
    return FR_SENSITIVITY_NONE;
}
