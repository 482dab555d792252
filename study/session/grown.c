/* study/session/grown.c - writes a topology's line with a larger count, and loads it. */
#include "config.h"

#include "study/session/grown.h"

#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of one kind of machine: "32x hgx-h100 via ib:400Gbps". */
struct one_kind {
    uint32_t count;   /* 1 where it is not written */
    const char *rest; /* "hgx-h100 via ib:400Gbps" */
};

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

/* Reads the count in front of a name: "32x NAME", "32 x NAME", "32xNAME". A line that has none is
 * of one. */
static struct one_kind read_line(const char *line)
{
    struct one_kind k = {1, skip_blanks(line)};
    size_t n_digits = strspn(k.rest, "0123456789");
    const char *x = skip_blanks(k.rest + n_digits);
    unsigned long count;

    if (n_digits == 0 || n_digits > 6 || tolower((unsigned char)*x) != 'x')
        return k;
    count = strtoul(k.rest, NULL, 10);
    if (count == 0 || !*skip_blanks(x + 1))
        return k;
    return (struct one_kind){(uint32_t)count, skip_blanks(x + 1)};
}

/* Whether a '+' stands between blanks, as between kinds of machines. */
static bool has_several_kinds(const char *rest)
{
    for (const char *p = strchr(rest, '+'); p; p = strchr(p + 1, '+'))
        if (p > rest && isspace((unsigned char)p[-1]) && isspace((unsigned char)p[1]))
            return true;
    return false;
}

static enum fr_status cannot(const struct fr_setting *s, uint32_t n_gpus, const char *why,
                             struct fr_error *err)
{
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "the measured step is of %u GPUs, '%.60s' has %zu, and it cannot be grown to "
                    "hold them: %s",
                    (unsigned)n_gpus, s->topo->name, s->topo->n_gpus, why);
}

/* Whether the larger cluster has the machines of the smaller one. */
static bool is_of_same_machines(const struct fr_topo *a, const struct fr_topo *b)
{
    if (a->n_types != b->n_types || b->n_gpus < a->n_gpus)
        return false;
    for (size_t i = 0; i < a->n_types; i++)
        if (strcmp(a->types[i].name, b->types[i].name) != 0)
            return false;
    for (size_t i = 0; i < a->n_gpus; i++)
        if (strcmp(a->devices[i].name, b->devices[i].name) != 0)
            return false;
    return true;
}

enum fr_status fr__setting_grow(struct fr_setting *out, const struct fr_setting *s,
                                const struct fr_question *q, uint32_t n_gpus, struct fr_error *err)
{
    struct one_kind k = read_line(q->topology);
    struct fr_question larger = *q;
    size_t each = s->topo->n_gpus / k.count, size = strlen(k.rest) + 24;
    struct fr_error why;
    enum fr_status st;
    char *line;

    if (has_several_kinds(k.rest))
        return cannot(s, n_gpus, "it has several kinds of machines", err);
    if (each == 0 || s->topo->n_gpus % k.count != 0)
        return cannot(s, n_gpus, "it is no number of machines of one kind", err);
    line = malloc(size);
    if (!line)
        return fr__fail_nomem(err);
    snprintf(line, size, "%zux %s", (n_gpus + each - 1) / each, k.rest);
    larger.topology = line;
    st = fr_setting_load(out, &larger, &why);
    free(line);
    if (st == FR_ENOMEM)
        return fr__fail_nomem(err);
    if (st != FR_OK)
        return cannot(s, n_gpus, why.text, err);
    if (!is_of_same_machines(s->topo, out->topo) || out->topo->n_gpus < n_gpus) {
        fr_setting_fini(out);
        return cannot(s, n_gpus, "more of them are not the same machines", err);
    }
    return FR_OK;
}
