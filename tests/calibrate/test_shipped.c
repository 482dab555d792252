/* The tables that calibrate/files/compile.c makes of the shipped files, against the files
 * themselves as the library's own reader understands them. */
#include "config.h"

#include "base/file.h"
#include "calibrate/curves/curve.h"
#include "calibrate/messages/system.h"
#include "tests/support/base_check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void source_path(const char *folder, const char *name, char path[1024])
{
    const char *srcdir = getenv("srcdir");

    snprintf(path, 1024, "%s/calibrate/%s%s%s", srcdir ? srcdir : ".", folder, name ? "/" : "",
             name ? name : "");
    if (name)
        snprintf(path + strlen(path), 1024 - strlen(path), ".yaml");
}

/* What write() puts into a file; the caller frees. */
static char *written(enum fr_status (*write)(const void *what, const char *path,
                                             struct fr_error *err),
                     const void *what)
{
    char path[] = "/tmp/forerun-test-XXXXXX", *text = NULL;
    struct fr_error err;
    size_t len;
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_msg(write(what, path, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr__read_file(path, 1 << 24, &text, &len, &err), FR_OK);
    unlink(path);
    return text;
}

static enum fr_status write_calibration(const void *c, const char *path, struct fr_error *err)
{
    return fr_calibration_write(c, path, err);
}

static enum fr_status write_system(const void *s, const char *path, struct fr_error *err)
{
    return fr_system_write(s, path, err);
}

static size_t files_in(const char *folder)
{
    char path[1024];
    const struct dirent *entry;
    size_t n = 0;
    DIR *d;

    source_path(folder, NULL, path);
    d = opendir(path);
    ck_assert_ptr_nonnull(d);
    while ((entry = readdir(d)) != NULL)
        n += strstr(entry->d_name, ".yaml") != NULL;
    closedir(d);
    return n;
}

static void compare_curves(const struct fr_calibration *table, const struct fr_calibration *file)
{
    ck_assert_uint_eq(table->n_curves, file->n_curves);
    for (size_t k = 0; k < table->n_curves; k++) {
        /* the largest of the shapes, whose numbers those of other classes are as well */
        struct fr_kernel_shape shape = {.op_class = table->curves[k]->info.op_class,
                                        .conv = {.images = 2,
                                                 .in_channels = 16,
                                                 .height = 16,
                                                 .width = 300,
                                                 .out_channels = 64,
                                                 .kernel_height = 3,
                                                 .kernel_width = 3,
                                                 .stride = 1,
                                                 .pad = 1,
                                                 .groups = 1}};

        ck_assert_uint_eq(table->curves[k]->info.n_residuals, file->curves[k]->info.n_residuals);
        for (unsigned s = 0; s < 8; s++, shape.conv.images *= 3)
            ck_assert_double_eq(fr_calibration_time_s(table, k, &shape),
                                fr_calibration_time_s(file, k, &shape));
    }
}

TEST(each_device_table_says_what_its_file_says)
{
    size_t n = 0;

    for (const char *name; (name = fr_calibration_shipped(n)) != NULL; n++) {
        struct fr_calibration *table = NULL, *file = NULL;
        struct fr_error err;
        char path[1024], *a, *b;

        source_path("devices", name, path);
        ck_assert_msg(fr_calibration_load(&table, name, &err) == FR_OK, "%s", err.text);
        ck_assert_msg(fr_calibration_load(&file, path, &err) == FR_OK, "%s", err.text);
        a = written(write_calibration, table);
        b = written(write_calibration, file);
        ck_assert_msg(strcmp(a, b) == 0, "the table of %s is not its file", name);
        compare_curves(table, file);
        free(a);
        free(b);
        fr_calibration_free(table);
        fr_calibration_free(file);
    }
    ck_assert_uint_eq(n, files_in("devices"));
}

TEST(each_system_table_says_what_its_file_says)
{
    size_t n = 0;

    for (const char *name; (name = fr_system_shipped(n)) != NULL; n++) {
        struct fr_system *table = NULL, *file = NULL;
        struct fr_error err;
        char path[1024], *a, *b;

        source_path("systems", name, path);
        ck_assert_msg(fr_system_load(&table, name, &err) == FR_OK, "%s", err.text);
        ck_assert_msg(fr_system_load(&file, path, &err) == FR_OK, "%s", err.text);
        a = written(write_system, table);
        b = written(write_system, file);
        ck_assert_msg(strcmp(a, b) == 0, "the table of %s is not its file", name);
        free(a);
        free(b);
        fr_system_free(table);
        fr_system_free(file);
    }
    ck_assert_uint_eq(n, files_in("systems"));
}

/* Nothing is parsed, so nothing is made: two loads read the same grids and trees. */
TEST(grids_and_trees_stay_in_the_tables)
{
    for (size_t i = 0; fr_calibration_shipped(i); i++) {
        struct fr_calibration *a = NULL, *b = NULL;
        struct fr_error err;

        ck_assert_int_eq(fr_calibration_load(&a, fr_calibration_shipped(i), &err), FR_OK);
        ck_assert_int_eq(fr_calibration_load(&b, fr_calibration_shipped(i), &err), FR_OK);
        for (size_t k = 0; k < a->n_curves; k++) {
            ck_assert_ptr_eq(a->curves[k]->residual.values, b->curves[k]->residual.values);
            ck_assert_ptr_eq(a->curves[k]->trees.trees, b->curves[k]->trees.trees);
            ck_assert(a->curves[k]->residual.n_values + a->curves[k]->trees.n > 0 ||
                      a->curves[k]->info.n_residuals == 0);
        }
        fr_calibration_free(a);
        fr_calibration_free(b);
    }
}

int main(void)
{
    Suite *s = suite_create("calibrate_shipped");
    TCase *tc = tcase_create("tables");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
