#!/bin/sh
# Folders are layers, and a call only goes down: no object of a folder needs a symbol, and no file
# includes a header, that only a folder above it has. And none call each other in a circle
# (circles.py).
set -eu
layers='base topo workloads calibrate plan collectives sim lowering strategies study jobfile results papers api'
source=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

below=
: >"$work/defined"
for layer in $layers; do
    archive=.libs/lib$layer.a
    [ -e "$archive" ] || { echo "SKIP $archive is not here"; exit 77; }
    nm -P "$archive" >"$work/symbols" 2>/dev/null
    awk '$2 ~ /^[TDRBCVW]$/ { print $1 }' "$work/symbols" >>"$work/defined"
    sort -u -o "$work/defined" "$work/defined"
    awk '$2 == "U" && $1 ~ /^fr_/ { print $1 }' "$work/symbols" | sort -u >"$work/needed"
    [ -s "$work/needed" ] || [ "$layer" = base ] || { echo "nm finds nothing in $archive"; failed=1; }
    comm -23 "$work/needed" "$work/defined" | sed "s|^|$layer calls a layer above it: |" >"$work/wrong"

    below="$below|$layer"
    grep -rnE '^#include "[a-z]+/' "$source/$layer" --include='*.[ch]' |
        grep -vE "#include \"(${below#|})/" |
        sed 's|^|a header of a layer above: |' >>"$work/wrong" || true
    if [ -s "$work/wrong" ]; then
        cat "$work/wrong"
        failed=1
    fi
done

# Results never asks: what a writer needs of a run or of a plan, its caller hands over. These are the
# functions that plan, simulate or answer; one that is gone from the library is a fault of this list.
asks='fr_answer fr_answer_on fr_session_new fr_session_ask fr_setting_load fr__problem_make
    fr_strategy_parse fr_explain fr_simulation_new fr_simulation_run fr_sweep_run fr_sweep_ask
    fr_search_run fr_learn fr_staging_make fr_validate fr_comm fr_comm_explain'
nm -P .libs/libresults.a 2>/dev/null | awk '$2 == "U" { print $1 }' | sort -u >"$work/needed"
for name in $asks; do
    grep -qx "$name" "$work/defined" || { echo "no function of the library: $name"; failed=1; }
    ! grep -qx "$name" "$work/needed" || { echo "results asks: it calls $name"; failed=1; }
done
if command -v python3 >/dev/null; then
    # shellcheck disable=SC2086 # a list of words
    python3 "$source/tests/project/circles.py" . $layers || failed=1
else
    echo "skipped: circles, for there is no python3"
fi
exit $failed
