#!/usr/bin/env python3
"""tests/oracles/torch_parallel.py - what ranks hold, keep and send when PyTorch shares out a step.

    python3 tests/oracles/torch_parallel.py >tests/oracles/torch/parallel.csv
    python3 tests/oracles/torch_parallel.py ROW [ROW...]     rows of CASES by number, from 0

Starts as many processes as a case has ranks, on the CPU of this machine, connected by gloo, and
runs three training steps of a small GPT or BERT in fp32: with DistributedDataParallel, with
fully_shard (FSDP2), with DTensor tensor parallelism with and without sequence parallelism
(ColwiseParallel, RowwiseParallel, SequenceParallel, loss_parallel), or with tensor parallelism
inside and fully_shard outside. Rank 0 counts the third step, when buckets have their steady form:

    parameters  bytes of the parameters that the rank holds
    saved       bytes of unique storages that saved_tensors_hooks sees, parameters and buffers left
                out, nor numbers on the host (`scores * 0.25` keeps one)
    all-reduce, all-gather, reduce-scatter
                messages of the forward and backward pass. bytes: of one, as plan/plan.h counts
                them: of a gather the whole result, of a scatter the whole input
    sum         all-reduces of gradients that are partial sums over the tensor group (norms under
                sequence parallelism): fully_shard's own, or else the script asks for them after the
                backward pass, one a parameter. bytes: of all together; count 1

The models are those of workloads/zoo/gpt.c and bert.c (head=mlm), op by op, but that queries, keys
and values of one head stand together in the packed product (as in Megatron-LM), so that its columns
can be shared out by heads. Dropout is torch.native_dropout, which keeps a bool an element. As in
torchtitan, a block whose products read one tensor prepares it once (PrepareModuleInput), and the
embedding's rows are split by vocabulary.

Needs PyTorch 2.6 or later (fully_shard on CPU); a build with CUDA serves. No GPU, no network but
the loopback.
"""
import collections
import csv
import os
import sys
import warnings

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard, distribute_module,
                                      distribute_tensor, init_device_mesh)
from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput,
                                               RowwiseParallel, SequenceParallel, loss_parallel,
                                               parallelize_module)
from torch.utils._python_dispatch import TorchDispatchMode

# ---- models ----


def dropout(x):
    return torch.native_dropout(x, 0.1, True)[0]


def attend(q, k, v, mask):
    """q, k, v: [batch, heads, seq, width]; heads of this rank."""
    scores = mask((q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5)
    y = (dropout(F.softmax(scores, -1)) @ v).transpose(1, 2).contiguous()
    return y.view(y.shape[0], y.shape[1], -1)


class GptAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.head_width = width // heads

    def forward(self, x, mask):
        y = self.qkv(x)
        y = y.view(y.shape[0], y.shape[1], -1, 3, self.head_width)
        q, k, v = (y[:, :, :, i].transpose(1, 2).contiguous() for i in range(3))
        return self.out(attend(q, k, v, mask))


class BertAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.head_width = width // heads

    def forward(self, x, mask):
        q, k, v = (y.view(y.shape[0], y.shape[1], -1, self.head_width).transpose(1, 2).contiguous()
                   for y in (self.q(x), self.k(x), self.v(x)))
        return self.out(attend(q, k, v, mask))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, attention, width, norm_first):
        super().__init__()
        self.attention, self.mlp, self.norm_first = attention, Mlp(width), norm_first
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x, mask):
        if self.norm_first:
            x = x + dropout(self.attention(self.norm1(x), mask))
            return x + dropout(self.mlp(self.norm2(x)))
        x = self.norm1(x + dropout(self.attention(x, mask)))
        return self.norm2(x + dropout(self.mlp(x)))


class Embed(nn.Module):
    """Rows of words, and rows that are added: positions, in BERT segments too."""

    def __init__(self, vocab, width, positions, segments):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocab, width), nn.Embedding(positions, width)
        self.segments = nn.Embedding(segments, width) if segments else None

    def forward(self, words, index, segments):
        x = self.words(words)
        if self.segments:
            x = x + self.segments(segments)
        return x + self.positions(index)


