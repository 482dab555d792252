#!/usr/bin/env python3
"""Changes the engine and the solver in one place at a time and asks the tests whether they notice.

usage: tests/project/mutate.py [-j N] [--check | -l] [--sample N [--seed S]] [WORD...]

Copies the source tree that this script stands in to a temporary folder (one for each of N builds
side by side), and for each mutation below rebuilds what it changes and runs the programs of TESTS
until one fails. A mutation that none notices has SURVIVED: a test is missing. With WORDs only
mutations whose file or text holds one of them are tried; --sample tries N of these, the same ones
for the same seed; -l lists them. --check builds nothing and says whether each mutation still fits
one place of the source, which it must.

Files and test programs are found by their names, wherever they are in the tree.

Exit status: 0 all caught; 1 some survived, or a mutation does not fit the source any more.
"""
import argparse
import hashlib
import os
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

# test_NAME.c: the quick ones first, but a file's own before all. Each is run in one process
# (CK_FORK=no), so that an endless loop can be ended from outside.
TESTS = ["heap", "turns", "tournament", "plan", "pattern", "selfcheck", "collective", "account",
         "sim/memory", "allocator", "network", "sim/order", "engine", "changes", "random",
         "random_pairs", "simgrid", "sim/sensitivity", "maxmin", "maxmin_random", "simulation"]

