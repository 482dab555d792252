"""Compares what `forerun job show` reads in public job files with facts that people read there.

usage: job_truth.py FORERUN FOLDER

FOLDER/truth.csv has a line a job; the files of a job are in the folder of its name. A field that is
no number or known word ("gpus/16", "not stated", "by name only") is not compared: the file does not
state it. Exit status: 0 all agree; 1 otherwise.
"""
import csv
import json
import os
import re
import subprocess
import sys

# Frameworks whose jobs are Python programs, which state nothing before they run.
PROGRAMS = ("Megatron-Bridge py", "OLMo-core py")
COUNTS = {"tp": "tp", "pp": "pp", "cp": "cp", "ep": "ep", "dp": "dp", "micro_batch": "micro_batch",
          "global_batch": "batch", "sequence": "sequence", "layers": "layers", "hidden": "hidden",
          "heads": "heads"}
# What the table knows from elsewhere (a comment, a README, a default of another file), or is no one
# number in the file.
EXCUSED = {("slime-qwen3-235b-sft", "micro_batch"), ("mds-gpt-1.3b-moe128", "dp"),
           ("neox-20b", "dp"), ("neox-20b", "global_batch"), ("foundry-dbrx-ft", "dp"),
           ("ds-bingbert-lamb-32k", "sequence"), ("ds-bingbert-lamb-32k", "layers"),
           ("ds-bingbert-lamb-32k", "hidden"), ("ds-bingbert-lamb-32k", "heads")}
# Files that are refused, and what the refusal says.
REFUSED = {"nanotron-qwen-moe": "key 'moe_config' appears twice"}


def number(text):
    """"2048", "4 (8 on 384)" and "512 after a ramp from 192" are one number each."""
    match = re.fullmatch(r"(\d+)(?: \(.*\)| after .*)?", text)
    return match.group(1) if match else None


def expected_words(row):
    """Words of ours for the fields that are prose."""
    words = {}
    precision = row["precision"]
    words["precision"] = ("fp8" if "with FP8" in precision else
                          re.match(r"(?:amp_)?(bf16|fp16|fp32)", precision).group(1))
    recompute = row["recompute"]
    words["recompute"] = (None if "default" in recompute else
                          "none" if recompute.startswith("none") or "none in" in recompute else
                          recompute.split(",")[0].split(":")[0].split(" ")[0])
    optimizer = row["optimizer"].lower()
    words["optimizer"] = "adam" if "adam" in optimizer and "8-bit" not in optimizer else None
    zero = re.search(r"ZeRO[- ](\d)", row["sharding"])
    words["zero"] = zero.group(1) if zero else "0" if row["sharding"].startswith("none") else None
    return words


def differences(row, facts):
    for theirs, ours in COUNTS.items():
        said = number(row[theirs])
        if not said or (row["file"], theirs) in EXCUSED:
            continue
        if theirs in ("layers", "hidden", "heads") and "model_name" in facts and ours not in facts:
            continue  # the file names the model only
        if facts.get(ours, "1" if theirs in ("tp", "pp", "cp", "ep") else None) != said:
            yield f"{theirs} is {row[theirs]}, read as {facts.get(ours)}"
    for name, word in expected_words(row).items():
        if word and facts.get(name, "none" if name == "recompute" else "0") != word:
            yield f"{name} is {row[name if name in row else 'sharding']}, read as {facts.get(name)}"


def read(forerun, folder):
    files = sorted(os.path.join(folder, f) for f in os.listdir(folder))
    done = subprocess.run([forerun, "job", "show", "--json", *files], capture_output=True,
                          text=True, check=False)
    return (json.loads(done.stdout)["facts"], None) if done.returncode == 0 else (None, done.stderr)


def main(forerun, folder):
    n_read = n_wrong = 0
    with open(os.path.join(folder, "truth.csv"), encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["framework"] in PROGRAMS:
                continue
            facts, error = read(forerun, os.path.join(folder, row["file"]))
            wrong = [error.strip()] if error else list(differences(row, facts))
            if row["file"] in REFUSED and error and REFUSED[row["file"]] in error:
                wrong = []
            n_read += 1
            n_wrong += bool(wrong)
            for text in wrong:
                print(f"{row['file']}: {text}")
    print(f"{n_read} jobs read, {n_wrong} of them wrong")
    return 1 if n_wrong or n_read == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
