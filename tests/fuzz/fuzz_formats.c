/* tests/fuzz/fuzz_formats.c - any bytes as a number-format recipe: refused with a sentence, or one
 * whose copies have a size. */
#include "config.h"

#include "workloads/graph/formats.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fr_formats *f;
    struct fr__formats_file *owned;
    struct fr_error err;

    if (fr__formats_read(&f, &owned, (const char *)data, size, "fuzz", &err) == FR_OK) {
        for (int what = 0; what < FR__N_QUANTISED; what++)
            if (!(fr__formats_copy_bytes(f, (enum fr__quantised)what, 64, 64, what & 1) >= 2048))
                abort();
        if (!f->name[0] || f->multiple == 0 || f->cast_reads == 0)
            abort();
        fr__formats_free(owned);
    } else if (!err.text[0]) {
        abort();
    }
    return 0;
}
