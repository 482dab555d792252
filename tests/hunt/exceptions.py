"""tests/hunt/exceptions.py - where a rule is let pass by a part or whole, and why that is right.

Each has its reason. What no reason covers is a violation, however small.
"""
import collections
import math

ROUNDING = 1e-9
Exception_ = collections.namedtuple("Exception_", "rules applies part reason")

# Their plans are made from what they believe of times and links; nobody proved them monotone.
PLANNERS = ("heft", "cpop", "mcp", "etf", "fifo", "critical-path", "random", "dpos", "os-dpos",
            "pipedream", "exact")
BETTER = ("more-bandwidth-is-not-slower", "more-memory-is-not-slower", "faster-gpus-are-not-slower",
          "a-slow-gpu-is-not-faster", "twice-the-batch-takes-as-long",
          "a-shorter-update-is-not-slower")


def believes(q):
    """exact is exact where the engine runs what it planned, on links that share nothing."""
    as_planned = q.option("--order") == "strict" and q.option("--network") == "analytic"
    return q.strategy.name in PLANNERS and not (q.strategy.name == "exact" and as_planned)


def pipelined(q):
    return q.strategy.name in ("pp", "mp") or int(q.strategy.get("pp", 1)) > 1


def unlike_layers(q):
    return pipelined(q) and not q.workload.get("layers")


def has_servers(q):
    return q.strategy.name == "dp" and str(q.strategy.get("sync", "")).startswith("ps")


def random_times(q):
    return q.option("--jitter") or q.option("--device-jitter") or \
        q.option("--order") in ("random", "tic", "tac")


EXCEPTIONS = (
    Exception_(BETTER, believes, math.inf,
               "list schedulers and planners place by beliefs: Graham, SIAM J. Appl. Math. 17(2), "
               "1969; doc/scheduling.md has three examples"),
    Exception_(BETTER, lambda q: True, 0.005,
               "what is ready first runs first, so that something faster may start another op "
               "before the one that others wait for: Graham's anomalies, doc/scheduling.md"),
    Exception_(BETTER, random_times, 0.05,
               "a task draws its time by its number, and a plan with another cut or bucket numbers "
               "them otherwise; orders of transfers hang on the times of ops"),
    Exception_(BETTER, pipelined, 0.02,
               "a replay proposes a few cuts of stages and a run decides among them; where links "
               "or GPUs are others it proposes others, so that a slower machine may be shown a cut "
               "that the faster one never was: doc/manual.md, section 8"),
    Exception_(BETTER, has_servers, 0.02,
               "pushes and pulls of one GPU go in the order in which they become ready: a gradient "
               "that is ready later lets a pull go first that is needed first"),
    Exception_(("more-bandwidth-is-not-slower",), lambda q: "nics=" in str(q.cluster), 0.05,
               "two cards of 100 Gbit/s take two rings of 12.5 GB/s; of 200 Gbit/s one ring fills "
               "the slot of 24 GB/s, which is less than the two"),
    Exception_(BETTER, lambda q: q.option("--channels"), math.inf,
               "NCCL chooses rings or trees by its own model, which knows no --channels"),
    Exception_(("twice-the-batch-takes-as-much-memory",), believes, math.inf,
               "they plan for time alone: another batch may have other stages or another "
               "placement, of which a GPU holds less"),
    Exception_(("twice-the-batch-takes-as-much-memory",), pipelined, 0.25,
               "more micro-batches may be cut elsewhere, where they are faster"),
    Exception_(("twice-the-batch-takes-as-much-memory",), unlike_layers, math.inf,
               "the same, and the first layers of a model of images keep many times what the last "
               "keep: a border moved by a few of them moves half of a GPU's memory"),
    Exception_(("the-cut-is-the-best-cut",), lambda q: True, 0.02,
               "as above: of the cuts that a replay proposes the run takes the fastest; a cut by "
               "hand is none of them"),
    Exception_(("twice-the-batch-takes-as-much-memory",), lambda q: True, 0.05,
               "a cut or placement may be another; one micro-batch keeps its outputs, several do "
               "not: doc/manual.md, section 5"),
)


def tolerance(rule, q):
    """The part by which the figure may be worse: the largest of what applies."""
    return max([ROUNDING] + [e.part for e in EXCEPTIONS if rule in e.rules and e.applies(q)])


