#!/usr/bin/env python3
"""Prints how os-dpos fares beside the plain strategies, cell by cell, and counts against the marks.

usage: tests/oracles/fastt_table.py FORERUN [--models A,B] [--gpus 2,4] [--machines M] [--check]

FORERUN is the built program. A cell is a model of papers/fastt with its batch there, a number of
GPUs and a machine. Every time is made by the engine: "best" is the fastest of single, dp, mp and pp
on its own, "own" what os-dpos's own search found, "made" what it hands out and "plan of" whose plan
that is. "dpos" is dpos alone. "planned" is what the planner believes of its own plan, "bound" what no placement of the
operations beats. A plan handed over is a loss of the planner.

Exit status: 0; 1 where a cell is worse than the best plain plan (with --check).
"""
import argparse
import json
import subprocess
import sys

# Model, batch over all GPUs, optimizer, more options: as papers/fastt/experiments.yaml has them.
MODELS = [
    ("alexnet", 256, "sgd", []),
    ("vgg19", 64, "sgd", []),
    ("lenet", 256, "sgd", []),
    ("resnet200", 32, "sgd", []),
    ("inception-v3", 64, "sgd", []),
    ("transformer-big", 64, "adam", []),
    ("bert-large", 16, "adam", ["--seq-len", "64"]),
    ("gnmt-8", 128, "adam", []),
    ("rnnlm", 64, "sgd", []),
]
PLAIN = ["single", "dp", "mp", "pp"]
MACHINES = ["dgx1-v100", "dgx-a100-40g"]
NEAR, FASTER, BELIEF, ALONE = 1.03, 0.99, 0.10, 1.05


def ask(program, cell, strategy):
    """The answer of the program; None: the plan does not fit or there is none."""
    model, batch, optimizer, more, gpus, machine = cell
    line = [program, "simulate", "-t", machine, "-w", model, "-g", str(gpus), "-b", str(batch),
            "--optimizer", optimizer, "-s", strategy, "--json", "--no-advice", "--no-timing"]
    done = subprocess.run(line + more, capture_output=True, text=True, check=False, timeout=600)
    if not done.stdout:
        return None
    answer = json.loads(done.stdout)
    return None if answer.get("oom") else answer


def row_of(program, cell):
    """One row of the table as a dictionary."""
    plain = {s: ask(program, cell, s) for s in PLAIN}
    times = {s: a["iteration_s"] for s, a in plain.items() if a}
    best = min(times, key=times.get) if times else None
    ours, alone = ask(program, cell, "os-dpos"), ask(program, cell, "dpos")
    return {"cell": cell, "best": best, "best_s": times.get(best), "ours": ours,
            "dp_s": times.get("dp"), "dpos_s": alone["iteration_s"] if alone else None}


def ms(seconds):
    return "-" if seconds is None else f"{1e3 * seconds:.2f}"


def show(row):
    model, _, _, _, gpus, machine = row["cell"]
    ours = row["ours"] or {}
    print(f"{model:16}{gpus:>3} {machine:13} {row['best'] or '-':>7}{ms(row['best_s']):>10}"
          f"{ms(row['dpos_s']):>10}{ms(ours.get('own_s')):>10}{ms(ours.get('planned_s')):>10}"
          f"{ms(ours.get('iteration_s')):>10}{ms(ours.get('planned_bound_s')):>10}  "
          f"{ours.get('plan_of', '-'):8} {ours.get('own_rule', '')} {ours.get('gap_cause', '')}",
          flush=True)


def count(rows):
    """How many cells reach each mark."""
    n = dict.fromkeys(["worse", "handed over", "own near", "own faster", "believed",
                       "dpos near dp", "with dp"], 0)
    for row in rows:
        ours, best_s = row["ours"], row["best_s"]
        if row["dp_s"]:  # replicas fit
            n["with dp"] += 1
            n["dpos near dp"] += bool(row["dpos_s"]) and row["dpos_s"] <= ALONE * row["dp_s"]
        if not ours or not best_s:
            continue
        own_s = ours.get("own_s") or float("inf")
        n["worse"] += ours["iteration_s"] > best_s * (1 + 1e-9)
        n["handed over"] += ours.get("plan_of", "os-dpos") != "os-dpos"
        n["own near"] += own_s <= NEAR * best_s
        n["own faster"] += own_s < FASTER * best_s
        n["believed"] += abs(own_s / ours["planned_s"] - 1) <= BELIEF
    return n


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("program")
    words.add_argument("--models")
    words.add_argument("--gpus", default="2,4,8")
    words.add_argument("--machines", default=",".join(MACHINES))
    words.add_argument("--check", action="store_true")
    asked = words.parse_args()
    models = [m for m in MODELS if not asked.models or m[0] in asked.models.split(",")]
    print(f"{'model':16}{'':>3} {'machine':13} {'best':>7}{'ms':>10}{'dpos':>10}{'own':>10}{'planned':>10}"
          f"{'made':>10}{'bound':>10}  plan of")
    rows = []
    for machine in asked.machines.split(","):
        for model in models:
            for gpus in asked.gpus.split(","):
                rows.append(row_of(asked.program, (*model, int(gpus), machine)))
                show(rows[-1])
    counts = count(rows)
    print(f"of {len(rows)} cells: " + ", ".join(f"{k} {v}" for k, v in counts.items()))
    return 1 if asked.check and counts["worse"] else 0


if __name__ == "__main__":
    sys.exit(main())
