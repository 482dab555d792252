/* api/options/command.c - the command line as one would type it again. */
#include "config.h"

#include "api/options/options.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Nothing in it means anything to a POSIX shell. */
static bool is_plain(const char *word)
{
    return *word && word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_@%+=:,./-")] == '\0';
}

static void put_word(FILE *f, const char *word)
{
    if (is_plain(word)) {
        fputs(word, f);
        return;
    }
    putc('\'', f);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", f);
        else
            putc(*word, f);
    }
    putc('\'', f);
}

char *fr__command_line(int argc, char *const argv[])
{
    char *text = NULL;
    size_t size;
    FILE *f = fr__text_open(&text, &size);

    if (!f)
        return NULL;
    fputs("forerun", f);
    for (int i = 1; i < argc; i++) {
        putc(' ', f);
        put_word(f, argv[i]);
    }
    (void)fr__text_close(f, &text);
    return text;
}
