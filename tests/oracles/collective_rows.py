#!/usr/bin/env python3
"""tests/oracles/collective_rows.py FORERUN MICROBENCH [--factors] - measured collectives beside ours.

Reads MICROBENCH/collectives.csv (doc/calibration.md) and prints, as tables for doc/evidence/steps.md:

  held out       rows that no fit of a shipped system saw, of the systems that were fitted
  in no fit      systems that no shipped system was fitted to, as `forerun comm` answers for them
  left out       the simulated time of each system's rows times the factors of measured.c, made anew
                 without that system (steps by NCCL's choice; the fits play no part)
  rings          bus bandwidth of large all-reduces inside a machine
  published      tables of nccl-tests in MICROBENCH/../nccl/busbw.csv that were never looked at for a
                 fit, as `forerun comm` answers for them

A factor is a pair: on latencies (starts and hops), and on what the bytes take. Both are fitted to
each system's rows of a class, on the mean of |ln(simulated / measured)|; the median over systems counts.

Of Vidur's rows the least time in the notes counts, but among the held-out ones: the fit took medians.
--factors prints the table of collectives/nccl/measured.c instead.

Which rows count, and on which topology. A system runs on the preset of its board (H20 as H100, B300
as B200, GB300 as GB200: the same NVLinks), over nodes on the network that its source names. Passed over: custom kernels, rows of an algorithm or a protocol by hand but where the
source only reports what NCCL took, systems whose machine is not stated or has no preset, rows without
a time or a byte. Of several sources of a system the one with most rows; of Alps the default
environment with aws-ofi-nccl 1.13.0. dgx_a100_x2_812 and koordinator_2pods_roce_vf were posted as
too slow, and are left out. In a factor's median counts a system with at least LEAST_ROWS rows of
the class, or all where no system has as many.
"""
import collections
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

TOPOLOGY = {
    "aic_a100_sxm": "dgx-a100-80g", "vtrain_a100": "dgx-a100-80g", "vidur_a100_dgx": "dgx-a100-80g",
    "aic_h100_sxm": "hgx-h100", "vidur_h100_dgx": "hgx-h100", "h20_x8": "hgx-h100",
    "aic_b200_sxm": "hgx-b200", "aic_b300_sxm": "hgx-b200", "vultr_hgx_b200": "hgx-b200",
    "aic_gb200": "gb200-nvl72", "aic_gb300": "gb200-nvl72", "vtrain_v100": "dgx1-v100",
    "alps_gh200": "gh200-quad",
    "nebius_8gpu_ib": "hgx-h100 via ib:400Gbps", "h100x16_ib8x400": "hgx-h100 via ib:400Gbps",
    "h20_x16_ib": "hgx-h100 via ib:400Gbps", "oci_bm_gpu4_8": "dgx-a100-40g via roce:200Gbps",
    "k8s_2x8_ib": "dgx-a100-80g via ib:200Gbps", "aws_p3dn": "p3.16xlarge via eth:100Gbps",
}
# the shipped system that was fitted to a system's rows, and over nodes
FITTED = {"aic_a100_sxm": "a100-nvswitch", "aic_h100_sxm": "h100-nvswitch",
          "aic_b200_sxm": "b200-nvswitch", "aic_gb200": "gb200-nvswitch", "vidur_a100_dgx": "a100-dgx",
          "vultr_hgx_b200": "b200-infiniband", "alps_gh200": "gh200-slingshot"}
# what measured.c tells apart
GENERATION = {"dgx1-v100": "Volta", "p3.16xlarge": "Volta", "hgx-h100": "Hopper",
              "gh200-quad": "Hopper", "hgx-b200": "Blackwell", "gb200-nvl72": "Blackwell"}
# The NCCL that a source ran, where its times tell: LL up to 1 MiB and then Simple, so before LL128
# went over C2C (2.27)
VERSION = {"gh200-quad": "2.23"}
# GB/s of a GPU's memory, as the presets have it
MEMORY = {"Volta": 900, "Ampere": 2039, "Hopper": 3350, "Blackwell": 8000}
# NCCL's names and ours
NAMES = {"Ring": "ring", "Tree": "tree", "NVLS": "nvls", "NVLSTree": "nvls", "PAT": "pat"}
OPS = {"all_reduce": "all-reduce", "all_gather": "all-gather", "alltoall": "all-to-all",
       "reduce_scatter": "reduce-scatter"}
