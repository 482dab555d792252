/* The typed tree of an NCCL topology file: what it keeps, what is refused and where. */
#include "config.h"

#include "tests/support/base_check.h"
#include "topo/import/nccl_xml.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static struct fr__arena *arena;

static void set_up(void)
{
    arena = fr__arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void tear_down(void)
{
    fr__arena_free(arena);
}

static enum fr_status read_text(const char *text, const struct fr__nccl_system **s,
                                struct fr_error *err)
{
    return fr__nccl_xml_load_text(arena, text, strlen(text), "a.xml", s, err);
}

#define GPU_0                                                                                      \
    "<pci busid='0000:0a:00.0' class='0x030200' vendor='0x10de' device='0x20b2' "                  \
    "link_speed='16.0 GT/s PCIe' link_width='8'>\n"                                                \
    "<gpu dev='4' sm='80' rank='0' gdr='1'><nvlink target='0000:0B:00.0' count='12' "              \
    "tclass='0x030200'/><nvlink target='0000:c0:00.0' count='2' tclass='0x068003'/></gpu></pci>\n"
#define GPU_1 "<pci busid='0000:0b:00.0' class='0x030200'><gpu dev='5'/></pci>\n"

TEST(gpus_links_and_ports_keep_what_the_file_says)
{
    static const char text[] =
        "<system version='1'>\n<cpu numaid='3' arch='x86_64' vendor='AuthenticAMD' familyid='25' "
        "modelid='1'>\n" GPU_0 GPU_1 "<nic><net name='mlx5_0' dev='0' speed='200000' guid='0x1f' "
        "gdr='1'/><strange/></nic>\n</cpu></system>";
    const struct fr__nccl_system *s = NULL;
    const struct fr__nccl_node *gpu;
    struct fr_error err;

    ck_assert_msg(read_text(text, &s, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(s->n_cpus, 1);
    ck_assert_uint_eq(s->n_gpus, 2);
    ck_assert_uint_eq(s->n_nets, 1);
    ck_assert_uint_eq(s->n_skipped, 1);
    ck_assert_str_eq(s->skipped, "strange");
    ck_assert(!s->is_rccl);
    gpu = s->gpus[0];
    ck_assert_int_eq(gpu->u.gpu.dev, 4);
    ck_assert_int_eq(gpu->u.gpu.sm, 80);
    ck_assert_uint_eq(gpu->n, 2);
    ck_assert_int_eq(gpu->items[0]->u.nvlink.count, 12);
    ck_assert_ptr_eq(gpu->items[0]->u.nvlink.gpu, s->gpus[1]);
    ck_assert_int_eq(gpu->items[1]->u.nvlink.kind, FR__NCCL_PCI_NVSWITCH);
    ck_assert_ptr_null(gpu->items[1]->u.nvlink.gpu);
    ck_assert_int_eq(fr__nccl_pci_of(gpu)->u.pci.device, 0x20b2);
    ck_assert_uint_eq(fr__nccl_pci_of(gpu)->u.pci.address, 0x0a000);
    /* 8 lanes of 16 GT/s: 8 x 120 / 80 GB/s; unsaid: 16 lanes of 8 GT/s, 12 GB/s */
    ck_assert_double_eq(fr__nccl_pcie_Bps(&fr__nccl_pci_of(gpu)->u.pci), 12e9);
    ck_assert_double_eq(fr__nccl_pcie_Bps(&fr__nccl_pci_of(s->gpus[1])->u.pci), 12e9);
    ck_assert_int_eq(fr__nccl_cpu_of(gpu)->u.cpu.numa_id, 3);
    ck_assert_int_eq(fr__nccl_cpu_of(gpu)->u.cpu.vendor, FR__NCCL_AMD);
    ck_assert_int_eq(s->gpus[1]->u.gpu.sm, FR__NCCL_UNSAID);
    ck_assert_double_eq(s->nets[0]->u.net.speed_Mbps, 200000);
    ck_assert_uint_eq(s->nets[0]->u.net.guid, 0x1f);
    ck_assert_int_eq(s->nets[0]->u.net.rail, FR__NCCL_UNSAID);
}

TEST(an_element_at_the_wrong_place_is_passed_over)
{
    const struct fr__nccl_system *s = NULL;
    struct fr_error err;

    ck_assert(read_text("<system><gpu dev='0'/><cpu numaid='0'><net dev='0'/></cpu></system>", &s,
                        &err) == FR_OK);
    ck_assert_uint_eq(s->n_gpus, 0);
    ck_assert_uint_eq(s->n_nets, 0);
    ck_assert_uint_eq(s->n_skipped, 2);
    ck_assert_str_eq(s->skipped, "gpu");
}

TEST(rccls_names_mark_its_files)
{
    const struct fr__nccl_system *s = NULL;
    struct fr_error err;

    ck_assert(read_text("<system><cpu numaid='0'><pci busid='1:0' class='0x120000'><gpu dev='0' "
                        "gcn='940'/></pci></cpu></system>",
                        &s, &err) == FR_OK);
    ck_assert(s->is_rccl);
    ck_assert_int_eq(fr__nccl_pci_of(s->gpus[0])->u.pci.kind, FR__NCCL_PCI_GPU);
}

TEST(numbers_that_no_machine_has_are_refused_at_their_line)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"<topology/>",
         "a.xml:1:1: <topology> is not the root of an NCCL topology, <system> expected"},
        {"<system version='7'/>", "a.xml:1:1: 'version' of <system> is \"7\", 1 to 2 expected"},
        {"<system><cpu/></system>", "a.xml:1:9: <cpu> has no 'numaid'"},
        {"<system><cpu numaid='0'>\n<pci busid='0g:00'/></cpu></system>",
         "a.xml:2:1: 'busid' of <pci> is \"0g:00\", a bus number like 0000:10:00.0 expected"},
        {"<system><cpu numaid='0'>\n<pci busid='1:0' link_speed='12 GT/s'/></cpu></system>",
         "a.xml:2:1: 'link_speed' is \"12 GT/s\", one of 2.5, 5, 8, 16, 32, 64 GT/s expected"},
        {"<system><cpu numaid='0'>\n<pci busid='1:0' link_width='1000000000'/></cpu></system>",
         "a.xml:2:1: 'link_width' of <pci> is \"1000000000\", 0 to 32 expected"},
        {"<system><cpu numaid='0'><pci busid='1:0'><gpu>\n<nvlink target='2:0' "
         "count='1000000000'/></gpu></pci></cpu></system>",
         "a.xml:2:1: 'count' of <nvlink> is \"1000000000\", 1 to 1024 expected"},
        {"<system><cpu numaid='0'><nic>\n<net dev='0' speed='200000000'/></nic></cpu></system>",
         "a.xml:2:1: 'speed' of <net> is \"200000000\", 0 to 10000000 expected"},
        {"<system><cpu numaid='0'><pci busid='1:00.0'/>\n<pci busid='0001:00:0'/></cpu></system>",
         "a.xml:2:1: bus number '0001:00:0' appears twice, first at line 1"},
    };
    const struct fr__nccl_system *s = NULL;
    struct fr_error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_ne(read_text(cases[i].text, &s, &err), FR_OK);
        assert_message(&err, cases[i].message);
    }
    ck_assert_ptr_null(s);
}

