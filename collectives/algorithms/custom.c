/* collectives/algorithms/custom.c - the generator of a person's own algorithm; custom_file.c
 * reads it. */
#include "config.h"

#include "collectives/algorithms/custom_file.h"

#include <stdlib.h>

void fr__custom_free(struct fr__custom *c)
{
    if (!c)
        return;
    free(c->sends);
    free(c->first);
    free(c->n_recvs);
    free(c->ranges);
    free(c);
}

enum fr_collective_kind fr__custom_kind(const struct fr__custom *c)
{
    return c->kind;
}

uint32_t fr__custom_ranks(const struct fr__custom *c)
{
    return c->n;
}

static const char *refuse(const struct fr__schedule *s)
{
    if (s->kind != s->custom->kind)
        return "the file is of another collective";
    if (s->n != s->custom->n)
        return "the file is for another number of ranks";
    if (s->root != 0)
        return "the file's root is rank 0";
    return NULL;
}

static void shape(struct fr__schedule *s)
{
    s->n_steps = s->custom->n_rounds;
    s->n_pieces = s->custom->n_pieces;
}

static const struct fr__custom_send *sends_of(const struct fr__schedule *s, uint32_t rank,
                                              uint32_t round, uint32_t *n)
{
    const uint32_t *first = s->custom->first + (size_t)round * s->n + rank;

    *n = first[1] - first[0];
    return *n > 0 ? s->custom->sends + first[0] : NULL; /* there may be no sends at all */
}

static void step(const struct fr__schedule *s, uint32_t slot, uint32_t i, struct fr__step *out)
{
    sends_of(s, slot, i, &out->n_sends);
    out->n_recvs = s->custom->n_recvs[(size_t)i * s->n + slot];
}

static void send(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                 struct fr__send *out)
{
    uint32_t n;
    const struct fr__custom_send *m = &sends_of(s, slot, i, &n)[k];
    const struct fr__custom_range *r = s->custom->ranges + m->first_range;

    out->to = m->to;
    out->to_step = i;
    out->is_sum = m->is_sum;
    for (uint32_t j = 0; j < m->n_ranges; j++)
        for (uint32_t p = r[j].first; p <= r[j].last; p++)
            out->bytes += fr__schedule_piece_bytes(s, p);
}

static void carry(const struct fr__schedule *s, uint32_t slot, uint32_t i, uint32_t k,
                  fr__piece_fn *fn, void *user)
{
    uint32_t n;
    const struct fr__custom_send *m = &sends_of(s, slot, i, &n)[k];
    const struct fr__custom_range *r = s->custom->ranges + m->first_range;

    for (uint32_t j = 0; j < m->n_ranges; j++)
        for (uint32_t p = r[j].first; p <= r[j].last; p++)
            fn(user, p);
}

static uint32_t owner(const struct fr__schedule *s, uint32_t piece)
{
    return piece / (s->n_pieces / s->n);
}

const struct fr__algorithm fr__custom_algorithm = {
    .name = "custom",
    .summary = "a person's own, from a text file",
    .source = "the file",
    .kinds = (1 << FR_N_COLLECTIVE_KINDS) - 1,
    .is_rendezvous = true,
    .refuse = refuse,
    .shape = shape,
    .step = step,
    .send = send,
    .carry = carry,
    .owner = owner,
};
