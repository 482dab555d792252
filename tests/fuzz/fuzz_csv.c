/* tests/fuzz/fuzz_csv.c - libFuzzer: any bytes are rows or an error with a place, never a crash.
 *
 * Built by configure --enable-fuzz CC=clang CFLAGS='-g -O1
 * -fsanitize=fuzzer-no-link,address,undefined' and make check; run as tests/fuzz/fuzz_csv
 * -max_total_time=60.
 */
#include "config.h"

#include "base/csv.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_COLUMNS = 3 };

/* The byte at a place, found independently: lines end with LF, CR or CR LF. */
static size_t offset_of(const char *text, size_t len, struct fr_loc loc)
{
    size_t at = 0;

    for (unsigned line = 1; line < loc.line && at < len; at++)
        line += text[at] == '\n' || (text[at] == '\r' && (at + 1 == len || text[at + 1] != '\n'));
    return at + loc.col - 1;
}

struct input {
    const char *text;
    size_t len;
};

static bool stands_at(const struct input *in, size_t at, const char *cell)
{
    size_t n = strlen(cell);

    return at + n <= in->len && memcmp(in->text + at, cell, n) == 0;
}

/* Each cell stands in the text where its place says, behind the ' that guards formulas if there is
 * one; a quoted one may begin alike. */
static enum fr_status check_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    const struct input *in = user;

    (void)err;
    for (size_t i = 0; i < N_COLUMNS; i++) {
        size_t at = offset_of(in->text, in->len, cells[i].loc);

        if (!cells[i].text[0])
            continue;
        if (at >= in->len)
            abort();
        if (in->text[at] != '"' && !stands_at(in, at, cells[i].text) &&
            !(in->text[at] == '\'' && stands_at(in, at + 1, cells[i].text)))
            abort();
    }
    return FR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fr__csv_column columns[N_COLUMNS + 1] = {
        {"a", true}, {"b", false}, {"c", false}, {NULL, false}};
    /* a header in front, for the rows to be reached in the first place */
    static const char header[] = "a,b\n";
    char *text = malloc(size + sizeof(header));
    struct input in = {text, size + sizeof(header) - 1};
    struct fr_error err = {0};
    enum fr_status st;

    if (!text)
        return 0;
    memcpy(text, header, sizeof(header) - 1);
    memcpy(text + sizeof(header) - 1, data, size);
    st = fr__csv_read_text(in.text, in.len, "f", columns, check_row, &in, &err);
    if (st == FR_EPARSE && (err.line == 0 || err.col == 0))
        abort();
    fr__csv_read_text((const char *)data, size, "f", columns, check_row,
                      &(struct input){(const char *)data, size}, &err);
    free(text);
    return 0;
}
