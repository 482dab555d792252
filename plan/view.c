/* plan/view.c - what a finished plan says of itself: arrays, groups, names of tasks. */
#include "config.h"

#include "plan/internal.h"

#include <stdio.h>
#include <string.h>

const struct fr_plan_view *fr_plan_view(const struct fr_plan *p)
{
    return &p->view;
}

uint32_t fr_plan_group_size(const struct fr_plan *p, uint32_t group)
{
    return p->groups[group].count;
}

uint32_t fr_plan_group_device(const struct fr_plan *p, uint32_t group, uint32_t rank)
{
    const struct fr__group *g = &p->groups[group];

    return g->stride ? g->first + rank * g->stride : p->group_devices[g->list + rank];
}

const char *fr_plan_string(const struct fr_plan *p, uint32_t id)
{
    return id < p->n_strings.n ? p->strings[id] : "";
}

static const char *transfer_name(const struct fr_plan *p, const struct fr_task *k)
{
    const struct fr_graph *g = p->view.graph;
    uint32_t x = fr_task_transfer(k),
             label = x < p->n_transfers.n ? p->transfers[x].label : FR_NONE;

    if (label != FR_NONE)
        return fr_plan_string(p, label);
    return g && k->op < g->n_ops ? g->ops[k->op].name : "";
}

const char *fr_plan_task_label(const struct fr_plan *p, uint32_t task, char *buf, size_t n)
{
    const struct fr_task *k = &p->tasks[task];
    const struct fr_graph *g = p->view.graph;
    const char *name = g && k->op < g->n_ops ? g->ops[k->op].name : "";
    const char *verb = "";
    char micro[24] = "", number[32];

    if (k->microbatch != FR_NONE)
        snprintf(micro, sizeof(micro), " [mb %u]", k->microbatch);
    if (k->kind == FR_TASK_SEND || k->kind == FR_TASK_RECV) {
        verb = k->kind == FR_TASK_SEND ? "send " : "recv ";
        name = transfer_name(p, k);
    } else if (k->kind == FR_TASK_COLLECTIVE) {
        const struct fr_collective *c = &p->collectives[k->collective];

        verb = fr_collective_kind_name(c->kind);
        snprintf(buf, n, "%s %s%s", verb, fr_plan_string(p, c->label), micro);
        return buf;
    }
    if (fr_task_label(k) < p->n_strings.n)
        name = fr_plan_string(p, fr_task_label(k));
    if (!name[0]) {
        snprintf(number, sizeof(number), "%s %u", k->kind == FR_TASK_MARKER ? "marker" : "task",
                 task);
        name = number;
    }
    snprintf(buf, n, "%s%s%s", verb, name, micro);
    return buf;
}
