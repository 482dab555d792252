/* tests/fuzz/fuzz_devices.c - any bytes as a list of GPUs: refused with a sentence, or different
 * GPUs of the topology. */
#include "config.h"

#include "topo/topo.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    }
    fr_topo_free(t);
    free(text);
    return 0;
}
