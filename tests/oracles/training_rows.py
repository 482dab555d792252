#!/usr/bin/env python3
"""tests/oracles/training_rows.py - published training rates as rows for `forerun validate`.

usage: training_rows.py [--recipes] training.csv > rows.csv

What a row leaves blank, and which software made it, stands in row_rules.py, each with its reason.
--recipes: only rows whose software has a recipe, which their `options` name.

Only the row itself decides how it is read. Three rules were changed after a first look at
predictions, each for a reason in the rows: GNMT v2 is 4 + 4 layers (it had been taken for 2 + 2),
fp32 under PyTorch on A100 and newer is tf32 (it had been taken as printed), and a DGX-1 with 32 GB
has a preset of its own. The other rules were written before. A row without a rule is left out and
counted on standard error, by reason. A row that our strategies cannot express yet stays in, so that
`validate` names it.

    flagged     SUSPECT, CHECK or WARNING in the notes: left out (as the data's own README asks)
    model       ResNet-50 (v1.5), -101, -152, VGG16, AlexNet, Inception v3 (no auxiliary head),
                BERT-Large, BioBERT (BERT-Base on other texts), ELECTRA fine-tuned (its
                discriminator, a BERT-Base; pre-training has a generator beside it: left out),
                GNMT v2 (4 + 4 layers: gnmt-8), Transformer (big); GPT and larger ones:
                large_rows.py
    head        BERT with SQuAD or fine-tuning in the notes: pooler; else the pre-training heads
    GPU         V100: dgx1-v100, with 32 GB dgx1-v100-32g, on a DGX-2 dgx2; A100 of 40 or 80 GB:
                dgx-a100-40g, -80g (80 if the row does not say); H100 SXM5: hgx-h100; K80:
                p2.16xlarge. No preset: left out
    nodes       N nodes: N of these machines, joined by their own network cards; GPUs are taken
                evenly, since a job fills the machines that it names. (CSC's 8 GPUs on 2 machines of
                4 had all been taken in one of ours; found by reading the rows' own classes)
    precision   AMP, FP16 mixed: amp; TF32: tf32; FP32 or blank: fp32, but tf32 on A100 and newer
                under PyTorch and in NGC's containers, which use it by default
    strategy    one GPU: single; dp=N: dp; TensorFlow's parameter server: dp:sync=ps-cpu;
                FSDP: dp:zero=3; tp, pp: large_rows.py
    data        a TensorFlow benchmark row with real data: left out, since we have no input pipeline
    batch       batch_per_gpu times GPUs; Transformer's counts tokens: sentences of 27
    length      blank: row_rules.py; BERT fine-tuned on SQuAD: 384 tokens, by its scripts
    notes       the framework, which with the letters of the id says whose step it is; of
                TensorFlow's benchmarks also the machine, since they come from three
    time        iteration_ms, else batch over rate; PyTorch's GNMT counts source and target tokens;
                what TensorFlow's counts is not known: left out
    accumulation  grad_accum=N over 1: accumulate=N; batch_per_gpu is then a micro-batch, unless the
                notes say that it includes accumulation: N of them. Of more than 64 micro-batches we
                run 64 and compare with their share of the time: one more update in 64, for a plan
                that stays small
                BioBERT's pre-training: 65536 samples an update at 128 tokens, 32768 at 512 (its
                page, "Pre-training" and the table of accuracies)
    optimizer   momentum for images, Adam for the rest
"""
import collections
import csv
import re
import sys

import row_rules

IMAGES = {"ResNet-50": "resnet50", "ResNet-50 v1.5": "resnet50", "ResNet-101": "resnet101",
          "ResNet-152": "resnet152", "VGG16": "vgg16", "AlexNet": "alexnet",
          "Inception v3": "inception-v3:aux=0"}
BERTS = {"BERT-Large": "bert-large", "BERT-Base SQuAD fine-tuning": "bert-base",
         "BERT-Large SQuAD fine-tuning": "bert-large", "BioBERT": "bert-base",
         "ELECTRA": "bert-base"}
BIOBERT = {"128": 65536, "512": 32768}  # samples of an update, by tokens
SENTENCE = 27
MOST_MICROS = 64
GPUS = {"dgx2": 16, "p2.16xlarge": 16}  # of a machine; the others have 8
COLUMNS = ["id", "workload", "topology", "gpus", "strategy", "global_batch", "precision", "options",
           "iteration_s", "peak_bytes", "notes"]


class LeftOut(Exception):
    """Why a row has no rule."""


def workload(row):
    """Our model, its further options and the tokens of a sample that rates count."""
    model, notes = row["model"], row["notes"].lower()
    if model in IMAGES:
        return IMAGES[model], "-O momentum", 0
    length = row_rules.blank(row, "seq_len")
    if model == "ELECTRA" and "fine-tun" not in notes:
        raise LeftOut("no such model in the zoo, or no sequence length: " + model)
    if model in BERTS and length:
        tuned = "squad" in notes or "fine-tun" in notes or "SQuAD" in model
        return (BERTS[model] + (":head=pooler" if tuned else ""), "-O adam --seq-len " + length, 0)
    if model == "GNMT v2" and row["framework"].startswith("PyTorch"):
        return "gnmt-8", f"-O adam --seq-len {length}", 2 * SENTENCE
    if model == "Transformer (big)":
        return "transformer-big", f"-O adam --seq-len {length}", SENTENCE
    raise LeftOut("no such model in the zoo, or no sequence length: " + model)


