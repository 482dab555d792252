/* cli/running/terminal.c - the one way to standard output and standard error: nothing that a
 * terminal would act on gets through.
 *
 * It is separate because no printing function needs to know of it: the two streams of the process
 * are replaced once, at its start, by streams that write what base/printable.h makes of each
 * character. Ends of lines and tabs stay. Where the C library cannot replace them (other than glibc
 * none of those that we know can), messages and tables are clean by themselves, and names that are
 * printed outside of them are not.
 *
 * What the command itself tells a terminal (colours, the line of progress) goes around it, by
 * cli_terminal_raw().
 */
#include "config.h"

#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All of it; -1: errno says why. */
static int write_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, text, n);

        if (k < 0 && errno != EINTR)
            return -1;
        text += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return 0;
}

enum fr_status cli_terminal_raw(FILE *usual, int fd, const char *text, struct fr_error *err)
{
    if (fflush(usual) == 0 && write_all(fd, text, strlen(text)) == 0)
        return FR_OK;
    return fr__fail(err, FR_EIO, FR_NOWHERE, "cannot write to standard output: %s",
                    strerror(errno));
}

#if defined(HAVE_FOPENCOOKIE) && defined(__GLIBC__)
struct filter {
    int fd;
    char rest[4]; /* of a character whose end is still to come */
    size_t n_rest;
};

/* A block of what is written; the buffer keeps the stream's few large writes. */
struct block {
    char text[1 << 12];
    size_t n;
};

static int put(struct block *b, int fd, const char *text, size_t n)
{
    int failed = 0;

    if (b->n + n > sizeof(b->text)) {
        failed = write_all(fd, b->text, b->n);
        b->n = 0;
    }
    memcpy(b->text + b->n, text, n);
    b->n += n;
    return failed;
}

/* Writes the characters of text, as far as they are there; returns how many bytes that was. */
static size_t put_clean(struct filter *f, struct block *b, const char *text, size_t n, int *failed)
{
    size_t at = 0;

    while (at < n && !*failed) {
        char out[FR__PRINTABLE];
        size_t used = 1, length = 1;

        if (text[at] == '\n' || text[at] == '\t') {
            out[0] = text[at];
        } else if (fr__utf8_length(text + at, n - at) == 0 && fr__utf8_is_cut(text + at, n - at)) {
            break;
        } else {
            length = fr__printable(text + at, n - at, out, &used);
        }
        *failed = put(b, f->fd, out, length);
        at += used;
    }
    return at;
}

static ssize_t write_clean(void *cookie, const char *text, size_t n)
{
    struct filter *f = cookie;
    struct block b = {.n = 0};
    size_t at = 0;
    int failed = 0;

    while (f->n_rest > 0 && at < n && !failed) { /* a character that began in the last write */
        size_t used;

        f->rest[f->n_rest++] = text[at++];
        used = put_clean(f, &b, f->rest, f->n_rest, &failed);
        f->n_rest -= used;
        memmove(f->rest, f->rest + used, f->n_rest);
    }
    at += put_clean(f, &b, text + at, n - at, &failed);
    if (!failed && at < n) {
        f->n_rest = n - at;
        memcpy(f->rest, text + at, f->n_rest);
    }
    if (!failed)
        failed = write_all(f->fd, b.text, b.n);
    return failed ? 0 : (ssize_t)n; /* 0: as fopencookie(3) wants errors of writing */
}

static FILE *open_clean(struct filter *f, int fd, int mode)
{
    const cookie_io_functions_t functions = {.write = write_clean};
    FILE *clean;

    *f = (struct filter){.fd = fd};
    clean = fopencookie(f, "w", functions);
    if (clean)
        (void)setvbuf(clean, NULL, mode, BUFSIZ);
    return clean;
}

bool cli_terminal_begin(struct cli_terminal *t)
{
    struct filter *filters = calloc(2, sizeof(*filters));
    int mode = isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF;

    *t = (struct cli_terminal){.filters = filters, .out = stdout, .err = stderr};
    t->clean_out = filters ? open_clean(&filters[0], STDOUT_FILENO, mode) : NULL;
    t->clean_err = t->clean_out ? open_clean(&filters[1], STDERR_FILENO, _IONBF) : NULL;
    if (!t->clean_err) {
        cli_terminal_end(t);
        return false;
    }
    stdout = t->clean_out;
    stderr = t->clean_err;
    return true;
}

void cli_terminal_end(struct cli_terminal *t)
{
    stdout = t->out;
    stderr = t->err;
    if (t->clean_out)
        fclose(t->clean_out);
    if (t->clean_err)
        fclose(t->clean_err);
    free(t->filters);
}
#else
bool cli_terminal_begin(struct cli_terminal *t)
{
    *t = (struct cli_terminal){.filters = NULL};
    return true;
}

void cli_terminal_end(struct cli_terminal *t)
{
    (void)t;
}
#endif
