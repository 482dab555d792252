/* study/validate/anchored.c - finds the one-GPU row that belongs to a row of several GPUs.
 *
 * It is separate from the reading of rows, which knows no second row.
 */
#include "config.h"

#include "study/validate/anchored.h"

#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool is_same_source(const char *a, const char *b)
{
    size_t n = strspn(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");

    return strncmp(a, b, n) == 0 && !isalpha((unsigned char)b[n]) && b[n] != '_';
}

/* "dgx1-v100" of "2x dgx1-v100 via ib:100Gbps"; *n: its length. */
static const char *machine_of(const char *topology, size_t *n)
{
    const char *at = topology + strspn(topology, "0123456789");

    at = at > topology && strncmp(at, "x ", 2) == 0 ? at + 2 : topology;
    *n = strcspn(at, " ");
    return at;
}

static bool is_same_machine(const char *a, const char *b)
{
    size_t n, m;
    const char *x = machine_of(a, &n), *y = machine_of(b, &m);

    return n == m && strncmp(x, y, n) == 0;
}

/* The next of the words at *at that is not --spread, which says where GPUs are and not what one of
 * them does; its length in *n, 0 at the end. */
static const char *next_word(const char **at, size_t *n)
{
    const char *word;

    do {
        word = *at + strspn(*at, " ");
        *n = strcspn(word, " ");
        *at = word + *n;
    } while (*n == strlen("--spread") && strncmp(word, "--spread", *n) == 0);
    return word;
}

static bool are_same_options(const char *a, const char *b)
{
    size_t n, m;

    do {
        const char *x = next_word(&a, &n), *y = next_word(&b, &m);

        if (n != m || strncmp(x, y, n) != 0)
            return false;
    } while (n > 0);
    return true;
}

static bool is_anchor_of(const struct fr_validation_row *one, const struct fr_validation_row *many)
{
    return one->gpus == 1 && one->global_batch * many->gpus == many->global_batch &&
           is_same(one->workload, many->workload) && is_same(one->precision, many->precision) &&
           are_same_options(one->options, many->options) && is_same(one->notes, many->notes) &&
           is_same_source(one->id, many->id) && is_same_machine(one->topology, many->topology);
}

static enum fr_status set_anchor(struct fr__measurements *m, struct fr__measurement *x,
                                 const struct fr_validation_row *one, struct fr_error *err)
{
    char text[48];

    snprintf(text, sizeof(text), "%.9gs", one->measured_s);
    x->question.measured = fr__arena_strdup(m->arena, text);
    x->question.measured_strategy = one->strategy;
    return x->question.measured ? FR_OK : fr__fail_nomem(err);
}

enum fr_status fr__measurements_anchor(struct fr__measurements *m, struct fr_error *err)
{
    for (size_t i = 0; i < m->n; i++) {
        struct fr__measurement *x = &m->list[i];
        size_t k = 0;

        if (x->row.why_not)
            continue;
        if (x->row.gpus == 1) {
            x->row.why_not = "is of one GPU";
            continue;
        }
        while (k < m->n && !is_anchor_of(&m->list[k].row, &x->row))
            k++;
        if (k == m->n)
            x->row.why_not = "has no row of one GPU";
        else
            FR_TRY(set_anchor(m, x, &m->list[k].row, err));
    }
    return FR_OK;
}
