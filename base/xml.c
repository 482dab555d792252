/* base/xml.c - the tree of an XML document, and typed reading of its attributes.
 *
 * expat finds tags and checks that the text is well formed; limits, positions and the tree are ours.
 * Entities are never expanded: a document that declares one is refused at the declaration, so no
 * small file becomes a large one.
 */
#include "config.h"

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "base/xml.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 16 << 20 };

#ifdef HAVE_EXPAT
#include <expat.h>

enum { MAX_DEPTH = 64, MAX_ELEMENTS = 200000, MAX_ATTRIBUTES = 64 };

/* An element not yet closed. */
struct frame {
    struct fr__xml *node;
    size_t first; /* of its children in builder.pending */
};

struct builder {
    XML_Parser parser;
    struct fr__arena *arena;
    const char *file;
    struct fr_error *err;
    enum fr_status status; /* the first failure of a handler */

    struct frame frames[MAX_DEPTH];
    size_t depth;
    const struct fr__xml **pending; /* children of the open elements, the outermost first */
    size_t n_pending, pending_cap;
    size_t n_elements;
    const struct fr__xml *root;
};

static struct fr_loc here(const struct builder *b)
{
    return (struct fr_loc){b->file, (unsigned)XML_GetCurrentLineNumber(b->parser),
                           (unsigned)XML_GetCurrentColumnNumber(b->parser) + 1};
}

/* Ends parsing with this failure; a handler returns at once afterwards. */
static void stop(struct builder *b, enum fr_status status)
{
    if (b->status == FR_OK)
        b->status = status;
    XML_StopParser(b->parser, XML_FALSE);
}

static void refuse(struct builder *b, const char *why)
{
    if (b->status == FR_OK)
        stop(b, fr__fail(b->err, FR_EPARSE, here(b), "%s", why));
}

static bool copy_attributes(struct builder *b, struct fr__xml *node, const XML_Char **pairs)
{
    struct fr__xml_attribute *copy;
    size_t n = 0;

    while (pairs[2 * n])
        n++;
    if (n > MAX_ATTRIBUTES) {
        refuse(b, "an element has more than 64 attributes");
        return false;
    }
    copy = fr__arena_alloc(b->arena, n, sizeof(*copy));
    for (size_t i = 0; copy && i < n; i++) {
        copy[i].name = fr__arena_strdup(b->arena, pairs[2 * i]);
        copy[i].value = fr__arena_strdup(b->arena, pairs[2 * i + 1]);
        if (!copy[i].name || !copy[i].value)
            copy = NULL;
    }
    if (!copy)
        stop(b, fr__fail_nomem(b->err));
    node->attributes = copy;
    node->n_attributes = n;
    return copy != NULL;
}

static void on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct builder *b = user;
    struct fr__xml *node;

    if (b->status != FR_OK)
        return;
    if (b->depth == MAX_DEPTH) {
        refuse(b, "nested deeper than 64 elements");
        return;
    }
    if (++b->n_elements > MAX_ELEMENTS) {
        refuse(b, "more than 200000 elements");
        return;
    }
    node = fr__arena_alloc(b->arena, 1, sizeof(*node));
    if (node)
        node->name = fr__arena_strdup(b->arena, name);
    if (!node || !node->name ||
        !fr__grow(&b->pending, &b->pending_cap, b->n_pending + 1, sizeof(*b->pending))) {
        stop(b, fr__fail_nomem(b->err));
        return;
    }
    node->loc = here(b);
    if (!copy_attributes(b, node, attributes))
        return;
    if (b->depth)
        b->pending[b->n_pending++] = node;
    else
        b->root = node;
    b->frames[b->depth++] = (struct frame){node, b->n_pending};
}

static void on_end(void *user, const XML_Char *name)
{
    struct builder *b = user;
    struct frame *f;
    const struct fr__xml **items;
    size_t n;

    (void)name;
    if (b->status != FR_OK)
        return;
    assert(b->depth > 0);
    f = &b->frames[--b->depth];
    n = b->n_pending - f->first;
    items = fr__arena_alloc(b->arena, n, sizeof(*items));
    if (!items) {
        stop(b, fr__fail_nomem(b->err));
        return;
    }
    for (size_t i = 0; i < n; i++)
        items[i] = b->pending[f->first + i];
    f->node->items = items;
    f->node->n = n;
    b->n_pending = f->first;
}

static void on_doctype(void *user, const XML_Char *name, const XML_Char *system,
                       const XML_Char *public_id, int has_internal_subset)
{
    (void)name, (void)system, (void)public_id;
    if (has_internal_subset)
        refuse(user, "the DOCTYPE has declarations of its own, which are not read here");
}

static void on_entity(void *user, const XML_Char *name, int is_parameter, const XML_Char *value,
                      int len, const XML_Char *base, const XML_Char *system,
                      const XML_Char *public_id, const XML_Char *notation)
{
    (void)name, (void)is_parameter, (void)value, (void)len;
    (void)base, (void)system, (void)public_id, (void)notation;
    refuse(user, "an entity is declared, which is not read here");
}

static void on_skipped(void *user, const XML_Char *name, int is_parameter)
{
    (void)name, (void)is_parameter;
    refuse(user, "an entity is used that XML does not have itself");
}

static enum fr_status fail_parser(struct builder *b)
{
    enum XML_Error code = XML_GetErrorCode(b->parser);

    if (code == XML_ERROR_NO_MEMORY)
        return fr__fail_nomem(b->err);
    return fr__fail(b->err, FR_EPARSE, here(b), "not XML: %s", XML_ErrorString(code));
}

