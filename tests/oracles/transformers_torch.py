#!/usr/bin/env python3
"""Counts what PyTorch keeps for the backward pass of the zoo's Transformers.

  python3 tests/oracles/transformers_torch.py [PATH/TO/forerun]

Prints a row a model: spec, batch, sequence length, parameters, tensors, saved bytes; these are the
rows of tests/workloads/test_transformers.c. With a path, asks that command as well and ends with 1
where it says something else.

Each model is written down as modules; torch.autograd.graph.saved_tensors_hooks sees every tensor
that a node keeps, of which each storage counts once, parameters and buffers not at all, nor numbers
that are tensors of 8 bytes (`scores / 8.0`), which stay on the host. What a CPU or this PyTorch has
no kernel for is a Function that keeps what the kernel does: dropout, RMS norm, rotary positions,
flash attention, the moves of tokens to experts and back. Nothing is run backwards. Needs PyTorch
1.10.
"""
import math
import json
import subprocess
import sys

import torch
import torch.nn.functional as F
from torch import nn


class Kept(torch.autograd.Function):
    """compute(*inputs) gives outputs and what else is kept; keep_*: which of both are."""

    @staticmethod
    def forward(ctx, compute, keep_inputs, keep_outputs, *inputs):
        outputs, others = compute(*inputs)
        kept = [inputs[i] for i in keep_inputs] + [outputs[i] for i in keep_outputs]
        ctx.save_for_backward(*kept, *others)
        return outputs

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError


def dropout(x):
    def compute(x):
        mask = torch.rand_like(x) > 0.1
        return (x * mask,), (mask,)

    return Kept.apply(compute, (), (), x)[0]


def rotary(x):
    return Kept.apply(lambda x: ((x * 1.0,), ()), (), (), x)[0]


def flash(q, k, v):
    """q [batch, seq, heads, width], k and v with heads of their own number."""

    def compute(q, k, v):
        group = q.shape[2] // k.shape[2]
        k, v = k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)
        scores = torch.einsum("bihe,bjhe->bhij", q, k)
        total = torch.logsumexp(scores, -1)
        weights = torch.exp(scores - total[..., None])
        return (torch.einsum("bhij,bjhe->bihe", weights, v).contiguous(),), (total,)

    return Kept.apply(compute, (0, 1, 2), (0,), q, k, v)[0]


