/* sim/analysis/selfcheck.c - compares a run with what the plan alone says must have happened. */
#include "config.h"

#include "sim/analysis/selfcheck.h"

#include "base/bytes.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* Sums of n rounded terms differ by far less than this. */
static const double TOLERANCE = 1e-9;

static bool is_near(double a, double b, double scale)
{
    return fabs(a - b) <= TOLERANCE * (fabs(scale) > 1e-9 ? fabs(scale) : 1e-9);
}

static enum fr_status check_order(const struct fr_plan *p, const struct fr_run *run,
                                  struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    char label[80], after[80];

    for (uint32_t t = 0; t < v->n_tasks; t++) {
        if (!(run->start_s[t] >= 0) || !(run->end_s[t] >= run->start_s[t]))
            return fr__fail(
                err, FR_ECHECK, FR_NOWHERE, "self-check 'order': '%s' runs from %.9g s to %.9g s",
                fr_plan_task_label(p, t, label, sizeof(label)), run->start_s[t], run->end_s[t]);
        for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++)
            if (run->start_s[v->succ[i]] < run->end_s[t])
                return fr__fail(err, FR_ECHECK, FR_NOWHERE,
                                "self-check 'order': '%s' starts at %.9g s, before '%s' ends at "
                                "%.9g s",
                                fr_plan_task_label(p, v->succ[i], after, sizeof(after)),
                                run->start_s[v->succ[i]],
                                fr_plan_task_label(p, t, label, sizeof(label)), run->end_s[t]);
    }
    return FR_OK;
}

/* The compute tasks of a device, and whether they all share one stream. */
struct work {
    double sum_s;
    unsigned stream; /* of the first one */
    bool is_any, is_one_stream;
};

static enum fr_status check_account(const struct fr_plan *p, const struct fr_run *run,
                                    struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    struct work *work = calloc(run->n_devices + 1, sizeof(*work));
    enum fr_status st = FR_OK;

    if (!work)
        return fr__fail_nomem(err);
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        const struct fr_task *k = &v->tasks[t];
        struct work *w = &work[k->device];

        if (k->kind != FR_TASK_COMPUTE || !run->start_s)
            continue;
        w->sum_s += run->end_s[t] - run->start_s[t];
        if (!w->is_any) {
            w->stream = k->stream;
            w->is_one_stream = k->stream != FR_STREAM_FREE;
        }
        w->is_any = true;
        w->is_one_stream &= k->stream == w->stream;
    }
    for (uint32_t d = 0; d < run->n_devices && st == FR_OK; d++) {
        const struct fr_device_result *r = &run->devices[d];
        const struct fr_device_times *i = &r->iteration;
        double sum_s = r->compute_s + r->exposed_comm_s + r->idle_s;
        double iteration_s = i->compute_s + i->exposed_comm_s + i->idle_s;

        if (!is_near(sum_s, run->makespan_s, run->makespan_s))
            st = fr__fail(err, FR_ECHECK, FR_NOWHERE,
                          "self-check 'account': %s was busy or idle for %.9g s of %.9g s",
                          v->topo->devices[d].name, sum_s, run->makespan_s);
        else if (!is_near(iteration_s, run->iteration_s, run->makespan_s))
            st = fr__fail(err, FR_ECHECK, FR_NOWHERE,
                          "self-check 'account': %s was busy or idle for %.9g s of an iteration "
                          "of %.9g s",
                          v->topo->devices[d].name, iteration_s, run->iteration_s);
        else if (work[d].is_one_stream && !is_near(work[d].sum_s, r->compute_s, run->makespan_s))
            st = fr__fail(err, FR_ECHECK, FR_NOWHERE,
                          "self-check 'account': %s computed for %.9g s, its tasks take %.9g s",
                          v->topo->devices[d].name, r->compute_s, work[d].sum_s);
    }
    free(work);
    return st;
}

static enum fr_status check_bytes(const struct fr_plan *p, const struct fr_run *run,
                                  const double expected[], struct fr_error *err)
{
    const struct fr_topo *topo = fr_plan_view(p)->topo;
    char name[FR_LINK_NAME];

    for (uint32_t l = 0; l < run->n_links; l++)
        if (!is_near(run->link_bytes[l], expected[l], expected[l]))
            return fr__fail(err, FR_ECHECK, FR_NOWHERE,
                            "self-check 'bytes': link %s carried %.17g bytes instead of %.17g",
                            fr_topo_link_name(topo, l, name), run->link_bytes[l], expected[l]);
    return FR_OK;
}

