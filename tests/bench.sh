#!/bin/sh
# Prints the table of benchmarks, SimGrid's CPU time beside ours where its drivers are built.
# usage: bench.sh BUILDDIR SRCDIR [all]    (make bench; all: SimGrid's 40 s job too)
set -eu
build=$1
src=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
python3 "$src/tests/gen_simgrid.py" bench "$work"
if [ -x "$build/tests/simgrid_dag" ]; then
    BUILD_DIR=$build sh "$src/tests/bench_simgrid.sh" ${3:+"$3"} >"$work/simgrid.txt" 2>/dev/null
else
    echo "# libsimgrid-dev is not installed: no comparison"
    : >"$work/simgrid.txt"
fi
"$build/tests/bench_engine" "$work" "$work/simgrid.txt"
"$build/tests/bench_sweep"
"$build/tests/bench_costs"
"$build/tests/bench_dpos"