def dispatch(x, order, copies, sizes):
    """Rows of x [tokens, width] in order, cut into the experts' shares; keeps the order."""

    def compute(x, order):
        return tuple(part.clone() for part in x[order // copies].split(sizes)), ()

    return Kept.apply(compute, (1,), (), x, order)


def combine(order, copies, rows):
    def compute(order, *rows):
        rows = torch.cat(rows)
        total = torch.zeros(order.numel() // copies, rows.shape[1])
        return (total.index_add(0, order // copies, rows),), ()

    return Kept.apply(compute, (0,), (), order, *rows)[0]


def attend(q, k, v, heads, kv_heads, form, drops):
    batch, seq, hidden = q.shape
    width, seq_k = hidden // heads, k.shape[1]
    q = q.view(batch, seq, heads, width)
    k, v = (t.view(batch, seq_k, kv_heads, width) for t in (k, v))
    if form == "flash":
        return flash(q, k, v).view(batch, seq, hidden)
    q, k, v = (t.transpose(1, 2).contiguous() for t in (q, k, v))
    if kv_heads < heads:
        shape = batch, kv_heads, heads // kv_heads, seq_k, width
        k, v = (t[:, :, None].expand(shape).reshape(batch, heads, seq_k, width) for t in (k, v))
    scores = (q @ k.transpose(-1, -2)) * (1 / math.sqrt(width)) + torch.zeros(seq, seq_k)
    weights = scores.softmax(-1)
    weights = dropout(weights) if drops else weights
    return (weights @ v).transpose(1, 2).contiguous().view(batch, seq, hidden)


class Attention(nn.Module):
    def __init__(self, hidden, heads, form):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(hidden, hidden) for _ in range(4))
        self.heads, self.form = heads, form

    def forward(self, x, memory=None):
        memory = x if memory is None else memory
        q, k, v = self.q(x), self.k(memory), self.v(memory)
        return self.out(attend(q, k, v, self.heads, self.heads, self.form, True))


class Bert(nn.Module):
    def __init__(self, layers, hidden, heads, head="pretrain", form="unfused", vocab=30522):
        super().__init__()
        self.words, self.segments = nn.Embedding(vocab, hidden), nn.Embedding(2, hidden)
        self.positions, self.norm = nn.Embedding(512, hidden), nn.LayerNorm(hidden)
        self.register_buffer("index", torch.arange(512))
        self.layers = nn.ModuleList(
            nn.ModuleList([Attention(hidden, heads, form), nn.LayerNorm(hidden),
                           nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden),
                           nn.LayerNorm(hidden)]) for _ in range(layers))
        self.head = head
        if head != "mlm":
            self.pooler = nn.Linear(hidden, hidden)
        if head != "pooler":
            self.transform, self.transform_norm = nn.Linear(hidden, hidden), nn.LayerNorm(hidden)
            self.bias = nn.Parameter(torch.zeros(vocab))
        if head == "pretrain":
            self.next_sentence = nn.Linear(hidden, 2)

    def forward(self, batch, seq):
        words, segments = (torch.zeros(batch, seq, dtype=torch.long) for _ in range(2))
        x = self.words(words) + self.segments(segments) + self.positions(self.index[:seq])
        x = dropout(self.norm(x))
        for attention, norm1, fc1, fc2, norm2 in self.layers:
            x = norm1(x + dropout(attention(x)))
            x = norm2(x + dropout(fc2(F.gelu(fc1(x)))))
        if self.head != "mlm":
            pooled = torch.tanh(self.pooler(x[:, 0]))
        if self.head == "pooler":
            return pooled.sum()
        masked = torch.arange(batch * ((15 * seq + 99) // 100))
        y = x.view(batch * seq, -1).index_select(0, masked)
        y = self.transform_norm(F.gelu(self.transform(y)))
        loss = F.cross_entropy(y @ self.words.weight.t() + self.bias, torch.zeros_like(masked))
        if self.head == "pretrain":
            target = torch.zeros(batch, dtype=torch.long)
            loss = loss + F.cross_entropy(self.next_sentence(pooled), target)
        return loss


def language_loss(logits):
    target = torch.zeros(logits.shape[:2], dtype=torch.long)
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())


class Transformer(nn.Module):
    def __init__(self, layers, hidden, ffn, heads, vocab=37000):
        super().__init__()

        def attention():
            return nn.ModuleList([Attention(hidden, heads, "unfused"), nn.LayerNorm(hidden)])

        def mlp():
            return nn.ModuleList([nn.Linear(hidden, ffn), nn.Linear(ffn, hidden),
                                  nn.LayerNorm(hidden)])

        self.words = nn.Embedding(vocab, hidden)
        self.register_buffer("positions", torch.zeros(1024, hidden))
        self.encoder = nn.ModuleList(nn.ModuleList([attention(), mlp()]) for _ in range(layers))
        self.decoder = nn.ModuleList(nn.ModuleList([attention(), attention(), mlp()])
                                     for _ in range(layers))

    def embed(self, batch, seq):
        rows = self.words(torch.zeros(batch, seq, dtype=torch.long))
        return dropout(rows * math.sqrt(rows.shape[2]) + self.positions[:seq])

    @staticmethod
    def attend(block, x, memory=None):
        return block[1](x + dropout(block[0](x, memory)))

    @staticmethod
    def mlp(block, x):
        return block[2](x + dropout(block[1](dropout(F.relu(block[0](x))))))

    def forward(self, batch, seq):
        memory = self.embed(batch, seq)
        for attention, mlp in self.encoder:
            memory = self.mlp(mlp, self.attend(attention, memory))
        x = self.embed(batch, seq)
        for attention, cross, mlp in self.decoder:
            x = self.mlp(mlp, self.attend(cross, self.attend(attention, x), memory))
        return language_loss(x @ self.words.weight.t())


class Gpt(nn.Module):
    def __init__(self, layers, hidden, heads, vocab, positions, form="unfused"):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocab, hidden), nn.Embedding(positions, hidden)
        self.norm, self.heads, self.form = nn.LayerNorm(hidden), heads, form
        self.layers = nn.ModuleList(
            nn.ModuleList([nn.LayerNorm(hidden), nn.Linear(hidden, 3 * hidden),
                           nn.Linear(hidden, hidden), nn.LayerNorm(hidden),
                           nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)])
            for _ in range(layers))

    def forward(self, batch, seq):
        words = torch.zeros(batch, seq, dtype=torch.long)
        x = dropout(self.words(words) + self.positions(torch.arange(seq)[None]))
        for norm1, qkv, out, norm2, fc1, fc2 in self.layers:
            q, k, v = qkv(norm1(x)).chunk(3, -1)
            x = x + dropout(out(attend(q, k, v, self.heads, self.heads, self.form, True)))
            x = x + dropout(fc2(F.gelu(fc1(norm2(x)))))
        return language_loss(self.norm(x) @ self.words.weight.t())


def linear(n_in, n_out):
    return nn.Linear(n_in, n_out, bias=False)


class RmsNorm(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x):
        def compute(x, weight):
            scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
            return (x * scale * weight,), (scale,)

        return Kept.apply(compute, (0, 1), (), x, self.weight)[0]


class SwiGlu(nn.Module):
    def __init__(self, hidden, ffn):
        super().__init__()
        self.gate, self.up = linear(hidden, ffn), linear(hidden, ffn)
        self.down = linear(ffn, hidden)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    def __init__(self, hidden, ffn, tokens):
        super().__init__()
        self.router, self.tokens = linear(hidden, len(tokens)), tokens
        self.experts = nn.ModuleList(SwiGlu(hidden, ffn) for _ in tokens)

    def forward(self, x):
        batch, _, hidden = x.shape
        flat = x.reshape(-1, hidden)
        scores, chosen = self.router(flat).topk(2, -1)
        weights = scores.softmax(-1)
        order = torch.argsort(chosen.flatten())
        sizes = [batch * n for n in self.tokens]
        rows = dispatch(flat, order, 2, sizes)
        shares = dispatch(weights.view(-1, 1), order, 1, sizes)
        rows = [e(r) * s for e, r, s in zip(self.experts, rows, shares)]
        return combine(order, 2, rows).view_as(x)


class Llama(nn.Module):
    """tokens: what each expert gets of a sample's, if there are any."""

    def __init__(self, layers, hidden, ffn, heads, kv_heads, vocab, form, tokens=None):
        super().__init__()
        kv_hidden = hidden // heads * kv_heads
        self.words, self.norm = nn.Embedding(vocab, hidden), RmsNorm(hidden)
        self.head = linear(hidden, vocab)
        self.heads, self.kv_heads, self.form = heads, kv_heads, form
        self.layers = nn.ModuleList(
            nn.ModuleList([RmsNorm(hidden), linear(hidden, hidden), linear(hidden, kv_hidden),
                           linear(hidden, kv_hidden), linear(hidden, hidden), RmsNorm(hidden),
                           Experts(hidden, ffn, tokens) if tokens else SwiGlu(hidden, ffn)])
            for _ in range(layers))

    def forward(self, batch, seq):
        x = self.words(torch.zeros(batch, seq, dtype=torch.long))
        for norm1, q, k, v, out, norm2, mlp in self.layers:
            y = norm1(x)
            y = attend(rotary(q(y)), rotary(k(y)), v(y), self.heads, self.kv_heads, self.form,
                       False)
            x = x + out(y)
            x = x + mlp(norm2(x))
        return language_loss(self.head(self.norm(x)))


def measure(model, batch, seq):
    own = {t.storage().data_ptr() for t in (*model.parameters(), *model.buffers())}
    seen, alive = {}, []

    def pack(t):
        storage = t.storage()
        is_number = t.dim() == 0 and t.dtype == torch.float64
        if storage.data_ptr() not in own and not is_number:
            seen[storage.data_ptr()] = storage.nbytes()
            alive.append(t)  # or another tensor might take its place
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        loss = model(batch, seq)
    params = list(model.parameters())
    del loss
    return sum(p.numel() for p in params), len(params), sum(seen.values())


def models():
    tiny = "hidden=64,ffn=160,heads=4,vocab=100,seq=32,layers=2"
    small = "gpt:layers=2,hidden=64,heads=2,vocab=100,seq=16"

    def llama(kv_heads, form, tokens=None):
        return lambda: Llama(2, 64, 160, 4, kv_heads, 100, form, tokens)

    for batch in 1, 2:
        for head in "pretrain", "mlm", "pooler":
            yield f"bert-base:head={head}", batch, 128, lambda: Bert(12, 768, 12, head)
    yield "bert-base:attention=flash", 1, 128, lambda: Bert(12, 768, 12, form="flash")
    yield "bert-large", 1, 64, lambda: Bert(24, 1024, 16)
    yield "transformer-base", 1, 64, lambda: Transformer(6, 512, 2048, 8)
    yield "transformer-big", 2, 16, lambda: Transformer(6, 1024, 4096, 16)
    yield small, 2, 16, lambda: Gpt(2, 64, 2, 100, 16)
    yield small + ",attention=flash", 2, 16, lambda: Gpt(2, 64, 2, 100, 16, "flash")
    for batch in 1, 2:
        yield "llama:kv_heads=2," + tiny, batch, 32, llama(2, "flash")
        yield "llama:kv_heads=2,attention=unfused," + tiny, batch, 32, llama(2, "unfused")
        yield "mixtral:kv_heads=2,experts=4," + tiny, batch, 32, llama(2, "flash", [16] * 4)
    yield "llama:kv_heads=4,attention=unfused," + tiny, 2, 32, llama(4, "unfused")
    yield ("mixtral:kv_heads=2,experts=4,skew=100,attention=unfused," + tiny, 2, 32,
           llama(2, "unfused", [31, 15, 10, 8]))


def ask(forerun, spec, batch, seq):
    command = [forerun, "graph", "show", spec, "-b", str(batch), "--seq-len", str(seq), "--json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return said["params"], said["param_tensors"], said["saved_bytes"]


def main(arguments):
    n_wrong = 0
    print("# PyTorch", torch.__version__)
    for spec, batch, seq, make in models():
        counted = measure(make(), batch, seq)
        print(f'"{spec}",{batch},{seq},{",".join(map(str, counted))}', flush=True)
        said = ask(arguments[0], spec, batch, seq) if arguments else counted
        if said != counted:
            n_wrong += 1
            print("forerun says", said)
    return n_wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
