/* tests/topo/test_devices.c - the shipped device types are what their files say.
 *
 * The build makes a C table of topo/devices/ (base/facts/compile). Here the program's own
 * reader of topology files reads the same files and must come to the same doubles.
 */
#include "config.h"

#include "tests/support/base_check.h"
#include "topo/internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder(void)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/topo/devices", getenv("srcdir") ? getenv("srcdir") : ".");
    return path;
}

/* Appends the file as an item of 'types', under another name, since built-in names are refused. */
static void append_item(FILE *out, const char *name)
{
    char path[600], line[256];
    bool is_first = true;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.yaml", folder(), name);
    f = fopen(path, "r");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    while (fgets(line, sizeof(line), f)) {
        if (line[0] == '#')
            continue;
        if (strncmp(line, "name: ", 6) == 0)
            snprintf(line, sizeof(line), "name: own-%s\n", name);
        fprintf(out, "%s%s", is_first ? "  - " : "    ", line);
        is_first = false;
    }
    fclose(f);
}

/* A machine whose one device is of that type, as a user would write it. */
static struct fr_topo *load_own(const struct fr_device_type *type)
{
    char path[] = "/tmp/forerun-devices-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    struct fr_topo *t = NULL;
    struct fr_error err;
    enum fr_status st;
    char file[64];

    ck_assert_ptr_nonnull(f);
    fprintf(f, "types:\n");
    append_item(f, type->name);
    fprintf(f, "machines:\n  - vertices:\n");
    fprintf(f, "      - {name: gpu0, kind: gpu, type: %s%s}\n", type->is_gpu ? "own-" : "",
            type->is_gpu ? type->name : "p4");
    fprintf(f, "      - {name: cpu0, kind: cpu, type: %s%s}\n", type->is_gpu ? "" : "own-",
            type->is_gpu ? "2x-epyc-7742" : type->name);
    fprintf(f, "    links:\n      - {from: gpu0, to: cpu0, kind: pcie, bandwidth: 1GB/s, latency: "
               "1us}\n");
    ck_assert_int_eq(fclose(f), 0);
    snprintf(file, sizeof(file), "%s.yaml", path); /* what ends so is a file */
    ck_assert_int_eq(rename(path, file), 0);
    st = fr_topo_load(&t, file, &err);
    remove(file);
    ck_assert_msg(st == FR_OK, "%s: %s", type->name, err.text);
    return t;
}

START_TEST(a_file_read_as_a_topologys_own_type_gives_the_same_numbers)
{
    const struct fr_device_type *type = &fr__device_types[_i], *own = NULL;
    struct fr_topo *t = load_own(type);

    for (size_t i = 0; i < t->n_types; i++)
        if (strncmp(t->types[i].name, "own-", 4) == 0)
            own = &t->types[i];
    ck_assert_ptr_nonnull(own);
    ck_assert_str_eq(own->name + 4, type->name);
    ck_assert_int_eq(own->is_gpu, type->is_gpu);
    ck_assert(own->mem_bytes == type->mem_bytes);
    ck_assert_double_eq(own->mem_Bps, type->mem_Bps);
    ck_assert_double_eq(own->vector_flops_per_s, type->vector_flops_per_s);
    for (unsigned d = 0; d < FR_N_DTYPES; d++)
        ck_assert_double_eq(own->flops_per_s[d], type->flops_per_s[d]);
    ck_assert_uint_eq(own->n_sms, type->n_sms);
    ck_assert_double_eq(own->launch_s, type->launch_s);
    ck_assert(own->context_bytes == type->context_bytes);
    ck_assert_double_eq(own->board_W, type->board_W);
    ck_assert_str_eq(own->source, type->source);
    fr_topo_free(t);
}
END_TEST

TEST(every_file_is_in_the_table)
{
    DIR *d = opendir(folder());
    size_t n = 0;

    ck_assert_ptr_nonnull(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        char *dot = strrchr(entry->d_name, '.');

        if (!dot || strcmp(dot, ".yaml") != 0 || strstr(entry->d_name, ".schema."))
            continue;
        *dot = '\0';
        ck_assert_msg(fr_device_type_find(entry->d_name) != NULL, "%s is not compiled in",
                      entry->d_name);
        n++;
    }
    closedir(d);
    ck_assert_uint_eq(n, fr__n_device_types);
}

