"""calibrate/measure/torch_models.py - the zoo's models as PyTorch modules, like workloads/zoo/.

    make(name, seq)              a model; name as `forerun -w`, seq: tokens (0: has no sequences)
    model.batch(n, seq, device)  what a step of n samples reads, random but always the same
    model(batch)                 (outputs, loss)

"module:function" is any model of yours: the module is looked for in the current folder too, and
function() returns (model, batch) or (model, batch, loss). batch(n) is what the model reads for n
samples: a tensor, a tuple, or a dict of arguments by name. loss(outputs, inputs) is a number; without
it the loss is outputs.loss, as of Hugging Face's models, else the mean of the outputs.

Models that torchvision has are torchvision's. gnmt, llama, mixtral and the variants
bert-base:attention=flash are not here; UNKNOWN is raised for these.
"""
import importlib
import math
import os
import re
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._pytree import tree_flatten, tree_unflatten

try:
    import torchvision
except ImportError:  # the models that are written down here go without
    torchvision = None


class UNKNOWN(Exception):
    """There is no such model here."""


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

    def batch(self, n, seq, device):
        masked = (seq * 15 + 99) // 100
        vocab = self.words.num_embeddings
        b = [indices(device, vocab, n, seq), indices(device, 2, n, seq)]
        if self.head != "pooler":
            b += [indices(device, n * seq, n, masked), indices(device, vocab, n, masked)]
        return b + ([indices(device, 2, n)] if self.head == "pretrain" else [])


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

    def batch(self, n, seq, device):
        return [indices(device, self.words.num_embeddings, n, seq) for _ in range(3)]


class GptAttention(Attention):
    def __init__(self, width, heads, mask):
        super().__init__(width, heads, mask)
        del self.q, self.k, self.v
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x, memory):
        q, k, v = self.qkv(x).split(x.shape[-1], dim=2)
        return self.out(self.attend(self.split(q), self.split(k), self.split(v)))


class Gpt(nn.Module):
    def __init__(self, seq, layers=12, width=768, heads=12, vocab=50257, positions=1024):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocab, width), nn.Embedding(positions, width)
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

    def batch(self, n, seq, device):
        return [indices(device, self.words.num_embeddings, n, seq) for _ in range(2)]


class Lenet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(True), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
            nn.ReLU(True), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(True),
            nn.Linear(120, 84), nn.ReLU(True), nn.Linear(84, 10))

    def forward(self, x):
        return self.net(x)


DEPTHS = {50: [3, 4, 6, 3], 101: [3, 4, 23, 3], 152: [3, 8, 36, 3]}


def wide_resnet(layers, times):
    """A ResNet with the channels of the stem and of all stages times as many."""
    resnet = torchvision.models.resnet
    net = resnet.ResNet(resnet.Bottleneck, DEPTHS[layers])
    net.inplanes = 64 * times
    net.conv1 = nn.Conv2d(3, net.inplanes, 7, stride=2, padding=3, bias=False)
    net.bn1 = nn.BatchNorm2d(net.inplanes)
    for i, depth in enumerate(DEPTHS[layers]):
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

    def batch(self, n, seq, device):
        generator = torch.Generator().manual_seed(n)
        images = torch.rand(n, *self.shape, generator=generator).to(device)
        return [images, indices(device, 1000 if self.shape[0] == 3 else 10, n)]


GPT2 = {"small": (12, 768, 12), "medium": (24, 1024, 16), "large": (36, 1280, 20),
        "xl": (48, 1600, 25)}
TORCHVISION = ["alexnet", "vgg11", "vgg13", "vgg16", "vgg19", "resnet18", "resnet34", "resnet50",
               "resnet101", "resnet152", "densenet121", "densenet161", "densenet169",
               "densenet201"]


class Rnnlm(nn.Module):
    """Two LSTM layers of 2048 over 10,000 words; the framework's own LSTM, a layer a call."""

    def __init__(self, layers=2, width=2048, vocab=10000):
        super().__init__()
        self.words, self.vocab = nn.Embedding(vocab, width), vocab
        self.lstm = nn.LSTM(width, width, layers, batch_first=True, dropout=0.5)
        self.classifier = nn.Linear(width, vocab)

    def forward(self, batch):
        x, _ = self.lstm(F.dropout(self.words(batch[0]), 0.5))
        logits = self.classifier(F.dropout(x, 0.5))
        return logits, F.cross_entropy(logits.view(-1, self.vocab), batch[1].view(-1))

    def batch(self, n, seq, device):
        return [indices(device, self.vocab, n, seq), indices(device, self.vocab, n, seq)]


def indices(device, high, *shape):
    """Numbers in [0, high), the same ones every time."""
    generator = torch.Generator().manual_seed(high + sum(shape))
    return torch.randint(0, high, shape, generator=generator).to(device)


