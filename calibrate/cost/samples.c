/* calibrate/cost/samples.c - the time of an op from recorded samples of it. The rules are in
 * cost_samples.h. */
#include "config.h"

#include "calibrate/cost/samples.h"

#include "calibrate/cost/model.h"
#include "calibrate/cost/relatives.h"

#include <math.h>
#include <string.h>

/* Standard deviation of the logarithm of a time that was measured on one GPU type and is taken for
 * another. Rows of the same kernel and shape on two of the shipped device types differ by 1.1 (root
 * mean square over 9206 pairs of held-out rows and 40 pairs of types; the median factor is 2.2).
 * Moved by the ratio of the two curves, the same rows differ by 0.15, with a median of 4.8 %, as
 * the errors of the two curves say. Source: data of doc/calibration.md. */
#define ELSEWHERE_ERROR 1.1

/* The error that is added if an op without a curve, such as a layer's whole backward pass, is moved
 * by the ratio of its forward op's curves. Between two GPUs it and the forward pass of a
 * convolution change by factors that differ by 0.26 (root mean square of the logarithm, median 15
 * %; DeepBench's rows, 1118 pairs). */
#define BY_FORWARD_ERROR 0.26

/* The error that is added if an op of unknown sizes is moved by the ratio of the curves of one
 * large product. Forward passes of convolutions moved in this way are off by 0.32 (root mean square
 * of the logarithm, median 20 %; 357 pairs of held-out rows of five device types). */
#define AS_PRODUCT_ERROR 0.32

/* The op and the curves by which its samples are scaled. */
struct subject {
    const struct fr_cost_model *model;
    uint32_t type;
    uint32_t from; /* the type that the samples were measured on */
    const struct fr_graph *g;
    uint32_t op;     /* the op whose curves are used: itself or its forward op */
    bool as_product; /* the curves are those of a matrix product of its FLOPs */
    const struct fr_part *part;
};

static bool is_whole(const struct fr_part *part)
{
    return part->channel_parts <= 1 && part->input_parts <= 1;
}

static double share_of(const struct fr_part *part)
{
    return 1.0 / ((part->channel_parts > 1 ? part->channel_parts : 1) *
                  (double)(part->input_parts > 1 ? part->input_parts : 1));
}

/* Prices the subject's op on a device of type `type`; false: there is no curve. */
static bool price(struct fr_cost *c, const struct subject *s, uint32_t type,
                  const struct fr_part *part)
{
    *c = (struct fr_cost){.kind = s->g->ops[s->op].kind};
    if (s->as_product)
        return fr__cost_as_product(c, s->model, type, s->g, s->op, part);
    fr__cost_by_rule(c, s->model, type, s->g, s->op, part);
    return c->trust != FR_TRUST_DATASHEET && c->mean_s > 0;
}

/* The time of one of the subject's types at a batch. Samples are scaled by its ratios. */
static double curve_s(const struct subject *s, uint32_t type, double batch,
                      const struct fr_part *of, double *error_frac)
{
    struct fr_part part = *of;
    struct fr_cost c;

    part.batch = batch;
    *error_frac = 0;
    if (s->from == s->type && !s->g->ops[s->op].scales && is_whole(&part))
        return 1;
    price(&c, s, type, &part);
    *error_frac = c.error_frac;
    return c.mean_s > 0 ? c.mean_s : batch * share_of(&part);
}

struct sample_range {
    size_t first, end;
};

static struct sample_range samples_on(const struct fr_graph *g, uint32_t op, const char *device)
{
    struct sample_range r;

    r.first = fr_graph_first_sample(g, op);
    while (r.first < g->n_samples && g->samples[r.first].op == op &&
           strcmp(g->samples[r.first].device, device) != 0)
        r.first++;
    r.end = r.first;
    while (r.end < g->n_samples && g->samples[r.end].op == op &&
           strcmp(g->samples[r.end].device, device) == 0)
        r.end++;
    return r;
}

