/* results/data/explain_layout.c - a plan whose ops are split over a mesh, as JSON, for programs.
 *
 * It is separate from the JSON of planners (explain.c), with which it shares nothing.
 */
#include "config.h"

#include "base/error.h"
#include "base/json.h"
#include "results/parts/explanation.h"
#include "study/explain/layout_run.h"

/* NULL: there is no link. */
static const char *link_name(const struct fr__layout_run *r, const struct fr_link *link,
                             char name[FR_LINK_NAME])
{
    return link ? fr_topo_link_name(r->topo, (uint32_t)(link - r->topo->links), name) : NULL;
}

static void write_mesh(struct fr__json *j, const struct fr__layout_run *r)
{
    const struct fr_layout *l = r->layout;

    fr__json_open(j, "axes", '[', false);
    for (size_t a = 0; a < l->n_axes; a++) {
        const struct fr_layout_axis *x = &l->axes[a];
        const struct fr__layout_link *k = &r->links[a];
        char name[FR_LINK_NAME];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "name", x->name);
        fr__json_count(j, "size", x->size);
        fr__json_count(j, "stride", x->stride);
        fr__json_bool(j, "of_experts", x->is_of_experts);
        fr__json_count(j, "hops", k->n_hops);
        fr__json_count(j, "hops_inside_machines", k->n_inside);
        fr__json_string(j, "inside_link", link_name(r, k->inside, name));
        fr__json_number(j, "inside_Bps", k->inside ? k->inside->bw_Bps : 0);
        fr__json_string(j, "outside_link", link_name(r, k->outside, name));
        fr__json_number(j, "outside_Bps", k->outside ? k->outside->bw_Bps : 0);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

static void write_op(struct fr__json *j, const struct fr__layout_run *r,
                     const struct fr_layout_op *op)
{
    static const char *const outputs[] = {
        [FR_LAYOUT_WHOLE] = "R", [FR_LAYOUT_SPLIT] = "S", [FR_LAYOUT_PARTIAL] = "P"};
    const struct fr_op *x = &r->graph->ops[op->op];
    char shape[160];

    fr__json_open(j, NULL, '{', true);
    fr__json_string(j, "op", x->name);
    fr__json_string(j, "kind", fr_op_kind_name(x->kind));
    fr__json_count(j, "weight_bytes", x->param_bytes);
    fr__json_string(j, "local_shape", fr__layout_shape(r, op, shape, sizeof(shape)));
    fr__json_open(j, "splits", '[', true);
    for (size_t i = 0; i < op->n_splits; i++) {
        const struct fr_layout_split *s = &op->splits[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "axis", r->layout->axes[s->axis].name);
        fr__json_string(j, "loop", s->loop);
        fr__json_bool(j, "weights", s->divides_weights);
        fr__json_string(j, "output", outputs[s->output]);
        if (s->output == FR_LAYOUT_SPLIT)
            fr__json_count(j, "dim", s->dim);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__json_close(j, '}');
}

static void write_message(struct fr__json *j, const struct fr__layout_run *r,
                          const struct fr__layout_message *m)
{
    const struct fr_op *op = &r->graph->ops[m->op];

    fr__json_open(j, NULL, '{', true);
    fr__json_string(j, "op", op->name);
    fr__json_string(j, "phase", fr_phase_name(op->phase));
    fr__json_bool(j, "recomputed", op->is_recomputed);
    fr__json_string(j, "kind", fr_collective_kind_name(m->kind));
    fr__json_string(j, "axis", m->axis);
    fr__json_count(j, "ranks", m->n_ranks);
    fr__json_number(j, "bytes", m->bytes);
    fr__json_number(j, "sent_bytes", m->wire_bytes);
    fr__json_number(j, "time_s", m->time_s);
    fr__json_number(j, "exposed_s", m->exposed_s);
    fr__json_close(j, '}');
}

static void write_kind(struct fr__json *j, const struct fr__layout_run *r,
                       const struct fr__layout_kind *k)
{
    fr__json_open(j, NULL, '{', false);
    fr__json_string(j, "first", k->n_units ? r->layout->units[k->first] : NULL);
    fr__json_count(j, "layers", k->n_units);
    fr__json_open(j, "ops", '[', false);
    for (size_t i = 0; i < k->n_ops; i++)
        write_op(j, r, &r->layout->ops[r->ops[k->first_op + i]]);
    fr__json_close(j, ']');
    fr__json_open(j, "messages", '[', false);
    for (size_t i = 0; i < k->n_messages; i++)
        write_message(j, r, &r->messages[k->first_message + i]);
    fr__json_close(j, ']');
    fr__json_close(j, '}');
}

static void write_sum(struct fr__json *j, const struct fr__layout_sum *s)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_count(j, "stage", s->stage_rank);
    fr__json_string(j, "axis", s->axis);
    fr__json_string(j, "kind", s->what);
    fr__json_count(j, "ranks", s->n_ranks);
    fr__json_count(j, "a_layer", s->a_layer);
    fr__json_count(j, "a_micro_batch", s->a_micro_batch);
    fr__json_count(j, "a_step", s->a_step);
    fr__json_number(j, "bytes", s->bytes);
    fr__json_number(j, "sent_bytes", s->wire_bytes);
    fr__json_number(j, "time_s", s->time_s);
    fr__json_number(j, "exposed_s", s->exposed_s);
    fr__json_close(j, '}');
}

static void write_memory(struct fr__json *j, const struct fr__layout_run *r,
                         const struct fr_record *record)
{
    fr__json_open(j, "memory", '[', false);
    for (uint32_t s = 0; s < r->n_stage_ranks; s++) {
        uint32_t device = r->layout->devices[fr__layout_rank(r->layout, s)];

        for (size_t i = 0; i < record->n_devices; i++) {
            const struct fr_record_device *d = &record->devices[i];

            if (d->device != device)
                continue;
            fr__json_open(j, NULL, '{', true);
            fr__json_count(j, "stage", s);
            fr__json_string(j, "device", d->name);
            for (unsigned k = 0; k < FR_N_BUFFER_KINDS; k++)
                fr__json_count(j, fr_buffer_kind_name((enum fr_buffer_kind)k), d->memory_bytes[k]);
            fr__json_count(j, "peak", d->peak_bytes);
            fr__json_close(j, '}');
        }
    }
    fr__json_close(j, ']');
}

/* Only where the optimizer makes some. */
static void write_products(struct fr__json *j, const struct fr__layout_run *r)
{
    if (r->n_step_rows == 0)
        return;
    fr__json_open(j, "optimizer_products", '[', false);
    for (size_t i = 0; i < r->n_step_rows; i++) {
        const struct fr__step_row *row = &r->step_rows[i];

        fr__json_open(j, NULL, '{', true);
        fr__json_open(j, "dims", '[', true);
        for (unsigned d = 0; d < row->tensors.n_dims; d++)
            fr__json_count(j, NULL, (uint64_t)row->tensors.dims[d]);
        fr__json_close(j, ']');
        fr__json_count(j, "tensors", (uint64_t)row->tensors.n);
        fr__json_number(j, "flops", row->flops);
        fr__json_number(j, "time_s", row->time_s);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}

enum fr_status fr__layout_print_json(FILE *f, const struct fr_explanation *e, struct fr_error *err)
{
    const struct fr_record *record = e->record;
    struct fr__layout_run r;
    struct fr__json j;

    FR_TRY(fr__layout_run_make(&r, e, err));
    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "workload", record->workload);
    fr__json_string(&j, "topology", record->topology);
    fr__json_string(&j, "strategy", record->strategy);
    fr__json_count(&j, "global_batch", record->global_batch);
    fr__json_number(&j, "iteration_s", record->iteration_s);
    fr__json_bool(&j, "oom", record->oom);
    fr__json_count(&j, "ranks", r.layout->n_ranks);
    fr__json_string(&j, "map", r.layout->map);
    fr__json_count(&j, "stages", r.layout->n_stages);
    fr__json_count(&j, "micro_batches", r.layout->n_micros);
    fr__json_count(&j, "micro_batch", r.layout->micro_batch);
    write_mesh(&j, &r);
    fr__json_open(&j, "layers", '[', false);
    for (size_t k = 0; k < r.n_kinds; k++)
        write_kind(&j, &r, &r.kinds[k]);
    fr__json_close(&j, ']');
    fr__json_open(&j, "step", '[', false);
    for (size_t i = 0; i < r.n_sums; i++)
        write_sum(&j, &r.sums[i]);
    fr__json_close(&j, ']');
    write_products(&j, &r);
    write_memory(&j, &r, record);
    fr__json_close(&j, '}');
    fr__layout_run_fini(&r);
    return FR_OK;
}
