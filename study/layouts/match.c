/* study/layouts/match.c - the rows of a search that have some values: "tp=8,pp=16,recompute=full".
 */
#include "config.h"

#include "study/layouts/state.h"

#include "base/error.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WANTED = 16, MOST_VALUE = 64 };

/* Axes whose values are numbers come first (enum fr__axis). */
#define N_NUMBERS FR__AXIS_SCHEDULE

struct wanted {
    size_t axis[MOST_WANTED];
    uint64_t number[MOST_WANTED];
    char word[MOST_WANTED][MOST_VALUE];
    size_t n;
};

/* One part, "tp=8" of length n. */
static enum fr_status add(struct wanted *w, const char *part, size_t n, struct fr_error *err)
{
    const char *equals = memchr(part, '=', n);
    size_t name = equals ? (size_t)(equals - part) + 1 : 0, value = equals ? n - name : 0;
    char text[FR__AXIS_NAME], *word = w->word[w->n < MOST_WANTED ? w->n : 0];
    enum fr__axis a;

    if (value == 0 || value >= MOST_VALUE)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "\"%.60s\" is not AXIS=VALUE,..., such as tp=8,recompute=full", part);
    if (w->n == MOST_WANTED)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "more than %d values are asked for",
                        MOST_WANTED);
    FR_TRY(fr__search_axis_find(part, name, &a, err));
    memcpy(word, equals + 1, value);
    word[value] = '\0';
    if (a < N_NUMBERS)
        FR_TRY(fr__parse_count(word, fr__search_axis_name(a, text), FR_NOWHERE, 0, UINT32_MAX,
                               &w->number[w->n], err));
    w->axis[w->n++] = a;
    return FR_OK;
}

static enum fr_status read_wanted(struct wanted *w, const char *text, struct fr_error *err)
{
    w->n = 0;
    for (;;) {
        size_t n = strcspn(text, ",");

        FR_TRY(add(w, text, n, err));
        if (text[n] == '\0')
            return FR_OK;
        text += n + 1;
    }
}

enum fr_status fr_search_check_match(const char *text, struct fr_error *err)
{
    struct wanted w;

    return read_wanted(&w, text, err);
}

static bool has(const struct fr_search_layout *l, const struct wanted *w)
{
    const uint32_t numbers[N_NUMBERS] = {l->dp,  l->tp,    l->pp,        l->cp,  l->ep,
                                         l->etp, l->micro, l->n_virtual, l->zero};
    const char *const words[] = {l->pp > 1 ? l->schedule : "none", fr__recompute_name(l->recompute),
                                 l->map ? l->map : "megatron"};

    for (size_t i = 0; i < w->n; i++)
        if (w->axis[i] < N_NUMBERS ? numbers[w->axis[i]] != w->number[i]
                                   : strcmp(words[w->axis[i] - N_NUMBERS], w->word[i]) != 0)
            return false;
    return true;
}

/* What is known best of a row's time. */
static double time_of(const struct fr_search_row *r)
{
    if (r->exact_s > 0)
        return r->exact_s;
    if (r->coarse_s > 0)
        return r->coarse_s;
    return r->bound_s > 0 ? r->bound_s : INFINITY;
}

struct matched {
    double time_s;
    size_t row;
};

static int compare(const void *a, const void *b)
{
    const struct matched *x = a, *y = b;

    if (x->time_s != y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

enum fr_status fr_search_match(const struct fr_search *s, const char *text, size_t most,
                               size_t rows[], size_t *n, struct fr_error *err)
{
    struct matched *all = malloc((s->n_rows + 1) * sizeof(*all));
    struct wanted w;
    enum fr_status st;

    if (!all)
        return fr__fail_nomem(err);
    *n = 0;
    st = read_wanted(&w, text, err);
    for (size_t i = 0; st == FR_OK && i < s->n_rows; i++)
        if (has(&s->rows[i].layout, &w))
            all[(*n)++] = (struct matched){time_of(&s->rows[i]), i};
    qsort(all, *n, sizeof(*all), compare);
    for (size_t i = 0; i < *n && i < most; i++)
        rows[i] = all[i].row;
    free(all);
    return st;
}
