#!/usr/bin/env python3
"""Changes the engine and the solver in one place at a time and asks the tests whether they notice.

usage: tests/project/mutate.py [-j N] [-l] [WORD...]

Copies the source tree that this script stands in to a temporary folder (one for each of N builds
side by side), and for each mutation below rebuilds what it changes and runs the programs of TESTS
until one fails. A mutation that none notices has SURVIVED: a test is missing. With WORDs only
mutations whose file or text holds one of them are tried; -l lists them.

Exit status: 0 all caught; 1 some survived, or a mutation does not fit the source any more.
"""
import argparse
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

# The quick ones first, but a file's own before all. Each is run in one process (CK_FORK=no), so
# that an endless loop can be ended from outside.
TESTS = ["heap", "plan", "selfcheck", "engine", "collective", "network", "account", "random",
         "radix", "maxmin", "sensitivity", "simgrid"]

# Kind, file, and a part of one line of it, which must be there exactly once: {{is => becomes}}.
MUTATIONS = [
    # the loop, streams, the host
    ("comparison", "sim/engine.c", "return a->ready_s {{< => >}} b->ready_s;"),
    ("comparison", "sim/engine.c", "return a->priority {{< => >}} b->priority;"),
    ("comparison", "sim/engine.c", "return a->task {{< => >}} b->task;"),
    ("comparison", "sim/engine.c", "while (i > 0 && {{goes_before => !goes_before}}(e, &w,"),
    ("comparison", "sim/engine.c", "child + 1 < s->n && {{goes_before => !goes_before}}("),
    ("sign", "sim/engine.c", "*host_s {{+= => -=}} fr__launch_s(e, k);"),
    ("sign", "sim/engine.c", "e->now_s {{+ => -}} duration_s, task, EVENT_TASK_DONE"),
    ("sign", "sim/engine.c", "e->devices[d].{{n_computing++ => n_computing--}};"),
    ("sign", "sim/engine.c", "e->results[d].work_s {{+= => -=}} duration_s;"),
    ("off by one", "sim/engine.c", "if (--e->tasks[next].waits == {{0 => 1}})"),
    ("comparison", "sim/engine.c", "w.ready_s {{< => <=}} e->now_s && s->last"),
    ("comparison", "sim/engine.c", "if (host_s {{> => <}} e->now_s)"),
    ("comparison", "sim/engine.c", "e->o->order {{!= => ==}} FR_ORDER_STRICT ||"),
    ("comparison", "sim/engine.c", "next_s = flow_s {{< => >}} event_s ?"),
    ("comparison", "sim/engine.c", "FR_OK && e->n_done {{< => <=}} e->v->n_tasks)"),
    ("sign", "sim/engine.c", "priority ? {{-1 : 1 => 1 : -1}};"),
    ("off by one", "sim/engine.c", "&tasks[child + 1], t) < {{0 => -1}})"),
    ("sign", "sim/engine.c", "end_s {{- => +}} before_s;"),
    ("comparison", "sim/engine.c", "fabs(interval_s - last_s) {{<= => >}} 1e-6"),
    # the account of a device
    ("sign", "sim/engine.h", "double dt_s = e->now_s {{- => +}} k->since_s;"),
    ("sign", "sim/engine.h", "k->n_copying {{+ => -}} k->n_collective > 0"),
    ("sign", "sim/engine.h", "r->exposed_comm_s {{+= => -=}} dt_s;"),
    ("sign", "sim/engine.h", "r->comm_s {{+= => -=}} dt_s;"),
    # messages
    ("sign", "sim/network/network.c", "r.latency_s {{+= => -=}} fr__link_latency_s(e, hops[i]);"),
    ("comparison", "sim/network/network.c", "if (bw_Bps {{< r.bw_Bps => < INFINITY}})"),
    ("sign", "sim/network/network.c", "(r->latency_s {{+ => -}} f->bytes / r->bw_Bps) * stretch"),
    ("comparison", "sim/network/network.c", "else if (r->latency_s {{> => <}} 0)"),
    ("sign", "sim/network/network.c", "is_beginning ? {{1 : (uint32_t)-1 => (uint32_t)-1 : 1}};"),
    ("comparison", "sim/network/network.c", "e->devices[r->src].n_out {{< => <=}} e->o->channels"),
    ("comparison", "sim/network/network.c", "e->devices[r->dst].n_in {{< => <=}} e->o->channels"),
    ("sign", "sim/network/network.c", "e->devices[src].{{n_out-- => n_out++}};"),
    ("sign", "sim/network/network.c", "e->devices[dst].{{n_in-- => n_in++}};"),
    ("sign", "sim/network/network.c", "e->link_bytes[links[i]] {{+= => -=}} f.bytes;"),
    ("comparison", "sim/network/network.c", "if (e->tasks[peer].end_s {{> => <}} launched_s)"),
    ("comparison", "sim/network/network.c", "if (launched_s {{> => <}} e->now_s)"),
    ("comparison", "sim/network/network.c", "if ({{!e-> => e->}}routes[route].is_passing)"),
    # collectives
    ("sign", "sim/collectives/collective.c", "2 * (n {{- => +}} 1) : n - 1;"),
    ("off by one", "sim/collectives/collective.c", "return {{floor => ceil}}(bytes / n);"),
    ("sign", "sim/collectives/collective.c", "k->latency_s {{+ => -}} chunk_bytes / k->bw_Bps"),
    ("comparison", "sim/collectives/collective.c", "if (s {{> => <}} slowest.s)"),
    ("comparison", "sim/collectives/collective.c", "r->received[i] {{< => <=}} round)"),
    ("sign", "sim/collectives/collective.c", "next = {{i + 1 == r->n ? 0 : i + 1 => i ? i - 1 : r->n - 1}};"),
    ("comparison", "sim/collectives/collective.c", "if (launched_s {{> => <}} m->start_s)"),
    ("comparison", "sim/collectives/collective.c", "if (++m->n_arrived {{< => <=}} e->v->member_first"),
    ("off by one", "sim/collectives/collective.c", "e->rings_left[first + i] = {{t->n_rings => 1}};"),
    ("comparison", "sim/collectives/collective.c", "stretch = s {{> => <}} stretch ?"),
    # memory
    ("sign", "sim/memory/memory.c", "e->devices[b->device].bytes {{-= => +=}} b->bytes;"),
    ("sign", "sim/memory/memory.c", "e->devices[b->device].by_kind[b->kind] {{-= => +=}} b->bytes;"),
    ("comparison", "sim/memory/memory.c", "if (k->bytes {{<= => <}} k->peak_bytes)"),
    ("sign", "sim/memory/memory.c", "k->bytes {{- => +}} k->by_kind[FR_BUFFER_CONTEXT] > k->limit_bytes)"),
    ("comparison", "sim/memory/memory.c", "FR_BUFFER_CONTEXT] {{> => >=}} k->limit_bytes)"),
    ("off by one", "sim/memory/memory.c", "if (--b->frees_left > {{0 => 1}})"),
    # interference
    ("sign", "sim/interference.c", "*left_s {{-= => +=}} (e->now_s"),
    ("comparison", "sim/interference.c", "return a {{> => <}} b ? a : b;"),
    ("comparison", "sim/interference.c", "k->n_computing {{> => >=}} (c =="),
    ("comparison", "sim/interference.c", "k->n_copying {{> => >=}} (c =="),
    ("comparison", "sim/interference.c", "k->n_collective {{> => >=}} (c =="),
    ("sign", "sim/interference.c", "e->now_s {{+ => -}} *left_s / rate"),
    # random factors
    ("sign", "sim/random.c", "f = 1 {{+ => -}} cv * fr__rng_normal(&rng);"),
    ("comparison", "sim/random.c", "return f {{< => >}} LEAST_FACTOR ?"),
    ("sign", "sim/random.c", "DEVICE_STREAMS {{+ => -}} d,"),
    # the lower bound
    ("comparison", "sim/analysis/bound.c", "if (end_s {{> => <}} w->longest_s)"),
    ("sign", "sim/analysis/bound.c", "s = e->routes[r].latency_s {{+ => -}} x->bytes"),
    ("comparison", "sim/analysis/bound.c", "fastest_s = s {{< => >}} fastest_s ?"),
    ("comparison", "sim/analysis/bound.c", "*out_s = work_s[s] {{> => <}} *out_s"),
    ("comparison", "sim/analysis/bound.c", "*out_s = launch_s[d] {{> => <}} *out_s"),
    ("comparison", "sim/analysis/bound.c", "*out_s = path_s {{> => <}} work_s ?"),
    ("sign", "sim/analysis/bound.c", "bytes[links[l]] {{+= => -=}} n;"),
    # parts of a moment
    ("sign", "sim/analysis/sensitivity.c", "held[k] += f->rate_Bps * (own_s[k] {{- => +}} p->rate_s[k]);"),
    ("sign", "sim/analysis/sensitivity.c", "(enum fr_link_kind)k, FR_LINK_BANDWIDTH)] {{+= => -=}}"),
    ("sign", "sim/analysis/sensitivity.c", "p->now_s[k] {{+= => -=}} held[k] / f->rate_Bps;"),
    ("sign", "sim/analysis/sensitivity.c", "left_Bps[k] {{-= => +=}} level_of(e, other"),
    ("comparison", "sim/analysis/sensitivity.c", "return flops_s {{> => <}} bytes_s ? FR_DEVICE_ARITHMETIC"),
    ("sign", "sim/analysis/sensitivity.c", "parts_s[k] {{-= => +=}} of_task(p"),
    # the checks themselves
    ("sign", "sim/analysis/selfcheck.c", "fabs(a {{- => +}} b) <="),
    ("comparison", "sim/analysis/selfcheck.c", "if (run->start_s[v->succ[i]] {{< => >}} run->end_s[t])"),
    ("comparison", "sim/analysis/selfcheck.c", "!(run->end_s[t] {{>= => >}} run->start_s[t])"),
    ("sign", "sim/analysis/selfcheck.c", "r->compute_s {{+ => -}} r->exposed_comm_s"),
    ("sign", "sim/analysis/selfcheck.c", "run->lower_bound_s * (1 {{- => +}} TOLERANCE)"),
    ("comparison", "sim/analysis/selfcheck.c", "run->devices[d].peak_bytes {{< => >}} persistent[d]"),
    ("sign", "sim/analysis/selfcheck.c", "w->sum_s += run->end_s[t] {{- => +}} run->start_s[t];"),
    # plans
    ("off by one", "plan/build.c", "first[pairs[i].from + {{2 => 1}}]++;"),
    ("sign", "plan/build.c", "g->first {{+ => -}} rank * g->stride"),
    ("off by one", "plan/build.c", "members[first[k->ref] + {{k->rank => 0}}] = t;"),
    ("comparison", "plan/check.c", "position[t] {{< => >}} position[alloc]"),
    ("comparison", "plan/check.c", "v->buffers[b].bytes {{> => <}} v->buffers[root].bytes"),
    ("sign", "plan/unroll.c", "FR_NONE : id {{+ => -}} by;"),
    ("sign", "plan/unroll.c", "copy.ref {{+= => -=}} at.collectives;"),
    ("comparison", "plan/unroll.c", "buffer_ids, at.tasks {{== => !=}} 0, at.tasks);"),
    ("off by one", "plan/unroll.c", "if (i > {{0 => 1}})"),
    ("comparison", "plan/unroll.c", "if (v->n_preds[t] {{== => !=}} 0)"),
    # the event queue
    ("off by one", "sim/heap.h", "size_t parent = (i + {{8 => 7}}) / 4;"),
    ("comparison", "sim/heap.h", "(a.key {{< => >}} b.key)"),
    ("comparison", "sim/heap.h", "({{at[right], at[left] => at[left], at[right]}})"),
    ("off by one", "sim/heap.h", "if (child + {{4 => 3}} <= end)"),
    ("off by one", "sim/heap.h", "for (size_t c = child + {{1 => 2}}; c < end; c++)"),
    # what is said afterwards
    ("comparison", "sim/analysis/critical.c", "if (run->end_s[t] {{> => <}} run->end_s[last])"),
    ("comparison", "sim/analysis/deadlock.c", "return e->tasks[task].start_s {{< => >}} -1.5"),
    # the solver
    ("sign", "sim/network/maxmin.c", "now {{+ => -}} f->remaining_bytes / rate_Bps"),
    ("comparison", "sim/network/maxmin.c", "is_alone = is_alone && q->n {{== => !=}} 0;"),
    ("comparison", "sim/network/maxmin.c", "if (pos {{< => >}} q->n_sorted)"),
    ("comparison", "sim/network/maxmin.c", "m->rate_Bps[slot] {{< => >}} m->level_Bps)"),
    ("comparison", "sim/network/maxmin.c", "if (++m->stats.live {{> => <}} m->stats.live_max)"),
    ("comparison", "sim/network/maxmin.c", "a = x[i] {{< => >}} a ?"),
    ("comparison", "sim/network/maxmin.c", "m->block_end_s[b] {{< => >}} m->next_s ?"),
    ("comparison", "sim/network/maxmin.c", "done[i].seq {{< => >}} done[i - 1].seq"),
    ("comparison", "sim/network/maxmin.c", "done[j - gap].seq {{> => <}} d.seq"),
    ("comparison", "sim/network/maxmin.c", "/ m->rate_Bps[slot] {{<= => >}} limit_s)"),
    ("sign", "sim/network/maxmin.c", "now {{+ => -}} now * END_TOLERANCE;"),
    ("sign", "sim/network/maxmin.c", "* (now {{- => +}} f->since_s);"),
    ("comparison", "sim/network/maxmin_fill.c", "while (i && left_Bps {{<= => >}} m->rate_Bps"),
    ("comparison", "sim/network/maxmin_fill.c", "level_Bps = full_Bps {{< => >}} level_Bps ?"),
    ("sign", "sim/network/maxmin_fill.c", "return level_Bps {{- => +}} level_Bps * TIE;"),
    ("comparison", "sim/network/maxmin_fill.c", "x[j - gap].key {{> => <}} item.key;"),
    ("sign", "sim/network/maxmin_fill.c", "q->left_Bps {{-= => +=}} rate_Bps;"),
    ("comparison", "sim/network/maxmin_fill.c", "q->entries[i - 1].slot] {{>= => <}} level_Bps)"),
    ("comparison", "sim/network/maxmin_fill.c", "|| m->rate_Bps[slot] {{> => <}} level_Bps)"),
    ("comparison", "sim/network/maxmin_fill.c", "hops[h].pos {{< => >}} q->next)"),
    ("comparison", "sim/network/maxmin_fill.c", "from_Bps = old_Bps {{< => >}} rate_Bps ?"),
    ("sign", "sim/network/maxmin_fill.c", "* (now {{- => +}} f->since_s);"),
    ("comparison", "sim/network/maxmin_fill.c", "if (q->left_Bps {{<= => >}} (level_Bps"),
    ("sign", "sim/network/maxmin_fill.c", "(level_Bps {{+ => -}} level_Bps * TIE) * q->n_open)"),
    ("sign", "sim/network/maxmin_fill.c", "if (share_Bps > *level_Bps {{+ => -}} *level_Bps * TIE)"),
    ("comparison", "sim/network/maxmin_fill.c", "if (old_Bps {{> => <}} *level_Bps &&"),
    ("sign", "sim/network/maxmin_fill.c", "if (key_Bps > level_Bps {{+ => -}} level_Bps * TIE)"),
    ("comparison", "sim/network/maxmin_fill.c", "end_s = s {{< => >}} end_s ?"),
    ("sign", "sim/network/maxmin_fill.c", "f->since_s {{+ => -}} f->remaining_bytes / rate_Bps"),
    ("comparison", "sim/network/maxmin_fill.c", "if (rate_Bps {{< => >}} last_Bps)"),
    ("sign", "sim/network/maxmin_fill.c", "        left_Bps {{-= => +=}} rate_Bps;"),
    ("comparison", "sim/radix.c", "q->nodes[i].key {{< => >}} q->nodes[least].key)"),
    ("comparison", "sim/radix.c", "bits {{< => >}} q->base ?"),
    ("off by one", "sim/radix.c", "if (--q->n[b] == {{0 => 1}})"),
]

