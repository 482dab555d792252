#!/usr/bin/env python3
"""tests/oracles/power_rows.py - trainings under power limits, as measured and as predicted.

usage: tests/oracles/power_rows.py FORERUN training_under_cap.csv

The rows are those of ml-energy/zeus (traces of NSDI 2023) whose model is in the zoo: one GPU trains
one model at several limits. What is compared is the time at a limit over that at the highest one,
and the power. The job's scripts say no format: PyTorch of that time runs fp32, and TF32 on an A40
(Ampere). SQuAD has 384 tokens, tweets 64. Prints a line for each GPU: configurations, median and
90th percentile of the error of the ratio, median of that of the power, all in per cent.
"""
import collections
import csv
import json
import statistics
import subprocess
import sys

MACHINES = {"V100": ("box:1xv100-pcie-32gb", "fp32"), "A40": ("box:1xa40", "tf32"),
            "P100": ("box:1xp100-pcie-16gb", "fp32")}
MODELS = {"resnet50": "resnet50", "resnet18": "resnet18", "bert_base_uncased": "bert-base"}
TOKENS = {"squad": "384", "sentiment140": "64"}


def jobs(path):
    """(GPU, model, data, batch) -> {limit: (time, power)}."""
    found = collections.defaultdict(dict)
    with open(path, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["gpu"] in MACHINES and row["model"] in MODELS and row["batch"]:
                key = row["gpu"], row["model"], row["dataset"], row["batch"]
                found[key].setdefault(float(row["power_limit_w"]),
                                      (float(row["time"]), float(row["average_power_w"] or "nan")))
    return found


def ask(forerun, job, limit):
    gpu, model, data, batch = job
    machine, precision = MACHINES[gpu]
    command = [forerun, "simulate", "-w", MODELS[model], "-t", machine, "-b", batch, "-s", "single",
               "-p", precision, "-O", "adam", "--power-limit", f"{limit:g}W", "--json", "-q",
               "--no-advice"]
    if data in TOKENS:
        command += ["--seq-len", TOKENS[data]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def main():
    forerun, path = sys.argv[1:]
    times, powers = collections.defaultdict(list), collections.defaultdict(list)
    for job, rows in sorted(jobs(path).items()):
        answers = {limit: ask(forerun, job, limit) for limit in rows}
        top = max(rows)
        if not answers[top]:
            continue
        for limit, (time, power) in rows.items():
            if not answers[limit]:
                continue
            powers[job[0]].append(abs(answers[limit]["average_power_w"] / power - 1))
            if limit < top:
                ratio = answers[limit]["iteration_s"] / answers[top]["iteration_s"]
                times[job[0]].append(abs(ratio / (time / rows[top][0]) - 1))
    for gpu, errors in sorted(times.items()):
        errors.sort()
        print(f"{gpu} {len(errors)} {100 * statistics.median(errors):.1f} "
              f"{100 * errors[int(0.9 * len(errors))]:.1f} "
              f"{100 * statistics.median(powers[gpu]):.1f}")


if __name__ == "__main__":
    main()
