/* tests/fuzz/fuzz_recipe.c - any bytes as a recipe: refused with a sentence, or one whose values
 * all have a name, a text, a source, and a precision. */
#include "config.h"

#include "study/recipes/recipe.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fr_recipe_value *v;
    struct fr_recipe *r;
    struct fr_error err;

    if (fr_recipe_read(&r, (const char *)data, size, "fuzz", &err) == FR_OK) {
        for (size_t i = 0; (v = fr_recipe_value(r, i)); i++)
            if (!v->option[0] || !v->text[0] || !v->source[0] || !v->from[0] || v->precisions == 0)
                abort();
        for (size_t i = 0; fr_recipe_left_out(r, i); i++)
            if (i >= 64)
                abort();
        fr_recipe_free(r);
    } else if (!err.text[0]) {
        abort();
    }
    return 0;
}
