/* results/data/fits.c - the rows that fitted curves are judged on as CSV, for programs.
 *
 * It is separate from the pictures of the same rows, of which each shows one curve alone.
 */
#include "config.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "results/data/data.h"

struct table {
    FILE *file;
    const struct fr_curve_info *info;
    bool is_all;
};

static enum fr_status put_row(void *user, const struct fr_check_row *row, struct fr_error *err)
{
    const struct table *t = user;
    const double numbers[] = {row->measured_s, row->predicted_s,
                              row->predicted_s / row->measured_s - 1};
    char text[256];

    (void)err;
    if (!row->is_held_out && !t->is_all)
        return FR_OK;
    fr__csv_write_cell(t->file, row->file);
    fprintf(t->file, ",%u,%s,%s,", row->line, fr_curve_class_name(t->info->op_class),
            fr_dtype_name(t->info->dtype));
    fr__csv_write_cell(t->file, fr_kernel_shape_format(&row->shape, text, sizeof(text)));
    for (unsigned i = 0; i < 3; i++)
        fprintf(t->file, ",%s", fr__format_double(numbers[i], text, sizeof(text)));
    fprintf(t->file, ",%d\n", row->is_held_out);
    return FR_OK;
}

enum fr_status fr__fits_write_csv(const struct fr_fits *f, const char *path, struct fr_error *err)
{
    struct fr__out out;
    enum fr_status st = FR_OK;

    FR_TRY(fr__out_open(&out, path, err));
    fputs("file,line,class,dtype,shape,measured_s,predicted_s,error,held_out\n", out.f);
    for (size_t i = 0; st == FR_OK && fr_calibration_curve(f->curves, i); i++) {
        struct table t = {out.f, fr_calibration_curve(f->curves, i), f->is_all};

        st = fr_calibration_visit(f->curves, i, f->paths, f->n_paths, f->gpus, f->n_gpus, put_row,
                                  &t, err);
    }
    if (st == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return st;
}

/* ---- systems ---- */

struct system_table {
    FILE *file;
    const struct fr_system *system;
    bool is_all;
};

static enum fr_status put_system_row(void *user, size_t i, const struct fr_system_row *row,
                                     struct fr_error *err)
{
    const struct system_table *t = user;
    const double numbers[] = {row->call.bytes, row->measured_s, row->predicted_s,
                              row->predicted_s / row->measured_s - 1};
    char text[256];

    (void)err;
    if (!row->is_held_out && !t->is_all)
        return FR_OK;
    fprintf(t->file, "%u,", row->line);
    fr__csv_write_cell(t->file, fr_system_class_name(t->system, i, text, sizeof(text)));
    fprintf(t->file, ",%u,%u", row->call.n_gpus, row->call.n_nodes);
    for (unsigned k = 0; k < 4; k++)
        fprintf(t->file, ",%s", fr__format_double(numbers[k], text, sizeof(text)));
    fprintf(t->file, ",%d\n", row->is_held_out);
    return FR_OK;
}

enum fr_status fr__system_fits_write_csv(const struct fr_system_fits *f, const char *path,
                                         struct fr_error *err)
{
    struct fr__out out;
    struct system_table t = {.system = f->system, .is_all = f->is_all};
    enum fr_status st;

    FR_TRY(fr__out_open(&out, path, err));
    fputs("line,class,gpus,nodes,bytes,measured_s,predicted_s,error,held_out\n", out.f);
    t.file = out.f;
    st = fr_system_visit(f->system, f->rows_of, f->paths, f->n_paths, f->min_bytes, put_system_row,
                         &t, err);
    if (st == FR_OK)
        return fr__out_commit(&out, err);
    fr__out_abort(&out);
    return st;
}