/* End of the samples that have the same batch as sample i. */
static size_t same_batch_end(const struct fr_graph *g, size_t i, size_t end)
{
    size_t j = i;

    while (j < end && g->samples[j].batch == g->samples[i].batch)
        j++;
    return j;
}

/* Mean of samples [i, end), and their standard deviation as a share of it. */
static double mean_of(const struct fr_graph *g, size_t i, size_t end, double *spread_frac)
{
    double n = (double)(end - i), sum_s = 0, squares = 0, mean_s;

    for (size_t j = i; j < end; j++)
        sum_s += g->samples[j].time_s;
    mean_s = sum_s / n;
    for (size_t j = i; j < end; j++) {
        double off_s = g->samples[j].time_s - mean_s;

        squares += off_s * off_s;
    }
    *spread_frac = n > 1 && mean_s > 0 ? sqrt(squares / (n - 1)) / mean_s : 0;
    return mean_s;
}

/* One sampled batch: the mean of its samples and the ratio of that mean to the curve. */
struct knot {
    double batch, mean_s, spread_frac, ratio;
};

static struct knot knot_at(const struct subject *s, size_t first, size_t end)
{
    const struct fr_part whole = {0};
    struct knot k = {.batch = s->g->samples[first].batch};
    double error_frac, unit_s = curve_s(s, s->from, k.batch, &whole, &error_frac);

    k.mean_s = mean_of(s->g, first, end, &k.spread_frac);
    k.ratio = unit_s > 0 ? k.mean_s / unit_s : 0;
    return k;
}

static void scale_between(const struct subject *s, double batch, const struct knot *low,
                          const struct knot *high, struct fr_cost *out)
{
    const struct knot *nearest = batch - low->batch <= high->batch - batch ? low : high;
    const struct fr_part whole = {0};
    double width = high->batch - low->batch;
    double part = width > 0 ? (batch - low->batch) / width : 0;

    out->spread_frac = nearest->spread_frac;
    out->launch_s = 0;
    if (s->from == s->type && !s->g->ops[s->op].scales && is_whole(s->part)) {
        out->mean_s = nearest->mean_s;
        out->trust = FR_TRUST_PROFILED;
        return;
    }
    out->mean_s = curve_s(s, s->type, batch, s->part, &out->error_frac) *
                  (low->ratio + part * (high->ratio - low->ratio));
    out->trust = FR_TRUST_SCALED;
    if (s->from != s->type) {
        double from_error;

        curve_s(s, s->from, nearest->batch, &whole, &from_error);
        out->error_frac = hypot(out->error_frac, from_error);
    }
}

static void cost_from_samples(const struct subject *s, double batch, struct sample_range r,
                              struct fr_cost *out)
{
    struct knot low = {0}, high = {0};
    bool has_low = false;

    for (size_t i = r.first, end; i < r.end; i = end) {
        end = same_batch_end(s->g, i, r.end);
        high = knot_at(s, i, end);
        if (s->from == s->type && high.batch == batch &&
            is_whole(s->part)) { /* whole numbers, so == is exact */
            out->mean_s = high.mean_s;
            out->spread_frac = high.spread_frac;
            out->launch_s = 0;
            out->trust = FR_TRUST_PROFILED;
            return;
        }
        if (high.batch > batch)
            break;
        low = high;
        has_low = true;
    }
    scale_between(s, batch, has_low ? &low : &high, &high, out);
}

/* ---- whose samples ---- */

/* The model's type with that name; FR_NONE if there is none. */
static uint32_t type_of(const struct fr_cost_model *m, const char *device)
{
    for (uint32_t t = 0; t < fr__cost_model_n_types(m); t++)
        if (strcmp(fr__cost_model_type(m, t)->name, device) == 0)
            return t;
    return FR_NONE;
}

/* The samples that name a device type: those of the type nearest to `type`, *from; of equally near
 * ones the first by name. Types that the model does not know come last, with *from FR_NONE. Empty:
 * there are none. */
