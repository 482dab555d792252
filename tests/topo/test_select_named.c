/* tests/topo/test_select_named.c - lists of GPUs by name: order, ranges, refusals. */
#include "config.h"

#include "topo/topo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_topo *load(const char *spec)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s", err.text);
    return t;
}

/* The list must give these devices, ended by FR_NONE. */
static void assert_devices(const char *spec, const char *list, const uint32_t expected[])
{
    struct fr_topo *t = load(spec);
    uint32_t devices[64];
    struct fr_error err;
    size_t n = 0, n_expected = 0;

    ck_assert_uint_le(t->n_gpus, 64);
    ck_assert_msg(fr_topo_select_named(t, list, devices, &n, &err) == FR_OK, "%s: %s", list,
                  err.text);
    while (expected[n_expected] != FR_NONE)
        n_expected++;
    ck_assert_uint_eq(n, n_expected);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(devices[i], expected[i]);
    fr_topo_free(t);
}

TEST(names_stand_in_the_order_given)
{
    assert_devices("dgx1-v100", "n0.gpu0", (const uint32_t[]){0, FR_NONE});
    assert_devices("dgx1-v100", "n0.gpu3,n0.gpu0,n0.gpu7", (const uint32_t[]){3, 0, 7, FR_NONE});
    assert_devices("2x dgx1-v100", "n1.gpu2,n0.gpu5", (const uint32_t[]){10, 5, FR_NONE});
}

TEST(a_range_holds_both_ends)
{
    assert_devices("dgx1-v100", "n0.gpu0..3", (const uint32_t[]){0, 1, 2, 3, FR_NONE});
    assert_devices("dgx1-v100", "n0.gpu4..4", (const uint32_t[]){4, FR_NONE});
    assert_devices("dgx1-v100", "n0.gpu7,n0.gpu1..2", (const uint32_t[]){7, 1, 2, FR_NONE});
    assert_devices("dgx2", "n0.gpu9..11", (const uint32_t[]){9, 10, 11, FR_NONE});
    assert_devices("2x dgx1-v100", "n0..1.gpu7", (const uint32_t[]){7, 15, FR_NONE});
}

TEST(of_two_ranges_the_last_varies_fastest)
{
    assert_devices("2x dgx1-v100", "n0..1.gpu2..3", (const uint32_t[]){2, 3, 10, 11, FR_NONE});
    assert_devices(
        "2x dgx1-v100", "n0..1.gpu0..7",
        (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, FR_NONE});
}

/* GPUs "a0..1" and "a1", and a CPU "c". */
static struct fr_topo *make_dotted(void)
{
    static const struct fr_device_type gpu = {.name = "toy-gpu",
                                              .is_gpu = true,
                                              .mem_bytes = 1,
                                              .mem_Bps = 1,
                                              .vector_flops_per_s = 1,
                                              .n_sms = 1,
                                              .source = "made up"};
    static const struct fr_device_type cpu = {.name = "toy-cpu",
                                              .mem_bytes = 1,
                                              .mem_Bps = 1,
                                              .vector_flops_per_s = 1,
                                              .n_sms = 1,
                                              .source = "made up"};
    const struct fr_loc nowhere = {NULL, 0, 0};
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t g = fr_topo_builder_type(b, &gpu), c = fr_topo_builder_type(b, &cpu);
    struct fr_topo *t = NULL;
    struct fr_error err;
    uint32_t hub = fr_topo_builder_vertex(b, FR_VERTEX_CPU, "c", 0, c, nowhere);

