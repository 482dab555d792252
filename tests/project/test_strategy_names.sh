#!/bin/sh
# tests/project/test_strategy_names.sh - nothing outside strategies/ knows a strategy by its name:
# what differs between strategies is a field or a function of struct fr_strategy. Papers name the
# strategies that their experiments ask for.
set -eu
source=${srcdir:-.}
layers='base topo workloads calibrate plan sim study results cli'
names=$(sed -n 's/^    \.name = "\([a-z0-9-]*\)",$/\1/p' "$source"/strategies/*.c)
n=$(echo "$names" | wc -l)
[ "$n" -ge 6 ] || { echo "found only $n names of strategies"; exit 1; }
failed=0
for name in $names; do
    for layer in $layers; do
        # a string that is the name, or begins with it and options; comments may give examples, and
        # a layout's degrees are figures of that key
        if grep -rnE "\"${name}[\":]" "$source/$layer" --include='*.[ch]' |
            grep -vE '^[^:]*:[0-9]*: *(/?\*|//|\{\.key = )' | sed 's|/\*.*\*/||' | grep -E "\"${name}[\":]"; then
            echo "FAILED $layer knows the strategy '$name' by its name"
            failed=1
        fi
    done
done
exit $failed
