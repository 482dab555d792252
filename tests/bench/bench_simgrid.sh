#!/bin/sh
# Runs SimGrid on the jobs of bench_flows and bench_engine; prints one line a job with its CPU time.
# Build first: make tests/bench/simgrid_flows tests/bench/simgrid_dag tests/bench/simgrid_ring
# usage: bench_simgrid.sh [all]     all: also the 10 000 flows at once, about 40 s
set -eu
here=$(dirname "$0")
bin=${BUILD_DIR:-.}/tests/bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

python3 "$here/../oracles/gen_simgrid.py" bench "$dir"
cd "$dir"
case $bin in
/*) ;;
*) bin=$OLDPWD/$bin ;;
esac
run() {
    program=$1
    shift
    "$bin/simgrid_$program" "$@" --log=root.thres:warning
}
sizes="f100 f1000 arriving_f10000"
[ "${1:-}" = all ] && sizes="$sizes f10000"
for s in $sizes; do
    run flows ft256.xml "flows_$s.flows.csv"
done
run ring ft512.xml 1e8
run ring star512.xml 1e8
for n in 1000 10000 100000; do
    run dag star8.xml "dag_n${n}_g8.tasks.csv" "dag_n${n}_g8.edges.csv"
    run dag ft64.xml "dag_n${n}_g64.tasks.csv" "dag_n${n}_g64.edges.csv"
done
