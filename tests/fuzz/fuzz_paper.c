/* tests/fuzz/fuzz_paper.c - any bytes as a paper's experiments: refused with a sentence, or tables
 * whose cells are texts or numbers. Nothing is asked: that is cancelled. */
#include "config.h"

#include "papers/runner/runner.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const volatile int stop = 1;
    const struct fr_context ctx = {.cancel = &stop};
    struct fr_reproduction *r;
    struct fr_error err;
    const struct fr__paper_file file = {
        .text = (const char *)data, .len = size, .name = "fuzz", .ways = fr__ask_ways};

    if (fr__paper_run(&r, &file, NULL, &ctx, &err) == FR_OK) {
        for (size_t k = 0; k < r->n_tables; k++)
            for (size_t i = 0; i < r->tables[k].n_rows * r->tables[k].n_columns; i++)
                if (r->tables[k].columns[i % r->tables[k].n_columns].unit == FR_UNIT_TEXT &&
                    !r->tables[k].cells[i].text)
                    abort();
        fr_reproduction_free(r);
    } else if (!err.text[0]) {
        abort();
    }
    return 0;
}
