/* results/document/record_page.c - what only the page of a record says: the parts of its critical
 * path, how far to trust it, what is assumed, and how to get it again.
 *
 * It is separate because a terminal shows none of it.
 */
#include "config.h"

#include "base/units.h"
#include "results/document/record.h"
#include "results/parts/cells.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"

#include <string.h>

enum { NUMBER = 40, MOST_PIECES = 10, N_PARTS = FR__N_CATEGORIES + 1 /* and waiting */ };

static const char *const bar[] = {FR__COLOUR_COPY};

/* ---- the critical path ---- */

/* A part of the path, or a task of it. */
struct piece {
    uint32_t of;
    double s;
};

struct path {
    const struct fr_record *record;
    struct piece parts[N_PARTS], tasks[MOST_PIECES]; /* the longest tasks, longest first */
    size_t n_parts, n_tasks;
};

static void keep_task(struct path *p, uint32_t task, double s)
{
    size_t i = p->n_tasks;

    if (i == MOST_PIECES && s <= p->tasks[i - 1].s)
        return;
    if (i < MOST_PIECES)
        p->n_tasks++;
    else
        i--;
    for (; i > 0 && p->tasks[i - 1].s < s; i--)
        p->tasks[i] = p->tasks[i - 1];
    p->tasks[i] = (struct piece){task, s};
}

/* Sends and receives are one thing here: either may be the one on the path. */
static enum fr__category part_of(const struct fr_task *k)
{
    enum fr__category c = fr__category_even(fr__category_of(k));

    return c == FR__RECV ? FR__SEND : c;
}

static void walk(struct path *p)
{
    const struct fr_task *tasks = fr_plan_view(p->record->plan)->tasks;
    const struct fr_run *run = p->record->run;
    double at_s = 0, parts_s[N_PARTS] = {0};

    for (size_t i = 0; i < run->n_critical; i++) {
        uint32_t t = run->critical[i];
        double start_s = run->start_s[t] > at_s ? run->start_s[t] : at_s;

        parts_s[FR__N_CATEGORIES] += start_s - at_s;
        if (tasks[t].kind != FR_TASK_MARKER) {
            parts_s[part_of(&tasks[t])] += run->end_s[t] - start_s;
            keep_task(p, t, run->end_s[t] - start_s);
        }
        at_s = run->end_s[t];
    }
    for (unsigned c = 0; c < N_PARTS; c++)
        if (parts_s[c] > 0)
            p->parts[p->n_parts++] = (struct piece){c, parts_s[c]};
}

static void fill_part(const void *user, size_t i, struct fr__table_row *row)
{
    const struct path *p = user;
    const struct fr_record *r = p->record;
    const enum fr__category c = (enum fr__category)p->parts[i].of;

    fr__table_text(row->cell[0], c == FR__N_CATEGORIES ? "waiting for launches or channels"
                                 : c == FR__SEND       ? "messages"
                                 : c == FR__COLLECTIVE ? "collectives"
                                 : r->is_plain         ? "tasks"
                                                       : fr__category_title(r, c));
    fr__record_time(r, p->parts[i].s, row->cell[1], NUMBER);
    fr__percent(p->parts[i].s / r->run->makespan_s, row->cell[2], NUMBER);
}

static void fill_task(const void *user, size_t i, struct fr__table_row *row)
{
    const struct path *p = user;
    const struct fr_record *r = p->record;
    const struct piece *piece = &p->tasks[i];
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    const struct fr_task *k = &v->tasks[piece->of];
    char label[256];

    fr__table_text(row->cell[0], fr_plan_task_label(r->plan, piece->of, label, sizeof(label)));
    fr__table_text(row->cell[1], fr__category_title(r, fr__category_of(k)));
    fr__table_text(row->cell[2], v->topo->devices[k->device].name);
    fr__record_time(r, r->run->start_s[piece->of], row->cell[3], NUMBER);
    fr__record_time(r, piece->s, row->cell[4], NUMBER);
    fr__percent(piece->s / r->run->makespan_s, row->cell[5], NUMBER);
}

void fr__record_put_path(struct fr__document *doc, const struct fr_record *r)
{
    static const struct fr__table_column parts[] = {
        {"part", false}, {"takes", true}, {"of the path", true}};
    static const struct fr__table_column tasks[] = {{"task", false},   {"kind", false},
                                                    {"device", false}, {"starts", true},
                                                    {"takes", true},   {"of the path", true}};
    struct path p = {.record = r};

    walk(&p);
    fr__say(doc, "\ncritical path (%zu tasks):\n", r->critical_total);
    fr__say_table(doc, &(struct fr__table){parts, 3, p.n_parts, fill_part, &p}, 1);
    fr__say_bars(doc, 2, 1, bar);
    fr__say(doc, "\nits longest tasks:\n");
    fr__say_table(doc, &(struct fr__table){tasks, 6, p.n_tasks, fill_task, &p}, 1);
}

/* ---- how true it is ---- */

