/* base/text.c - a stream whose text is kept in memory.
 *
 * glibc's open_memstream() loses what is written while memory is short and reports neither an error
 * of the stream nor a failed fclose() (libio/memstream.c, glibc 2.36), so a text that lacks its
 * middle would pass for whole. A stream with functions of our own notices.
 */
#include "config.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
struct memory {
    char **text;
    size_t *len;
    char *at;
    size_t used, cap; /* cap counts the NUL */
    bool is_broken;
};

static ssize_t put(void *cookie, const char *bytes, size_t n)
{
    struct memory *m = cookie;

    if (n > m->cap - m->used - 1) {
        size_t cap = m->cap * 2 > m->used + n + 1 ? m->cap * 2 : m->used + n + 1;
        char *grown = m->is_broken ? NULL : realloc(m->at, cap);

        if (!grown) {
            m->is_broken = true;
            return 0;
        }
        m->at = grown;
        m->cap = cap;
    }
    memcpy(m->at + m->used, bytes, n);
    m->used += n;
    return (ssize_t)n;
}

static int end(void *cookie)
{
    struct memory *m = cookie;
    bool is_broken = m->is_broken;

    if (is_broken) {
        free(m->at);
    } else {
        m->at[m->used] = '\0';
        *m->text = m->at;
        *m->len = m->used;
    }
    free(m);
    return is_broken ? EOF : 0;
}

FILE *fr__text_open(char **text, size_t *len)
{
    enum { FIRST = 256 };
    static const cookie_io_functions_t functions = {.write = put, .close = end};
    struct memory *m = calloc(1, sizeof(*m));
    FILE *f = NULL;

    *text = NULL;
    *len = 0;
    if (m) {
        *m = (struct memory){.text = text, .len = len, .at = malloc(FIRST), .cap = FIRST};
        f = m->at ? fopencookie(m, "w", functions) : NULL;
    }
    if (!f && m) {
        free(m->at);
        free(m);
    }
    return f;
}
#else
FILE *fr__text_open(char **text, size_t *len)
{
    *text = NULL;
    return open_memstream(text, len);
}
#endif

bool fr__text_close(FILE *f, char **text)
{
    bool is_whole = ferror(f) == 0;

    if (fclose(f) == 0 && is_whole && *text)
        return true;
    free(*text);
    *text = NULL;
    return false;
}
