/* calibrate/files/fields.c - reads and writes numbers, strings and misses in files of fitted curves
 * and systems. It is apart because both kinds of file have them. */
#include "config.h"

#include "calibrate/files/fields.h"

#include "base/error.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 32 };

/* ---- reading ---- */

static enum fr_status parse_number(const char *text, const char *what, struct fr_loc loc,
                                   double min, double max, double *out, struct fr_error *err)
{
    if (text[0] != '-' || min >= 0)
        return fr__parse_number(text, what, loc, min, max, out, err);
    FR_TRY(fr__parse_number(text + 1, what, loc, 0, -min, out, err));
    *out = -*out;
    return FR_OK;
}

enum fr_status fr__fit_number(const struct fr__yaml *map, const char *key, double min, double max,
                              double *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    char what[64];

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    snprintf(what, sizeof(what), "'%s'", key);
    return parse_number(text, what, loc, min, max, out, err);
}

enum fr_status fr__fit_count(const struct fr__yaml *map, const char *key, uint64_t max,
                             uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    return fr__parse_count(text, key, loc, 0, max, out, err);
}

enum fr_status fr__fit_text(const struct fr__yaml *map, const char *key, char out[], size_t n,
                            struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    if (strlen(text) >= n)
        return fr__fail(err, FR_ERANGE, loc, "'%s' is longer than %zu bytes", key, n - 1);
    strcpy(out, text);
    return FR_OK;
}

enum fr_status fr__fit_bool(const struct fr__yaml *map, const char *key, bool *out,
                            struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    *out = strcmp(text, "true") == 0;
    if (!*out && strcmp(text, "false") != 0)
        return fr__fail(err, FR_EPARSE, loc, "'%s' is \"%.40s\", expected true or false", key,
                        text);
    return FR_OK;
}

enum fr_status fr__fit_child(const struct fr__yaml *map, const char *key, enum fr__yaml_kind kind,
                             const struct fr__yaml **out, struct fr_error *err)
{
    *out = fr__yaml_get(map, key);
    if (!*out)
        return fr__fail(err, FR_EPARSE, map->loc, "'%s' is missing", key);
    return fr__yaml_expect(*out, kind, key, err);
}

enum fr_status fr__fit_item(const struct fr__yaml *item, const char *what, double min, double max,
                            double *out, struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(item, FR__YAML_SCALAR, what, err));
    return parse_number(item->text, what, item->loc, min, max, out, err);
}

enum fr_status fr__fit_pair(const struct fr__yaml *map, const char *key, double min, double max,
                            double *value, double *error, struct fr_error *err)
{
    const struct fr__yaml *pair;

    FR_TRY(fr__fit_child(map, key, FR__YAML_LIST, &pair, err));
    if (pair->n != 2)
        return fr__fail(err, FR_EPARSE, pair->loc, "'%s' has %zu items, expected [value, error]",
                        key, pair->n);
    FR_TRY(fr__fit_item(pair->items[0], key, min, max, value, err));
    return fr__fit_item(pair->items[1], key, 0, max, error, err);
}

enum fr_status fr__fit_hash(const struct fr__yaml *map, uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, "data_hash", NULL, &text, &loc, err));
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return fr__fail(err, FR_EPARSE, loc, "'data_hash' is \"%.40s\", expected 16 digits 0-9a-f",
                        text);
    *out = strtoull(text, NULL, 16);
    return FR_OK;
}

enum fr_status fr__fit_misses(const struct fr__yaml *map, struct fr_misses *m, struct fr_error *err)
{
    static const char *const known[] = {"rows", "median", "p90", "worst", "bias", NULL};

    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__fit_count(map, "rows", UINT64_C(1) << 48, &m->n, err));
    FR_TRY(fr__fit_number(map, "median", 0, 1e9, &m->median, err));
    FR_TRY(fr__fit_number(map, "p90", 0, 1e9, &m->p90, err));
    FR_TRY(fr__fit_number(map, "worst", 0, 1e9, &m->worst, err));
    return fr__fit_number(map, "bias", -1e9, 1e9, &m->bias, err);
}

/* ---- writing ---- */

void fr__put_number(FILE *f, const char *before, double x, const char *after)
{
    char text[NUMBER];

    fprintf(f, "%s%s%s", before, fr__format_double(x, text, sizeof(text)), after);
}

void fr__put_text(FILE *f, const char *before, const char *key, const char *text)
{
    fprintf(f, "%s%s: '", before, key);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', f);
        putc(*text, f);
    }
    fputs("'\n", f);
}

void fr__put_pair(FILE *f, const char *before, const char *key, double value, double error)
{
    fprintf(f, "%s%s: [", before, key);
    fr__put_number(f, "", value, ", ");
    fr__put_number(f, "", error, "]\n");
}

void fr__put_misses(FILE *f, const struct fr_misses *m)
{
    fprintf(f, "{rows: %" PRIu64, m->n);
    fr__put_number(f, ", median: ", m->median, "");
    fr__put_number(f, ", p90: ", m->p90, "");
    fr__put_number(f, ", worst: ", m->worst, "");
    fr__put_number(f, ", bias: ", m->bias, "}\n");
}
