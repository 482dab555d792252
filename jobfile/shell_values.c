/* jobfile/shell_values.c - letters that know where they were written, and the variables made of
 * them. Arrays grow in the arena: what they leave behind is bounded by the limit on letters. */
#include "config.h"

#include "jobfile/shell_state.h"

#include <ctype.h>
#include <string.h>

enum { MOST_ITEMS = 1 << 16, MOST_UNKNOWNS = UINT16_MAX - 1, MOST_NOTES = 64 };

enum fr_status fr__shell_room(struct fr__shell_state *s, void *array, size_t n, size_t *cap,
                              size_t size)
{
    size_t want = *cap ? *cap * 2 : 8;
    void *old, *new;

    if (n < *cap)
        return FR_OK;
    new = fr__arena_alloc(s->arena, want, size);
    if (!new)
        return fr__fail_nomem(s->err);
    memcpy(&old, array, sizeof(old));
    if (n > 0)
        memcpy(new, old, n * size);
    memcpy(array, &new, sizeof(new));
    *cap = want;
    return FR_OK;
}

enum fr_status fr__cells_add(struct fr__shell_state *s, struct fr__cells *to, struct fr__cell c)
{
    if (++s->n_cells > FR__SHELL_MOST_CELLS)
        return fr__fail(s->err, FR_ERANGE, fr__cell_loc(s, &c),
                        "expansions give more than %d letters", (int)FR__SHELL_MOST_CELLS);
    FR_TRY(fr__shell_room(s, &to->at, to->n, &to->cap, sizeof(*to->at)));
    to->at[to->n++] = c;
    return FR_OK;
}

enum fr_status fr__cells_append(struct fr__shell_state *s, struct fr__cells *to,
                                const struct fr__cells *from)
{
    for (size_t i = 0; i < from->n; i++)
        FR_TRY(fr__cells_add(s, to, from->at[i]));
    return FR_OK;
}

enum fr_status fr__fields_add(struct fr__shell_state *s, struct fr__fields *to,
                              struct fr__cells cells)
{
    if (to->n >= MOST_ITEMS)
        return fr__fail(s->err, FR_ERANGE, FR_NOWHERE, "a command or array has more than %d words",
                        (int)MOST_ITEMS);
    FR_TRY(fr__shell_room(s, &to->at, to->n, &to->cap, sizeof(*to->at)));
    to->at[to->n++] = cells;
    return FR_OK;
}

enum fr_status fr__cells_add_unknown(struct fr__shell_state *s, struct fr__cells *to,
                                     const char *name, struct fr__cell where)
{
    size_t i = 0;

    while (i < s->n_unknowns && strcmp(s->unknowns[i], name) != 0)
        i++;
    if (i == s->n_unknowns) {
        char *copy = fr__arena_strdup(s->arena, name);

        if (!copy)
            return fr__fail_nomem(s->err);
        if (i >= MOST_UNKNOWNS)
            return fr__fail(s->err, FR_ERANGE, fr__cell_loc(s, &where),
                            "more than %d variables have no value", (int)MOST_UNKNOWNS);
        FR_TRY(fr__shell_room(s, &s->unknowns, i, &s->cap_unknowns, sizeof(*s->unknowns)));
        s->unknowns[s->n_unknowns++] = copy;
    }
    where.c = '?';
    where.unknown = (uint16_t)(i + 1);
    return fr__cells_add(s, to, where);
}

const char *fr__cells_unknown(const struct fr__shell_state *s, const struct fr__cells *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->at[i].unknown)
            return s->unknowns[c->at[i].unknown - 1];
    return NULL;
}

bool fr__cells_are(const struct fr__cells *c, const char *text)
{
    size_t n = strlen(text);

    for (size_t i = 0; i < n; i++)
        if (i >= c->n || c->at[i].c != text[i] || c->at[i].unknown)
            return false;
    return c->n == n;
}

struct fr_loc fr__cell_loc(const struct fr__shell_state *s, const struct fr__cell *c)
{
    return (struct fr_loc){c->file < s->in->n_files ? s->in->files[c->file].name : NULL, c->line,
                           c->col};
}

char *fr__cells_text(struct fr__shell_state *s, const struct fr__cells *c)
{
    char *text = fr__arena_alloc(s->arena, c->n + 1, 1);

    for (size_t i = 0; text && i < c->n; i++)
        text[i] = c->at[i].c;
    return text;
}

enum fr_status fr__cells_word(struct fr__shell_state *s, const struct fr__cells *c,
                              struct fr__shell_word *out)
{
    *out = (struct fr__shell_word){.text = fr__cells_text(s, c),
                                   .loc = c->n ? fr__cell_loc(s, &c->at[0]) : FR_NOWHERE,
                                   .unknown = fr__cells_unknown(s, c)};
    return out->text ? FR_OK : fr__fail_nomem(s->err);
}

