/* calibrate/cost/model.c - loads device files and systems, and chooses a curve for each device
 * type, class and number format. The rules are in cost_model.h. */
#include "config.h"

#include "calibrate/cost/model.h"

#include "base/arena.h"
#include "base/error.h"
#include "calibrate/cost/relatives.h"
#include "calibrate/cost/borrowed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gap between kernels of one stream on an A100: 2.6 us (te42kyfo/gpu-benches, gpu-small-kernels).
 * Fitted launches of kernels that were timed alone are 2.3 to 5.6 us (doc/evidence/kernels.md). */
#define LATENCY_S 2.6e-6

struct fr_cost_model {
    struct fr_device_type *types; /* [n_all] the topology's n_types, then those of samples */
    size_t n_types, n_all;
    struct fr__known (*known)[FR_N_CURVE_CLASSES][FR_N_DTYPES]; /* [n_all] */
    struct fr__known (*products)[FR_N_DTYPES]; /* [n_all] matmul without memory traffic */
    struct fr__known (
        *trained)[FR_N_DTYPES];     /* [n_all] attention that keeps no copies of K and V */
    struct fr_calibration **loaded; /* [n_loaded] */
    const struct fr_calibration **nearest_launch, **nearest_slowdowns; /* [n_all] NULL: none */
    size_t n_loaded, cap_loaded;
    bool has_own_file;        /* loaded[0] is the user's own device file */
    struct fr__curve **moved; /* [n_moved] curves with another device's peaks; residuals borrowed */
    size_t n_moved, cap_moved;
    struct fr_system **systems; /* [n_systems] */
    size_t n_systems;
    struct fr_message_fit *messages; /* [options' n_messages] or NULL */
};

/* ---- one curve ---- */

double fr__kernel_s(const struct fr__known *k, const struct fr_kernel_shape *shape)
{
    const struct fr__curve *c = k->curve;
    const struct fr__curve_class *op_class = fr__curve_class_of(c->info.op_class);
    double s = fr__curve_model_s(c, shape);
    double work_s =
        op_class->work_s ? op_class->work_s(&c->model, shape) : s - c->info.parameters[0];

    s = (work_s + fmin(s - work_s, k->latency_s)) * exp(fr__curve_residual(c, shape));
    return fmax(s, fr__curve_least_s(c, shape));
}

static struct fr__known *slot(const struct fr_cost_model *m, size_t type, enum fr_curve_class c,
                              enum fr_dtype dtype)
{
    return &m->known[type][c][dtype];
}

/* The curve with the peaks of another device, for its numbers in another format. from: where it was
 * measured. */
static struct fr__curve *move(struct fr_cost_model *m, const struct fr__curve *c, const char *from,
                              const struct fr_device_type *to, enum fr_dtype dtype)
{
    double peak_flops_per_s = fr__peak_flops_per_s(to, dtype) * fr__sustained_ratio(to->name, from);
    struct fr__curve *copy;

    if (!(peak_flops_per_s > 0 && to->mem_Bps > 0 && to->n_sms > 0))
        return NULL;
    if (!fr__grow(&m->moved, &m->cap_moved, m->n_moved + 1, sizeof(*m->moved)))
        return NULL;
    copy = malloc(sizeof(*copy));
    if (!copy)
        return NULL;
    m->moved[m->n_moved++] = copy;
    memcpy(copy, c, sizeof(*copy));
    copy->info.dtype = dtype;
    copy->machine = (struct fr__machine){
        .n_sms = to->n_sms, .peak_flops_per_s = peak_flops_per_s, .mem_Bps = to->mem_Bps};
    fr__curve_prepare(copy);
    return copy;
}

/* ---- choosing ---- */

/* Whether kernels of this class are bound by memory, so that the format matters only by the bytes
 * of a number. */
