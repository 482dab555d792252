/* strategies/fastt/rules.h - the rules by which FastT's planners place operations, as a table.
 *
 * `paper` is Algorithms 1 and 2 as published. The others differ from it in what they start from and
 * in what DPOS looks at. None of them sees the plan of another strategy.
 */
#ifndef FR_STRATEGIES_FASTT_RULES_H
#define FR_STRATEGIES_FASTT_RULES_H

#include <stdbool.h>
#include <stddef.h>

struct fr__rule {
    const char *name;  /* for programs: "together" */
    const char *words; /* for people: what is placed */
    bool is_paper;
    bool replicates;               /* plans replicas that share variables; else one model */
    bool keeps_together;           /* a replica is on one device, which DPOS chooses */
    bool has_pieces;               /* variables are partitioned, a piece a device */
    bool by_machine;               /* gradients are added machine by machine, and parameters are
                                      sent once to each machine; else to each GPU */
    bool inputs_wait, looks_ahead; /* struct fr__dpos_options */
    bool splits;                   /* OS-DPOS; else DPOS alone */
    bool in_program_order;         /* the engine is also asked about the order of the program */
};

/* In the order of the option's choices, behind `auto`. NULL past the end. */
#define FR__RULE_CHOICES "auto|paper|apart|split|together|machines|one"
enum fr__rule_choice { FR__RULE_AUTO, FR__RULE_PAPER };
const struct fr__rule *fr__rule_at(size_t choice);
#endif
