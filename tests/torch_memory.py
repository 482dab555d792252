#!/usr/bin/env python3
"""tests/torch_memory.py - what a training step holds in memory, counted by PyTorch itself.

    /usr/bin/python3 tests/torch_memory.py >tests/torch/memory.csv       MODELS x SETTINGS
    /usr/bin/python3 tests/torch_memory.py MODEL SEQ BATCH [OPTIMIZER ZERO_GRAD]

Needs PyTorch 1.13 and torchvision 0.14 (Debian: python3-torch, python3-torchvision). The model and
its batch stand on the "meta" device: every operator, forward, backward and of the optimizer, goes
through PyTorch's dispatcher and autograd as ever and makes tensors with storages of the right size,
but no arithmetic is done and no memory taken, so that any batch runs on any machine.

Counted: a storage is born when an operator returns a tensor in one not seen before, and dies when
its last reference does (StorageWeakRef), be that a variable's, autograd's or an operator's argument.
Temporaries inside one operator are not seen. peak_bytes is the largest sum of living storages after
any operator of a step, less parameters and buffers; it is taken in the second step, when gradients
and the optimizer's states have their steady form. Steps of Adam's counters, which PyTorch keeps on
the host, do not count.

Dropout is torch.native_dropout, which keeps one bool an element as CUDA's does; torch's CPU dropout
would keep the noise as floats.

Operators without a meta form in PyTorch 1.13 get their outputs here, from shapes alone: see FORMS.
"""
import csv
import math
import sys

import torch
import torch.nn.functional as F
import torchvision
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

aten = torch.ops.aten
META = torch.device("meta")


def fused_dropout(x, p=0.5, training=True, inplace=False):
    return torch.native_dropout(x, p, True)[0] if training and p > 0 else x


F.dropout = fused_dropout  # nn.Dropout and torchvision call it by this name


# ---- what has no meta form ----

def convolution_backward(args):
    grad, x, w, bias_sizes, mask = args[0], args[1], args[2], args[3], args[-1]
    return (torch.empty_like(x) if mask[0] else None, torch.empty_like(w) if mask[1] else None,
            grad.new_empty(bias_sizes) if mask[2] else None)


def like_input(args):
    """A gradient shaped like the forward input, which is the second argument."""
    return torch.empty_like(args[1])


FORMS = {
    aten.convolution_backward.default: convolution_backward,
    aten._adaptive_avg_pool2d_backward.default: like_input,
}


# ---- the tracker ----

def storage_key(t):
    return t.storage()._cdata


class Tracker(TorchDispatchMode):
    """Follows storages on the meta device from birth to death."""

    def __init__(self, kept):
        super().__init__()
        self.kept, self.live = {}, {}  # key: (weak reference, bytes)
        self.bytes = self.peak = 0
        self.phase = self.peak_phase = self.peak_op = None
        self.macs = 0
        for t in kept:
            self.see(t)
        self.kept_bytes = self.bytes
        self.kept, self.live = self.live, {}  # these live on; no need to look after them

    def see(self, t):
        key = storage_key(t)
        if key not in self.live and key not in self.kept:
            n = t.storage().nbytes()
            self.live[key] = (StorageWeakRef(t.storage()), n)
            self.bytes += n

    def bury(self):
        for key in [k for k, (ref, _) in self.live.items() if ref.expired()]:
            self.bytes -= self.live.pop(key)[1]

    def reset(self):
        self.bury()
        self.peak, self.macs = self.bytes, 0

    def count_macs(self, func, args, out):
        if self.phase != "forward":
            return
        if func == aten.convolution.default:
            self.macs += out.numel() * args[1][0].numel()
        elif func in (aten.mm.default, aten.bmm.default):
            self.macs += out.numel() * args[0].shape[-1]
        elif func == aten.addmm.default:
            self.macs += out.numel() * args[1].shape[-1]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.bury()
        if func in FORMS:
            out = FORMS[func](args)
        else:
            out = func(*args, **(kwargs or {}))
        for t in tree_flatten(out)[0]:
            if isinstance(t, torch.Tensor) and t.device == META:
                self.see(t)
        self.count_macs(func, args, out)
        if self.bytes > self.peak:
            self.peak, self.peak_phase, self.peak_op = self.bytes, self.phase, str(func)
        return out


# ---- models that torchvision does not have, as workloads/model_*.c say ----

