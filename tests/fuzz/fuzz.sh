#!/bin/sh
# tests/fuzz/fuzz.sh SECONDS BUILD - runs each fuzz target of a build (configure --enable-fuzz) that
# long, from the seeds in tests/fuzz/corpus/TARGET/ when there are some.
set -eu
seconds=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
for target in "$build"/tests/fuzz/fuzz_*; do
    name=$(basename "$target")
    case $name in *.*) continue ;; esac
    if [ ! -x "$target" ] || [ ! -f "$target" ]; then continue; fi
    mkdir "$work/$name"
    set -- "$work/$name"
    [ ! -d "$here/corpus/$name" ] || set -- "$@" "$here/corpus/$name"
    echo "== $name"
    "$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$work/" "$@" 2>&1 | tail -n 25 >"$work/$name.out" || true
    grep -q '^Done [0-9]* runs' "$work/$name.out" || {
        cat "$work/$name.out"
        for input in "$work"/crash-* "$work"/timeout-* "$work"/oom-* "$work"/leak-*; do
            [ ! -e "$input" ] || { echo "$input:" && od -c "$input" | head -n 40; }
        done
        exit 1
    }
    grep '^Done' "$work/$name.out"
    n=$((n + 1))
done
[ "$n" -gt 0 ] || { echo "no fuzz targets in $build" && exit 1; }
echo "$n passed, 0 failed"
