/* workloads/graph/native_items.c - cells that hold a list, its items separated by ';'. */
#include "config.h"

#include "workloads/graph/native.h"

#include <string.h>

uint32_t fr__n_items(const char *text)
{
    uint32_t n = text[0] != '\0';

    for (; *text; text++)
        n += *text == ';';
    return n;
}

struct fr__item fr__first_item(const char *text, struct fr_loc loc)
{
    return (struct fr__item){text, 0, loc};
}

struct fr__item fr__next_item(struct fr__item *cursor)
{
    struct fr__item it = *cursor;
    size_t step = it.len = strcspn(it.text, ";");

    step += it.text[it.len] == ';';
    cursor->text += step;
    cursor->loc.col += (unsigned)step;
    return it;
}
