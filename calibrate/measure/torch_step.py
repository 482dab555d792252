#!/usr/bin/env python3
"""calibrate/measure/torch_step.py - times whole training steps of the zoo's models in PyTorch.

    calibrate/measure/torch_step.py -o steps.csv --topology hgx-h200
    calibrate/measure/torch_step.py -o steps.csv --device cpu --model lenet --batches 4,8

Writes a row for each model, batch and precision, in the columns that `forerun validate` reads:
id,workload,topology,gpus,strategy,global_batch,precision,options,iteration_s,peak_bytes,notes

iteration_s: median of --steps steps after --warm-up. A step lasts from zero_grad to the end of the
optimizer's step; the device is waited for before and after. Data are in the device's memory.
peak_bytes: the most bytes in use of the caching allocator during these steps
(max_memory_allocated); the notes say what it had reserved. Empty on a CPU. Out of memory: no time,
"out of memory" in the notes, and no larger batch of that model and precision is tried.

Precisions: fp32 (TF32 off), tf32 (on in products and convolutions), amp (autocast to fp16, loss
scaled), amp-bf16 (autocast to bf16; the precision column says amp), bf16 and fp16 (model and data
in that type). cuDNN chooses its algorithms by measuring (cudnn.benchmark).

Rows that FILE already has are not measured again, so a run that ended for lack of time (--budget)
can be continued. These rows are for comparing predictions: never fit to them.
"""
import argparse
import contextlib
import csv
import datetime
import os
import statistics
import sys
import time

import torch

import torch_models

COLUMNS = ["id", "workload", "topology", "gpus", "strategy", "global_batch", "precision", "options",
           "iteration_s", "peak_bytes", "notes"]
# Most telling first; batches up to the first that runs out of memory.
PLAN = [
    ("resnet50", [32, 64, 128, 256, 512]), ("vgg16", [32, 64, 128, 256]),
    ("bert-base", [8, 32, 64, 128]), ("gpt2-small", [4, 8, 16, 32]),
    ("transformer-base", [32, 64, 128]), ("resnet18", [64, 128, 256]), ("alexnet", [128, 256, 512]),
    ("inception-v3", [32, 64, 128, 256]), ("densenet121", [32, 64, 128]),
    ("bert-large", [4, 8, 16, 32]), ("gpt2-medium", [2, 4, 8]), ("resnet152", [32, 64, 128]),
    ("rnnlm", [64, 128]), ("vgg19", [32, 64, 128]), ("resnet101", [32, 64, 128]),
    ("transformer-big", [16, 32, 64]), ("vgg11", [64, 128]), ("resnet34", [64, 128, 256]),
    ("densenet201", [32, 64]), ("wresnet-50-2", [32, 64]), ("lenet", [64, 512]),
]
TOPOLOGIES = [  # part of the device's name, our preset
    ("H200", "hgx-h200"), ("H100", "hgx-h100"), ("B200", "hgx-b200"),
    ("A100-SXM4-80GB", "dgx-a100-80g"), ("A100-SXM4-40GB", "dgx-a100-40g"),
    ("V100-SXM2-16GB", "dgx1-v100"), ("V100-SXM3-32GB", "dgx2"), ("P100-SXM2-16GB", "dgx1-p100"),
    ("K80", "p2.16xlarge"),
]
PRECISIONS = ["fp32", "tf32", "amp-bf16", "amp", "bf16", "fp16"]
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 1e-4),
    "momentum": lambda p: torch.optim.SGD(p, 1e-4, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, 1e-5),
}


