#!/usr/bin/env python3
"""tests/oracles/collective_rows.py FORERUN MICROBENCH [--factors] - measured collectives beside ours.

Reads MICROBENCH/collectives.csv (doc/calibration.md) and prints, as tables for doc/measured-steps.md:

  held out       rows that no fit of a shipped system saw, of the systems that were fitted
  in no fit      systems that no shipped system was fitted to, as `forerun comm` answers for them
  left out       the simulated time of each system's rows times the factors of measured.c, made anew
                 without that system (steps by NCCL's choice; the fits play no part)
  rings          bus bandwidth of large all-reduces inside a machine

Of Vidur's rows the least time in the notes counts, but among the held-out ones: the fit took medians.
--factors prints the table of sim/collectives/nccl/measured.c instead.

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
GENERATION = {"dgx1-v100": "V100", "p3.16xlarge": "V100", "hgx-h100": "Hopper",
              "gh200-quad": "Hopper"}
OPS = {"all_reduce": "all-reduce", "all_gather": "all-gather", "alltoall": "all-to-all",
       "reduce_scatter": "reduce-scatter"}
TYPES = {"float32": "float", "float16": "half", "bfloat16": "bfloat16", "int8": "int8"}
LEAST_ROWS = 8  # of a system in a class, to count in its factor
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
                "generation": GENERATION.get(TOPOLOGY[s].split(" via")[0], "others")})
    rows = []
    for sources in by_system.values():
        rows += max(sources.values(), key=len)
    return rows


def ask(forerun, rows, key, extra):
    """Sets row[key] to what forerun comm answers, and the algorithm that NCCL would take."""
    groups = collections.defaultdict(list)
    for r in rows:
        groups[(r["topology"], r["gpus"], r["op"], r["dtype"])].append(r)
    for (topology, gpus, op, dtype), group in sorted(groups.items()):
        sizes = sorted({r["bytes"] for r in group})
        found = {}
        for i in range(0, len(sizes), 400):
            out = subprocess.run(
                [forerun, "comm", op, "-t", topology, "-g", str(gpus), "-d", dtype, "--json",
                 "--sizes", ",".join(map(str, sizes[i:i + 400]))] + extra,
                check=True, capture_output=True, text=True).stdout
            found.update({x["size_bytes"]: x for x in json.loads(out)["results"]})
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


def factor_class(r):
    """What measured.c has a factor for; None: nothing."""
    if r["op"] == "all-to-all":
        return None
    nvls = r["algorithm"].startswith("NVLS")
    if r["nodes"] == 1:
        return (r["generation"], "NVLS" if nvls else r["protocol"])
    if nvls:
        return ("nodes", "NVLS")
    if r["protocol"] == "Simple":
        return ("nodes", "Simple")
    return ("nodes", r["algorithm"] + " " + r["protocol"])


def factors_without(rows, left_out):
    """Median over systems of each system's median of measured over simulated time, by class; and
    over all generations."""
    ratios = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in rows:
        c = factor_class(r)
        if r["system"] == left_out or c is None:
            continue
        ratio = r["measured"] / r["raw"]
        ratios[c][r["system"]].append(ratio)
        if c[0] != "nodes":
            ratios[("any", c[1])][r["system"]].append(ratio)
    out = {}
    for c, systems in ratios.items():
        medians = [quantile(x, .5) for x in systems.values() if len(x) >= LEAST_ROWS]
        out[c] = quantile(medians or [quantile(x, .5) for x in systems.values()], .5)
    out[("nodes", "Ring LL")] = 1  # one system alone agrees with itself
    return out


def factor_of(factors, r):
    c = factor_class(r)
    if c is None:
        return 1
    return factors.get(c, factors.get(("any", c[1]), 1))


def held_out(forerun, data):
    """Rows of the shipped systems' fits that were held out: pairs by place and operation."""
    pairs = collections.defaultdict(list)
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
                    for group in ("all", r["class"].split(",")[0], system):
                        pairs[(where, group)].append(pair)
    return pairs


def main():
    forerun, microbench = sys.argv[1], sys.argv[2]
    data = microbench + "/collectives.csv"
    rows = read_rows(data)
    ask(forerun, rows, "raw", ["--collective-algorithm", "nccl", "--costs", "datasheet"])
    if "--factors" in sys.argv:
        for c, f in sorted(factors_without(rows, None).items()):
            print("%-10s %-10s %.2f" % (c + (f,)))
        return
    ask(forerun, rows, "answer", [])
    print("%d rows of %d systems" % (len(rows), len({r["system"] for r in rows})))

    header("Held-out rows of the systems that were fitted", "where")
    aims = {"in one node": "5 / 18", "over nodes": "14 / 45"}
    for (where, op), pairs in sorted(held_out(forerun, data).items(),
                                     key=lambda x: (x[0][0], x[0][1] != "all", x[0][1])):
        line(where + ", " + op, pairs, aims[where] if op == "all" else "")

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
    for r in rows:
        r["left"] = None
    for system in sorted({r["system"] for r in rows}):
        factors = factors_without(rows, system)
        for r in rows:
            if r["system"] == system:
                r["left"] = r["raw"] * factor_of(factors, r)
    for one in (True, False):
        some = [r for r in rows if (r["nodes"] == 1) == one and factor_class(r)]
        where = "in one node" if one else "over nodes"
        line("all " + where, [(r["left"], r["measured"]) for r in some], aims[one])
        line("all %s, without the factors" % where, [(r["raw"], r["measured"]) for r in some])
        for kind in ("system", "algorithm"):
            for name in sorted({r[kind] for r in some}):
                line(where + ", " + name,
                     [(r["left"], r["measured"]) for r in some if r[kind] == name])

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