TYPES = {"float32": "float", "float16": "half", "bfloat16": "bfloat16", "int8": "int8",
         "uint8": "uint8"}
# of busbw.csv: systems whose board and network are stated and have a preset
PUBLISHED = {
    "oci_bm_gpu4_2x8": "2x dgx-a100-40g via roce:200Gbps", "dgx_a100_first4of8": "dgx-a100-80g",
    "hgx_h100_8": "hgx-h100", "nebius_k8s_2x8": "2x hgx-h100 via ib:400Gbps",
    "nebius_vm_2x8": "2x hgx-h100 via ib:400Gbps", "aws_p5_2x8": "2x hgx-h100 via eth:400Gbps",
    "gb300_oci_4": "gb200-nvl72", "gb300_oci_8": "gb200-nvl72", "gb300_oci_64": "gb200-nvl72",
    "gb300_oci_128": "2x gb200-nvl72",
}
LEAST_ROWS = 5  # of a system that speak of a factor, to count in it
AS_REPORTED = {"h20_x16_ib", "vtrain_v100", "vtrain_a100"}


def least_us(r):
    """Vidur prints medians that jump by a factor for small sizes; its notes keep the least."""
    least = re.search(r"min_us=([0-9.]+)", r["notes"])
    return float(least.group(1)) if least else float(r["time_us"])


def is_alps_default(r):
    return "1.13.0" in r["notes"] and "default" in r["notes"]


def read_rows(path):
    """Rows by rule, those of each system's main source."""
    by_system = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, newline="") as f:
        for r in csv.DictReader(f):
            s = r["system"]
            if s not in TOPOLOGY or r["op"] not in OPS or not r["time_us"]:
                continue
            if (r["algorithm"], r["protocol"]) != ("auto", "auto") and s not in AS_REPORTED:
                continue
            if s == "alps_gh200" and not is_alps_default(r):
                continue
            if s == "vidur_a100_dgx" and r["nodes"] != "1":
                continue  # which network it was is not stated
            nodes, size = int(r["nodes"]), int(float(r["bytes"]))
            topology = TOPOLOGY[s] if nodes == 1 else "%dx %s" % (nodes, TOPOLOGY[s])
            if size < 1 or r["dtype"] not in TYPES:
                continue
            source = "all" if s.startswith(("vtrain", "vidur")) else r["source"]
            by_system[s][source].append({
                "system": s, "topology": topology, "nodes": nodes, "gpus": int(r["gpus"]),
                "op": OPS[r["op"]], "dtype": TYPES[r["dtype"]], "bytes": size,
                "measured": least_us(r),
                "generation": GENERATION.get(TOPOLOGY[s].split(" via")[0], "Ampere")})
    rows = []
    for sources in by_system.values():
        rows += max(sources.values(), key=len)
    return rows


def comm(forerun, topology, gpus, op, dtype, sizes, extra):
    """The results of forerun comm by size."""
    version = VERSION.get(topology.split("x ")[-1])
    if version:
        extra = extra + ["--nccl-version", version]
    out = subprocess.run(
        [forerun, "comm", op, "-t", topology, "-g", str(gpus), "-d", dtype, "--json",
         "--sizes", ",".join(map(str, sizes))] + extra,
        check=True, capture_output=True, text=True).stdout
    return {x["size_bytes"]: x for x in json.loads(out)["results"]}


