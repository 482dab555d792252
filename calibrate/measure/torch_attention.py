#!/usr/bin/env python3
"""calibrate/measure/torch_attention.py - times PyTorch's fused attention for other_kernels.csv.

    calibrate/measure/torch_attention.py -o other_kernels.csv [--budget S] [--device cpu]

It times scaled_dot_product_attention by length and head size: forward (context_attention, which is
causal, as `forerun calibrate fit` reads it, and full_attention) and backward (..._backward).
PyTorch chooses the kernel; the notes have its version. cuDNN's C interface to fused attention is a
graph of descriptors that changes with its releases, and users of frameworks get what is measured
here.

bytes: q, k, v and the result, each once; backward as much again and their gradients. flops:
4 batch heads seq^2 head_dim, half of it if causal, 2.5 times as much backward (Dao, 2023, section
3.1: five products instead of two). Times are medians of 15 samples by CUDA events. Buffers rotate,
so that they are not in the L2 cache.
"""
import argparse
import csv
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F

import torch_step

COLUMNS = ["source", "gpu", "kernel", "shape", "dtype", "bytes", "flops", "time_us", "notes"]
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
REPEATS = 15


def grid(is_small):
    """(batch, heads, seq, head_dim); about as many tokens in each."""
    for head_dim in [64, 128] if not is_small else [32]:
        for seq in [128, 256, 512, 1024, 2048, 4096, 8192, 16384] if not is_small else [16, 32]:
            for tokens in [4096, 16384] if not is_small else [64]:
                for heads in [8, 16, 32] if not is_small else [2]:
                    yield max(tokens // seq, 1), heads, seq, head_dim


class Case:
    def __init__(self, batch, heads, seq, head_dim, is_causal, is_backward, dtype):
        self.sizes, self.is_causal, self.dtype = (batch, heads, seq, head_dim), is_causal, dtype
        self.is_backward = is_backward
        self.kernel = ("context" if is_causal else "full") + "_attention" + (
            "_backward" if is_backward else "")
        self.shape = (f"batch={batch};isl={seq};step=0;heads={heads};kv_heads={heads};"
                      f"head_dim={head_dim}")
        one = batch * heads * seq * head_dim * torch.finfo(DTYPES[dtype]).bits // 8
        self.set_bytes, self.bytes = 4 * one, (8 if is_backward else 4) * one
        forward = 4 * batch * heads * seq * seq * head_dim // (2 if is_causal else 1)
        self.flops = forward * 5 // 2 if is_backward else forward

    def launches(self, device, n_sets):
        """A function that runs the kernel on set i."""
        sets = [[torch.randn(self.sizes, device=device, dtype=DTYPES[self.dtype],
                             requires_grad=self.is_backward) for _ in range(3)]
                for _ in range(n_sets)]
        if not self.is_backward:
            return lambda i: F.scaled_dot_product_attention(*sets[i % n_sets],
                                                            is_causal=self.is_causal)
        outs = [F.scaled_dot_product_attention(*s, is_causal=self.is_causal) for s in sets]
        grads = [torch.randn_like(o) for o in outs]
        return lambda i: torch.autograd.grad(outs[i % n_sets], sets[i % n_sets],
                                             grads[i % n_sets], retain_graph=True)


def sample_us(launch, first, n, device):
    if device != "cuda":
        start = time.perf_counter()
        for i in range(n):
            launch(first + i)
        return (time.perf_counter() - start) * 1e6 / n
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    torch.cuda._sleep(4_000_000)  # cycles: the device waits until all launches are queued
    begin.record()
    for i in range(n):
        launch(first + i)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / n


def measure(case, device, l2_bytes):
    n_sets = min(max(2, 3 * l2_bytes // case.set_bytes + 1), 16)
    launch = case.launches(device, n_sets)
    for i in range(3):
        launch(i)
    each_us = sample_us(launch, 0, 3, device)
    n = int(min(max(1000 / max(each_us, 1), 1), 20))
    sample_us(launch, 0, n, device)
    us = [sample_us(launch, i * n, n, device) for i in range(REPEATS)]
    notes = f"min_us={min(us):.6g};max_us={max(us):.6g};repeats={REPEATS};launches={n}"
    return statistics.median(us), notes


def rows_there(path):
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return set()
    with open(path, "rb+") as f:
        text = f.read()
        f.truncate(text.rfind(b"\n") + 1)
    with open(path, newline="") as f:
        reader = csv.DictReader(f)
        if reader.fieldnames != COLUMNS:
            sys.exit(f"torch_attention.py: {path}:1: not the header of other_kernels.csv")
        return {(r["gpu"], r["kernel"], r["shape"], r["dtype"]) for r in reader}


def read_arguments():
    p = argparse.ArgumentParser(description="times PyTorch's fused attention")
    p.add_argument("-o", "--output", required=True, metavar="FILE", help="CSV to append to")
    p.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    p.add_argument("--dtypes", default="bfloat16,float16,float32")
    p.add_argument("--budget", type=float, default=0, metavar="S",
                   help="begin no row after S seconds")
    a = p.parse_args()
    if any(t not in DTYPES for t in a.dtypes.split(",")):
        p.error(f"--dtypes: known are {', '.join(DTYPES)}")
    if not hasattr(F, "scaled_dot_product_attention"):
        sys.exit(f"torch_attention.py: PyTorch {torch.__version__} has no fused attention, "
                 "2.0 has")
    if a.device == "cuda" and not torch.cuda.is_available():
        p.error("PyTorch sees no GPU here; --device cpu measures the CPU")
    return a


def main():
    a = read_arguments()
    gpu = torch.cuda.get_device_name() if a.device == "cuda" else "CPU"
    l2_bytes = 1 << 20
    if a.device == "cuda":
        l2_bytes = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 1 << 26)
    deadline = time.monotonic() + a.budget if a.budget else float("inf")
    there, n_left = rows_there(a.output), 0
    with open(a.output, "a", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        if f.tell() == 0:
            out.writerow(COLUMNS)
        cases = [Case(*sizes, is_causal, is_backward, dtype) for dtype in a.dtypes.split(",")
                 for sizes in grid(a.device == "cpu") for is_causal in (True, False)
                 for is_backward in (False, True)]
        for case in cases:
            if (gpu, case.kernel, case.shape, case.dtype) in there:
                continue
            if time.monotonic() > deadline:
                n_left += 1
                continue
            try:
                time_us, notes = measure(case, a.device, l2_bytes)
            except RuntimeError as error:
                if not torch_step.is_out_of_memory(error):
                    raise
                continue
            out.writerow([f"forerun/calibrate PyTorch {torch.__version__}", gpu, case.kernel,
                          case.shape, case.dtype, case.bytes, case.flops, f"{time_us:.6g}", notes])
            f.flush()
    print(f"{a.output}: {n_left} rows of attention left for lack of time", file=sys.stderr)
    return 3 if n_left else 0


if __name__ == "__main__":
    sys.exit(main())