static enum fr_status parse(struct builder *b, const char *text, size_t len)
{
    b->parser = XML_ParserCreate(NULL);
    if (!b->parser)
        return fr__fail_nomem(b->err);
    XML_SetUserData(b->parser, b);
    XML_SetElementHandler(b->parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(b->parser, on_doctype);
    XML_SetEntityDeclHandler(b->parser, on_entity);
    XML_SetSkippedEntityHandler(b->parser, on_skipped);
    XML_SetParamEntityParsing(b->parser, XML_PARAM_ENTITY_PARSING_NEVER);
    if (XML_Parse(b->parser, text, (int)len, XML_TRUE) != XML_STATUS_OK && b->status == FR_OK)
        b->status = fail_parser(b);
    XML_ParserFree(b->parser);
    return b->status;
}

enum fr_status fr__xml_load_text(struct fr__arena *a, const char *text, size_t len,
                                 const char *name, const struct fr__xml **out, struct fr_error *err)
{
    char *file = fr__arena_strdup(a, name);
    struct builder *b;
    enum fr_status status;

    if (len > MAX_FILE_BYTES)
        return fr__fail(err, FR_ERANGE, (struct fr_loc){name, 0, 0}, "is larger than 16 MiB");
    b = calloc(1, sizeof(*b));
    if (!file || !b) {
        free(b);
        return fr__fail_nomem(err);
    }
    b->arena = a;
    b->file = file;
    b->err = err;
    status = parse(b, text, len);
    if (status == FR_OK)
        *out = b->root;
    free(b->pending);
    free(b);
    return status;
}

bool fr__xml_is_built(void)
{
    return true;
}

#else

enum fr_status fr__xml_load_text(struct fr__arena *a, const char *text, size_t len,
                                 const char *name, const struct fr__xml **out, struct fr_error *err)
{
    (void)a, (void)text, (void)len, (void)out;
    return fr__fail(err, FR_EUSAGE, (struct fr_loc){name, 0, 0},
                    "is XML, and reading XML is not built in: expat was missing when forerun was "
                    "configured");
}

bool fr__xml_is_built(void)
{
    return false;
}

#endif

enum fr_status fr__xml_load(struct fr__arena *a, const char *path, const struct fr__xml **out,
                            struct fr_error *err)
{
    enum fr_status status;
    char *text;
    size_t len;

    FR_TRY(fr__read_file(path, MAX_FILE_BYTES, &text, &len, err));
    status = fr__xml_load_text(a, text, len, path, out, err);
    free(text);
    return status;
}

/* ---- attributes ---- */

const char *fr__xml_get(const struct fr__xml *element, const char *name)
{
    for (size_t i = 0; i < element->n_attributes; i++)
        if (strcmp(element->attributes[i].name, name) == 0)
            return element->attributes[i].value;
    return NULL;
}

enum fr_status fr__xml_text(const struct fr__xml *element, const char *name, const char **out,
                            struct fr_error *err)
{
    char excerpt[FR__EXCERPT];
    const char *value = fr__xml_get(element, name);

    if (!value)
        return fr__fail(err, FR_EPARSE, element->loc, "<%s> has no '%s'",
                        fr__excerpt(element->name, excerpt), name);
    *out = value;
    return FR_OK;
}

static enum fr_status fail_value(const struct fr__xml *element, const char *name,
                                 enum fr_status code, const char *expected, struct fr_error *err)
{
    char excerpt[FR__EXCERPT], tag[FR__EXCERPT];

    return fr__fail(err, code, element->loc, "'%s' of <%s> is \"%s\", %s expected", name,
                    fr__excerpt(element->name, tag),
                    fr__excerpt(fr__xml_get(element, name), excerpt), expected);
}

enum fr_status fr__xml_integer(const struct fr__xml *element, const char *name, int64_t fallback,
                               int64_t min, int64_t max, int64_t *out, struct fr_error *err)
{
    const char *text = fr__xml_get(element, name);
    const char *digits = text && *text == '-' ? text + 1 : text;
    char expected[96];
    intmax_t value;

    if (!text) {
        *out = fallback;
        return FR_OK;
    }
    if (!*digits || strspn(digits, "0123456789") != strlen(digits))
        return fail_value(element, name, FR_EPARSE, "a whole number", err);
    snprintf(expected, sizeof(expected), "%" PRId64 " to %" PRId64, min, max);
    errno = 0;
    value = strtoimax(text, NULL, 10);
    if (errno == ERANGE || value < min || value > max)
        return fail_value(element, name, FR_ERANGE, expected, err);
    *out = value;
    return FR_OK;
}

enum fr_status fr__xml_number(const struct fr__xml *element, const char *name, double fallback,
                              double min, double max, double *out, struct fr_error *err)
{
    const char *text = fr__xml_get(element, name);
    char expected[96], low[32], high[32];
    const char *end;
    double value;

    if (!text) {
        *out = fallback;
        return FR_OK;
    }
    value = fr__strtod(text, &end);
    if (end == text || *end)
        return fail_value(element, name, FR_EPARSE, "a number", err);
    snprintf(expected, sizeof(expected), "%s to %s", fr__format_double(min, low, sizeof(low)),
             fr__format_double(max, high, sizeof(high)));
    if (!(value >= min && value <= max))
        return fail_value(element, name, FR_ERANGE, expected, err);
    *out = value;
    return FR_OK;
}
