/* cli/running/colour.c - text for people, with colours where a terminal shows them.
 *
 * It is separate because results/ writes plain text, the same for files and terminals: here some
 * words of it are marked on their way to the screen. No colour where NO_COLOR is set
 * (no-color.org), where TERM is "dumb", or where the output is no terminal.
 */
#include "config.h"

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/running/mpi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Select Graphic Rendition of ECMA-48: 1 bold, 31 red, 32 green, 33 yellow, 36 cyan. */
#define RED "31"
static const struct {
    const char *words, *colour;
} marks[] = {
    {"OUT OF MEMORY", RED}, {"out of memory", RED}, {"OOM", RED},
    {"nothing fits", RED},  {"impossible", "33"},   {"warning:", "33"},
    {"late:", "33"},        {"fits in", "32"},      {"note:", "36"},
};

bool cli_has_colour(int file)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return cli_is_terminal(file) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

static void put_coloured(FILE *f, const char *text, size_t n, const char *colour)
{
    fprintf(f, "\033[%sm%.*s\033[0m", colour, (int)n, text);
}

/* Titles are lines that start at the margin and end in a colon. */
static bool is_title(const char *line, size_t n)
{
    return n > 1 && line[0] != ' ' && line[n - 1] == ':';
}

static void put_line(FILE *f, const char *line, size_t n)
{
    if (is_title(line, n)) {
        put_coloured(f, line, n, "1");
        return;
    }
    for (size_t i = 0; i < n;) {
        size_t k = 0, n_marks = sizeof(marks) / sizeof(marks[0]), m = 0;

        for (; k < n_marks; k++) {
            m = strlen(marks[k].words);
            if (m <= n - i && strncmp(line + i, marks[k].words, m) == 0)
                break;
        }
        if (k < n_marks) {
            put_coloured(f, line + i, m, marks[k].colour);
            i += m;
        } else {
            putc(line[i++], f);
        }
    }
}

void cli_put_coloured(FILE *f, const char *text)
{
    bool is_first = true;

    while (*text) {
        size_t n = strcspn(text, "\n");

        if (is_first)
            put_coloured(f, text, n, "1");
        else
            put_line(f, text, n);
        is_first = false;
        text += n;
        if (*text) {
            putc('\n', f);
            text++;
        }
    }
}

FILE *cli_page_open(struct cli_page *p)
{
    p->is_coloured = cli_has_colour(STDOUT_FILENO);
    p->text = NULL;
    p->f = p->is_coloured ? fr__text_open(&p->text, &p->length) : NULL;
    p->is_coloured = p->f != NULL;
    return p->is_coloured ? p->f : stdout;
}

/* The text as a terminal may show it. */
static void put_printable(FILE *f, const char *text)
{
    size_t n = strlen(text), used = 1;

    for (size_t at = 0; at < n; at += used) {
        char out[FR__PRINTABLE] = {text[at]};

        used = 1;
        if (text[at] != '\n' && text[at] != '\t')
            (void)fr__printable(text + at, n - at, out, &used);
        fputs(out, f);
    }
}

/* Cleans the page, then colours it, since colours are what a terminal acts on. */
static enum fr_status put_page(const char *text, struct fr_error *err)
{
    char *clean = NULL, *coloured = NULL;
    size_t n;
    FILE *f = fr__text_open(&clean, &n);
    enum fr_status st = FR_OK;

    if (f)
        put_printable(f, text);
    if (!f || !fr__text_close(f, &clean) || !(f = fr__text_open(&coloured, &n))) {
        free(clean);
        return fr__fail_nomem(err);
    }
    cli_put_coloured(f, clean);
    st = fr__text_close(f, &coloured) ? cli_terminal_raw(stdout, STDOUT_FILENO, coloured, err)
                                      : fr__fail_nomem(err);
    free(clean);
    free(coloured);
    return st;
}

enum fr_status cli_page_close(struct cli_page *p, enum fr_status st, struct fr_error *err)
{
    if (!p->is_coloured)
        return st;
    if (!fr__text_close(p->f, &p->text))
        return st == FR_OK ? fr__fail_nomem(err) : st;
    if (st == FR_OK)
        st = put_page(p->text, err);
    free(p->text);
    return st;
}
