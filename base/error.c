/* base/error.c - the sentence of a failure, and the nearest known name. */
#include "config.h"

#include "base/error.h"
#include "base/printable.h"

#include <gsl/gsl_errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fr_init(void)
{
    gsl_set_error_handler_off();
}

const char *fr_version(void)
{
    return PACKAGE_VERSION;
}

/* What does not fit is cut at a character and ends in "...". */
static void copy_printable(char *out, size_t out_size, const char *s, size_t n)
{
    static const char dots[] = "...";
    size_t used = 0, fits = 0; /* fits: where the dots can go */

    while (n > 0) {
        char text[FR__PRINTABLE];
        size_t len, need = fr__printable(s, n, text, &len);

        if (used + need + 1 > out_size) {
            memcpy(out + fits, dots, sizeof(dots));
            return;
        }
        memcpy(out + used, text, need);
        used += need;
        if (used + sizeof(dots) <= out_size)
            fits = used;
        s += len;
        n -= len;
    }
    out[used] = '\0';
}

enum fr_status fr__fail(struct fr_error *err, enum fr_status code, struct fr_loc loc,
                        const char *fmt, ...)
{
    char raw[2 * sizeof(err->text)], file[2 * sizeof(err->file)];
    va_list ap;

    if (!err)
        return code;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof(raw), fmt, ap);
    va_end(ap);
    snprintf(file, sizeof(file), "%s", loc.file ? loc.file : "");
    err->code = code;
    err->line = loc.line;
    err->col = loc.col;
    copy_printable(err->file, sizeof(err->file), file, strlen(file));
    copy_printable(err->text, sizeof(err->text), raw, strlen(raw));
    return code;
}

const char *fr__excerpt(const char *text, char buf[FR__EXCERPT])
{
    size_t n = strlen(text), cut = n;

    if (n >= FR__EXCERPT) {
        /* not inside a character: back to the start of the one that would be cut */
        for (cut = FR__EXCERPT - sizeof("..."); cut > 0; cut--)
            if (((unsigned char)text[cut] & 0xc0) != 0x80)
                break;
    }
    memcpy(buf, text, cut);
    snprintf(buf + cut, FR__EXCERPT - cut, "%s", cut < n ? "..." : "");
    return buf;
}

enum fr_status fr__fail_nomem(struct fr_error *err)
{
    return fr__fail(err, FR_ENOMEM, FR_NOWHERE, "out of memory");
}

const char *fr_error_string(const struct fr_error *err, char *buf, size_t n)
{
    if (n == 0)
        return "";
    if (err->file[0] && err->line && err->col)
        snprintf(buf, n, "%s:%u:%u: %s", err->file, err->line, err->col, err->text);
    else if (err->file[0] && err->line)
        snprintf(buf, n, "%s:%u: %s", err->file, err->line, err->text);
    else if (err->file[0])
        snprintf(buf, n, "%s: %s", err->file, err->text);
    else
        snprintf(buf, n, "%s", err->text);
    return buf;
}

enum { LONGEST_NAME = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance with swapped neighbours as one edit (optimal string alignment: R. Lowrance and
 * R. Wagner, Journal of the ACM 22(2), 1975, restricted); words longer than LONGEST_NAME count as
 * far. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    size_t rows[3][LONGEST_NAME + 1];

    if (na > LONGEST_NAME || nb > LONGEST_NAME)
        return LONGEST_NAME;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3];
        const size_t *last = rows[(i + 2) % 3], *last_but_one = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];

            row[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], row[j - 1]) + 1);
            if (is_swap)
                row[j] = least(row[j], last_but_one[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

const char *fr__nearest(const char *word, const char *const names[], size_t n)
{
    size_t limit = strlen(word) / 3, best = LONGEST_NAME;
    const char *nearest = NULL;

    if (limit == 0)
        limit = 1;
    for (size_t i = 0; i < n && names[i]; i++) {
        size_t d = edit_distance(word, names[i]);
        bool has_common = d < strlen(word) || d < strlen(names[i]); /* 'd' is no slip of 's' */

        if (has_common && d < best) {
            best = d;
            nearest = names[i];
        }
    }
    return best <= limit ? nearest : NULL;
}

enum { MIN_BEGINNING = 3, MAX_HINTS = 4 };

/* ", did you mean 'dgx1-p100' or 'dgx1-v100'?": the names that go on where the word ends, three and
 * dots where there are many; false where there are none. */
static bool hint_by_start(const char *word, const char *const names[], size_t n, char *buf,
                          size_t buf_size)
{
    size_t length = strlen(word), n_fit = 0, used = 0, n_shown;

    for (size_t i = 0; i < n && names[i] && length >= MIN_BEGINNING; i++)
        n_fit += strncmp(names[i], word, length) == 0;
    n_shown = n_fit > MAX_HINTS ? MAX_HINTS - 1 : n_fit;
    for (size_t i = 0, k = 0; k < n_shown; i++) {
        if (strncmp(names[i], word, length) != 0)
            continue;
        used += (size_t)snprintf(buf + used, used < buf_size ? buf_size - used : 0, "%s'%s'",
                                 k == 0                                 ? ", did you mean "
                                 : k + 1 == n_shown && n_shown == n_fit ? " or "
                                                                        : ", ",
                                 names[i]);
        k++;
    }
    used += (size_t)snprintf(buf + used, used < buf_size ? buf_size - used : 0, "%s",
                             n_shown < n_fit ? ", ...?" : "?");
    return n_fit > 0 && used < buf_size;
}

const char *fr__did_you_mean(const char *word, const char *const names[], size_t n, char *buf,
                             size_t buf_size)
{
    const char *name = fr__nearest(word, names, n);
    size_t length = strlen(word);
    bool is_all_but_a_letter =
        name && strncmp(name, word, length) == 0 && name[length] && !name[length + 1];

    if (!is_all_but_a_letter && hint_by_start(word, names, n, buf, buf_size))
        return buf;
    if (name)
        snprintf(buf, buf_size, ", did you mean '%s'?", name);
    else if (buf_size)
        buf[0] = '\0';
    return buf;
}
