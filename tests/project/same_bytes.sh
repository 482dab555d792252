#!/bin/sh
# tests/project/same_bytes.sh FORERUN... - the commands given (builds by several compilers and
# optimisation levels) print and write the same bytes: in the C locale and in a German one, where a
# comma is the decimal mark, in another time zone, and for any number of threads. The trace of every
# strategy is among them.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

settings='LC_ALL=C LC_ALL=C,TZ=Asia/Kolkata'
# printf '%.1f' obeys LC_NUMERIC in env's printf, so this asks whether the locale is really there.
if [ "$(LC_ALL=de_DE.UTF-8 env printf '%.1f' 1 2>/dev/null)" = 1,0 ]; then
    settings="$settings LC_ALL=de_DE.UTF-8"
else
    echo "SKIP the locale de_DE.UTF-8 is not here"
fi

n=0
failed=0

# answer FORERUN SETTING QUESTION: what it prints and the file that it writes, in $work/answer.
answer() {
    rm -f "$work"/out.*
    (
        IFS=,
        export $2
        unset IFS
        cd "$work"
        eval "\"\$1\" $3" >"$work/answer" </dev/null
        for file in out.*; do
            [ ! -e "$file" ] || cat "$file" >>"$work/answer"
        done
    )
}

# same QUESTION: by every build under every setting.
same() {
    reference=
    for forerun in "$@"; do
        [ "$forerun" != "$1" ] || continue
        for setting in $settings; do
            n=$((n + 1))
            answer "$forerun" "$setting" "$1" || {
                echo "failed under $setting: $forerun $1"
                failed=$((failed + 1))
                continue
            }
            if [ -z "$reference" ]; then
                reference="$forerun ($setting)"
                cp "$work/answer" "$work/reference"
            fi
            cmp -s "$work/reference" "$work/answer" || {
                echo "$1: $forerun ($setting) differs from $reference"
                diff "$work/reference" "$work/answer" | cut -c 1-200 | head -n 10
                failed=$((failed + 1))
            }
        done
    done
}

# Commands before are given by full names, since the questions are asked in a folder of their own.
for forerun in "$@"; do
    shift
    set -- "$@" "$(cd "$(dirname "$forerun")" && pwd)/$(basename "$forerun")"
done

cat >"$work/questions" <<'END'
simulate -w lenet -t dgx1-v100 -g 1 -b 32 -s single
simulate -w vgg19 -t dgx1-v100 -g 4 -b 64 -s dp
simulate -w vgg19 -t dgx1-v100 -g 8 -b 64 -s dp:sync=ps-sharded --network analytic
simulate -w resnet50 -t dgx1-v100 -g 8 -B 32 -s dp --jitter 0.05 --seed 7
simulate -w gpt2-small -t dgx-a100-80g -g 8 -b 64 -s pp:schedule=1f1b -p fp16 -O adam
simulate -w alexnet -t '2x dgx1-v100 via ib:100Gbps' -g 16 -b 256 -s dp --order priority
simulate -w gnmt-4 -t dgx1-v100 -g 4 -b 64 -s mp
compare -w vgg16 -t dgx1-v100 -g 4 -b 64 -s single -s dp -s mp -s pp
END
while read -r question; do
    same "$question --json --no-timing -q" "$@"
done <"$work/questions"

# Each kind of answer as data: JSON on the output, CSV in a file. With the builds of two states of
# the tree this shows whether a change between them keeps the figures of answers.
cat >"$work/data" <<'END'
simulate -w gpt2-xl -t dgx1-v100 -g 4 -b 64 -s dp -O adam --no-timing --tokens 1B --price 3
simulate -w resnet50 -t dgx1-v100 -g 8 -b 256 -s dp --seeds 0..2 --jitter 0.1 --no-timing
simulate -w bert-large -t dgx1-v100 -g 4 -b 16 -s dp -p amp --why-uncertain --no-timing
simulate -w resnet50 -t dgx1-v100 -g 4 -b 128 -s dp --measured 100ms --no-timing
simulate -w lenet -t dgx1-v100 -g 2 -b 64 -s dp --sensitivity-rerun --no-timing
simulate -w lenet -t dgx1-v100 -g 2 -b 64 -s os-dpos --no-timing
simulate -w lenet -t '2x hgx-h100' -b 256 -s dp --input-rate 100 --slow n0.gpu0=1.2 --no-timing
compare -w bert-large -t dgx1-v100 -g 4 -b 64 -s dp -s pp -O adam --explain --no-timing
sweep -w lenet -t dgx1-v100 -g 2,3,16 -b 64 -s dp -s mp --seed 0..2 --jitter 0.1 -j 1
sweep -w bert-large -t dgx1-v100 -g 4 -b 64,512 -s dp -O adam --tokens 1B --price 2 -j 1
search -w bert-large -t dgx-a100-80g -b 64 -O adam --tokens 1B --price 2 --top 3
comm all-reduce -t '2x hgx-h100'
comm reduce-scatter -t dgx1-v100 -g 4 --sizes 64K --collective-algorithm ring,halving-doubling
learn -w lenet -t dgx1-v100 -g 2 -b 64
END
while read -r question; do
    same "$question --json -q -o out.csv" "$@"
done <"$work/data"
same "sweep -w lenet -t dgx1-v100 -g 1,2,16 -b 64 -s dp -j 1 -q --store out.csv" "$@"
same "topo time dgx1-v100 all-reduce 1MiB 64MiB --json" "$@"

# Every strategy that needs no file, by its name, with its trace and its report.
tasks="-w tasks.csv -t 'machines P1 P2 P3 via 1GB/s'"
printf 'task,time,after\na,3,\nb,2,a:1GB\nc,4,a:2GB\nd,1,b c\n' >"$work/tasks.csv"
"$1" simulate --help --all | sed -n '/^Strategies/,/^$/s/^  \([a-z][a-z0-9-]*\) .*/\1/p' >"$work/strategies"
[ "$(wc -l <"$work/strategies")" -ge 15 ]
while read -r strategy; do
    case $strategy in
    placement) continue ;;
    exact) asked="$tasks" ;;
    *) asked="-w lenet -t dgx1-v100 -g 2 -b 16" ;;
    esac
    same "simulate $asked -s $strategy --json --no-timing -q -o out.trace.json" "$@"
done <"$work/strategies"
same "simulate -w lenet -t dgx1-v100 -g 2 -b 16 -s dp --no-timing -q -o out.html -o out.csv" "$@"

# Threads share no sum: all numbers of them give the bytes of the first.
settings=LC_ALL=C
for build in "$@"; do
    reference=
    for threads in 1 2 3 4 5 6 7 8; do
        n=$((n + 1))
        answer "$build" LC_ALL=C "sweep -w lenet -t dgx1-v100 -g 1..8 -B 16 -s dp -s pp -q \
            --json -j $threads -o out.csv"
        [ -n "$reference" ] || cp "$work/answer" "$work/reference"
        reference=1
        cmp -s "$work/reference" "$work/answer" || {
            echo "$build with $threads threads differs from one thread"
            failed=$((failed + 1))
        }
    done
done
echo "$((n - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
