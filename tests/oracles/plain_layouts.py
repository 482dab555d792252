#!/usr/bin/env python3
"""tests/oracles/plain_layouts.py - the time and the bytes of layouts, derived by hand.

usage: tests/oracles/plain_layouts.py FORERUN [-v]

A GPT and a Mixtral run on a made-up machine of which everything is known: a product of F FLOPs
takes F / rate, everything else of a layer nothing (memory is a million times too fast), and a
message takes alpha + bytes / bandwidth. So the step of a layout follows from its definition: what
is computed where, what is sent when, what waits for what. This file derives it from that alone; it
shares nothing with the program, and reads none of its constants but two published efficiencies.

Every layout's time must be within 0.5 % of the derived one, and the bytes of parameters and of the
optimizer as well. -v prints all of them. Exit status: 0 all are; 1 some are not.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

TOLERANCE = 0.005
PEAK = 10e12
# What a large product reaches of the peak: medians of measured kernels, doc/calibration.md. A
# product of weights (DeepBench, aiconfigurator), and one of activations, in attention (NeuSight).
RATE, BATCHED_RATE = 0.80 * PEAK, 0.64 * PEAK
GPUS = 8
BANDWIDTH = 10e9  # of a GPU's link, bytes per second, each way
ALPHA = 2e-6      # from GPU to GPU: two links of 1 us
BIG = "bucket=100GB"  # all gradients in one message

MACHINE = """name: plain
source: made up, so that times can be derived
types:
  - {name: plain-gpu, kind: gpu, memory: 1024GiB, memory_bandwidth: 1000000000GB/s, vector:
     1000000000Tflop/s, flops: {fp32: 10Tflop/s, fp16: 10Tflop/s}, sms: 64, launch: 0us}
machines:
  - vertices:
      - {name: cpu0, kind: cpu, type: 2x-epyc-7742}
      - {name: hub, kind: nvswitch}
%s
    links:
      - {from: cpu0, to: hub, kind: cpu, bandwidth: 10GB/s, latency: 1us}
