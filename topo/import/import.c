/* topo/import/import.c - the table of importers, and which one a text is for. */
#include "config.h"

#include "base/units.h"
#include "topo/import/defaults.h"
#include "topo/import/import.h"

#include <string.h>

static const struct fr__importer *const importers[] = {
#define ROW(id) &fr__importer_##id,
    FR__IMPORTERS(ROW)
#undef ROW
};

enum { N_IMPORTERS = sizeof(importers) / sizeof(importers[0]), LOOK_AT = 65536 };

const struct fr__importer *fr__importer_at(size_t i)
{
    return i < N_IMPORTERS ? importers[i] : NULL;
}

const struct fr__importer *fr__importer_find(const char *text, size_t len)
{
    for (size_t i = 0; i < N_IMPORTERS; i++)
        if (importers[i]->is(text, len))
            return importers[i];
    return NULL;
}

enum fr_status fr__import(const struct fr__importer *importer, struct fr__arena *a,
                          const char *text, size_t len, const char *path, const char *gpu_type,
                          struct fr__topo_file **out, struct fr_error *err)
{
    struct fr__sketch s;
    enum fr_status status;

    fr__sketch_init(&s, a, path, err);
    s.gpu_type = gpu_type;
    status = importer->read(&s, text, len);
    if (status == FR_OK)
        status = fr__sketch_finish(&s, out);
    fr__sketch_fini(&s);
    return status;
}

enum fr_status fr__import_check_gpu(const char *gpu_type, struct fr_error *err)
{
    const char *names[64] = {NULL};
    char hint[128];

    for (size_t i = 0; i < 63 && fr__gpu_facts_at(i); i++) {
        names[i] = fr__gpu_facts_at(i)->type;
        if (strcmp(names[i], gpu_type) == 0)
            return FR_OK;
    }
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no facts of GPUs of type '%s'%s", gpu_type,
                    fr__did_you_mean(gpu_type, names, SIZE_MAX, hint, sizeof(hint)));
}

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
