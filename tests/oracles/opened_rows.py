#!/usr/bin/env python3
"""tests/oracles/opened_rows.py - rows that were closed once, asked as their sources say.

usage: opened_rows.py [--as-said] opened.csv opened_sources.csv > rows.csv

`opened.csv` holds questions for `forerun validate`. Where a row's source says something else than
its question, the question is corrected here, openly, each rule with its reason; all else stays.

    software    rows of TensorFlow 2.3, PaddlePaddle 1.8 and MindSpore name recipes of other
                software or none; their own: tf2-bert, tf2-bert-xla and, from two machines on,
                tf2-bert-multiworker (DLPerf's scripts: MultiWorkerMirroredStrategy there), for
                images tf2-mirrored and tf2-multiworker likewise; paddle1-bert; mindspore-bert, and
                -fused where the source says "with Graph Kernel Fusion". MXNet's BERT is GluonNLP's:
                gluonnlp-bert. InternLM's rows name none: internlm
    head        NVIDIA's BERT in PyTorch of 2020 predicts at all positions (once-a-step: its commit
                5cc03ca), not at the masked ones alone: bert-base:predict=all
    clip        OneFlow's rows "with clip" clip by the global norm:
                --update oneflow-adam+oneflow-clip
    board       torchtitan's H100 are boards of 500 W with 96 GB of HBM2e: hgx-h100-96g
    sockets     DLPerf's script for PaddlePaddle's BERT on several machines sets NCCL_IB_DISABLE=1:
                --transport sockets
    likely      TensorFlow 2.3 over several machines is asked so too. No script says that: the wheel
                brings an NCCL of its own, and 2 to 3 GB/s a card is what its steps show, where all
                others on this cluster show 11. --as-said leaves this rule out
    models      Hugging Face's GPT-2 writes its GELU out: hf-trainer-gpt2 under DDP,
                --fuse torch-gelu under DeepSpeed
"""
import csv
import re
import sys


def recipe(options, name):
    """The options with that recipe instead of theirs."""
    options = re.sub(r" ?--recipe \S+", "", options)
    return f"{options} --recipe {name}".strip()


def tensorflow2(row, notes, is_as_said):
    over = "" if is_as_said else " --transport sockets"
    if "BERT" not in notes:
        return recipe(row["options"], "tf2-multiworker") + over if int(row["gpus"]) > 8 else \
            recipe(row["options"], "tf2-mirrored")
    if int(row["gpus"]) > 8:
        return recipe(row["options"], "tf2-bert-multiworker") + \
            (" --fuse xla" if "xla" in notes else "") + over
    return recipe(row["options"], "tf2-bert-xla" if "xla" in notes else "tf2-bert")


def correct(row, said, is_as_said):
    """The row as its source has it. said: the source's own notes."""
    notes, source = row["notes"], row["id"].split("-")[0]
    if source == "DLP" and notes.startswith("TensorFlow 2.3"):
        row["options"] = tensorflow2(row, notes, is_as_said)
    elif source == "DLP" and notes.startswith("PaddlePaddle") and "BERT" in notes:
        row["options"] = recipe(row["options"], "paddle1-bert") + \
            (" --transport sockets" if int(row["gpus"]) > 8 else "")
    elif source == "DLP" and notes.startswith("MindSpore") and "BERT" in notes:
        fused = "with Graph Kernel Fusion" in said
        row["options"] = recipe(row["options"], "mindspore-bert" + ("-fused" if fused else ""))
    elif source == "DLP" and notes.startswith("MXNet") and "BERT" in notes:
        row["options"] = recipe(row["options"], "gluonnlp-bert")
    elif source == "DLP" and notes.startswith("PyTorch 1.5|BERT"):
        row["workload"] += ":predict=all"
    elif source == "DLP" and notes.endswith("|clip"):
        row["options"] += " --update oneflow-adam+oneflow-clip"
    elif source == "FIN":
        row["options"] = recipe(row["options"], "internlm")
    elif source == "TT":
        row["topology"] = row["topology"].replace("hgx-h100", "hgx-h100-96g")
    elif source == "FDS" and row["workload"].startswith("gpt2"):
        if "pytorch-ddp" in row["options"]:
            row["options"] = recipe(row["options"], "hf-trainer-gpt2")
        else:
            row["options"] += " --fuse torch-gelu"
    return row


def main():
    is_as_said = sys.argv[1:2] == ["--as-said"]
    files = sys.argv[2:] if is_as_said else sys.argv[1:]
    if len(files) != 2:
        sys.exit("usage: opened_rows.py [--as-said] opened.csv opened_sources.csv > rows.csv")
    with open(files[1], newline="", encoding="utf-8") as file:
        said = {row["id"]: row["notes"] for row in csv.DictReader(file)}
    with open(files[0], newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        out = csv.DictWriter(sys.stdout, rows.fieldnames, lineterminator="\n")
        out.writeheader()
        for row in rows:
            out.writerow(correct(row, said.get(row["id"], ""), is_as_said))


if __name__ == "__main__":
    main()
