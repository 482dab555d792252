/* topo/import/common.c - what several importers need: the GPU that stands for an unknown one,
 * numbers, the root of an XML text.
 */
#include "config.h"

#include "base/units.h"
#include "topo/import/import.h"

#include <string.h>

enum { LOOK_AT = 65536 };

const struct fr__gpu_facts *fr__import_gpu(struct fr__sketch *s, const char *fallback)
{
    struct fr__gpu_clues c = {.type = s->gpu_type ? s->gpu_type : fallback, .device = -1};
    enum fr__gpu_match match;

    if (!s->gpu_type)
        fr__sketch_note(s, "processors are taken for %s: the file does not say what they are",
                        fallback);
    return fr__gpu_facts_find(&c, &match);
}

enum fr_status fr__import_number(const struct fr__yaml *node, const char *what, double min,
                                 double max, double *out, struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, what, err));
    return fr__parse_number(node->text, what, node->loc, min, max, out, err);
}

enum fr_status fr__import_count(const struct fr__yaml *node, const char *what, uint64_t min,
                                uint64_t max, uint32_t *out, struct fr_error *err)
{
    uint64_t n = 0;

    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, what, err));
    FR_TRY(fr__parse_count(node->text, what, node->loc, min, max, &n, err));
    *out = (uint32_t)n;
    return FR_OK;
}

/* Behind the next `close` from text on; NULL: there is none. */
static const char *skip_past(const char *text, const char *end, const char *close)
{
    for (size_t n = strlen(close); text + n <= end; text++)
        if (memcmp(text, close, n) == 0)
            return text + n;
    return NULL;
}

/* Past the comment, declaration or DOCTYPE that begins at text; NULL: it does not end. */
static const char *skip_prolog(const char *text, const char *end)
{
    const char *subset, *close;

    if (strncmp(text, "<!--", 4) == 0)
        return skip_past(text, end, "-->");
    subset = skip_past(text, end, "[");
    close = skip_past(text, end, ">");
    if (text[1] != '!' || !subset || !close || subset > close)
        return close;
    subset = skip_past(subset, end, "]");
    return subset ? skip_past(subset, end, ">") : NULL;
}

bool fr__xml_begins_with(const char *text, size_t len, const char *name)
{
    const char *end = text + (len < LOOK_AT ? len : LOOK_AT);
    size_t n = strlen(name);

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    while (text && text < end) {
        if (strchr(" \t\r\n", *text))
            text++;
        else if (*text == '<' && text + 1 < end && (text[1] == '!' || text[1] == '?'))
            text = skip_prolog(text, end);
        else
            return *text == '<' && (size_t)(end - text) > n + 1 && memcmp(text + 1, name, n) == 0 &&
                   strchr(" \t\r\n/>", text[n + 1]);
    }
    return false;
}
