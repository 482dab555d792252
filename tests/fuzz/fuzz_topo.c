/* tests/fuzz/fuzz_topo.c - libFuzzer target: any bytes as a composition line and a topology file.
 *
 * What loads must be sound enough to check and to route on.
 */
#include "config.h"

#include "topo/load/load.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct fr_topo *t)
{
    struct fr_router *r;
    struct fr_error err;
    const uint32_t *links;
    size_t n;

    if (fr_router_new(&r, t, &err) != FR_OK)
        return;
    for (uint32_t d = 0; d < t->n_devices && d < 16; d++)
        (void)fr_router_path(r, 0, d, &links, &n, &err);
    fr_router_free(r);
    if (t->n_devices < 256)
        (void)fr_topo_check(t, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct fr_topo *t = NULL;
    struct fr_error err;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    /* no '/', so that the line names no file outside the working folder */
    if (!strchr(text, '/') && fr_topo_load(&t, text, &err) == FR_OK) {
        use(t);
        fr_topo_free(t);
    }
    t = NULL;
    if (fr__topo_load_text(&t, text, size, "fuzz.yaml", &err) == FR_OK) {
        use(t);
        fr_topo_free(t);
    }
    free(text);
    return 0;
}