class Attention(nn.Module):
    def __init__(self, width, heads, mask):
        super().__init__()
        self.heads, self.mask = heads, mask  # a bool tensor (causal), a float one (added), None
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).permute(0, 2, 1, 3)

    def attend(self, q, k, v):
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        if self.mask is not None:
            scores = self.masked(scores)
        y = torch.matmul(F.dropout(F.softmax(scores, -1), 0.1), v).permute(0, 2, 1, 3)
        return y.contiguous().view(y.shape[0], y.shape[1], -1)

    def masked(self, scores):
        if self.mask.dtype == torch.bool:
            return scores.masked_fill(self.mask, -math.inf)
        return scores + self.mask

    def forward(self, x, memory):
        q, k, v = self.q(x), self.k(memory), self.v(memory)
        return self.out(self.attend(self.split(q), self.split(k), self.split(v)))


class PostNormBlock(nn.Module):
    """Attention or two linear layers, dropout, sum, normalisation."""

    def __init__(self, width, inner):
        super().__init__()
        self.inner, self.ln = inner, nn.LayerNorm(width)

    def forward(self, x, *args):
        return self.ln(x + F.dropout(self.inner(x, *args), 0.1))


class Mlp(nn.Module):
    def __init__(self, width, inner, act, drops):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)
        self.act, self.drops = act, drops

    def forward(self, x):
        y = self.act(self.fc1(x))
        return self.fc2(F.dropout(y, 0.1) if self.drops else y)


class Bert(nn.Module):
    def __init__(self, head, seq, layers=12, width=768, heads=12, vocab=30522):
        super().__init__()
        self.head = head
        self.words, self.segments = nn.Embedding(vocab, width), nn.Embedding(2, width)
        self.positions = nn.Embedding(512, width)
        self.register_buffer("index", torch.arange(seq).unsqueeze(0))
        self.register_buffer("mask", torch.zeros(1, 1, 1, seq))
        self.ln = nn.LayerNorm(width)
        self.attns = nn.ModuleList(
            PostNormBlock(width, Attention(width, heads, None)) for _ in range(layers))
        self.mlps = nn.ModuleList(
            PostNormBlock(width, Mlp(width, 4 * width, F.gelu, False)) for _ in range(layers))
        if head != "mlm":
            self.pooler = nn.Linear(width, width)
        if head != "pooler":
            self.fc, self.head_ln = nn.Linear(width, width), nn.LayerNorm(width)
            self.bias = nn.Parameter(torch.zeros(vocab))
        if head == "pretrain":
            self.nsp = nn.Linear(width, 2)

    def encode(self, words, segments):
        x = self.words(words) + self.segments(segments)
        x = F.dropout(self.ln(x + self.positions(self.index)), 0.1)
        for attn, mlp in zip(self.attns, self.mlps):
            attn.inner.mask = self.mask
            x = mlp(attn(x, x))
        return x

    def forward(self, batch):
        x = self.encode(batch[0], batch[1])
        pooled = torch.tanh(self.pooler(x[:, 0])) if self.head != "mlm" else None
        if self.head == "pooler":
            return pooled, pooled.sum()
        rows = x.view(-1, x.shape[-1]).index_select(0, batch[2].view(-1))
        y = self.head_ln(F.gelu(self.fc(rows)))
        logits = F.linear(y, self.words.weight, self.bias)
        loss = F.cross_entropy(logits, batch[3].view(-1))
        if self.head == "mlm":
            return logits, loss
        sentences = self.nsp(pooled)
        return (logits, sentences), loss + F.cross_entropy(sentences, batch[4])

    def batch(self, n, seq):
        masked = (seq * 15 + 99) // 100
        b = [indices(n, seq), indices(n, seq)]
        if self.head != "pooler":
            b += [indices(n, masked), indices(n, masked)]
        return b + ([indices(n)] if self.head == "pretrain" else [])


class Transformer(nn.Module):
    def __init__(self, seq, layers=6, width=512, inner=2048, heads=8, vocab=37000):
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.register_buffer("sinusoids", torch.zeros(seq, width))
        self.register_buffer("mask", torch.zeros(1, 1, 1, seq))
        self.register_buffer("causal", torch.zeros(1, 1, seq, seq, dtype=torch.bool))

        def attn():
            return nn.ModuleList(
                PostNormBlock(width, Attention(width, heads, None)) for _ in range(layers))

        def mlp():
            return nn.ModuleList(
                PostNormBlock(width, Mlp(width, inner, F.relu, True)) for _ in range(layers))

        self.enc, self.enc_mlp = attn(), mlp()
        self.dec, self.cross, self.dec_mlp = attn(), attn(), mlp()

    def embed(self, words):
        x = self.words(words) * math.sqrt(self.words.embedding_dim)
        return F.dropout(x + self.sinusoids, 0.1)

    def forward(self, batch):
        memory = self.embed(batch[0])
        for attn, mlp in zip(self.enc, self.enc_mlp):
            attn.inner.mask = self.mask
            memory = mlp(attn(memory, memory))
        x = self.embed(batch[1])
        for attn, cross, mlp in zip(self.dec, self.cross, self.dec_mlp):
            attn.inner.mask, cross.inner.mask = self.causal, self.mask
            x = attn(x, x)
            x = mlp(cross(x, memory))
        logits = F.linear(x, self.words.weight)
        return logits, F.cross_entropy(logits.view(-1, logits.shape[-1]), batch[2].view(-1))

    def batch(self, n, seq):
        return [indices(n, seq), indices(n, seq), indices(n, seq)]


