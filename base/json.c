/* base/json.c - a JSON writer that keeps its own commas and indents. */
#include "config.h"

#include "base/json.h"
#include "base/units.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void fr__json_init(struct fr__json *j, FILE *f)
{
    memset(j, 0, sizeof(*j));
    j->f = f;
}

static void indent(struct fr__json *j)
{
    putc('\n', j->f);
    for (unsigned i = 0; i < j->depth; i++)
        fputs("  ", j->f);
}

/* The comma, the new line and the key that come before a value. */
static void before_value(struct fr__json *j, const char *key)
{
    if (j->depth > 0) {
        if (j->has_item[j->depth - 1])
            putc(',', j->f);
        if (!j->is_compact[j->depth - 1])
            indent(j);
        else if (j->has_item[j->depth - 1])
            putc(' ', j->f);
        j->has_item[j->depth - 1] = true;
    }
    if (key) {
        fr__json_write_string(j->f, key);
        fputs(": ", j->f);
    }
}

static void after_value(struct fr__json *j)
{
    if (j->depth == 0)
        putc('\n', j->f);
}

void fr__json_open(struct fr__json *j, const char *key, char bracket, bool is_compact)
{
    bool is_inside_compact = j->depth > 0 && j->is_compact[j->depth - 1];

    assert(bracket == '{' || bracket == '[');
    assert(j->depth < FR__JSON_DEPTH);
    before_value(j, key);
    putc(bracket, j->f);
    j->has_item[j->depth] = false;
    j->is_compact[j->depth] = is_compact || is_inside_compact;
    j->depth++;
}

void fr__json_close(struct fr__json *j, char bracket)
{
    assert(bracket == '}' || bracket == ']');
    assert(j->depth > 0);
    j->depth--;
    if (j->has_item[j->depth] && !j->is_compact[j->depth])
        indent(j);
    putc(bracket, j->f);
    after_value(j);
}

void fr__json_splice(struct fr__json *j, const char *object)
{
    size_t n = strlen(object);

    assert(n >= 2 && object[0] == '{' && object[n - 1] == '}');
    if (n == 2)
        return;
    before_value(j, NULL);
    fwrite(object + 1, 1, n - 2, j->f);
}

void fr__json_string(struct fr__json *j, const char *key, const char *text)
{
    before_value(j, key);
    if (text)
        fr__json_write_string(j->f, text);
    else
        fputs("null", j->f);
    after_value(j);
}

void fr__json_number(struct fr__json *j, const char *key, double x)
{
    char buf[32];

    before_value(j, key);
    fputs(isfinite(x) ? fr__format_double(x, buf, sizeof(buf)) : "null", j->f);
    after_value(j);
}

void fr__json_count(struct fr__json *j, const char *key, uint64_t x)
{
    before_value(j, key);
    fprintf(j->f, "%" PRIu64, x);
    after_value(j);
}

void fr__json_bool(struct fr__json *j, const char *key, bool x)
{
    before_value(j, key);
    fputs(x ? "true" : "false", j->f);
    after_value(j);
}

void fr__json_null(struct fr__json *j, const char *key)
{
    fr__json_string(j, key, NULL);
}

/* The two-character escape of c (RFC 8259, section 7), or 0. */
static char short_escape(char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *at = strchr(from, c);

    return at && c ? to[at - from] : 0;
}

void fr__json_write_string(FILE *f, const char *text)
{
    size_t n = strlen(text);

    putc('"', f);
    while (n > 0) {
        size_t len = fr__utf8_length(text, n);
        char escape = short_escape(*text), shown[FR__PRINTABLE];

        if (len == 0) {
            fputs("\xef\xbf\xbd", f); /* U+FFFD */
            len = 1;
        } else if (escape) {
            putc('\\', f);
            putc(escape, f);
        } else if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            fprintf(f, "\\u%04x", (unsigned)(unsigned char)*text);
        } else { /* as itself, or as JSON's own escape, which printable.h writes too */
            fwrite(shown, 1, fr__printable(text, len, shown, &len), f);
        }
        text += len;
        n -= len;
    }
    putc('"', f);
}
