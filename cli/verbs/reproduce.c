/* cli/verbs/reproduce.c - a paper's experiments run again. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"
#include "papers/papers.h"

#include <string.h>

static void list(void)
{
    const struct fr_repro_paper *p;

    for (size_t i = 0; (p = fr_repro_paper_at(i)) != NULL; i++) {
        cli_print_row(stdout, p->name, 9, p->summary);
        printf("%12s%s\n", "", p->source);
        if (p->data)
            printf("%12swith the authors' %s\n", "", p->data);
    }
}

static bool ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);

    return n > m && strcmp(path + n - m, ending) == 0;
}

static enum fr_status write(struct session *s, const struct fr_reproduction *r, const char *path,
                            struct fr_error *err)
{
    if (ends_with(path, ".csv"))
        return fr_reproduction_write(r, path, err);
    if (ends_with(path, ".json"))
        return fr_reproduction_write_json(r, path, err);
    if (ends_with(path, ".md"))
        return fr_reproduction_write_markdown(r, path, err);
    return fr_reproduction_draw(r, path, &s->context, err);
}

enum fr_status cli_reproduce(struct session *s, struct fr_error *err)
{
    const struct options *o = &s->options;
    struct fr_reproduction *r;
    enum fr_status st;

    if (strcmp(o->arguments[0], "list") == 0) {
        list();
        return FR_OK;
    }
    if (o->n_arguments > 2)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unexpected argument '%s'", o->arguments[2]);
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_reproduction_check_path(o->arguments[0], o->files[i], err));
    ((struct progress *)s->context.progress_user)->with_time_left = true;
    st = fr_reproduce(&r, o->arguments[0], o->n_arguments > 1 ? o->arguments[1] : NULL, &s->context,
                      err);
    cli_progress_end(s->context.progress_user);
    if (st != FR_OK)
        return st;
    for (size_t i = 0; i < o->n_files && st == FR_OK; i++)
        st = cli_file_done(s, write(s, r, o->files[i], err), err);
    if (st == FR_OK && o->json)
        fr_reproduction_print_json(stdout, r);
    else if (st == FR_OK)
        fr_reproduction_print(stdout, r);
    fr_reproduction_free(r);
    return st;
}
