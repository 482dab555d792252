/* topo/machines/rented.c - names that clouds give their machines: what to write for those that have
 * no preset.
 *
 * It is separate from aliases.c because these names are not machines here, only hints: a card of a
 * rented machine may be joined in ways that nobody publishes.
 */
#include "config.h"

#include "topo/machines/machines.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool is_joint(char c)
{
    return c == '.' || c == '-' || c == '_';
}

const struct fr__rented *fr__topo_rented_find(const char *word)
{
    const struct fr__rented *r;

    word = fr__topo_plain_name(word);
    for (r = fr__topo_rented; r->name; r++)
        if (strcasecmp(word, r->name) == 0)
            return r;
    for (r = fr__topo_rented; r->name; r++) {
        size_t n = strlen(r->name);

        if (is_joint(r->name[n - 1]) && strncasecmp(word, r->name, n) == 0)
            return r;
    }
    return NULL;
}

static bool ends_with(const char *word, const char *end)
{
    size_t n = strlen(word), n_end = strlen(end);

    return n >= n_end && strcasecmp(word + n - n_end, end) == 0;
}

/* "nd96", "nc24": two letters of Azure's that have GPUs, and a count of cores. */
static bool is_of_azure(const char *word)
{
    return tolower((unsigned char)word[0]) == 'n' && word[1] &&
           strchr("cdvg", tolower((unsigned char)word[1])) && isdigit((unsigned char)word[2]);
}

bool fr__topo_is_rented(const char *word)
{
    const char *plain = fr__topo_plain_name(word);

    return plain != word || ends_with(word, "xlarge") || strstr(word, ".metal") ||
           strstr(word, "gpu-") || is_of_azure(word);
}

/* Letters, digits, letters: "p5", "p4de", "nd96amsr", a machine without its size. */
static bool is_without_size(const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strspn(word, letters), digits = strspn(word + n, "0123456789");

    return n > 0 && digits > 0 && word[n + digits + strspn(word + n + digits, letters)] == '\0';
}

/* How many bytes of a machine's name say its kind; 0: it has no size to leave out. */
static size_t kind_length(const char *word)
{
    size_t n = strlen(word);

    if (is_without_size(word))
        return n;
    while (n > 0 && word[n - 1] != '.' && word[n - 1] != '-')
        n--;
    return n > 1 && fr__topo_is_rented(word) ? n - 1 : 0;
}

static bool is_of_kind(const char *name, const char *kind, size_t n)
{
    return strncasecmp(name, kind, n) == 0 && is_joint(name[n]);
}

const char *fr__topo_same_kind(const char *word)
{
    const char *kind = fr__topo_plain_name(word);
    const struct fr_topo_alias *a;
    const struct fr__rented *r;
    size_t n = kind_length(kind);

    if (n == 0)
        return NULL;
    for (size_t i = 0; (a = fr_topo_alias_at(i)) != NULL; i++)
        if (!a->gpus[0] && is_of_kind(a->name, kind, n))
            return a->name;
    for (size_t i = 0; strpbrk(kind, ".") && fr_topo_preset_name(i); i++)
        if (is_of_kind(fr_topo_preset_name(i), kind, n))
            return fr_topo_preset_name(i);
    for (r = fr__topo_rented; r->name; r++)
        if (is_of_kind(r->name, kind, n))
            return r->write;
    return NULL;
}