# Where a rule is let pass because of one thing, which is taken away from both questions: then it
# must hold. What is still worse without it has another cause, and is a violation.
Without = collections.namedtuple("Without", "rules applies take_away reason")


def has_replicas(q):
    stages = q.gpus() if q.strategy.name == "pp" else int(q.strategy.get("pp", 1))
    return pipelined(q) and q.option("--network") != "analytic" and \
        (int(q.strategy.get("dp", 1)) > 1 or stages < q.gpus())


def by_nccls_choice(q):
    return q.option("--collectives") in (None, "auto") and not q.option("--collective-algorithm")


def by_rings(q):
    """Neither NCCL's choice nor a fitted time; a protocol that was asked for stays."""
    if q.option("--protocol"):
        return q.put(collective_algorithm="ring")
    return q.put(collectives="expanded")


def sums_copies(q):
    return str(q.strategy.get("schedule", "")) in ("dualpipe", "chimera", "chimera-released")


def by_nccls_chains(q):
    return "tree" in str(q.option("--collective-algorithm") or "")


WITHOUT = (
    Without(("more-bandwidth-is-not-slower",), by_nccls_chains,
            lambda q: q.put(collective_algorithm="ring"),
            "a tree's chains are those that NCCL's search finds on the links: two of 12 GB/s at 100 "
            "Gbit/s, one of 24 GB/s on one NIC at 200, which its tuner too thinks slower (234 and "
            "348 us for 1 MiB on two boxes of two A10G)"),
    Without(BETTER, sums_copies, lambda q: q.put(network="analytic"),
            "two copies of a stage sum their gradients over the links that activations take, and "
            "cuts are chosen as if each message had its link alone (\"not planned\")"),
    Without(BETTER, has_replicas, lambda q: q.put(network="analytic"),
            "replicas of a pipeline whose GPUs share a NIC send at one time, and each gets half of "
            "it; one that lags behind leaves it to the others"),
    Without(BETTER, has_servers, lambda q: q.put(network="analytic"),
            "pushes and pulls of all workers share links as equals: one that comes later leaves "
            "them to others that are needed first; doc/manual.md, section 3, stragglers"),
    Without(("twice-the-batch-takes-as-much-memory",), lambda q: not q.option("--memory"),
            lambda q: q.put(memory="liveness"),
            "PyTorch's allocator takes a free block for another tensor if it is large enough, so "
            "that smaller tensors may leave larger holes: doc/memory.md"),
    Without(("more-bandwidth-is-not-slower",), by_nccls_choice,
            by_rings,
            "NCCL takes the algorithm, protocol and channels that its tuner thinks best, whose "
            "times are not those of the run: reduce-scatter of 240 KiB on two DGX A100 takes "
            "47.5 us by its estimate and 37.2 us at 100 Gbit/s, 47.4 us and 93.1 us at 200; "
            "all-reduce of 241 KiB by Simple on two boxes of two A100 goes by a tree at 100 "
            "Gbit/s (104 us by its estimate, 115 by a ring; 135 in the run), by a ring at 200 (100 "
            "us, 116 by a tree; 164 in the run): tests/collectives/test_nccl_search.c has them"),
    Without(("os-dpos-is-not-worse-than-what-it-weighs", "dpos-is-not-worse-than-what-it-weighs"),
            lambda q: q.option("--host-op"), lambda q: q.put(host_op=None),
            "the planner's runs of plans hold no thread of a host up: doc/fastt.md, what is left "
            "out"),
)


def without(rule, q, other):
    """Pairs of the two questions without what may excuse them."""
    for e in WITHOUT:
        if rule in e.rules and e.applies(q):
            yield e.take_away(q), e.take_away(other)


# Bytes, where a rule speaks of memory: a segment of PyTorch's allocator is up to 20 MiB, and is
# reserved whole; doc/manual.md, section 5.
SEGMENT_BYTES = 24 << 20


def most_of_peak(q, answer):
    """How far above its peak rate a GPU may compute. Convolutions of 3 x 3 in fp32 go by Winograd's
    F(2x2, 3x3), with 2.25 times fewer multiplications than are counted (Lavin, Gray, CVPR 2016).
    What a GPU has no arithmetic for runs as fp32."""
    fp32 = q.option("--precision") in (None, "fp32", "tf32") or \
        any("run as fp32" in w for w in answer.get("warnings", []))
    return 2.25 if fp32 and q.workload.get("hidden") is None else 1.0
