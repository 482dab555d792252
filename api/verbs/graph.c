/* api/verbs/graph.c - list, show, check and export workloads. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "calibrate/calibrate.h"
#include "api/verbs/verbs.h"
#include "study/recipes/recipe.h"
#include "workloads/random/random_tasks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <limits.h>
#include <string.h>

enum { NUMBER = 32 };

enum fr_status fr__load_graph(const struct fr__call *s, struct fr_graph **g, struct fr_error *err)
{
    struct fr_question q = s->options.question;
    struct fr_workload_options opt;
    struct fr_recipe *recipe;
    struct fr_graph *loaded;
    enum fr_status st;

    q.workload = s->options.arguments[0];
    if (q.recipe && strcmp(q.recipe, "usual") == 0 && fr_recipe_usual(&q))
        q.recipe = fr_recipe_usual(&q);
    if (q.recipe) { /* what is wrong with it */
        FR_TRY(fr_recipe_load(&recipe, q.recipe, err));
        fr_recipe_free(recipe);
    }
    opt = fr_question_workload(&q);
    opt.batch = q.global_batch;
    FR_TRY(fr_question_graph(&loaded, &q, &opt, err));
    if (!q.formats) {
        *g = loaded;
        return FR_OK;
    }
    st = fr_graph_add_casts(loaded, g, err);
    fr_graph_free(loaded);
    return st;
}

enum fr_status fr__verb_graph_list(struct fr__call *s, struct fr_error *err)
{
    const char *group = "";

    (void)s;
    (void)err;
    for (size_t i = 0; fr_zoo_name(i); i++) {
        if (strcmp(fr_zoo_group(i), group) != 0)
            fprintf(s->out, "%s%s:\n", i ? "\n" : "", fr_zoo_group(i));
        group = fr_zoo_group(i);
        fr__print_row(s->out, fr_zoo_name(i), 18, fr_zoo_summary(i));
    }
    return FR_OK;
}

static double backward_of(const double by_phase[FR_N_PHASES])
{
    return by_phase[FR_PHASE_BACKWARD_DATA] + by_phase[FR_PHASE_BACKWARD_WEIGHT];
}

/* ---- show, for people ---- */

static void print_ops(FILE *f, const struct fr_graph *g)
{
    fputs("\nOps:\n", f);
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_op *o = &g->ops[i];
        char flops[NUMBER], bytes[NUMBER], params[NUMBER], shape[FR_SHAPE_TEXT];

        fprintf(f, "  %-36s %-13s %-15s %12s %11s %11s%s%s\n", o->name, fr_op_kind_name(o->kind),
                fr_phase_name(o->phase), fr__format_flops(o->flops, flops, sizeof(flops)),
                fr__format_bytes(o->bytes, bytes, sizeof(bytes)),
                fr__format_bytes((double)o->param_bytes, params, sizeof(params)),
                o->shape.of == FR_SHAPE_UNKNOWN ? "" : "  ",
                fr_shape_format(&o->shape, shape, sizeof(shape)));
    }
}

/* ", 3x224x224 images" */
static void print_images(FILE *f, const struct fr_graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct fr_tensor *t = &g->tensors[g->ops[i].first_tensor];

        if (g->ops[i].phase == FR_PHASE_INPUT && g->ops[i].n_tensors == 1 && t->n_dims == 4) {
            fprintf(f, ", %ux%ux%u images", t->dims[1], t->dims[2], t->dims[3]);
            return;
        }
    }
}

static bool is_fused(const struct fr_graph *g)
{
    for (unsigned f = 0; f < FR_N_FUSIONS; f++)
        if (fr_graph_fusion_effect(g, (enum fr_fusion)f).n_groups > 0)
            return true;
    return false;
}