class GptAttention(Attention):
    def __init__(self, width, heads, mask):
        super().__init__(width, heads, mask)
        del self.q, self.k, self.v
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x, memory):
        q, k, v = self.qkv(x).split(x.shape[-1], dim=2)
        return self.out(self.attend(self.split(q), self.split(k), self.split(v)))


class Gpt(nn.Module):
    def __init__(self, seq, layers=12, width=768, heads=12, vocab=50257):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocab, width), nn.Embedding(1024, width)
        self.register_buffer("causal", torch.zeros(1, 1, seq, seq, dtype=torch.bool))
        self.ln1 = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.ln2 = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.attns = nn.ModuleList(GptAttention(width, heads, None) for _ in range(layers))
        self.mlps = nn.ModuleList(Mlp(width, 4 * width, F.gelu, False) for _ in range(layers))
        self.ln = nn.LayerNorm(width)

    def forward(self, batch):
        index = torch.arange(batch[0].shape[1], device=batch[0].device).unsqueeze(0)
        x = F.dropout(self.words(batch[0]) + self.positions(index), 0.1)
        for ln1, attn, ln2, mlp in zip(self.ln1, self.attns, self.ln2, self.mlps):
            attn.mask = self.causal
            x = x + F.dropout(attn(ln1(x), None), 0.1)
            x = x + F.dropout(mlp(ln2(x)), 0.1)
        logits = F.linear(self.ln(x), self.words.weight)
        return logits, F.cross_entropy(logits.view(-1, logits.shape[-1]), batch[1].view(-1))

    def batch(self, n, seq):
        return [indices(n, seq), indices(n, seq)]


class Lenet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(True), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
            nn.ReLU(True), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(True),
            nn.Linear(120, 84), nn.ReLU(True), nn.Linear(84, 10))

    def forward(self, x):
        return self.net(x)


def wide_resnet(times):
    """ResNet-50 with the channels of the stem and of all stages times as many."""
    resnet = torchvision.models.resnet
    net = resnet.ResNet(resnet.Bottleneck, [3, 4, 6, 3])
    net.inplanes = 64 * times
    net.conv1 = nn.Conv2d(3, net.inplanes, 7, stride=2, padding=3, bias=False)
    net.bn1 = nn.BatchNorm2d(net.inplanes)
    for i, depth in enumerate([3, 4, 6, 3]):
        stage = net._make_layer(resnet.Bottleneck, 64 * times << i, depth, stride=1 + (i > 0))
        setattr(net, f"layer{i + 1}", stage)
    net.fc = nn.Linear(4 * (64 * times << 3), 1000)
    return net


class Images(nn.Module):
    """A model of images with its loss."""

    def __init__(self, net, side, channels=3):
        super().__init__()
        self.net, self.shape = net, (channels, side, side)

    def forward(self, batch):
        out = self.net(batch[0])
        if hasattr(out, "aux_logits") and out.aux_logits is not None:
            loss = F.cross_entropy(out.logits, batch[1])
            return out, loss + 0.4 * F.cross_entropy(out.aux_logits, batch[1])
        return out, F.cross_entropy(out, batch[1])

    def batch(self, n, seq):
        return [torch.empty(n, *self.shape, device=META), indices(n)]


def indices(*shape):
    return torch.empty(*shape, dtype=torch.int64, device=META)


