/* tests/fuzz/fuzz_own_collective.c - any bytes as a person's own algorithm: refused with a
 * sentence, or an algorithm that moves the right data in any order of arrival. */
#include "config.h"

#include "collectives/algorithms/custom.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fr__custom *c = NULL;
    struct fr_error err = {.text = ""};
    char *text = calloc(size + 1, 1);
    struct fr__schedule s = {.algorithm = &fr__custom_algorithm, .bytes = 1};

    if (!text)
        return 0;
    memcpy(text, data, size);
    if (fr__custom_parse(&c, text, size, "own.txt", &err) == FR_OK) {
        s.custom = c;
        s.kind = fr__custom_kind(c);
        s.n = fr__custom_ranks(c);
        if (fr__schedule_make(&s, &err) != FR_OK || fr__schedule_check(&s, 7, &err) != FR_OK)
            abort();
    } else if (!err.text[0]) {
        abort();
    }
    fr__custom_free(c);
    free(text);
    return 0;
}