class Step:
    """One model with its optimizer, ready to take steps."""

    def __init__(self, name, seq, batch, precision, optimizer, device):
        torch.manual_seed(0)
        self.device, self.autocast = device, {"amp": torch.float16,
                                              "amp-bf16": torch.bfloat16}.get(precision)
        whole = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
        self.model = torch_models.make(name, seq).to(device).train()
        self.data = self.model.batch(batch, seq, device)
        if whole:
            self.model.to(whole)
            self.data = [t.to(whole) if t.is_floating_point() else t for t in self.data]
        self.optimizer = OPTIMIZERS[optimizer](self.model.parameters())
        self.scaler = None
        if precision == "amp" and device == "cuda":
            self.scaler = torch.cuda.amp.GradScaler()
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.allow_tf32 = precision == "tf32"

    def forward(self):
        casts = contextlib.nullcontext()
        if self.autocast:
            casts = torch.autocast(self.device, self.autocast)
        with casts:
            return self.model(self.data)[1]

    def backward(self, loss):
        (self.scaler.scale(loss) if self.scaler else loss).backward()

    def update(self):
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()

    def __call__(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.backward(self.forward())
        self.update()


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def measure(step, device, warm_up, steps):
    """([seconds a step], allocated, reserved); the bytes are None on a CPU."""
    for _ in range(warm_up):
        step()
    wait(device)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(steps):
        wait(device)
        start = time.perf_counter()
        step()
        wait(device)
        times.append(time.perf_counter() - start)
    if device != "cuda":
        return times, None, None
    return times, torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()


def is_out_of_memory(error):
    """torch has a class for it from 1.13 on; the CPU's allocator says it in words."""
    return (isinstance(error, getattr(torch.cuda, "OutOfMemoryError", ())) or
            "out of memory" in str(error) or "not enough memory" in str(error))


def versions(device):
    where = torch.cuda.get_device_name() if device == "cuda" else "CPU, %d threads" % (
        torch.get_num_threads())
    text = f"{where}; PyTorch {torch.__version__}"
    return (text + f"; CUDA {torch.version.cuda}" if device == "cuda" else text).replace(",", " ")


def row_of(arguments, name, batch, precision):
    """All but what is measured."""
    seq = arguments.seq_len or torch_models.default_seq(name)
    options = f"-O {arguments.optimizer}"
    if torch_models.default_seq(name):
        options += f" --seq-len {seq}"
    kind = arguments.device if arguments.device == "cpu" else "gpu"
    return seq, {
        "id": "TS-" + "-".join([kind, name.replace(":", "_").replace(",", "_"), f"b{batch}",
                                precision, arguments.optimizer] + ([f"s{seq}"] if seq else [])),
        "workload": name, "topology": arguments.topology, "gpus": 1, "strategy": "single",
        "global_batch": batch, "precision": precision.replace("-bf16", ""), "options": options}


def run(arguments, name, batch, precision):
    """(row, whether it fitted into memory)"""
    seq, row = row_of(arguments, name, batch, precision)
    notes = [versions(arguments.device), datetime.date.today().isoformat()]
    if precision.startswith("amp"):
        notes.append("autocast to " + ("bf16" if precision == "amp-bf16" else "fp16"))
    fits = True
    step = None
    try:
        step = Step(name, seq, batch, precision, arguments.optimizer, arguments.device)
        times, peak, reserved = measure(step, arguments.device, arguments.warm_up, arguments.steps)
        row["iteration_s"] = f"{statistics.median(times):.9g}"
        notes.append(f"min {min(times):.6g} s; max {max(times):.6g} s of {len(times)}")
        if peak is not None:
            row["peak_bytes"] = peak
            notes.append(f"reserved_bytes={reserved}")
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        fits = False
        notes.append("out of memory")
    del step
    if arguments.device == "cuda":
        torch.cuda.empty_cache()
    row["notes"] = "; ".join(notes)
    return row, fits


def rows_there(path):
    """The ids of a file's rows; cuts off a last line without its end."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return {}
    with open(path, "rb+") as f:
        text = f.read()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            f.truncate(whole)
    with open(path, newline="") as f:
        reader = csv.DictReader(f)
        if reader.fieldnames != COLUMNS:
            sys.exit(f"torch_step.py: {path}:1: not the header of this program's output")
        return {r["id"]: "out of memory" not in r["notes"] for r in reader}


def tasks(arguments):
    """(model, batches); what the options name, else the plan."""
    plan = dict(PLAN)
    names = arguments.model or plan
    for name in names:
        yield name, arguments.batches or plan.get(name, [8, 16, 32])


def counts(text):
    """1,2,4 -> [1, 2, 4], ascending"""
    numbers = sorted(int(n) for n in text.split(","))
    if numbers[0] < 1:
        raise ValueError
    return numbers


def read_arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].split(" - ")[1])
    p.add_argument("-o", "--output", required=True, metavar="FILE", help="CSV to append to")
    p.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    p.add_argument("--topology", help="as forerun -t; default: by the GPU's name")
    p.add_argument("--model", action="append", metavar="NAME",
                   help="a zoo model, several times for several; default: the plan in this file")
    p.add_argument("--batches", type=counts, help="by commas; default: the plan's")
    p.add_argument("--precisions", default="fp32,tf32,amp-bf16", help="of " + ",".join(PRECISIONS))
    p.add_argument("--optimizer", choices=sorted(OPTIMIZERS), default="momentum")
    p.add_argument("--seq-len", type=int, default=0, help="tokens a sample; default: the model's")
    p.add_argument("--warm-up", type=int, default=10)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--budget", type=float, default=0, metavar="S",
                   help="begin no row after S seconds")
    a = p.parse_args()
    for precision in a.precisions.split(","):
        if precision not in PRECISIONS:
            p.error(f"--precisions: {precision} is none of {', '.join(PRECISIONS)}")
    if a.steps < 1 or a.warm_up < 0:
        p.error("--steps is at least 1, --warm-up at least 0")
    if a.device == "cuda" and not torch.cuda.is_available():
        p.error("PyTorch sees no GPU here; --device cpu measures the CPU")
    if a.device == "cuda" and not a.topology:
        name = torch.cuda.get_device_name()
        a.topology = next((t for part, t in TOPOLOGIES if part in name), None)
        if not a.topology:
            p.error(f"no preset has a {name}: say which topology with --topology")
    a.topology = a.topology or "cpu"  # no topology of ours: a row to look at, not to judge by
    return a


def main():
    arguments = read_arguments()
    there = rows_there(arguments.output)
    deadline = time.monotonic() + arguments.budget if arguments.budget else float("inf")
    n_measured = n_left = 0
    with open(arguments.output, "a", newline="") as f:
        out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        if f.tell() == 0:
            out.writeheader()
        for name, batches in tasks(arguments):
            for precision in arguments.precisions.split(","):
                for batch in batches:
                    key = row_of(arguments, name, batch, precision)[1]["id"]
                    if key in there:
                        fits = there[key]
                    elif time.monotonic() > deadline:
                        n_left += 1
                        continue
                    else:
                        row, fits = run(arguments, name, batch, precision)
                        out.writerow(row)
                        f.flush()
                        n_measured += 1
                        print(key, row.get("iteration_s", "out of memory"), file=sys.stderr)
                    if not fits:
                        break
    print(f"{arguments.output}: {n_measured} rows measured, {len(there)} there already, "
          f"{n_left} left for lack of time", file=sys.stderr)
    return 3 if n_left else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except torch_models.UNKNOWN as unknown:
        sys.exit(f"torch_step.py: no PyTorch form of '{unknown}' here")
