/* results/data/stages.c - a plan of stages for programs: JSON. */
#include "config.h"

#include "base/json.h"
#include "results/data/data.h"

#include "base/error.h"

#include <stdio.h>

static void write_stage(struct fr__json *j, const struct fr_stage_plan *p, const struct fr_stage *s)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_count(j, "replicas", s->replicas);
    fr__json_open(j, "replicas_of_level", '[', true);
    for (size_t level = 0; level < p->n_levels; level++)
        fr__json_count(j, NULL, s->replicas_of_level[level]);
    fr__json_close(j, ']');
    fr__json_number(j, "time_s", s->time_s);
    fr__json_number(j, "compute_s", s->compute_s);
    fr__json_number(j, "exchange_s", s->exchange_s);
    fr__json_number(j, "param_bytes", s->param_bytes);
    fr__json_number(j, "activation_bytes", s->activation_bytes);
    fr__json_number(j, "out_bytes", s->out_bytes);
    fr__json_open(j, "nodes", '[', true);
    for (size_t i = 0; i < s->n_layers; i++)
        fr__json_string(j, NULL, p->profile->layers[s->layers[i]].name);
    fr__json_close(j, ']');
    fr__json_close(j, '}');
}

static void write_split(struct fr__json *j, const struct fr_stage_split *s)
{
    fr__json_open(j, NULL, '{', true);
    fr__json_count(j, "level", s->level + 1);
    fr__json_count(j, "start", s->begin);
    fr__json_count(j, "end", s->end);
    fr__json_number(j, "time_s", s->time_s);
    fr__json_count(j, "unused_machines", s->n_unused);
    fr__json_open(j, "parts", '[', true);
    for (size_t i = 0; i < s->n_parts; i++) {
        fr__json_open(j, NULL, '{', true);
        fr__json_count(j, "start", s->parts[i].begin);
        fr__json_count(j, "end", s->parts[i].end);
        fr__json_count(j, "replicas", s->parts[i].replicas);
        fr__json_number(j, "compute_s", s->parts[i].compute_s);
        fr__json_close(j, '}');
    }
    fr__json_close(j, ']');
    fr__json_close(j, '}');
}

static void write_question(struct fr__json *j, const struct fr_stage_plan *p)
{
    fr__json_string(j, "workload", p->profile->name);
    fr__json_string(j, "strategy", p->strategy);
    fr__json_string(j, "mode", p->mode);
    fr__json_open(j, "machines", '[', true);
    for (size_t i = 0; i < p->n_levels; i++)
        fr__json_count(j, NULL, p->machines[i]);
    fr__json_close(j, ']');
    fr__json_open(j, "bandwidth_Bps", '[', true);
    for (size_t i = 0; i < p->n_levels; i++)
        fr__json_number(j, NULL, p->bandwidth_Bps[i]);
    fr__json_close(j, ']');
}

void fr__stages_json(FILE *f, const void *what)
{
    const struct fr_stage_plan *p = what;
    struct fr__json j;

    fr__json_init(&j, f);
    fr__json_open(&j, NULL, '{', false);
    write_question(&j, p);
    fr__json_number(&j, "pipeline_time_s", p->pipeline_time_s);
    fr__json_number(&j, "dp_time_s", p->dp_time_s);
    fr__json_number(&j, "single_time_s", p->single_time_s);
    if (p->n_states)
        fr__json_count(&j, "states", p->n_states);
    else
        fr__json_null(&j, "states");
    fr__json_count(&j, "states_at_least", p->n_states_at_least);
    fr__json_count(&j, "states_planned", p->n_planned);
    fr__json_bool(&j, "restricted", p->is_restricted);
    fr__json_number(&j, "lower_bound_s", p->lower_bound_s);
    fr__json_count(&j, "unreached_nodes", p->n_unreached);
    if (p->first_unreal < p->n_stages)
        fr__json_count(&j, "first_impossible_stage", p->first_unreal);
    else
        fr__json_null(&j, "first_impossible_stage");
    fr__json_open(&j, "stages", '[', false);
    for (size_t i = 0; i < p->n_stages; i++)
        write_stage(&j, p, &p->stages[i]);
    fr__json_close(&j, ']');
    fr__json_open(&j, "levels", '[', false);
    for (size_t i = 0; i < p->n_splits; i++)
        write_split(&j, &p->splits[i]);
    fr__json_close(&j, ']');
    fr__json_close(&j, '}');
    putc('\n', f);
}
