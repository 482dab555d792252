/* api/verbs/reproduce.c - a paper's experiments run again. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "api/verbs/verbs.h"
#include "papers/papers.h"

#include <string.h>

static void list(FILE *f)
{
    const struct fr_repro_paper *p;

    for (size_t i = 0; (p = fr_repro_paper_at(i)) != NULL; i++) {
        fr__print_row(f, p->name, 9, p->summary);
        fprintf(f, "%12s%s\n", "", p->source);
        if (p->data)
            fprintf(f, "%12swith the authors' %s\n", "", p->data);
    }
}

static enum fr_status write(struct fr__call *s, const struct fr_reproduction *r, const char *path,
                            struct fr_error *err)
{
    if (fr__ends_in(path, ".csv"))
        return fr_reproduction_write(r, path, err);
    if (fr__ends_in(path, ".json"))
        return fr_reproduction_write_json(r, path, err);
    if (fr__ends_in(path, ".md"))
        return fr_reproduction_write_markdown(r, path, err);
    return fr_reproduction_draw(r, path, &s->context, err);
}

enum fr_status fr__verb_reproduce(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_reproduction *r;
    enum fr_status st;

    if (strcmp(o->arguments[0], "list") == 0) {
        list(s->out);
        return FR_OK;
    }
    if (o->n_arguments > 2)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unexpected argument '%s'", o->arguments[2]);
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_reproduction_check_path(o->arguments[0], o->files[i], err));
    s->has_time_left = true;
    st = fr_reproduce(&r, o->arguments[0], o->n_arguments > 1 ? o->arguments[1] : NULL, &s->context,
                      err);
    fr__end_progress(s);
    if (st != FR_OK)
        return st;
    for (size_t i = 0; i < o->n_files && st == FR_OK; i++)
        st = fr__file_done(s, write(s, r, o->files[i], err), err);
    if (st == FR_OK && o->json)
        fr_reproduction_print_json(s->out, r);
    else if (st == FR_OK)
        fr_reproduction_print(s->out, r);
    fr_reproduction_free(r);
    return st;
}
