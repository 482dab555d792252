#!/bin/sh
# tests/cli/test_refit.sh - the shipped device files are what fits of the measured kernels make
# today: one small device is fitted anew, byte for byte; of all, the errors on held-out rows are
# what the files say (in five digits). Needs the data set beside the project; skipped where it is
# not.
set -u
source=$(cd "${srcdir:-.}" && pwd)
. "${srcdir:-.}/tests/support/direct.sh"
data=$source/../shared/data/microbench
[ -r "$data/gemm.csv" ] || {
    echo "SKIP: no measured kernels in $data"
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failures=0
fail() {
    n_failures=$((n_failures + 1))
    echo "FAIL: $1"
}

n_checks=$((n_checks + 1))
sh "$source/calibrate/fit/refit.sh" "$forerun" "$data" "$work" a40 >/dev/null &&
    cmp "$work/a40.yaml" "$source/calibrate/devices/a40.yaml" || fail "a40 is fitted differently now"

# Systems are cheap: each is fitted anew.
mkdir "$work/devices" "$work/systems"
for file in "$source"/calibrate/systems/*.yaml; do
    system=$(basename "$file" .yaml)
    n_checks=$((n_checks + 1))
    sh "$source/calibrate/fit/refit.sh" "$forerun" "$data" "$work/devices" "$system" >/dev/null &&
        cmp "$work/systems/$system.yaml" "$file" || fail "$system is fitted differently now"
done

# Each GPU's rows stand in files of their own, so that a device is judged without reading those of
# all others.
for table in gemm conv other_kernels; do
    awk -F, -v dir="$work" -v table="$table" 'NR == 1 { head = $0; next }
        { gpu = $2; gsub(/[^A-Za-z0-9]/, "_", gpu); file = dir "/" gpu "." table ".csv" }
        !is_there[file]++ { print head >file } { print >file }' "$data/$table.csv"
done
# tables_of FILE: those of the GPUs that a device's curves name
tables_of() {
    sed -n "s/^    gpus: '\(.*\)'$/\1/p" "$1" | sed "s/', '/\n/g" | sort -u |
        sed 's/[^A-Za-z0-9]/_/g' | while read -r gpu; do ls "$work/$gpu".*.csv; done
}

# Medians of the file, in the order of its curves, and of the rows as they are judged now; a device
# whose data a later fit left out has none to judge.
for file in "$source"/calibrate/devices/*.yaml; do
    device=$(basename "$file" .yaml)
    n_checks=$((n_checks + 1))
    sed -n 's/^    held_out: {rows: [1-9][0-9]*, median: \([0-9.e-]*\),.*/\1/p' "$file" >"$work/said"
    [ -s "$work/said" ] || continue # launches alone
    # shellcheck disable=SC2046 # a list of files, whose names have no blanks
    "$forerun" calibrate check $(tables_of "$file") -d "$file" --json >"$work/json" ||
        fail "$device cannot be judged"
    sed -n 's/.*"median": \([0-9.e-]*\),.*/\1/p' "$work/json" >"$work/judged"
    paste "$work/said" "$work/judged" >"$work/both"
    awk 'NF != 2 || $1 - $2 > 1e-5 || $2 - $1 > 1e-5 { bad = 1 } END { exit bad }' "$work/both" || {
        fail "$device: errors on held-out rows, said and judged now:"
        cat "$work/both"
    }
done
echo "$n_checks shipped files and fits, $n_failures failures"
[ "$n_failures" -eq 0 ]