enum fr_status fr__fields_join(struct fr__shell_state *s, const struct fr__fields *f,
                               struct fr__cells *out)
{
    *out = (struct fr__cells){.n = 0};
    for (size_t i = 0; i < f->n; i++) {
        struct fr__cell blank = {.c = ' '};

        if (i > 0) {
            if (out->n > 0) {
                blank = out->at[out->n - 1];
                blank.c = ' ';
                blank.unknown = 0;
            }
            FR_TRY(fr__cells_add(s, out, blank));
        }
        FR_TRY(fr__cells_append(s, out, &f->at[i]));
    }
    return FR_OK;
}

/* ---- reading ---- */

bool fr__is_name_letter(char c, bool is_first)
{
    return c == '_' || isalpha((unsigned char)c) || (!is_first && isdigit((unsigned char)c));
}

struct fr_loc fr__scan_loc(const struct fr__shell_state *s, const struct fr__scan *x)
{
    size_t i = x->i < x->text.n ? x->i : x->text.n ? x->text.n - 1 : 0;

    return x->text.n ? fr__cell_loc(s, &x->text.at[i]) : FR_NOWHERE;
}

char fr__scan_at(const struct fr__scan *x, size_t ahead)
{
    size_t i = x->i + ahead;

    return i < x->text.n && !x->text.at[i].unknown ? x->text.at[i].c : i < x->text.n ? '?' : '\0';
}

bool fr__scan_has(const struct fr__scan *x, const char *text)
{
    size_t n = strlen(text);

    for (size_t i = 0; i < n; i++)
        if (x->i + i >= x->text.n || x->text.at[x->i + i].unknown ||
            x->text.at[x->i + i].c != text[i])
            return false;
    return true;
}

struct fr__cells fr__scan_piece(const struct fr__scan *x, size_t first, size_t last)
{
    size_t n = last > first ? last - first : 0;

    return (struct fr__cells){.at = x->text.at + first, .n = n, .cap = n};
}

/* ---- variables ---- */

struct fr__shell_variable *fr__shell_find(struct fr__shell_state *s, const char *name)
{
    for (size_t i = 0; i < s->n_variables; i++)
        if (strcmp(s->variables[i].name, name) == 0)
            return &s->variables[i];
    return NULL;
}

static enum fr_status make_variable(struct fr__shell_state *s, const char *name,
                                    struct fr__shell_variable **out)
{
    char *copy;

    *out = fr__shell_find(s, name);
    if (*out)
        return FR_OK;
    copy = fr__arena_strdup(s->arena, name);
    if (!copy)
        return fr__fail_nomem(s->err);
    if (s->n_variables >= MOST_ITEMS)
        return fr__fail(s->err, FR_ERANGE, FR_NOWHERE, "more than %d variables", (int)MOST_ITEMS);
    FR_TRY(
        fr__shell_room(s, &s->variables, s->n_variables, &s->cap_variables, sizeof(*s->variables)));
    *out = &s->variables[s->n_variables++];
    **out = (struct fr__shell_variable){.name = copy};
    return FR_OK;
}

/* "$(...)" is no name that somebody could give a value: that of the variable is. */
static enum fr_status name_unknown(struct fr__shell_state *s, const char *name,
                                   const struct fr__cells *from, struct fr__cells *to)
{
    *to = (struct fr__cells){.n = 0};
    for (size_t i = 0; i < from->n; i++) {
        const struct fr__cell *c = &from->at[i];

        if (c->unknown && s->unknowns[c->unknown - 1][0] == '$')
            FR_TRY(fr__cells_add_unknown(s, to, name, *c));
        else
            FR_TRY(fr__cells_add(s, to, *c));
    }
    return FR_OK;
}

enum fr_status fr__shell_assign(struct fr__shell_state *s, const char *name,
                                const struct fr__fields *fields, bool is_array, bool adds)
{
    struct fr__shell_variable *v;
    struct fr__cells cells;

    FR_TRY(make_variable(s, name, &v));
    if (v->is_fixed)
        return FR_OK;
    if (!adds)
        v->fields = (struct fr__fields){.n = 0};
    if (is_array || !adds)
        v->is_array = is_array;
    for (size_t i = 0; i < fields->n; i++) {
        FR_TRY(name_unknown(s, name, &fields->at[i], &cells));
        if (adds && !is_array && v->fields.n > 0)
            FR_TRY(fr__cells_append(s, &v->fields.at[0], &cells));
        else
            FR_TRY(fr__fields_add(s, &v->fields, cells));
    }
    return FR_OK;
}

enum fr_status fr__shell_note(struct fr__shell_state *s, struct fr_loc loc, const char *text)
{
    for (size_t i = 0; i < s->n_notes; i++)
        if (s->notes[i].loc.line == loc.line && s->notes[i].loc.file == loc.file)
            return FR_OK;
    if (s->n_notes >= MOST_NOTES)
        return FR_OK;
    FR_TRY(fr__shell_room(s, &s->notes, s->n_notes, &s->cap_notes, sizeof(*s->notes)));
    s->notes[s->n_notes++] = (struct fr__shell_note){loc, text};
    return FR_OK;
}
