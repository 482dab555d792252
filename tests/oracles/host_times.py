#!/usr/bin/env python3
"""tests/oracles/host_times.py - what hosts take to launch, from traces of PyTorch and from
published runs that their hosts hold up.

usage: host_times.py [DATA]        DATA: the folder of shared data, default ../shared/data

Traces. A GPU waits for its host where a kernel starts at once when it is launched. So where two
kernels that follow each other were launched by one thread, and each began within 30 us of its
launch, the time from launch to launch is the host's. Times are printed by thread: the one that runs
the Python program (forward pass, optimizer), and autograd's (backward pass). A profiler ran
meanwhile: it records each op and each call of CUDA, which a run without it does not pay, so these
are upper bounds. They say what parts of a step differ, not what a recipe takes.

Published runs without a profiler, whose time does not depend on the work on the GPU:
    bert-base, 8 sequences of 8 and of 32 tokens, 6 ms a forward pass: huggingface/transformers,
      docs/source/benchmarks (PyTorch 1.4, TITAN RTX, x86_64, 2020-06-29)
    one step of an optimizer on ResNet-101's 314 parameter tensors: pytorch/pytorch, pull request
      45408 (2020-09-28), by tensor and with multi-tensor kernels

The recipes (study/recipes) have the figures of the last table. Exits with 77 where there is no
data.
"""
import collections
import gzip
import json
import os
import sys

TRACES = [
    ("kineto-samples/resnet50_v100_num_workers_0.pt.trace.json.gz", "ResNet-50, Xeon E5-2698 v4"),
    ("kineto-hta/v100_2rank_rank1.json.gz", "compiled function"),
    ("kineto-hta/a100_2rank_rank0_pgconfig.json.gz", "CNN with DDP, Python stacks recorded"),
    ("kineto-hta/world128_sampled_rank0.json.gz", "recommendation, one launch in some"),
    ("param-et/linear_kineto.json.gz", "linear layers"),
    ("param-dlrm8/kineto/rank0.json.gz", "DLRM"),
]
AT_ONCE_US = 30
FEWEST = 50  # pairs of launches

# ops of the forward graph of bert-base in fp32 (forerun graph show bert-base), and its time
BERT_OPS, BERT_S = 373, 0.006
RESNET101_TENSORS = 314  # 104 convolutions, 104 batch norms of two, a linear layer of two
# ms of one step: by tensor, with multi-tensor kernels
OPTIMIZERS = {"Adam": (42.69, 10.16), "AdamW": (51.38, 15.63), "SGD": (6.28, 4.40)}


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def host_gaps(events):
    """Times from launch to launch in us, by thread, where the GPU waited for the host; and what the
    calls themselves took."""
    began, launches, ops = {}, collections.defaultdict(list), collections.Counter()
    for e in events:
        if e.get("ph") != "X":
            continue
        category, arguments = str(e.get("cat")).lower(), e.get("args") or {}
        thread = (str(e["pid"]), str(e["tid"]))
        if category == "kernel":
            began[arguments.get("correlation")] = e["ts"]
        elif category in ("cuda_runtime", "runtime") and "Launch" in e["name"]:
            launches[thread].append((e["ts"], e["dur"], arguments.get("correlation")))
        elif e["name"].startswith("autograd::engine") or e["name"].endswith("AccumulateGrad"):
            ops[thread] += 1
    for thread, list_ in launches.items():
        known = sorted(x for x in list_ if x[2] in began)
        gaps, calls = [], []
        for a, b in zip(known, known[1:]):
            if began[a[2]] - a[0] < AT_ONCE_US and began[b[2]] - b[0] < AT_ONCE_US:
                gaps.append(b[0] - a[0])
                calls.append(a[1])
        if len(gaps) >= FEWEST:
            is_backward = ops[thread] > 0 and ops[thread] == max(ops.values())
            yield "backward" if is_backward else "python", gaps, calls


def print_traces(data):
    print("%-52s %-9s %7s %6s %6s %6s %6s" % ("trace", "thread", "pairs", "25 %", "50 %", "75 %",
                                             "call"))
    for name, what in TRACES:
        path = os.path.join(data, name)
        if not os.path.exists(path):
            continue
        with gzip.open(path, "rt", encoding="utf-8") as f:
            trace = json.load(f)
        devices = trace.get("deviceProperties") or [{}]
        title = "%s, %s" % (devices[0].get("name", "unnamed GPU"), what)
        for thread, gaps, calls in host_gaps(trace["traceEvents"]):
            print("%-52s %-9s %7d %6.0f %6.0f %6.0f %6.0f" %
                  ((title[:52], thread, len(gaps)) +
                   tuple(quantile(gaps, p) for p in (0.25, 0.5, 0.75)) + (quantile(calls, 0.5),)))


def print_published():
    print("\nwithout a profiler, us")
    print("an op of the forward pass                      %6.1f" % (1e6 * BERT_S / BERT_OPS))
    for name, (single, multi) in OPTIMIZERS.items():
        print("%-6s a parameter tensor, one by one            %6.1f" %
              (name, 1e3 * single / RESNET101_TENSORS))
        print("%-6s a parameter tensor, multi-tensor kernels  %6.1f" %
              ("", 1e3 * multi / RESNET101_TENSORS))


def main():
    data = sys.argv[1] if len(sys.argv) > 1 else "../shared/data"
    if not os.path.isdir(os.path.join(data, "kineto-hta")):
        print("no traces in %s" % data, file=sys.stderr)
        return 77
    print_traces(data)
    print_published()
    return 0


if __name__ == "__main__":
    sys.exit(main())