/* Wide bounds: they catch a wrong unit or a lost digit. Formats of half the width are never
 * slower. */
LOOP_TEST(the_figures_are_plausible, 0, (int)fr__n_device_types)
{
    const struct fr_device_type *type = &fr__device_types[_i];
    const double *flops = type->flops_per_s;

    ck_assert_ptr_eq(fr_device_type_find(type->name), type); /* no name twice */
    ck_assert_uint_ge(strlen(type->source), 30);
    ck_assert(type->mem_bytes >= UINT64_C(4) << 30 && type->mem_bytes <= UINT64_C(4) << 40);
    ck_assert(type->mem_Bps >= 100e9 && type->mem_Bps <= 20e12);
    ck_assert(type->vector_flops_per_s >= 1e12 && type->vector_flops_per_s <= 200e12);
    ck_assert_double_eq(flops[FR_FP32],
                        type->vector_flops_per_s); /* none has matrix units for it */
    ck_assert(flops[FR_TF32] <= 0 || flops[FR_TF32] >= flops[FR_FP32]);
    ck_assert(flops[FR_FP16] <= 0 || flops[FR_FP16] >= 1.9 * flops[FR_TF32]);
    ck_assert(flops[FR_BF16] <= 0 || !(flops[FR_BF16] < flops[FR_FP16]));
    ck_assert(flops[FR_FP8] <= 0 || flops[FR_FP8] >= 1.9 * flops[FR_FP16]);
    ck_assert(flops[FR_FP8] <= 10e15);
    ck_assert_double_eq(flops[FR_AMP], 0);
    ck_assert(type->n_sms >= 10 && type->n_sms <= 512);
    ck_assert(type->launch_s <= 50e-6 && (type->launch_s > 0) == type->is_gpu);
    ck_assert(type->context_bytes <= UINT64_C(1) << 30);
    ck_assert_int_eq(type->context_bytes > 0, type->is_gpu);
    ck_assert(type->is_gpu ? type->board_W >= 50 && type->board_W <= 1500 : type->board_W <= 0);
}

/* What the types had when they became files, in the order of lists. A changed figure changes
 * answers: its commit says why. */
