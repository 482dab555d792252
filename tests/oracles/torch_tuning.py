#!/usr/bin/env python3
"""tests/oracles/torch_tuning.py - what autograd keeps when a part of a model is trained.

    /usr/bin/python3 tests/oracles/torch_tuning.py MODEL BATCH METHOD [NAME...] [rank=N] [dropout]

METHOD is none, lora (adapters beside the linear layers of these names, of a rank), train or freeze
(the parameters with such a part in their name). Prints how many parameters have a gradient after a
step, and the bytes that its backward pass keeps.

The adapters are those of Hugging Face PEFT (src/peft/tuners/lora/layer.py, Linear.forward), written
out, so that the library need not be there. Needs PyTorch 1.13; runs on the CPU. Dropout is
torch.native_dropout, which keeps one bool an element as CUDA's does.
"""
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../calibrate/measure"))
from torch_models import make  # noqa: E402


def fused_dropout(x, p=0.5, training=True, inplace=False):
    return torch.native_dropout(x, p, True)[0] if training and p > 0 else x


F.dropout = fused_dropout


class Adapted(nn.Module):
    def __init__(self, base, rank, dropout):
        super().__init__()
        self.base = base
        self.lora_a = nn.Linear(base.in_features, rank, bias=False)
        self.lora_b = nn.Linear(rank, base.out_features, bias=False)
        self.dropout = nn.Dropout(0.1) if dropout else nn.Identity()

    def forward(self, x):
        return self.base(x) + self.lora_b(self.lora_a(self.dropout(x))) * 2.0


def adapt(model, names, rank, dropout):
    model.requires_grad_(False)
    for name, module in list(model.named_modules()):
        parent, _, last = name.rpartition(".")
        if isinstance(module, nn.Linear) and last in names:
            setattr(model.get_submodule(parent), last, Adapted(module, rank, dropout))


def keep_only(model, words, is_trained):
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(any(w in name.split(".") for w in words) == is_trained)


def key(t):
    return t.storage()._cdata


def kept_bytes(model, batch):
    """Unique storages that autograd keeps, parameters and buffers left out, and the loss."""
    known = {key(t) for t in [*model.parameters(), *model.buffers()]}
    kept, sizes = [], {}

    def pack(t):
        if key(t) not in known:
            sizes[key(t)] = t.storage().nbytes()
            kept.append(t)  # so that no storage takes a dead one's place
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        loss = model(batch)[1]
    return sum(sizes.values()), loss


def main():
    name, n, method, *rest = sys.argv[1:]
    names = [w for w in rest if "=" not in w and w != "dropout"]
    rank = next((int(w[5:]) for w in rest if w.startswith("rank=")), 8)
    model = make(name, None if name.startswith("gpt:") else 16)
    if method == "lora":
        adapt(model, names, rank, "dropout" in rest)
    elif method in ("train", "freeze"):
        keep_only(model, names, method == "train")
    model.train()
    kept, loss = kept_bytes(model, model.batch(int(n), 16, torch.device("cpu")))
    loss.backward()
    print(sum(p.numel() for p in model.parameters() if p.grad is not None), kept)


if __name__ == "__main__":
    main()
