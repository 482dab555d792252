#!/usr/bin/env python3
"""tests/oracles/layout_orders.py - is the faster of two published layouts the faster here, too?

usage: large_rows.py training.csv > rows.csv
       forerun validate rows.csv --json > answers.json
       layout_orders.py rows.csv answers.json [-v]

Two rows are a pair where they differ in their layout alone: the same model, machine, GPUs and
number format, and other degrees, micro-batches, schedule, parts a rank, sharding or recomputation.
What the software does beside (buckets, overlap, recipes) is no layout. Times are compared a sample,
as batches differ by a few samples where dp does not divide them.
A pair counts where its measured times differ by more than 5 %. Rows that do not fit here have no
time and are left out. -v lists the pairs whose order comes out wrong.
"""
import collections
import csv
import itertools
import json
import sys

LEAST = 0.05
BESIDE = ("overlap", "overlap-gather", "bucket", "recipe", "fold", "early-stop", "tp-async",
          "gather", "packs", "scatter-gather")


def layout_of(strategy):
    words = strategy.partition(":")[2].split(",")
    return sorted(w for w in words if w.partition("=")[0] not in BESIDE)


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as f:
        questions = {row["id"]: row for row in csv.DictReader(f)}
    with open(sys.argv[2], encoding="utf-8") as f:
        answers = json.load(f)["rows"]
    groups = collections.defaultdict(list)
    for answer in answers:
        asked = questions[answer["id"]]
        if answer["predicted_s"] is None:
            continue
        batch = float(asked["global_batch"])
        key = (answer["id"].split("-")[0], asked["workload"], asked["topology"], asked["gpus"],
               asked["precision"])
        groups[key].append((answer["measured_s"] / batch, answer["predicted_s"] / batch,
                            asked["strategy"], answer["id"]))
    right, total, wrong = collections.Counter(), collections.Counter(), []
    for key, rows in groups.items():
        for one, other in itertools.combinations(rows, 2):
            if layout_of(one[2]) == layout_of(other[2]) or max(one[0], other[0]) <= (1 + LEAST) * min(one[0], other[0]):
                continue
            total[key[0]] += 1
            if (one[0] - other[0]) * (one[1] - other[1]) > 0:
                right[key[0]] += 1
            else:
                wrong.append((one, other))
    print("| source | pairs | right |\n|---|---|---|")
    for source in sorted(total):
        print(f"| {source} | {total[source]} | {right[source]} |")
    for one, other in wrong if "-v" in sys.argv[3:] else []:
        print(f"{one[3]} {one[2]}\n{other[3]} {other[2]}\n"
              f"    measured {100 * (one[0] / other[0] - 1):+.0f} %, "
              f"predicted {100 * (one[1] / other[1] - 1):+.0f} %")


if __name__ == "__main__":
    main()
