/* study/answer/warnings.c - what to know of an answer before its figures are believed.
 *
 * NCCL's choice of an algorithm is known where all machines in use give as many GPUs
 * (collectives/nccl/from_topo.h). Elsewhere collectives run as rings, and NCCL may be faster.
 *
 * A precision that a GPU has no arithmetic for is computed in another one that holds its numbers,
 * at that one's rate: bf16 on a V100 as fp32, fp8 on an A100 as bf16.
 */
#include "config.h"

#include "study/question/host.h"
#include "study/interval/contradiction.h"
#include "study/interval/missed_kind.h"
#include "study/question/loading.h"
#include "study/recipes/recipes.h"
#include "study/answer/record.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Whether one of the GPUs before the i-th is of its type. */
static bool is_seen(const struct fr__making *m, size_t i)
{
    const struct fr_device *devices = m->setting->topo->devices;

    for (size_t k = 0; k < i; k++)
        if (devices[m->devices[k]].type == devices[m->devices[i]].type)
            return true;
    return false;
}

/* What NCCL takes for the machine of each vertex, 0 for none of ours: the first NVSwitch of no
 * machine that it is on, a rack's; else its machine counts. NULL: out of memory. */
static const uint32_t *find_racks(const struct fr_topo *t, struct fr__arena *arena)
{
    uint32_t *racks = fr__arena_alloc(arena, t->n_vertices + 1, sizeof(*racks));

    for (size_t l = t->n_links; racks && l-- > 0;) {
        const struct fr_vertex *v = &t->vertices[t->links[l].dst];

        if (v->kind == FR_VERTEX_NVSWITCH && v->machine == FR_NONE)
            racks[t->links[l].src] = t->links[l].dst + 1;
    }
    return racks;
}

/* Whether the machines give different numbers of GPUs. */
static bool has_uneven_machines(const struct fr__making *m, const uint32_t racks[])
{
    const struct fr_topo *t = m->setting->topo;
    size_t n_runs = 0, before = 0, now = 0;

    for (size_t i = 0; i < m->n_devices; i++) {
        const struct fr_device *d = &t->devices[m->devices[i]], *last = d;
        bool is_next;

        if (i > 0)
            last = &t->devices[m->devices[i - 1]];
        is_next = racks[d->vertex] != racks[last->vertex] ||
                  (racks[d->vertex] == 0 && d->machine != last->machine);
        if (is_next && n_runs++ > 0 && now != before)
            return true;
        before = is_next ? now : before;
        now = is_next ? 1 : now + 1;
    }
    return n_runs > 0 && now != before;
}

/* Whether some collectives had no fitted time and none went as NCCL would choose. */
static bool has_rings_alone(const struct fr__making *m, const struct fr_record *r)
{
    return m->way && !m->options.rings_only && m->run->stats.by_schedule == 0 &&
           r->n_collectives > r->n_fitted_collectives;
}

static void say_input(char text[], size_t size, const struct fr_record *r,
                      const struct fr__making *m)
{
    double cores = fr__decoding_cores(m, m->devices[0]);
    char by[80] = "";

    if (cores > 0)
        snprintf(by, sizeof(by), " (%.6g cores, each decodes %.4g images a second)", cores,
                 m->question->decode_rate);
    snprintf(text, size,
             "the input holds the step up: its samples take %.4g ms%s, computing %.4g ms",
             r->input_s * 1e3, by, (r->iteration_s - r->input_wait_s) * 1e3);
}

/* What of its recipe the strategy does not count. One GPU exchanges nothing, and of a recipe
 * that is assumed the strategy that was asked for is the better word. */
static void say_uncounted(char text[], size_t size, const struct fr__making *m)
{
    const struct fr_strategy *s;
    struct fr_option_values values;
    char options[160];

    text[0] = '\0';
    if (m->n_devices < 2 || m->question->is_recipe_assumed ||
        fr_strategy_parse(m->question->strategy, &s, &values, NULL) != FR_OK || s->is_baseline)
        return;
    fr__recipe_uncounted(m->question, s, options, sizeof(options));
    if (options[0])
        snprintf(text, size,
                 "recipe %.40s also says %s: not counted, strategy '%.40s' has no such "
                 "option%s",
                 m->question->recipe ? m->question->recipe : "tf1", options, s->name,
                 strchr(options, ',') ? "s" : "");
}

/* An optimizer for a workload that has nothing to update. */
static void say_optimizer(char text[], size_t size, const struct fr__making *m)
{
    const struct fr_graph *g = m->setting->graph;

    text[0] = '\0';
    if (m->question->optimizer == FR_SGD)
        return;
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].param_bytes > 0)
            return;
    snprintf(text, size, "optimizer %s changes nothing: '%.100s' has no parameters",
             fr_optimizer_name(m->question->optimizer), g->name);
}

const char *fr_warning_name(enum fr_warning w)
{
#define NAME_OF(NAME, name, is_doubt) [FR_WARNING_##NAME] = (name),
    static const char *const names[] = {FR_WARNINGS(NAME_OF)};
#undef NAME_OF

    return names[w];
}

bool fr_warning_is_doubt(enum fr_warning w)
{
#define DOUBT_OF(NAME, name, is_doubt) [FR_WARNING_##NAME] = (is_doubt),
    static const bool doubts[] = {FR_WARNINGS(DOUBT_OF)};
#undef DOUBT_OF

    return doubts[w];
}