static bool is_streaming(enum fr_curve_class c)
{
    switch (c) {
    case FR_CURVE_MATMUL:
    case FR_CURVE_CONV_FORWARD:
    case FR_CURVE_CONV_BACKWARD_DATA:
    case FR_CURVE_CONV_BACKWARD_FILTER:
    case FR_CURVE_ATTENTION:
    case FR_CURVE_ATTENTION_BACKWARD:
        return false;
    default:
        return true;
    }
}

/* Matrix products and convolutions. What attention's curves call a launch holds the kernels of an
 * inference server beside it, which training does not run. */
static bool is_product(enum fr_curve_class c)
{
    return !is_streaming(c) && c != FR_CURVE_ATTENTION && c != FR_CURVE_ATTENTION_BACKWARD;
}

/* Whether a curve in format `has` may be used for `wanted`. 16-bit formats run on the same units at
 * the same rate, and so does tf32, with operands of twice the size; fp4 on those of fp8. For
 * kernels that only move memory the bytes count. */
static bool stands_for(enum fr_curve_class c, enum fr_dtype has, enum fr_dtype wanted)
{
    static const unsigned char group[FR_N_DTYPES] = {
        [FR_TF32] = 1, [FR_FP16] = 1, [FR_BF16] = 1, [FR_FP8] = 2, [FR_FP4] = 2, [FR_AMP] = 3};

    return has == wanted || is_streaming(c) || group[has] == group[wanted];
}

/* Which curves of a calibration are taken: those of streaming kernels in their own formats, all in
 * their own formats, or any as stand-ins for other formats. */
enum match { STREAMING, EXACT, STAND_IN };

static bool matches(enum match match, enum fr_curve_class c, enum fr_dtype has,
                    enum fr_dtype wanted)
{
    if (match == STAND_IN)
        return stands_for(c, has, wanted);
    return has == wanted && (match == EXACT || is_streaming(c));
}

/* Measured launch of a device type; 0 if no file of its chip has it. */
static double measured_launch_s(const struct fr_cost_model *m, size_t type, enum fr_launch what)
{
    const struct fr_calibration *c = m->nearest_launch[type];

    return c ? c->launches->info.time_s[what] : 0;
}

/* Whether the rows of a source time kernels alone. Then a curve's launch is the device's: the start
 * and end of the kernel, and of those beside it that transform operands. DeepBench runs a kernel
 * hundreds of times in a queue, vidur and aiconfigurator take a profiler's or a CUDA graph's time;
 * NeuSight times a framework's call. */
static bool times_kernels_alone(const char *source)
{
    static const char *const sources[] = {"baidu-research/DeepBench", "microsoft/vidur",
                                          "ai-dynamo/aiconfigurator"};

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (strncmp(source, sources[i], strlen(sources[i])) == 0)
            return true;
    return false;
}

/* The most that a kernel keeps of the launch of its curve. */
static double latency_of(const struct fr_cost_model *m, size_t type, const struct fr__curve *curve)
{
    double gap_s = measured_launch_s(m, type, FR_LAUNCH_GAP);

    if (is_product(curve->info.op_class) && times_kernels_alone(curve->info.source))
        return INFINITY;
    return gap_s > 0 ? gap_s : LATENCY_S;
}

/* Takes a calibration's curves where no nearer one was taken before; first in their own formats,
 * then as stand-ins. */
