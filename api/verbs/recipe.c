/* api/verbs/recipe.c - recipes of training software: list, show, fit. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"
#include "results/results.h"
#include "study/recipe_fit/recipe_fit.h"
#include "study/recipes/recipe.h"

#include <stdio.h>
#include <string.h>

enum fr_status fr__verb_recipe_list(struct fr__call *s, struct fr_error *err)
{
    (void)s;
    for (size_t i = 0; fr_recipe_shipped(i); i++) {
        struct fr_recipe *r;

        FR_TRY(fr_recipe_load(&r, fr_recipe_shipped(i), err));
        fr__print_row(s->out, fr_recipe_name(r), 24, fr_recipe_summary(r));
        fr_recipe_free(r);
    }
    fputs("\nOne of your own: --recipe FILE.yaml. Without --recipe, simulate, fit and validate "
          "take what "
          "usually runs such a model (doc/recipes.md); --recipe none: nothing is copied, added or "
          "scaled.\n",
          s->out);
    return FR_OK;
}

/* "  (amp, fp16; from pytorch-ddp)" where it does not hold in all precisions or comes from
 * another. */
static void print_where(FILE *f, const struct fr_recipe_value *v, const char *recipe)
{
    const char *before = "  (";
    bool is_partial = v->precisions != (1u << FR_N_DTYPES) - 1;

    for (unsigned d = 0; is_partial && d < FR_N_DTYPES; d++)
        if (v->precisions >> d & 1) {
            fprintf(f, "%s%s", before, fr_dtype_name((enum fr_dtype)d));
            before = ", ";
        }
    if (strcmp(v->from, recipe) != 0)
        fprintf(f, "%sfrom %s", is_partial ? "; " : before, v->from);
    else if (!is_partial)
        return;
    putc(')', f);
}

/* The runs that it is assumed for, where a question names no software. */
static void print_usual(FILE *f, const char *name)
{
    char text[256];

    for (size_t k = 0; fr_recipe_usual_for(name, k, text, sizeof(text)); k++)
        fprintf(f, "usual for %s\n", text);
}

enum fr_status fr__verb_recipe_show(struct fr__call *s, struct fr_error *err)
{
    const struct fr_recipe_value *v;
    struct fr_recipe *r;

    FR_TRY(fr_recipe_load(&r, s->options.arguments[0], err));
    fprintf(s->out, "%s: %s\n", fr_recipe_name(r), fr_recipe_summary(r));
    if (fr_recipe_base(r))
        fprintf(s->out, "builds on %s\n", fr_recipe_base(r));
    print_usual(s->out, s->options.arguments[0]);
    fputc('\n', s->out);
    for (size_t i = 0; (v = fr_recipe_value(r, i)); i++) {
        fprintf(s->out, "  %s%s=%s", v->is_of_question ? "--" : "", v->option, v->text);
        print_where(s->out, v, fr_recipe_name(r));
        fprintf(s->out, "\n      %s\n", v->source);
    }
    for (size_t i = 0; fr_recipe_left_out(r, i); i++)
        fprintf(s->out, "%s  %s\n", i ? "" : "\nleft out:\n", fr_recipe_left_out(r, i));
    if (fr_recipe_n_measured(r) > 0)
        fprintf(s->out, "%s%zu measured steps move compute, host, exchange and software\n",
                fr_recipe_value(r, 0) ? "\n" : "", fr_recipe_n_measured(r));
    fr_recipe_free(r);
    return FR_OK;
}

/* "mine" of the first "-o folder/mine.yaml", and where there is none. */
static void choose_name(const struct fr__options *o, char name[], size_t size)
{
    snprintf(name, size, "mine");
    for (size_t i = 0; i < o->n_files; i++) {
        const char *slash = strrchr(o->files[i], '/');
        const char *file = slash ? slash + 1 : o->files[i];
        size_t n = strlen(file);

        if (n > 5 && strcmp(file + n - 5, ".yaml") == 0) {
            snprintf(name, size, "%.*s", (int)(n - 5), file);
            return;
        }
    }
}

enum fr_status fr__verb_recipe_fit(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_recipe_fit *fit;
    char name[256];
    enum fr_status st;

    FR_TRY(fr__check_files(o, FR_KIND_RECIPE_FIT, err));
    choose_name(o, name, sizeof(name));
    st = fr_recipe_fit(&fit, o->arguments[0],
                       &(struct fr_recipe_fit_options){name, o->question.costs}, &s->context, err);
    fr__end_progress(s);
    FR_TRY(st);
    st = fr__show(s, fr_shown_recipe_fit(fit), err);
    fr_recipe_fit_free(fit);
    return st;
}
