/* tests/support/drawing_check.c - what tests ask of a drawing. */
#include "config.h"

#include "tests/support/drawing_check.h"

#include <check.h>
#include <math.h>
#include <string.h>

char *drawing_text(struct fr_drawing *d, bool is_svg)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(f);
    (is_svg ? fr__drawing_svg : fr_drawing_print)(f, d, false);
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

const struct fr__box *drawing_box(const struct fr_drawing *d, const char *id)
{
    const struct fr__box *b = d->boxes;

    while (b && strcmp(b->id, id) != 0)
        b = b->next;
    return b;
}

const struct fr__box *drawing_labelled(const struct fr_drawing *d, const char *text)
{
    const struct fr__box *found = NULL;

    for (const struct fr__box *b = d->boxes; b; b = b->next) {
        if (strcmp(b->text, text) != 0)
            continue;
        ck_assert_msg(!found, "'%s' twice", text);
        found = b;
    }
    ck_assert_msg(found != NULL, "no box '%s'", text);
    return found;
}

size_t drawing_count(const struct fr_drawing *d, const char *text_start)
{
    size_t n = 0;

    for (const struct fr__box *b = d->boxes; b; b = b->next)
        n += strncmp(b->text, text_start, strlen(text_start)) == 0;
    return n;
}

bool drawing_is_node(const struct fr__box *b)
{
    return b->shape != FR__WORDS && b->shape != FR__FRAME && strncmp(b->id, "key", 3) != 0;
}

/* ---- places ---- */

static bool do_cover(const struct fr__box *a, const struct fr__box *b)
{
    return fabs(a->x - b->x) < (a->w + b->w) / 2 - 1 && fabs(a->y - b->y) < (a->h + b->h) / 2 - 1;
}

static bool is_at(const struct fr__box *b, const double p[2])
{
    double right = fabs(p[0] - b->x) - b->w / 2, up = fabs(p[1] - b->y) - b->h / 2;

    return right < 1 && up < 1 && (right > -1 || up > -1);
}

void drawing_check_places(const struct fr_drawing *d)
{
    for (const struct fr__box *a = d->boxes; a; a = a->next)
        for (const struct fr__box *b = a->next; b && d->is_placed; b = b->next)
            if (drawing_is_node(a) && drawing_is_node(b))
                ck_assert_msg(!do_cover(a, b), "'%s' covers '%s'", a->text, b->text);
    for (const struct fr__wire *w = d->wires; w; w = w->next) {
        const double *first = w->way[0], *last = w->n ? w->way[w->n - 1] : NULL;

        if (w->from && w->n)
            ck_assert_msg((is_at(w->from, first) && is_at(w->to, last)) ||
                              (is_at(w->to, first) && is_at(w->from, last)),
                          "%s to %s goes from (%g, %g) to (%g, %g)", w->from->text, w->to->text,
                          first[0], first[1], last[0], last[1]);
    }
}
