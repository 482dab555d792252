/* tests/support/native_case.c - a native workload folder to write, load and compare. */
#include "config.h"

#include "tests/support/native_case.h"

#include "tests/support/base_check.h"
#include "workloads/graph/shape.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void native_case_path(const struct native_case *c, const char *file, char *path, size_t n)
{
    snprintf(path, n, "%s/%s", c->folder, file);
}

void native_case_make(struct native_case *c)
{
    snprintf(c->folder, sizeof(c->folder), "native-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(c->folder));
}

void native_case_remove(struct native_case *c)
{
    static const char *const files[] = {"workload.yaml", "ops.csv", "edges.csv", "times.csv"};
    char path[128];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        native_case_path(c, files[i], path, sizeof(path));
        unlink(path);
    }
    ck_assert_int_eq(rmdir(c->folder), 0);
}

void native_case_write(const struct native_case *c, const char *file, const char *text)
{
    char path[128];
    FILE *f;

    native_case_path(c, file, path, sizeof(path));
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

void native_case_source(const char *file, char *path, size_t n)
{
    const char *srcdir = getenv("srcdir");

    snprintf(path, n, "%s/%s", srcdir ? srcdir : ".", file);
}

struct fr_graph *native_case_load(const char *spec)
{
    struct fr_graph *g = NULL;
    struct fr_error err;
    char line[800];

    ck_assert_msg(fr_workload_load(&g, spec, NULL, &err) == FR_OK, "%s",
                  fr_error_string(&err, line, sizeof(line)));
    return g;
}

/* ---- what is written reads back ---- */

static void compare_ops(const struct fr_graph *a, const struct fr_graph *b)
{
    for (size_t i = 0; i < a->n_ops; i++) {
        const struct fr_op *x = &a->ops[i], *y = &b->ops[i];

        ck_assert_str_eq(x->name, y->name);
        ck_assert_double_eq(x->flops, y->flops);
        ck_assert_double_eq(x->bytes, y->bytes);
        ck_assert_uint_eq(x->param_bytes, y->param_bytes);
        ck_assert_uint_eq(x->workspace_bytes, y->workspace_bytes);
        ck_assert_int_eq(x->kind, y->kind);
        ck_assert_int_eq(x->phase, y->phase);
        ck_assert_uint_eq(x->layer, y->layer);
        ck_assert_uint_eq(x->forward, y->forward);
        ck_assert_uint_eq(x->first_tensor, y->first_tensor);
        ck_assert_uint_eq(x->n_tensors, y->n_tensors);
        ck_assert_uint_eq(x->n_params, y->n_params);
        ck_assert_int_eq(x->scales, y->scales);
        ck_assert_int_eq(x->is_in_place, y->is_in_place);
        ck_assert_int_eq(x->shape.of, y->shape.of);
        for (const struct fr__size *s = fr__shape_sizes(x->shape.of); s->name; s++)
            ck_assert_uint_eq(fr__size_get(&x->shape, s), fr__size_get(&y->shape, s));
    }
}

static void compare_tensors(const struct fr_graph *a, const struct fr_graph *b)
{
    for (size_t i = 0; i < a->n_tensors; i++) {
        const struct fr_tensor *x = &a->tensors[i], *y = &b->tensors[i];

        ck_assert_uint_eq(x->bytes, y->bytes);
        ck_assert_uint_eq(x->op, y->op);
        ck_assert_uint_eq(x->alias, y->alias);
        ck_assert_uint_eq(x->n_dims, y->n_dims);
        ck_assert_mem_eq(x->dims, y->dims, sizeof(x->dims));
        ck_assert_uint_eq(x->split_mask, y->split_mask);
        ck_assert_int_eq(x->scales, y->scales);
    }
}

static void compare(const struct fr_graph *a, const struct fr_graph *b)
{
    ck_assert_str_eq(a->name, b->name);
    ck_assert_str_eq(a->source, b->source);
    ck_assert_uint_eq(a->batch, b->batch);
    ck_assert_uint_eq(a->seq_len, b->seq_len);
    ck_assert_int_eq(a->dtype, b->dtype);
    ck_assert_uint_eq(a->param_elem_bytes, b->param_elem_bytes);
    ck_assert_uint_eq(a->n_ops, b->n_ops);
    ck_assert_uint_eq(a->n_tensors, b->n_tensors);
    ck_assert_uint_eq(a->n_edges, b->n_edges);
    ck_assert_uint_eq(a->n_samples, b->n_samples);
    ck_assert_uint_eq(a->n_layers, b->n_layers);
    compare_ops(a, b);
    compare_tensors(a, b);
    for (size_t i = 0; i < a->n_layers; i++)
        ck_assert_str_eq(a->layer_names[i], b->layer_names[i]);
    for (size_t i = 0; i < a->n_edges; i++) {
        ck_assert_uint_eq(a->edges[i].src, b->edges[i].src);
        ck_assert_uint_eq(a->edges[i].dst, b->edges[i].dst);
        ck_assert_uint_eq(a->edges[i].tensor, b->edges[i].tensor);
        ck_assert_uint_eq(a->edges[i].bytes, b->edges[i].bytes);
    }
    for (size_t i = 0; i < a->n_samples; i++) {
        ck_assert_uint_eq(a->samples[i].op, b->samples[i].op);
        ck_assert_str_eq(a->samples[i].device, b->samples[i].device);
        ck_assert_uint_eq(a->samples[i].batch, b->samples[i].batch);
        ck_assert_double_eq(a->samples[i].time_s, b->samples[i].time_s);
    }
}

void native_case_check_export(const struct fr_graph *g)
{
    struct native_case c;
    struct fr_graph *back;
    struct fr_error err;
    char line[800];

    native_case_make(&c);
    ck_assert_msg(fr_graph_export(g, c.folder, &err) == FR_OK, "%s",
                  fr_error_string(&err, line, sizeof(line)));
    back = native_case_load(c.folder);
    compare(g, back);
    fr_graph_free(back);
    native_case_remove(&c);
}
