#!/usr/bin/env python3
"""calibrate/measure/torch_profile.py - records a model's step in PyTorch as a native workload.

    calibrate/measure/torch_profile.py resnet50 -b 64 -o resnet50-h200 --device-type h200-sxm-141gb
    calibrate/measure/torch_profile.py mine:make -b 8 -o mine-h200 --device-type h200-sxm-141gb
    forerun simulate -w ./resnet50-h200 -t hgx-h200 -g 1 -s single

The model is one of the zoo, or a function of yours, module:function (torch_models.py says what it
returns). Times are those of the device that is named: no name stands for any device.

Writes workload.yaml, ops.csv, edges.csv and times.csv (doc/workloads.md).

Ops are what PyTorch's dispatcher runs below autograd. A TorchDispatchMode sees each op with its
tensors. Edges follow storages: an op reads what the last writer of a storage wrote. Each call is in
a record_function range of its own, and the profiler's time of that range is the op's time. On a GPU
this is the sum of its kernels, on a CPU the range itself, of which a few microseconds a call are
its own. The time is the median over --steps steps after --warm-up.

Autograd itself matches forward and backward: the node that a forward op's output carries later runs
its gradient, and a hook says when it has. The ops of a node, and the sums of gradients that the
engine runs before it, become one op X.backward; what comes back to X later becomes X.backward.2.
The optimizer's time, as a whole, is divided over X.update by bytes of parameters. Views of
activations are ops that share storage; views of parameters are the parameters, those of gradients
the gradients.

scales is found by comparing sizes with those of a step with one more sample.

--trace FILE.gz also writes the profiler's trace (Chrome's format).
"""
import argparse
import collections
import contextlib
import csv
import datetime
import gzip
import os
import re
import shutil
import statistics
import sys
import tempfile

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

import torch_models
import torch_step

KINDS = {  # ATen's name: ours; others by KIND_PARTS, else "other"
    "convolution": "conv2d", "addmm": "matmul", "mm": "matmul", "bmm": "batch_matmul",
    "baddbmm": "batch_matmul", "relu": "relu", "relu_": "relu", "gelu": "gelu", "silu": "silu",
    "tanh": "tanh", "sigmoid": "sigmoid", "_softmax": "softmax", "_log_softmax": "log_softmax",
    "native_dropout": "dropout", "bernoulli_": "dropout", "add": "add", "add_": "add", "sub": "add",
    "mul": "mul", "mul_": "mul", "div": "scale", "div_": "scale", "masked_fill": "mask",
    "masked_fill_": "mask", "native_batch_norm": "batchnorm", "cudnn_batch_norm": "batchnorm",
    "_native_batch_norm_legit": "batchnorm", "native_layer_norm": "layernorm",
    "max_pool2d_with_indices": "maxpool", "avg_pool2d": "avgpool",
    "_adaptive_avg_pool2d": "avgpool", "mean": "avgpool", "embedding": "embedding",
    "cat": "concat", "stack": "concat", "split": "split", "chunk": "split", "unbind": "split",
    "nll_loss_forward": "loss", "index_select": "gather", "gather": "gather", "index": "gather",
    "topk": "topk", "_to_copy": "cast",
}
KIND_PARTS = [("attention", "attention"), ("lstm", "lstm"), ("batch_norm", "batchnorm"),
              ("transpose", "transpose"), ("permute", "transpose")]


def kind_of(name, is_view):
    if name in KINDS:
        return KINDS[name]
    if name == "t":
        return "transpose"
    return next((k for part, k in KIND_PARTS if part in name), "reshape" if is_view else "other")


def storage_of(t):
    return (t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage())._cdata


def bytes_of(t):
    return t.numel() * t.element_size()


def flops_of(name, args, outputs):
    """2 per multiply-add of products and convolutions; else one an element."""
    if name == "convolution":
        return 2 * outputs[0].numel() * args[1][0].numel()
    if name == "convolution_backward":
        grad, weight, mask = args[0], args[2], args[-1]
        return 2 * grad.numel() * weight[0].numel() * (mask[0] + mask[1])
    if name in ("mm", "bmm"):
        return 2 * outputs[0].numel() * args[0].shape[-1]
    if name in ("addmm", "baddbmm"):
        return 2 * outputs[0].numel() * args[1].shape[-1]
    return max((t.numel() for t in outputs), default=0)


