"""tests/hunt/parts.py - options change only what they should: when things happen does not change
the arithmetic, recomputation does not change messages between replicas, sharding not the work."""
from ask import Refused, close

WHEN = {"dp": (("overlap", (0, 1)), ("bucket", ("1MiB", "64MiB"))),
        "pp": (("schedule", ("gpipe", "1f1b", "zb-h1")),),
        "hybrid": (("overlap", (0, 1)), ("bucket", ("1MiB", "64MiB")), ("prefetch", (0, 3)),
                   ("tp-async", (0, 1)))}


def flops(ask, name, q, other, keys=("model_flops", "hardware_flops")):
    was, now = ask.simulate(q), ask.simulate(other)
    for key in keys:
        if was.get(key) != now.get(key):
            ask.violate(name, f"{key} is {was.get(key)} and {now.get(key)}",
                        [ask.shown(q), ask.shown(other)], q)
            return


def timing_options(ask, q, rng):
    if q.strategy.name not in WHEN:
        return
    key, values = rng.choice(WHEN[q.strategy.name])
    if key == "schedule" and q.strategy.get("virtual"):
        return
    if key == "prefetch" and q.strategy.get("zero") != 3:
        return
    flops(ask, "when-is-not-what", q, q.planned_as(**{key: rng.choice(values)}))


def recompute(ask, q, _rng):
    """Among replicas alone every byte on a link is a gradient's."""
    s = q.strategy
    if s.name != "hybrid" or s.get("recompute"):
        return
    again = q.planned_as(recompute="full")
    was, now = ask.simulate(q), ask.simulate(again)
    pair = [ask.shown(q), ask.shown(again)]
    if was.get("model_flops") != now.get("model_flops"):
        ask.violate("recompute-keeps-the-model", f"model_flops {was.get('model_flops')} and "
                    f"{now.get('model_flops')}", pair, q)
    if (was.get("hardware_flops") or 0) > (now.get("hardware_flops") or 0):
        ask.violate("recompute-works-more", f"hardware_flops {was.get('hardware_flops')} and "
                    f"{now.get('hardware_flops')}", pair, q)
    if any(s.get(a, 1) not in (1, "1") for a in ("tp", "cp", "ep", "pp")) or s.get("zero") == 3:
        return
    if was.get("folded", "").startswith("folded") != now.get("folded", "").startswith("folded"):
        return
    bytes_ = [sum(x["bytes"] * x["count"] for x in a["links"]) for a in (was, now)]
    if not close(bytes_[0], bytes_[1], 1e-12):
        ask.violate("recompute-keeps-gradient-bytes", f"{bytes_[0]} and {bytes_[1]} bytes on links",
                    pair, q)


def held(answer, kinds):
    """Over all GPUs, since a pipeline may be cut elsewhere."""
    return sum(d["memory"].get(k, 0) * d["count"] for d in answer["devices"] for k in kinds)


def zero(ask, q, _rng):
    """What stays on a GPU from step to step does not grow with the level of sharding."""
    s = q.strategy
    if s.name != "hybrid" or int(s.get("dp", 0)) < 2 or q.option("--recipe"):
        return
    plain = q.planned_as(**{k: None for k in ("gather", "prefetch", "reshard", "packs",
                                              "shard-group", "overlap-gather")})
    before = None
    for level in (0, 1, 2, 3):
        try:
            asked = plain.planned_as(zero=level)
            answer = ask.simulate(asked)
        except Refused:
            continue
        if before:
            check_levels(ask, q, before, (asked, answer))
        before = asked, answer


def check_levels(ask, q, before, after):
    pair = [ask.shown(before[0]), ask.shown(after[0])]
    for key in ("model_flops", "hardware_flops"):
        if before[1].get(key) != after[1].get(key):
            ask.violate("zero-keeps-the-work", f"{key} is {before[1].get(key)} and "
                        f"{after[1].get(key)}", pair, q)
            return
    kinds = ("parameters", "optimizer")
    was, now = held(before[1], kinds), held(after[1], kinds)
    if now > was * (1 + 1e-3) + 4096:
        ask.violate("zero-holds-less", f"parameters and optimizer are {was} and {now} bytes",
                    pair, q)


LESS = (("sgd", "momentum"), ("momentum", "lion"), ("lion", "momentum"), ("adam-8bit", "adam"),
        ("momentum", "muon"), ("muon", "adam"), ("adafactor", "adafactor-momentum"),
        ("adam", "shampoo"), ("adam", "soap"))


def optimizer(ask, q, rng):
    """The first of a pair keeps no more than the second, on all GPUs together. Whole matrices are
    not evenly shared out, so of them the busiest may have more than a share of Adam's."""
    s = q.strategy
    if q.is_tasks() or s.name not in ("single", "dp", "pp", "hybrid") or s.get("recipe"):
        return
    less, more = rng.choice(LESS)
    if (less, more) == ("muon", "adam") and s.get("zero") not in (None, 0):
        return
    pair = [q.put(optimizer=less), q.put(optimizer=more)]
    try:
        was, now = (held(ask.simulate(asked), ["optimizer"]) for asked in pair)
    except Refused:
        return
    if was > now * (1 + 1e-6) + 4096:
        ask.violate("fewer-states-hold-less", f"{less} keeps {was} bytes, {more} {now}",
                    [ask.shown(asked) for asked in pair], q)


def differ_by_tables(q, more_bytes):
    """An encoder, a decoder and a head read one table of words. A GPU that has several of these
    places holds it once, so that it stands on more GPUs or fewer by where the cuts are. Other
    models read it at both ends, on the first GPU and the last, however many parts a GPU has."""
    w = q.workload
    named = {"transformer-base": 37000 * 512, "transformer-big": 37000 * 1024}
    if w.name not in ("t5", "transformer", *named):
        return False
    elements = named.get(w.name) or int(w.get("vocab")) * int(w.get("hidden"))
    width = 4 if q.option("--precision") in (None, "fp32", "tf32", "amp") else 2
    table = elements * width
    return more_bytes % table == 0 and more_bytes <= 2 * table * q.gpus()


def virtual(ask, q, _rng):
    """More parts a GPU: the same work, and the same parameters over all GPUs."""
    s = q.strategy
    if s.name not in ("pp", "hybrid") or s.get("schedule") not in (None, "interleaved-1f1b"):
        return
    if s.name == "hybrid" and int(s.get("pp", 1)) < 2 or isinstance(s.get("recompute"), int):
        return  # so many layers of each stage run again
    plain = q.planned_as(virtual=None, schedule="1f1b")
    two = q.planned_as(virtual=2, schedule="interleaved-1f1b")
    flops(ask, "virtual-keeps-the-work", plain, two)
    sums = [held(ask.simulate(a), ["parameters"]) for a in (plain, two)]
    if not close(sums[0], sums[1], 0.01) and not differ_by_tables(q, abs(sums[0] - sums[1])):
        ask.violate("virtual-keeps-the-parameters", f"{sums[0]} and {sums[1]} bytes on all GPUs",
                    [ask.shown(plain), ask.shown(two)], q)


CHECKS = {timing_options: 2, recompute: 3, zero: 3, virtual: 2, optimizer: 1}
