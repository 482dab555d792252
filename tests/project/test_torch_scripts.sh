#!/bin/sh
# tests/project/test_torch_scripts.sh - calibrate/measure/torch_step.py and torch_profile.py on the
# CPU: their files are what forerun reads, the profile has the zoo's parameters, products and saved
# bytes, and its times add up. Ends with 77 where no Python has PyTorch.
set -u
source=$(cd "${srcdir:-.}" && pwd)
. "${srcdir:-.}/tests/support/direct.sh"
scripts=$source/calibrate/measure
python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
    if "$candidate" -c 'import torch, torch.utils._python_dispatch' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || { echo "SKIP no Python here has PyTorch"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
work=$(mktemp -d) || exit 1
forks=
trap 'kill $forks 2>/dev/null; wait $forks 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1

# python SCRIPT ARG...: in a fork of a process that has imported PyTorch already
python() { "$python" "$source/tests/support/torch_forks.py" forks "$@"; }
"$python" "$source/tests/support/torch_forks.py" "$work/forks" &
forks=$!
waited=0
until [ -e forks ] || [ "$waited" -eq 600 ]; do
    sleep 0.1
    waited=$((waited + 1))
done

n_checks=0
n_failures=0
expect() {
    n_checks=$((n_checks + 1))
    what=$1
    shift
    "$@" && return
    n_failures=$((n_failures + 1))
    echo "FAIL: $what"
    head -n 20 err 2>/dev/null
}
# same WHAT EXPECTED FOUND
same() {
    expect "$1 is '$3', not '$2'" [ "$2" = "$3" ]
}

# ---- whole steps ----

step() {
    python "$scripts/torch_step.py" --device cpu --model lenet --steps 3 --warm-up 1 "$@" 2>err
}

step -o steps.csv --batches 4,2 --precisions fp32,bf16
expect "steps are measured" [ $? -eq 0 ]
same "the header" \
    id,workload,topology,gpus,strategy,global_batch,precision,options,iteration_s,peak_bytes,notes \
    "$(head -n 1 steps.csv)"
same "rows, batches ascending" "lenet,cpu,1,single,2,fp32,-O momentum lenet,cpu,1,single,4,fp32,-O momentum lenet,cpu,1,single,2,bf16,-O momentum lenet,cpu,1,single,4,bf16,-O momentum " \
    "$(tail -n +2 steps.csv | cut -d, -f2-8 | tr '\n' ' ')"
expect "every time is a number of seconds" awk -F, \
    'NR > 1 && !($9 > 0 && $9 < 60) { exit 1 } NF != 11 { exit 1 }' steps.csv
cp steps.csv before
step -o steps.csv --batches 2,4 --precisions fp32,bf16
expect "rows that are there are not measured again" cmp -s before steps.csv
printf 'TS-cpu-lenet-b8' >>steps.csv
step -o steps.csv --batches 2 --precisions fp32
expect "a line without its end is cut off" cmp -s before steps.csv
step -o steps.csv --batches 16 --precisions fp32 --budget 0.000001
same "the status when time was over" 3 $?
! python "$scripts/torch_step.py" -o x.csv --device cpu --precisions fp31 2>err
expect "an unknown precision is refused" [ $? -eq 0 ]
python "$scripts/torch_step.py" -o x.csv --device cpu --model resnet51 2>err
expect "an unknown model is named" grep -q "no PyTorch form of 'resnet51" err
echo id >other.csv
step -o other.csv --batches 2
expect "another file is not written to" grep -q 'other.csv:1: not the header' err
same "nor changed" id "$(cat other.csv)"

# ---- profiles ----

# field FILE NAME: a number of the first level of JSON
field() { sed -n "s/^  \"$2\": \([0-9.e+-]*\),\$/\1/p" "$1"; }
kinds() { sed -n "s/^  \"forward_flops_by_kind\": .*\"$2\": \([0-9]*\)[,}].*/\1/p" "$1"; }

# profiled FOLDER MODEL: compares with the zoo's
profiled() {
    python "$scripts/torch_profile.py" "$2" -b 3 -o "$1" --device cpu \
        --device-type cpu-here --warm-up 1 --steps 3 2>err
    expect "$2 is profiled" [ $? -eq 0 ]
    expect "its times are the named device's" \
        [ "$(sed -n '2,$p' "$1/times.csv" | grep -v -c ',cpu-here,')" -eq 0 ]
    sed -i.cpu 's/,cpu-here,/,v100-sxm2-16gb,/' "$1/times.csv" # as if, for a machine to run them
    rm "$1/times.csv.cpu"
    expect "forerun reads the profile of $2" "$forerun" graph show "./$1" --json -q >out
    "$forerun" graph show "$2" -b 3 --json >zoo
    for name in params param_tensors; do
        same "$name of $2" "$(field zoo $name)" "$(field out $name)"
    done
    for kind in conv2d matmul; do
        same "products of $2 in $kind" "$(kinds zoo $kind)" "$(kinds out $kind)"
    done
    expect "all ops of $2 but the input are timed" \
        [ "$(wc -l <"$1/ops.csv")" -eq $(($(wc -l <"$1/times.csv") + 1)) ]
    # one GPU runs them one after the other; the 10 us at the start are the first launch
    "$forerun" simulate -w "./$1" -t dgx1-v100 -g 1 -s single --json -q >run.json
    sum=$(awk -F, 'NR > 1 { s += $4 } END { printf "%.9f", s }' "$1/times.csv")
    took=$(sed -n 's/.*"iteration_s": \([0-9.e+-]*\).*/\1/p' run.json | head -n 1)
    expect "the times of $2 add up to $sum s, forerun says $took" awk -v sum="$sum" \
        -v took="$took" 'BEGIN { d = took - sum; exit !(d > -1e-6 && d < 1e-4) }'
}

profiled lenet-profile lenet
# and the sum of weights that nll_loss keeps, one number, which the zoo leaves out
same "saved bytes of lenet" $(($(field zoo saved_bytes) + 4)) "$(field out saved_bytes)"
profiled gpt-profile gpt:layers=2,hidden=64,heads=2,seq=16,vocab=100
"$forerun" compare -w ./lenet-profile -t dgx1-v100 -g 2 -b 6 -s dp -s pp:micro=2 -q >out 2>err
expect "strategies split the profile" [ $? -eq 0 ]

# a model from outside the zoo, of each form
cat >mine.py <<'END'
import torch
def net():
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
def plain():
    return net(), lambda n: torch.ones(n, 8)
def named():
    return net(), lambda n: {"input": torch.ones(n, 8)}, lambda out, inputs: out.square().mean()
def wrong():
    return net()
END
profile() {
    python "$scripts/torch_profile.py" "$@" --warm-up 1 --steps 1 >out 2>err
}
for form in plain named; do
    profile "mine:$form" -b 3 -o "mine-$form" --device cpu --device-type cpu-here
    expect "a function's model is profiled ($form)" [ $? -eq 0 ]
    "$forerun" graph show "./mine-$form" --json -q >out
    same "parameters of mine:$form" 212 "$(field out params)"
done
for form in wrong missing; do
    ! profile "mine:$form" -b 3 -o x --device cpu --device-type cpu-here
    expect "mine:$form is refused" [ $? -eq 0 ]
    expect "mine:$form is named" grep -q "no PyTorch form of 'mine:$form: " err
done
! profile lenet -b 3 -o x --device cpu
expect "a device must be named" grep -q "required: --device-type" err
! profile lenet -b 3 -o x --device cpu --device-type v100-sxm2-16gb
expect "a CPU's times are no GPU's" grep -q "does not measure a 'v100-sxm2-16gb'" err
! profile lenet -b 3 -o x --device cpu --device-type '*'
expect "nor those of any device" grep -q "expected one device's name" err
python "$scripts/torch_profile.py" lenet -b 3 -o lenet-profile --device cpu \
    --device-type cpu-here 2>err
same "the status when the folder is there" 2 $?

percent=$((100 * (n_checks - n_failures) / n_checks))
echo "$percent%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" -eq 0 ]
