/* strategies/fastt/rules.c - the table of rules. */
#include "config.h"

#include "strategies/fastt/rules.h"

static const struct fr__rule rules[] = {
    {.name = "paper",
     .words = "each operation where it ends first, inputs too",
     .is_paper = true,
     .replicates = true,
     .splits = true},
    {.name = "apart",
     .words = "operations of all replicas, each where it ends first",
     .replicates = true,
     .inputs_wait = true,
     .looks_ahead = true},
    {.name = "split",
     .words = "operations of all replicas and parts of them, each where it ends first",
     .replicates = true,
     .inputs_wait = true,
     .looks_ahead = true,
     .splits = true},
    {.name = "together",
     .words = "a replica a device, pieces of variables with their sums and updates on all of them",
     .replicates = true,
     .keeps_together = true,
     .has_pieces = true,
     .inputs_wait = true,
     .in_program_order = true},
    {.name = "machines",
     .words = "as together, and the network carries sums of machines and one copy for each",
     .replicates = true,
     .keeps_together = true,
     .has_pieces = true,
     .by_machine = true,
     .inputs_wait = true,
     .in_program_order = true},
    {.name = "one",
     .words = "operations of one model, each where it ends first",
     .inputs_wait = true,
     .looks_ahead = true,
     .in_program_order = true},
};

const struct fr__rule *fr__rule_at(size_t choice)
{
    return choice > 0 && choice <= sizeof(rules) / sizeof(rules[0]) ? &rules[choice - 1] : NULL;
}
