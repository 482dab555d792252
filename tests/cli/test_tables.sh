#!/bin/sh
# tests/cli/test_tables.sh - calibrate/files/tables.awk on what no shipped file has: factors of work
# side by side, and a line that no table can hold.
set -u
source=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failures=0

# check NAME COMMAND...
check() {
    name=$1
    shift
    n_checks=$((n_checks + 1))
    if ! "$@" > /dev/null; then
        echo "FAIL: $name"
        n_failures=$((n_failures + 1))
    fi
}

tables() {
    "${AWK:-awk}" -f "$source/calibrate/files/tables.awk" -v kind=devices \
        "$source/calibrate/curves/matmul.c" "$1" 2> "$work/err"
}

cat > "$work/one.yaml" << 'END'
# made up
device: my-gpu
interference: # how many times as long: value, error
  gpus: 'my "own"'
  source: 'it''s mine'
  data_hash: '0123456789abcdef'
  pairs:
    - of: compute
      beside: collective
      factor: [1.25, 0.5]
      rows_fitted: 7
      held_out: {rows: 2, median: 0.25, p90: 0.5, worst: 0.5, bias: -0.125}
END
tables "$work/one.yaml" > "$work/one.c"
check 'factors come with their classes' grep -qF \
    '[FR_BESIDE_COMPUTE][FR_BESIDE_COLLECTIVE] = {.factor = 1.25, .error = 0.5, .n_fitted = 7' \
    "$work/one.c"
check 'quotes of both kinds are kept' grep -qF '.gpus = "my \"own\"", .source = "it'"'"'s mine"' \
    "$work/one.c"
check 'the file is in the table' grep -qF '{"one", "my-gpu", NULL, 0, NULL, &slowdowns_1}' \
    "$work/one.c"

refuses_line() {
    ! tables "$work/two.yaml" > "$work/two.c" && grep -q 'two.yaml:2: ' "$work/err"
}
printf 'device: my-gpu\ncolour: green\n' > "$work/two.yaml"
check 'a line that is in no table is an error' refuses_line

percent=$((100 * (n_checks - n_failures) / n_checks))
echo "$percent%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
test "$n_failures" -eq 0