static enum fr_status offer(struct fr_cost_model *m, size_t type, const struct fr_calibration *c,
                            int kinship, enum match match, struct fr_error *err)
{
    bool is_own = kinship == 0;
    const struct fr_device_type *to = &m->types[type];

    for (size_t i = 0; i < c->n_curves; i++) {
        const struct fr__curve *curve = c->curves[i];
        enum fr_curve_class op_class = curve->info.op_class;

        for (unsigned d = 0; d < FR_N_DTYPES; d++) {
            struct fr__known *k = slot(m, type, op_class, (enum fr_dtype)d);
            bool is_same = d == curve->info.dtype;

            if (k->curve || !matches(match, op_class, curve->info.dtype, (enum fr_dtype)d))
                continue;
            if (!(fr__peak_flops_per_s(to, (enum fr_dtype)d) > 0))
                continue; /* the device does not have this format */
            k->curve = is_own && is_same ? curve : move(m, curve, c->device, to, (enum fr_dtype)d);
            if (!k->curve)
                return fr__fail_nomem(err);
            k->from = c->device;
            k->latency_s = latency_of(m, type, curve);
            k->is_users = m->has_own_file && c == m->loaded[0] && is_same;
            k->error_frac =
                hypot(fr__error_of_median(curve->info.held_out.median),
                      fr__transfer_error(is_same || is_streaming(op_class) ? kinship : 2, op_class,
                                         c->device, to->name));
            k->trust = is_own && (is_same || d != FR_TF32 || is_streaming(op_class))
                           ? FR_TRUST_CALIBRATED
                           : FR_TRUST_TRANSFERRED;
        }
    }
    return FR_OK;
}

static enum fr_status add_products(struct fr_cost_model *m, size_t type, struct fr_error *err)
{
    for (unsigned d = 0; d < FR_N_DTYPES; d++) {
        const struct fr__known *k = slot(m, type, FR_CURVE_MATMUL, (enum fr_dtype)d);
        struct fr_device_type free_memory = m->types[type];

        if (!k->curve)
            continue;
        free_memory.mem_Bps = 1e30;
        m->products[type][d] = *k;
        m->products[type][d].curve = move(m, k->curve, k->from, &free_memory, (enum fr_dtype)d);
        if (!m->products[type][d].curve)
            return fr__fail_nomem(err);
    }
    return FR_OK;
}

/* Inference servers write K and V to a cache beside the kernel, so that these move three to nine
 * times in the rows that attention is fitted to; training reads them once. */
static enum fr_status add_trained(struct fr_cost_model *m, size_t type, struct fr_error *err)
{
    for (unsigned d = 0; d < FR_N_DTYPES; d++) {
        const struct fr__known *k = slot(m, type, FR_CURVE_ATTENTION, (enum fr_dtype)d);
        struct fr__curve *once;

        m->trained[type][d] = *k;
        if (!k->curve || k->is_users)
            continue;
        once = move(m, k->curve, k->from, &m->types[type], (enum fr_dtype)d);
        if (!once)
            return fr__fail_nomem(err);
        once->info.parameters[FR__ATTENTION_KV_PASSES] = 1;
        fr__curve_prepare(once);
        m->trained[type][d].curve = once;
    }
    return FR_OK;
}

static enum fr_status load(struct fr_cost_model *m, const char *name_or_path, struct fr_error *err)
{
    if (!fr__grow(&m->loaded, &m->cap_loaded, m->n_loaded + 1, sizeof(*m->loaded)))
        return fr__fail_nomem(err);
    FR_TRY(fr_calibration_load(&m->loaded[m->n_loaded], name_or_path, err));
    m->n_loaded++;
    return FR_OK;
}

/* The next calibration in the order of kinship to a type: the nearest of those that are farther
 * than `after`; of equally near ones the one that was loaded first. */
static bool next_of_kin(const struct fr_cost_model *m, size_t type, bool is_done[], size_t *out,
                        int *kinship)
{
    *kinship = FR__NO_RELATIVE;
    for (size_t i = 0; i < m->n_loaded; i++) {
        int k = fr__kinship(m->types[type].name, m->loaded[i]->device);

        if (!is_done[i] && k < *kinship) {
            *kinship = k;
            *out = i;
        }
    }
    if (*kinship == FR__NO_RELATIVE)
        return false;
    is_done[*out] = true;
    return true;
}

static enum fr_status offer_all(struct fr_cost_model *m, size_t type,
                                const struct fr_calibration *c, int kinship, struct fr_error *err)
{
    FR_TRY(offer(m, type, c, kinship, EXACT, err));
    return offer(m, type, c, kinship, STAND_IN, err);
}

