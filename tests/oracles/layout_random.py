#!/usr/bin/env python3
"""tests/oracles/layout_random.py - are the coarse times and bytes of random layouts those of the
simulation op by op?

usage: layout_random.py FORERUN [-n LAYOUTS] [-s SEED] [-v] [-o FILE.csv]

Draws questions (a model, a cluster, a batch), lists each one's space with all schedules, and asks
layouts of it, drawn at random, both ways. Prints the median and the largest difference of times,
the agreement of their order within each question (Kendall's tau), and the same for memory; -v lists
the worst. What the coarse memory excluded is simulated, too: it must not fit.
"""
import argparse
import collections
import csv
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile

# Models that no constant was looked at with; layers are cut so that a run takes a second.
MODELS = [
    "llama:layers=16,hidden=4096,heads=32,kv_heads=8,ffn=14336,seq=4096,vocab=128256",
    "llama:layers=24,hidden=5120,heads=40,kv_heads=40,ffn=13824,seq=2048,vocab=32000",
    "llama:layers=8,hidden=8192,heads=64,kv_heads=8,ffn=28672,seq=8192,vocab=32000",
    "gpt:layers=22,hidden=3072,heads=24,seq=1024,vocab=50304,attention=unfused",
    "gpt:layers=16,hidden=6144,heads=48,seq=2048,vocab=51200,attention=flash",
    "gpt:layers=30,hidden=2560,heads=32,seq=2048,vocab=50304",
    "mixtral:layers=8,hidden=4096,heads=32,kv_heads=8,ffn=14336,seq=4096,vocab=32000,experts=8",
    "mixtral:layers=16,hidden=3072,heads=24,kv_heads=8,ffn=8192,seq=2048,vocab=64000,experts=16",
    "bert:layers=24,hidden=2048,heads=16,seq=512,vocab=30522",
    "llama:layers=16,hidden=4096,heads=32,kv_heads=8,ffn=14336,seq=16384,vocab=128256",
]
CLUSTERS = ["dgx-a100-80g", "2x dgx-a100-80g", "4x hgx-h100", "2x hgx-h100 via ib:100Gbps",
            "4x dgx-a100-40g", "hgx-b200", "3x dgx-a100-80g", "8x dgx-a100-80g"]
SCHEDULES = ("1f1b,gpipe,eager-1f1b,interleaved-1f1b,looped-bfs,zb-h1,zb-h2,zb-v,v-half,v-min,"
             "interleaved-zero-bubble,moe-overlap,zb-v-auto,dualpipe-v")
AXES = ["dp", "tp", "pp", "cp", "ep", "etp", "micro", "virtual", "schedule", "zero", "recompute"]


def run(args, limit=300):
    return subprocess.run(args, capture_output=True, text=True, timeout=limit, check=False)


def search(forerun, question, more, out):
    args = [forerun, "search", *question, "-q", "-j", "1", "-o", out, *more]
    if os.path.exists(out):
        os.unlink(out)
    done = run(args)
    if done.returncode not in (0, 3) or not os.path.exists(out):  # 3: nothing fits
        return None, done.stderr.strip()
    with open(out, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f)), ""


def draw_question(rng):
    model, cluster = rng.choice(MODELS), rng.choice(CLUSTERS)
    gpus = {"3x": 24, "2x": 16, "4x": 32, "8x": 64}.get(cluster[:2], 8)
    batch = gpus * rng.choice([1, 2, 3, 4])
    return ["-w", model, "-t", cluster, "-b", str(batch), "-p", "bf16", "-O", "adam"]


def fixed(row):
    return [a for axis in AXES if not (axis == "schedule" and row["schedule"] == "none")
            and not (axis == "etp" and row["etp"] in ("", "0"))
            for a in ("--fix", f"{axis}={row[axis]}")]


def draw_layouts(rng, forerun, question, n, out):
    """Spread over schedules, else the ones with most layouts would be all there is."""
    wide = ["--vary", f"schedule={SCHEDULES}", "--vary", "zero=0,1", "--vary", "virtual=1,2,4",
            "--vary", "micro=1,2,4"]
    piped, why = search(forerun, question, [*wide, "--top", "1"], out)
    if piped is None:
        sys.exit(f"{' '.join(question)}: {why}")
    plain, _ = search(forerun, question, ["--fix", "pp=1", "--top", "1"], out)
    kinds = collections.defaultdict(list)
    for row in piped + (plain or []):
        if row["coarse_bytes"] or row["bound_s"]:
            kinds[row["schedule"], row["zero"]].append(row)
    keys = sorted(kinds)
    return [rng.choice(kinds[rng.choice(keys)]) for _ in range(n)] if keys else []