OWN_TESTS = {
    "sim/heap.h": "heap", "sim/radix.c": "radix", "sim/analysis/selfcheck.c": "selfcheck",
    "sim/network/maxmin.c": "maxmin", "sim/network/maxmin_fill.c": "maxmin", "sim/interference.c": "network",
    "sim/engine.c": "engine", "sim/engine.h": "engine", "sim/network/network.c": "engine",
    "sim/collectives/collective.c": "engine", "sim/analysis/bound.c": "account", "sim/random.c": "account",
    "plan/unroll.c": "account", "sim/analysis/sensitivity.c": "sensitivity",
}

MARK = re.compile(r"\{\{(.*?) => (.*?)\}\}")
LEFT_OUT = shutil.ignore_patterns(".git", "build", "build-*", "autom4te.cache", ".deps", ".libs",
                                  "*.o", "*.lo", "*.la", "Makefile", "config.status", "config.h",
                                  "stamp-h1")
MOST_MEMORY = 4 << 30  # of a test gone wild


class Misfit(Exception):
    """A mutation or a tree that cannot be used."""


def apply(text, spec):
    """The text with the mutation in it and the line it stands on."""
    mark = MARK.search(spec)
    if not mark:
        raise Misfit("a mutation without {{is => becomes}}")
    before, after = spec[:mark.start()], spec[mark.end():]
    old = before + mark[1] + after
    if text.count(old) != 1:
        raise Misfit(f"found {text.count(old)} times instead of once: bring {__file__} up to date")
    at = text.index(old)
    return text[:at] + before + mark[2] + after + text[at + len(old):], text.count("\n", 0, at) + 1


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
    """A copy of the sources, configured, in which tests are built and run."""

    def __init__(self, source, folder):
        self.folder = folder
        self.limit_s = {}
        shutil.copytree(source, folder, ignore=LEFT_OUT, symlinks=True)
        self.call(["./configure", "--quiet", "CFLAGS=-O1"])
        for test in TESTS:
            self.call(["make", "-s", self.program(test)])
        for test in TESTS:
            failure, cpu_s = self.run(test, 300)
            if failure:
                raise Misfit(f"fails without any mutation: {failure}")
            self.limit_s[test] = 2 + int(2 * cpu_s)

    @staticmethod
    def program(test):
        return f"tests/test_sim_{test}"

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
        """(line, how it was caught or None)"""
        _, name, spec = mutation
        path = os.path.join(self.folder, name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        mutated, line = apply(text, spec)
        try:
            with open(path, "w", encoding="utf-8") as f:
                f.write(mutated)
            for test in sorted(TESTS, key=lambda t: t != OWN_TESTS.get(name)):
                self.call(["make", "-s", self.program(test)])
                failure, _ = self.run(test, self.limit_s[test])
                if failure:
                    return line, failure
            return line, None
        finally:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)