def make(name, seq):
    if name == "bert-base":
        return Bert("pretrain", seq)
    if name.startswith("bert-base:head="):
        return Bert(name.split("=")[1], seq)
    if name == "bert-large:head=mlm":
        return Bert("mlm", seq, layers=24, width=1024, heads=16)
    if name == "lenet":
        return Images(Lenet(), 28, 1)
    if name == "transformer-base":
        return Transformer(seq)
    if name == "transformer-big":
        return Transformer(seq, width=1024, inner=4096, heads=16)
    if name == "gpt2-small":
        return Gpt(seq)
    if name == "gpt2-medium":
        return Gpt(seq, layers=24, width=1024, heads=16)
    if name.startswith("inception-v3"):
        aux = not name.endswith("aux=0")
        return Images(torchvision.models.inception_v3(aux_logits=aux, init_weights=False), 299)
    if name == "wresnet-50-2":
        return Images(wide_resnet(2), 224)
    return Images(getattr(torchvision.models, name)(), 224)


# ---- a step ----

class _Meta(TorchDispatchMode):
    """Factories make meta tensors, whatever device they are asked for."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if "device" in {a.name for a in func._schema.arguments}:
            kwargs["device"] = META
        return func(*args, **kwargs)


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1),
    "momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, 1e-3),
}


def step(model, batch, optimizer, to_none, tracker):
    optimizer.zero_grad(set_to_none=to_none)
    tracker.phase = "forward"
    out, loss = model(batch)  # out is held until the step is over, as in any training loop
    tracker.phase = "backward"
    loss.backward()
    tracker.phase = "optimizer"
    optimizer.step()


def saved_bytes(model, batch):
    """Unique storages that autograd keeps, parameters and buffers left out."""
    known = {storage_key(t) for t in [*model.parameters(), *model.buffers()]}
    kept, sizes = [], {}

    def pack(t):
        if t.device == META and storage_key(t) not in known:
            sizes[storage_key(t)] = t.storage().nbytes()
            kept.append(t)  # so that no storage takes a dead one's place
        return t

    tracker = Tracker([])
    with tracker, torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        tracker.phase = "forward"
        model(batch)
    return sum(sizes.values()), tracker.macs


def peak(model, batch, optimizer, zero_grad):
    """(peak above parameters and buffers, its phase, the operator after which it was)"""
    made = OPTIMIZERS[optimizer](model.parameters())
    for p in model.parameters():
        p.grad = None
    tracker = Tracker([*model.parameters(), *model.buffers()])
    for t in batch:
        tracker.see(t)
    with tracker:
        for _ in range(2):  # in the second gradients and states have their steady form
            tracker.reset()
            step(model, batch, made, zero_grad == "none", tracker)
    return tracker.peak - tracker.kept_bytes, tracker.peak_phase, tracker.peak_op


def rows(name, seq, batches, settings):
    with _Meta():
        model = make(name, seq)
    model.train()
    for n in batches:
        batch = model.batch(n, seq)
        saved, macs = saved_bytes(model, batch)
        for optimizer, zero_grad in settings:
            yield [name, seq, n, optimizer, zero_grad,
                   sum(p.numel() for p in model.parameters()), len(list(model.parameters())),
                   sum(b.storage().nbytes() for b in model.buffers()), macs, saved,
                   *peak(model, batch, optimizer, zero_grad)]


COLUMNS = ["model", "seq_len", "batch", "optimizer", "zero_grad", "params", "param_tensors",
           "buffer_bytes", "forward_macs", "saved_bytes", "peak_bytes", "peak_phase", "peak_op"]
SETTINGS = [("sgd", "none"), ("momentum", "none"), ("momentum", "zero"), ("adam", "none"),
            ("adam", "zero")]
MODELS = [
    ("lenet", 0, [1, 8, 32]), ("alexnet", 0, [1, 8, 32]), ("vgg11", 0, [1, 8, 32]),
    ("vgg16", 0, [1, 8, 32]), ("resnet18", 0, [1, 8, 32]), ("resnet50", 0, [1, 8, 32]),
    ("wresnet-50-2", 0, [1, 8, 32]), ("inception-v3", 0, [2, 8, 32]),
    ("inception-v3:aux=0", 0, [2, 8, 32]), ("densenet121", 0, [2, 8, 32]),
    ("bert-base:head=pooler", 128, [1, 8, 32]), ("bert-base:head=mlm", 128, [1, 8, 32]),
    ("bert-base", 128, [1, 8, 32]), ("transformer-base", 64, [1, 8, 32]),
    ("gpt2-small", 1024, [1, 4]), ("gpt2-small", 256, [1, 8, 32]),
]


def main():
    asked = sys.argv[1:]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    if asked:
        settings = [tuple(asked[3:5])] if len(asked) > 3 else SETTINGS
        out.writerows(rows(asked[0], int(asked[1]), [int(asked[2])], settings))
        return
    for name, seq, batches in MODELS:
        for row in rows(name, seq, batches, SETTINGS):
            out.writerow(row)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