/* Takes another board of the same chip before the device's own curve in another format. fp32 was
 * measured with a training framework's kernels, fp16 with an inference server's, which normalise at
 * half the speed (doc/evidence/kernels.md). */
static enum fr_status offer_streaming(struct fr_cost_model *m, size_t type, struct fr_error *err)
{
    for (int kinship = 0; kinship <= 1; kinship++)
        for (size_t i = 0; i < m->n_loaded; i++)
            if (fr__kinship(m->types[type].name, m->loaded[i]->device) == kinship)
                FR_TRY(offer(m, type, m->loaded[i], kinship, STREAMING, err));
    return FR_OK;
}

/* Finds the calibration with launches, and the one with interference: the first loaded of the same
 * name, or else of another board of the same chip. */
static void find_nearest(struct fr_cost_model *m, size_t type)
{
    for (int kinship = 0; kinship <= 1; kinship++)
        for (size_t i = 0; i < m->n_loaded; i++) {
            const struct fr_calibration *c = m->loaded[i];

            if (fr__kinship(m->types[type].name, c->device) != kinship)
                continue;
            if (c->launches && !m->nearest_launch[type])
                m->nearest_launch[type] = c;
            if (c->slowdowns && !m->nearest_slowdowns[type])
                m->nearest_slowdowns[type] = c;
        }
}

static enum fr_status fill_type(struct fr_cost_model *m, size_t type, struct fr_error *err)
{
    bool *is_done = calloc(m->n_loaded + 1, sizeof(*is_done));
    enum fr_status st = FR_OK;
    size_t at;
    int kinship;

    if (!is_done)
        return fr__fail_nomem(err);
    find_nearest(m, type);
    if (m->has_own_file && fr__kinship(m->types[type].name, m->loaded[0]->device) == 0)
        st = offer_all(m, type, m->loaded[0], 0, err);
    if (st == FR_OK)
        st = offer_streaming(m, type, err);
    while (st == FR_OK && next_of_kin(m, type, is_done, &at, &kinship))
        st = offer_all(m, type, m->loaded[at], kinship, err);
    free(is_done);
    if (st == FR_OK)
        st = add_products(m, type, err);
    return st == FR_OK ? add_trained(m, type, err) : st;
}

static bool is_for_a_type(const struct fr_cost_model *m, const char *device)
{
    for (size_t i = 0; i < m->n_all; i++)
        if (strcmp(m->types[i].name, device) == 0)
            return true;
    return false;
}

/* Whether a shipped file is about a relative of one of the types. */
static bool is_relative(const struct fr_cost_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_all; i++)
        if (m->types[i].is_gpu && fr__kinship(m->types[i].name, name) != FR__NO_RELATIVE)
            return true;
    return false;
}

static enum fr_status fill(struct fr_cost_model *m, const struct fr_cost_options *o,
                           struct fr_error *err)
{
    const char *name;

    if (o->device_file) {
        FR_TRY(load(m, o->device_file, err));
        m->has_own_file = true;
        if (!is_for_a_type(m, m->loaded[0]->device))
            return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                            "'%s' is about device '%s', which this topology does not have",
                            o->device_file, m->loaded[0]->device);
    }
    for (size_t i = 0; (name = fr_calibration_shipped(i)) != NULL; i++)
        if (is_relative(m, name))
            FR_TRY(load(m, name, err));
    for (size_t t = 0; t < m->n_all; t++)
        if (m->types[t].is_gpu)
            FR_TRY(fill_type(m, t, err));
    return FR_OK;
}

/* Loads a system. An unknown name is reported at its place in the topology's file. */
static enum fr_status load_system(struct fr_system **out, const struct fr_topo_system *s,
                                  struct fr_error *err)
{
    struct fr_error why;
    enum fr_status st = fr_system_load(out, s->name, &why);

    if (st == FR_ENOENT)
        return fr__fail(err, st, s->loc, "%s", why.text);
    if (st != FR_OK && err)
        *err = why;
    return st;
}

