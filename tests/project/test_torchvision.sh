#!/bin/sh
# tests/project/test_torchvision.sh - the convolutional models of the zoo, asked for through the
# command, have the parameters, arithmetic and saved bytes that torchvision counts
# (tests/oracles/torchvision.csv).
set -u
source=$(cd "${srcdir:-.}" && pwd)
. "${srcdir:-.}/tests/support/direct.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# field NAME: a number of the first level of out
field() { sed -n "s/^  \"$1\": \([0-9]*\),\$/\1/p" out; }
# kind NAME: FLOPs of the forward ops of a kind
kind() { sed -n "s/^  \"forward_flops_by_kind\": .*\"$1\": \([0-9]*\)[,}].*/\1/p" out; }

n_checks=0
n_failures=0
# same WHAT EXPECTED FOUND
same() {
    n_checks=$((n_checks + 1))
    [ "$2" = "$3" ] && return
    n_failures=$((n_failures + 1))
    echo "FAIL: $model at image size $size: $1 is '$3', torchvision has $2"
}

# IFS splits a row; the first line after the remarks names the columns
grep -v '^#' "$source/tests/oracles/torchvision.csv" | tail -n +2 >rows
while IFS=, read -r model size params tensors macs fixed sample dropped scalars; do
    set -- "$model" -b 3 --json
    [ "$size" = 0 ] || set -- "$@" --image-size "$size"
    "$forerun" graph show "$@" >out || n_failures=$((n_failures + 1))
    same params "$params" "$(field params)"
    same param_bytes $((4 * params)) "$(field param_bytes)"
    same param_tensors "$tensors" "$(field param_tensors)"
    same "convolutions and products" $((2 * 3 * macs)) $(($(kind conv2d) + $(kind matmul)))
    same saved_bytes $((fixed - scalars + 3 * (sample - 3 * dropped))) "$(field saved_bytes)"
done <rows

if [ "$n_failures" -eq 0 ]; then percent=100; else percent=$((100 * (n_checks - n_failures) / n_checks)); fi
echo "$percent%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_checks" -gt 0 ] && [ "$n_failures" -eq 0 ]
