/* study/answer/cluster.c - what an answer says of its machines and of names that stand for
 * something: the NICs between them and what limits those, the machines in use by name, what aliases
 * meant.
 *
 * It is separate because none of it depends on the run.
 */
#include "config.h"

#include "study/answer/record.h"

#include "base/error.h"
#include "base/text.h"
#include "workloads/graph/totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ALIASES = 16 };

/* Adds a line about a name that stood for something else. */
static enum fr_status add_line(struct fr_record *r, struct fr__arena *arena, const char *lines[],
                               const char *name, size_t n_name, const char *spec, const char *more,
                               const char *says, struct fr_error *err)
{
    char text[512];

    if (r->n_stands_for == MOST_ALIASES)
        return FR_OK;
    snprintf(text, sizeof(text), "%.*s stands for %s%s%s (%s)", (int)n_name, name, spec,
             more[0] ? " via " : "", more, says);
    lines[r->n_stands_for] = fr__arena_strdup(arena, text);
    return lines[r->n_stands_for++] ? FR_OK : fr__fail_nomem(err);
}

static enum fr_status fill_aliases(struct fr_record *r, struct fr__arena *arena,
                                   const struct fr__making *m, struct fr_error *err)
{
    const char **lines = fr__arena_alloc(arena, MOST_ALIASES, sizeof(*lines));
    const struct fr_question *q = m->question;
    const struct fr_strategy_alias *s = q->strategy ? fr_strategy_alias_of(q->strategy) : NULL;
    const struct fr_topo_alias *a;
    char name[96];

    if (!lines)
        return fr__fail_nomem(err);
    r->stands_for = lines;
    for (size_t i = 0; q->topology && (a = fr_topo_alias_in(q->topology, i)) != NULL; i++) {
        bool is_said = false;

        for (size_t k = 0; k < i; k++)
            is_said = is_said || fr_topo_alias_in(q->topology, k) == a;
        if (is_said)
            continue;
        if (a->gpus[0])
            snprintf(name, sizeof(name), "%.32sx%.48s", a->gpus, a->name);
        else
            snprintf(name, sizeof(name), "%.90s", a->name);
        FR_TRY(add_line(r, arena, lines, name, strlen(name), a->preset, a->network, a->says, err));
    }
    if (!s || !s->spec[0])
        return FR_OK;
    return add_line(r, arena, lines, q->strategy, strlen(s->name), s->spec, "", s->says, err);
}

/* How many copies of a part have a GPU in use. is_used: [machines]. */
static uint32_t copies_in_use(const struct fr_topo_part *p, const bool is_used[])
{
    uint32_t in_copy = p->n_copies ? p->n_machines / p->n_copies : 0, n = 0;

    for (uint32_t c = 0; in_copy > 0 && c < p->n_copies; c++) {
        bool is_one = false;

        for (uint32_t m = 0; m < in_copy; m++)
            is_one = is_one || is_used[p->first_machine + c * in_copy + m];
        n += is_one;
    }
    return n;
}

/* "hgx-h100:2;dgx2:1" */
static char *machines_text(const struct fr_topo *t, const bool is_used[])
{
    const char *separator = "";
    char *text = NULL;
    size_t length;
    FILE *f = fr__text_open(&text, &length);

    for (size_t i = 0; f && i < t->n_parts; i++) {
        uint32_t n = copies_in_use(&t->parts[i], is_used);

        if (n == 0)
            continue;
        fputs(separator, f);
        for (const char *c = t->parts[i].name; *c; c++)
            putc(*c == ';' || (unsigned char)*c < 0x20 ? '_' : *c, f);
        fprintf(f, ":%u", (unsigned)n);
        separator = ";";
    }
    if (f)
        (void)fr__text_close(f, &text);
    return text;
}

char *fr__machines_in_use(const struct fr_topo *t, const uint32_t devices[], size_t n)
{
    bool *is_used = calloc(t->n_machines + 1, sizeof(*is_used));
    char *text;

    if (!is_used)
        return NULL;
    for (size_t i = 0; i < n; i++)
        is_used[t->devices[devices[i]].machine] = true;
    text = machines_text(t, is_used);
    free(is_used);
    return text;
}

enum fr_status fr__fill_cluster(struct fr_record *r, struct fr__arena *arena,
                                const struct fr__making *m, struct fr_error *err)
{
    struct fr_topo_nics *nics = fr__arena_alloc(arena, FR_TOPO_NICS, sizeof(*nics));
    char *machines = fr__machines_in_use(m->setting->topo, m->devices, m->n_devices);

    r->is_plain = m->setting->topo->is_plain && fr__graph_is_tasks(m->setting->graph);
    r->machines = machines ? fr__arena_strdup(arena, machines) : NULL;
    free(machines);
    if (!r->machines || !nics)
        return fr__fail_nomem(err);
    r->nics = nics;
    if (m->question->is_brief)
        return FR_OK;
    FR_TRY(fr_topo_nics_of(m->setting->topo, m->devices, m->n_devices, nics, FR_TOPO_NICS,
                           &r->n_nics, err));
    return fill_aliases(r, arena, m, err);
}
