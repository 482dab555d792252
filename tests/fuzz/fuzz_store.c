/* tests/fuzz/fuzz_store.c - any bytes as a store of a sweep: refused with a sentence and left as
 * they are, or rows that a second look finds again.
 *
 * The first byte chooses the kind: even is CSV, odd is SQLite. The rest is the file; for CSV, "!"
 * at its beginning stands for the lines that begin a store, and lines get their checksums, since no
 * search finds these.
 */
#include "config.h"

#include "study/store/digest.h"
#include "study/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The lines of text, each behind its checksum. */
static void write_lines(FILE *f, const uint8_t *text, size_t n)
{
    struct fr__row_columns all;
    char hex[FR__DIGEST_HEX];

    fr__row_columns_init(&all);
    fprintf(f, "# forerun sweep store, format %d, forerun %s\nchecksum,", FR_STORE_FORMAT,
            fr_version());
    fr__row_write_names(f, &all);
    putc('\n', f);
    for (size_t at = 0, len; at < n; at += len + 1) {
        const uint8_t *end = memchr(text + at, '\n', n - at);

        len = end ? (size_t)(end - text) - at : n - at;
        fprintf(f, "%s,", fr__digest_hex(fr__fnv(FR__FNV_START, text + at, len), hex));
        fwrite(text + at, 1, len, f);
        putc('\n', f);
    }
}

static enum fr_status count(void *user, const struct fr_sweep_row *row, struct fr_error *err)
{
    (void)err;
    *(size_t *)user += row->key[0] != '\0';
    return FR_OK;
}

/* The number of rows with a key; SIZE_MAX: refused. */
static size_t look(const char *path)
{
    struct fr_store *s = NULL;
    struct fr_error err = {0};
    size_t n = 0;

    if (fr_store_open(&s, path, &err) != FR_OK) {
        if (!err.text[0])
            abort();
        return SIZE_MAX;
    }
    if (fr_store_each(s, true, count, &n, &err) != FR_OK || fr_store_close(s, &err) != FR_OK)
        abort();
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    size_t first;
    FILE *f;

    if (size == 0)
        return 0;
    snprintf(path, sizeof(path), "/tmp/fuzz_store_%ld.%s", (long)getpid(),
             data[0] % 2 ? "sqlite" : "csv");
    f = fopen(path, "wb");
    if (!f)
        return 0;
    if (size > 1 && data[1] == '!' && data[0] % 2 == 0)
        write_lines(f, data + 2, size - 2);
    else
        fwrite(data + 1, 1, size - 1, f);
    fclose(f);
    first = look(path);
    if (look(path) != first)
        abort();
    unlink(path);
    return 0;
}
