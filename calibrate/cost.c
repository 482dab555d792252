/* calibrate/cost.c - the time of one op: a measured sample where there is one, else a roofline.
 *
 * Datasheet:  t_s = max(flops / (peak * flops_frac), bytes / (mem_Bps * bytes_frac))
 * Source:     S. Williams, A. Waterman, D. Patterson, Communications of the ACM 52(4), 2009
 *             (roofline); fractions: calibrate/efficiency.c.
 * Ignores:    tiles and waves, caches, occupancy of small kernels.
 *
 * Samples:    the mean of those of the same op, device type ("*" if it has none) and batch. Another
 *             batch: the datasheet curve times the ratio measured / curve, which between two sampled
 *             batches goes linearly from one's ratio to the other's and outside stays at the nearer
 *             end's; so the result meets every sample. An op whose FLOPs and bytes are not known has
 *             a curve proportional to the batch.
 */
#include "config.h"

#include "calibrate/calibrate.h"

#include <math.h>
#include <string.h>

/* Ops that run on matrix units: their peak is the dtype's. */
static bool uses_matrix_units(enum fr_op_kind kind)
{
    switch (kind) {
    case FR_OP_CONV2D:
    case FR_OP_MATMUL:
    case FR_OP_BATCH_MATMUL:
    case FR_OP_ATTENTION:
    case FR_OP_LSTM:  /* eight matrix products a step */
    case FR_OP_LAYER: /* a whole layer is mostly its matrix products */
        return true;
    default:
        return false;
    }
}

static double peak_flops_per_s(const struct fr_device_type *d, enum fr_op_kind kind,
                               enum fr_dtype dtype)
{
    if (!uses_matrix_units(kind))
        return d->vector_flops_per_s;
    if (dtype == FR_AMP)
        dtype = FR_FP16;
    if ((unsigned)dtype < FR_N_DTYPES && d->flops_per_s[dtype] > 0)
        return d->flops_per_s[dtype];
    return d->flops_per_s[FR_FP32] > 0 ? d->flops_per_s[FR_FP32] : d->vector_flops_per_s;
}

/* A rate of 0 is not known and sets no limit. */
static double time_at(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

static void set_roofline(struct fr_cost *c, const struct fr_device_type *d, enum fr_dtype dtype,
                         double flops, double bytes)
{
    struct fr_efficiency e = fr_efficiency_of(c->kind);

    c->flops_s = time_at(flops, peak_flops_per_s(d, c->kind, dtype) * e.flops_frac);
    c->bytes_s = time_at(bytes, d->mem_Bps * e.bytes_frac);
    c->mean_s = c->flops_s > c->bytes_s ? c->flops_s : c->bytes_s;
}

static bool is_free(const struct fr_op *o)
{
    return o->flops <= 0 && o->bytes <= 0 && o->param_bytes == 0;
}

/* Parameters of other ops that a forward op uses (tied weights). */
static double borrowed_bytes(const struct fr_graph *g, const struct fr_op *o)
{
    size_t op = (size_t)(o - g->ops);
    double bytes = 0;

    if (o->phase != FR_PHASE_FORWARD)
        return 0;
    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE && g->ops[e->src].phase == FR_PHASE_FORWARD)
            bytes += (double)e->bytes;
    }
    return bytes;
}

/* Parameters are read or written whole, but for a table of embeddings in the forward pass: of that
 * only the rows looked up are read, and these are in `bytes`. */
static double param_traffic(const struct fr_graph *g, const struct fr_op *o)
{
    bool is_lookup = o->kind == FR_OP_EMBEDDING && o->phase == FR_PHASE_FORWARD && o->bytes > 0;

    return is_lookup ? 0 : (double)o->param_bytes + borrowed_bytes(g, o);
}

/* What an op that scales with the batch reads and what does not: an op's `bytes` leave it out. */
static double fixed_input_bytes(const struct fr_graph *g, const struct fr_op *o)
{
    uint32_t id = (uint32_t)(o - g->ops);
    double bytes = 0;

    for (uint32_t i = g->in_first[id]; o->scales && i < g->in_first[id + 1]; i++) {
        uint32_t t = g->edges[g->in_edges[i]].tensor;

        if (t != FR_NONE && !g->tensors[t].scales)
            bytes += (double)g->tensors[t].bytes;
    }
    return bytes;
}

static void set_datasheet(struct fr_cost *c, const struct fr_graph *g, const struct fr_op *o,
                          const struct fr_device_type *d, double batch)
{
    double ratio = o->scales && g->batch > 0 ? batch / g->batch : 1;

    set_roofline(c, d, g->dtype, o->flops * ratio,
                 o->bytes * ratio + param_traffic(g, o) + fixed_input_bytes(g, o));
}