def ask_latency(forerun, rows):
    """Sets row["latency"], what next to nothing takes in the same way, and row["own"], what a GPU
    moves inside its memory (measured.c), both in us."""
    known = {}
    for r in rows:
        key = (r["topology"], r["gpus"], r["op"], r["algorithm"], r["protocol"])
        if key not in known:
            way = ["--collective-algorithm", NAMES.get(r["algorithm"], "nccl")]
            if r["protocol"] != "-":
                way += ["--protocol", r["protocol"]]
            size = 8 * r["gpus"]
            known[key] = comm(forerun, r["topology"], r["gpus"], r["op"], "float", [size],
                              way + ["--costs", "datasheet"])[size]["time_us"]
        r["latency"] = min(known[key], r["raw"])
        is_moved = r["op"] == "all-to-all" or (r["algorithm"], r["protocol"]) == ("Ring", "Simple")
        rate = min(MEMORY[r["generation"]] / 4, 900) * 1e3
        r["own"] = r["bytes"] / r["gpus"] / rate if is_moved else 0


def ask(forerun, rows, key, extra):
    """Sets row[key] to what forerun comm answers, and the algorithm that NCCL would take."""
    groups = collections.defaultdict(list)
    for r in rows:
        groups[(r["topology"], r["gpus"], r["op"], r["dtype"])].append(r)
    for (topology, gpus, op, dtype), group in sorted(groups.items()):
        sizes = sorted({r["bytes"] for r in group})
        found = {}
        for i in range(0, len(sizes), 400):
            found.update(comm(forerun, topology, gpus, op, dtype, sizes[i:i + 400], extra))
        for r in group:
            x = found[r["bytes"]]
            r[key] = x["time_us"]
            r[key + "_by"] = x["source"]
            r["algorithm"] = x["algorithm"] or "p2p"
            r["protocol"] = x["protocol"] or "-"


def quantile(values, q):
    v = sorted(values)
    at = q * (len(v) - 1)
    low = int(at)
    return v[low] + (at - low) * (v[min(low + 1, len(v) - 1)] - v[low])


def figures(pairs):
    """n, median, p90 of |predicted / measured - 1|, and the median signed, in per cent."""
    e = [100 * (p / m - 1) for p, m in pairs]
    return (len(e), quantile([abs(x) for x in e], .5), quantile([abs(x) for x in e], .9),
            quantile(e, .5))


def line(name, pairs, aim=""):
    print("| %s | %d | %.1f %% | %.1f %% | %+.1f %% | %s |" % ((name,) + figures(pairs) + (aim,)))


def header(title, first):
    print("\n%s\n\n| %s | rows | median | p90 | bias | aim |\n|---|---|---|---|---|---|" %
          (title, first))


def algorithm_class(r):
    if r["op"] == "all-to-all":
        return "pairs"
    return "NVLS" if r["algorithm"].startswith("NVLS") else r["algorithm"]


def classes(r):
    """What measured.c has a factor for: the class of the latencies, and of the bytes. Only Hopper
    stands apart by LL and LL128. Over nodes few systems are at hand, and rings and trees count
    together."""
    a = algorithm_class(r)
    protocol = "-" if a == "pairs" else r["protocol"]
    if r["nodes"] == 1:
        g = r["generation"]
        if protocol.startswith("LL") and g != "Hopper":
            g = "others"
        return (g, a, protocol), (g, a, protocol)
    together = ("nodes", a if a in ("NVLS", "pairs") else "any", protocol)
    return together, together


def with_factors(r, latency, by_bytes):
    return latency * r["latency"] + by_bytes * (r["raw"] - r["latency"]) + r["own"]


def fit_factors(rows):
    """(latency, bytes) of the least mean |ln(simulated / measured)|, on a grid of 5 %; drawn to 1
    where the rows say nothing."""
    steps = [1.05 ** i for i in range(-14, 29)]  # 0.5 to 3.9

    def miss(latency, by_bytes):
        pull = .02 * (abs(math.log(latency)) + abs(math.log(by_bytes)))
        return pull + sum(abs(math.log(with_factors(r, latency, by_bytes) / r["measured"]))
                          for r in rows) / len(rows)
    best = min((miss(f, b), f, b) for f in steps[::4] for b in steps[::4])
    near = [(f, b) for f in steps for b in steps
            if abs(math.log(f / best[1])) < .25 and abs(math.log(b / best[2])) < .25]
    return min((miss(f, b), f, b) for f, b in near)[1:]