void fr__print_fusions(FILE *f, const struct fr_graph *g)
{
    char before[NUMBER], after[NUMBER];

    if (!is_fused(g))
        return;
    fprintf(f, "\n  %-22s %7s %14s  %s\n", "fusion", "groups", "ops", "memory traffic");
    for (unsigned k = 0; k < FR_N_FUSIONS; k++) {
        struct fr_fusion_effect x = fr_graph_fusion_effect(g, (enum fr_fusion)k);

        if (x.n_groups == 0)
            continue;
        fprintf(f, "  %-22s %7zu %6zu -> %4zu  %s -> %s\n", fr_fusion_name((enum fr_fusion)k),
                x.n_groups, x.ops_before, x.ops_after,
                fr__format_bytes(x.bytes_before, before, sizeof(before)),
                fr__format_bytes(x.bytes_after, after, sizeof(after)));
    }
}

void fr__print_layout(FILE *f, const struct fr_graph *g)
{
    struct fr_layout_effect x;
    char bytes[NUMBER];

    if (g->layout == FR_LAYOUT_DEFAULT)
        return;
    fr_layout_effect_of(g, &x);
    fprintf(f,
            "\n  layout %s: %zu transposes around %zu convolutions, %s of memory traffic, are %s\n",
            fr_image_layout_name(g->layout), x.n_transposes, x.n_convolutions,
            fr__format_bytes(x.bytes, bytes, sizeof(bytes)),
            g->layout == FR_LAYOUT_NHWC ? "spared" : "made");
}

/* layers: [n_layers], or NULL */
static void print_graph(FILE *f, const struct fr_graph *g, const struct fr_layer_totals layers[],
                        bool is_verbose)
{
    struct fr_graph_totals t;
    char text[NUMBER], more[NUMBER];

    fr_graph_totals(g, &t);
    fprintf(f, "%s, batch %u", g->name, g->batch);
    if (g->seq_len)
        fprintf(f, ", sequence length %u", g->seq_len);
    print_images(f, g);
    fprintf(f, ", %s\nsource: %s\n\n", fr_dtype_name(g->dtype),
            g->source ? g->source : "not given");
    fprintf(f, "  parameters    %s (%" PRIu64 "), %s in %" PRIu64 " tensor%s\n",
            fr__format_count((double)t.params, text, sizeof(text)), t.params,
            fr__format_bytes((double)t.param_bytes, more, sizeof(more)), t.param_tensors,
            t.param_tensors == 1 ? "" : "s");
    if (t.active_params != t.params)
        fprintf(f, "  active        %s (%" PRIu64 ") meet a token\n",
                fr__format_count((double)t.active_params, text, sizeof(text)), t.active_params);
    if (t.trained_params != t.params)
        fprintf(f, "  trained       %s (%" PRIu64 ", %.3g %%)\n",
                fr__format_count((double)t.trained_params, text, sizeof(text)), t.trained_params,
                100 * (double)t.trained_params / (double)t.params);
    fprintf(f, "  saved         %s for the backward pass\n",
            fr__format_bytes((double)t.saved_bytes, text, sizeof(text)));
    fprintf(f, "  layers        %zu\n\n", g->n_layers);
    fprintf(f, "  %-16s %8s %14s  %s\n", "phase", "ops", "FLOPs", "measured");
    for (unsigned phase = 0; phase < FR_N_PHASES; phase++) {
        if (t.ops[phase] == 0)
            continue;
        fprintf(f, "  %-16s %8zu %14s  %s\n", fr_phase_name((enum fr_phase)phase), t.ops[phase],
                fr__format_flops(t.flops[phase], text, sizeof(text)),
                t.sample_s[phase] > 0 ? fr__format_time(t.sample_s[phase], more, sizeof(more))
                                      : "-");
    }
    fr__print_fusions(f, g);
    fr__print_layout(f, g);
    if (layers)
        fr__print_layers(f, g, layers);
    if (is_verbose)
        print_ops(f, g);
}

/* ---- show, for programs ---- */