    for (size_t i = 0; i < 2; i++) {
        uint32_t v = fr_topo_builder_vertex(b, FR_VERTEX_GPU, i ? "a1" : "a0..1", 0, g, nowhere);

        fr_topo_builder_link(b, FR_LINK_PCIE, v, hub, 1e9, 1e-6, true, "test", nowhere);
    }
    ck_assert_msg(fr_topo_builder_finish(b, "dotted", &t, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    return t;
}

TEST(a_name_that_there_is_is_no_range)
{
    struct fr_topo *t = make_dotted();
    uint32_t devices[2];
    struct fr_error err;
    size_t n = 0;

    ck_assert_int_eq(fr_topo_select_named(t, "a1,a0..1", devices, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert(devices[0] == 1 && devices[1] == 0);
    fr_topo_free(t);
}

TEST(a_wrong_list_is_refused_with_what_is_wrong)
{
    static const struct {
        const char *list;
        enum fr_status code;
        const char *sentence;
    } cases[] = {
        {"n0.gup3", FR_ENOENT, "'2x dgx1-v100' has no GPU 'n0.gup3', did you mean 'n0.gpu3'?"},
        {"n0.gpu0,elsewhere", FR_ENOENT, "'2x dgx1-v100' has no GPU 'elsewhere'"},
        {"n0.gpu0, n0.gpu1", FR_ENOENT,
         "'2x dgx1-v100' has no GPU ' n0.gpu1', did you mean 'n0.gpu1'?"},
        {"n0.gpu6..9", FR_ENOENT,
         "'2x dgx1-v100' has no GPU 'n0.gpu8' (of 'n0.gpu6..9'), did you mean 'n0.gpu0'?"},
        {"n0.cpu0", FR_ERANGE, "'n0.cpu0' is a CPU, expected a GPU"},
        {"n0.plx0", FR_ERANGE, "'n0.plx0' is a PCIe switch, expected a GPU"},
        {"n0.nic0", FR_ERANGE, "'n0.nic0' is a network card, expected a GPU"},
        {"n0.gpu0,n0.gpu0", FR_ERANGE, "GPU 'n0.gpu0' is named twice"},
        {"n0.gpu0..3,n0.gpu2", FR_ERANGE, "GPU 'n0.gpu2' is named twice"},
        {"n0.gpu3..0", FR_ERANGE, "'n0.gpu3..0': the range 3..0 runs backwards"},
        {"n0..1.gpu0..8", FR_ERANGE,
         "'n0..1.gpu0..8' stands for more GPUs than '2x dgx1-v100' has, which is 16"},
        {"n0..999999999.gpu0..999999999", FR_ERANGE,
         "'n0..999999999.gpu0..999999999' stands for more GPUs than '2x dgx1-v100' has, which is "
         "16"},
        {"n0.gpu0..99999999999", FR_ERANGE,
         "'n0.gpu0..99999999999' has a number of 11 digits, expected 9 at most"},
        {"n0.gpu00..3", FR_EPARSE, "'n0.gpu00..3': the numbers of a range start with no 0"},
        {"n0.gpu..3", FR_EPARSE,
         "'n0.gpu..3' is no range, expected numbers on both sides of '..', such as gpu0..3"},
        {"n0.gpu0..", FR_EPARSE,
         "'n0.gpu0..' is no range, expected numbers on both sides of '..', such as gpu0..3"},
        {"n0.gpu0..1..2", FR_EPARSE,
         "'n0.gpu0..1..2' is no range, expected numbers on both sides of '..', such as gpu0..3"},
        {"0..0.0..0.0..0.0..0.0..0", FR_ERANGE,
         "'0..0.0..0.0..0.0..0.0..0' has more than 4 ranges"},
        {"", FR_EPARSE,
         "a list of GPUs has an empty name, expected names with one comma between two, such as "
         "n0.gpu0,n0.gpu4"},
        {"n0.gpu0,,n0.gpu1", FR_EPARSE,
         "a list of GPUs has an empty name, expected names with one comma between two, such as "
         "n0.gpu0,n0.gpu4"},
        {"n0.gpu0,", FR_EPARSE,
         "a list of GPUs has an empty name, expected names with one comma between two, such as "
         "n0.gpu0,n0.gpu4"},
    };
    struct fr_topo *t = load("2x dgx1-v100");
    uint32_t devices[16];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err = {.text = ""};
        size_t n = 99;

        ck_assert_int_eq(fr_topo_select_named(t, cases[i].list, devices, &n, &err), cases[i].code);
        ck_assert_str_eq(err.text, cases[i].sentence);
        ck_assert_uint_eq(n, 99);
    }
    fr_topo_free(t);
}

/* The name after its expansion, or what stands for it, is far longer than any vertex's. */
TEST(a_very_long_name_is_unknown)
{
    struct fr_topo *t = load("dgx1-v100");
    uint32_t devices[8];
    char list[3000];
    struct fr_error err;
    size_t n;

    memset(list, 'x', sizeof(list));
    list[sizeof(list) - 1] = '\0';
    ck_assert_int_eq(fr_topo_select_named(t, list, devices, &n, &err), FR_ENOENT);
    memcpy(list + sizeof(list) - 5, "0..1", 4);
    ck_assert_int_eq(fr_topo_select_named(t, list, devices, &n, &err), FR_ENOENT);
    memset(list, '7', 2000);
    ck_assert_int_eq(fr_topo_select_named(t, list, devices, &n, &err), FR_ENOENT);
    memcpy(list + 2000, "..", 2);
    ck_assert_int_eq(fr_topo_select_named(t, list, devices, &n, &err), FR_EPARSE);
    fr_topo_free(t);
}

int main(void)
{
    TCase *tc = tcase_create("select_named");

    add_tests(tc);
    return run_case(tc, "topo_select_named");
}
