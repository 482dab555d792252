/* lowering/stage_plan.c - the end of a plan of stages: its arena holds all of it. Records
 * of decisions own such plans, whoever made them. */
#include "config.h"

#include "lowering/stage_plan.h"

#include "base/arena.h"

void fr_stage_plan_free(struct fr_stage_plan *p)
{
    if (p)
        fr__arena_free(p->priv);
}