def work(source, folder, jobs, results):
    """One thread: takes mutations until none is left."""
    try:
        tree = Tree(source, folder)
    except Misfit as e:
        print(f"no tests to run: {e}", file=sys.stderr)
        return
    while True:
        try:
            i, mutation = jobs.get_nowait()
        except queue.Empty:
            return
        try:
            results[i] = tree.try_one(mutation)
            if not results[i][1]:
                print(f"SURVIVED: {mutation[1]}:{results[i][0]} {mutation[2]}", flush=True)
        except Misfit as e:
            results[i] = e


def report(mutations, results):
    """Prints the table; the number of mutations that were not caught."""
    n_bad = 0
    print(f"\n{'kind':10}  {'place':26}  mutation\n{'':40}caught by")
    for (kind, name, spec), result in zip(mutations, results):
        is_bad = isinstance(result, Exception)
        line, caught = ("?", f"UNUSABLE: {result}") if is_bad else result
        n_bad += is_bad or not caught
        print(f"{kind:10}  {name + ':' + str(line):26}  {spec}\n{'':40}{caught or 'SURVIVED'}")
    n_signs = sum(kind == "sign" for kind, _, _ in mutations)
    print(f"\n{len(mutations)} mutations, {n_signs} of them signs: "
          f"{len(mutations) - n_bad} caught, {n_bad} survived or unusable")
    return n_bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N",
                        help="builds at a time")
    parser.add_argument("-l", action="store_true", help="list the mutations")
    parser.add_argument("word", nargs="*", help="only mutations with one of these")
    options = parser.parse_args()
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    mutations = [m for m in MUTATIONS
                 if not options.word or any(w in m[1] or w in m[2] for w in options.word)]
    if options.l:
        for kind, name, spec in mutations:
            print(f"{kind:10}  {name:20}  {spec}")
        return 0
    jobs, results = queue.Queue(), [None] * len(mutations)
    for i, mutation in enumerate(mutations):
        try:
            with open(os.path.join(source, mutation[1]), encoding="utf-8") as f:
                apply(f.read(), mutation[2])
            jobs.put((i, mutation))
        except (Misfit, OSError) as e:
            results[i] = e
            print(f"UNUSABLE: {mutation[1]} {mutation[2]}: {e}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        threads = [threading.Thread(target=work,
                                    args=(source, os.path.join(folder, str(i)), jobs, results))
                   for i in range(max(1, min(options.j, len(mutations))))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    if not jobs.empty() or None in results:
        return 1
    return 1 if report(mutations, results) else 0


if __name__ == "__main__":
    sys.exit(main())