class Model(nn.Module):
    """spec: layers, hidden, heads, seq, vocab. `whole` and `to_head` do nothing on one rank; tensor
    parallelism puts its redistributions there."""

    def __init__(self, kind, spec):
        super().__init__()
        width, heads, self.seq = spec["hidden"], spec["heads"], spec["seq"]
        self.is_gpt, self.vocab = kind == "gpt", spec["vocab"]
        self.embed = Embed(self.vocab, width, self.seq if self.is_gpt else 512,
                           0 if self.is_gpt else 2)
        attention = GptAttention if self.is_gpt else BertAttention
        self.blocks = nn.ModuleList(Block(attention(width, heads), width, self.is_gpt)
                                    for _ in range(spec["layers"]))
        self.norm = nn.LayerNorm(width)  # GPT: before the head; BERT: of the embeddings
        self.register_buffer("causal", torch.ones(self.seq, self.seq, dtype=torch.bool).triu(1))
        self.register_buffer("index", torch.arange(self.seq)[None])
        self.register_buffer("zeros", torch.zeros(1, 1, 1, self.seq))
        if not self.is_gpt:
            self.fc, self.head_norm = nn.Linear(width, width), nn.LayerNorm(width)
            self.bias = nn.Parameter(torch.zeros(self.vocab))
        self.whole = self.to_head = lambda x: x

    def mask(self, scores):
        return scores.masked_fill(self.causal, -1e9) if self.is_gpt else scores + self.zeros

    def forward(self, words, segments, masked, target):
        index = torch.arange(self.seq)[None] if self.is_gpt else self.index  # as Hugging Face's
        x = self.embed(words, index, segments)
        x = dropout(x if self.is_gpt else self.norm(x))
        for block in self.blocks:
            x = block(x, self.mask)
        if self.is_gpt:
            logits = F.linear(self.to_head(self.norm(x)), self.embed.words.weight)
            return F.cross_entropy(logits.flatten(0, 1), target)
        x = self.whole(x)
        rows = x.view(-1, x.shape[-1]).index_select(0, masked)
        y = self.head_norm(F.gelu(self.fc(rows)))
        return F.cross_entropy(F.linear(self.to_head(y), self.embed.words.weight, self.bias),
                               target)

    def batch(self, n):
        """Random indices; what is predicted: all words, or 15 % of them, rounded up."""
        n_masked = n * ((self.seq * 15 + 99) // 100)
        return (torch.randint(self.vocab, (n, self.seq)), torch.randint(2, (n, self.seq)),
                torch.randint(n * self.seq, (n_masked,)),
                torch.randint(self.vocab, (n * self.seq if self.is_gpt else n_masked,)))


# ---- ways to share out ----


def on_mesh(mesh, placement):
    return lambda x: DTensor.from_local(x, mesh, [placement], run_check=False)


def gathered(x, mesh, placement):
    return on_mesh(mesh, placement)(x).redistribute(placements=[Replicate()])


def share_embedding(embed, mesh, rest):
    """Words by rows of the vocabulary, the other tables whole; what they add up to as `rest`."""

    def partition(name, module, mesh):
        for key, p in list(module.named_parameters(recurse=False)):
            placement = Shard(0) if name == "words" else Replicate()
            module.register_parameter(key, nn.Parameter(distribute_tensor(p, mesh, [placement])))

    distribute_module(embed, mesh, partition,
                      lambda m, inputs, mesh: tuple(map(on_mesh(mesh, Replicate()), inputs)),
                      lambda m, out, mesh: out.redistribute(placements=[rest]).to_local())


def share_tensors(model, mesh, sequence):
    """Megatron-LM's layout in DTensor. sequence: what stands between split layers is split too."""
    rest = Shard(1) if sequence else Replicate()
    norm = SequenceParallel(use_local_output=True)
    share_embedding(model.embed, mesh, rest)
    for block in model.blocks:
        plan = {"attention.out": RowwiseParallel(output_layouts=rest),
                "mlp.fc1": ColwiseParallel(input_layouts=rest),
                "mlp.fc2": RowwiseParallel(output_layouts=rest)}
        if model.is_gpt:
            plan["attention.qkv"] = ColwiseParallel(input_layouts=rest)
        else:
            plan["attention"] = PrepareModuleInput(input_layouts=(rest, None),
                                                   desired_input_layouts=(Replicate(), None))
            plan.update({"attention." + k: ColwiseParallel() for k in "qkv"})
        if sequence:
            plan.update({"norm1": norm, "norm2": norm})
        parallelize_module(block, mesh, plan)
    if sequence:
        parallelize_module(model.norm, mesh, norm)
    if not model.is_gpt:
        model.bias = nn.Parameter(distribute_tensor(model.bias.data, mesh, [Shard(0)]))
        model.whole = lambda x: gathered(x, mesh, rest).to_local()
    to_head = rest if model.is_gpt else Replicate()
    model.to_head = lambda x: gathered(x, mesh, to_head)


def share_parameters(model, mesh):
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)


# ---- counting ----


def local(t):
    while isinstance(t, DTensor) or hasattr(t, "elem"):
        t = t._local_tensor if isinstance(t, DTensor) else t.elem
    return t


def storage(t):
    return local(t).untyped_storage()


def bytes_of(tensors):
    return sum(t.nbytes for t in ([tensors] if torch.is_tensor(tensors) else tensors))


class Messages(TorchDispatchMode):
    """Counts collectives that reach the dispatcher, whoever asks for them."""

    KINDS = {"all_reduce": "all-reduce", "allreduce_": "all-reduce",
             "all_gather_into_tensor": "all-gather", "_allgather_base_": "all-gather",
             "reduce_scatter_tensor": "reduce-scatter", "_reduce_scatter_base_": "reduce-scatter"}

    def __init__(self):
        super().__init__()
        self.counts = collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if DTensor in types:
            return NotImplemented  # its own messages come back here
        out = func(*args, **(kwargs or {}))
        space, name = str(func).split(".")[:2]
        kind = self.KINDS.get(name)
        if "c10d" in space and kind:
            tensors = args[:1] if kind == "all-reduce" else args[:2]  # the result, what is sent
            if space == "_c10d_functional":
                tensors = args[0], out
            self.counts[kind, max(map(bytes_of, tensors))] += 1
        elif "c10d" in space and not name.startswith(("wait_tensor", "_wrap_tensor")):
            self.counts[name, 0] += 1
        return out


