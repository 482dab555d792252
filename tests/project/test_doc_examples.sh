#!/bin/sh
# tests/project/test_doc_examples.sh - every command that the documentation shows (the lines of its
# sh blocks and of the manual page's examples that begin with "forerun") runs and writes the files
# it names, and every console block shows what its command prints. GOLDEN_UPDATE=1 rewrites these
# blocks.
set -u
source=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/support/direct.sh"
ln -s "$source/examples" "$work/examples"
cd "$work" || exit 1

# shellcheck disable=SC2016 # the backquotes are the text's
commands() {
    for page in "$source"/README.md "$source"/doc/*.md "$source"/doc/evidence/*.md; do
        sed -n '/^```sh$/,/^```$/p' "$page"
    done
    sed -n '/^\.SH EXAMPLES$/,$ s/\\-/-/gp' "$source/doc/forerun.1"
}

n=0
failed=0
# In their order, since a page's later commands go on with what earlier ones have made.
commands | grep '^forerun ' | awk '!is_there[$0]++' >list
if ! command -v gnuplot >/dev/null; then
    echo "SKIP gnuplot is not here: $(grep -cE '\.(svg|png|pdf)' list) commands that draw"
    grep -vE '\.(svg|png|pdf)' list >shorter
    mv shorter list
fi
if ! command -v dot >/dev/null || ! command -v rsvg-convert >/dev/null; then
    echo "SKIP graphviz or librsvg2-bin is not here: $(grep -cE '( draw .*|\.graph|\.mesh)\.(svg|png|pdf)' list) drawings"
    grep -vE '( draw .*|\.graph|\.mesh)\.(svg|png|pdf)' list >shorter
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

# shellcheck disable=SC2094 # two files named page
for page in $(cd "$source" && grep -l '^```console$' README.md doc/*.md doc/evidence/*.md papers/*/README.md); do
    awk '/^```console$/ {
             print; getline; print
             command = substr($0, 3)
             while (command ~ /\\$/) {
                 getline; print
                 command = substr(command, 1, length(command) - 1) $0
             }
             while ((command | getline line) > 0)
                 print line
             close(command)
             is_old = 1
             next
         }
         /^```$/ { is_old = 0 }
         !is_old' "$source/$page" >page
    [ -z "${GOLDEN_UPDATE:-}" ] || cat page >"$source/$page"
    diff "$source/$page" page || { echo "FAILED $page shows something else" && failed=$((failed + 1)); }
done

# The manual page has every option that the help has.
for option in $( (forerun simulate --help --all && forerun sweep --help --all) | grep -oE -- '--[a-z-]+' | sort -u); do
    sed 's/\\-/-/g' "$source/doc/forerun.1" | grep -qE -- "(fB|\\.B )$option" || {
        echo "FAILED $option is not in forerun.1"
        failed=$((failed + 1))
    }
done

# Links between pages lead to files, and no table has been folded into a paragraph.
for page in "$source"/README.md "$source"/CONTRIBUTING.md "$source"/doc/*.md "$source"/doc/evidence/*.md "$source"/papers/*/README.md; do
    folder=$(dirname "$page")
    for link in $(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//; s/#.*//' | grep -v ':' | sort -u); do
        [ -e "$folder/$link" ] || { echo "FAILED $page: no $link" && failed=$((failed + 1)); }
    done
    grep -HnE -- '\| *:?---+:? *\|.*[[:alnum:]]' "$page" && failed=$((failed + 1))
done
echo "$n documented commands, $failed failures"
[ "$n" -gt 0 ] && [ "$failed" -eq 0 ]
