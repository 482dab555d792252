"""tests/hunt/shrink.py - the smallest question that still violates the same invariant.

Tries simpler questions, one change at a time, and goes on from each that still violates; ends when
no change does, or after so many tries.
"""
import dataclasses

from question import Drawn, Question, Stock, Tasks, Words

MOST_TRIES = 120


def smaller_workload(work):
    if isinstance(work, Tasks):
        for i in range(len(work.rows)):
            name = work.rows[i][0]
            yield Tasks(tuple((n, t, tuple(a for a in after if a[0] != name))
                              for n, t, after in work.rows[:i] + work.rows[i + 1:]))
        yield Tasks(tuple((n, 1.0, after) for n, _, after in work.rows))
        return
    if work.name not in ("lenet", "gpt"):
        yield Words("lenet")
        yield Words("gpt", (("layers", 2), ("hidden", 256), ("heads", 4), ("seq", 64),
                            ("vocab", 512)))
    sizes = {"layers": 2, "seq": 64, "vocab": 512, "hidden": 256, "experts": 4, "heads": 4,
             "ffn": 256}
    for key, least in sizes.items():
        value = work.get(key)
        if value and value // 2 >= least:
            yield work.put(**{key: value // 2})


def smaller_cluster(cluster):
    if isinstance(cluster, Stock):
        if cluster.count > 1:
            yield dataclasses.replace(cluster, count=1, via=None)
            yield dataclasses.replace(cluster, count=cluster.count // 2)
        if cluster.machine.startswith("box:") and cluster.each > 1:
            yield dataclasses.replace(cluster, each=cluster.each // 2)
            plain = cluster.machine.split(",")[0]
            if plain != cluster.machine:
                yield dataclasses.replace(cluster, machine=plain)
        if cluster.via and cluster.via != "ib:100Gbps" and cluster.count > 1:
            yield dataclasses.replace(cluster, via="ib:100Gbps")
    elif isinstance(cluster, Drawn):
        for key in ("count", "each"):
            if getattr(cluster, key) > 1:
                yield dataclasses.replace(cluster, **{key: getattr(cluster, key) // 2})
    elif cluster.machines > 1:
        yield dataclasses.replace(cluster, machines=cluster.machines - 1)


def simpler(q):
    """Questions that are one step simpler, the largest steps first."""
    for flag, value in q.options:
        if flag not in ("-b", "-g"):
            yield q.but(options=tuple(o for o in q.options if o[0] != flag))
    for cluster in smaller_cluster(q.cluster):
        smaller = q.but(cluster=cluster)
        if smaller.option("-g") and int(smaller.option("-g")) > cluster.gpus:
            smaller = smaller.put(gpus=None)
        yield smaller
    for key, _ in q.strategy.options:
        yield q.planned_as(**{key: None})
    for key, value in q.strategy.options:
        if isinstance(value, int) and value > 1 and value % 2 == 0:
            yield q.planned_as(**{key: value // 2})
    for work in smaller_workload(q.workload):
        yield q.but(workload=work)
    gpus = q.option("-g")
    if gpus and int(gpus) > 1:
        yield q.put(gpus=int(gpus) // 2)
    batch = q.option("-b")
    if batch and int(batch) > 1:
        yield q.put(batch=int(batch) // 2)


def shrink(violates, question):
    """violates(question): the violation or None. Returns the last one found, or None where the
    question itself violates nothing."""
    found, tries = violates(question), 0
    while found and tries < MOST_TRIES:
        for candidate in simpler(found.question):
            assert isinstance(candidate, Question)
            tries += 1
            less = violates(candidate)
            if less:
                found = less
                break
            if tries >= MOST_TRIES:
                break
        else:
            break
    return found
