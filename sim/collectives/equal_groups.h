/* sim/collectives/equal_groups.h - what a collective takes when many equal groups run one at the
 * same time.
 *
 * The ranks of a mesh fall into groups along each axis, and all groups of an axis do the same at
 * the same time: eight groups of one GPU a machine share the machine's network. Here each group
 * runs one ring in the order of its ranks (closed_form.c says what a ring is). A link gives each
 * message that crosses it in a round an equal part of its bandwidth:
 *
 *     t = rounds x max over hops (latency + chunk / B)
 *     B = min over the links of the hop (bandwidth / messages)
 *
 * All-to-all goes in shifts (closed_form.c): the sum over rounds of the slowest message of each.
 * Neighbour messages of a pipeline are one round.
 *
 * Exact for the max-min fair sharing of the flow network as long as the rounds of all groups stay
 * together, which equal groups do.
 * Ignores: other traffic; several rings a group.
 */
#ifndef FR_SIM_COLLECTIVES_EQUAL_GROUPS_H
#define FR_SIM_COLLECTIVES_EQUAL_GROUPS_H

#include "sim/network/routes.h"

/* Groups of n ranks each. devices: [n_groups][n], borrowed until the groups are freed. */
struct fr__group_list {
    const uint32_t *devices;
    uint32_t n_groups, n;
};

struct fr__equal_groups;

/* Makes the groups; routes, borrowed, must outlive it. FR_ENOMEM. */
enum fr_status fr__equal_groups_new(struct fr__equal_groups **out, struct fr__routes *routes,
                                    const struct fr__group_list *groups, struct fr_error *err);
void fr__equal_groups_free(struct fr__equal_groups *c);

/* How much slower the bytes of a collective move with all groups at work than with one alone; at
 * least 1. Where all groups are alike it is the slowest one that counts, whatever the member; where
 * they are not, as on a cluster with a bad link, it is the group that this device is in. */
enum fr_status fr__equal_groups_factor(struct fr__equal_groups *c, enum fr_collective_kind kind,
                                       uint32_t member, double *factor, struct fr_error *err);

/* Whether the rings of all groups are alike, message by message: the same latency and the same
 * narrowest link. It is not enough that the slowest messages are: a search finds more rings where
 * GPUs of one machine are better joined. O(ranks). */
enum fr_status fr__equal_groups_match(struct fr__equal_groups *c, bool *is_match,
                                      struct fr_error *err);

/* How many of n messages, from src[i] to dst[i] at the same time, use the same links: *share is the
 * most on any link of the first one's route. *is_match: all have that number, on links that are
 * their narrowest and as wide as the first one's, and the same latency. FR_ENOENT, FR_ENOMEM. */
enum fr_status fr__equal_messages_share(struct fr__routes *routes, const uint32_t src[],
                                        const uint32_t dst[], size_t n, uint32_t *share,
                                        bool *is_match, struct fr_error *err);

#endif