def fits(forerun, question, strategy):
    args = [forerun, "simulate", *question, "-s", strategy, "-q", "--no-advice"]
    return run(args).returncode == 0


def number_of(found, name):
    return float(found[name])


def ask(forerun, question, row, out, taken, out_of_memory):
    """Appends to taken, or to out_of_memory whether it fits op by op all the same."""
    rows, why = search(forerun, question, [*fixed(row), "--top", "1"], out)
    found = [f for f in rows or [] if f["strategy"] == row["strategy"]]
    if not found:
        print("?", why, row["strategy"], file=sys.stderr)
        return
    found = found[0]
    if found["iteration_s"]:
        taken.append({"question": " ".join(question), "layout": row["strategy"],
                      "schedule": row["schedule"], "zero": row["zero"],
                      "recompute": row["recompute"], "coarse": number_of(found, "coarse_s"),
                      "exact": number_of(found, "iteration_s"),
                      "coarse_bytes": number_of(found, "coarse_bytes"),
                      "exact_bytes": number_of(found, "peak_bytes")})
    elif found["over_bytes"]:
        is_wrong = not found["peak_bytes"] and fits(forerun, question, row["strategy"])
        out_of_memory.append((is_wrong, " ".join(question), row["strategy"], found["reason"]))


def tau(rows):
    agree = differ = 0
    for one, other in itertools.combinations(rows, 2):
        if one["question"] != other["question"]:
            continue
        sign = (one["coarse"] - other["coarse"]) * (one["exact"] - other["exact"])
        agree, differ = agree + (sign > 0), differ + (sign < 0)
    return (agree - differ) / max(1, agree + differ)


def say(what, differences):
    sizes = sorted(abs(d) for d in differences)
    print(f"{what}: median {100 * statistics.median(sizes):.2f} %, nine of ten within "
          f"{100 * sizes[int(0.9 * (len(sizes) - 1))]:.2f} %, all within {100 * sizes[-1]:.2f} % "
          f"({100 * min(differences):+.2f} to {100 * max(differences):+.2f} %)")


def say_worst(taken, times, sizes):
    for name, key in (("time", times), ("memory", sizes)):
        print(f"worst in {name}")
        for d, t in sorted(zip(key, taken), key=lambda x: -abs(x[0]))[:15]:
            print(f"    {100 * d:+.1f} %  {t['layout']}  {t['question']}")
        for kind in ("schedule", "zero", "recompute"):
            of = collections.defaultdict(list)
            for d, t in zip(key, taken):
                of[t[kind]].append(abs(d))
            print(f"median, most and number by {kind}: " + ", ".join(
                f"{k} {100 * statistics.median(v):.1f} {100 * max(v):.1f} % of {len(v)}"
                for k, v in sorted(of.items())))


def report(taken, out_of_memory, is_verbose):
    times = [t["coarse"] / t["exact"] - 1 for t in taken]
    sizes = [t["coarse_bytes"] / t["exact_bytes"] - 1 for t in taken]
    wrong = [o for o in out_of_memory if o[0]]
    print(f"{len(taken)} layouts of {len({t['question'] for t in taken})} questions")
    say("time", times)
    print(f"order of times: tau {tau(taken):.3f}")
    say("memory", sizes)
    print(f"{len(out_of_memory)} more do not fit; {len(wrong)} were excluded, and fit op by op")
    for _, question, layout, reason in wrong:
        print(f"    {question}\n        {layout}: {reason}")
    if is_verbose:
        say_worst(taken, times, sizes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("forerun")
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-o", "--output")
    parser.add_argument("-v", "--verbose", action="store_true")
    o = parser.parse_args()
    rng = random.Random(o.seed)
    taken, out_of_memory = [], []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "space.csv")
        while len(taken) < o.n:
            question = draw_question(rng)
            for row in draw_layouts(rng, o.forerun, question, 20, out):
                if len(taken) < o.n:
                    ask(o.forerun, question, row, out, taken, out_of_memory)
    report(taken, out_of_memory, o.verbose)
    if o.output:
        with open(o.output, "w", newline="", encoding="utf-8") as f:
            w = csv.DictWriter(f, taken[0])
            w.writeheader()
            w.writerows(taken)


if __name__ == "__main__":
    main()