static enum fr_status load_systems(struct fr_cost_model *m, const struct fr_cost_options *o,
                                   struct fr_error *err)
{
    m->systems = calloc(o->n_systems + 1, sizeof(*m->systems));
    if (!m->systems)
        return fr__fail_nomem(err);
    for (; m->n_systems < o->n_systems; m->n_systems++)
        FR_TRY(load_system(&m->systems[m->n_systems], &o->systems[m->n_systems], err));
    return FR_OK;
}

/* Finds the fits of the topology's messages; the systems are loaded. */
static enum fr_status load_messages(struct fr_cost_model *m, const struct fr_cost_options *o,
                                    struct fr_error *err)
{
    if (o->n_messages == 0)
        return FR_OK;
    m->messages = calloc(o->n_messages, sizeof(*m->messages));
    if (!m->messages)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < o->n_messages; i++) {
        const struct fr_topo_message *k = &o->messages[i];
        const struct fr_system *s = m->systems[k->system];
        const double *p;
        size_t link;

        FR_TRY(fr_system_find_link(s, k->link, k->loc, &link, err));
        p = fr_system_info(s)->links[link].parameters;
        m->messages[i] = (struct fr_message_fit){p[0], p[1], p[2], p[3]};
    }
    return FR_OK;
}

/* ---- types ---- */

/* Copies the types of the topology, with room for those that the samples of a graph name. */
static bool take_types(struct fr_cost_model *m, const struct fr_device_type types[], size_t n_types)
{
    m->types = calloc(n_types + 1, sizeof(*m->types));
    if (!m->types)
        return false;
    for (size_t i = 0; i < n_types; i++)
        m->types[i] = types[i];
    m->n_types = m->n_all = n_types;
    return true;
}

/* Adds the known device types on which samples were measured. Samples of one op and device are
 * neighbours, so that few names are looked up. */
static enum fr_status add_types_of_samples(struct fr_cost_model *m, const struct fr_graph *g,
                                           struct fr_error *err)
{
    const char *last = "";

    for (size_t i = 0; i < g->n_samples; i++) {
        const struct fr_device_type *type;
        struct fr_device_type *more;

        if (strcmp(g->samples[i].device, last) == 0)
            continue;
        last = g->samples[i].device;
        type = is_for_a_type(m, last) ? NULL : fr_device_type_find(last);
        if (!type || !type->is_gpu)
            continue;
        more = realloc(m->types, (m->n_all + 1) * sizeof(*m->types));
        if (!more)
            return fr__fail_nomem(err);
        m->types = more;
        m->types[m->n_all++] = *type;
    }
    return FR_OK;
}

static enum fr_status make_tables(struct fr_cost_model *m, struct fr_error *err)
{
    m->known = calloc(m->n_all + 1, sizeof(*m->known));
    m->products = calloc(m->n_all + 1, sizeof(*m->products));
    m->trained = calloc(m->n_all + 1, sizeof(*m->trained));
    m->nearest_launch = calloc(m->n_all + 1, sizeof(*m->nearest_launch));
    m->nearest_slowdowns = calloc(m->n_all + 1, sizeof(*m->nearest_slowdowns));
    if (!m->known || !m->products || !m->trained || !m->nearest_launch || !m->nearest_slowdowns)
        return fr__fail_nomem(err);
    return FR_OK;
}

/* ---- public ---- */

const struct fr_message_fit *fr_cost_messages(const struct fr_cost_model *m)
{
    return m->messages;
}

double fr_message_bytes_s(const struct fr_message_fit *f, double bytes)
{
    return bytes > 0 ? bytes / f->Bps * (1 + pow(f->knee_bytes / bytes, f->knee_power)) : 0;
}