static const char *const trusts[FR_N_TRUSTS] = {
    [FR_TRUST_PROFILED] = "measured: this op, on this device type, at this batch",
    [FR_TRUST_SCALED] =
        "measured at another batch, or on another device type, and carried over by curves",
    [FR_TRUST_CALIBRATED] = "from curves fitted to measured kernels",
    [FR_TRUST_TRANSFERRED] = "from a relative's curves, rescaled by the data sheets",
    [FR_TRUST_DATASHEET] =
        "a guess: peak rates of the data sheet at typical efficiencies; a single kernel may be off "
        "by a factor of two and more, a sum over a model by less",
    [FR_TRUST_PROFILED_ELSEWHERE] =
        "measured on a device type that is not named, or from which no curves lead here, and taken "
        "as measured: kernels of two types of GPU differ by a median factor of 2.2",
};

static void fill_source(const void *user, size_t i, struct fr__table_row *row)
{
    const struct fr_record *r = user;
    unsigned trust = 0;

    for (size_t n = 0; trust < FR_N_TRUSTS; trust++)
        if (r->cost_frac[trust] > 0 && n++ == i)
            break;
    fr__table_text(row->cell[0], fr_trust_name((enum fr_trust)trust));
    fr__percent(r->cost_frac[trust], row->cell[1], NUMBER);
    fr__table_text(row->cell[2], trusts[trust]);
}

static void put_sources(struct fr__document *doc, const struct fr_record *r)
{
    static const struct fr__table_column columns[] = {
        {"costs", false}, {"of compute", true}, {"what they are", false}};
    size_t n = 0;

    for (unsigned trust = 0; trust < FR_N_TRUSTS; trust++)
        n += r->cost_frac[trust] > 0;
    if (n == 0)
        return;
    fr__say(doc, "where the compute times come from:\n");
    fr__say_table(doc, &(struct fr__table){columns, 3, n, fill_source, r}, 1);
    fr__say_bars(doc, 1, 1, bar);
}

static void put_collective_assumptions(struct fr__document *doc, const struct fr_record *r)
{
    if (r->n_fitted_collectives > 0)
        fr__say(doc, "Fitted collectives have no contention with anything else.\n");
    if (r->n_fitted_messages > 0)
        fr__say(doc, "Copies between GPUs take, alone, the time fitted to their links.\n");
    if (r->n_fitted_collectives < r->n_collectives || r->n_collectives == 0)
        fr__say(doc, "%sollectives are %s%s, %s.\n", r->n_fitted_collectives > 0 ? "Other c" : "C",
                r->collective_way ? "by " : "rings", r->collective_way ? r->collective_way : "",
                r->closed_form_collectives
                    ? "from their closed form: no contention with anything else"
                    : "step by step");
}

/* Of memory, GPUs, and what a training run does apart from its iterations. */
static void put_training_assumptions(struct fr__document *doc, const struct fr_record *r)
{
    fr__say(
        doc, "Memory is %s.\n",
        r->memory_model == FR_MEMORY_DEVICE
            ? "what PyTorch's caching allocator reserves for the iteration, starting empty, and "
              "the CUDA context"
        : r->memory_model == FR_MEMORY_TF1
            ? "what TensorFlow 1's allocator uses of its pool, the CUDA context, and what is "
              "left to the system"
            : "that of the tensors alone, without the allocator's rounding and the context");
    fr__say(doc, "%s\n",
            r->interference ? "Work side by side on a device slows each other down as was measured."
                            : "Kernels side by side on a device do not slow each other down.");
    if (r->wait_factor > 1)
        fr__say(doc, "GPUs of one type differ: all wait for the slowest of %zu.\n", r->n_gpus);
    fr__say(doc, "Reading data, checkpoints, logging, evaluation and failures are left out.\n");
}

static void put_assumptions(struct fr__document *doc, const struct fr_record *r)
{
    fr__say(doc, "\nWhat is assumed:\n\nNetwork: %s.\n",
            fr_network_assumption(fr_network_parse(r->network)));
    if (!r->is_plain || r->n_collectives > 0)
        put_collective_assumptions(doc, r);
    fr__say(doc, "%s in %s order.\n",
            r->puts_in_order ? "What devices receive is sent" : "Ready tasks go", r->order);
    if (r->is_plain)
        return;
    fr__say(doc, "Buffers come to be at %s.\n", r->alloc_at_start ? "start" : "dispatch");
    put_training_assumptions(doc, r);
}

void fr__record_put_trust(struct fr__document *doc, const struct fr_results *rs,
                          const struct fr_record *base)
{
    const struct fr_record *r = rs->records[0];
    char text[NUMBER];

    fr__say_heading(doc, "How far to trust this");
    if (r->is_plain)
        fr__say(doc, "The times of tasks are those of the task file.\n");
    else
        put_sources(doc, base);
    put_assumptions(doc, r);
    fr__say_heading(doc, "The same again");
    if (r->command) {
        fr__say_drawn(doc);
        fr__say(doc, "%s\n", r->command);
        fr__say_plain(doc);
    }
    fr__say(doc, "Seed %llu", (unsigned long long)r->seed);
    if (!rs->is_comparison)
        fr__say(doc, ", %zu tasks", r->n_tasks);
    if (!rs->is_comparison && r->wall_s > 0)
        fr__say(doc, ", planned and simulated in %s",
                fr__format_time(r->wall_s, text, sizeof(text)));
    fr__say(doc, ". The same input and seed give the same times.\n");
}
