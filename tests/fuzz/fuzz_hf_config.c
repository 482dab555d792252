/* tests/fuzz/fuzz_hf_config.c - any bytes as a config.json: refused, or a graph that is sound.
 * Large models are left out: they take memory and time, and show nothing that small ones do not. */
#include "config.h"

#include "workloads/import/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether some number has more than two digits. */
static bool is_large(const uint8_t *data, size_t size)
{
    size_t n_digits = 0;

    for (size_t i = 0; i < size; i++) {
        n_digits = data[i] >= '0' && data[i] <= '9' ? n_digits + 1 : 0;
        if (n_digits > 2)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char small[] = "{\"model_type\": \"gpt2\", \"n_layer\": 1, \"n_embd\": 8,"
                                "\"n_head\": 2, \"n_positions\": 8, \"vocab_size\": 10, ";
    const struct fr_workload_options opt = {.batch = 1, .seq_len = 8, .dtype = FR_N_DTYPES};
    size_t n = sizeof(small) - 1;
    char *text;
    struct fr_graph *g;
    struct fr_error err = {0};

    if (is_large(data, size))
        return 0;
    text = malloc(n + size + 1);
    if (!text)
        return 0;
    /* half of the inputs go on with a small model, whose sizes they may not say again */
    if (size == 0 || data[0] == '{')
        n = 0;
    memcpy(text, small, n);
    if (size)
        memcpy(text + n, data, size);
    text[n + size] = '\0';
    if (fr__import_text(&g, &fr__importer_hf_config, text, n + size, "fuzz/config.json", &opt,
                        &err) == FR_OK) {
        fr_graph_check(g, NULL, NULL);
        fr_graph_free(g);
    } else if (!err.text[0]) {
        abort();
    }
    free(text);
    return 0;
}