# Kind, file, and a part of it, which must be there exactly once: {{is => becomes}}. A file is named
# without its folders, as files move; where several have that name, one of its folders goes first.
MUTATIONS = [
    # the loop, streams, the host
    ("comparison", "streams.c", "return a.ready_s {{< => >}} b.ready_s;"),
    ("comparison", "streams.c", "return a.key {{< => >}} b.key;"),
    ("sign", "streams.h", "(uint32_t)k->priority ^ UINT32_C({{0x80000000 => 0}});"),
    ("comparison", "streams.c", "while (i > 0 && {{goes_before => !goes_before}}(is_fifo, w,"),
    ("comparison", "streams.c", "child += {{goes_before => !goes_before}}(is_fifo, queue[child"),
    ("comparison", "streams.c", "if ({{!goes_before => goes_before}}(is_fifo, queue[child], w))"),
    ("off by one", "streams.c", "if (child + {{1 => 2}} < n)"),
    ("sign", "streams.c", "*host_s {{+= => -=}} fr__launch_s(e, cost_id, d);"),
    ("sign", "engine.c", "e->now_s {{+ => -}} duration_s, task, EVENT_TASK_DONE"),
    ("sign", "engine.c", "device->{{n_computing++ => n_computing--}};"),
    ("sign", "engine.c", "e->results[d].work_s {{+= => -=}} duration_s;"),
    ("off by one", "streams.h", "if (--tasks[*next].waits == {{0 => 1}})"),
    ("comparison", "engine.c", "w.ready_s {{< => <=}} e->now_s && s->last"),
    ("comparison", "engine.c", "if (host_s {{> => <}} e->now_s)"),
    ("comparison", "engine.c", "e->o->order {{!= => ==}} FR_ORDER_STRICT ||"),
    ("comparison", "engine.c", "next_s = network_s {{< => >}} event_s ?"),
    ("comparison", "engine.c", "FR_OK || e->n_done {{== => >}} e->v->n_tasks)"),
    ("sign", "streams.c", "priority ? {{-1 : 1 => 1 : -1}};"),
    ("off by one", "streams.c", "&tasks[child + 1], t) < {{0 => -1}})"),
    ("sign", "simulation.c", "interval_s = end_s {{- => +}} before_s;"),
    ("comparison", "simulation.c", "fabs(interval_s - last_s) {{<= => >}} 1e-6"),
    # the account of a device, and lists of any length
    ("sign", "engine.h", "double dt_s = e->now_s {{- => +}} k->since_s;"),
    ("sign", "engine.h", "k->n_copying {{+ => -}} k->n_collective > 0"),
    ("sign", "engine.h", "times->exposed_comm_s {{+= => -=}} dt_s;"),
    ("sign", "engine.h", "times->comm_s {{+= => -=}} dt_s;"),
    ("comparison", "engine.h", "return n {{< => <=}} MANY ? at + n : first[task + 1];"),
    # messages
    ("sign", "routes.c", "latency_s {{+= => -=}} fr__link_latency_s(r, links[i]);"),
    ("comparison", "routes.c", "if (bw_Bps {{< least_Bps => < INFINITY}})"),
    ("sign", "analytic.c", "(d->latency_s {{+ => -}} d->bytes / d->route->bw_Bps)"),
    ("comparison", "flow.c", "if (!(d->latency_s {{> => <}} 0))"),
    ("sign", "sim/network.c", "return a.latency_s {{+ => -}} a.extra_s;"),
    ("sign", "sim/network.c", "is_beginning ? {{1 : (uint32_t)-1 => (uint32_t)-1 : 1}};"),
    ("comparison", "channels.h", "c->ends[src].n_out {{< => <=}} c->limit"),
    ("comparison", "channels.h", "c->ends[dst].n_in {{< => <=}} c->limit"),
    ("sign", "channels.h", "c->ends[src].{{n_out-- => n_out++}};"),
    ("sign", "channels.h", "c->ends[dst].{{n_in-- => n_in++}};"),
    ("off by one", "channels.c", ".prev_in = {{in->waiting_in_last => FR_NONE}},"),
    ("sign", "sim/network.c", "n->link_bytes[links[i]] {{+= => -=}} loaded(e, &m);"),
    ("comparison", "sim/network.c", "if (peer->start_s {{> => <}} launched_s)"),
    ("comparison", "sim/network.c", "if (launched_s {{> => <}} e->now_s)"),
    ("comparison", "sim/network.c", "start_s {{> => <}} e->tasks[x->recv].start_s ? x->send"),
    ("comparison", "routes.h", "if ({{!r-> => r->}}at[route].is_passing)"),
    # messages as measured
    ("comparison", "alone.c", ".latency_s = {{fmax => fmin}}(latency_s, route->latency_s"),
    ("sign", "alone.c", "fmax(fit_bytes_s {{- => +}} bytes_s, 0)"),
    ("comparison", "routes.c", "if (bw_Bps {{< => >}} least_Bps)"),
    # collectives: how they go
    ("sign", "form.c", "2 * (n {{- => +}} 1) : n - 1;"),
    ("off by one", "form.c", "k.chunk_bytes = {{floor => ceil}}(c->bytes / n);"),
    ("off by one", "form.c", "k.chunk_bytes = {{floor => ceil}}(bytes / n);"),
    ("off by one", "form.c", "{{ceil => floor}}(bytes / CHAIN_CHUNK_BYTES), 1)"),
    ("off by one", "form.c", "(position + {{1 => 0}}) % k->n : position;"),
    ("off by one", "engine.h", "ALGORITHM_SHIFT ? round + {{1 => 2}} : 1);"),
    ("sign", "engine.h", "next < k->n ? next : next {{- => +}} k->n;"),
    ("comparison", "sim/rings.c", "links[links[l]].kind {{> => <}} kind)"),
    # what they take alone, and put on the links
    ("sign", "form.c", "k->latency_s {{+ => -}} bytes / k->bw_Bps : 0;"),
    ("comparison", "form.c",
     "k->chunk_bytes) {{> => <}} fr__hop_s(e, slowest, k->chunk_bytes))"),
    ("off by one", "form.c", "for (uint32_t i = 0; i + {{1 => 0}} < k->n; i++)"),
    ("sign", "form.c", "k->n - 1), k->n_rounds {{- => +}} 1.0);"),
    ("comparison", "form.c",
     "k->chunk_bytes) {{<= => >}} fr__hop_s(e, slowest, k->chunk_bytes))"),
    ("comparison", "form.c", "if (s {{> => <}} most_s)"),
    ("off by one", "form.c", "ALGORITHM_CHAIN ? k.n - {{1 => 0}} : k.n;"),
    # their start and their steps
    ("comparison", "collective.c", "if (launched_s {{> => <}} m->start_s)"),
    ("comparison", "collective.c", "if (++m->n_arrived {{< => <=}} e->v->member_first"),
    ("comparison", "collective.c", "stretch = s {{> => <}} stretch ?"),
    ("sign", "collectives/cost.c", "own.latency_s = mean_s {{- => +}} own.bandwidth_s;"),
    ("off by one", "collectives/cost.c", "c->group) > {{1 => 0}};"),
    ("comparison", "steps.c", "r->received[i] {{< => <=}} needed)"),
    ("comparison", "steps.c", "n_rounds {{|| => &&}} r->received[i] < r->ring."),
    ("off by one", "steps.c", "last = (first + r->ring.n - {{1 => 2}}) % r->"),
    ("off by one", "steps.c", "if (++r->n_done == r->ring.n{{ =>  - 2}})"),
    ("off by one", "steps.c", "e->collectives.rings_left[first + i] = {{n_rings => 1}};"),
    # memory
    ("sign", "sim/memory.c", "        k->bytes {{-= => +=}} b->bytes;"),
    ("sign", "sim/memory.c", "k->by_kind[kind_of(b)] {{-= => +=}} b->bytes;"),
    ("comparison", "sim/memory.c", "if (k->bytes {{<= => <}} k->peak_bytes)"),
    ("sign", "sim/memory.c", "k->bytes {{- => +}} k->by_kind[FR_BUFFER_CONTEXT] > k->limit_bytes)"),
    ("comparison", "sim/memory.c", "FR_BUFFER_CONTEXT] {{> => >=}} k->limit_bytes)"),
    ("off by one", "sim/memory.c", "if (--b->frees_left > {{0 => 1}})"),
    ("sign", "sim/memory.c", "*limit_bytes {{-= => +=}} k->bytes <"),
    ("comparison", "sim/memory.c", "is_of_optimizer(k) {{!= => ==}} is_optimizer)"),
    # the caching allocator
    ("comparison", "allocator.c", "pool == SMALL ? rest_bytes {{>= => >}} ROUND_BYTES"),
    ("comparison", "allocator.c", "rest_bytes {{> => >=}} MOST_SMALL_BYTES)"),
    ("comparison", "allocator.c", "s->reserved_bytes + bytes {{> => >=}} a->limit_bytes)"),
    ("comparison", "allocator.c", "x->address {{< => >}} y->address;"),
    ("comparison", "allocator.c", "return bytes {{< => <=}} LEAST_LARGE_BYTES ?"),
    ("sign", "allocator.c", "a->stats.allocated_bytes {{-= => +=}} a->blocks[id].bytes;"),
    ("comparison", "allocator.c", "if (a->blocks[id].bytes {{>= => >}} bytes)"),
    # interference
    ("sign", "interference.c", "*left_s {{-= => +=}} (e->now_s"),
    ("comparison", "interference.c", "return a {{> => <}} b ? a : b;"),
    ("comparison", "interference.c", "k->n_computing {{> => >=}} (c =="),
    ("comparison", "interference.c", "k->n_copying {{> => >=}} (c =="),
    ("comparison", "interference.c", "k->n_collective {{> => >=}} (c =="),
    ("sign", "interference.c", "e->now_s {{+ => -}} *left_s / rate"),
    # random factors
    ("sign", "random.c", "f = 1 {{+ => -}} cv * fr__rng_normal(&rng);"),
    ("comparison", "random.c", "return f {{< => >}} LEAST_FACTOR ?"),
    ("sign", "random.c", "DEVICE_STREAMS {{+ => -}} d,"),
    ("comparison", "random.c", "((flops_s {{> => <}} bytes_s ? flops_s : bytes_s) / c->mean_s)"),
    # the lower bound, and totals
    ("comparison", "analysis/bound.c", "if (end_s {{> => <}} w->longest_s)"),
    ("sign", "alone.h", "return a.latency_s + a.extra_s {{+ => -}} a.bytes_s;"),
    ("comparison", "analysis/bound.c", "fastest_s = {{fmin => fmax}}(fastest_s, fr__hop_s"),
    ("comparison", "analysis/bound.c", "fastest_s = {{fmin => fmax}}(fastest_s, fastest_of_position"),
    ("comparison", "analysis/bound.c", "out->work_s = {{fmax => fmin}}(out->work_s, work_s[s]);"),
    ("comparison", "analysis/bound.c", "out->launch_s = {{fmax => fmin}}(out->launch_s, launch_s[d]);"),
    ("comparison", "analysis/bound.c", "run->makespan_bound_s = {{fmax => fmin}}(path_s,"),
    ("sign", "analysis/bound.c", "bytes[links[l]] {{+= => -=}} n;"),
    ("sign", "sim/totals.c", "(r->serial_s {{- => +}} r->iteration_s) / room_s"),
    ("comparison", "sim/totals.c", "most_s = s[i] {{> => <}} most_s ?"),
    ("off by one", "sim/totals.c", "k.serial_s / run->n_iterations{{ =>  / 2}};"),
    # parts of a moment
    ("sign", "sim/sensitivity.c",
     "held[k] += m->rate_Bps * (own_s[k] {{- => +}} p->rate_s[k]);"),
    ("sign", "sim/sensitivity.c", "(enum fr_link_kind)k, FR_LINK_BANDWIDTH)] {{+= => -=}}"),
    ("sign", "sim/sensitivity.c", "p->now_s[k] {{+= => -=}} held[k] / m->rate_Bps;"),
    ("sign", "flow.c", "left_Bps[k] {{-= => +=}} level_of(f, other"),
    ("comparison", "sim/sensitivity.c",
     "return flops_s {{> => <}} bytes_s ? FR_DEVICE_ARITHMETIC"),
    ("sign", "sim/sensitivity.c", "parts_s[k] {{-= => +=}} of_task(p"),
    # the checks themselves
    ("sign", "selfcheck.c", "fabs(a {{- => +}} b) <="),
    ("comparison", "selfcheck.c", "if (run->start_s[v->succ[i]] {{< => >}} run->end_s[t])"),
    ("comparison", "selfcheck.c", "!(run->end_s[t] {{>= => >}} run->start_s[t])"),
    ("sign", "selfcheck.c", "r->compute_s {{+ => -}} r->exposed_comm_s"),
    ("sign", "selfcheck.c", "run->makespan_bound_s * (1 {{- => +}} TOLERANCE)"),
    ("comparison", "selfcheck.c", "run->devices[d].peak_bytes {{< => >}} persistent[d]"),
    ("sign", "selfcheck.c", "w->sum_s += run->end_s[t] {{- => +}} run->start_s[t];"),
    # plans
    ("off by one", "plan/index.c", "r.first[deps[i].from + {{2 => 1}}]++;"),
    ("sign", "plan/view.c", "g->first {{+ => -}} rank * g->stride"),
    ("off by one", "plan/index.c", "members[first[k->collective] + {{fr__plan_member_at(p, k) => 0}}] = t;"),
    ("comparison", "sound.c", "deps[i].from {{< => <=}} deps[i].to)"),
    ("comparison", "sound.c", "{{alloc >= o->after[task] => false}})"),
    ("comparison", "sound.c", "v->succ[i] {{< => >}} o->after[late])"),
    ("comparison", "sound.c", "if (v->n_frees[b] {{== => >}} 0 &&"),
    ("comparison", "sound.c", "k->alias {{< => <=}} b &&"),
    ("comparison", "plan/check.c", "position[t] {{< => >}} position[alloc]"),
    ("comparison", "plan/check.c", "v->buffers[b].bytes {{> => <}} v->buffers[root].bytes"),
    ("sign", "copy.c", "FR_NONE : id {{+ => -}} by;"),
    ("sign", "copy.c", "copy.collective {{+= => -=}} at.collectives;"),
    ("comparison", "copy.c", "buffer_ids, at.tasks {{== => !=}} 0, at.tasks);"),
    ("off by one", "unroll.c", "if (i > {{0 => 1}})"),
    ("comparison", "unroll.c", "if (!(neighbours[t] & {{HAS_BEFORE => HAS_AFTER}}))"),
    # repeated blocks of a plan
    ("sign", "pattern.c", "t->priority += place->next_priority {{- => +}} from->priority;"),
    ("comparison", "pattern.c", "return id {{>= => >}} first && id < end;"),
    ("sign", "pattern.c", "d->to = old->to {{+ => -}} c->task_by;"),
    # plans in another order
    ("comparison", "gate.c", "return x->number {{< => >}} y->number ? -1 : 1;"),
    ("comparison", "gate.c", "turns[end].number {{== => !=}} turns[first].number;"),
    ("off by one", "gate.c", "scratch[i - 1] + ({{scratch[i - 1] < INT32_MAX => 0}});"),
    ("comparison", "tictac.c", "a_first != b_first ? a_first {{< => >}} b_first :"),
    ("comparison", "tictac.c", ": l->with[a] {{< => >}} l->with[b];"),
    ("sign", "tictac.c", "l->sum[c] {{-= => +=}} k->ticks[r];"),
    ("comparison", "tictac.c", "return x->wave {{< => >}} y->wave ? -1 : 1;"),
    # the event queue
    ("off by one", "heap.h", "size_t parent = (i + {{8 => 7}}) / 4;"),
    ("comparison", "heap.h", "(a.key {{< => >}} b.key)"),
    ("comparison", "heap.h", "({{at[right], at[left] => at[left], at[right]}})"),
    ("off by one", "heap.h", "for (size_t c = child + {{1 => 2}}; c < end; c++)"),
    # what is said afterwards
    ("comparison", "critical.c", "if (e->tasks[t].end_s {{> => <}} e->tasks[last].end_s)"),
    ("comparison", "deadlock.c", "progress {{>= => >}} TASK_DISPATCHED;"),
    ("comparison", "deadlock.c", "e->tasks[task].waits {{> => ==}} 0)"),
    # the solver: flows and their ends
    ("comparison", "maxmin.c", "narrowest = q->capacity_Bps {{< => >}} narrowest->capacity_Bps"),
    ("sign", "maxmin.c", "q->left_Bps = q->capacity_Bps {{- => +}} narrowest->capacity_Bps;"),
    ("sign", "maxmin.c", "f->end_s = now {{+ => -}} f->remaining_bytes / narrowest"),
    ("comparison", "maxmin.c", "is_alone = is_alone && q->n {{== => !=}} 0;"),
    ("comparison", "maxmin.c", "if (pos {{< => >}} q->n_sorted)"),
    ("sign", "maxmin.c", "q->n_open {{-= => +=}} !has_rate;"),
    ("sign", "maxmin.c", "q->left_Bps {{+= => -=}} m->shares[slot].rate_Bps;"),
    ("comparison", "maxmin.c", "m->shares[slot].rate_Bps {{< => >}} m->level_Bps)"),
    ("comparison", "maxmin.c", "if (++m->stats.live {{> => <}} m->stats.live_max)"),
    ("comparison", "maxmin.c", "done[i].seq {{< => >}} done[i - 1].seq"),
    ("comparison", "maxmin.c", "done[j - gap].seq {{> => <}} d.seq"),
    ("comparison", "maxmin.c", "m->flows[slot].end_s {{<= => >}} limit_s)"),
    ("comparison", "maxmin.c", "if (fr__maxmin_solve(m, now) {{> => <}} limit_s)"),
    ("sign", "maxmin.c", "now {{+ => -}} now * END_TOLERANCE;"),
    ("sign", "maxmin.c", "* (now {{- => +}} f->since_s);"),
    # the solver: where filling resumes
    ("comparison", "maxmin_level.c", "x[j - gap]) {{> => <}} key; j -= gap)"),
    ("comparison", "maxmin_level.c",
     "left_Bps {{<= => >}} fr__maxmin_rate_of(m, q->entries[i - 1]) * (q->n"),
    ("comparison", "maxmin_state.h", "if (q->next {{>= => <}} FR__MOST_CHANGES)"),
    ("comparison", "maxmin_level.c", "if (rate_Bps {{>= => <}} below_Bps)"),
    ("comparison", "maxmin_level.c",
     "INFINITY;\n\n            level_Bps = full_Bps {{< => >}} level_Bps ?"),
    ("comparison", "maxmin_level.c",
     "full_level(m, q);\n            level_Bps = full_Bps {{< => >}} level_Bps ?"),
    ("comparison", "maxmin_level.c",
     "if (fr__maxmin_loose_left(q) {{< => >}} least_Bps * q->n_open)"),
    ("comparison", "maxmin_level.c", "fr__maxmin_loose_left(q) {{< => >}} level_Bps * q->n_open)"),
    ("sign", "maxmin_level.c", "level_Bps * (1 {{- => +}} FR__TIE) : 0;"),
    ("comparison", "maxmin_fill.c",
     "if (fr__maxmin_loose_left(q) {{< => >}} m->least_Bps * q->n_open)"),
    # the solver: filling
    ("sign", "maxmin_fill.c", "q->left_Bps {{-= => +=}} rate_Bps;\n    q->n_open--;"),
    ("comparison", "maxmin_fill.c", "q->entries[i - 1]) {{>= => <}} level_Bps)"),
    ("comparison", "maxmin_fill.c", "q->entries[i - 1]) {{>= => <}} q->level_Bps)"),
    ("comparison", "maxmin_fill.c", "if (s->rate_Bps {{> => <}} level_Bps)"),
    ("comparison", "maxmin_fill.c", "hops[h].pos {{< => >}} q->next)"),
    ("comparison", "maxmin_fill.c", "from_Bps = old_Bps {{< => >}} rate_Bps ?"),
    ("sign", "maxmin_fill.c", "was_free ? rate_Bps : rate_Bps {{- => +}} old_Bps;"),
    ("sign", "maxmin_fill.c", "left_bytes = f->remaining_bytes {{- => +}} old_Bps *"),
    ("sign", "maxmin_fill.c", "* (now {{- => +}} f->since_s);"),
    ("sign", "maxmin_fill.c", "f->end_s = now {{+ => -}} f->remaining_bytes / rate_Bps;"),
    ("comparison", "maxmin_fill.c", "if (q->left_Bps {{<= => >}} (level_Bps"),
    ("sign", "maxmin_fill.c", "(level_Bps {{+ => -}} level_Bps * FR__TIE) * q->n_open)"),
    ("sign", "maxmin_fill.c", "if (share_Bps > *level_Bps {{+ => -}} *level_Bps * FR__TIE)"),
    ("comparison", "maxmin_fill.c", "if (q->level_Bps {{> => <}} *level_Bps &&"),
    ("comparison", "maxmin_fill.c", "if (share_Bps {{< => >}} least_Bps)"),
    ("comparison", "maxmin_fill.c", "} else if (share_Bps {{< => >}} next_Bps)"),
    ("sign", "maxmin_fill.c", "if (key_Bps > level_Bps {{+ => -}} level_Bps * FR__TIE)"),
    ("comparison", "maxmin_fill.c", "m->flows[slot].end_s {{< => >}} end_s ?"),
    ("comparison", "maxmin_fill.c", "if (s->rate_Bps {{< => >}} last_Bps)"),
    ("sign", "maxmin_fill.c", "        left_Bps {{-= => +=}} last_Bps;"),
    # the solver: the next end, the next resource
    ("comparison", "tournament.h", "double a = x[0] {{< => >}} x[1] ?"),
    ("comparison", "tournament.h", "return a {{< => >}} c ? a : c;"),
    ("comparison", "tournament.h", "if (was {{> => >=}} *winner)"),
    ("comparison", "tournament.c", "(uint32_t)(x[7] {{<= => <}} most) << 7"),
    ("comparison", "turns.h", "k.time_bits {{> => <}} e.time_bits || ("),
    ("off by one", "turns.h", "(t->n_few == {{0 => 1}} ||"),
]

