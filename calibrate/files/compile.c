/* calibrate/files/compile.c - a program of the build: the shipped device and system files as C
 * tables, on standard output.
 *
 *     compile devices|systems FILE.yaml...
 *
 * A run would otherwise spend most of its time on parsing them. The files are read by the library's
 * own readers, so that a table is what the file says; tests/calibrate/test_shipped.c compares them.
 */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "calibrate/files/device_file.h"
#include "calibrate/files/shipped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 24, LINE = 12 };

static void put_text(const char *before, const char *text)
{
    printf("%s\"", before);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\%03o", (unsigned)*text);
        else
            putchar(*text);
    printf("\", ");
}

/* 17 digits give the same double back. */
static void put_numbers(const char *before, const double x[], size_t n)
{
    printf("%s{", before);
    for (size_t i = 0; i < n; i++)
        printf("%s%.17g,", i > 0 && i % 4 == 0 ? "\n        " : " ", x[i]);
    printf("},\n     ");
}

static void put_misses(const char *before, const struct fr_misses *m)
{
    printf("%s{%" PRIu64 ", %.17g, %.17g, %.17g, %.17g},\n     ", before, m->n, m->median, m->p90,
           m->worst, m->bias);
}

static void put_hash(uint64_t hash)
{
    printf(".data_hash = UINT64_C(0x%" PRIx64 "),\n     ", hash);
}

/* ---- devices: each array that another one points to, then that one ---- */

static void put_values(const struct fr__residual *r, size_t file, size_t curve)
{
    printf("static const float values_%zu_%zu[] = {", file, curve);
    for (size_t i = 0; i < r->n_values; i++)
        printf("%s(float)%.9g,", i % LINE ? " " : "\n    ", (double)r->values[i]);
    printf("};\n");
}

static void put_trees(const struct fr__trees *t, size_t file, size_t curve)
{
    printf("static const struct fr__tree trees_%zu_%zu[] = {\n", file, curve);
    for (size_t i = 0; i < t->n; i++) {
        printf("    {{");
        for (unsigned k = 0; k < FR__TREES_DEPTH; k++)
            printf("{%u, %.17g}, ", t->trees[i].splits[k].feature, t->trees[i].splits[k].from);
        printf("},\n     {");
        for (unsigned k = 0; k < FR__TREES_LEAVES; k++)
            printf("%d, ", t->trees[i].thousandths[k]);
        printf("}},\n");
    }
    printf("};\n");
}

static void put_curve(const struct fr__curve *c, size_t file, size_t k)
{
    const struct fr_curve_info *info = &c->info;

    printf("    {.info = {.op_class = %d, .dtype = %d, ", (int)info->op_class, (int)info->dtype);
    put_text(".gpus = ", info->gpus);
    put_text("\n     .source = ", info->source);
    put_hash(info->data_hash);
    printf(".n_fitted = %" PRIu64 ", .n_residuals = %" PRIu64 ",\n     ", info->n_fitted,
           info->n_residuals);
    put_misses(".held_out = ", &info->held_out);
    put_misses(".repeats = ", &info->repeats);
    put_numbers(".parameters = ", info->parameters, FR_CURVE_PARAMETERS);
    put_numbers(".errors = ", info->errors, FR_CURVE_PARAMETERS);
    printf("}, .machine = {%.17g, %.17g, %.17g},\n     ", c->machine.n_sms,
           c->machine.peak_flops_per_s, c->machine.mem_Bps);
    printf(".residual = {.axes = {");
    for (unsigned i = 0; i < FR__RESIDUAL_AXES; i++)
        printf("{%.17g, %.17g, %" PRIu32 "}, ", c->residual.axes[i].first, c->residual.axes[i].step,
               c->residual.axes[i].n);
    printf("}");
    if (c->residual.n_values)
        printf(", .n_values = %zu, .values = values_%zu_%zu", c->residual.n_values, file, k);
    printf("},\n     .trees = {.n = %zu, .low = %d, .high = %d", c->trees.n, c->trees.low,
           c->trees.high);
    if (c->trees.n)
        printf(", .trees = trees_%zu_%zu", file, k);
    printf("}},\n");
}

static void put_curves(const struct fr_calibration *c, size_t file)
{
    for (size_t k = 0; k < c->n_curves; k++) {
        if (c->curves[k]->residual.n_values)
            put_values(&c->curves[k]->residual, file, k);
        if (c->curves[k]->trees.n)
            put_trees(&c->curves[k]->trees, file, k);
    }
    if (!c->n_curves)
        return;
    printf("static const struct fr__shipped_curve curves_%zu[] = {\n", file);
    for (size_t k = 0; k < c->n_curves; k++)
        put_curve(c->curves[k], file, k);
    printf("};\n");
}