def gpt_of(spec, seq):
    """gpt:layers=2,hidden=64,heads=2,seq=16,vocab=100"""
    given = dict(pair.split("=") for pair in spec.split(","))
    try:
        keys = {k: int(given.pop(k, d)) for k, d in
                [("layers", 12), ("hidden", 768), ("heads", 12), ("seq", 1024), ("vocab", 50257)]}
    except ValueError as e:
        raise UNKNOWN("gpt:" + spec) from e
    if given:
        raise UNKNOWN("gpt:" + spec)
    return Gpt(seq or keys["seq"], keys["layers"], keys["hidden"], keys["heads"], keys["vocab"],
               keys["seq"])


def make_sequence(name, seq):
    if name == "bert-base":
        return Bert("pretrain", seq)
    if name == "bert-large":
        return Bert("pretrain", seq, layers=24, width=1024, heads=16)
    if name.startswith("bert-base:head="):
        return Bert(name.split("=")[1], seq)
    if name == "bert-large:head=mlm":
        return Bert("mlm", seq, layers=24, width=1024, heads=16)
    if name == "transformer-base":
        return Transformer(seq)
    if name == "transformer-big":
        return Transformer(seq, width=1024, inner=4096, heads=16)
    if name.startswith("gpt2-") and name[5:] in GPT2:
        return Gpt(seq, *GPT2[name[5:]])
    if name.startswith("gpt:"):
        return gpt_of(name[4:], seq)
    if name == "rnnlm":
        return Rnnlm()
    return None


def make_images(name):
    wide = re.fullmatch(r"wresnet-(50|101|152)-(\d+)", name)
    if name == "lenet":
        return Images(Lenet(), 28, 1)
    if not torchvision:
        return None
    if name in ("inception-v3", "inception-v3:aux=0"):
        aux = not name.endswith("aux=0")
        return Images(torchvision.models.inception_v3(aux_logits=aux, init_weights=False), 299)
    if wide:
        return Images(wide_resnet(int(wide[1]), int(wide[2])), 224)
    if name == "resnet200":
        resnet = torchvision.models.resnet
        return Images(resnet.ResNet(resnet.Bottleneck, [3, 24, 36, 3]), 224)
    if name in TORCHVISION:
        return Images(getattr(torchvision.models, name)(), 224)
    return None


def is_importable(name):
    """"module:function", and not "gpt:layers=2"."""
    return bool(re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", name))


class Imported(nn.Module):
    """A model from outside, in the form of those here."""

    def __init__(self, name):
        super().__init__()
        module, function = name.split(":")
        sys.path.insert(0, os.getcwd())
        try:
            made = getattr(importlib.import_module(module), function)()
        except (ImportError, AttributeError) as e:
            raise UNKNOWN(f"{name}: {e}") from e
        if not isinstance(made, tuple) or len(made) not in (2, 3):
            raise UNKNOWN(f"{name}: it returns {type(made).__name__}, expected (model, batch) or "
                          "(model, batch, loss)")
        self.net, self.inputs, self.loss = made if len(made) == 3 else (*made, None)
        self.form = None

    def batch(self, n, seq, device):
        torch.manual_seed(1)
        flat, self.form = tree_flatten(self.inputs(n))
        return [t.to(device) for t in flat]

    def loss_of(self, outputs, inputs):
        if self.loss is not None:
            return self.loss(outputs, inputs)
        if getattr(outputs, "loss", None) is not None:
            return outputs.loss
        return torch.stack([t.float().mean() for t in tree_flatten(outputs)[0]
                            if isinstance(t, torch.Tensor) and t.is_floating_point()]).sum()

    def forward(self, data):
        inputs = tree_unflatten(data, self.form)
        if isinstance(inputs, dict):
            outputs = self.net(**inputs)
        else:
            outputs = self.net(*inputs) if isinstance(inputs, (tuple, list)) else self.net(inputs)
        return outputs, self.loss_of(outputs, inputs)


def make(name, seq):
    if is_importable(name):
        return Imported(name)
    model = make_sequence(name, seq) or make_images(name)
    if model is None:
        raise UNKNOWN(name if torchvision else f"{name}; torchvision is missing")
    return model


def default_seq(name):
    """Tokens a sample where none are asked for, as the zoo has them; 0: not a sequence model."""
    if is_importable(name):
        return 0
    if name.startswith("bert"):
        return 128
    if name.startswith("transformer"):
        return 64
    if name.startswith("gpt:"):
        return int(dict(p.split("=") for p in name[4:].split(",")).get("seq", 1024))
    if name.startswith("gpt2"):
        return 1024
    return 40 if name == "rnnlm" else 0