class Call:
    """One call of the dispatcher, without its tensors: sizes, and storages as numbers."""

    def __init__(self, name, phase, module, reads, outputs, flops):
        self.name, self.phase, self.module, self.flops = name, phase, module, flops
        self.reads = reads  # storages, in order
        self.outputs = outputs  # (storage, bytes, dims)
        self.node = None  # backward: the autograd node that ran it
        shares = bool(outputs) and all(s in reads for s, _, _ in outputs)
        self.is_in_place = shares and name.endswith("_")
        self.is_view = shares and not self.is_in_place


class Recorder(TorchDispatchMode):
    """Follows one step. storages: numbers that are never used twice, as addresses are."""

    def __init__(self, parameters, inputs, modules):
        super().__init__()
        self.calls, self.phase, self.modules = [], "forward", modules
        self.numbers, self.alive, self.next = {}, {}, 0
        self.pending = None  # the last forward call's index and outputs
        self.nodes = {}  # autograd node: forward call
        self.parameters = {self.number(p): p for p in parameters}
        self.inputs = [(self.number(t), bytes_of(t), tuple(t.shape)) for t in inputs]
        self.gradients = {}  # parameter's storage: its gradient's
        self.n_seen = 0  # backward calls that have a node

    def number(self, t):
        """The number of a tensor's storage; a new one where an address was taken again."""
        key = storage_of(t)
        known = self.numbers.get(key)
        if known is None or known[0].expired():
            from torch.multiprocessing.reductions import StorageWeakRef
            storage = t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage()
            known = self.numbers[key] = (StorageWeakRef(storage), self.next)
            self.next += 1
        return known[1]

    def settle(self):
        """Looks which autograd node the last forward call's outputs have got."""
        if self.pending:
            call, outputs = self.pending
            for t in outputs:
                if t.grad_fn is not None:
                    self.nodes.setdefault(t.grad_fn, call)
            self.pending = None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if self.phase == "forward":
            self.settle()
        reads = [self.number(t) for t in tree_flatten([args, kwargs or {}])[0]
                 if isinstance(t, torch.Tensor)]
        with torch.profiler.record_function(f"forerun::{len(self.calls)}"):
            out = func(*args, **(kwargs or {}))
        tensors = [t for t in tree_flatten(out)[0] if isinstance(t, torch.Tensor)]
        name = func._schema.name.split("::")[-1]
        self.calls.append(Call(
            name, self.phase, self.modules[-1] if self.modules else "", reads,
            [(self.number(t), bytes_of(t), tuple(t.shape)) for t in tensors],
            flops_of(name, args, tensors)))
        if self.phase == "forward":
            self.pending = len(self.calls) - 1, tensors
        return out

    def watch_backward(self, loss):
        """Hooks on all nodes; a node has run the calls since the hook before."""
        seen, todo = set(), [loss.grad_fn]
        while todo:
            node = todo.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            todo += [n for n, _ in node.next_functions]
            if "AccumulateGrad" not in node.name():
                node.register_hook(self.hook(self.nodes.get(node)))

    def hook(self, forward):
        def ran(*_):
            for call in self.calls[self.n_seen:]:
                call.node = forward
            self.n_seen = len(self.calls)
        return ran


def module_hooks(model, stack):
    """Keeps the names of the modules that are at work on a stack."""
    def leave(*_):
        stack.pop()

    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda m, i, name=name: stack.append(name))
        module.register_forward_hook(leave)


def one_thread():
    """Backward passes on the thread that asks for them, also those of a GPU."""
    return getattr(torch.autograd, "set_multithreading_enabled",
                   lambda _: contextlib.nullcontext())(False)


class Profiled:
    """Steps of one model, recorded and timed."""

    def __init__(self, arguments, batch):
        self.step = torch_step.Step(arguments.model, arguments.seq_len, batch,
                                    arguments.precision, arguments.optimizer, arguments.device)
        self.step.scaler = None  # its kernels are no ops of the graph
        self.device, self.modules = arguments.device, []
        module_hooks(self.step.model, self.modules)

    def record(self):
        step = self.step
        step.optimizer.zero_grad(set_to_none=True)
        r = Recorder(step.model.parameters(), step.data, self.modules)
        with r:
            loss = step.forward()
            r.settle()
            r.phase, r.n_seen = "backward", len(r.calls)
            r.watch_backward(loss)
            with one_thread():
                step.backward(loss)
            r.phase = "update"
            r.gradients = {n: r.number(p.grad) for n, p in r.parameters.items()
                           if p.grad is not None}
            step.update()
        del loss
        r.nodes.clear()
        torch_step.wait(self.device)
        return r

    def time(self, n_steps, trace):
        """([call] of the last step, [seconds of each call])"""
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self.device == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        samples, calls = collections.defaultdict(list), None
        for i in range(n_steps):
            with torch.profiler.profile(activities=activities) as p:
                recorder = self.record()
            names = [c.name for c in recorder.calls]
            if calls is not None and names != [c.name for c in calls]:
                raise RuntimeError("two steps ran different ops: this model is not for profiling")
            calls = recorder.calls
            for event in p.events():
                if event.name.startswith("forerun::") and is_host_event(event):
                    samples[int(event.name[9:])].append(self.seconds(event))
            if trace and i == n_steps - 1:
                write_trace(p, trace)
        return recorder, [statistics.median(samples[i]) for i in range(len(calls))]

    def seconds(self, event):
        if self.device != "cuda":
            return event.cpu_time_total * 1e-6
        name = "device_time_total" if hasattr(event, "device_time_total") else "cuda_time_total"
        return getattr(event, name) * 1e-6


