/* tests/fuzz/fuzz_request.c - any bytes as a request: the first byte says to which verb. What is
 * taken sets options, and nothing is run; what is not gets a sentence, and so does what is no JSON.
 */
#include "config.h"

#include "api/call/request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A range of thousands takes seconds under sanitizers. */
static bool is_slow(const char *text)
{
    const char *to = strstr(text, "..");

    return to && strspn(to, ".0123456789") >= 6;
}

static void read_request(const struct fr__verb *v, const char *text)
{
    struct fr__options *o = malloc(sizeof(*o));
    struct fr__arena *a = fr__arena_new();
    struct fr__words words = {.n = 0};
    struct fr_error err = {.code = FR_OK};
    enum fr_status st;

    if (o && a && fr__options_init(o, v->options, &err) == FR_OK) {
        st = fr__request_read(a, text, v, false, o, &words, &err);
        if (st != FR_OK && !err.text[0])
            abort();
        if (st == FR_OK && words.n < 2)
            abort();
        fr__options_fini(o);
    }
    fr__arena_free(a);
    free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n;
    const struct fr__verb *verbs = fr__verbs(&n);
    char *text;

    if (size < 1)
        return 0;
    text = malloc(size);
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (!is_slow(text))
        read_request(&verbs[data[0] % n], text);
    free(text);
    return 0;
}
