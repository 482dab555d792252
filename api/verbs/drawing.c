/* api/verbs/drawing.c - where a drawing goes: files by their ending, or standard output as text. */
#include "config.h"

#include "api/verbs/verbs.h"

enum fr_status fr__check_drawing(const struct fr__call *s, struct fr_error *err)
{
    for (size_t i = 0; i < s->options.n_files; i++)
        FR_TRY(fr_draw_check_path(s->options.files[i], err));
    return FR_OK;
}

enum fr_status fr__write_drawing(struct fr__call *s, struct fr_drawing *d, struct fr_error *err)
{
    enum fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < s->options.n_files; i++)
        st = fr_drawing_save(d, s->options.files[i], &s->context, err);
    if (s->options.n_files == 0)
        st = fr_drawing_write(s->out, d, ".dot", &s->context, err);
    fr_drawing_free(d);
    return st;
}
