"""tests/hunt/choices.py - what chooses is never worse than what it could have chosen: the cut of a
pipeline, the planners that hold their plan against plain ones, the exact schedule."""
from ask import Refused
from exceptions import tolerance, without
from question import Words

PLAIN = ("single", "dp", "mp", "pp")
LISTS = ("heft", "cpop", "mcp", "etf", "critical-path")


def not_worse(ask, name, q, others):
    """q is as fast as each of the others, of those that fit."""
    was = ask.simulate(q)
    if was["oom"]:
        return
    for other in others:
        try:
            now = ask.simulate(other)
        except Refused:
            continue
        allowed = tolerance(name, q)
        if now["oom"] or was["iteration_s"] <= now["iteration_s"] * (1 + allowed):
            continue
        if any(ask.simulate(a)["iteration_s"] <= ask.simulate(b)["iteration_s"] * (1 + allowed)
               for a, b in without(name, q, other)):
            continue
        ask.violate(name, f"{was['iteration_s']:.9g} s chosen, {now['iteration_s']:.9g} s were "
                    f"there: {100 * (was['iteration_s'] / now['iteration_s'] - 1):.3g} % more "
                    f"({100 * allowed:.2g} % are let pass)", [ask.shown(q), ask.shown(other)], q)
        return


def cuts(ask, q, rng):
    """Stages cut by hand, at random layers and evenly; virtual stages are counted too."""
    layers = q.workload.get("layers")
    s = q.strategy
    if s.name not in ("pp", "hybrid") or not layers or s.get("cuts") or s.get("cut"):
        return
    if q.workload.name in ("t5", "transformer", "rnnlm"):  # their layers have other names
        return
    stages = int(s.get("stages", q.gpus()) if s.name == "pp" else s.get("pp", 1))
    stages *= int(s.get("virtual", 2 if s.get("schedule", "") in
                        ("interleaved-1f1b", "zb-v", "v-half", "v-min", "zb-v-auto") else 1))
    if stages < 2 or stages > layers:
        return
    others = []
    for borders in ([layers * i // stages for i in range(1, stages)],
                    sorted(rng.sample(range(1, layers), stages - 1))):
        others.append(q.planned_as(cuts=";".join(f"layer{b}" for b in borders)))
    if s.name == "hybrid":
        others.append(q.planned_as(cut="layers"))
    not_worse(ask, "the-cut-is-the-best-cut", q, others)


def planners(ask, q, _rng):
    if q.is_tasks():
        small, plain = True, [Words("single")]
    else:
        small, plain = q.workload.name in ("lenet", "rnnlm"), [Words(n) for n in PLAIN]
    if not small or q.gpus() > 4:
        return
    for name in ("dpos", "os-dpos"):
        q = q.but(strategy=Words(name))
        others = [q.but(strategy=w) for w in plain] if name == "os-dpos" else \
            [q.planned_as(rule=rule) for rule in ("apart", "split", "together", "one")]
        not_worse(ask, f"{name}-is-not-worse-than-what-it-weighs", q, others)


def exact(ask, q, _rng):
    """Beside the schedules of lists, all run as planned on links that nothing shares."""
    if not q.is_tasks() or len(q.workload.rows) > 10 or q.gpus() > 3:
        return
    q = q.but(strategy=Words("exact")).put(order="strict", network="analytic")
    not_worse(ask, "exact-is-the-shortest", q, [q.but(strategy=Words(n)) for n in LISTS])


CHECKS = {cuts: 4, planners: 2, exact: 2}
