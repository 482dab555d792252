/* sim/analysis/totals.c - how good the order of a run was: between one thing at a time and
 * everything at once.
 *
 *   U   serial time: all tasks one after the other. A compute task counts the time it took, a
 *       message its time alone on its route, a collective its own cost, or that of its closed form
 *   L   the most of it that any one resource has to do: a stream of a device (compute), the way
 *       into or out of a device (messages; a collective is on both ways of each member)
 *   E = (U - m) / (U - L)   efficiency of an iteration of m seconds: 0 one thing at a time, 1 no
 *                           order could be faster
 *   S = (U - L) / L         what ordering may gain at best, over one thing at a time
 * Source:  S. H. Hashemi et al., TicTac, MLSys 2019, section 3.2, there for one worker and its
 *          channel.
 * Ignores: dependencies (the best order may be slower than L); with more than one message at a time
 *          into or out of a device E may pass 1.
 */
#include "config.h"

#include "sim/collectives/schedule_choice.h"

#include <stdlib.h>

struct totals {
    double *stream_s;     /* [n_devices][FR_N_STREAMS] */
    double *out_s, *in_s; /* [n_devices] */
    double serial_s;
};

static void add_computing(struct fr__engine *e, struct totals *k)
{
    const struct fr_plan_view *v = e->v;

    for (uint32_t t = 0; t < v->n_tasks; t++) {
        const struct fr_task *task = &v->tasks[t];
        double s = e->tasks[t].end_s - e->tasks[t].start_s;

        if (task->kind != FR_TASK_COMPUTE)
            continue;
        k->serial_s += s;
        if (task->stream != FR_STREAM_FREE)
            k->stream_s[task->device * FR_N_STREAMS + task->stream] += s;
    }
}

/* Adds what each member of a chain or a shift sends and receives. */
static void add_messages(struct fr__engine *e, uint32_t collective, struct totals *t)
{
    uint32_t group = e->v->collectives[collective].group,
             n_rings = fr__collective_n_rings(e, collective);

    for (uint32_t r = 0; r < n_rings; r++) {
        struct fr__ring k = fr__collective_ring(e, collective, r);
        uint32_t n_senders = k.pattern == PATTERN_CHAIN ? k.n - 1 : k.n;

        for (uint32_t i = 0; i < n_senders; i++)
            for (uint32_t round = 0; round < k.n_rounds; round++) {
                uint32_t position = (k.first + i) % k.n, to = fr__ring_next(&k, position, round);
                uint32_t route = fr__ring_route(e, &k, position, round);
                double s;

                if (route == FR_NONE)
                    return;
                s = fr__hop_s(e, route, k.chunk_bytes);
                t->out_s[fr_plan_group_device(e->plan, group,
                                              k.ranks ? k.ranks[position] : position)] += s;
                t->in_s[fr_plan_group_device(e->plan, group, k.ranks ? k.ranks[to] : to)] += s;
                fr__route_release(e, route);
            }
    }
}

static void add_moving(struct fr__engine *e, struct totals *k)
{
    const struct fr_plan_view *v = e->v;

    for (uint32_t x = 0; x < v->n_transfers; x++) {
        const struct fr_transfer *transfer = &v->transfers[x];
        double s = fr__message_alone(e, transfer);

        k->serial_s += s;
        k->out_s[v->tasks[transfer->send].device] += s;
        k->in_s[v->tasks[transfer->recv].device] += s;
    }
    for (uint32_t c = 0; c < v->n_collectives; c++) {
        double s = fr__collective_s(e, c);
        struct fr__collective_schedule way;

        k->serial_s += s;
        if (!fr__collective_has_cost(e, c) && !fr__collective_schedule_of(e, c, &way) &&
            fr__collective_n_rings(e, c) > 0 &&
            fr__collective_ring(e, c, 0).pattern != PATTERN_RING) {
            add_messages(e, c, k);
            continue;
        }
        for (uint32_t m = v->member_first[c]; m < v->member_first[c + 1]; m++) {
            k->out_s[v->tasks[v->members[m]].device] += s;
            k->in_s[v->tasks[v->members[m]].device] += s;
        }
    }
}

static double most_of(const double s[], size_t n, double most_s)
{
    for (size_t i = 0; i < n; i++)
        most_s = s[i] > most_s ? s[i] : most_s;
    return most_s;
}

enum fr_status fr__totals(struct fr__engine *e, struct fr_run *run)
{
    size_t n = e->v->topo->n_devices;
    struct totals k = {.serial_s = 0};

    k.stream_s = calloc(n * FR_N_STREAMS + 1, sizeof(*k.stream_s));
    k.out_s = calloc(n + 1, sizeof(*k.out_s));
    k.in_s = calloc(n + 1, sizeof(*k.in_s));
    if (!k.stream_s || !k.out_s || !k.in_s) {
        fr__engine_fail_nomem(e);
    } else {
        add_computing(e, &k);
        add_moving(e, &k);
        run->serial_s = k.serial_s / run->n_iterations;
        run->busiest_s = most_of(k.stream_s, n * FR_N_STREAMS, 0);
        run->busiest_s = most_of(k.out_s, n, run->busiest_s);
        run->busiest_s = most_of(k.in_s, n, run->busiest_s) / run->n_iterations;
    }
    free(k.stream_s);
    free(k.out_s);
    free(k.in_s);
    return e->status;
}

double fr_run_efficiency(const struct fr_run *r)
{
    double room_s = r->serial_s - r->busiest_s;

    /* of one resource that does everything any order is as good */
    return room_s > 1e-12 * r->serial_s ? (r->serial_s - r->iteration_s) / room_s : 1;
}

double fr_run_speedup_potential(const struct fr_run *r)
{
    return r->busiest_s > 0 ? (r->serial_s - r->busiest_s) / r->busiest_s : 0;
}