static void write_fusions(struct fr__json *j, const struct fr_graph *g)
{
    if (!is_fused(g))
        return;
    fr__json_open(j, "fusions", '{', true);
    for (unsigned f = 0; f < FR_N_FUSIONS; f++) {
        struct fr_fusion_effect x = fr_graph_fusion_effect(g, (enum fr_fusion)f);

        if (x.n_groups == 0)
            continue;
        fr__json_open(j, fr_fusion_name((enum fr_fusion)f), '{', true);
        fr__json_count(j, "groups", x.n_groups);
        fr__json_count(j, "ops_before", x.ops_before);
        fr__json_count(j, "ops_after", x.ops_after);
        fr__json_number(j, "bytes_before", x.bytes_before);
        fr__json_number(j, "bytes_after", x.bytes_after);
        fr__json_close(j, '}');
    }
    fr__json_close(j, '}');
}

static void write_layout(struct fr__json *j, const struct fr_graph *g)
{
    struct fr_layout_effect x;

    if (g->layout == FR_LAYOUT_DEFAULT)
        return;
    fr_layout_effect_of(g, &x);
    fr__json_string(j, "layout", fr_image_layout_name(g->layout));
    fr__json_open(j, "layout_transposes", '{', true);
    fr__json_string(j, "are", g->layout == FR_LAYOUT_NHWC ? "spared" : "made");
    fr__json_count(j, "convolutions", x.n_convolutions);
    fr__json_count(j, "transposes", x.n_transposes);
    fr__json_number(j, "bytes", x.bytes);
    fr__json_close(j, '}');
}

static void write_forward_flops_by_kind(struct fr__json *j, const struct fr_graph *g)
{
    double flops[FR_N_OP_KINDS] = {0};
    bool is_there[FR_N_OP_KINDS] = {false};

    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].phase == FR_PHASE_FORWARD) {
            flops[g->ops[i].kind] += g->ops[i].flops;
            is_there[g->ops[i].kind] = true;
        }
    fr__json_open(j, "forward_flops_by_kind", '{', true);
    for (unsigned kind = 0; kind < FR_N_OP_KINDS; kind++)
        if (is_there[kind])
            fr__json_number(j, fr_op_kind_name((enum fr_op_kind)kind), flops[kind]);
    fr__json_close(j, '}');
}

/* layers: [n_layers], or NULL */
static void write_graph(FILE *f, const struct fr_graph *g, const struct fr_layer_totals layers[])
{
    struct fr_graph_totals t;
    struct fr__json j;

    fr_graph_totals(g, &t);
    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    fr__json_string(&j, "name", g->name);
    fr__json_string(&j, "source", g->source);
    fr__json_count(&j, "batch", g->batch);
    fr__json_count(&j, "seq_len", g->seq_len);
    fr__json_string(&j, "precision", fr_dtype_name(g->dtype));
    fr__json_count(&j, "params", t.params);
    if (t.active_params != t.params)
        fr__json_count(&j, "active_params", t.active_params);
    if (t.trained_params != t.params)
        fr__json_count(&j, "trained_params", t.trained_params);
    fr__json_count(&j, "param_bytes", t.param_bytes);
    fr__json_count(&j, "param_tensors", t.param_tensors);
    fr__json_count(&j, "saved_bytes", t.saved_bytes);
    fr__json_count(&j, "layers", g->n_layers);
    fr__json_number(&j, "forward_flops", t.flops[FR_PHASE_FORWARD]);
    fr__json_number(&j, "backward_flops", backward_of(t.flops));
    write_forward_flops_by_kind(&j, g);
    fr__json_open(&j, "flops", '{', true);
    for (unsigned phase = 0; phase < FR_N_PHASES; phase++)
        fr__json_number(&j, fr_phase_name((enum fr_phase)phase), t.flops[phase]);
    fr__json_close(&j, '}');
    fr__json_open(&j, "ops", '{', true);
    for (unsigned phase = 0; phase < FR_N_PHASES; phase++)
        fr__json_count(&j, fr_phase_name((enum fr_phase)phase), t.ops[phase]);
    fr__json_close(&j, '}');
    write_fusions(&j, g);
    write_layout(&j, g);
    if (layers)
        fr__write_layers(&j, g, layers);
    fr__json_open(&j, "sample_s", '{', true);
    for (unsigned phase = 0; phase < FR_N_PHASES; phase++)
        fr__json_number(&j, fr_phase_name((enum fr_phase)phase), t.sample_s[phase]);
    fr__json_close(&j, '}');
    fr__json_close(&j, '}');
    putc('\n', f);
}