static void put_launches(const struct fr_launches *l, size_t file)
{
    printf("static const struct fr_launches launches_%zu = {\n     ", file);
    put_text(".gpus = ", l->gpus);
    put_text(".source = ", l->source);
    put_hash(l->data_hash);
    put_numbers(".time_s = ", l->time_s, FR_N_LAUNCHES);
    put_numbers(".error_s = ", l->error_s, FR_N_LAUNCHES);
    printf("};\n");
}

static void put_slowdowns(const struct fr_slowdowns *s, size_t file)
{
    printf("static const struct fr_slowdowns slowdowns_%zu = {\n     ", file);
    put_text(".gpus = ", s->gpus);
    put_text(".source = ", s->source);
    put_hash(s->data_hash);
    printf(".of = {");
    for (unsigned i = 0; i < FR_N_BESIDE * FR_N_BESIDE; i++) {
        const struct fr_slowdown *of = &s->of[i / FR_N_BESIDE][i % FR_N_BESIDE];

        printf("[%u][%u] = {%.17g, %.17g, %" PRIu64 ", ", i / FR_N_BESIDE, i % FR_N_BESIDE,
               of->factor, of->error, of->n_fitted);
        put_misses("", &of->held_out);
        printf("}, ");
    }
    printf("}};\n");
}

/* ---- systems ---- */

static void put_held_out(const struct fr_misses held_out[FR_N_SYSTEM_OPS])
{
    printf(".held_out = {");
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        put_misses("", &held_out[op]);
    printf("}, ");
}

static void put_flags(const char *before, const bool flags[], size_t n)
{
    printf("%s{", before);
    for (size_t i = 0; i < n; i++)
        printf("%d, ", flags[i]);
    printf("}, ");
}

static void put_corrections(const struct fr_system_info *info)
{
    if (info->n_corrections == 0)
        return;
    printf(".n_corrections = %zu, .corrections = {", info->n_corrections);
    for (size_t i = 0; i < info->n_corrections; i++) {
        const struct fr_system_correction *c = &info->corrections[i];

        printf("{%d, %u, %u, %u, {", (int)c->op, c->n_gpus, c->first, c->n_knots);
        for (unsigned k = 0; k < c->n_knots; k++)
            printf("%d, ", c->thousandths[k]);
        printf("}},\n     ");
    }
    printf("},\n     ");
}

static void put_nodes(const struct fr_system_nodes *n)
{
    printf(".nodes = {.most_gpus = %u, .most_nodes = %u, .n_fitted = %" PRIu64 ",\n     ",
           n->most_gpus, n->most_nodes, n->n_fitted);
    put_held_out(n->held_out);
    printf(".choice = {%.17g, %.17g, %.17g, %d},\n     ", n->choice.near_Bps,
           n->choice.tree_near_Bps, n->choice.far_Bps, n->choice.has_ll128);
    put_flags(".has_way = ", n->has_way, FR_N_SYSTEM_WAYS);
    printf(".ways = {");
    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
        put_numbers("", n->ways[w], FR_SYSTEM_WAY_PARAMETERS);
    printf("}, .way_errors = {");
    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
        put_numbers("", n->way_errors[w], FR_SYSTEM_WAY_PARAMETERS);
    printf("}, .has_all_to_all = %d,\n     ", n->has_all_to_all);
    put_numbers(".all_to_all = ", n->all_to_all, FR_SYSTEM_NODES_ALL_TO_ALL);
    put_numbers(".all_to_all_errors = ", n->all_to_all_errors, FR_SYSTEM_NODES_ALL_TO_ALL);
    printf("},\n     ");
}

static void put_link(const struct fr_system_link links[], size_t i)
{
    const struct fr_system_link *l = &links[i];

    put_text(i == 0 ? ", .links = {{.name = " : "{.name = ", l->name);
    put_text(".source = ", l->source);
    put_hash(l->data_hash);
    printf(".n_fitted = %" PRIu64 ", ", l->n_fitted);
    put_misses(".held_out = ", &l->held_out);
    put_numbers(".parameters = ", l->parameters, FR_SYSTEM_LINK_PARAMETERS);
    put_numbers(".errors = ", l->errors, FR_SYSTEM_LINK_PARAMETERS);
    printf("},\n     ");
}

