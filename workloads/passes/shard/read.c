/* workloads/passes/shard/read.c - a user's own layout, from a file.
 *
 *     op,axis,placement
 *     conv*,tp,samples
 *     fc6,tp,S(1)
 *
 * A line speaks of the forward ops whose names match; '*' stands for any characters, '?' for one.
 * The placement is that of the op's first output, R, P or S(dimension), or the name of a split. The
 * last line that matches an op counts. What no line names is derived.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 10000, MAX_PATTERN = 256 };

/* ---- placements ---- */

enum what { SPLIT, WHOLE, PARTIAL, DIMENSION };

struct placement {
    enum what what;
    enum fr__split split;
    int dim;
};

static bool parse_placement(const char *text, struct placement *p)
{
    *p = (struct placement){.what = SPLIT};
    for (unsigned i = 0; i < FR__N_SPLITS; i++)
        if (strcmp(text, fr__split_name((enum fr__split)i)) == 0) {
            p->split = (enum fr__split)i;
            return true;
        }
    if (strcmp(text, "R") == 0 || strcmp(text, "P") == 0) {
        p->what = text[0] == 'R' ? WHOLE : PARTIAL;
        return true;
    }
    if (text[0] != 'S' || text[1] != '(' || !isdigit((unsigned char)text[2]) || text[3] != ')' ||
        text[4] != '\0')
        return false;
    p->what = DIMENSION;
    p->dim = text[2] - '0';
    return p->dim < FR_MAX_DIMS;
}

/* The split of op o that gives its first output that placement; FR__N_SPLITS: none does. */
static enum fr__split split_for(const struct fr_graph *g, uint32_t o, const struct placement *p)
{
    if (p->what == SPLIT)
        return p->split <= FR__SPLIT_NONE || fr__shard_has_loop(g, o, p->split) ? p->split
                                                                                : FR__N_SPLITS;
    if (p->what == WHOLE)
        return FR__SPLIT_NONE;
    for (unsigned i = FR__SPLIT_SAMPLES; i < FR__N_SPLITS; i++) {
        enum fr__split split = (enum fr__split)i;
        bool is_it = p->what == PARTIAL ? fr__shard_sums_over(g, o, split)
                                        : g->ops[o].n_tensors > 0 &&
                                              fr__shard_output_dim(g, o, 0, split) == p->dim;

        if (is_it)
            return split;
    }
    return FR__N_SPLITS;
}

/* ---- lines ---- */

struct reading {
    const struct fr_graph *g;
    const char *const *axes;
    size_t n_axes, n_lines;
    uint8_t *split; /* [n_axes * n_ops] */
};

static enum fr_status find_axis(const struct reading *r, const struct fr__cell *cell, size_t *axis,
                                struct fr_error *err)
{
    char hint[128], text[FR__EXCERPT];

    for (*axis = 0; *axis < r->n_axes; ++*axis)
        if (strcmp(cell->text, r->axes[*axis]) == 0)
            return FR_OK;
    return fr__fail(err, FR_EUSAGE, cell->loc, "the mesh has no axis '%s'%s",
                    fr__excerpt(cell->text, text),
                    fr__did_you_mean(cell->text, r->axes, r->n_axes, hint, sizeof(hint)));
}

enum { OP, AXIS, PLACEMENT };

static enum fr_status read_line(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct reading *r = user;
    const struct fr_graph *g = r->g;
    struct placement p;
    char text[FR__EXCERPT];
    bool has_match = false;
    size_t axis = 0;

    if (++r->n_lines > MAX_LINES)
        return fr__fail(err, FR_EPARSE, cells[OP].loc, "more than %d lines", MAX_LINES);
    if (strlen(cells[OP].text) > MAX_PATTERN)
        return fr__fail(err, FR_EPARSE, cells[OP].loc, "a name of over %d bytes", MAX_PATTERN);
    FR_TRY(find_axis(r, &cells[AXIS], &axis, err));
    if (!parse_placement(cells[PLACEMENT].text, &p))
        return fr__fail(err, FR_EPARSE, cells[PLACEMENT].loc,
                        "'placement' is \"%s\", not R, P, S(dimension), samples, sequence, "
                        "columns, depth, none or derived",
                        fr__excerpt(cells[PLACEMENT].text, text));
    for (uint32_t o = 0; o < g->n_ops; o++) {
        enum fr__split split;

        if (g->ops[o].phase != FR_PHASE_FORWARD ||
            !fr__name_matches(cells[OP].text, g->ops[o].name))
            continue;
        has_match = true;
        split = split_for(g, o, &p);
        if (split == FR__N_SPLITS)
            return fr__fail(err, FR_EUSAGE, cells[PLACEMENT].loc, "op '%s' (%s) cannot have %s",
                            g->ops[o].name, fr_op_kind_name(g->ops[o].kind), cells[PLACEMENT].text);
        r->split[axis * g->n_ops + o] = (uint8_t)split;
    }
    if (!has_match)
        return fr__fail(err, FR_EUSAGE, cells[OP].loc, "'%s' has no forward op '%s'", g->name,
                        fr__excerpt(cells[OP].text, text));
    return FR_OK;
}

static const struct fr__csv_column columns[] = {
    [OP] = {"op", true}, [AXIS] = {"axis", true}, [PLACEMENT] = {"placement", true}, {0}};

static bool begin(struct reading *r)
{
    r->split = calloc(r->n_axes * r->g->n_ops + 1, sizeof(*r->split)); /* FR__SPLIT_DERIVED is 0 */
    return r->split != NULL;
}

static enum fr_status end(struct reading *r, enum fr_status st, uint8_t *const split[])
{
    for (size_t a = 0; st == FR_OK && a < r->n_axes; a++)
        memcpy(split[a], &r->split[a * r->g->n_ops], r->g->n_ops);
    free(r->split);
    return st;
}

enum fr_status fr__shard_read(const char *path, const struct fr_graph *g, const char *const axes[],
                              size_t n_axes, uint8_t *const split[], struct fr_error *err)
{
    struct reading r = {.g = g, .axes = axes, .n_axes = n_axes};

    if (!begin(&r))
        return fr__fail_nomem(err);
    return end(&r, fr__csv_read(path, columns, read_line, &r, err), split);
}

enum fr_status fr__shard_read_text(const char *text, size_t len, const char *name,
                                   const struct fr_graph *g, const char *const axes[],
                                   size_t n_axes, uint8_t *const split[], struct fr_error *err)
{
    struct reading r = {.g = g, .axes = axes, .n_axes = n_axes};

    if (!begin(&r))
        return fr__fail_nomem(err);
    return end(&r, fr__csv_read_text(text, len, name, columns, read_line, &r, err), split);
}
