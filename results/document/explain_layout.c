/* results/document/explain_layout.c - a plan whose ops are split over a mesh, as text: the mesh,
 * the ops and messages of each kind of layer, sums of a step, memory.
 *
 * It is separate from the steps of a planner (explain_steps.c): nothing was searched here.
 */
#include "config.h"

#include "results/document/explain.h"

#include "base/error.h"
#include "base/units.h"
#include "study/explain/layout_run.h"
#include "results/parts/number.h"
#include "results/parts/cells.h"

#include <string.h>

enum { NUMBER = 40 };

struct view {
    struct fr__document *doc;
    const struct fr_explanation *e;
    const struct fr__layout_run *r;
    const struct fr__layout_kind *kind; /* that is being told */
    size_t n_axes, axes[16];            /* of more than one rank */
    size_t first_sum;
};

static void cell_count(char cell[FR__TABLE_CELL], size_t n)
{
    if (n)
        snprintf(cell, FR__TABLE_CELL, "%zu", n);
}

/* ---- the mesh ---- */

static void cell_links(char cell[FR__TABLE_CELL], const struct fr__layout_link *k)
{
    char name[NUMBER];

    const struct fr_link *link = k->outside ? k->outside : k->inside;

    if (!link)
        return;
    fr__layout_link_name(link, k->is_network, name, sizeof(name));
    if (k->inside && k->outside)
        snprintf(cell, FR__TABLE_CELL, "%zu of %zu inside a machine, else %s", k->n_inside,
                 k->n_hops, name);
    else
        snprintf(cell, FR__TABLE_CELL, "%s: %s", k->inside ? "inside a machine" : "across machines",
                 name);
}

static void fill_axis(const void *user, size_t i, struct fr__table_row *row)
{
    const struct view *v = user;
    const struct fr_layout_axis *a = &v->r->layout->axes[v->axes[i]];

    fr__table_text(row->cell[0], a->name);
    snprintf(row->cell[1], FR__TABLE_CELL, "%u", a->size);
    snprintf(row->cell[2], FR__TABLE_CELL, "%u", a->stride);
    fr__table_text(row->cell[3], a->what);
    cell_links(row->cell[4], &v->r->links[v->axes[i]]);
}

static void tell_mesh(struct view *v)
{
    static const struct fr__table_column columns[] = {{"axis", false},
                                                      {"ranks", true},
                                                      {"stride", true},
                                                      {"they share", false},
                                                      {"neighbours are joined", false}};
    const struct fr_layout *l = v->r->layout;

    for (size_t a = 0; a < l->n_axes; a++)
        if (l->axes[a].size > 1)
            v->axes[v->n_axes++] = a;
    if (v->n_axes == 0) {
        fr__say(v->doc, "\nOne rank does everything.\n");
        return;
    }
    fr__say(v->doc, "\nThe mesh of %u ranks, innermost axis first (map=", l->n_ranks);
    fr__say_name(v->doc, l->map);
    fr__say(v->doc, "):\n\n");
    fr__say_table(v->doc, &(struct fr__table){columns, 5, v->n_axes, fill_axis, v}, 0);
}

/* ---- ops and messages of a kind of layer ---- */

static void fill_op(const void *user, size_t i, struct fr__table_row *row)
{
    const struct view *v = user;
    const struct fr__layout_run *r = v->r;
    const struct fr_layout_op *op = &r->layout->ops[r->ops[v->kind->first_op + i]];
    const struct fr_op *x = &r->graph->ops[op->op];

    fr__table_text(row->cell[0], fr__layout_op_name(r, v->kind, op->op));
    if (x->param_bytes)
        fr__format_bytes((double)x->param_bytes, row->cell[1], FR__TABLE_CELL);
    fr__layout_weights(r, op, row->cell[2], FR__TABLE_CELL);
    fr__layout_output(r, op, row->cell[3], FR__TABLE_CELL);
    fr__layout_shape(r, op, row->cell[4], FR__TABLE_CELL);
}

static void fill_message(const void *user, size_t i, struct fr__table_row *row)
{
    const struct view *v = user;
    const struct fr__layout_message *m = &v->r->messages[v->kind->first_message + i];
    const struct fr_op *op = &v->r->graph->ops[m->op];

    fr__table_text(row->cell[0], fr__layout_op_name(v->r, v->kind, m->op));
    snprintf(row->cell[1], FR__TABLE_CELL, "%s",
             op->is_recomputed               ? "again"
             : op->phase <= FR_PHASE_FORWARD ? "forward"
                                             : "backward");
    snprintf(row->cell[2], FR__TABLE_CELL, "%s", fr_collective_kind_name(m->kind));
    snprintf(row->cell[3], FR__TABLE_CELL, "%s", m->axis);
    snprintf(row->cell[4], FR__TABLE_CELL, "%u", m->n_ranks);
    fr__format_bytes(m->bytes, row->cell[5], FR__TABLE_CELL);
    fr__format_bytes(m->wire_bytes, row->cell[6], FR__TABLE_CELL);
    fr__format_time(m->time_s, row->cell[7], FR__TABLE_CELL);
    if (m->time_s > 0)
        fr__percent(m->exposed_s / m->time_s, row->cell[8], FR__TABLE_CELL);
}