enum fr_status fr__check_links(const struct fr_plan *p, const struct fr_run *run,
                               const double link_Bps[], struct fr_error *err)
{
    const struct fr_topo *topo = fr_plan_view(p)->topo;
    char name[FR_LINK_NAME];

    for (uint32_t l = 0; l < run->n_links; l++)
        if (run->link_bytes[l] > link_Bps[l] * run->makespan_s * (1 + TOLERANCE))
            return fr__fail(err, FR_ECHECK, FR_NOWHERE,
                            "self-check 'links': link %s carried %.17g bytes in %.9g s, which is "
                            "%.6g %% of what it can",
                            fr_topo_link_name(topo, l, name), run->link_bytes[l], run->makespan_s,
                            100 * run->link_bytes[l] / (link_Bps[l] * run->makespan_s));
    return FR_OK;
}

static enum fr_status check_memory(const struct fr_plan *p, const struct fr_run *run,
                                   struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    uint64_t *persistent = calloc(run->n_devices + 1, sizeof(*persistent));
    enum fr_status st = FR_OK;

    if (!persistent)
        return fr__fail_nomem(err);
    for (uint32_t b = 0; b < v->n_buffers; b++)
        if (v->buffers[b].alloc == FR_NONE && v->buffers[b].alias == FR_NONE)
            persistent[v->buffers[b].device] =
                fr__add_bytes(persistent[v->buffers[b].device], v->buffers[b].bytes);
    for (uint32_t d = 0; d < run->n_devices && st == FR_OK; d++)
        /* from a sum beyond 2^64 it is not known what is left */
        if (run->devices[d].peak_bytes < UINT64_MAX &&
            (run->devices[d].end_bytes != persistent[d] ||
             run->devices[d].peak_bytes < persistent[d]))
            st = fr__fail(
                err, FR_ECHECK, FR_NOWHERE,
                "self-check 'memory': %s ends with %llu bytes (peak %llu), its persistent "
                "buffers are %llu",
                v->topo->devices[d].name, (unsigned long long)run->devices[d].end_bytes,
                (unsigned long long)run->devices[d].peak_bytes, (unsigned long long)persistent[d]);
    free(persistent);
    return st;
}

static enum fr_status check_parts(const struct fr_plan *p, const struct fr_run *run,
                                  struct fr_error *err)
{
    size_t n = fr_n_resources(fr_plan_view(p)->topo);
    double sum_s = 0;

    for (size_t i = 0; run->parts_s && i < n; i++)
        sum_s += run->parts_s[i];
    if (run->parts_s && !is_near(sum_s, run->iteration_s, run->makespan_s))
        return fr__fail(err, FR_ECHECK, FR_NOWHERE,
                        "self-check 'parts': the iteration takes %.9g s, its parts %.9g s",
                        run->iteration_s, sum_s);
    return FR_OK;
}

static enum fr_status check_bounds(const struct fr_run *run, struct fr_error *err)
{
    if (run->makespan_s < run->makespan_bound_s * (1 - TOLERANCE))
        return fr__fail(err, FR_ECHECK, FR_NOWHERE,
                        "self-check 'bound': the run took %.9g s, below the lower bound %.9g s",
                        run->makespan_s, run->makespan_bound_s);
    if (run->iteration_s < run->lower_bound_s - TOLERANCE * run->makespan_s)
        return fr__fail(
            err, FR_ECHECK, FR_NOWHERE,
            "self-check 'bound': an iteration took %.9g s, below its lower bound %.9g s",
            run->iteration_s, run->lower_bound_s);
    return FR_OK;
}

enum fr_status fr__self_check(const struct fr_plan *p, const struct fr_run *run,
                              const double expected_link_bytes[], struct fr_error *err)
{
    if (run->want & FR_WANT_TASKS)
        FR_TRY(check_order(p, run, err));
    if (run->want & FR_WANT_ACCOUNT)
        FR_TRY(check_account(p, run, err));
    if (run->want & FR_WANT_LINKS)
        FR_TRY(check_bytes(p, run, expected_link_bytes, err));
    if (run->want & FR_WANT_MEMORY)
        FR_TRY(check_memory(p, run, err));
    FR_TRY(check_parts(p, run, err));
    return check_bounds(run, err);
}