enum fr_status fr_cost_model_new(struct fr_cost_model **out, const struct fr_device_type types[],
                                 size_t n_types, const struct fr_cost_options *options,
                                 struct fr_error *err)
{
    struct fr_cost_model *m = calloc(1, sizeof(*m));
    enum fr_status st = FR_OK;

    if (!m)
        return fr__fail_nomem(err);
    if (!take_types(m, types, n_types))
        st = fr__fail_nomem(err);
    if (st == FR_OK && options->graph && !options->datasheet_only)
        st = add_types_of_samples(m, options->graph, err);
    if (st == FR_OK)
        st = make_tables(m, err);
    if (st == FR_OK && !options->datasheet_only)
        st = fill(m, options, err);
    if (st == FR_OK && !options->datasheet_only)
        st = load_systems(m, options, err);
    if (st == FR_OK && !options->datasheet_only)
        st = load_messages(m, options, err);
    if (st == FR_OK)
        *out = m;
    else
        fr_cost_model_free(m);
    return st;
}

void fr_cost_model_free(struct fr_cost_model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_moved; i++)
        free(m->moved[i]);
    for (size_t i = 0; i < m->n_loaded; i++)
        fr_calibration_free(m->loaded[i]);
    for (size_t i = 0; i < m->n_systems; i++)
        fr_system_free(m->systems[i]);
    free(m->systems);
    free(m->messages);
    free(m->moved);
    free(m->loaded);
    free(m->nearest_slowdowns);
    free(m->nearest_launch);
    free(m->trained);
    free(m->products);
    free(m->known);
    free(m->types);
    free(m);
}

struct fr__known fr__cost_model_curve(const struct fr_cost_model *m, uint32_t type,
                                      enum fr_curve_class op_class, enum fr_dtype dtype)
{
    return *slot(m, type, op_class, dtype);
}

struct fr__known fr__cost_model_product(const struct fr_cost_model *m, uint32_t type,
                                        enum fr_dtype dtype)
{
    return m->products[type][dtype];
}

struct fr__known fr__cost_model_attention(const struct fr_cost_model *m, uint32_t type,
                                          enum fr_dtype dtype)
{
    return m->trained[type][dtype];
}

const struct fr_device_type *fr__cost_model_type(const struct fr_cost_model *m, uint32_t type)
{
    return &m->types[type];
}

uint32_t fr__cost_model_n_types(const struct fr_cost_model *m)
{
    return (uint32_t)m->n_all;
}

const struct fr_calibration *fr__cost_model_own_file(const struct fr_cost_model *m)
{
    return m->has_own_file ? m->loaded[0] : NULL;
}

const struct fr_system *fr__cost_model_system(const struct fr_cost_model *m, uint32_t system)
{
    return system < m->n_systems ? m->systems[system] : NULL;
}

double fr__cost_model_launch_s(const struct fr_cost_model *m, uint32_t type)
{
    double framework_s = measured_launch_s(m, type, FR_LAUNCH_FRAMEWORK);

    return framework_s > 0 ? framework_s : m->types[type].launch_s;
}

const struct fr_slowdowns *fr_cost_slowdowns(const struct fr_cost_model *m, const char **device)
{
    const struct fr_calibration *c = NULL;

    for (size_t t = 0; t < m->n_types; t++) {
        if (!m->types[t].is_gpu)
            continue;
        if (!m->nearest_slowdowns[t] || (c && c != m->nearest_slowdowns[t]))
            return NULL;
        c = m->nearest_slowdowns[t];
    }
    if (!c)
        return NULL;
    *device = c->device;
    return &c->slowdowns->info;
}

bool fr_cost_source_of(const struct fr_cost_model *m, uint32_t type, enum fr_curve_class op_class,
                       enum fr_dtype dtype, struct fr_cost_source *out)
{
    const struct fr__known *k = slot(m, type, op_class, dtype);

    if (!k->curve)
        return false;
    *out = (struct fr_cost_source){
        .from = k->from, .trust = k->trust, .median = exp(k->error_frac * 0.67449) - 1};
    return true;
}