/* The last line: how many there are, what they send, how long. */
static void tell_layer_sum(const struct view *v)
{
    double wire = 0, time_s = 0, exposed = 0;
    char sent[NUMBER], time[NUMBER], part[NUMBER];

    for (size_t i = 0; i < v->kind->n_messages; i++) {
        const struct fr__layout_message *m = &v->r->messages[v->kind->first_message + i];

        wire += m->wire_bytes;
        time_s += m->time_s;
        exposed += m->exposed_s;
    }
    fr__say(v->doc, "  together %zu: a rank sends %s in %s, %s of it exposed\n",
            v->kind->n_messages, fr__format_bytes(wire, sent, sizeof(sent)),
            fr__format_time(time_s, time, sizeof(time)),
            fr__percent(time_s > 0 ? exposed / time_s : 0, part, sizeof(part)));
}

static void tell_kind(struct view *v, const struct fr__layout_kind *k)
{
    static const struct fr__table_column ops[] = {{"op", false},
                                                  {"weights", true},
                                                  {"split", false},
                                                  {"output", false},
                                                  {"local shape", false}};
    static const struct fr__table_column messages[] = {
        {"message", false}, {"pass", false}, {"kind", false}, {"axis", false},  {"ranks", true},
        {"bytes", true},    {"sent", true},  {"time", true},  {"exposed", true}};
    char name[FR__TABLE_CELL];

    v->kind = k;
    fr__layout_kind_name(v->r, k, name, sizeof(name));
    fr__say(v->doc, "%s", k->n_units ? "\nOps of a layer, " : "\nOps ");
    fr__say_name(v->doc, name);
    fr__say(v->doc, ":\n\n");
    fr__say_table(v->doc, &(struct fr__table){ops, 5, k->n_ops, fill_op, v}, 0);
    if (k->n_messages == 0)
        return;
    fr__say(v->doc, "%s",
            k->n_units ? "\nMessages of a layer in a micro-batch, "
                       : "\nMessages in a micro-batch ");
    fr__say_name(v->doc, name);
    fr__say(v->doc, ":\n\n");
    fr__say_table(v->doc, &(struct fr__table){messages, 9, k->n_messages, fill_message, v}, 0);
    tell_layer_sum(v);
}

/* ---- a step ---- */

static void fill_sum(const void *user, size_t i, struct fr__table_row *row)
{
    const struct view *v = user;
    const struct fr__layout_sum *s = &v->r->sums[v->first_sum + i];

    snprintf(row->cell[0], FR__TABLE_CELL, "%s", s->axis);
    snprintf(row->cell[1], FR__TABLE_CELL, "%s", s->what);
    cell_count(row->cell[2], s->a_layer);
    cell_count(row->cell[3], s->a_micro_batch);
    cell_count(row->cell[4], s->a_step);
    fr__format_bytes(s->wire_bytes, row->cell[5], FR__TABLE_CELL);
    fr__format_time(s->time_s, row->cell[6], FR__TABLE_CELL);
    fr__format_time(s->exposed_s, row->cell[7], FR__TABLE_CELL);
}

static void tell_step(struct view *v)
{
    static const struct fr__table_column columns[] = {
        {"axis", false},  {"kind", false}, {"a layer", true}, {"a micro-batch", true},
        {"a step", true}, {"sent", true},  {"time", true},    {"exposed", true}};
    const struct fr__layout_run *r = v->r;

    for (size_t i = 0; i < r->n_sums;) {
        size_t n = 0;
        uint32_t rank = r->sums[i].stage_rank;

        while (i + n < r->n_sums && r->sums[i + n].stage_rank == rank)
            n++;
        v->first_sum = i;
        i += n;
        if (rank > 0 && rank + 1 < r->n_stage_ranks)
            continue; /* they do what the first one does */
        if (r->n_stage_ranks > 1)
            fr__say(v->doc, "\nMessages of a rank of the %s stage in a step:\n\n",
                    rank ? "last" : "first");
        else
            fr__say(v->doc, "\nMessages of a rank in a step:\n\n");
        fr__say_table(v->doc, &(struct fr__table){columns, 8, n, fill_sum, v}, 0);
    }
}

/* ---- the optimizer's products ---- */

static void fill_product(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr__step_row *r = (const struct fr__step_row *)user + i;
    size_t used = 0;

    for (unsigned d = 0; d < r->tensors.n_dims && used < FR__TABLE_CELL; d++)
        used += (size_t)snprintf(row->cell[0] + used, FR__TABLE_CELL - used, "%s%.0f",
                                 d ? " x " : "", r->tensors.dims[d]);
    cell_count(row->cell[1], (size_t)r->tensors.n);
    fr__format_flops(r->flops, row->cell[2], FR__TABLE_CELL);
    fr__format_time(r->time_s, row->cell[3], FR__TABLE_CELL);
    fr__format_time(r->time_s * r->tensors.n, row->cell[4], FR__TABLE_CELL);
}