TEST(a_file_of_ten_thousand_elements_is_refused)
{
    const struct fr__nccl_system *s = NULL;
    size_t used = 0, size = 10000 * 32;
    char *text = malloc(size + 64);
    struct fr_error err;

    ck_assert_ptr_nonnull(text);
    used += (size_t)sprintf(text, "<system>");
    for (int i = 0; i < 10000; i++)
        used += (size_t)snprintf(text + used, size - used, "<cpu numaid='%d'/>\n", i);
    strcpy(text + used, "</system>");
    ck_assert_int_eq(read_text(text, &s, &err), FR_ERANGE);
    ck_assert_str_eq(err.text, "more than 4096 elements in a topology");
    free(text);
}

/* Every machine of the shared set that goldens of NCCL stand for. */
TEST(the_machines_that_nccls_goldens_are_of_load)
{
    const char *srcdir = getenv("srcdir");
    char folder[512], path[1024];
    size_t n = 0;
    struct dirent *entry;
    DIR *d;

    snprintf(folder, sizeof(folder), "%s/../shared/data/nccl/xml", srcdir ? srcdir : ".");
    d = opendir(folder);
    if (!d) {
        fputs("skipped: no ../shared/data/nccl\n", stderr);
        return;
    }
    while ((entry = readdir(d))) {
        const struct fr__nccl_system *s = NULL;
        struct fr_error err;

        if (!strstr(entry->d_name, ".xml"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        ck_assert_msg(fr__nccl_xml_load(arena, path, &s, &err) == FR_OK, "%s:%u:%u: %s",
                      entry->d_name, err.line, err.col, err.text);
        ck_assert_uint_eq(s->n_skipped, 0);
        n++;
    }
    closedir(d);
    ck_assert_uint_gt(n, 0);
}

int main(void)
{
    TCase *tc = tcase_create("nccl_xml");

    if (!fr__xml_is_built())
        return 77; /* skipped: built without expat */
    tcase_add_checked_fixture(tc, set_up, tear_down);
    add_tests(tc);
    return run_case(tc, "topo/import/nccl_xml");
}
