#!/bin/sh
# A job file asks what its options would ask: the same answer as typing them; options hold against
# the file; the arguments that fit prints read back as the layout that it means.
set -eu
. "${srcdir:-.}/tests/support/direct.sh"
source=$(cd "${srcdir:-.}" && pwd)
command -v python3 >/dev/null || { echo "SKIP there is no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
job=$source/examples/jobs/pretrain_llama.sh
n_failed=0

fail() {
    echo "FAIL: $*"
    n_failed=$((n_failed + 1))
}

ask() {
    "$forerun" "$@" --json --no-timing -t hgx-h100
}

# $1: keys of a JSON file with dots, $2: the file
value() {
    python3 -B -c 'import json, sys
v = json.load(open(sys.argv[2]))
for key in sys.argv[1].split("."):
    v = v[int(key)] if isinstance(v, list) else v[key]
print(v)' "$1" "$2"
}

one="--set SLURM_NNODES=1 -b 16"
# shellcheck disable=SC2086 # words
ask simulate --job "$job" $one >"$work/job.json"
ask simulate -w "$(value job.asked.workload "$work/job.json")" -g 8 -b 16 --seq-len 8192 -p bf16 \
    -O adam --recipe megatron-core -s "$(value job.asked.strategy "$work/job.json")" \
    >"$work/typed.json"
for key in iteration_s peak_bytes global_batch gpus; do
    test "$(value $key "$work/job.json")" = "$(value $key "$work/typed.json")" ||
        fail "$key differs between the job and what it asks"
done
test "$(value global_batch "$work/job.json")" = 16 || fail "-b does not hold against the file"

# shellcheck disable=SC2086
ask fit --job "$job" $one >"$work/fit.json"
test "$(value answer.iteration_s "$work/fit.json")" = "$(value iteration_s "$work/job.json")" ||
    fail "fit and simulate differ about the job"
strategy=$(value near.0.strategy "$work/fit.json")
ask simulate -w "$(value job.asked.workload "$work/job.json")" -g 8 -b 16 --seq-len 8192 -p bf16 \
    -O adam --recipe megatron-core -s "$strategy" >"$work/near.json"
test "$(value iteration_s "$work/near.json")" = "$(value near.0.iteration_s "$work/fit.json")" ||
    fail "fit and simulate differ about $strategy"

# its arguments, read back
value flags "$work/fit.json" | grep -v '^#' | tr '\n' ' ' >"$work/flags"
echo "torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096" \
    "--num-attention-heads 32 --bf16 $(cat "$work/flags")" >"$work/again.sh"
"$forerun" job show --json "$work/again.sh" 2>/dev/null >"$work/again.json"
for pair in dp:dp tp:tp pp:pp micro:micro_batch; do
    meant=$(echo "$strategy" | tr ':' ',' | tr ',' '\n' | sed -n "s/^${pair%:*}=//p")
    test "$(value "facts.${pair#*:}" "$work/again.json")" = "$meant" ||
        fail "--$pair of $strategy is not read back from its arguments"
done

# a layout that these GPUs do not allow: the reason, and those near it that they do
coarse="--set SLURM_NNODES=1 --set MICRO_BATCH=4 -b 4"
status=0
# shellcheck disable=SC2086 # words
ask fit --job "$job" $coarse >"$work/refused.json" || status=$?
test $status -eq 3 || fail "a layout that cannot be planned: $status"
test "$(value fits "$work/refused.json") $(value answer "$work/refused.json")" = "False None" ||
    fail "a layout that cannot be planned fits"
value refused "$work/refused.json" | grep -q 'samples' || fail "no reason why it cannot be planned"
value near.0.strategy "$work/refused.json" | grep -q '^hybrid:' || fail "no layout near it"
status=0
# shellcheck disable=SC2086 # words
"$forerun" fit --job "$job" $coarse -t hgx-h100 >"$work/refused" || status=$?
test $status -eq 3 && grep -q "cannot be planned in the job's layout: " "$work/refused" ||
    fail "the page does not say why: $status"
# a large plan that does not fit: layouts that take less alone, which the page says
status=0
"$forerun" fit --job "$job" --set SLURM_NNODES=1 -b 32 -p fp16 -t dgx1-v100-32g >"$work/large" ||
    status=$?
test $status -eq 3 && grep -q 'the plan is large' "$work/large" || fail "a large plan: $status"
grep ' hybrid:' "$work/large" | grep -v ', strategy ' | grep -qv 'recompute=full' &&
    fail "a layout near a large plan does not recompute all"

status=0 # what is wrong with the cluster is an error as ever
"$forerun" fit --job "$job" --set SLURM_NNODES=1 -t hgx-h9 2>"$work/err" || status=$?
test $status -eq 2 && grep -q 'hgx-h9' "$work/err" || fail "no such cluster: $status"

status=0
"$forerun" fit -t hgx-h100 2>"$work/err" || status=$?
test $status -eq 2 && grep -q -- '--job FILE' "$work/err" || fail "fit without a job: $status"
status=0
"$forerun" fit --job "$job" -t hgx-h100 -s dp 2>"$work/err" || status=$?
test $status -eq 2 && grep -q 'layout of the job' "$work/err" || fail "fit with -s: $status"
status=0
"$forerun" simulate -w gpt2-small -t hgx-h100 -s dp --lenient 2>"$work/err" || status=$?
test $status -eq 2 && grep -q 'needs a job' "$work/err" || fail "--lenient without a job: $status"
echo "100%: Checks: 21, Failures: $n_failed, Errors: 0"
test $n_failed -eq 0