static void tell_products(const struct view *v)
{
    static const struct fr__table_column columns[] = {{"tensor", false},
                                                      {"tensors", true},
                                                      {"products of each", true},
                                                      {"time of each", true},
                                                      {"time of all", true}};
    const struct fr__layout_run *r = v->r;

    if (r->n_step_rows == 0)
        return;
    fr__say(v->doc,
            "\nProducts of %s in a step, of one replica; with zero=1, 2 the ranks of dp share "
            "them:\n\n",
            v->e->record->optimizer);
    fr__say_table(v->doc,
                  &(struct fr__table){columns, 5, r->n_step_rows, fill_product, r->step_rows}, 0);
}

/* ---- memory ---- */

static const struct fr_record_device *device_of(const struct view *v, uint32_t stage_rank)
{
    const struct fr_record *r = v->e->record;
    uint32_t device = v->r->layout->devices[fr__layout_rank(v->r->layout, stage_rank)];

    for (size_t i = 0; i < r->n_devices; i++)
        if (r->devices[i].device == device)
            return &r->devices[i];
    return NULL;
}

static const enum fr_buffer_kind shown[] = {
    FR_BUFFER_PARAMETER, FR_BUFFER_GRADIENT,      FR_BUFFER_OPTIMIZER, FR_BUFFER_ACTIVATION,
    FR_BUFFER_WORKSPACE, FR_BUFFER_COMMUNICATION, FR_BUFFER_CONTEXT};
enum { N_SHOWN = sizeof(shown) / sizeof(shown[0]) };

static void fill_memory(const void *user, size_t i, struct fr__table_row *row)
{
    const struct view *v = user;
    const struct fr_record_device *d = device_of(v, (uint32_t)i);

    snprintf(row->cell[0], FR__TABLE_CELL, "%zu", i);
    if (!d)
        return;
    fr__table_text(row->cell[1], d->name);
    for (size_t k = 0; k < N_SHOWN; k++)
        if (d->memory_bytes[shown[k]])
            fr__format_bytes((double)d->memory_bytes[shown[k]], row->cell[2 + k], FR__TABLE_CELL);
    fr__format_bytes((double)d->peak_bytes, row->cell[2 + N_SHOWN], FR__TABLE_CELL);
}

static void tell_memory(struct view *v)
{
    static const struct fr__table_column columns[] = {
        {"stage", true},     {"device", false},     {"parameters", true}, {"gradients", true},
        {"optimizer", true}, {"activations", true}, {"workspace", true},  {"messages", true},
        {"context", true},   {"reserved", true}};

    fr__say(v->doc, "\nMemory of a rank at its peak:\n\n");
    fr__say_table(
        v->doc, &(struct fr__table){columns, 3 + N_SHOWN, v->r->n_stage_ranks, fill_memory, v}, 0);
}

/* ---- all of it ---- */

static void tell_question(const struct view *v)
{
    const struct fr_record *r = v->e->record;
    const struct fr_layout *l = v->r->layout;
    char time[NUMBER];

    fr__say_name(v->doc, r->workload);
    if (r->n_gpus == r->n_gpus_total)
        fr__say(v->doc, " on all %zu GPUs of ", r->n_gpus);
    else
        fr__say(v->doc, " on %zu of %zu GPUs of ", r->n_gpus, r->n_gpus_total);
    fr__say_name(v->doc, r->topology);
    fr__say(v->doc, ", strategy ");
    fr__say_name(v->doc, r->strategy);
    fr__say(v->doc, "\nglobal batch %u, %s, %s; each replica has %u micro-batch%s of %u sample%s\n",
            r->global_batch, r->dtype, r->optimizer, l->n_micros, l->n_micros == 1 ? "" : "es",
            l->micro_batch, l->micro_batch == 1 ? "" : "s");
    fr__say(v->doc, "the step takes %s%s\n", fr__format_time(r->iteration_s, time, sizeof(time)),
            r->oom ? ", but does not fit in memory" : "");
}

static void tell_words(const struct view *v)
{
    fr__say(v->doc,
            "\nS(d): split along dimension d. P: each rank has a term of the sum, which the next "
            "message adds.\nbytes: of the whole message. sent: by each rank. time: with waits for "
            "the others. exposed: while\nthe rank computes nothing.\n");
}

enum fr_status fr__tell_layout(struct fr__document *doc, const struct fr_explanation *e,
                               struct fr_error *err)
{
    struct fr__layout_run r;
    struct view v = {.doc = doc, .e = e, .r = &r};

    FR_TRY(fr__layout_run_make(&r, e, err));
    tell_question(&v);
    tell_mesh(&v);
    for (size_t k = 0; k < r.n_kinds; k++)
        tell_kind(&v, &r.kinds[k]);
    tell_step(&v);
    tell_products(&v);
    tell_memory(&v);
    tell_words(&v);
    fr__layout_run_fini(&r);
    return FR_OK;
}