# Mutations that change nothing a test could see, and why. They are not tried.
EQUIVALENT = [
    ("heap.h", "if (child + {{4 => 3}} <= end)",
     "The place behind the last event holds the very event that is being put down: chosen as the "
     "least of four, it ends the way down as the other three would have."),
    ("steps.c", "if (++r->n_done == r->ring.n{{ =>  - 1}})",
     "A collective's last message is the last of both its sender and its receiver, so the last two "
     "ranks end together and no other collective can take the ring between them."),
    ("pattern.c", "return id >= first && id {{< => <=}} end;",
     "A block refers to nothing that was made after it: no id that it holds is that of its end."),
    ("maxmin_state.h", "return q->left_Bps {{- => +}} q->capacity_Bps * FR__TIE;",
     "Moves a bound by 2^-43 of the capacity: only sums that rounding has moved as far would tell, "
     "and rates so close are a tie."),
]

# The test of a file's own, which is run before all others.
OWN_TESTS = {
    "heap.h": "heap", "turns.h": "turns", "tournament.h": "tournament",
    "tournament.c": "tournament", "selfcheck.c": "selfcheck", "maxmin.c": "maxmin_random",
    "maxmin_fill.c": "maxmin_random", "interference.c": "network", "engine.c": "engine",
    "streams.c": "engine", "streams.h": "engine", "sound.c": "plan",
    "maxmin_level.c": "maxmin_random", "maxmin_state.h": "maxmin_random",
    "engine.h": "engine", "sim/network.c": "engine", "alone.c": "network", "alone.h": "account",
    "routes.c": "network", "routes.h": "network", "channels.c": "network", "channels.h": "network",
    "analytic.c": "network", "flow.c": "sim/sensitivity", "sim/rings.c": "collective",
    "simulation.c": "engine",
    "collective.c": "collective", "collectives/cost.c": "collective", "form.c": "collective",
    "steps.c": "collective", "allocator.c": "allocator", "sim/memory.c": "sim/memory",
    "analysis/bound.c": "account", "random.c": "account", "sim/totals.c": "sim/order", "unroll.c": "account",
    "copy.c": "account", "sim/sensitivity.c": "sim/sensitivity", "pattern.c": "pattern",
    "gate.c": "sim/order", "tictac.c": "sim/order",
}

