/* collectives/algorithms/list.c - the table of algorithms; each is one file. */
#include "config.h"

#include "collectives/algorithms/schedule.h"

#include <string.h>

static const struct fr__algorithm *const ALGORITHMS[] = {
    &fr__ring_algorithm,         &fr__chain_algorithm,
    &fr__tree_algorithm,         &fr__binomial_algorithm,
    &fr__halving_algorithm,      &fr__rabenseifner_algorithm,
    &fr__bucket_algorithm,       &fr__bruck_algorithm,
    &fr__hierarchical_algorithm, &fr__hierarchical_ring_algorithm,
    &fr__two_level_algorithm,    &fr__two_level_ring_algorithm,
    &fr__direct_algorithm,       &fr__pairwise_algorithm,
    &fr__shift_algorithm,        &fr__pairwise_nodes_algorithm,
    &fr__nvls_algorithm,         &fr__sharp_algorithm,
    &fr__pat_algorithm,          &fr__neighbour_algorithm,
};
enum { N_ALGORITHMS = sizeof(ALGORITHMS) / sizeof(ALGORITHMS[0]) };

const struct fr__algorithm *fr__algorithm_at(size_t i)
{
    return i < N_ALGORITHMS ? ALGORITHMS[i] : NULL;
}

const struct fr__algorithm *fr__algorithm_find(const char *name)
{
    for (size_t i = 0; i < N_ALGORITHMS; i++)
        if (strcmp(ALGORITHMS[i]->name, name) == 0)
            return ALGORITHMS[i];
    return NULL;
}

const struct fr__algorithm *fr__algorithm_usual(enum fr_collective_kind kind)
{
    if (kind == FR_ALL_TO_ALL)
        return &fr__pairwise_algorithm;
    return kind == FR_BROADCAST || kind == FR_REDUCE ? &fr__chain_algorithm : &fr__ring_algorithm;
}