def saved_bytes(model, run):
    """(bytes of the storages that autograd keeps, what run returns)"""
    sizes, kept = {}, []
    buffers = {storage(b).data_ptr() for b in model.buffers()}

    def pack(t):
        # parameters, as they are now: fully_shard puts gathered ones in their place
        known = buffers | {storage(p).data_ptr() for p in model.parameters()}
        s = storage(t)
        if s.data_ptr() not in known and not (t.dim() == 0 and t.dtype == torch.float64):
            sizes[s.data_ptr()] = s.nbytes()
            kept.append(t)  # so that no storage takes a dead one's place
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = run()
    return sum(sizes.values()), out


def step(call, model, batch, uses_loss_parallel):
    """Counter of messages, bytes of partial gradients, saved bytes."""
    messages = Messages()
    with messages:
        if uses_loss_parallel:
            with loss_parallel():
                saved, loss = saved_bytes(model, lambda: call(*batch))
                loss.backward()
        else:
            saved, loss = saved_bytes(model, lambda: call(*batch))
            loss.backward()
    summed = 0
    for p in model.parameters():
        if isinstance(p.grad, DTensor) and any(isinstance(x, Partial) for x in p.grad.placements):
            p.grad = p.grad.redistribute(placements=p.placements)
            summed += local(p.grad).nbytes
    torch.optim.Adam(model.parameters(), foreach=False).step()
    model.zero_grad()
    return messages.counts, summed, saved


def rows_of(case):
    dp, tp = case.dp, case.tp
    kind, spec = case.model.split(":")
    spec = {k: int(v) for k, v in (w.split("=") for w in spec.split(",")) if v.isdigit()}
    model, width = Model(kind, spec), spec["hidden"]
    mesh = init_device_mesh("cpu", (dp, tp), mesh_dim_names=("dp", "tp"))
    if tp > 1:
        share_tensors(model, mesh["tp"], "sp=1" in case.strategy)
    call = model
    if "zero=3" in case.strategy:
        share_parameters(model, mesh["dp"])
    elif dp > 1:
        call = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=case.bucket_mib,
                                                   broadcast_buffers=False)
    held = sum(local(p).nbytes for p in model.parameters())
    for _ in range(3):  # buckets are made anew, and told to all ranks, in the second
        counts, summed, saved = step(call, model, model.batch(case.batch // dp), tp > 1)
    summed += 4 * width * counts.pop(("all-reduce", 4 * width), 0)  # a norm's weight or bias
    yield "parameters", held, 1
    yield "saved", saved, 1
    for (kind, size), count in sorted(counts.items()):
        yield kind, size, count
    if summed:
        yield "sum", summed, 1


# ---- cases ----

Case = collections.namedtuple("Case", "model batch dp tp strategy bucket_mib")
SHAPE = "layers=2,hidden=64,heads=4,seq=48,vocab=1000"
WAYS = [(2, 1, "dp:bucket=25MiB", 25), (4, 1, "dp:bucket=256KiB", 0.25),
        (2, 1, "hybrid:zero=3", 0), (4, 1, "hybrid:zero=3", 0),
        (1, 2, "hybrid:tp=2", 0), (1, 4, "hybrid:tp=4", 0),
        (1, 2, "hybrid:tp=2,sp=1,keep-gathered=1", 0),
        (1, 4, "hybrid:tp=4,sp=1,keep-gathered=1", 0),
        (2, 2, "hybrid:tp=2,zero=3", 0), (2, 2, "hybrid:tp=2,sp=1,keep-gathered=1,zero=3", 0)]
CASES = [Case(model, 4, *way) for model in ("gpt:" + SHAPE, "bert:" + SHAPE + ",head=mlm")
         for way in WAYS]


def work(rank, case, port):
    warnings.simplefilter("ignore")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE=str(case.dp * case.tp))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    out = csv.writer(sys.stdout, lineterminator="\n")
    for row in rows_of(case):
        if rank == 0:
            out.writerow([case.model, case.batch, case.dp * case.tp, case.strategy, *row])
    sys.stdout.flush()
    dist.destroy_process_group()


def main():
    print("# PyTorch", torch.__version__, file=sys.stderr)
    csv.writer(sys.stdout, lineterminator="\n").writerow(
        ["model", "batch", "ranks", "strategy", "what", "bytes", "count"])
    sys.stdout.flush()
    for i in map(int, sys.argv[1:] or range(len(CASES))):
        torch.multiprocessing.spawn(work, (CASES[i], 29600 + i), CASES[i].dp * CASES[i].tp)


if __name__ == "__main__":
    main()
