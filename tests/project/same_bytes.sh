#!/bin/sh
# tests/project/same_bytes.sh FORERUN... - the commands given (builds by several compilers and
# optimisation levels) print the same bytes, in the C locale and in a German one, where a comma is
# the decimal mark.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

locales=C
# printf '%.1f' obeys LC_NUMERIC in env's printf, so this asks whether the locale is really there.
if [ "$(LC_ALL=de_DE.UTF-8 env printf '%.1f' 1 2>/dev/null)" = 1,0 ]; then
    locales='C de_DE.UTF-8'
else
    echo "SKIP the locale de_DE.UTF-8 is not here"
fi

n=0
failed=0
while read -r question; do
    reference=
    for forerun in "$@"; do
        for locale in $locales; do
            n=$((n + 1))
            (
                export LC_ALL="$locale"
                eval "\"\$forerun\" $question --json --no-timing -q"
            ) >"$work/answer" </dev/null || {
                echo "failed under $locale: $forerun $question"
                failed=$((failed + 1))
                continue
            }
            if [ -z "$reference" ]; then
                reference="$forerun ($locale)"
                cp "$work/answer" "$work/reference"
            fi
            cmp -s "$work/reference" "$work/answer" || {
                echo "$question: $forerun ($locale) differs from $reference"
                diff "$work/reference" "$work/answer" | head -n 10
                failed=$((failed + 1))
            }
        done
    done
done <<'END'
simulate -w lenet -t dgx1-v100 -g 1 -b 32 -s single
simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp
simulate -w vgg19 -t dgx1-v100 -g 8 -b 64 -s dp:sync=ps-sharded --network analytic
simulate -w resnet50 -t dgx1-v100 -g 8 -B 32 -s dp --jitter 0.05 --seed 7
simulate -w gpt2-small -t dgx-a100-80g -g 8 -b 64 -s pp:schedule=1f1b -p fp16 -O adam
simulate -w alexnet -t '2x dgx1-v100 via ib:100Gbps' -g 16 -b 256 -s dp --order priority
simulate -w gnmt-4 -t dgx1-v100 -g 4 -b 64 -s mp
compare -w vgg16 -t dgx1-v100 -g 4 -b 64 -s single -s dp -s mp -s pp
END
echo "$((n - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
