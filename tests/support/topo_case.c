/* tests/support/topo_case.c - loads topologies and finds links; fails the test where it cannot. */
#include "config.h"

#include "tests/support/topo_case.h"

#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

struct fr_topo *topo_case_load(const char *spec)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s: %s", spec, err.text);
    return t;
}

void topo_case_refuse(const struct topo_case_refusal cases[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct fr_topo *t = NULL;
        struct fr_error err;

        ck_assert_msg(fr_topo_load(&t, cases[i].text, &err) != FR_OK, "%s", cases[i].text);
        ck_assert_msg(err.code == cases[i].status && strstr(err.text, cases[i].sentence),
                      "%s: %d %s", cases[i].text, (int)err.code, err.text);
        ck_assert_ptr_null(t);
    }
}

const struct fr_link *topo_case_link(const struct fr_topo *t, const char *name)
{
    char buf[FR_LINK_NAME];

    for (uint32_t l = 0; l < t->n_links; l++)
        if (strcmp(fr_topo_link_name(t, l, buf), name) == 0)
            return &t->links[l];
    return NULL;
}

void topo_case_print(void *user, const char *line)
{
    (void)user;
    printf("  %s\n", line);
}

void topo_case_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}
