/* lowering/schedules/maker.c - appending actions, and the order that the 1F1B family shares. */
#include "config.h"

#include "lowering/schedules/maker.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>

enum fr_status fr__schedule_new(struct fr_schedule **out, uint32_t n_ranks, uint64_t n_actions,
                                struct fr_error *err)
{
    struct fr_schedule *s;

    if (n_actions > FR_SCHEDULE_MOST_ACTIONS || n_ranks > FR_SCHEDULE_MOST_RANKS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "a schedule holds at most %d ranks and %d actions", FR_SCHEDULE_MOST_RANKS,
                        FR_SCHEDULE_MOST_ACTIONS);
    s = calloc(1, sizeof(*s));
    if (!s)
        return fr__fail_nomem(err);
    s->n_ranks = n_ranks;
    s->cap_actions = (size_t)n_actions;
    s->first = calloc((size_t)n_ranks + 1, sizeof(*s->first));
    s->actions = calloc((size_t)n_actions + 1, sizeof(*s->actions));
    if (!s->first || !s->actions) {
        fr_schedule_free(s);
        return fr__fail_nomem(err);
    }
    *out = s;
    return FR_OK;
}

void fr_schedule_free(struct fr_schedule *s)
{
    if (!s)
        return;
    free(s->first);
    free(s->actions);
    free(s);
}

bool fr_schedule_is_second(const struct fr_schedule *s, uint32_t stage, uint32_t micro)
{
    if (s->n_stages > s->n_ranks)
        return stage / s->n_ranks % 2 == 1;
    return s->n_virtual > 1 && micro >= s->n_micros / 2;
}

void fr__schedule_rank(struct fr_schedule *s, uint32_t rank)
{
    s->first[rank] = s->n_actions;
}

static void append(struct fr_schedule *s, const struct fr_action *a)
{
    assert(s->n_actions < s->cap_actions);
    s->actions[s->n_actions++] = *a;
}

void fr__schedule_add(struct fr_schedule *s, enum fr_action_kind kind, uint32_t stage,
                      uint32_t micro)
{
    append(s, &(struct fr_action){
                  .kind = (uint8_t)kind, .with = FR_ACTION_NONE, .stage = stage, .micro = micro});
}

void fr__schedule_add_pair(struct fr_schedule *s, uint32_t stage, uint32_t micro,
                           uint32_t with_stage, uint32_t with_micro)
{
    append(s, &(struct fr_action){.kind = FR_ACTION_F,
                                  .with = FR_ACTION_B,
                                  .stage = stage,
                                  .micro = micro,
                                  .with_stage = with_stage,
                                  .with_micro = with_micro});
}

struct fr__visit fr__schedule_visit(const struct fr_schedule_spec *spec, uint32_t i)
{
    uint32_t in_group = spec->group * spec->n_virtual, first = i / in_group * spec->group;
    uint32_t n = fr__min_u32(spec->group, spec->n_micros - first), j = i % in_group;

    return (struct fr__visit){.chunk = j / n, .micro = first + j % n};
}

void fr__schedule_turns(struct fr_schedule *s, const struct fr_schedule_spec *spec, uint32_t rank,
                        uint64_t n_warm)
{
    uint32_t n = spec->n_micros * spec->n_virtual, n_first = fr__min_u32(n_warm, n);

    for (uint32_t i = 0; i < n + n_first; i++) {
        if (i < n) {
            struct fr__visit v = fr__schedule_visit(spec, i);

            fr__schedule_add(s, FR_ACTION_F, v.chunk * spec->n_ranks + rank, v.micro);
        }
        if (i >= n_first) {
            struct fr__visit v = fr__schedule_visit(spec, i - n_first);

            fr__schedule_add(s, FR_ACTION_B, (spec->n_virtual - 1 - v.chunk) * spec->n_ranks + rank,
                             v.micro);
        }
    }
}