def is_host_event(event):
    return "CPU" in str(event.device_type)


def write_trace(profile, path):
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(plain)
        with open(plain, "rb") as f, gzip.open(path, "wb") as out:
            shutil.copyfileobj(f, out)


# ---- from calls to a graph ----

class Op:
    """A row of ops.csv: one forward call, or all calls of one gradient."""

    def __init__(self, name, kind, phase, layer):
        self.name, self.kind, self.phase, self.layer = name, kind, phase, layer
        self.flops = self.time_s = self.param_bytes = self.n_params = 0
        self.workspace_bytes = 0
        self.outputs = []  # (bytes, dims, alias)
        self.forward = None
        self.in_place = False
        self.tied_to = []  # names of the ops whose parameters this one uses too
        self.numbers = []  # of calls


class Graph:
    """Edges lead from earlier ops to later ones: each stands at the place of its first call."""

    def __init__(self, recorder, times):
        self.ops, self.edges, self.names = [], {}, set()
        self.writer = {}  # storage: (op, output)
        self.owner = {}  # parameter's storage: op
        self.of_call = {}  # forward call: op
        self.last = None  # the gradient that the calls at hand go to
        self.runs = collections.Counter()
        self.recorder, self.times = recorder, times
        self.update_s = 0.0
        self.layers, self.layer_now = collections.Counter(), (None, None)
        self.add_input()
        for i, call in enumerate(recorder.calls):
            {"forward": self.add_forward, "backward": self.add_backward,
             "update": self.add_update}[call.phase](i, call)
        self.share_update()
        self.drop_temporaries()

    def unique(self, name):
        n, text = 1, name
        while text in self.names:
            n += 1
            text = f"{name}.{n}"
        self.names.add(text)
        return text

    def layer_of(self, module):
        """Modules that come again after others get a number: a layer is one run of ops."""
        module = module[4:] if module.startswith("net.") else module or "model"
        if module != self.layer_now[0]:
            self.layers[module] += 1
            n = self.layers[module]
            self.layer_now = module, module if n == 1 else f"{module}-{n}"
        return self.layer_now[1]

    def add(self, op):
        self.ops.append(op)
        return op

    def add_input(self):
        op = self.add(Op(self.unique("input"), "input", "input", "input"))
        for i, (storage, n_bytes, dims) in enumerate(self.recorder.inputs):
            self.writer[storage] = op, i
            op.outputs.append((n_bytes, dims, None))

    def read(self, op, call):
        for storage in dict.fromkeys(call.reads):
            if storage in self.recorder.parameters:
                self.read_parameter(op, storage)
            elif storage in self.writer and self.writer[storage][0] is not op:
                src, output = self.writer[storage]
                self.edges[src.name, op.name, output] = None

    def read_parameter(self, op, storage):
        if op.phase != "forward":
            return
        p = self.recorder.parameters[storage]
        if storage not in self.owner:
            self.owner[storage] = op
            op.param_bytes += bytes_of(p)
            op.n_params += 1
        elif self.owner[storage] is not op and self.owner[storage].name not in op.tied_to:
            op.tied_to.append(self.owner[storage].name)

    def write(self, op, call):
        """The op's outputs; one that was read before keeps its storage's first writer as alias."""
        for storage, n_bytes, dims in call.outputs:
            if storage in self.recorder.parameters:
                continue
            alias = None
            before = self.writer.get(storage)
            if before and before[0] is op:
                continue
            if before:
                alias = f"{before[0].name}:{before[1]}"
                op.in_place = call.is_in_place
            self.writer[storage] = op, len(op.outputs)
            op.outputs.append((n_bytes, dims, alias))

    def count(self, op, i, call):
        op.numbers.append(i)
        op.flops += 0 if call.is_view else call.flops
        op.time_s += self.times[i]

    def add_forward(self, i, call):
        if call.is_view and (call.name == "detach" or
                             call.reads[0] in self.recorder.parameters):
            self.spend(i)
            return
        layer = self.layer_of(call.module)
        op = Op(self.unique(f"{layer}.{call.name.strip('_')}"), kind_of(call.name, call.is_view),
                "forward", layer)
        self.of_call[i] = self.add(op)
        self.read(op, call)
        self.write(op, call)
        self.count(op, i, call)

    def gradient_op(self, forward):
        if self.last and self.last.forward is forward:
            return self.last
        self.runs[forward.name] += 1
        n = self.runs[forward.name]
        name = self.unique(forward.name + (".backward" if n == 1 else f".backward.{n}"))
        op = self.add(Op(name, forward.kind, "backward-data", forward.layer))
        op.forward, self.last = forward, op
        if n == 1 and forward.param_bytes:
            op.param_bytes = forward.param_bytes
        return op

    def spend(self, i):
        """Time of a view that is no op of its own (the host's alone): the last op's."""
        self.ops[-1 if len(self.ops) > 1 else 0].time_s += self.times[i]

    def add_backward(self, i, call):
        forward = self.of_call.get(call.node)
        if call.is_view or (forward is None and self.last is None):
            self.spend(i)  # views of gradients, and the 1 that the loss's begins with
            return
        op = self.last if forward is None else self.gradient_op(forward)
        self.read(op, call)
        self.write(op, call)
        self.count(op, i, call)

    def add_update(self, i, call):
        self.update_s += self.times[i]

    def share_update(self):
        """One update an owner of parameters, after its gradient."""
        total = sum(bytes_of(p) for p in self.recorder.parameters.values())
        for owner in [o for o in self.ops if o.phase == "forward" and o.param_bytes]:
            op = self.add(Op(self.unique(owner.name + ".update"), "update", "update", owner.layer))
            op.forward, op.param_bytes = owner, owner.param_bytes
            op.time_s = self.update_s * owner.param_bytes / total
            self.read_gradients(op, owner)

    def read_gradients(self, update, owner):
        for parameter, op in self.owner.items():
            gradient = self.writer.get(self.recorder.gradients.get(parameter))
            if op is owner and gradient:
                self.edges[gradient[0].name, update.name, gradient[1]] = None


    def drop_temporaries(self):
        """What a gradient writes and nobody else reads is room that it needs meanwhile."""
        read = {(src, output) for src, _, output in self.edges}
        read |= {tuple(a.rsplit(":", 1)) for o in self.ops for _, _, a in o.outputs if a}
        places = {}
        for op in self.ops:
            kept = [i for i in range(len(op.outputs)) if op.phase != "backward-data" or
                    (op.name, i) in read or (op.name, str(i)) in read]
            op.workspace_bytes = sum(o[0] for i, o in enumerate(op.outputs) if i not in kept)
            op.outputs = [op.outputs[i] for i in kept]
            places.update({(op.name, i): n for n, i in enumerate(kept)})
        self.edges = {(src, dst, places.get((src, output))): n_bytes
                      for (src, dst, output), n_bytes in self.edges.items()}
        for op in self.ops:
            op.outputs = [(n, d, a and self.moved(a, places)) for n, d, a in op.outputs]

    @staticmethod
    def moved(alias, places):
        name, output = alias.rsplit(":", 1)
        return f"{name}:{places[name, int(output)]}"


