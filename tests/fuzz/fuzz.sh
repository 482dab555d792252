#!/bin/sh
# tests/fuzz/fuzz.sh SECONDS BUILD [TARGET] - runs each fuzz target of a build (configure
# --enable-fuzz) that long, one on each core, from the seeds in tests/fuzz/corpus/NAME/ when there
# are some; with TARGET, a program, only that one.
set -eu
seconds=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)

run_target() {
    target=$1
    name=$(basename "$target")
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/found"
    set -- "$work/found"
    [ ! -d "$here/corpus/$name" ] || set -- "$@" "$here/corpus/$name"
    "$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$work/" "$@" 2>&1 | tail -n 25 >"$work/out" || true
    if ! grep -q '^Done [0-9]* runs' "$work/out"; then
        echo "== $name fails"
        cat "$work/out"
        for input in "$work"/crash-* "$work"/timeout-* "$work"/oom-* "$work"/leak-*; do
            [ ! -e "$input" ] || { echo "$input:" && od -c "$input" | head -n 40; }
        done
        return 1
    fi
    echo "== $name: $(grep '^Done' "$work/out")"
}

if [ $# -gt 2 ]; then
    run_target "$3"
    exit
fi
targets=$(find "$build/tests/fuzz" -maxdepth 1 -type f -perm -u+x -name 'fuzz_*' ! -name '*.*' | sort)
[ -n "$targets" ] || { echo "no fuzz targets in $build" && exit 1; }
echo "$targets" | xargs -P "$(nproc)" -n 1 sh "$0" "$seconds" "$build"
echo "$(echo "$targets" | wc -l) passed, 0 failed"