MARK = re.compile(r"\{\{(.*?) => (.*?)\}\}")
LEFT_OUT = shutil.ignore_patterns(".git", "build", "build-*", "autom4te.cache", ".deps", ".libs",
                                  "*.o", "*.lo", "*.la", "Makefile", "config.status", "config.h",
                                  "stamp-h1")
MOST_MEMORY = 4 << 30  # of a test gone wild


class Misfit(Exception):
    """A mutation or a tree that cannot be used."""


class Files:
    """The C files of a source tree by their names."""

    def __init__(self, source):
        self.source = source
        self.paths = {}
        for folder, folders, names in os.walk(source):
            folders[:] = sorted(f for f in folders if f[0] != "." and not f.startswith("build"))
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.relpath(os.path.join(folder, name), source)
                    self.paths.setdefault(name, []).append(path)

    def find(self, name):
        """The path of the one file of that name, below a folder of the name that stands before."""
        folder, base = os.path.split(name)
        found = [p for p in self.paths.get(base, [])
                 if not folder or folder in p.split(os.sep)[:-1]]
        if len(found) != 1:
            said = "no such file" if not found else "several: " + ", ".join(found)
            raise Misfit(f"{name}: {said}")
        return found[0]

    def test(self, name):
        """The path of a test program's source."""
        folder, base = os.path.split(name)
        return self.find(os.path.join(folder, f"test_{base}.c"))

    def read(self, name):
        with open(os.path.join(self.source, self.find(name)), encoding="utf-8") as f:
            return f.read()


