"""tests/hunt/better.py - more bandwidth, more memory and faster GPUs do not make a step longer, a
slower GPU does not make it shorter, more power, a shorter update and a cast less do not make it
longer, and twice the batch takes at least as long and as much memory.

Where plans depend on what they run on, or ready tasks compete, more may be worse by Graham's
anomalies; exceptions.py says where, how much is let pass, and why.
"""
import dataclasses
import re

from ask import Refused
from exceptions import SEGMENT_BYTES, tolerance, without
from question import Drawn, Plain, Stock


def is_longer(ask, q, better, figure, allowed):
    """The two figures where that of the better question is above that of q; else None. Where one of
    the two does not fit, plans may be others, and times say nothing."""
    was, now = ask.simulate(q), ask.simulate(better)
    if (was["oom"] or now["oom"]) and figure == "iteration_s":
        return None
    slack = SEGMENT_BYTES if figure == "peak_bytes" else 0
    if now[figure] > was[figure] * (1 + allowed) + slack:
        return was[figure], now[figure]
    return None


def is_excused(ask, name, q, better, figure, allowed):
    """Something that may excuse it is taken away from both, and then the rule holds."""
    for pair in without(name, q, better):
        try:
            if not is_longer(ask, *pair, figure, allowed):
                return True
        except Refused:
            continue
    return False


def not_longer(ask, name, q, better, figure="iteration_s"):
    """The figure of the better question is not above that of q, but for anomalies."""
    allowed = tolerance(name, q)
    found = is_longer(ask, q, better, figure, allowed)
    if found and not is_excused(ask, name, q, better, figure, allowed):
        was, now = found
        ask.violate(name, f"{figure} {was:.9g}, and {now:.9g} of the second, which is "
                    f"{100 * (now / was - 1):.3g} % more ({100 * allowed:.2g} % are let pass)",
                    [ask.shown(q), ask.shown(better)], q)


def faster(rate):
    """25Gbps as 50Gbps, 1GB/s as 2GB/s."""
    return re.sub(r"\d+(?=[GM]b|[GM]B)", lambda m: str(2 * int(m.group())), rate, count=1)


def bandwidth(ask, q, rng):
    """With rings where a recipe says that NCCL chooses: it chooses by constants of its own, and where
    its choice turns from LL to LL128, 241 KiB over 16 A100 take 93 us instead of 37."""
    c = q.cluster
    if q.option("--recipe") and not q.option("--collective-algorithm"):
        q = q.put(collective_algorithm="ring")
    if isinstance(c, Drawn):
        what = rng.choice([{"link_GBps": 2 * c.link_GBps}, {"nic_GBps": 2 * c.nic_GBps},
                           {"link_GBps": 2 * c.link_GBps, "nic_GBps": 2 * c.nic_GBps},
                           {"nic_us": c.nic_us / 2, "link_us": c.link_us / 2}])
        better = q.but(cluster=dataclasses.replace(c, **what))
    elif getattr(c, "via", None) and faster(c.via) != c.via:
        better = q.but(cluster=dataclasses.replace(c, via=faster(c.via)))
    elif isinstance(c, Stock) and c.count > 1:
        q, better = q.put(degrade="n*.nic*=0.5"), q
    else:
        return
    not_longer(ask, "more-bandwidth-is-not-slower", q, better)


def memory(ask, q, _rng):
    if isinstance(q.cluster, Drawn):
        larger = dataclasses.replace(q.cluster, memory_GiB=2 * q.cluster.memory_GiB)
        not_longer(ask, "more-memory-is-not-slower", q, q.but(cluster=larger))


def gpus(ask, q, _rng):
    c = q.cluster
    if isinstance(c, Drawn):
        fast = dataclasses.replace(c, tflops=2 * c.tflops, memory_GBps=2 * c.memory_GBps,
                                   launch_us=c.launch_us / 2)
        not_longer(ask, "faster-gpus-are-not-slower", q, q.but(cluster=fast))


def slow_gpu(ask, q, rng):
    if isinstance(q.cluster, Plain):
        name = "m1"
    else:
        name = rng.choice(["n0.gpu0", "n*.gpu*"])
    not_longer(ask, "a-slow-gpu-is-not-faster", q.put(slow=f"{name}=1.5"), q)


def power(ask, q, _rng):
    limit = q.option("--power-limit")
    if limit:
        not_longer(ask, "more-power-is-not-slower", q,
                   q.put(power_limit=f"{2 * int(limit[:-1])}W"))


def batch(ask, q, _rng):
    if q.is_tasks() or not q.option("-b"):
        return
    double = q.put(batch=2 * int(q.option("-b")))
    not_longer(ask, "twice-the-batch-takes-as-long", double, q)
    not_longer(ask, "twice-the-batch-takes-as-much-memory", double, q, "peak_bytes")


def update(ask, q, rng):
    """Fewer bytes of a step, and less done to gradients. (A loop over tensors may be faster than
    lists of them: what a kernel has written may still be in the cache.)"""
    if q.is_tasks() or q.option("--update"):
        return
    q = q.put(optimizer="adam")
    more = rng.choice(["torch-adamw-foreach", "torch-adam-fused+torch-clip-loop"])
    not_longer(ask, "a-shorter-update-is-not-slower", q.put(update=more),
               q.put(update="torch-adam-fused"))


def casts(ask, q, _rng):
    """A pass over what is cast, for its largest number, takes time."""
    if q.option("--precision") not in ("fp8-delayed", "fp8-current", "mxfp8", "nvfp4"):
        return
    not_longer(ask, "a-cast-is-never-free", q.put(precision="fp8-current"),
               q.put(precision="fp8-delayed"))


CHECKS = {casts: 2, bandwidth: 5, memory: 1, gpus: 3, slow_gpu: 3, power: 1, batch: 3, update: 1}
