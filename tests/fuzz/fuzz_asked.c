/* tests/fuzz/fuzz_asked.c - any bytes as an answer's JSON: refused, or a question whose settings
 * read back. */
#include "config.h"

#include "study/difference/difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/fuzz_asked_XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    struct fr_asked *a = NULL;
    struct fr_error err = {0};
    char *key;

    if (!f)
        return 0;
    fwrite(data, 1, size, f);
    fclose(f);
    if (fr_asked_load(&a, path, &err) == FR_OK) {
        key = fr_question_key(&a->question);
        if (!key)
            abort();
        free(key);
    } else if (!err.text[0]) {
        abort();
    }
    fr_asked_free(a);
    unlink(path);
    return 0;
}