enum fr_status fr__verb_graph_show(struct fr__call *s, struct fr_error *err)
{
    struct fr_layer_totals *layers = NULL;
    struct fr_graph *g;
    enum fr_status st = FR_OK;

    FR_TRY(fr__load_graph(s, &g, err));
    if (s->options.layers) {
        layers = calloc(g->n_layers + 1, sizeof(*layers));
        st = layers ? fr_graph_layer_totals(g, layers, err) : fr__fail_nomem(err);
        if (st != FR_OK)
            goto done;
    }
    if (s->options.json)
        write_graph(s->out, g, layers);
    else
        print_graph(s->out, g, layers, s->options.verbose);
done:
    free(layers);
    fr_graph_free(g);
    return st;
}

/* ---- check and export ---- */

static void say(void *user, const char *line)
{
    fprintf(user, "%s\n", line);
}

enum fr_status fr__verb_graph_check(struct fr__call *s, struct fr_error *err)
{
    struct fr_graph *g;
    size_t n;

    FR_TRY(fr__load_graph(s, &g, err));
    n = fr_graph_check(g, say, s->out);
    if (n == 0)
        fprintf(s->out, "%s: nothing odd about %zu ops and %zu edges\n", g->name, g->n_ops,
                g->n_edges);
    fr_graph_free(g);
    return n == SIZE_MAX ? fr__fail_nomem(err) : FR_OK;
}

/* Whether a file that the export writes is one that the workload is read from. */
static bool is_over_itself(const char *workload, const char *folder)
{
    static const char *const parts[] = {"workload.yaml", "ops.csv", "edges.csv"};
    char from[PATH_MAX], to[PATH_MAX];

    if (fr__exists(workload) && fr__is_same_file(workload, folder))
        return true;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (snprintf(to, sizeof(to), "%s/%s", folder, parts[i]) >= (int)sizeof(to) ||
            !fr__exists(to))
            continue;
        if (fr__is_same_file(workload, to) ||
            (snprintf(from, sizeof(from), "%s/%s", workload, parts[i]) < (int)sizeof(from) &&
             fr__is_same_file(from, to)))
            return true;
    }
    return false;
}

enum fr_status fr__verb_graph_export(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_graph *g;
    enum fr_status st;

    if (is_over_itself(o->arguments[0], o->arguments[1]))
        return fr__fail(err, FR_EUSAGE, (struct fr_loc){o->arguments[1], 0, 0},
                        "is the workload itself; export it to another folder");
    FR_TRY(fr__load_graph(s, &g, err));
    st = fr_graph_export(g, o->arguments[1], err);
    fr_graph_free(g);
    return st;
}

/* ---- random task graphs ---- */

static bool is_csv(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".csv") == 0;
}

enum fr_status fr__verb_graph_random(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr__out out;
    enum fr_status st;

    if (o->n_files > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "one file at most");
    if (o->n_files == 0)
        return fr_random_tasks(s->out, o->arguments[0], err);
    if (!is_csv(o->files[0]))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s': a task graph's name ends in .csv",
                        o->files[0]);
    FR_TRY(fr__out_open(&out, o->files[0], err));
    st = fr_random_tasks(out.f, o->arguments[0], err);
    if (st == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return st;
}
