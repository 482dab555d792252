/* base/error.c - the sentence of a failure, and the nearest known name. */
#include "config.h"

#include "base/error.h"

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

/* Length of the valid UTF-8 sequence at s (n bytes there), 0 when it is none. RFC 3629. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3
                                                                 : s[0] < 0xf5   ? 4
                                                                                 : 0;

    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (len == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)))
        return 0;
    if (len == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)))
        return 0;
    return len;
}

static void copy_printable(char *out, size_t out_size, const char *in)
{
    const unsigned char *s = (const unsigned char *)in;
    size_t n = strlen(in), used = 0;

    while (n > 0) {
        size_t len = utf8_length(s, n);
        bool is_control = len == 1 && (s[0] < 0x20 || s[0] == 0x7f);
        /* C1 controls (U+0080 to U+009F) move a terminal's cursor as well */
        bool is_c1 = len == 2 && s[0] == 0xc2 && s[1] < 0xa0;

        if (len == 0 || is_control || is_c1) {
            if (used + 5 > out_size)
                break;
            snprintf(out + used, 5, "\\x%02x", s[0]);
            used += 4;
            len = 1;
        } else {
            if (used + len + 1 > out_size)
                break;
            memcpy(out + used, s, len);
            used += len;
        }
        s += len;
        n -= len;
    }
    out[used] = '\0';
}

enum fr_status fr__fail(struct fr_error *err, enum fr_status code, struct fr_loc loc,
                        const char *fmt, ...)
{
    char raw[sizeof(err->text)];
    va_list ap;

    if (!err)
        return code;
    err->code = code;
    err->line = loc.line;
    err->col = loc.col;
    copy_printable(err->file, sizeof(err->file), loc.file ? loc.file : "");
    va_start(ap, fmt);
    vsnprintf(raw, sizeof(raw), fmt, ap);
    va_end(ap);
    copy_printable(err->text, sizeof(err->text), raw);
    return code;
}

enum fr_status fr__fail_nomem(struct fr_error *err)
{
    return fr__fail(err, FR_ENOMEM, FR_NOWHERE, "out of memory");
}

const char *fr_error_string(const struct fr_error *err, char *buf, size_t n)
{
    if (n == 0)
        return "";
    if (err->file[0] && err->line)
        snprintf(buf, n, "%s:%u:%u: %s", err->file, err->line, err->col, err->text);
    else if (err->file[0])
        snprintf(buf, n, "%s: %s", err->file, err->text);
    else
        snprintf(buf, n, "%s", err->text);
    return buf;
}

enum { LONGEST_NAME = 63 };

/* Levenshtein distance; words longer than LONGEST_NAME count as far. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    size_t row[LONGEST_NAME + 1];

    if (na > LONGEST_NAME || nb > LONGEST_NAME)
        return LONGEST_NAME;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

const char *fr__nearest(const char *word, const char *const names[], size_t n)
{
    size_t limit = strlen(word) / 3, best = LONGEST_NAME;
    const char *nearest = NULL;

    if (limit == 0)
        limit = 1;
    for (size_t i = 0; i < n && names[i]; i++) {
        size_t d = edit_distance(word, names[i]);

        if (d < best) {
            best = d;
            nearest = names[i];
        }
    }
    return best <= limit ? nearest : NULL;
}

const char *fr__did_you_mean(const char *word, const char *const names[], size_t n, char *buf,
                             size_t buf_size)
{
    const char *name = fr__nearest(word, names, n);

    if (name)
        snprintf(buf, buf_size, ", did you mean '%s'?", name);
    else if (buf_size)
        buf[0] = '\0';
    return buf;
}
