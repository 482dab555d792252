/* workloads/import/hf_model.c - which model of the zoo a config.json describes, without loading
 * it. */
#include "config.h"

#include "workloads/import/hf_families.h"
#include "workloads/import/import.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 24 };

/* A family that a value of "model_type" names, which begins behind its quote; NULL: none. */
static const struct fr__hf_family *family_at(const char *type)
{
    size_t n = strcspn(type, "\"");

    for (size_t i = 0; i < fr__n_hf_families; i++)
        if (strlen(fr__hf_families[i].type) == n && strncmp(fr__hf_families[i].type, type, n) == 0)
            return &fr__hf_families[i];
    return NULL;
}

/* Files with several modules name each one's type; the first that is known counts. */
const char *fr__hf_model(const char *path)
{
    static const char key[] = "\"model_type\"";
    const struct fr__hf_family *family = NULL;
    char *text;
    size_t len;

    if (fr__is_folder(path) || fr__read_file(path, MOST_BYTES, &text, &len, NULL) != FR_OK)
        return NULL;
    for (const char *at = strstr(text, key); at && !family; at = strstr(at, key)) {
        at += strlen(key);
        at += strspn(at, " \t\r\n:");
        if (*at == '"')
            family = family_at(at + 1);
    }
    free(text);
    return family ? family->model : NULL;
}
