/* topo/select/named.c - selects GPUs by name: "n0.gpu0,n0.gpu4", "n0..1.gpu0..7".
 *
 * The list comes from the command line, so nothing is expanded before its size is known: a name
 * with ranges may not stand for more GPUs than the topology has.
 */
#include "config.h"

#include "base/hash.h"
#include "topo/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 4, MAX_DIGITS = 9 };

/* One name of the list, as a pattern: text[0], a number of range[0], text[1], ...,
 * text[n_ranges]. */
struct pattern {
    struct {
        const char *start;
        size_t n;
    } text[MAX_RANGES + 1];
    struct {
        uint32_t from, to, at; /* at: the next number */
    } range[MAX_RANGES];
    size_t n_ranges;
};

struct selection {
    const struct fr_topo *topo;
    struct fr__strings names; /* of vertices, numbered as they are */
    bool *is_taken;           /* [n_gpus] */
    uint32_t *devices;        /* [n_gpus], the caller's */
    size_t n;
    struct fr_error *err;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- one vertex ---- */

static enum fr_status fail_unknown(const struct selection *s, const char *name, const char *item)
{
    const struct fr_topo *t = s->topo;
    const char **gpus = calloc(t->n_gpus + 1, sizeof(*gpus));
    char topo[FR__EXCERPT], word[FR__EXCERPT], list[FR__EXCERPT], hint[128],
        of[FR__EXCERPT + 16] = "";

    if (!gpus)
        return fr__fail_nomem(s->err);
    for (size_t d = 0; d < t->n_gpus; d++)
        gpus[d] = t->devices[d].name;
    if (strlen(name) <= FR__MAX_VERTEX_NAME)
        fr__did_you_mean(name, gpus, t->n_gpus, hint, sizeof(hint));
    else
        hint[0] = '\0';
    free(gpus);
    if (strcmp(name, item) != 0)
        snprintf(of, sizeof(of), " (of '%s')", fr__excerpt(item, list));
    return fr__fail(s->err, FR_ENOENT, FR_NOWHERE, "'%s' has no GPU '%s'%s%s",
                    fr__excerpt(t->name, topo), fr__excerpt(name, word), of, hint);
}

static const char *kind_text(enum fr_vertex_kind kind)
{
    switch (kind) {
    case FR_VERTEX_CPU:
        return "a CPU";
    case FR_VERTEX_NIC:
        return "a network card";
    case FR_VERTEX_NVSWITCH:
        return "an NVSwitch";
    case FR_VERTEX_PCIE:
        return "a PCIe switch";
    case FR_VERTEX_SWITCH:
        return "a network switch";
    case FR_VERTEX_GPU:
    case FR_N_VERTEX_KINDS:
        break;
    }
    return "something else";
}

/* item: the item of the list, for messages. */
static enum fr_status take(struct selection *s, const char *name, const char *item)
{
    uint32_t v = fr__strings_find(&s->names, name), device;

    if (v == FR_NONE)
        return fail_unknown(s, name, item);
    if (s->topo->vertices[v].kind != FR_VERTEX_GPU)
        return fr__fail(s->err, FR_ERANGE, FR_NOWHERE, "'%s' is %s, expected a GPU", name,
                        kind_text(s->topo->vertices[v].kind));
    device = s->topo->vertices[v].device;
    if (s->is_taken[device])
        return fr__fail(s->err, FR_ERANGE, FR_NOWHERE, "GPU '%s' is named twice", name);
    s->is_taken[device] = true;
    s->devices[s->n++] = device;
    return FR_OK;
}

/* ---- ranges ---- */

/* digits: [n]; what follows is not a digit. */
static enum fr_status read_number(const struct selection *s, const char *item, const char *digits,
                                  size_t n, uint32_t *out)
{
    char word[FR__EXCERPT];

    if (n > MAX_DIGITS)
        return fr__fail(s->err, FR_ERANGE, FR_NOWHERE,
                        "'%s' has a number of %zu digits, expected %d at most",
                        fr__excerpt(item, word), n, MAX_DIGITS);
    if (n > 1 && digits[0] == '0')
        return fr__fail(s->err, FR_EPARSE, FR_NOWHERE,
                        "'%s': the numbers of a range start with no 0", fr__excerpt(item, word));
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out = 10 * *out + (uint32_t)(digits[i] - '0');
    return FR_OK;
}

/* Reads the range whose two dots are at `dots`, in what starts at *text; *text is then what comes
 * after it. */
static enum fr_status read_range(const struct selection *s, const char *item, const char **text,
                                 const char *dots, struct pattern *p)
{
    const char *from = dots, *end = dots + 2;
    size_t k = p->n_ranges;
    char word[FR__EXCERPT];

    while (from > *text && is_digit(from[-1]))
        from--;
    while (is_digit(*end))
        end++;
    if (from == dots || end == dots + 2)
        return fr__fail(s->err, FR_EPARSE, FR_NOWHERE,
                        "'%s' is no range, expected numbers on both sides of '..', such as gpu0..3",
                        fr__excerpt(item, word));
    if (k == MAX_RANGES)
        return fr__fail(s->err, FR_ERANGE, FR_NOWHERE, "'%s' has more than %d ranges",
                        fr__excerpt(item, word), MAX_RANGES);
    FR_TRY(read_number(s, item, from, (size_t)(dots - from), &p->range[k].from));
    FR_TRY(read_number(s, item, dots + 2, (size_t)(end - dots - 2), &p->range[k].to));
    if (p->range[k].to < p->range[k].from)
        return fr__fail(s->err, FR_ERANGE, FR_NOWHERE, "'%s': the range %u..%u runs backwards",
                        fr__excerpt(item, word), p->range[k].from, p->range[k].to);
    p->range[k].at = p->range[k].from;
    p->text[k].start = *text;
    p->text[k].n = (size_t)(from - *text);
    p->n_ranges++;
    *text = end;
    return FR_OK;
}

static enum fr_status read_pattern(const struct selection *s, const char *item, struct pattern *p)
{
    const char *text = item, *dots;
    uint64_t n = 1;
    char word[FR__EXCERPT], topo[FR__EXCERPT];

