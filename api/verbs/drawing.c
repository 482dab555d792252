/* api/verbs/drawing.c - where a drawing goes: files by their ending, or standard output as text. */
#include "config.h"

#include "api/verbs/verbs.h"
#include "results/show.h"

enum fr_status fr__write_drawing(struct fr__call *s, struct fr_drawing *d, struct fr_error *err)
{
    const struct fr_drawing_answer a = {d};
    enum fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < s->options.n_files; i++)
        st = fr_show_file(fr_shown_drawing(&a), s->options.files[i], &s->context, err);
    if (s->options.n_files == 0)
        fr_drawing_print(s->out, d, s->context.is_grey);
    fr_drawing_free(d);
    return st;
}