def apply(text, spec):
    """The text with the mutation in it and the line it stands on."""
    mark = MARK.search(spec)
    if not mark:
        raise Misfit("a mutation without {{is => becomes}}")
    before, after = spec[:mark.start()], spec[mark.end():]
    old = before + mark[1] + after
    if text.count(old) != 1:
        raise Misfit(f"found {text.count(old)} times instead of once: bring mutate.py up to date")
    at = text.index(old)
    return (text[:at] + before + mark[2] + after + text[at + len(old):],
            text.count("\n", 0, at + len(before)) + 1)


def shown(spec):
    """A mutation in one line."""
    return " ".join(spec.split())


def describe(status, output, limit_s):
    """How a test program failed, or None."""
    named = re.search(r":[FE]:[^:]*:([^:]*):", output)
    said = [line for line in output.splitlines() if "fixture:" in line or "ssert" in line]
    if status == 0:
        return None
    if status == -signal.SIGXCPU:
        return f"no end within {limit_s} s"
    if named:
        return named[1]
    if said:
        return said[-1][:70]
    return signal.strsignal(-status) if status < 0 else f"status {status}"


class Tree:
    """A copy of the sources, built, in which tests are built again and run."""

    def __init__(self, folder, limit_s):
        self.folder = folder
        self.limit_s = limit_s
        self.files = Files(folder)

    @classmethod
    def build(cls, source, folder, n_jobs):
        """Copies, configures and builds, and takes the time of each test."""
        shutil.copytree(source, folder, ignore=LEFT_OUT, symlinks=True)
        tree = cls(folder, {})
        tree.call(["./configure", "--quiet", "--disable-shared", "CFLAGS=-O1"])
        tree.call(["make", "-s", f"-j{n_jobs}", *map(tree.program, TESTS)])
        for test in TESTS:
            failure, cpu_s = tree.run(test, 300)
            if failure:
                raise Misfit(f"fails without any mutation: {failure}")
            tree.limit_s[test] = 2 + int(2 * cpu_s)
        return tree

    def copy(self, folder):
        shutil.copytree(self.folder, folder, symlinks=True)
        return Tree(folder, self.limit_s)

    def program(self, test):
        return self.files.test(test)[:-len(".c")]

    def call(self, command):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode:
            said = "\n".join(done.stdout.splitlines()[-4:])
            raise Misfit(f"{' '.join(command)} failed:\n{said}")

    def run(self, test, limit_s):
        """(how the test failed or None, CPU seconds). Limits are of CPU time: they hold on a busy
        machine, too."""
        def set_limits():
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))

        with tempfile.TemporaryFile("w+", errors="replace") as said:
            p = subprocess.Popen(["./" + self.program(test)], cwd=self.folder, stdout=said,
                                 stderr=subprocess.STDOUT, preexec_fn=set_limits,
                                 env={**os.environ, "CK_FORK": "no", "srcdir": "."})
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)  # there is nothing left to wait for
            said.seek(0)
            output = said.read()
        failure = describe(p.returncode, output, limit_s)
        return failure and f"{test}: {failure}", used.ru_utime + used.ru_stime

    def try_one(self, mutation):
        """How it was caught, or None."""
        _, name, spec = mutation
        path = os.path.join(self.folder, self.files.find(name))
        text = self.files.read(name)
        mutated, _ = apply(text, spec)
        try:
            with open(path, "w", encoding="utf-8") as f:
                f.write(mutated)
            for test in sorted(TESTS, key=lambda t: t != OWN_TESTS.get(name)):
                self.call(["make", "-s", self.program(test)])
                failure, _ = self.run(test, self.limit_s[test])
                if failure:
                    return failure
            return None
        finally:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)


