/* lowering/schedules/read.c - a schedule from CSV `rank,index,action`, and back. */
#include "config.h"

#include "base/csv.h"
#include "base/error.h"
#include "lowering/schedules/action.h"
#include "lowering/schedules/maker.h"

#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t rank, index;
    unsigned line;
    struct fr_action action;
};

struct rows {
    struct row *rows;
    size_t n, cap;
};

static enum fr_status add_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct rows *all = user;
    uint64_t rank, index;
    struct row *row;
    char quoted[FR__EXCERPT];

    if (all->n == FR_SCHEDULE_MOST_ACTIONS)
        return fr__fail(err, FR_ERANGE, cells[0].loc, "more than %d actions",
                        FR_SCHEDULE_MOST_ACTIONS);
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 256;
        struct row *more = realloc(all->rows, cap * sizeof(*more));

        if (!more)
            return fr__fail_nomem(err);
        all->rows = more;
        all->cap = cap;
    }
    FR_TRY(fr__cell_count(&cells[0], "rank", 0, FR_SCHEDULE_MOST_RANKS - 1, &rank, err));
    FR_TRY(fr__cell_count(&cells[1], "index", 0, FR_SCHEDULE_MOST_ACTIONS - 1, &index, err));
    row = &all->rows[all->n];
    *row =
        (struct row){.rank = (uint32_t)rank, .index = (uint32_t)index, .line = cells[0].loc.line};
    if (!fr__action_parse(cells[2].text, &row->action))
        return fr__fail(err, FR_EPARSE, cells[2].loc,
                        "'action' is \"%s\", not one like 2F3, 2B3, 2I3, 2W3 or "
                        "(0F3;3B5)OVERLAP_F_B",
                        fr__excerpt(cells[2].text, quoted));
    all->n++;
    return FR_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static uint32_t at_least(uint32_t n, uint32_t number)
{
    return number != FR_NONE && number >= n ? number + 1 : n;
}

static void count_sizes(struct fr_schedule *s, const struct fr_action *a)
{
    s->n_stages = at_least(s->n_stages, a->stage);
    s->n_micros = at_least(s->n_micros, a->micro);
    if (a->with != FR_ACTION_NONE) {
        s->n_stages = at_least(s->n_stages, a->with_stage);
        s->n_micros = at_least(s->n_micros, a->with_micro);
    }
}

/* The rows, sorted, become lists; in each rank the indices must count up from 0. */
static enum fr_status fill(struct fr_schedule *s, const struct rows *all, const char *name,
                           struct fr_error *err)
{
    uint32_t rank = 0;

    for (size_t i = 0; i < all->n; i++) {
        const struct row *row = &all->rows[i];
        struct fr_loc loc = {name, row->line, 0};

        while (rank < row->rank)
            fr__schedule_rank(s, ++rank);
        if (row->index + s->first[rank] != i)
            return fr__fail(err, FR_EPARSE, loc,
                            "rank %u has index %u where %zu is expected: indices count up from 0",
                            rank, row->index, i - s->first[rank]);
        s->actions[s->n_actions++] = row->action;
        count_sizes(s, &row->action);
    }
    s->first[s->n_ranks] = s->n_actions;
    s->n_virtual = s->n_ranks > 0 ? (s->n_stages + s->n_ranks - 1) / s->n_ranks : 0;
    return FR_OK;
}

/* The last part of the path, as much of it as fits. */
static void set_name(struct fr_schedule *s, const char *path)
{
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
    size_t n = strlen(from);

    n = n < sizeof(s->name) ? n : sizeof(s->name) - 1;
    memcpy(s->name, from, n);
    s->name[n] = '\0';
}

static const struct fr__csv_column columns[] = {
    {"rank", true}, {"index", true}, {"action", true}, {NULL, false}};

static enum fr_status finish(struct fr_schedule **out, struct rows *all, const char *name,
                             struct fr_error *err)
{
    struct fr_schedule *s = NULL;
    enum fr_status st;

    if (all->n == 0)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){name, 0, 0}, "there are no actions");
    qsort(all->rows, all->n, sizeof(*all->rows), compare_rows);
    FR_TRY(fr__schedule_new(&s, all->rows[all->n - 1].rank + 1, all->n, err));
    set_name(s, name);
    st = fill(s, all, name, err);
    if (st != FR_OK) {
        fr_schedule_free(s);
        return st;
    }
    *out = s;
    return FR_OK;
}

enum fr_status fr_schedule_load(struct fr_schedule **out, const char *path, struct fr_error *err)
{
    struct rows all = {0};
    enum fr_status st = fr__csv_read(path, columns, add_row, &all, err);

    if (st == FR_OK)
        st = finish(out, &all, path, err);
    free(all.rows);
    return st;
}

enum fr_status fr_schedule_load_text(struct fr_schedule **out, const char *text, size_t len,
                                     const char *name, struct fr_error *err)
{
    struct rows all = {0};
    enum fr_status st = fr__csv_read_text(text, len, name, columns, add_row, &all, err);

    if (st == FR_OK)
        st = finish(out, &all, name, err);
    free(all.rows);
    return st;
}

bool fr_schedule_write_csv(FILE *f, const struct fr_schedule *s)
{
    fputs("rank,index,action\n", f);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            char text[FR_ACTION_TEXT];

            fprintf(f, "%u,%zu,%s\n", r, i - s->first[r], fr_action_text(&s->actions[i], text));
        }
    return !ferror(f);
}

/* ---- by name or from a file ---- */

static enum fr_status check_asked(const struct fr_schedule *s, const struct fr_schedule_spec *spec,
                                  struct fr_error *err)
{
    if (spec->n_ranks > 0 && spec->n_ranks != s->n_ranks)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "schedule '%s' is for %u ranks, not %u",
                        s->name, s->n_ranks, spec->n_ranks);
    if (spec->n_micros > 0 && spec->n_micros != s->n_micros)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "schedule '%s' is for %u micro-batches, not %u",
                        s->name, s->n_micros, spec->n_micros);
    if (spec->group > 0 || spec->n_virtual > 0 || spec->backward != FR_BACKWARD_DEFAULT ||
        spec->vertical_sync)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "the order in '%s' is fixed", s->name);
    return FR_OK;
}

enum fr_status fr_schedule_get(struct fr_schedule **out, const struct fr_schedule_spec *spec,
                               struct fr_error *err)
{
    static const char prefix[] = "file:";
    bool is_file = strncmp(spec->name, prefix, sizeof(prefix) - 1) == 0;
    struct fr_schedule *s = NULL;
    enum fr_status st = is_file ? fr_schedule_load(&s, spec->name + sizeof(prefix) - 1, err)
                                : fr_schedule_make(&s, spec, err);

    if (st == FR_OK && is_file)
        st = check_asked(s, spec, err);
    if (st == FR_OK)
        st = fr_schedule_check(s, err);
    if (st != FR_OK) {
        fr_schedule_free(s);
        return st;
    }
    *out = s;
    return FR_OK;
}