def fit_systems(rows):
    """[(system, class of latencies, class of bytes, rows, factors)]; rows: how many speak of either
    factor, because a tenth of their time or more goes by it."""
    groups = collections.defaultdict(list)
    for r in rows:
        groups[(r["system"],) + classes(r)].append(r)
    return [key + ((sum(r["latency"] > .1 * r["raw"] for r in some),
                    sum(r["latency"] < .9 * r["raw"] for r in some)), fit_factors(some))
            for key, some in sorted(groups.items())]


def factors_without(fits, left_out):
    """Medians over systems, by ("latency" or "bytes", class); and over all generations."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for system, of_latency, of_bytes, rows, factors in fits:
        if system == left_out:
            continue
        keys = of_latency, of_bytes
        for kind, key, n, factor in zip(("latency", "bytes"), keys, rows, factors):
            if n == 0:
                continue
            found[(kind,) + key][system].append((n, factor))
            if key[0] != "nodes":
                found[(kind, "any") + key[1:]][system].append((n, factor))
    out = {}
    for key, systems in found.items():
        means = [(sum(n for n, _ in x), sum(n * f for n, f in x) / sum(n for n, _ in x))
                 for x in systems.values()]
        enough = [f for n, f in means if n >= LEAST_ROWS]
        out[key] = quantile(enough or [f for _, f in means], .5)
    return out


def predict_left_out(factors, r):
    def find(key):
        other = factors.get((key[0], "any") + key[2:], 1) if key[1] != "nodes" else 1
        return factors.get(key, other)
    of_latency, of_bytes = classes(r)
    return with_factors(r, find(("latency",) + of_latency), find(("bytes",) + of_bytes))


def held_out(forerun, data, known):
    """Rows of the shipped systems' fits that were held out: pairs by place and operation, system,
    and the algorithm that NCCL takes where one of the known rows says so."""
    pairs = collections.defaultdict(list)
    taken = {(FITTED[r["system"]], r["op"], r["gpus"], r["nodes"], r["bytes"]): r["algorithm"]
             for r in known if r["system"] in FITTED}
    with tempfile.TemporaryDirectory() as d:
        rows = d + "/rows.csv"
        alps = d + "/alps.csv"  # as calibrate/fit/refit.sh takes them
        with open(data, newline="") as f, open(alps, "w", newline="") as out:
            reader = csv.DictReader(f)
            writer = csv.DictWriter(out, reader.fieldnames)
            writer.writeheader()
            writer.writerows(r for r in reader
                             if r["system"] == "alps_gh200" and is_alps_default(r))
        for system in sorted(set(FITTED.values())):
            subprocess.run([forerun, "calibrate", "check",
                            alps if system == "gh200-slingshot" else data, "--system", system,
                            "-o", rows], check=True, capture_output=True)
            with open(rows, newline="") as f:
                for r in csv.DictReader(f):
                    where = "over nodes" if r["class"].endswith(", nodes") else "in one node"
                    pair = (float(r["predicted_s"]), float(r["measured_s"]))
                    op = r["class"].split(",")[0]
                    key = (system, op, int(r["gpus"]), int(r["nodes"]), int(float(r["bytes"])))
                    for group in ("all", op, system, taken.get(key, "algorithm not known")):
                        pairs[(where, group)].append(pair)
    return pairs


def read_published(path):
    with open(path, newline="") as f:
        found = [r for r in csv.DictReader(f) if r["system"] in PUBLISHED and r["time_us"]]
    return [{"system": r["system"], "topology": PUBLISHED[r["system"]], "gpus": int(r["gpus"]),
             "nodes": 2 if PUBLISHED[r["system"]].startswith("2x") else 1,
             "op": r["op"].replace("_", "-"), "dtype": "float", "bytes": int(r["bytes"]),
             "measured": float(r["time_us"])} for r in found]


def print_published(forerun, path):
    rows = read_published(path)
    # of two racks as many GPUs of each, which --spread takes
    ask(forerun, rows, "answer", ["--spread"])
    header("Published tables that no fit has seen, as `forerun comm` answers", "systems")
    for one in (True, False):
        some = [r for r in rows if (r["nodes"] == 1) == one]
        where = "in one node" if one else "over nodes"
        line("all " + where, [(r["answer"], r["measured"]) for r in some])
        for name in sorted({r["system"] + ", " + r["op"] for r in some}):
            line(where + ", " + name, [(r["answer"], r["measured"]) for r in some
                                       if r["system"] + ", " + r["op"] == name])


def main():
    forerun, microbench = sys.argv[1], sys.argv[2]
    data = microbench + "/collectives.csv"
    rows = read_rows(data)
    ask(forerun, rows, "raw", ["--collective-algorithm", "nccl", "--costs", "datasheet"])
    ask_latency(forerun, rows)
    fits = fit_systems(rows)
    if "--factors" in sys.argv:
        for system, of_latency, of_bytes, n, factors in fits:
            for kind, key, i in (("latency", of_latency, 0), ("bytes", of_bytes, 1)):
                print("%-16s %-8s %-10s %-6s %-7s %4d rows %.2f" %
                      ((system, kind) + key + (n[i], factors[i])))
        for c, f in sorted(factors_without(fits, None).items()):
            print("%-8s %-10s %-6s %-7s %.2f" % (c + (f,)))
        return
    ask(forerun, rows, "answer", [])
    print("%d rows of %d systems" % (len(rows), len({r["system"] for r in rows})))

    header("Held-out rows of the systems that were fitted", "where")
    aims = {"in one node": "5 / 18", "over nodes": "14 / 45"}
    for (where, op), pairs in sorted(held_out(forerun, data, rows).items(),
                                     key=lambda x: (x[0][0], x[0][1] != "all", x[0][1])):
        name = "all " + where if op == "all" else where + ", " + op
        line(name, pairs, aims[where] if op == "all" else "")

    no_fit = [r for r in rows if r["system"] not in FITTED]
    header("Systems that are in no fit, as `forerun comm` answers", "systems")
    aims = {True: "12 / 35", False: "25 / 60"}
    for one in (True, False):
        some = [r for r in no_fit if (r["nodes"] == 1) == one]
        where = "in one node" if one else "over nodes"
        line("all " + where, [(r["answer"], r["measured"]) for r in some], aims[one])
        for kind in ("system", "algorithm"):
            for name in sorted({r[kind] for r in some}):
                line(where + ", " + name,
                     [(r["answer"], r["measured"]) for r in some if r[kind] == name])

    header("Each system left out of the factors: simulated by NCCL's choice", "systems")
    for system in sorted({r["system"] for r in rows}):
        factors = factors_without(fits, system)
        for r in rows:
            if r["system"] == system:
                r["left"] = predict_left_out(factors, r)
    for one in (True, False):
        some = [r for r in rows if (r["nodes"] == 1) == one]
        where = "in one node" if one else "over nodes"
        line("all " + where, [(r["left"], r["measured"]) for r in some], aims[one])
        line("all %s, without the factors" % where, [(r["raw"], r["measured"]) for r in some])
        for kind in ("system", "algorithm"):
            for name in sorted({r[kind] for r in some}):
                line(where + ", " + name,
                     [(r["left"], r["measured"]) for r in some if r[kind] == name])

    published = microbench + "/../nccl/busbw.csv"
    if os.path.exists(published):
        print_published(forerun, published)

    print("\nAll-reduces of at least 256 MiB inside a machine, bus bandwidth in GB/s, median\n")
    print("| system | GPUs | measured | links alone | as answered | off |\n|---|---|---|---|---|---|")
    for key in sorted({(r["system"], r["gpus"]) for r in rows if r["nodes"] == 1}):
        some = [r for r in rows if (r["system"], r["gpus"]) == key and r["op"] == "all-reduce" and
                r["nodes"] == 1 and r["bytes"] >= 1 << 28]
        if not some:
            continue
        n = key[1]
        bus = [quantile([2 * (n - 1) / n * r["bytes"] / r[k] / 1e3 for r in some], .5)
               for k in ("measured", "raw", "answer")]
        print("| %s | %d | %.1f | %.1f | %.1f | %+.0f %% |" %
              (key[0], n, bus[0], bus[1], bus[2], 100 * (bus[2] / bus[0] - 1)))


main()