def work(tree, mutations, jobs, results):
    """One thread: takes mutations until none is left."""
    while True:
        try:
            i = jobs.get_nowait()
        except queue.Empty:
            return
        try:
            results[i] = tree.try_one(mutations[i])
            if not results[i]:
                print(f"SURVIVED: {mutations[i][1]} {shown(mutations[i][2])}", flush=True)
        except (Misfit, OSError) as e:
            results[i] = e


def try_all(source, mutations, n_jobs):
    """How each was caught: a sentence, None, or the exception that prevented a try."""
    results = [Misfit("not tried")] * len(mutations)
    jobs = queue.Queue()
    for i in range(len(mutations)):
        jobs.put(i)
    with tempfile.TemporaryDirectory() as folder:
        first = Tree.build(source, os.path.join(folder, "0"), n_jobs)
        trees = [first] + [first.copy(os.path.join(folder, str(i)))
                           for i in range(1, min(n_jobs, len(mutations)))]
        threads = [threading.Thread(target=work, args=(tree, mutations, jobs, results))
                   for tree in trees]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    return results


def report(mutations, lines, results):
    """Prints the table; the number of mutations that were not caught."""
    n_bad = 0
    print(f"\n{'kind':10}  {'place':26}  mutation\n{'':40}caught by")
    for (kind, name, spec), line, caught in zip(mutations, lines, results):
        n_bad += not isinstance(caught, str)
        caught = f"UNUSABLE: {caught}" if isinstance(caught, Exception) else caught or "SURVIVED"
        print(f"{kind:10}  {name + ':' + str(line):26}  {shown(spec)}\n{'':40}{caught}")
    n_signs = sum(kind == "sign" for kind, _, _ in mutations)
    print(f"\n{len(mutations)} mutations, {n_signs} of them signs: "
          f"{len(mutations) - n_bad} caught, {n_bad} survived or unusable")
    return n_bad


