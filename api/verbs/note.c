/* api/verbs/note.c - notes to the user on standard error, apart from the answer. */
#include "config.h"

#include "api/verbs/verbs.h"

#include <stdarg.h>

void fr__note(struct fr__call *s, const char *format, ...)
{
    va_list args;

    fputs("forerun: note: ", s->notes);
    va_start(args, format);
    vfprintf(s->notes, format, args);
    va_end(args);
    putc('\n', s->notes);
}
