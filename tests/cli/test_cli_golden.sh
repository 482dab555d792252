#!/bin/sh
# tests/cli/test_cli_golden.sh - whole outputs against tests/golden/cli/CASE/{out,err,status}.
# CASE/cmd holds the arguments, CASE/why says why the case exists. GOLDEN_UPDATE=1 rewrites them;
# the difference is then reviewed like code.
set -u
unset COLUMNS # a terminal's width, which cuts tables
. "${srcdir:-.}/tests/support/direct.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "${srcdir:-.}/tests/golden/cli" || exit 1

n_checks=0
n_failures=0
for cmd in */cmd; do
    case=${cmd%/cmd}
    n_checks=$((n_checks + 1))
    status=0
    eval "set -- $(cat "$cmd")" # quotes as a user types them
    "$forerun" "$@" > "$work/out" 2> "$work/err" < /dev/null || status=$?
    echo "$status" > "$work/status"
    for part in out err status; do
        if test -n "${GOLDEN_UPDATE:-}"; then
            cp "$work/$part" "$case/$part"
        elif ! diff -u "$case/$part" "$work/$part"; then
            echo "FAIL: $case/$part"
            n_failures=$((n_failures + 1))
        fi
    done
done
percent=$((100 * (n_checks - (n_failures + 2) / 3) / n_checks))
echo "$percent%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
test "$n_failures" -eq 0
