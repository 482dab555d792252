/* lowering/schedules/table.c - the kinds of schedules, and making one from what was asked. */
#include "config.h"

#include "base/error.h"
#include "lowering/schedules/maker.h"

#include <stdio.h>
#include <string.h>

#define SCHEDULE_ADDRESS(name) &fr__schedule_##name,
static const struct fr_schedule_kind *const kinds[] = {FR_SCHEDULES(SCHEDULE_ADDRESS)};
#undef SCHEDULE_ADDRESS

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

const struct fr_schedule_kind *fr_schedule_kind_at(size_t i)
{
    return i < N_KINDS ? kinds[i] : NULL;
}

const struct fr_schedule_kind *fr_schedule_kind_find(const char *name)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

static enum fr_status fail_unknown(const char *name, struct fr_error *err)
{
    const char *names[N_KINDS];
    char hint[128], quoted[FR__EXCERPT];

    for (size_t i = 0; i < N_KINDS; i++)
        names[i] = kinds[i]->name;
    return fr__fail(
        err, FR_ENOENT, FR_NOWHERE, "'%s' is no schedule%s; 'forerun schedule list' names them",
        fr__excerpt(name, quoted), fr__did_you_mean(name, names, N_KINDS, hint, sizeof(hint)));
}

static enum fr_status check_sizes(const struct fr_schedule_spec *s, struct fr_error *err)
{
    if (s->n_ranks == 0 || s->n_ranks > FR_SCHEDULE_MOST_RANKS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a schedule takes 1 to %d ranks, not %u",
                        FR_SCHEDULE_MOST_RANKS, s->n_ranks);
    if (s->n_micros == 0 || s->n_micros > FR_SCHEDULE_MOST_MICROS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a schedule takes 1 to %d micro-batches, not %u", FR_SCHEDULE_MOST_MICROS,
                        s->n_micros);
    return FR_OK;
}

static enum fr_status check_virtual(const struct fr_schedule_kind *k, uint32_t n,
                                    struct fr_error *err)
{
    if (n >= k->least_virtual && (n <= k->most_virtual || k->most_virtual == 0))
        return FR_OK;
    if (k->least_virtual == k->most_virtual)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' has %u virtual stage%s a rank, not %u",
                        k->name, k->least_virtual, k->least_virtual == 1 ? "" : "s", n);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' has at least %u virtual stages a rank, not %u", k->name, k->least_virtual,
                    n);
}

/* The spec with its defaults filled in. The default group is PyTorch's microbatches_per_round
 * (torch/distributed/pipelining/schedules.py, ScheduleInterleaved1F1B); where the ranks divide the
 * micro-batches it is their number, as in Megatron-LM. */
static enum fr_status complete(struct fr_schedule_spec *s, const struct fr_schedule_kind *k,
                               struct fr_error *err)
{
    uint32_t rounds;

    FR_TRY(check_sizes(s, err));
    if (s->n_virtual == 0)
        s->n_virtual = k->most_virtual == 0 ? 2 : k->least_virtual;
    FR_TRY(check_virtual(k, s->n_virtual, err));
    if (s->group > 0 && !k->takes_group)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' has no groups of micro-batches", k->name);
    if (s->group > s->n_micros)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a group of %u micro-batches is more than the %u that there are", s->group,
                        s->n_micros);
    if (s->backward != FR_BACKWARD_DEFAULT && !k->takes_backward)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the order of the backward passes of '%s' is fixed", k->name);
    if (s->vertical_sync && k->weights != FR_WEIGHTS_STASH)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' stashes no weights that stages could agree on", k->name);
    rounds = s->n_micros / s->n_ranks;
    if (s->group == 0)
        s->group = k->takes_group && rounds > 0 ? s->n_micros / rounds : s->n_micros;
    return k->check ? k->check(s, err) : FR_OK;
}

/* F and backward, or F, I and W, of each micro-batch on each stage; the copies of a stage share the
 * micro-batches. */
static uint64_t most_actions(const struct fr_schedule_spec *s, const struct fr_schedule_kind *k)
{
    uint64_t n_stages = (uint64_t)s->n_ranks * s->n_virtual;

    if (s->n_virtual > FR_SCHEDULE_MOST_ACTIONS)
        return UINT64_MAX;
    return 3 * s->n_micros * (k->placement == FR_STAGES_TWO ? s->n_ranks : n_stages);
}

enum fr_status fr_schedule_make(struct fr_schedule **out, const struct fr_schedule_spec *spec,
                                struct fr_error *err)
{
    const struct fr_schedule_kind *k = fr_schedule_kind_find(spec->name);
    struct fr_schedule_spec full = *spec;
    struct fr_schedule *s;
    enum fr_status st;

    if (!k)
        return fail_unknown(spec->name, err);
    FR_TRY(complete(&full, k, err));
    FR_TRY(fr__schedule_new(&s, full.n_ranks, most_actions(&full, k), err));
    snprintf(s->name, sizeof(s->name), "%s", k->name);
    s->weights = full.vertical_sync ? FR_WEIGHTS_VERTICAL : k->weights;
    s->n_micros = full.n_micros;
    s->n_virtual = full.n_virtual;
    s->n_stages = k->placement == FR_STAGES_TWO ? full.n_ranks : full.n_ranks * full.n_virtual;
    st = k->make(&full, s, err);
    if (st != FR_OK) {
        fr_schedule_free(s);
        return st;
    }
    s->first[s->n_ranks] = s->n_actions;
    *out = s;
    return FR_OK;
}
