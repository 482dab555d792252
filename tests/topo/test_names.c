/* tests/topo/test_names.c - other names of machines, and what is said of the NICs between them. */
#include "config.h"

#include "topo/topo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

TEST(other_names_stand_for_machines_that_are)
{
    const struct fr_topo_alias *a;
    struct fr_error err;

    for (size_t i = 0; (a = fr_topo_alias_at(i)) != NULL; i++) {
        struct fr_topo *named = NULL, *meant = NULL;
        char text[64];

        ck_assert_int_eq(fr_topo_load(&meant, a->preset, &err), FR_OK);
        snprintf(text, sizeof(text), "%s%s%s", a->gpus, a->gpus[0] ? "x" : "", a->name);
        ck_assert_msg(fr_topo_load(&named, text, &err) == FR_OK, "%s: %s", text, err.text);
        ck_assert_uint_eq(named->n_gpus, meant->n_gpus);
        ck_assert_ptr_eq(fr_topo_alias_in(text, 0), a);
        if (a->gpus[0])
            ck_assert_uint_eq(named->n_gpus, strtoul(a->gpus, NULL, 10));
        fr_topo_free(named);
        fr_topo_free(meant);
    }
}

/* NICs of 100 Gbit/s in two machines, of which one has lost half of a NIC's rate; PCIe 3.0 x16
 * holds none of them up. NICs of 800 Gbit/s behind PCIe 5.0 are held up. */
TEST(the_nics_in_use_say_what_limits_them)
{
    uint32_t devices[] = {0, 1, 8};
    struct fr_topo_nics nics[4];
    struct fr_topo *t;
    struct fr_error err;
    size_t n = 9;

    ck_assert_int_eq(fr_topo_load(&t, "3x dgx1-v100 less n0.nic1=0.5", &err), FR_OK);
    ck_assert_int_eq(fr_topo_nics_of(t, devices, 2, nics, 4, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 0); /* one machine */
    ck_assert_int_eq(fr_topo_nics_of(t, devices, 3, nics, 4, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(nics[0].n_a_machine, 3);
    ck_assert_uint_eq(nics[0].n_machines, 1);
    ck_assert_double_eq(nics[0].rate_Bps, 12.5e9);
    ck_assert_double_eq(nics[1].rate_Bps, 6.25e9);
    ck_assert_uint_eq(nics[2].n_a_machine, 4);
    ck_assert_int_eq(fr_topo_nics_of(t, devices, 3, nics, 1, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 1); /* no more than there is room for */
    fr_topo_free(t);
    ck_assert_int_eq(fr_topo_load(&t, "2x hgx-h100 via ib:800Gbps", &err), FR_OK);
    ck_assert_int_eq(fr_topo_nics_of(t, devices, 3, nics, 4, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(nics[0].n_machines, 2);
    ck_assert_double_eq(nics[0].rate_Bps, 100e9);
    ck_assert_double_lt(nics[0].host_Bps, nics[0].rate_Bps);
    fr_topo_free(t);
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "topo names");
}