def report_equivalent():
    print(f"\n{len(EQUIVALENT)} more change nothing that a test could see:")
    for name, spec, why in EQUIVALENT:
        print(f"{name:18}  {shown(spec)}\n{'':20}{why}")


def places(files, mutations):
    """The line of each; None where it does not fit, which is said."""
    lines = []
    for _, name, spec in mutations:
        try:
            lines.append(apply(files.read(name), spec)[1])
        except Misfit as e:
            lines.append(None)
            print(f"UNUSABLE: {name} {shown(spec)}: {e}", flush=True)
    return lines


def check(files):
    """Whether all mutations, files and tests are there, whatever else was asked for."""
    everything = MUTATIONS + [("equivalent", name, spec) for name, spec, _ in EQUIVALENT]
    n_bad = places(files, everything).count(None)
    for test in TESTS:
        try:
            files.test(test)
        except Misfit as e:
            n_bad += 1
            print(e)
    for name, test in OWN_TESTS.items():
        if test not in TESTS or not any(name == m[1] for m in MUTATIONS):
            n_bad += 1
            print(f"{name} has no mutation, or no test of its own")
    print(f"{len(everything)} mutations in all, {n_bad} things that do not fit")
    return 1 if n_bad else 0


def sample(mutations, n, seed):
    """n of them. Which ones does not depend on the others much: a new mutation replaces one."""
    def rank(mutation):
        return hashlib.sha256(f"{seed} {mutation[1]} {mutation[2]}".encode()).digest()
    taken = sorted(mutations, key=rank)[:n]
    return [m for m in mutations if m in taken]


