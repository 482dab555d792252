/* cli/verbs/recipe.c - recipes of training software: list, show. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"
#include "study/recipes/recipe.h"

#include <string.h>

enum fr_status cli_recipe_list(struct session *s, struct fr_error *err)
{
    (void)s;
    for (size_t i = 0; fr_recipe_shipped(i); i++) {
        struct fr_recipe *r;

        FR_TRY(fr_recipe_load(&r, fr_recipe_shipped(i), err));
        cli_print_row(stdout, fr_recipe_name(r), 24, fr_recipe_summary(r));
        fr_recipe_free(r);
    }
    puts("\nOne of your own: --recipe FILE.yaml; that of a model's family: --recipe usual; without "
         "--recipe nothing is copied, added or scaled.");
    return FR_OK;
}

/* "  (amp, fp16; from pytorch-ddp)" where it does not hold in all precisions or comes from
 * another. */
static void print_where(const struct fr_recipe_value *v, const char *recipe)
{
    const char *before = "  (";
    bool is_partial = v->precisions != (1u << FR_N_DTYPES) - 1;

    for (unsigned d = 0; is_partial && d < FR_N_DTYPES; d++)
        if (v->precisions >> d & 1) {
            printf("%s%s", before, fr_dtype_name((enum fr_dtype)d));
            before = ", ";
        }
    if (strcmp(v->from, recipe) != 0)
        printf("%sfrom %s", is_partial ? "; " : before, v->from);
    else if (!is_partial)
        return;
    putchar(')');
}

enum fr_status cli_recipe_show(struct session *s, struct fr_error *err)
{
    const struct fr_recipe_value *v;
    struct fr_recipe *r;

    FR_TRY(fr_recipe_load(&r, s->options.arguments[0], err));
    printf("%s: %s\n", fr_recipe_name(r), fr_recipe_summary(r));
    if (fr_recipe_base(r))
        printf("builds on %s\n", fr_recipe_base(r));
    for (size_t i = 0; fr_recipe_family(r, i); i++)
        printf("%s%s", i ? ", " : "usual for ", fr_recipe_family(r, i));
    puts(fr_recipe_family(r, 0) ? "\n" : "");
    for (size_t i = 0; (v = fr_recipe_value(r, i)); i++) {
        printf("  %s%s=%s", v->is_of_question ? "--" : "", v->option, v->text);
        print_where(v, fr_recipe_name(r));
        printf("\n      %s\n", v->source);
    }
    for (size_t i = 0; fr_recipe_left_out(r, i); i++)
        printf("%s  %s\n", i ? "" : "\nleft out:\n", fr_recipe_left_out(r, i));
    fr_recipe_free(r);
    return FR_OK;
}
