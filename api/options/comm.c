/* api/options/comm.c - the options of forerun comm. */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "api/options/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A size as nccl-tests takes it: bytes, or with K, M, G behind of 1024, 1024^2, 1024^3. */
static enum fr_status parse_size(const char *value, const char *what, uint64_t *out,
                                 struct fr_error *err)
{
    static const char UNITS[] = "KMG";
    size_t n = strlen(value);
    const char *unit = n > 0 ? strchr(UNITS, toupper((unsigned char)value[n - 1])) : NULL;
    unsigned shift = unit && *unit ? 10 * (unsigned)(unit - UNITS + 1) : 0;
    char digits[32];
    uint64_t bytes = 0;

    if (n > 0 && n < sizeof(digits) && n == (shift ? 1u : 0u))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s is \"%s\", not a number", what, value);
    if (n >= sizeof(digits))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s is too long", what);
    snprintf(digits, sizeof(digits), "%.*s", (int)(shift ? n - 1 : n), value);
    FR_TRY(fr__parse_count(digits, what, FR_NOWHERE, 1, (uint64_t)1 << (50 - shift), &bytes, err));
    *out = bytes << shift;
    return FR_OK;
}

enum fr_status fr__set_comm_min(struct fr__options *o, const char *value, struct fr_error *err)
{
    return parse_size(value, "option '--minbytes'", &o->comm_min_bytes, err);
}

enum fr_status fr__set_comm_max(struct fr__options *o, const char *value, struct fr_error *err)
{
    return parse_size(value, "option '--maxbytes'", &o->comm_max_bytes, err);
}

enum fr_status fr__set_comm_factor(struct fr__options *o, const char *value, struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__parse_count(value, "option '--stepfactor'", FR_NOWHERE, 2, 1 << 20, &n, err));
    o->comm_factor = (uint32_t)n;
    return FR_OK;
}

enum fr_status fr__set_comm_step(struct fr__options *o, const char *value, struct fr_error *err)
{
    return parse_size(value, "option '--stepbytes'", &o->comm_step_bytes, err);
}

/* "4K,1M,25M" */
enum fr_status fr__add_comm_sizes(struct fr__options *o, const char *value, struct fr_error *err)
{
    char word[32];

    for (const char *at = value;; at++) {
        size_t n = strcspn(at, ",");

        if (n >= sizeof(word))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '--sizes': a size is too long");
        snprintf(word, sizeof(word), "%.*s", (int)n, at);
        if (o->n_comm_sizes == FR__MOST_SIZES)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d sizes", FR__MOST_SIZES);
        FR_TRY(parse_size(word, "option '--sizes'", &o->comm_sizes[o->n_comm_sizes], err));
        o->n_comm_sizes++;
        at += n;
        if (!*at)
            return FR_OK;
    }
}

enum fr_status fr__set_comm_type(struct fr__options *o, const char *value, struct fr_error *err)
{
    return fr_comm_type_named(value, &o->comm_type, err);
}

static const char *find_op(const char *name)
{
    for (size_t i = 0; fr_comm_op_at(i); i++)
        if (strcmp(name, fr_comm_op_at(i)) == 0)
            return fr_comm_op_at(i);
    return NULL;
}

/* The reduction may be said by -o too, so two of them are looked for here. */
static enum fr_status set_op(struct fr__options *o, const char *op, struct fr_error *err)
{
    if (o->comm_op)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "two reductions are given, %s and %s",
                        o->comm_op, op);
    o->comm_op = op;
    return FR_OK;
}

enum fr_status fr__set_comm_op(struct fr__options *o, const char *value, struct fr_error *err)
{
    const char *op = find_op(value);

    return op ? set_op(o, op, err)
              : fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                         "no reduction '%s'; known are sum, prod, max, min and avg", value);
}

enum fr_status fr__add_comm_output(struct fr__options *o, const char *value, struct fr_error *err)
{
    const char *op = find_op(value);

    if (op)
        return set_op(o, op, err);
    if (o->n_files == FR__MOST_FILES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d output files", FR__MOST_FILES);
    o->files[o->n_files++] = value;
    return FR_OK;
}

enum fr_status fr__set_comm_links(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value, (void)err;
    o->comm_links = true;
    return FR_OK;
}

enum fr_status fr__set_comm_explain(struct fr__options *o, const char *value, struct fr_error *err)
{
    (void)value, (void)err;
    o->comm_explain = true;
    return FR_OK;
}

/* Keeps a copy of one name; "auto" is the way that is taken without any. */
static enum fr_status add_way(struct fr__options *o, const char *name, size_t n,
                              struct fr_error *err)
{
    char *copy = o->comm_way_text + o->n_comm_way_text;

    if (o->n_comm_ways == FR__MOST_WAYS || n >= sizeof(o->comm_way_text) - o->n_comm_way_text)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d algorithms", FR__MOST_WAYS);
    if (n == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--collective-algorithm' has an empty name");
    snprintf(copy, n + 1, "%s", name);
    o->n_comm_way_text += n + 1;
    o->comm_ways[o->n_comm_ways++] = strcmp(copy, "auto") == 0 ? NULL : copy;
    return FR_OK;
}

/* How long the name "file:PATH" is: to the first comma behind which no path goes on. A path may
 * have commas itself, so the shortest one that is a file is taken; without any, the shortest. */
static size_t file_length(const char *text)
{
    size_t n_prefix = strlen("file:");

    for (size_t n = n_prefix + strcspn(text + n_prefix, ",");;
         n += 1 + strcspn(text + n + 1, ",")) {
        char path[4096];

        if (n - n_prefix >= sizeof(path))
            break;
        snprintf(path, sizeof(path), "%.*s", (int)(n - n_prefix), text + n_prefix);
        if (fr__exists(path))
            return n;
        if (!text[n])
            break;
    }
    return n_prefix + strcspn(text + n_prefix, ",");
}

/* "ring,file:mine.txt,tree" */
enum fr_status fr__add_comm_way(struct fr__options *o, const char *value, struct fr_error *err)
{
    for (const char *at = value;; at++) {
        size_t n = strncmp(at, "file:", 5) == 0 ? file_length(at) : strcspn(at, ",");

        FR_TRY(add_way(o, at, n, err));
        at += n;
        if (!*at)
            return FR_OK;
    }
}
