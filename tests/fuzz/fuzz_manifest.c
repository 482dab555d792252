/* tests/fuzz/fuzz_manifest.c - any bytes as a manifest: its options are taken, or there is one
 * sentence with a place; nothing is asked, and no shared object is loaded. */
#include "config.h"

#include "api/verbs/manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(const struct fr__verb *v, struct fr__call *s, const char *text, size_t len)
{
    struct fr_error err = {.code = FR_OK};
    enum fr_status st = fr__options_init(&s->options, v->options, &err);

    if (st == FR_OK)
        st = fr__manifest_take_text(v, s, text, len, "m.json", &err);
    if (st != FR_OK && !err.text[0])
        abort();
    if (st == FR_OK && !s->options.promised)
        abort();
    fr__options_fini(&s->options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fr__call *s = calloc(1, sizeof(*s));
    FILE *notes = fopen("/dev/null", "w");
    char *text = malloc(size + 1);

    if (s && notes && text) {
        memcpy(text, data, size);
        text[size] = '\0';
        s->notes = notes;
        take(fr__verb_find(NULL, "simulate"), s, text, size);
    }
    if (notes)
        fclose(notes);
    free(text);
    free(s);
    return 0;
}
