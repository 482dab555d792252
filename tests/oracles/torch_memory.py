#!/usr/bin/env python3
"""tests/oracles/torch_memory.py - what a training step holds in memory, counted by PyTorch itself.

    /usr/bin/python3 tests/oracles/torch_memory.py >tests/oracles/torch/memory.csv
    /usr/bin/python3 tests/oracles/torch_memory.py MODEL SEQ BATCH [OPTIMIZER ZERO_GRAD]

Without arguments it counts all MODELS under all SETTINGS.

Needs PyTorch 1.13 and torchvision 0.14 (Debian: python3-torch, python3-torchvision). The model and
its batch stand on the "meta" device: every operator, forward, backward and of the optimizer, goes
through PyTorch's dispatcher and autograd as ever and makes tensors with storages of the right size,
but no arithmetic is done and no memory taken, so that any batch runs on any machine.

Counted: a storage is born when an operator returns a tensor in one not seen before, and dies when
its last reference does (StorageWeakRef): a variable's, autograd's or an operator's argument.
Temporaries inside one operator are not seen. peak_bytes is the largest sum of living storages after
any operator of a step, less parameters and buffers; it is taken in the second step, when gradients
and the optimizer's states have their steady form. Steps of Adam's counters, which PyTorch keeps on
the host, do not count.

Dropout is torch.native_dropout, which keeps one bool an element as CUDA's does; torch's CPU dropout
would keep the noise as floats.

Operators without a meta form in PyTorch 1.13 get their outputs here, from shapes alone: see FORMS.
"""
import csv
import os
import sys

import torch
import torch.nn.functional as F
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../calibrate"))
from torch_models import make  # noqa: E402

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
        batch = model.batch(n, seq, META)
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
