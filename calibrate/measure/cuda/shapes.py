#!/usr/bin/env python3
"""calibrate/measure/cuda/shapes.py - writes gemm_shapes.csv and conv_shapes.csv next to itself.

These are the shapes that the micro-benchmarks measure: a log-spaced grid, and the products and
convolutions of the zoo's models, forward and both gradients, also cut into 2, 4 and 8 parts along
the batch and the channels. The models run on PyTorch's "meta" device, which computes shapes only.
It needs PyTorch and torchvision; users do not, because the result is part of the sources. It always
writes the same files.

Rows are in the order of a hash, so that a run that ends early has seen some of everything.
"""
import csv
import hashlib
import os
import random
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import torch_models  # noqa: E402

META = torch.device("meta")
LANGUAGE = [("bert-base", 128, [8, 32]), ("bert-large", 128, [16]), ("transformer-base", 64, [32]),
            ("transformer-big", 64, [16]), ("gpt2-small", 1024, [4]), ("gpt2-medium", 1024, [2])]
IMAGES = ["alexnet", "vgg16", "resnet18", "resnet50", "inception-v3", "densenet121", "lenet",
          "wresnet-50-2"]
BATCHES = [8, 32, 128]
LARGEST = 1 << 32  # elements of all three matrices; 16 GiB in fp32 is more than any pool


class Shapes(TorchDispatchMode):
    """Collects the products and convolutions of a forward pass, and makes everything meta."""

    def __init__(self):
        super().__init__()
        self.products, self.convolutions = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if "device" in {a.name for a in func._schema.arguments}:
            kwargs["device"] = META
        out = func(*args, **kwargs)
        name = func._schema.name.split("::")[1]
        if name in ("mm", "addmm"):
            a, b = args[-2:]
            self.products.append((1, a.shape[0], b.shape[1], a.shape[1]))
        elif name == "bmm":
            a, b = args[:2]
            self.products.append((a.shape[0], a.shape[1], b.shape[2], a.shape[2]))
        elif name == "convolution":
            self.see_convolution(args)
        return out

    def see_convolution(self, args):
        """A padding that differs by direction is made part of the input: the same work."""
        x, w, stride, pad, groups = args[0], args[1], args[3], args[4], args[8]
        n, c, h, width = x.shape
        pad_h, pad_w = pad[0], pad[-1]
        if groups != 1 or stride[0] != stride[-1]:
            return
        if pad_h != pad_w:
            h, width, pad_h = h + 2 * pad_h, width + 2 * pad_w, 0
        self.convolutions.append((n, c, h, width, w.shape[0], w.shape[2], w.shape[3], stride[0],
                                  pad_h))


def shapes_of(name, seq, batch):
    seen = Shapes()
    with seen:
        model = torch_models.make(name, seq).train()
        data = model.batch(batch, seq, META)
        seen.products, seen.convolutions = [], []
        model(data)
    return seen


def with_backward(batch, m, n, k):
    """A linear layer's product, the gradients of its input and of its weight."""
    if batch > 1:  # two activations: A B', then dC B and A' dC
        return [(batch, m, n, k, "TN"), (batch, m, k, n, "NN"), (batch, n, k, m, "NT")]
    return [(1, m, n, k, "TN"), (1, m, k, n, "NN"), (1, n, k, m, "NT")]


def grid():
    """Sizes drawn log-uniformly from 1..16384, of which half the time a multiple of 64."""
    draw = random.Random(4)
    while True:
        batch = draw.choice([1, 1, 1, 2 ** draw.randint(1, 9)])
        sizes = []
        for _ in range(3):
            size = 2 ** draw.uniform(3 if batch > 1 else 4, 11 if batch > 1 else 14)
            is_coarse = draw.random() < 0.5
            sizes.append(max(64 * round(size / 64), 64) if is_coarse else round(size / 8) * 8)
        m, n, k = (max(s, 8) for s in sizes)
        if batch * (m * n + n * k + m * k) < LARGEST // 16:
            yield batch, m, n, k, draw.choice(["TN", "TN", "NN", "NT"])


def splits_of_product(batch, m, n, k, trans):
    for parts in (2, 4, 8):
        if m % parts == 0:
            yield batch, m // parts, n, k, trans
        if n % parts == 0:
            yield batch, m, n // parts, k, trans


def splits_of_convolution(n, c, h, w, k, *rest):
    for parts in (2, 4, 8):
        if n % parts == 0:
            yield (n // parts, c, h, w, k, *rest)
        if k % parts == 0:
            yield (n, c, h, w, k // parts, *rest)


def by_hash(rows):
    return sorted(rows, key=lambda r: hashlib.sha256(",".join(map(str, r)).encode()).digest())


def write(name, columns, rows):
    with open(os.path.join(HERE, name), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(columns)
        out.writerows(rows)


def main():
    products, convolutions = {}, {}  # dicts keep the order and the first
    for name, seq, batches in LANGUAGE:
        for batch in batches:
            for p in dict.fromkeys(shapes_of(name, seq, batch).products):
                products.update(dict.fromkeys(with_backward(*p)))
    for name in IMAGES:
        for batch in BATCHES:
            seen = shapes_of(name, 0, batch)
            convolutions.update(dict.fromkeys(seen.convolutions))
            for p in seen.products:
                products.update(dict.fromkeys(with_backward(*p)))
    for p in [p for p in products if p[0] == 1][::6]:
        products.update(dict.fromkeys(splits_of_product(*p)))
    for c in [c for c in convolutions if c[0] == 32][::8]:
        convolutions.update(dict.fromkeys(splits_of_convolution(*c)))
    drawn = grid()
    while len(products) < 600:
        products[next(drawn)] = None
    products = [p for p in products if p[0] * (p[1] * p[2] + p[2] * p[3] + p[1] * p[3]) < LARGEST]
    write("gemm_shapes.csv", ["batch", "m", "n", "k", "trans"], by_hash(products))
    write("conv_shapes.csv", ["n", "c", "h", "w", "k", "r", "s", "stride", "pad"],
          by_hash(convolutions))


if __name__ == "__main__":
    main()
