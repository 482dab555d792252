/* tests/fuzz/fuzz_devices.c - any bytes as a list of GPUs: refused with a sentence, or different
 * GPUs of the topology; as a pattern of devices; as links that carry less. */
#include "config.h"

#include "topo/topo.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void match(const struct fr_topo *t, const char *text)
{
    bool is_meant[32] = {false};
    struct fr_error err = {.text = ""};
    size_t n = 0, n_marked = 0;

    if (t->n_devices > 32)
        abort();
    if (fr_topo_match(t, text, is_meant, &n, &err) != FR_OK && !err.text[0])
        abort();
    for (size_t d = 0; d < t->n_devices; d++)
        n_marked += is_meant[d];
    if (n != n_marked)
        abort();
}

static void degrade(const char *text)
{
    struct fr_topo *t = NULL;
    struct fr_error err = {.text = ""};

    if (fr_topo_load_less(&t, "2x dgx1-v100", text, false, &err) != FR_OK && (t || !err.text[0]))
        abort();
    fr_topo_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    uint32_t devices[16];
    bool is_taken[16] = {false};
    struct fr_topo *t = NULL;
    struct fr_error err = {.text = ""};
    size_t n = 0;

    if (text && fr_topo_load(&t, "2x dgx1-v100", &err) == FR_OK) {
        if (size)
            memcpy(text, data, size);
        text[size] = '\0';
        if (fr_topo_select_named(t, text, devices, &n, &err) != FR_OK && !err.text[0])
            abort();
        for (size_t i = 0; i < n; i++) {
            if (n > 16 || devices[i] >= t->n_gpus || is_taken[devices[i]])
                abort();
            is_taken[devices[i]] = true;
        }
        match(t, text);
        degrade(text);
    }
    fr_topo_free(t);
    free(text);
    return 0;
}