static const struct {
    const char *name;
    unsigned mem_MiB;
    double mem_GBps, fp32, tf32, fp16, fp8; /* Tflop/s */
    unsigned n_sms;
} known[] = {
    {"k80-die", 11441, 240, 2.8, 0, 0, 0, 13},
    {"p100-sxm2-16gb", 16280, 732, 10.6, 0, 21.2, 0, 56},
    {"p100-pcie-16gb", 16280, 732, 9.519, 0, 19.038, 0, 56},
    {"p4", 7606, 192, 5.5, 0, 0, 0, 20},
    {"v100-sxm2-16gb", 16160, 900, 15.7, 0, 125, 0, 80},
    {"v100-sxm2-32gb", 32510, 900, 15.7, 0, 125, 0, 80},
    {"v100-sxm3-32gb", 32510, 900, 15.7, 0, 125, 0, 80},
    {"v100-pcie-16gb", 16160, 900, 14, 0, 112, 0, 80},
    {"v100-pcie-32gb", 32510, 900, 14.029, 0, 112, 0, 80},
    {"t4", 15109, 320, 8.141, 0, 65, 0, 40},
    {"rtx2080ti", 11019, 616, 13.4, 0, 53.8, 0, 68},
    {"a100-pcie-40gb", 40536, 1555, 19.5, 156, 312, 0, 108},
    {"a100-pcie-80gb", 81050, 1935, 19.5, 156, 312, 0, 108},
    {"a100-sxm4-40gb", 40536, 1555, 19.5, 156, 312, 0, 108},
    {"a100-sxm4-80gb", 81050, 2039, 19.5, 156, 312, 0, 108},
    {"a40", 46489, 696, 37.4, 74.8, 149.7, 0, 84},
    {"a30", 24258, 933, 10.3, 82, 165, 0, 56},
    {"a10", 23028, 600, 31.2, 62.5, 125, 0, 72},
    {"a10g", 22731, 600, 35, 35, 70, 0, 80},
    {"a6000", 49140, 768, 38.7, 77.4, 154.8, 0, 84},
    {"rtx3090", 24268, 936, 35.6, 35.6, 71, 0, 82},
    {"h100-sxm5-80gb", 81090, 3350, 66.9, 494.7, 989.4, 1978.9, 132},
    {"h100-sxm5-96gb", 97320, 2400, 66.9, 494.7, 989.4, 1978.9, 132},
    {"h100-pcie-80gb", 81090, 2000, 51.2, 378, 756, 1513, 114},
    {"h100-nvl-94gb", 95830, 3900, 60, 417.5, 835.5, 1670.5, 132},
    {"h800-sxm5-80gb", 81090, 3350, 66.9, 494.7, 989.4, 1978.9, 132},
    {"h20-sxm-96gb", 97871, 4000, 44, 74, 148, 296, 78},
    {"h200-sxm-141gb", 143155, 4800, 66.9, 494.7, 989.4, 1978.9, 132},
    {"gh200-96gb", 97157, 4000, 66.9, 494.7, 989.4, 1978.9, 132},
    {"b200-sxm-180gb", 182630, 8000, 80, 1125, 2250, 4500, 148},
    {"gb200-186gb", 188733, 8000, 80, 1250, 2500, 5000, 152},
    {"b300-sxm-288gb", 274658, 8000, 75, 1125, 2250, 4500, 148},
    {"gb300-288gb", 274658, 8000, 80, 1250, 2500, 5000, 152},
    {"l4", 23034, 300, 31.334, 60.5, 121, 242.5, 58},
    {"l40s", 46068, 864, 91.6, 183, 362.05, 733, 142},
    {"rtx6000ada", 49140, 960, 91.1, 182.1, 364.2, 728.5, 142},
    {"rtx4090", 24564, 1008, 82.6, 82.6, 165.2, 330.3, 128},
    {"mi300x-192gb", 196608, 5300, 163.4, 653.7, 1307.4, 2614.9, 304},
    {"mi325x-256gb", 244140, 6000, 163.4, 653.7, 1307.4, 2614.9, 304},
    {"mi355x-288gb", 274658, 8000, 157.3, 0, 2516.6, 5033.2, 256},
    {"2x-xeon-e5-2686v4", 499712, 153.6, 2.3552, 0, 0, 0, 32},
    {"2x-xeon-e5-2698v4", 524288, 153.6, 2.816, 0, 0, 0, 40},
    {"2x-xeon-8168", 1572864, 256, 8.2944, 0, 0, 0, 48},
    {"2x-epyc-7742", 2097152, 409.6, 9.216, 0, 0, 0, 128},
    {"2x-xeon-8480c", 2097152, 614.4, 14.336, 0, 0, 0, 112},
    {"2x-xeon-8570", 2097152, 716.8, 15.0528, 0, 0, 0, 112},
    {"2x-grace", 983040, 1024, 14.2848, 0, 0, 0, 144},
    {"4x-grace", 491520, 2048, 28.5696, 0, 0, 0, 288},
};

TEST(the_figures_are_the_known_ones)
{
    const struct fr_device_type *type;
    size_t i = 0;

    for (; (type = fr_device_type_builtin(i)) && i < sizeof(known) / sizeof(known[0]); i++) {
        ck_assert_str_eq(type->name, known[i].name);
        ck_assert_uint_eq(type->mem_bytes >> 20, known[i].mem_MiB);
        ck_assert_double_eq_tol(type->mem_Bps, known[i].mem_GBps * 1e9, 1);
        ck_assert_double_eq_tol(type->vector_flops_per_s, known[i].fp32 * 1e12, 1);
        ck_assert_double_eq_tol(type->flops_per_s[FR_FP32], known[i].fp32 * 1e12, 1);
        ck_assert_double_eq_tol(type->flops_per_s[FR_TF32], known[i].tf32 * 1e12, 1);
        ck_assert_double_eq_tol(type->flops_per_s[FR_FP16], known[i].fp16 * 1e12, 1);
        ck_assert_double_eq_tol(type->flops_per_s[FR_FP8], known[i].fp8 * 1e12, 1);
        ck_assert_uint_eq(type->n_sms, known[i].n_sms);
    }
    ck_assert_uint_eq(i, sizeof(known) / sizeof(known[0]));
}