%s
""" % ("\n".join(f"      - {{name: gpu{i}, kind: gpu, type: plain-gpu}}" for i in range(GPUS)),
       "\n".join(f"      - {{from: gpu{i}, to: hub, kind: nvlink, bandwidth: 10GB/s, latency: 1us}}"
                 for i in range(GPUS)))

# ---- the model: Radford et al., 2019; fp32, so that everything is four bytes ----

LAYERS, WIDTH, HEADS, SEQ, VOCAB = 8, 512, 8, 256, 1024
GPT = f"gpt:layers={LAYERS},hidden={WIDTH},heads={HEADS},seq={SEQ},vocab={VOCAB}"
WORD = 4
EMBEDDING = VOCAB * WIDTH                # also the head's weights
POSITIONS = SEQ * WIDTH
# qkv, proj, fc1, fc2: 3 h^2 + h^2 + 4 h^2 + 4 h^2, their biases 3 h + h + 4 h + h; two norms, 2 h
LAYER = 12 * WIDTH**2 + 13 * WIDTH
PARAMETERS = EMBEDDING + POSITIONS + LAYERS * LAYER + 2 * WIDTH


def layer_s(samples, share=1):
    """Forward time of a layer; share: the ranks that split its heads, columns and rows. A product
    of m x k and k x n takes 2 m k n FLOPs: 12 h^2 weights for each token, and for each sample and
    head s x s scores, and as many products with the values."""
    tokens = samples * SEQ
    return (2 * tokens * 12 * WIDTH**2 / RATE + 4 * tokens * SEQ * WIDTH / BATCHED_RATE) / share


def core_s(samples, share=1):
    """The part of attention that selective recomputation runs again: its two products."""
    return 4 * samples * SEQ * SEQ * WIDTH / BATCHED_RATE / share


def head_s(samples, share=1):
    return 2 * samples * SEQ * WIDTH * VOCAB / RATE / share


def step_s(samples, share=1):
    """Forward and backward of the whole model: each product has two gradients of its size."""
    return 3 * (LAYERS * layer_s(samples, share) + head_s(samples, share))


# ---- messages (Patarasuk and Yuan, 2009; Hockney, 1994) ----

def send_s(size):
    return ALPHA + size / BANDWIDTH


def gather_s(ranks, size):
    """All-gather or reduce-scatter of size bytes in all: ranks - 1 rounds of a part."""
    return (ranks - 1) * send_s(size / ranks)


def reduce_s(ranks, size):
    """All-reduce: a scatter and a gather."""
    return 2 * gather_s(ranks, size)


def exchange_s(ranks, size):
    """All-to-all: each rank sends a part of its size bytes to each of the others."""
    return (ranks - 1) * send_s(size / ranks)


def activation(samples):
    return samples * SEQ * WIDTH * WORD


# ---- pipelines: the order of passes of each stage, and when each can begin ----

def order_gpipe(_rank, _ranks, micro):
    """Huang et al., NeurIPS 2019. Backward passes in the order of the forward ones."""
    return [("F", 0, m) for m in range(micro)] + [("B", 0, m) for m in range(micro)]


def order_1f1b(rank, ranks, micro):
    """Narayanan et al., SC 2021: ranks - rank - 1 forward passes ahead, then one and one."""
    ahead = min(ranks - rank - 1, micro)
    order = [("F", 0, m) for m in range(ahead)]
    for m in range(micro):
        if m + ahead < micro:
            order.append(("F", 0, m + ahead))
        order.append(("B", 0, m))
    return order


def order_interleaved(parts):
    """Narayanan et al., SC 2021: micro-batches in groups of as many as there are ranks, each group
    through all parts of a rank; 2 (ranks - rank - 1) + (parts - 1) ranks forward passes ahead."""
    def order(rank, ranks, micro):
        passes = [(part, group + i) for group in range(0, micro, ranks) for part in range(parts)
                  for i in range(min(ranks, micro - group))]
        forward = [("F", part, m) for part, m in passes]
        backward = [("B", parts - 1 - part, m) for part, m in passes]
        ahead = min(2 * (ranks - rank - 1) + (parts - 1) * ranks, len(forward))
        out = forward[:ahead]
        for i, back in enumerate(backward):
            out += forward[ahead + i:ahead + i + 1] + [back]
        return out
    return order


def replay(order, ranks, micro, parts, forward, backward, transfer):
    """When each rank has done its last pass. A pass begins when the rank is free and what it reads
    has come. Stage v = part * ranks + rank. Messages between two ranks follow each other."""
    stages = ranks * parts
    lists = [order(r, ranks, micro) for r in range(ranks)]
    at, free, done, wire = [0] * ranks, [0.0] * ranks, {}, {}
    came = {}

    def pass_on(kind, stage, m, end):
        other = stage + (1 if kind == "F" else -1)
        if not 0 <= other < stages:
            return
        if other % ranks == stage % ranks:
            came[kind, other, m] = end
            return
        key = (stage % ranks, other % ranks)
        wire[key] = max(wire.get(key, 0.0), end) + transfer
        came[kind, other, m] = wire[key]

    while any(at[r] < len(lists[r]) for r in range(ranks)):
        best = None
        for r in range(ranks):
            if at[r] == len(lists[r]):
                continue
            kind, part, m = lists[r][at[r]]
            stage = part * ranks + r
            first = stage == 0 if kind == "F" else stage == stages - 1
            ready = (0.0 if kind == "F" else done["F", stage, m]) if first else \
                came.get((kind, stage, m))
            if ready is not None:
                begin = max(free[r], ready)
                if best is None or begin < best[0]:
                    best = begin, r, kind, stage, m
        begin, r, kind, stage, m = best
        end = begin + (forward if kind == "F" else backward)[stage]
        free[r] = done[kind, stage, m] = end
        at[r] += 1
        pass_on(kind, stage, m, end)
    return free


def pipeline_s(ranks, micro, samples, order=order_1f1b, parts=1, share=1, again=0.0):
    """samples: of a micro-batch. again: what of a layer the backward pass runs once more, seconds;
    the head is no layer. Both ends have the embedding, and sum its gradient at the end."""
    each = LAYERS // (ranks * parts)
    forward = [each * layer_s(samples, share)] * (ranks * parts)
    backward = [2 * f + each * again for f in forward]
    forward[-1] += head_s(samples, share)
    backward[-1] += 2 * head_s(samples, share)
    return replay(order, ranks, micro, parts, forward, backward, send_s(activation(samples)))


def tied(ends, share=1):
    """The first and the last stage sum the gradients of the embedding, when both are done."""
    begin = max(ends[0], ends[-1])
    return max(*ends, begin + reduce_s(2, EMBEDDING * WORD / share))


def stage_parameters(rank, ranks):
    """Of one part a rank; the embedding at both ends."""
    return LAYERS // ranks * LAYER + (EMBEDDING + POSITIONS if rank == 0 else 0) + \
        (EMBEDDING + 2 * WIDTH if rank == ranks - 1 else 0)


# ---- sharded parameters ----

def zero3_s(ranks, samples):
    """What stands outside the layers (embedding, positions, last norm) is gathered once, at the
    beginning, since the head reads the embedding at the end. A layer is gathered before its forward
    pass and again before its backward pass. With prefetch=0 and overlap=0 nothing of the model runs
    beside that, but the backward pass of the head beside the gather of the last layer. The scatter
    of a layer's gradients shares the links with the gather of the layer before, so that the two
    take as long as one after the other, but for their latencies, which pass at the same time."""
    layer, rest = LAYER * WORD, (EMBEDDING + POSITIONS + 2 * WIDTH) * WORD
    gathers = 3 * LAYERS * gather_s(ranks, layer) + 2 * gather_s(ranks, rest)
    together = (LAYERS - 1) * (ranks - 1) * ALPHA
    return step_s(samples) + gathers - together - min(2 * head_s(samples), gather_s(ranks, layer))


# ---- attention as one op (Dao, 2023), of which a causal mask leaves half ----

ATTENTION_RATE = 0.48 * PEAK  # aiconfigurator, as above


def flash_s(samples, share=1):
    return 2 * samples * SEQ * SEQ * WIDTH / ATTENTION_RATE / share


def flash_step_s(samples, share=1):
    """Backward, the scores are computed again: five products instead of two."""
    products = LAYERS * 2 * samples * SEQ * 12 * WIDTH**2 / RATE / share
    return 3 * (products + head_s(samples, share)) + 3.5 * LAYERS * flash_s(samples, share)


def context_s(ranks, samples):
    """Each rank has a part of every sequence, and of attention as much work as the others (two
    parts, from both ends). Keys and values of the whole are gathered forward and again backward,
    and their gradients scattered; the second gather goes beside the gradient of proj's weights.
    Ranks are replicas of the parameters."""
    both = 2 * activation(samples)
    beside = min(gather_s(ranks, both), 2 * samples * SEQ * WIDTH**2 / RATE / ranks)
    return flash_step_s(samples, ranks) + LAYERS * (3 * gather_s(ranks, both) - beside) + \
        reduce_s(ranks, PARAMETERS * WORD)


# ---- experts (Mixtral: Jiang et al., 2024) ----

EXPERTS, PER_TOKEN, FFN = 8, 2, 1024
MOE = f"mixtral:layers={LAYERS},hidden={WIDTH},heads={HEADS},kv_heads={HEADS},ffn={FFN}," \
      f"experts={EXPERTS},seq={SEQ},vocab={VOCAB}"
# four products of attention, the router and two norms without biases; head and embedding apart
MOE_DENSE = LAYERS * (4 * WIDTH**2 + EXPERTS * WIDTH + 2 * WIDTH) + 2 * EMBEDDING + WIDTH
MOE_EXPERT = LAYERS * 3 * WIDTH * FFN


def experts_s(samples):
    """Forward and backward; a token goes through PER_TOKEN experts of three products each."""
    weights = 4 * WIDTH**2 + EXPERTS * WIDTH + PER_TOKEN * 3 * WIDTH * FFN
    products = LAYERS * 2 * samples * SEQ * weights / RATE
    return 3 * (products + head_s(samples)) + 3.5 * LAYERS * flash_s(samples)


def expert_parallel_s(dp, ep, samples):
    """Each layer sends its tokens to their experts and back, forward and backward: PER_TOKEN copies
    of each token. Gradients of experts are summed where the same experts are, all others on all.
    Ranks of ep follow each other, and both sums leave when all is done."""
    exchanges = 4 * LAYERS * exchange_s(ep, PER_TOKEN * activation(samples))
    experts = MOE_EXPERT * EXPERTS // ep * WORD
    return experts_s(samples) + exchanges + reduce_s(dp, MOE_DENSE * WORD) + \
        (reduce_s(dp // ep, experts) if dp > ep else 0)


# ---- layouts ----

def tensor_s(ranks, samples, layers=LAYERS):
    """Shoeybi et al., 2019: two sums of an activation forward, two backward; the embedding's rows
    are shared out, which is a sum, and so is the gradient of the head's input. The loss sums three
    numbers a token: the largest logit, the sum of exponentials, the logit that is right."""
    x, numbers = reduce_s(ranks, activation(samples)), reduce_s(ranks, samples * SEQ * WORD)
    return layers * 4 * x + 2 * x + 3 * numbers


def tensor_parameters(ranks):
    """Of one rank: products' weights and the biases of qkv and fc1 are shared out, 3 h + 4 h;
    norms, 4 h, and the other biases, 2 h, and the positions are everywhere."""
    return (EMBEDDING + LAYERS * (12 * WIDTH**2 + 7 * WIDTH)) // ranks + \
        LAYERS * 6 * WIDTH + POSITIONS + 2 * WIDTH


def staged_sums(ends, replicas, samples):
    """Each stage sums its gradients when it is done, and both ends the embedding's, then. The last
    gradient that a stage hands down leaves when its sum begins: the two share the link, so that the
    stage before, which waits for it, is later by what it takes at full rate."""
    ranks = len(ends)
    ends = [end + (ranks - 1 - r) * activation(samples) / BANDWIDTH +
            reduce_s(replicas, stage_parameters(r, ranks) * WORD) for r, end in enumerate(ends)]
    return tied(ends)


def dense_layouts(b):
    """Options of hybrid, GPUs, seconds; of GPT with b samples in all."""
    whole = PARAMETERS * WORD
    yield "dp=1", 1, step_s(b)
    for d in (2, 4, 8):
        yield f"dp={d},overlap=0,{BIG}", d, step_s(b // d) + reduce_s(d, whole)
    yield f"dp=4,overlap=1,{BIG}", 4, step_s(b // 4) + reduce_s(4, whole)
    for z in (1, 2):
        yield f"dp=4,zero={z},overlap=0,{BIG}", 4, step_s(b // 4) + 2 * gather_s(4, whole)
    for d in (2, 4, 8):
        yield f"dp={d},zero=3,overlap=0,prefetch=0", d, zero3_s(d, b // d)
    for t in (2, 4, 8):
        yield f"tp={t},tp-async=0", t, step_s(b, t) + tensor_s(t, b)
    # A scatter and a gather instead of each sum; backward, what was gathered is gathered once more.
    yield "tp=4,sp=1,tp-async=0", 4, step_s(b, 4) + tensor_s(4, b) * 5 / 4
    yield "tp=4,sp=1,tp-async=0,keep-gathered=1", 4, step_s(b, 4) + tensor_s(4, b)
    yield (f"dp=2,tp=2,tp-async=0,overlap=0,{BIG}", 4, step_s(b // 2, 2) + tensor_s(2, b // 2) +
           reduce_s(2, tensor_parameters(2) * WORD))
    yield (f"dp=4,tp=2,zero=1,tp-async=0,overlap=0,{BIG}", 8, step_s(b // 4, 2) +
           tensor_s(2, b // 4) + 2 * gather_s(4, tensor_parameters(2) * WORD))
    yield "recompute=full", 1, step_s(b) + LAYERS * layer_s(b)
    yield "recompute=selective", 1, step_s(b) + LAYERS * core_s(b)
    # the forward sums of a layer are sent again, too
    yield ("tp=2,tp-async=0,recompute=full", 2, step_s(b, 2) + tensor_s(2, b) + LAYERS *
           (layer_s(b, 2) + 2 * reduce_s(2, activation(b))))


def staged_layouts(b):
    for p, m, name, order in ((2, 4, "1f1b", order_1f1b), (4, 8, "1f1b", order_1f1b),
                              (8, 16, "1f1b", order_1f1b), (4, 8, "gpipe", order_gpipe),
                              (2, 16, "gpipe", order_gpipe)):
        yield (f"pp={p},micro={b // m},schedule={name},cut=layers", p,
               tied(pipeline_s(p, m, b // m, order)))
    for p, m, parts in ((2, 8, 2), (4, 8, 2), (2, 8, 4)):
        yield (f"pp={p},micro={b // m},virtual={parts},cut=layers", p,
               tied(pipeline_s(p, m, b // m, order_interleaved(parts), parts)))
    yield ("pp=4,micro=4,cut=layers,recompute=full", 4,
           tied(pipeline_s(4, b // 4, 4, again=layer_s(4))))
    yield (f"dp=2,pp=4,micro=2,cut=layers,overlap=0,{BIG}", 8,
           staged_sums(pipeline_s(4, b // 4, 2), 2, 2))


def context_layouts(b):
    yield "dp=1", 1, flash_step_s(b)
    for c in (2, 4):
        yield f"cp={c},overlap=0,{BIG}", c, context_s(c, b)


def expert_layouts(b):
    yield "dp=1", 1, experts_s(b)
    for dp, ep in ((2, 2), (4, 4), (4, 2), (8, 8)):
        yield f"dp={dp},ep={ep},overlap=0,{BIG}", dp, expert_parallel_s(dp, ep, b // dp)


def layouts():
    """Model, options of hybrid, GPUs, batch, seconds."""
    for model, b, made in ((GPT, 32, dense_layouts), (GPT, 32, staged_layouts),
                           (GPT + ",attention=flash", 32, context_layouts),
                           (MOE, 32, expert_layouts)):
        for options, gpus, seconds in made(b):
            yield model, options, gpus, b, seconds


# ---- memory ----

def held_bytes():
    """Model, options, GPUs, bytes of parameters and of Adam's two moments on rank 0. Level 1 of
    sharding shares out the moments, level 3 the parameters too (Rajbhandari et al., SC 2020)."""
    def case(options, gpus, count, model=GPT, shares=(1, 1)):
        return model, options, gpus, count * WORD / shares[0], 2 * count * WORD / shares[1]
    yield case("dp=1", 1, PARAMETERS)
    yield case("dp=4", 4, PARAMETERS)
    yield case("dp=4,zero=1", 4, PARAMETERS, shares=(1, 4))
    yield case("dp=4,zero=2", 4, PARAMETERS, shares=(1, 4))
    yield case("dp=4,zero=3", 4, PARAMETERS, shares=(4, 4))
    yield case("tp=4", 4, tensor_parameters(4))
    yield case("dp=2,tp=4,zero=1", 8, tensor_parameters(4), shares=(1, 2))
    yield case("cp=2", 2, PARAMETERS)
    yield case("pp=4,cut=layers", 4, stage_parameters(0, 4))
    yield case("dp=2,pp=4,cut=layers,zero=1", 8, stage_parameters(0, 4), shares=(1, 2))
    yield case("pp=2,virtual=2,cut=layers", 2, stage_parameters(0, 2))
    yield case("recompute=full", 1, PARAMETERS)
    yield case("dp=4,ep=4", 4, MOE_DENSE + MOE_EXPERT * EXPERTS // 4, MOE)
    yield case("dp=4,ep=2", 4, MOE_DENSE + MOE_EXPERT * EXPERTS // 2, MOE)


def layer_keeps(samples, tensor, sequence):
    """Bytes that a layer keeps in 16 bits for its backward pass, on one of tensor ranks.
    Korthikanti et al., 2023, table 2: s b h (10 + 24/t + 5 a s / (h t)), with sequence parallelism
    all of it by t. They leave out what a norm keeps beside its input: mean
    and deviation of a token, in fp32."""
    tokens = samples * SEQ
    split = 24 + 5 * HEADS * SEQ / WIDTH
    norms = 2 * 2 * 4 * tokens
    if sequence:
        return (tokens * WIDTH * (10 + split) + norms) / tensor
    return tokens * WIDTH * (10 + split / tensor) + norms


def memory(forerun, machine, judge):
    for model, options, gpus, parameters, optimizer in held_bytes():
        found = asked(forerun, machine, model, options, gpus, 32)["devices"][0]["memory"]
        judge(f"{options} holds parameters", found["parameters"], parameters)
        judge(f"{options} holds moments", found["optimizer"], optimizer)
    for tensor in (1, 2, 4):
        for sequence in (0, 1) if tensor > 1 else (0,):
            peaks = [asked(forerun, machine, GPT.replace(f"layers={LAYERS}", f"layers={layers}"),
                           f"tp={tensor},sp={sequence}", tensor, 32, "fp16")
                     ["devices"][0]["memory"]["activations"] for layers in (4, 8)]
            judge(f"tp={tensor},sp={sequence} keeps of a layer", (peaks[1] - peaks[0]) / 4,
                  layer_keeps(32, tensor, sequence))


def asked(forerun, machine, model, options, gpus, batch, precision="fp32"):
    """The program's answer; ops run in the order of the program, as PyTorch launches them."""
    args = [forerun, "simulate", "--recipe", "none", "-w", model, "-t", machine, "-b", str(batch), "-g", str(gpus),
            "-p", precision, "-O", "adam", "-s", f"hybrid:{options}", "--costs", "datasheet",
            "--collectives", "expanded", "--memory", "liveness", "--order", "strict",
            "--allow-implausible", "--json", "-q", "--no-advice"]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(args)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("forerun")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    judged = []

    def judge(what, found, derived, unit=1.0):
        wrong = abs(found / derived - 1) > TOLERANCE
        judged.append(wrong)
        if options.verbose or wrong:
            print(f"{'WRONG' if wrong else 'right'}  {what}: {found * unit:.6g}, derived "
                  f"{derived * unit:.6g}, {100 * (found / derived - 1):+.3f} %")

    with tempfile.TemporaryDirectory() as folder:
        machine = os.path.join(folder, "plain.yaml")
        with open(machine, "w", encoding="utf-8") as f:
            f.write(MACHINE)
        for model, name, gpus, batch, seconds in layouts():
            found = asked(options.forerun, machine, model, name, gpus, batch)["iteration_s"]
            judge(f"{model.partition(':')[0]} {name} takes ms", found, seconds, 1e3)
        memory(options.forerun, machine, judge)
    print(f"{len(judged)} figures of layouts, {sum(judged)} off by more than {100 * TOLERANCE:g} %")
    return 1 if any(judged) else 0


if __name__ == "__main__":
    sys.exit(main())