static struct sample_range named_samples(const struct fr_cost_model *m, uint32_t type,
                                         const struct fr_graph *g, uint32_t op, uint32_t *from)
{
    struct sample_range best = {0, 0};
    int nearest = 0;

    *from = FR_NONE;
    for (size_t i = fr_graph_first_sample(g, op); i < g->n_samples && g->samples[i].op == op;) {
        const char *device = g->samples[i].device;
        struct sample_range r = samples_on(g, op, device);
        uint32_t other = type_of(m, device);
        int kinship = other == FR_NONE ? FR__NO_RELATIVE
                                       : fr__kinship(fr__cost_model_type(m, type)->name, device);

        i = r.end;
        if (strcmp(device, "*") == 0)
            continue;
        if (best.first == best.end || kinship < nearest || (*from == FR_NONE && other != FR_NONE)) {
            best = r;
            nearest = kinship;
            *from = other;
        }
    }
    return best;
}

/* Whether the whole op has a curve on a device of type `type` at that batch. */
static bool has_curve(const struct subject *s, uint32_t type, double batch)
{
    const struct fr_part whole = {.batch = batch};
    struct fr_cost c;

    return price(&c, s, type, &whole);
}

static void cost_as_elsewhere(struct subject *s, struct sample_range r, struct fr_cost *out)
{
    s->from = s->type;
    cost_from_samples(s, s->part->batch, r, out);
    out->error_frac = hypot(out->error_frac, ELSEWHERE_ERROR);
    out->trust = FR_TRUST_PROFILED_ELSEWHERE;
}

/* Finds curves that both types have: of the op, of its forward op, or of a product. */
static bool find_curves(struct subject *s, double batch, double *added_error)
{
    const uint32_t ops[] = {s->op, s->g->ops[s->op].forward};

    for (unsigned i = 0; i < 4; i++) {
        s->op = ops[i % 2];
        s->as_product = i >= 2;
        *added_error = hypot(i % 2 ? BY_FORWARD_ERROR : 0, s->as_product ? AS_PRODUCT_ERROR : 0);
        if (s->op != FR_NONE && has_curve(s, s->type, batch) && has_curve(s, s->from, batch))
            return true;
    }
    s->op = ops[0];
    s->as_product = false;
    return false;
}

/* Takes the cost from samples of another, named type. false: this type's own curve is better. */
static bool cost_from_named(struct subject *s, struct sample_range r, struct fr_cost *out)
{
    double batch = s->g->samples[r.first].batch, added_error;

    if (s->from != FR_NONE && find_curves(s, batch, &added_error)) {
        cost_from_samples(s, s->part->batch, r, out);
        out->error_frac = hypot(out->error_frac, added_error);
        return true;
    }
    if (has_curve(s, s->type, batch))
        return false;
    cost_as_elsewhere(s, r, out);
    return true;
}

bool fr__cost_by_samples(const struct fr_cost_model *m, uint32_t type, const struct fr_graph *g,
                         uint32_t op, const struct fr_part *part, struct fr_cost *out)
{
    struct subject s = {m, type, type, g, op, false, part};
    struct sample_range r = samples_on(g, op, fr__cost_model_type(m, type)->name);
    struct sample_range unnamed;

    if (r.first < r.end) {
        cost_from_samples(&s, part->batch, r, out);
        return true;
    }
    unnamed = samples_on(g, op, "*");
    if (g->is_tasks && unnamed.first < unnamed.end) {
        cost_from_samples(&s, part->batch, unnamed, out);
        return true;
    }
    r = named_samples(m, type, g, op, &s.from);
    if (r.first < r.end && (s.from != FR_NONE || unnamed.first == unnamed.end))
        return cost_from_named(&s, r, out);
    if (unnamed.first == unnamed.end)
        return false;
    cost_as_elsewhere(&s, unnamed, out);
    return true;
}
