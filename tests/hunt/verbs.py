"""tests/hunt/verbs.py - simulate gives what compare, sweep and search give for the same question,
and sweep and search the same bytes for any number of threads."""
from ask import Refused
from question import Plain
from same import FIGURES, different

ROW = FIGURES + ("low_s", "high_s", "global_batch", "gpus_used", "strategy", "interval_of")


def simulated(ask, q):
    """The answer, also of a question that does not fit; None where it is refused."""
    try:
        return ask.simulate(q)
    except Refused:
        return None


def compare(ask, q, rng):
    other = rng.choice(["single", "dp"])
    args = q.arguments(ask.folder, [q.strategy, other])
    answer = simulated(ask, q)
    try:
        _, table = ask.json("compare", [*args, "--json", "-q", "--no-timing"], q)
    except Refused:
        return
    row = table["results"][0]
    if answer is None or "iteration_s" not in row:
        return
    said = different(answer, row, ROW)
    if said:
        ask.violate("simulate-is-its-row-in-compare", said,
                    [ask.shown(q), ask.command("compare", args)], q)


def sweep(ask, q, _rng):
    if not q.option("-b"):
        return
    batch = int(q.option("-b"))
    wide = q.put(batch=f"{batch},{2 * batch}")
    args = [*wide.arguments(ask.folder), "--json", "-q", "--no-advice"]
    one = ask.run("sweep", [*args, "-j", "1"])
    three = ask.run("sweep", [*args, "-j", "3"])
    command = ask.command("sweep", wide.arguments(ask.folder))
    if one != three:
        ask.violate("threads-change-no-byte", "-j 1 and -j 3 print different bytes", [command], q)
    try:
        _, table = ask.json("sweep", [*args, "-j", "1"], q)
    except Refused:
        return
    for row in table["results"]:
        if "iteration_s" not in row or row["iteration_s"] is None:
            continue
        asked = q.put(batch=row["global_batch"])
        answer = simulated(ask, asked)
        said = "simulate refuses it" if answer is None else different(answer, row, ROW)
        if said:
            ask.violate("simulate-is-its-row-in-sweep", said, [ask.shown(asked), command], q)
            return


def search(ask, q, rng):
    """A small search, by the question's own model, cluster and options: its rows are simulate's."""
    if q.strategy.name != "hybrid" or isinstance(q.cluster, Plain) or q.gpus() > 8:
        return
    args = q.arguments(ask.folder, [])
    args += ["--top", "2", "--json", "-q"]
    if q.workload.get("layers", 9) > 4 or q.gpus() > 4:
        args += ["--fix", "recompute=none", "--fix", "zero=" + str(q.strategy.get("zero", 0))]
    one, three = (ask.run("search", [*args, "-j", n]) for n in ("1", "3"))
    command = ask.command("search", args)
    if one != three:
        ask.violate("threads-change-no-byte", "-j 1 and -j 3 print different bytes", [command], q)
    try:
        _, found = ask.json("search", [*args, "-j", "1"], q)
    except Refused:
        return
    rows = [r for r in found["results"] if r.get("iteration_s")]
    if not rows:
        return
    row = rng.choice(rows)
    name, _, words = row["strategy"].partition(":")
    asked = q.but(strategy=type(q.strategy)(name, tuple(
        tuple(w.split("=", 1)) for w in words.split(",") if w)))
    answer = simulated(ask, asked)
    said = "simulate refuses it" if answer is None else \
        different(answer, row, ("iteration_s", "peak_bytes", "low_s", "high_s"))
    if said:
        ask.violate("simulate-is-its-row-in-search", said, [ask.shown(asked), command], q)


def exhaustive(ask, q, _rng):
    """What a search leaves out by bounds cannot be better: without bounds it finds the same."""
    layers = q.workload.get("layers")
    if q.strategy.name != "hybrid" or isinstance(q.cluster, Plain) or q.gpus() > 4 or \
            not layers or layers > 4:
        return
    args = [*q.arguments(ask.folder, []), "--fix", "recompute=none", "--top", "1", "--json", "-q"]
    rows = []
    for more in ([], ["--exhaustive"]):
        try:
            _, found = ask.json("search", [*args, *more], q)
        except Refused:
            return
        rows.append([r for r in found["results"] if r.get("coarse_s")][:1])
    if not rows[0] or not rows[1]:
        return
    said = different(rows[1][0], rows[0][0], ("coarse_s",))
    if said:
        pair = [ask.command("search", args), ask.command("search", args + ["--exhaustive"])]
        ask.violate("bounds-leave-out-what-is-worse", f"{said}: {rows[1][0]['strategy']} and "
                    f"{rows[0][0]['strategy']}", pair, q)


CHECKS = {compare: 2, sweep: 2, search: 1, exhaustive: 1}
