#!/usr/bin/env python3
"""tests/oracles/large_report.py - what `forerun validate --json` says of large models, by source.

usage: large_report.py rows.csv answers.json

Errors are of the step's time, |predicted / measured - 1|, never pooled over sources; bias is the
median of the signed ones. tau: Kendall's, of predicted against measured seconds a sample among
configurations of one model on as many GPUs of one machine. Rows whose
memory we find too small have no time; they are counted, and so is every other reason.
"""
import collections
import csv
import json
import sys

NAMES = {"BSA": "BigScience", "LLMF": "llm-foundry", "LMB": "Megatron-Bridge", "LMD": "dgxc",
         "LMM": "Megatron-LM pages", "LMN": "NeMo pages", "LMP": "MLPerf GPT-3", "LMS": "SC21 table 2",
         "LMT": "Llama 3, MegaScale", "LMX": "SimuMax", "MEG": "SC21 table 1",
         "NEMO": "NeMo 24.07, Bridge 25.1", "TT": "torchtitan", "VTRS": "vTrain (a law: order only)"}
# aims of the median, per cent; 15 for all others
AIMS = {"MEG": 10, "LMS": 10, "LMM": 10, "BSA": 10, "LMX": 10}
MEMORY_AIMS = {"LMX": 5, "BSA": 10}


def quantile(sizes, part):
    """Of sorted numbers, linear between two."""
    at = part * (len(sizes) - 1)
    low = int(at)
    high = min(low + 1, len(sizes) - 1)
    return sizes[low] + (at - low) * (sizes[high] - sizes[low])


def spread(errors):
    """n, median, p90, worst, bias in per cent as columns of a table."""
    sizes = sorted(abs(e) for e in errors)
    return (f"{len(sizes)} | {100 * quantile(sizes, .5):.1f} % | {100 * quantile(sizes, .9):.1f} % | "
            f"{100 * sizes[-1]:.1f} % | {100 * quantile(sorted(errors), .5):+.1f} %")


def tau_of(rows):
    """Pairs in the same order less pairs in the other, and the number of pairs."""
    agree = pairs = 0
    groups = collections.defaultdict(list)
    for question, answer in rows:
        batch = float(question["global_batch"])
        groups[question["workload"], question["topology"], question["gpus"], question["precision"]
               ].append((answer["measured_s"] / batch, answer["predicted_s"] / batch,
                         question["strategy"], question["global_batch"]))
    for group in groups.values():
        for i, one in enumerate(group):
            for other in group[:i]:
                if one[2:] == other[2:] or one[0] == other[0]:
                    continue
                pairs += 1
                order = (one[0] - other[0]) * (one[1] - other[1])
                agree += (order > 0) - (order < 0)
    return (f"{agree / pairs:+.2f}" if pairs else "-"), pairs


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as f:
        questions = {row["id"]: row for row in csv.DictReader(f)}
    with open(sys.argv[2], encoding="utf-8") as f:
        answers = json.load(f)["rows"]
    sources = collections.defaultdict(list)
    for answer in answers:
        question = questions[answer["id"]]
        sources[answer["id"].split("-")[0]].append((question, answer))
    print("| source | rows | predicted | median | p90 | worst | bias | tau | pairs | aim |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, rows in sorted(sources.items()):
        done = [(q, a) for q, a in rows if a["predicted_s"] is not None]
        head = f"| {NAMES.get(name, name)} ({name}) | {len(rows)} | "
        if not done:
            print(head + "0 | | | | | | | |")
            continue
        tau, pairs = tau_of(done)
        errors = spread([a["error"] for _, a in done])
        aim = f"median {AIMS.get(name, 15)} %"
        if name == "VTRS":
            errors, aim = f"{len(done)} | | | | ", "tau 0.9"
        print(head + f"{errors} | {tau} | {pairs} | {aim} |")
    print("\n| memory of source | rows | median | p90 | worst | bias | aim |")
    print("|---|---|---|---|---|---|---|")
    for name, rows in sorted(sources.items()):
        errors = [a["memory_error"] for _, a in rows if a["memory_error"] is not None]
        if errors:
            aim = f"median {MEMORY_AIMS[name]} %" if name in MEMORY_AIMS else ""
            print(f"| {NAMES.get(name, name)} ({name}) | {spread(errors)} | {aim} |")
    why = collections.Counter()
    for name, rows in sources.items():
        for _, answer in rows:
            if answer["why_not"]:
                reason = answer["why_not"]
                reason = "does not fit" if reason.startswith("does not fit") else reason
                why[name, reason] += 1
    print("\nNot predicted:")
    for (name, reason), n in sorted(why.items()):
        print(f"{n:5d} {name}: {reason}")


if __name__ == "__main__":
    main()
