/* study/sweep/nics.c - the NICs between the machines that a sweep's questions use.
 *
 * It is separate from the digests of inputs: this is said to people and changes no answer.
 */
#include "config.h"

#include "study/sweep/state.h"

#include "base/error.h"
#include "study/answer/record.h"

#include <stdlib.h>

/* The GPUs that any of the questions uses of a topology. */
struct used {
    const struct fr_topo *topo;
    bool *is_used; /* [n_gpus] */
    bool is_wide;  /* a question has several machines */
};

/* Marks the GPUs of one question; nothing where it cannot be asked of this topology. */
static enum fr_status mark(struct used *u, const struct fr_question *q)
{
    uint32_t *devices;
    size_t n;
    enum fr_status st = fr__devices_choose(&devices, &n, u->topo, q, NULL);

    if (st != FR_OK)
        return st == FR_ENOMEM ? st : FR_OK;
    for (size_t i = 0; i < n; i++) {
        u->is_used[devices[i]] = true;
        u->is_wide = u->is_wide ||
                     u->topo->devices[devices[i]].machine != u->topo->devices[devices[0]].machine;
    }
    free(devices);
    return FR_OK;
}

/* Marks the GPUs of every combination of the settings that choose them, from `setting` on. */
static enum fr_status mark_all(struct used *u, const struct fr_sweep *s, struct fr_question *q,
                               size_t setting)
{
    static const char *const CHOOSING[] = {"gpus", "spread", "devices"};
    const struct fr__axis *axis;

    if (setting == sizeof(CHOOSING) / sizeof(CHOOSING[0]))
        return mark(u, q);
    axis = &s->axes[fr__setting_index(CHOOSING[setting])];
    if (axis->n == 0)
        return mark_all(u, s, q, setting + 1);
    for (size_t i = 0; i < axis->n; i++) {
        FR_TRY(fr_question_set(q, CHOOSING[setting], axis->values[i], NULL));
        FR_TRY(mark_all(u, s, q, setting + 1));
    }
    return FR_OK;
}

static enum fr_status fill(struct fr__sweep_nics *out, struct used *u, struct fr_error *err)
{
    uint32_t *list = calloc(u->topo->n_gpus + 1, sizeof(*list));
    enum fr_status st;
    size_t n = 0;

    if (!list)
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < u->topo->n_gpus; i++)
        if (u->is_used[i])
            list[n++] = i;
    st = fr_topo_nics_of(u->topo, list, n, out->kinds, FR_TOPO_NICS, &out->n, err);
    free(list);
    return st;
}

enum fr_status fr__sweep_add_nics(struct fr_sweep *s, const struct fr_topo *t, const char *spec,
                                  struct fr_error *err)
{
    struct used u = {t, calloc(t->n_gpus + 1, sizeof(*u.is_used)), false};
    struct fr__sweep_nics nics = {.topology = fr__arena_strdup(s->arena, spec)};
    enum fr_status st = FR_ENOMEM;
    struct fr_question q;

    fr_question_init(&q);
    if (u.is_used && nics.topology)
        st = mark_all(&u, s, &q, 0);
    if (st == FR_OK && u.is_wide)
        st = fill(&nics, &u, err);
    else if (st == FR_ENOMEM)
        (void)fr__fail_nomem(err);
    free(u.is_used);
    if (st != FR_OK)
        return st;
    if (!fr__grow(&s->nics, &s->cap_nics, s->n_nics + 1, sizeof(*s->nics)))
        return fr__fail_nomem(err);
    s->nics[s->n_nics++] = nics;
    return FR_OK;
}