/* NVIDIA's datasheets, each GPU's most. */
TEST(boards_draw_what_their_datasheets_say)
{
    static const struct {
        const char *type;
        double watts;
    } rows[] = {{"p100-sxm2-16gb", 300}, {"v100-sxm2-16gb", 300},
                {"v100-sxm3-32gb", 350}, {"t4", 70},
                {"a100-sxm4-80gb", 400}, {"a100-pcie-40gb", 250},
                {"h100-sxm5-80gb", 700}, {"b200-sxm-180gb", 1000},
                {"gb200-186gb", 1200},   {"gb300-288gb", 1400},
                {"mi300x-192gb", 750},   {"mi325x-256gb", 1000},
                {"mi355x-288gb", 1400}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_double_eq(fr_device_type_find(rows[i].type)->board_W, rows[i].watts);
}

/* What a chip has no arithmetic for is computed in what holds its numbers. */
TEST(a_format_without_arithmetic_runs_in_the_next_that_holds_its_numbers)
{
    static const struct {
        const char *type;
        enum fr_dtype asked, runs;
        double tflops_per_s;
    } rows[] = {
        {"v100-sxm2-16gb", FR_BF16, FR_FP32, 15.7},
        {"v100-sxm2-16gb", FR_TF32, FR_FP32, 15.7},
        {"v100-sxm2-16gb", FR_FP16, FR_FP16, 125},
        {"v100-sxm2-16gb", FR_AMP, FR_FP16, 125},
        {"v100-sxm2-16gb", FR_FP8, FR_FP16, 125},
        {"a100-sxm4-80gb", FR_FP8, FR_BF16, 312},
        {"a100-sxm4-80gb", FR_BF16, FR_BF16, 312},
        {"h100-sxm5-80gb", FR_FP8, FR_FP8, 1978.9},
        {"p100-sxm2-16gb", FR_TF32, FR_FP32, 10.6},
        {"p4", FR_FP16, FR_FP32, 5.5},
        {"p4", FR_AMP, FR_FP32, 5.5},
        {"p4", FR_FP32, FR_FP32, 5.5},
    };
    const struct fr_device_type plain = {.vector_flops_per_s = 7e12};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct fr_device_type *type = fr_device_type_find(rows[i].type);

        ck_assert_int_eq(fr_device_type_arithmetic(type, rows[i].asked), rows[i].runs);
        ck_assert_double_eq_tol(fr_device_type_peak_flops_per_s(type, rows[i].asked),
                                rows[i].tflops_per_s * 1e12, 1);
    }
    ck_assert_int_eq(fr_device_type_arithmetic(&plain, FR_FP8), FR_FP32);
    ck_assert_double_eq(fr_device_type_peak_flops_per_s(&plain, FR_FP32), 7e12);
}

TEST(past_the_end_there_is_none)
{
    ck_assert_ptr_null(fr_device_type_builtin(fr__n_device_types));
    ck_assert_ptr_null(fr_device_type_builtin(SIZE_MAX));
    ck_assert_ptr_null(fr_device_type_find(""));
    ck_assert_ptr_null(fr_device_type_find("P4"));
}

int main(void)
{
    TCase *tc = tcase_create("devices");

    tcase_add_loop_test(tc, a_file_read_as_a_topologys_own_type_gives_the_same_numbers, 0,
                        (int)fr__n_device_types);
    add_tests(tc);
    return run_case(tc, "devices");
}