/* The shape of the time over the batch that samples are scaled by. */
static double curve_s(const struct fr_graph *g, const struct fr_op *o,
                      const struct fr_device_type *d, double batch)
{
    struct fr_cost c = {.kind = o->kind};

    if (!o->scales)
        return 1;
    set_datasheet(&c, g, o, d, batch);
    return c.mean_s > 0 ? c.mean_s : batch;
}

/* ---- samples ---- */

struct sample_range {
    size_t first, end;
};

/* First sample of an op >= op. Cost: O(log n_samples). */
static size_t lower_bound(const struct fr_graph *g, uint32_t op)
{
    size_t low = 0, high = g->n_samples;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (g->samples[mid].op < op)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct sample_range samples_on(const struct fr_graph *g, uint32_t op, const char *device)
{
    struct sample_range r;

    r.first = lower_bound(g, op);
    while (r.first < g->n_samples && g->samples[r.first].op == op &&
           strcmp(g->samples[r.first].device, device) != 0)
        r.first++;
    r.end = r.first;
    while (r.end < g->n_samples && g->samples[r.end].op == op &&
           strcmp(g->samples[r.end].device, device) == 0)
        r.end++;
    return r;
}

/* End of the samples that share the batch of sample i. */
static size_t same_batch_end(const struct fr_graph *g, size_t i, size_t end)
{
    size_t j = i;

    while (j < end && g->samples[j].batch == g->samples[i].batch)
        j++;
    return j;
}

/* Mean of samples [i, end) and their standard deviation over it. */
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

/* One sampled batch: the mean there and what it is over the curve. */
struct knot {
    double batch, mean_s, spread_frac, ratio;
};

static struct knot knot_at(const struct fr_graph *g, const struct fr_op *o,
                           const struct fr_device_type *d, size_t first, size_t end)
{
    struct knot k = {.batch = g->samples[first].batch};
    double unit_s = curve_s(g, o, d, k.batch);

    k.mean_s = mean_of(g, first, end, &k.spread_frac);
    k.ratio = unit_s > 0 ? k.mean_s / unit_s : 0;
    return k;
}

static void scale_between(const struct fr_graph *g, const struct fr_op *o,
                          const struct fr_device_type *d, double batch, const struct knot *low,
                          const struct knot *high, struct fr_cost *out)
{
    const struct knot *nearest = batch - low->batch <= high->batch - batch ? low : high;
    double width = high->batch - low->batch;
    double part = width > 0 ? (batch - low->batch) / width : 0;

    out->spread_frac = nearest->spread_frac;
    out->launch_s = 0;
    if (!o->scales) {
        out->mean_s = nearest->mean_s;
        out->trust = FR_TRUST_PROFILED;
        return;
    }
    out->mean_s = curve_s(g, o, d, batch) * (low->ratio + part * (high->ratio - low->ratio));
    out->trust = FR_TRUST_SCALED;
}

static void cost_from_samples(const struct fr_graph *g, const struct fr_op *o,
                              const struct fr_device_type *d, double batch, struct sample_range r,
                              struct fr_cost *out)
{
    struct knot low = {0}, high = {0};
    bool has_low = false;

    for (size_t i = r.first, end; i < r.end; i = end) {
        end = same_batch_end(g, i, r.end);
        high = knot_at(g, o, d, i, end);
        if (high.batch == batch) { /* exact: both are whole numbers of samples */
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
    scale_between(g, o, d, batch, has_low ? &low : &high, &high, out);
}

/* ---- public ---- */

void fr_cost_op(const struct fr_graph *g, uint32_t op, const struct fr_device_type *device,
                double batch, struct fr_cost *out)
{
    const struct fr_op *o = &g->ops[op];
    struct sample_range r = samples_on(g, op, device->name);

    *out = (struct fr_cost){.kind = o->kind, .trust = FR_TRUST_DATASHEET};
    if (r.first == r.end)
        r = samples_on(g, op, "*");
    if (r.first < r.end) {
        cost_from_samples(g, o, device, batch, r, out);
        return;
    }
    if (is_free(o))
        return; /* a view: no kernel, so nothing to launch */
    set_datasheet(out, g, o, device, batch);
    out->launch_s = device->launch_s;
}

void fr_cost_bytes(const struct fr_device_type *device, double bytes, enum fr_op_kind kind,
                   struct fr_cost *out)
{
    *out = (struct fr_cost){.kind = kind, .trust = FR_TRUST_DATASHEET};
    if (bytes <= 0)
        return;
    set_roofline(out, device, FR_FP32, 0, bytes);
    out->launch_s = device->launch_s;
}