static void put_system(const struct fr_system_info *info)
{
    put_text("{.name = ", info->name);
    put_text(".source = ", info->source);
    put_hash(info->data_hash);
    printf(".n_fitted = %" PRIu64 ", .most_gpus = %u, .gpu_counts = UINT64_C(0x%" PRIx64
           "),\n     ",
           info->n_fitted, info->most_gpus, info->gpu_counts);
    printf(".has_rings = %d, .has_nvls = %d, .has_all_to_all = %d,\n     ", info->has_rings,
           info->has_nvls, info->has_all_to_all);
    put_held_out(info->held_out);
    put_numbers(".parameters = ", info->parameters, FR_SYSTEM_PARAMETERS);
    put_numbers(".errors = ", info->errors, FR_SYSTEM_PARAMETERS);
    put_corrections(info);
    put_nodes(&info->nodes);
    printf(".n_links = %zu", info->n_links);
    for (size_t i = 0; i < info->n_links; i++)
        put_link(info->links, i);
    printf(info->n_links ? "}}" : "}");
}

/* ---- files ---- */

/* What the array of all files says of one. */
struct row {
    char name[64], device[FR__CURVE_TEXT];
    size_t n_curves;
    bool has_launches, has_slowdowns;
};

static enum fr_status device(const char *text, size_t len, const char *path, size_t i,
                             struct row *row, struct fr_error *err)
{
    struct fr_calibration *c;

    FR_TRY(fr__device_file_read(&c, text, len, path, err));
    snprintf(row->device, sizeof(row->device), "%s", c->device);
    row->n_curves = c->n_curves;
    row->has_launches = c->launches != NULL;
    row->has_slowdowns = c->slowdowns != NULL;
    put_curves(c, i);
    if (c->launches)
        put_launches(&c->launches->info, i);
    if (c->slowdowns)
        put_slowdowns(&c->slowdowns->info, i);
    fr_calibration_free(c);
    return FR_OK;
}

static enum fr_status system_of(const char *text, size_t len, const char *path, size_t i,
                                struct row *row, struct fr_error *err)
{
    struct fr_system *s;

    FR_TRY(fr_system_read(&s, text, len, path, err));
    printf("static const struct fr_system_info system_%zu =\n    ", i);
    put_system(fr_system_info(s));
    printf(";\n");
    fr_system_free(s);
    (void)row;
    return FR_OK;
}

static enum fr_status put_file(const char *path, bool is_device, size_t i, struct row *row,
                               struct fr_error *err)
{
    const char *slash = strrchr(path, '/');
    char *text;
    size_t len;
    enum fr_status st;

    snprintf(row->name, sizeof(row->name), "%s", slash ? slash + 1 : path);
    row->name[strcspn(row->name, ".")] = '\0';
    FR_TRY(fr__read_file(path, MOST_BYTES, &text, &len, err));
    st = (is_device ? device : system_of)(text, len, path, i, row, err);
    free(text);
    return st;
}

static void put_row(const struct row *row, bool is_device, size_t i)
{
    put_text("    {", row->name);
    if (!is_device) {
        printf("&system_%zu},\n", i);
        return;
    }
    put_text("", row->device);
    if (row->n_curves)
        printf("curves_%zu, %zu, ", i, row->n_curves);
    else
        printf("NULL, 0, ");
    if (row->has_launches)
        printf("&launches_%zu, ", i);
    else
        printf("NULL, ");
    if (row->has_slowdowns)
        printf("&slowdowns_%zu},\n", i);
    else
        printf("NULL},\n");
}

static enum fr_status put_files(char *const paths[], size_t n, bool is_device, struct row rows[],
                                struct fr_error *err)
{
    const char *what = is_device ? "device" : "system";

    printf("/* Made by calibrate/files/compile.c from the files in calibrate/%ss/. */\n"
           "#include \"calibrate/files/shipped.h\"\n\n",
           what);
    for (size_t i = 0; i < n; i++)
        FR_TRY(put_file(paths[i], is_device, i, &rows[i], err));
    printf("const struct fr__shipped_%s fr__shipped_%ss[] = {\n", what, what);
    for (size_t i = 0; i < n; i++)
        put_row(&rows[i], is_device, i);
    printf("};\nconst size_t fr__n_shipped_%ss = %zu;\n", what, n);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fr__fail(err, FR_EIO, FR_NOWHERE, "standard output cannot be written");
    return FR_OK;
}

int main(int argc, char *argv[])
{
    bool is_device = argc > 1 && strcmp(argv[1], "devices") == 0;
    struct row *rows = calloc((size_t)argc, sizeof(*rows));
    struct fr_error err = {.code = FR_OK};
    char message[1024];
    enum fr_status st;

    if (!rows || argc < 3 || (!is_device && strcmp(argv[1], "systems") != 0)) {
        fprintf(stderr, "usage: compile devices|systems FILE.yaml...\n");
        free(rows);
        return 2;
    }
    st = put_files(argv + 2, (size_t)argc - 2, is_device, rows, &err);
    free(rows);
    if (st != FR_OK)
        fprintf(stderr, "%s\n", fr_error_string(&err, message, sizeof(message)));
    return st == FR_OK ? 0 : 1;
}
