"""tests/hunt/same.py - what must not change an answer: asking again, folding, names, the order of
rows, saying a default, and the unit of time."""
import dataclasses

from ask import close
from question import Drawn, Placed, Tasks

FIGURES = ("iteration_s", "samples_per_s", "compute_s", "comm_s", "exposed_comm_s", "bubble_s",
           "lower_bound_s", "peak_bytes", "peak_allocated_bytes", "model_flops", "hardware_flops",
           "mfu", "oom")


def different(a, b, keys=FIGURES, tolerance=1e-9):
    """The first figure in which two answers differ, as a sentence; None when they are alike."""
    for key in keys:
        x, y = a.get(key), b.get(key)
        if x == y or x is None and key not in a or y is None and key not in b:
            continue
        if isinstance(x, (int, float)) and isinstance(y, (int, float)) and close(x, y, tolerance):
            continue
        return f"{key} is {x} and {y}"
    return None


def expect_same(ask, name, q, other, keys=FIGURES, tolerance=1e-9):
    was, now = ask.simulate(q), ask.simulate(other)
    said = different(was, now, keys, tolerance)
    if said:
        ask.violate(name, said, [ask.shown(q), ask.shown(other)], q)


def asked_twice(ask, q, _rng):
    args = [*q.arguments(ask.folder), "--json", "-q", "--no-advice", "--no-timing"]
    if ask.run("simulate", args) != ask.run("simulate", args, again=True):
        ask.violate("same-question-same-bytes", "two runs print different bytes", [ask.shown(q)], q)


def folded(ask, q, _rng):
    """By an algorithm or a protocol of one's own a collective goes step by step, and its ranks end
    one after the other: a rank that stands for all has the time of the last, not of their mean."""
    if q.strategy.name != "hybrid" or not ask.simulate(q).get("folded", "").startswith("folded"):
        return
    by_steps = q.option("--protocol") or q.option("--collective-algorithm")
    of_ranks = ("comm_s", "exposed_comm_s", "bubble_s") if by_steps else ()
    keys = [k for k in FIGURES if k not in of_ranks]
    expect_same(ask, "folded-is-unfolded", q, q.planned_as(fold=0), keys)


def names(ask, q, rng):
    """Other names and another order of rows. Plans of lists may go by the order of rows where two
    tasks are alike, so that rows are turned for single alone."""
    if isinstance(q.workload, Tasks):
        def new(name):
            return "x" + name
        rows = [(new(n), t, tuple((new(b), size) for b, size in after))
                for n, t, after in q.workload.rows]
        keys = FIGURES
        if q.strategy.name == "single":
            rng.shuffle(rows)
            keys = [k for k in FIGURES if "peak" not in k]  # what is held hangs on the order
        other = q.but(workload=Tasks(tuple(rows)))
        if isinstance(q.strategy, Placed):
            other = other.but(strategy=q.strategy.renamed(new))
        expect_same(ask, "names-change-nothing", q, other, keys)
    elif isinstance(q.strategy, Placed):
        pass  # its file names the devices
    elif isinstance(q.cluster, Drawn) and not q.option("--degrade"):
        other = dataclasses.replace(q.cluster, prefix="zz", turned=True)
        expect_same(ask, "names-change-nothing", q, q.but(cluster=other))


def defaults(ask, q, rng):
    """What is the default may be said; a seed matters to nothing that draws nothing."""
    plain = [("order", "priority"), ("network", "flow"), ("channels", "inf"), ("alloc", "dispatch"),
             ("costs", "calibrated"), ("interference", "measured"), ("iterations", "1"),
             ("collectives", "auto"), ("memory", "device"), ("optimizer", "sgd"), ("seed", "7")]
    plain = [(k, v) for k, v in plain if not q.option("--" + k)]
    if any(q.option(o) for o in ("--jitter", "--device-jitter")) or \
            q.option("--order") == "random" or q.strategy.name == "random":
        plain = [(k, v) for k, v in plain if k != "seed"]
    if q.option("--recipe"):
        plain = [(k, v) for k, v in plain if k not in ("interference",)]
    other = q.put(**dict(rng.sample(plain, min(3, len(plain)))))
    if q.strategy.name == "dp" and not q.option("--recipe"):
        other = other.planned_as(**{"sync": q.strategy.get("sync", "ring"),
                                    "overlap": q.strategy.get("overlap", 1)})
    if not q.option("-g"):
        other = other.put(gpus=q.gpus())
    expect_same(ask, "defaults-may-be-said", q, other)


def scaled(ask, q, _rng):
    """On a cluster whose every rate is half and every latency twice as much, all takes twice as
    long: there is no other clock in a plain question. NCCL's own latencies are one, so collectives
    are rings."""
    c = q.cluster
    if not isinstance(c, Drawn) or "ps" in str(q.strategy.get("sync", "")):
        return
    if q.workload.name.startswith("examples/"):  # times that were measured stay as they are
        return
    fixed = ("recipe", "host-op", "host-step", "input-rate", "protocol", "collective-algorithm",
             "transport")
    if any(q.option("--" + o) for o in fixed):
        return
    q = q.put(costs="datasheet", collectives=q.option("--collectives") or "expanded")
    slow = dataclasses.replace(
        c, tflops=c.tflops / 2, memory_GBps=c.memory_GBps / 2, launch_us=c.launch_us * 2,
        link_GBps=c.link_GBps / 2, link_us=c.link_us * 2, nic_GBps=c.nic_GBps / 2,
        nic_us=c.nic_us * 2)
    was, now = ask.simulate(q), ask.simulate(q.but(cluster=slow))
    if not was["oom"] and not close(2 * was["iteration_s"], now["iteration_s"]):
        ask.violate("half-the-rates-twice-the-time",
                    f"{was['iteration_s']:.9g} s, and {now['iteration_s']:.9g} s at half the rates",
                    [ask.shown(q), ask.shown(q.but(cluster=slow))], q)


CHECKS = {asked_twice: 1, folded: 6, names: 2, defaults: 2, scaled: 2}
