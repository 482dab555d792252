#!/bin/sh
# tests/project/test_torch_tuning.sh - how many parameters of a partly trained model have gradients,
# and what autograd keeps for them, against PyTorch on the CPU. Ends with 77 where no Python has it.
set -u
source=$(cd "${srcdir:-.}" && pwd)
. "${srcdir:-.}/tests/support/direct.sh"
oracle=$source/tests/oracles/torch_tuning.py
python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
    if "$candidate" -c 'import torch' 2>/dev/null; then
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
"$python" "$source/tests/support/torch_forks.py" "$work/forks" &
forks=$!
waited=0
until [ -e forks ] || [ "$waited" -eq 600 ]; do
    sleep 0.1
    waited=$((waited + 1))
done

n_checks=0
n_failures=0
model=gpt:layers=2,hidden=64,heads=2,seq=16,vocab=100

# field NAME: a number of the first level of JSON
field() { sed -n "s/^  \"$1\": \([0-9]*\),\$/\1/p" out; }

# alike HOW [METHOD ARGUMENT...]: what Forerun says of --tune HOW is what PyTorch says of the method.
# PyTorch keeps 8 bytes for each product with a number, the number itself.
alike() {
    how=$1
    shift
    n_checks=$((n_checks + 1))
    "$python" "$source/tests/support/torch_forks.py" forks "$oracle" "$model" 3 "$@" >torch 2>err
    "$forerun" graph show "$model" -b 3 --tune "$how" --json >out 2>>err
    "$forerun" graph show "$model" -b 3 --tune "$how" -v >ops 2>>err
    numbers=$(awk '$2 == "scale" && $3 == "backward-data"' ops | wc -l)
    trained=$(field trained_params)
    found="${trained:-$(field params)} $(($(field saved_bytes) + 8 * numbers))"
    [ "$found" = "$(cat torch)" ] && return
    n_failures=$((n_failures + 1))
    echo "FAIL: of --tune $how Forerun says '$found', PyTorch '$(cat torch)'"
    head -n 5 err
}

alike none none
alike lora:rank=4,targets=qkv lora qkv rank=4
alike lora:rank=4,targets=all lora qkv out fc1 fc2 rank=4
alike lora:rank=4,targets=all,dropout=0.1 lora qkv out fc1 fc2 rank=4 dropout
alike lora:rank=16,targets=fc1 lora fc1 rank=16
alike freeze:train=final.ln train ln
alike freeze:train=proj train out
alike freeze:parts=embed+fc1+fc2 freeze words positions mlps

percent=$((100 * (n_checks - n_failures) / n_checks))
echo "$percent%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" -eq 0 ]