def machine(row):
    """The preset, N of it where the row has nodes."""
    gpu, memory, notes = row["gpu"], row_rules.blank(row, "gpu_mem_gb"), row["notes"]
    if gpu == "V100":
        if "DGX-2" in notes:
            name = "dgx2"
        else:
            name = "dgx1-v100-32g" if memory == "32" else "dgx1-v100"
    elif gpu in ("A100", "A100 SXM4"):
        name = "dgx-a100-40g" if memory == "40" else "dgx-a100-80g"
    elif gpu == "H100 SXM5":
        name = "hgx-h100"
    elif gpu == "K80":
        name = "p2.16xlarge"
    else:
        raise LeftOut("no preset with this GPU: " + gpu)
    nodes, link = int(row_rules.blank(row, "nodes")), row_rules.blank(row, "inter_link")
    if nodes == 1:
        return name
    return f"{nodes}x {name}" + (f" via {link}" if link else "")


def taken_evenly(row):
    """The option that takes GPUs evenly over machines that the row does not fill."""
    nodes = int(row_rules.blank(row, "nodes"))
    if nodes == 1:
        return ""
    is_full = int(row["gpus"]) == nodes * GPUS.get(machine(row).split()[1], 8)
    return "" if is_full else " --spread"


def precision(row):
    """Number formats in our words."""
    said = row_rules.blank(row, "precision").upper()
    if "AMP" in said or "FP16" in said or "MIXED" in said:
        return "amp"
    if "TF32" in said:
        return "tf32"
    if said == "FP32":
        is_new = row["gpu"].startswith(("A100", "H100"))
        by_default = any(word in row["framework"] for word in ("PyTorch", "NGC"))
        return "tf32" if is_new and by_default else "fp32"
    if said == "BF16":
        return "bf16"
    raise LeftOut("precision: " + row["precision"])


def micro_batches(row):
    """How many make one update on one GPU."""
    if row["model"] == "BioBERT" and "Pre-training" in row["notes"]:
        micro = int(row["batch_per_gpu"]) * int(row["gpus"])
        return max(1, BIOBERT[row["seq_len"]] // micro)
    accumulated = re.search(r"grad_accum=(\d+)", row["notes"])
    return int(accumulated[1]) if accumulated else 1


def strategy(row):
    """Ours, or the name that it will have."""
    said, notes = row["strategy"], row["notes"].lower()
    n = min(micro_batches(row), MOST_MICROS)
    if row["gpus"] == "1":
        return f"single:accumulate={n}" if n > 1 else "single"
    if "FSDP" in said:
        return f"dp:zero=3,accumulate={n}" if n > 1 else "dp:zero=3"
    if n > 1 and re.fullmatch(r"dp=\d+", said):
        return f"dp:accumulate={n}"
    if re.fullmatch(r"dp=\d+", said):
        return "dp:sync=ps-cpu" if "parameter_server" in notes else "dp"
    raise LeftOut("strategy: " + said)


def software(row):
    """Whose step it is: rows that agree in it may be compared."""
    machine_said = "; " + row["notes"].split(";")[0] if row["id"].startswith("TFB") else ""
    return row["framework"] + machine_said


def wanted_recipe(row):
    """The option that names the software's recipe, where that is asked for."""
    if "--recipes" not in sys.argv[1:]:
        return ""
    name = row_rules.recipe(row)
    if not name:
        raise LeftOut("no recipe of its software")
    return " --recipe " + name


def convert(row):
    """One row of the output."""
    if row["id"].split("-")[0][:4] in row_rules.LAWS:
        raise LeftOut("a law, not measurements: its order is judged with large_rows.py")
    if re.search("SUSPECT|CHECK|WARNING", row["notes"]):
        raise LeftOut("flagged in the data")
    if row["id"].startswith("TFB") and "real" in row["notes"].lower():
        raise LeftOut("real data are read")
    name, options, tokens = workload(row)
    gpus = int(row["gpus"])
    if not row["batch_per_gpu"]:
        raise LeftOut("no batch")
    batch = float(row["batch_per_gpu"]) * gpus
    micros = micro_batches(row)
    if "includes gradient accumulation" not in row["notes"]:
        batch *= micros
    if name == "transformer-big":
        batch = round(batch / SENTENCE / gpus) * gpus
    if row["iteration_ms"]:
        seconds = float(row["iteration_ms"]) / 1e3
    elif not row["throughput"] or "per GPU" in row["throughput_unit"]:
        raise LeftOut("no rate of the whole job")
    else:
        seconds = batch * (tokens or 1) / float(row["throughput"])
    if micros > MOST_MICROS:
        batch *= MOST_MICROS / micros
        seconds *= MOST_MICROS / micros
    peak = float(row["peak_mem_gb"]) * 2**30 if row["peak_mem_gb"] else ""
    return {"id": row["id"], "workload": name, "topology": machine(row), "gpus": gpus,
            "strategy": strategy(row), "global_batch": int(batch), "precision": precision(row),
            "options": options + taken_evenly(row) + wanted_recipe(row),
            "iteration_s": repr(seconds),
            "peak_bytes": repr(peak) if peak else "", "notes": software(row)}


def main():
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    left_out = collections.Counter()
    out.writeheader()
    with open(sys.argv[-1], newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            try:
                out.writerow(convert(row))
            except LeftOut as why:
                left_out[str(why)] += 1
    for why, n in left_out.most_common():
        print(f"{n:5d} left out: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
