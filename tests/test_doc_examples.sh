#!/bin/sh
# tests/test_doc_examples.sh - every command that the documentation shows (the lines of its sh blocks
# and of the manual page's example that begin with "forerun") runs, and writes the files it names.
set -u
source=$(cd "${srcdir:-.}" && pwd)
build=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$build:$PATH
ln -s "$source/examples" "$work/examples"
cd "$work" || exit 1

# shellcheck disable=SC2016 # the backquotes are the text's
commands() {
    for page in "$source"/README.md "$source"/doc/*.md; do
        sed -n '/^```sh$/,/^```$/p' "$page"
    done
    sed -n '/^\.SH EXAMPLES$/,$ s/\\-/-/gp' "$source/doc/forerun.1"
}

n=0
failed=0
commands | grep '^forerun ' | sort -u >list
if ! command -v gnuplot >/dev/null; then
    echo "SKIP gnuplot is not here: $(grep -cE '\.(svg|png|pdf)' list) commands that draw"
    grep -vE '\.(svg|png|pdf)' list >shorter
    mv shorter list
fi
while read -r line; do
    n=$((n + 1))
    if ! sh -c "$line" >stdout 2>stderr </dev/null; then
        echo "FAILED $line"
        head -n 3 stderr
        failed=$((failed + 1))
        continue
    fi
    for file in $(echo "$line" | grep -oE -- '-o [^ ]+' | cut -c 4-); do
        [ -s "$file" ] || { echo "FAILED $line: no $file" && failed=$((failed + 1)); }
    done
done <list
echo "$n documented commands, $failed failed"
[ "$n" -gt 0 ] && [ "$failed" -eq 0 ]