def source_of_this_script():
    folder = os.path.dirname(os.path.abspath(__file__))
    while not os.path.exists(os.path.join(folder, "configure.ac")):
        if folder == os.path.dirname(folder):
            raise Misfit("no configure.ac above this script")
        folder = os.path.dirname(folder)
    return folder


def options_of_command_line():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N",
                        help="builds at a time")
    parser.add_argument("-l", action="store_true", help="list the mutations")
    parser.add_argument("--check", action="store_true",
                        help="only say whether every mutation fits the source")
    parser.add_argument("--sample", type=int, metavar="N", help="try N of them")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which N")
    parser.add_argument("word", nargs="*", help="only mutations with one of these")
    return parser.parse_args()


def main():
    options = options_of_command_line()
    source = source_of_this_script()
    files = Files(source)
    if options.check:
        return check(files)
    mutations = [m for m in MUTATIONS
                 if not options.word or any(w in m[1] or w in m[2] for w in options.word)]
    if options.sample is not None:
        mutations = sample(mutations, options.sample, options.seed)
    if options.l:
        for kind, name, spec in mutations:
            print(f"{kind:10}  {name:20}  {shown(spec)}")
        return 0
    lines = places(files, mutations)
    if None in lines or not mutations:
        return 1
    try:
        results = try_all(source, mutations, max(1, options.j))
    except Misfit as e:
        print(f"no tests to run: {e}", file=sys.stderr)
        return 1
    n_bad = report(mutations, lines, results)
    report_equivalent()
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