# ---- files ----

def dims_text(dims):
    return "x".join(map(str, dims)) if 0 < len(dims) <= 6 and all(dims) else "-"


def scales(graph, other):
    """{op: (op scales?, [output scales?])} by what differs from the step of another batch."""
    twins = {op.name: op for op in other.ops} if other else {}
    for op in graph.ops:
        twin = twins.get(op.name)
        if twin is None or len(twin.outputs) != len(op.outputs):
            yield op, op.phase != "update", [op.phase != "update"] * len(op.outputs)
            continue
        outputs = [a[0] != b[0] for a, b in zip(op.outputs, twin.outputs)]
        yield op, op.phase != "update" and (op.flops != twin.flops or any(outputs)), outputs


def write_ops(path, graph, other):
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["id", "kind", "phase", "flops", "param_bytes", "workspace_bytes", "dims",
                      "out_bytes", "scales", "out_scales", "split", "alias", "layer", "forward",
                      "n_params", "in_place", "tied_to"])
        for op, op_scales, out_scales in scales(graph, other):
            out.writerow([
                op.name, op.kind, op.phase, op.flops, op.param_bytes or "",
                op.workspace_bytes or "", ";".join(dims_text(d) for _, d, _ in op.outputs),
                ";".join(str(b) for b, _, _ in op.outputs), int(op_scales),
                ";".join(str(int(s)) for s in out_scales),
                ";".join("0" if s and dims_text(o[1]) != "-" else "-"
                         for s, o in zip(out_scales, op.outputs)),
                ";".join(a or "-" for _, _, a in op.outputs), op.layer,
                op.forward.name if op.forward else "", op.n_params or "", int(op.in_place) or "",
                ";".join(op.tied_to)])


