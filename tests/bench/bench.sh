#!/bin/sh
# Prints the table of benchmarks, SimGrid's CPU time beside ours where its drivers are built.
# usage: bench.sh BUILDDIR SRCDIR [all]    (make bench; all: SimGrid's 40 s job too)
set -eu
build=$1
src=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
python3 "$src/tests/oracles/gen_simgrid.py" bench "$work"
if [ -x "$build/tests/bench/simgrid_dag" ]; then
    BUILD_DIR=$build sh "$src/tests/bench/bench_simgrid.sh" ${3:+"$3"} >"$work/simgrid.txt" 2>/dev/null
else
    echo "# libsimgrid-dev is not installed: no comparison"
    : >"$work/simgrid.txt"
fi
"$build/tests/bench/bench_engine" "$work" "$work/simgrid.txt"
"$build/tests/bench/bench_sweep"
"$build/tests/bench/bench_load"
"$build/tests/bench/bench_costs"
"$build/tests/bench/bench_dpos"
"$build/tests/bench/bench_optimum"
"$build/tests/bench/bench_pipedream"
"$build/tests/bench/bench_schedules"
"$build/tests/bench/bench_hybrid"
"$build/tests/bench/bench_collectives"
