#!/usr/bin/env python3
"""Makes the platforms and jobs on which SimGrid and Forerun are compared.

usage: gen_simgrid.py golden OUTDIR   the small cases kept in tests/golden/simgrid
       gen_simgrid.py bench OUTDIR    the jobs of tests/bench/bench_simgrid.sh and bench_flows.c

Draws from its own generator, so that the files depend on no Python version.
Units: seconds, bytes, flops; a host does 1e9 flops a second, a link direction 12.5e9 bytes.
"""
import os
import sys

LINK_BPS = 12.5e9
MASK = 2**64 - 1


class Random:
    """64-bit linear congruential generator with a mixed output."""

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 + 1) & MASK

    def draw(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & MASK
        x = self.state ^ (self.state >> 33)
        x = (x * 0xFF51AFD7ED558CCD) & MASK
        x ^= x >> 33
        return (x >> 11) / float(1 << 53)

    def below(self, n):
        return int(self.draw() * n)


def write_cluster(path, n, latency_s, topology):
    with open(path, "w") as f:
        f.write(
            "<?xml version='1.0'?>\n"
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            '<platform version="4.1">\n'
            f'  <cluster id="c" prefix="h" suffix="" radical="0-{n - 1}" speed="1Gf" '
            f'bw="{LINK_BPS:.0f}Bps" lat="{latency_s}s" sharing_policy="SPLITDUPLEX" '
            f'loopback_bw="1000GBps" loopback_lat="0"{topology}/>\n'
            "</platform>\n"
        )


def write_star(out, n):
    write_cluster(os.path.join(out, f"star{n}.xml"), n, "1e-6", "")


def write_fat_tree(out, leaves, per_leaf, spines):
    n = leaves * per_leaf
    topology = f' topology="FAT_TREE" topo_parameters="2;{per_leaf},{leaves};1,{spines};1,1"'
    write_cluster(os.path.join(out, f"ft{n}.xml"), n, "0", topology)


def write_dag(out, n, hosts):
    """Layers of 2 x hosts tasks of 50..500 us; each takes 0.1..2 MB from two random tasks of the
    layer before. Edges of 0 bytes keep the tasks of a host in order."""
    rng = Random(n + hosts)
    width = 2 * hosts
    stem = os.path.join(out, f"dag_n{n}_g{hosts}")
    host = [0] * n
    with open(stem + ".tasks.csv", "w") as f:
        f.write("id,flops,host\n")
        for t in range(n):
            host[t] = rng.below(hosts)
            f.write(f"{t},{50000 + rng.below(450000)},{host[t]}\n")
    last = [-1] * hosts
    with open(stem + ".edges.csv", "w") as f:
        f.write("src,dst,bytes\n")
        for t in range(n):
            seen = set()
            before = last[host[t]]
            if before >= 0:
                seen.add(before)
                f.write(f"{before},{t},0\n")
            last[host[t]] = t
            layer = t // width
            for _ in range(2 if layer else 0):
                s = (layer - 1) * width + rng.below(width)
                size = 100000 + rng.below(1900000)
                if s in seen:
                    continue
                seen.add(s)
                f.write(f"{s},{t},{0 if host[s] == host[t] else size}\n")


def write_flows(out, name, n, hosts, seed, span_s):
    """Random pairs, 1..64 MB, starting at 0 or at random within span_s."""
    rng = Random(seed)
    starts = [0.0] * n
    if span_s:
        starts = sorted(rng.below(10**9) * 1e-9 * span_s for _ in range(n))
    with open(os.path.join(out, name + ".flows.csv"), "w") as f:
        f.write("id,start,src,dst,bytes\n")
        for k in range(n):
            src = rng.below(hosts)
            dst = rng.below(hosts - 1)
            dst += dst >= src
            f.write(f"{k},{starts[k]:.9f},{src},{dst},{1000000 + rng.below(63000000)}\n")


def golden(out):
    write_star(out, 8)
    write_fat_tree(out, 8, 8, 4)
    write_dag(out, 200, 8)
    write_dag(out, 200, 64)
    write_flows(out, "flows_f60", 60, 64, 60, 0)


def bench(out):
    for n in (8, 512):
        write_star(out, n)
    write_fat_tree(out, 8, 8, 4)
    write_fat_tree(out, 16, 16, 8)
    write_fat_tree(out, 32, 16, 16)
    for n in (1000, 10000, 100000):
        for hosts in (8, 64):
            write_dag(out, n, hosts)
    for n in (100, 1000, 10000):
        write_flows(out, f"flows_f{n}", n, 256, n, 0)
    write_flows(out, "flows_arriving_f10000", 10000, 256, 77, 0.6)


def main():
    kinds = {"golden": golden, "bench": bench}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    kinds[sys.argv[1]](sys.argv[2])


if __name__ == "__main__":
    main()