/* The warnings of a record that is being made. */
struct list {
    struct fr_record *record;
    struct fr__arena *arena;
    const char **texts;
    enum fr_warning *kinds;
};

static enum fr_status add(struct list *l, enum fr_warning kind, const char *text,
                          struct fr_error *err)
{
    size_t at = l->record->n_warnings;

    if (!text[0])
        return FR_OK;
    l->texts[at] = fr__arena_strdup(l->arena, text);
    l->kinds[at] = kind;
    l->record->n_warnings++;
    return l->texts[at] ? FR_OK : fr__fail_nomem(err);
}

/* GPU types, each once, that compute in another format than the asked one. */
static enum fr_status add_formats(struct list *l, const struct fr__making *m, struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    enum fr_dtype asked = m->setting->graph->dtype;
    enum fr_dtype wanted = asked == FR_AMP ? FR_FP16 : asked;
    char text[400];

    for (size_t i = 0; i < m->n_devices; i++) {
        const struct fr_device_type *type = &t->types[t->devices[m->devices[i]].type];
        enum fr_dtype has = fr_device_type_arithmetic(type, asked);

        if (has == wanted || !type->is_gpu || is_seen(m, i))
            continue;
        snprintf(text, sizeof(text), "%.100s has no %s arithmetic: matrix products run as %s",
                 type->name, fr_dtype_name(wanted), fr_dtype_name(has));
        FR_TRY(add(l, FR_WARNING_FORMAT, text, err));
    }
    return FR_OK;
}

/* Of measured steps, the recipe's or the question's. */
static enum fr_status add_measured(struct list *l, const struct fr__making *m, struct fr_error *err)
{
    char text[400];

    if (m->correction.contradiction.contradicts != FR__CONTRADICTS_NOTHING) {
        fr__say_contradiction(text, sizeof(text), &m->correction.contradiction);
        FR_TRY(add(l, FR_WARNING_MEASURED, text, err));
    }
    if (m->correction.lacks_network && !m->question->measured)
        FR_TRY(add(l, FR_WARNING_MEASURED,
                   "the recipe was fitted to steps inside one machine, which do not say what an "
                   "exchange between machines takes; a step on two machines would",
                   err));
    return FR_OK;
}

static enum fr_status add_times(struct list *l, const struct fr__making *m, struct fr_error *err)
{
    const char *cpu = fr__dropped_cpu(m->setting->topo, m->setting->graph);
    char text[400];

    if (!cpu)
        return FR_OK;
    snprintf(text, sizeof(text),
             "the workload's times were measured on a CPU, %.60s: they are dropped, and the ops "
             "are priced by the curves of these GPUs ('*' as the device in times.csv keeps "
             "them)",
             cpu);
    return add(l, FR_WARNING_TIMES, text, err);
}

static enum fr_status add_missed_kind(struct list *l, const struct fr__making *m,
                                      struct fr_error *err)
{
    const struct fr__missed_kind *kind = fr__missed_kind_of(fr_plan_view(m->plan)->param_shards);
    char text[400];

    if (!kind)
        return FR_OK;
    fr__missed_kind_say(kind, text, sizeof(text));
    return add(l, FR_WARNING_KIND, text, err);
}

static enum fr_status add_collectives(struct list *l, const struct fr__making *m,
                                      struct fr_error *err)
{
    const uint32_t *racks;

    if (!has_rings_alone(m, l->record))
        return FR_OK;
    racks = find_racks(m->setting->topo, l->arena);
    if (!racks)
        return fr__fail_nomem(err);
    if (!has_uneven_machines(m, racks))
        return FR_OK;
    return add(l, FR_WARNING_COLLECTIVES,
               "the machines give different numbers of GPUs: collectives run as rings, where NCCL "
               "may choose something faster",
               err);
}

enum fr_status fr__fill_warnings(struct fr_record *r, struct fr__arena *arena,
                                 const struct fr__making *m, struct fr_error *err)
{
    const size_t most = m->setting->topo->n_types + 12;
    struct list l = {.record = r,
                     .arena = arena,
                     .texts = fr__arena_alloc(arena, most, sizeof(*l.texts)),
                     .kinds = fr__arena_alloc(arena, most, sizeof(*l.kinds))};
    char text[400] = "";

    if (!l.texts || !l.kinds)
        return fr__fail_nomem(err);
    r->warnings = l.texts;
    r->warning_kinds = l.kinds;
    FR_TRY(add_formats(&l, m, err));
    FR_TRY(add_measured(&l, m, err));
    FR_TRY(add_times(&l, m, err));
    if (r->input_wait_s > 0)
        say_input(text, sizeof(text), r, m);
    FR_TRY(add(&l, FR_WARNING_INPUT, text, err));
    FR_TRY(add(&l, FR_WARNING_CUT, m->cut_memory.note, err));
    FR_TRY(add_missed_kind(&l, m, err));
    say_optimizer(text, sizeof(text), m);
    FR_TRY(add(&l, FR_WARNING_OPTIMIZER, text, err));
    say_uncounted(text, sizeof(text), m);
    FR_TRY(add(&l, FR_WARNING_RECIPE, text, err));
    return add_collectives(&l, m, err);
}