    p->n_ranges = 0;
    while ((dots = strstr(text, "..")) != NULL) {
        FR_TRY(read_range(s, item, &text, dots, p));
        n *= (uint64_t)p->range[p->n_ranges - 1].to - p->range[p->n_ranges - 1].from + 1;
        if (n > s->topo->n_gpus)
            return fr__fail(s->err, FR_ERANGE, FR_NOWHERE,
                            "'%s' stands for more GPUs than '%s' has, which is %zu",
                            fr__excerpt(item, word), fr__excerpt(s->topo->name, topo),
                            s->topo->n_gpus);
    }
    p->text[p->n_ranges].start = text;
    p->text[p->n_ranges].n = strlen(text);
    return FR_OK;
}

/* Writes the name at the pattern's numbers. false: it is longer than any vertex's. */
static bool write_name(const struct pattern *p, char name[FR__MAX_VERTEX_NAME + 1])
{
    size_t used = 0;

    for (size_t k = 0; k <= p->n_ranges; k++) {
        char number[MAX_DIGITS + 2] = "";
        size_t n_digits;

        if (k < p->n_ranges)
            snprintf(number, sizeof(number), "%u", p->range[k].at);
        n_digits = strlen(number);
        if (p->text[k].n > FR__MAX_VERTEX_NAME ||
            used + p->text[k].n + n_digits > FR__MAX_VERTEX_NAME)
            return false;
        memcpy(name + used, p->text[k].start, p->text[k].n);
        memcpy(name + used + p->text[k].n, number, n_digits);
        used += p->text[k].n + n_digits;
    }
    name[used] = '\0';
    return true;
}

/* Goes to the next numbers; the last range varies fastest. false: there are no more. */
static bool advance(struct pattern *p)
{
    for (size_t k = p->n_ranges; k-- > 0;) {
        if (p->range[k].at < p->range[k].to) {
            p->range[k].at++;
            return true;
        }
        p->range[k].at = p->range[k].from;
    }
    return false;
}

static enum fr_status take_item(struct selection *s, const char *item)
{
    char name[FR__MAX_VERTEX_NAME + 1];
    struct pattern p;

    /* a name may have two dots in it */
    if (!strstr(item, "..") || fr__strings_find(&s->names, item) != FR_NONE)
        return take(s, item, item);
    FR_TRY(read_pattern(s, item, &p));
    do {
        if (!write_name(&p, name))
            return fail_unknown(s, item, item);
        FR_TRY(take(s, name, item));
    } while (advance(&p));
    return FR_OK;
}

/* ---- the list ---- */

/* Splits the list into its names, in place. */
static enum fr_status take_list(struct selection *s, char *list)
{
    for (char *item = list;;) {
        size_t n = strcspn(item, ",");
        bool is_last = item[n] == '\0';

        if (n == 0)
            return fr__fail(s->err, FR_EPARSE, FR_NOWHERE,
                            "a list of GPUs has an empty name, expected names with one comma "
                            "between two, such as n0.gpu0,n0.gpu4");
        item[n] = '\0';
        FR_TRY(take_item(s, item));
        if (is_last)
            return FR_OK;
        item += n + 1;
    }
}

static bool add_names(struct selection *s)
{
    bool is_new;

    for (size_t v = 0; v < s->topo->n_vertices; v++)
        if (fr__strings_add(&s->names, s->topo->vertices[v].name, &is_new) == FR_NONE)
            return false;
    return true;
}

enum fr_status fr_topo_select_named(const struct fr_topo *t, const char *text, uint32_t devices[],
                                    size_t *n, struct fr_error *err)
{
    struct selection s = {.topo = t, .devices = devices, .err = err};
    char *list = strdup(text);
    enum fr_status st;

    s.is_taken = calloc(t->n_gpus + 1, sizeof(*s.is_taken));
    st = list && s.is_taken && add_names(&s) ? take_list(&s, list) : fr__fail_nomem(err);
    fr__strings_fini(&s.names);
    free(s.is_taken);
    free(list);
    if (st == FR_OK)
        *n = s.n;
    return st;
}
