/* tests/fuzz/fuzz_shard.c - any bytes as a layout of a small model: refused with a sentence, or the
 * model is split so, or that is refused with a sentence. */
#include "config.h"

#include "workloads/passes/shard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void split(const struct fr_graph *g, const uint8_t *data, size_t size)
{
    static const char *const names[] = {"tp", "cp"};
    uint8_t *rows[] = {calloc(g->n_ops, 1), calloc(g->n_ops, 1)};
    struct fr_error err = {.text = ""};
    struct fr__sharded s;

    if (rows[0] && rows[1]) {
        enum fr_status st =
            fr__shard_read_text((const char *)data, size, "layout", g, names, 2, rows, &err);

        if (st == FR_OK) {
            const struct fr__shard_axis axes[] = {
                {.name = "tp", .size = 2, .partial_to_sequence = size & 1, .split = rows[0]},
                {.name = "cp", .size = 4, .keeps_gathered = size & 2, .split = rows[1]}};
            const struct fr__shard_problem in = {
                .graph = g, .n_axes = 2, .axes = axes, .experts = {.ep = 1, .etp = 1, .skew = 1}};

            st = fr__shard(&s, &in, &err);
            if (st == FR_OK)
                fr__sharded_free(&s);
        }
        if (st != FR_OK && !err.text[0])
            abort();
    }
    free(rows[0]);
    free(rows[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const models[] = {
        "gpt:layers=1,hidden=16,heads=4,seq=16,vocab=32",
        "llama:layers=1,hidden=16,ffn=32,heads=4,kv_heads=2,seq=16,vocab=32", "lenet"};
    const struct fr_workload_options opt = {.batch = 8, .dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err;

    if (fr_workload_load(&g, models[size % 3], &opt, &err) != FR_OK)
        abort();
    split(g, data, size);
    fr_graph_free(g);
    return 0;
}
