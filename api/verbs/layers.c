/* api/verbs/layers.c - what each layer of a graph gives, holds, computes and keeps. */
#include "config.h"

#include "base/json.h"
#include "base/units.h"
#include "api/verbs/verbs.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBER = 32, SHAPE = 12 * FR_MAX_DIMS, MOST_NAME = 44, MOST_KINDS = 4 };

/* "64x512x14x14", "-" where it is not known. */
static const char *format_shape(const struct fr_graph *g, uint32_t tensor, char *buf, size_t size)
{
    const struct fr_tensor *t = tensor == FR_NONE ? NULL : &g->tensors[tensor];
    size_t used = 0;

    if (!t || t->n_dims == 0)
        return "-";
    for (unsigned d = 0; d < t->n_dims; d++)
        used += (size_t)snprintf(buf + used, size - used, "%s%" PRIu32, d ? "x" : "", t->dims[d]);
    return buf;
}

/* ---- for people ---- */

static void print_row(FILE *f, int width, const char *name, const char *output, uint64_t params,
                      double forward_flops, double saved_bytes)
{
    char text[NUMBER], flops[NUMBER], saved[NUMBER];

    snprintf(text, sizeof(text), "%" PRIu64, params);
    fprintf(f, "  %-*s %17s %13s %12s %10s", width, name, output, text,
            fr__format_flops(forward_flops, flops, sizeof(flops)),
            fr__format_bytes(saved_bytes, saved, sizeof(saved)));
}

static void print_kinds(FILE *f, const struct fr_layer_totals *t)
{
    for (unsigned i = 0; i < t->n_kinds && i < MOST_KINDS; i++)
        fprintf(f, "%s%s", i ? " " : "  ", fr_op_kind_name(t->kinds[i]));
    fprintf(f, "%s\n", t->n_kinds > MOST_KINDS ? " ..." : "");
}

void fr__print_layers(FILE *f, const struct fr_graph *g, const struct fr_layer_totals totals[])
{
    int width = (int)strlen("layer");
    struct fr_graph_totals all;
    char shape[SHAPE];

    for (size_t i = 0; i < g->n_layers; i++) {
        size_t length = strlen(g->layer_names[i]);

        if (length > (size_t)width)
            width = length < MOST_NAME ? (int)length : MOST_NAME;
    }
    fprintf(f, "\n  %-*s %17s %13s %12s %10s  ops\n", width, "layer", "output", "parameters",
            "forward", "kept");
    for (size_t i = 0; i < g->n_layers; i++) {
        const struct fr_layer_totals *t = &totals[i];

        if (t->n_ops == 0)
            continue;
        print_row(f, width, g->layer_names[i], format_shape(g, t->output, shape, sizeof(shape)),
                  t->params, t->forward_flops, (double)t->saved_bytes);
        print_kinds(f, t);
    }
    fr_graph_totals(g, &all);
    print_row(f, width, "all", "", all.params, all.flops[FR_PHASE_FORWARD],
              (double)all.saved_bytes);
    putc('\n', f);
}

/* ---- for programs ---- */

static void write_shape(struct fr__json *j, const struct fr_graph *g, uint32_t tensor)
{
    if (tensor == FR_NONE || g->tensors[tensor].n_dims == 0) {
        fr__json_null(j, "output");
        return;
    }
    fr__json_open(j, "output", '[', true);
    for (unsigned d = 0; d < g->tensors[tensor].n_dims; d++)
        fr__json_count(j, NULL, g->tensors[tensor].dims[d]);
    fr__json_close(j, ']');
}

void fr__write_layers(struct fr__json *j, const struct fr_graph *g,
                      const struct fr_layer_totals totals[])
{
    fr__json_open(j, "by_layer", '[', false);
    for (size_t i = 0; i < g->n_layers; i++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_string(j, "name", g->layer_names[i]);
        write_shape(j, g, totals[i].output);
        fr__json_count(j, "params", totals[i].params);
        fr__json_count(j, "param_tensors", totals[i].param_tensors);
        fr__json_number(j, "forward_flops", totals[i].forward_flops);
        fr__json_number(j, "backward_flops", totals[i].backward_flops);
        fr__json_count(j, "saved_bytes", totals[i].saved_bytes);
        fr__json_count(j, "forward_ops", totals[i].n_ops);
        fr__json_open(j, "kinds", '[', true);
        for (unsigned k = 0; k < totals[i].n_kinds; k++)
            fr__json_string(j, NULL, fr_op_kind_name(totals[i].kinds[k]));
        fr__json_close(j, ']');
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
}