def write_edges(path, graph):
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["src", "dst", "bytes", "tensor"])
        for (src, dst, tensor), n_bytes in graph.edges.items():
            out.writerow([src, dst, "" if n_bytes is None else n_bytes,
                          "-" if tensor is None else tensor])


def write_times(path, graph, arguments):
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["op", "device", "batch", "time_s"])
        for op in graph.ops:
            if op.phase != "input":
                out.writerow([op.name, arguments.device_type or "*", arguments.batch,
                              f"{op.time_s:.9g}"])


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def write_yaml(path, arguments):
    precision = arguments.precision.replace("-bf16", "")
    source = f"profiled on {torch_step.versions(arguments.device)}; {datetime.date.today()}"
    with open(path, "w") as f:
        f.write(f"name: {quoted(arguments.model)}\nbatch: {arguments.batch}\n"
                f"precision: {precision}\nseq_len: {arguments.seq_len}\n"
                f"source: {quoted(source)}\n")


def write_folder(folder, graph, other, arguments):
    """All files, or none: a folder beside is renamed at the end."""
    new = folder.rstrip("/") + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    write_yaml(os.path.join(new, "workload.yaml"), arguments)
    write_ops(os.path.join(new, "ops.csv"), graph, other)
    write_edges(os.path.join(new, "edges.csv"), graph)
    write_times(os.path.join(new, "times.csv"), graph, arguments)
    os.rename(new, folder)


def profile(arguments, batch, warm_up, steps, trace):
    profiled = Profiled(arguments, batch)
    for _ in range(warm_up):
        profiled.record()
    return Graph(*profiled.time(steps, trace))


def read_arguments():
    p = argparse.ArgumentParser(
        description="records a model's step as a native workload folder, with times")
    p.add_argument("model", help="a zoo model, or module:function, which returns (model, batch) or "
                                 "(model, batch, loss): see torch_models.py")
    p.add_argument("-b", "--batch", type=int, required=True)
    p.add_argument("-o", "--output", required=True, metavar="FOLDER", help="must not exist")
    p.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    p.add_argument("--device-type", required=True, metavar="TYPE",
                   help="whose times these are: forerun's name of the GPU (forerun topo list), or "
                        "cpu-NAME for those of a CPU; '' for any device")
    p.add_argument("-p", "--precision", choices=torch_step.PRECISIONS, default="fp32")
    p.add_argument("--optimizer", choices=sorted(torch_step.OPTIMIZERS), default="momentum")
    p.add_argument("--seq-len", type=int, default=0)
    p.add_argument("--warm-up", type=int, default=5)
    p.add_argument("--steps", type=int, default=11)
    p.add_argument("--trace", metavar="FILE.gz", help="also write the last step's trace")
    a = p.parse_args()
    a.seq_len = a.seq_len or torch_models.default_seq(a.model)
    if os.path.exists(a.output):
        p.error(f"{a.output} exists")
    if a.batch < 1 or a.steps < 1 or a.warm_up < 0:
        p.error("--batch and --steps are at least 1, --warm-up at least 0")
    if a.device_type and not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", a.device_type):
        p.error(f"--device-type is '{a.device_type}', expected one device's name")
    if a.device_type and (a.device == "cpu") != a.device_type.startswith("cpu-"):
        p.error(f"--device {a.device} does not measure a '{a.device_type}': a CPU's times are "
                "those of a type cpu-NAME, a GPU's are not")
    if a.device == "cuda" and not torch.cuda.is_available():
        p.error("PyTorch sees no GPU here; --device cpu measures the CPU")
    return a


def main():
    arguments = read_arguments()
    graph = profile(arguments, arguments.batch, arguments.warm_up, arguments.steps, arguments.trace)
    other = profile(arguments, arguments.batch + 1, 0, 1, None)
    write_folder(arguments.output, graph, other, arguments)
    print(f"{arguments.output}: {len(graph.ops)} ops, {sum(o.time_s for o in graph.ops):.6g} s a step",
          file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except torch_models.UNKNOWN as unknown:
        sys.exit(f"torch_profile.py: no PyTorch form of '{unknown}' here")
