#!/bin/sh
# What each optimizer keeps on a GPU, by closed forms: LeNet on one, Llama 2 under ZeRO, tensor and
# pipeline parallelism, and parameter servers; what its products take; what is refused.
set -eu
. "${srcdir:-.}/tests/support/direct.sh"
command -v python3 >/dev/null || { echo "SKIP there is no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_failed=0

fail() {
    echo "FAIL: $*"
    n_failed=$((n_failed + 1))
}

# What the devices hold for the optimizer: the first's bytes, and those of all.
ask() {
    "$forerun" simulate "$@" --json --no-timing >"$work/answer.json" 2>"$work/errors" ||
        test $? -eq 3
    python3 -B -c 'import json, sys
v = [d["memory"]["optimizer"] for d in json.load(open(sys.argv[1]))["devices"]]
print(v[0], sum(v))' "$work/answer.json"
}

# $1: what is asked; $2: bytes of the first device, in Python; "*": any; $3: of all; the rest asks.
# Names of sizes: LeNet's vectors and matrices, Llama's sides.
holds() {
    what=$1 first=$2 all=$3
    shift 3
    got=$(ask "$@")
    python3 -B - "$got" "$first" "$all" <<'PYTHON' || fail "$what: $got"
import math, sys
conv1, conv2, fc3, fc4, fc5 = 150, 2400, 48000, 10080, 840
vectors = 6 + 16 + 120 + 84 + 10
h, f, layers, vocab = 4096, 11008, 32, 32000
hidden = layers * (4 * h * h + 3 * h * f)
ends, norms = 2 * vocab * h, (2 * layers + 1) * h
def packed(n):
    return 2 * (n + 4 * math.ceil(n / 256)) if n >= 4096 else 8 * n
for got, want in zip(sys.argv[1].split(), sys.argv[2:]):
    # of shares each part of each op is rounded to whole bytes
    if want != "*" and abs(int(got) - eval(want)) > (0 if eval(want) < 1e8 else 1000):
        sys.exit(f"{got} bytes, not {eval(want)}")
PYTHON
}

one="-w lenet -t dgx1-v100 -g 1 -b 8 -s single"
# shellcheck disable=SC2086 # words
{
holds sgd 0 "*" $one
holds lion "4 * (conv1 + conv2 + fc3 + fc4 + fc5 + vectors)" "*" $one -O lion
holds adam-8bit "packed(fc3) + packed(fc4) + 8 * (conv1 + conv2 + fc5 + vectors)" "*" \
    $one -O adam-8bit
# rows and columns of 6 and 96 filters of 5 x 5, then of 120 x 400, 84 x 120 and 10 x 84
holds adafactor "4 * (6 * 10 + 96 * 10 + 520 + 204 + 94 + vectors)" "*" $one -O adafactor
holds adafactor-momentum "4 * (6 * 10 + 96 * 10 + 520 + 204 + 94 + vectors) + 4 * (61706)" "*" \
    $one -O adafactor-momentum
holds muon "4 * (conv1 + conv2 + fc3 + fc4) + 8 * (fc5 + vectors)" "*" $one -O muon
# sides 6 1 5 5, 16 6 5 5, 120 400, 84 120, 10 84
holds soap "8 * (61706 + 36 + 1 + 50 + 256 + 36 + 50 + 120**2 + 400**2 + 84**2 + 120**2 + 10**2 \
    + 84**2)" "*" $one -O soap
# a server on the CPU keeps it all, and the GPUs nothing
holds servers "*" "packed(fc3) + packed(fc4) + 8 * (conv1 + conv2 + fc5 + vectors)" \
    -w lenet -t dgx1-v100 -g 4 -b 32 -s dp:sync=ps-cpu -O adam-8bit
}

llama="-w llama2-7b -t hgx-h100 -b 8 -p bf16"
# With a master copy of 4 bytes. 96 large and 128 small matrices are evenly shared by 8.
# shellcheck disable=SC2086 # words
{
holds "8 bits, ZeRO 0" "(hidden + ends + norms) * (4 + 2 * (1 + 4 / 256))" "*" \
    $llama -s hybrid:zero=0,recipe=bf16-moments -O adam-8bit
for zero in 1 2 3; do
    holds "8 bits, ZeRO $zero" "(hidden + ends + norms) * (4 + 2 * (1 + 4 / 256)) / 8" "*" \
        $llama -s hybrid:zero=$zero -O adam-8bit
done
for zero in 1 2; do
    holds "Muon, ZeRO $zero" "(8 * hidden + 12 * (ends + norms)) / 8" "*" \
        $llama -s hybrid:zero=$zero -O muon
done
# q, k, v: [h/2][h]; out [h][h/2]; gate, up: [f/2][h]; down [h][f/2]; ends [vocab/2][h]
holds "Adafactor, tp=2" "4 * ((hidden + ends) / 2 + 2 * norms + \
    layers * (4 * (h + h // 2) + 3 * (f // 2 + h)) + 2 * (vocab // 2 + h))" "*" \
    $llama -s hybrid:dp=4,tp=2,zero=0 -O adafactor
holds "SOAP, both of pp=2" "*" "12 * (hidden + ends + norms) + 8 * (layers * 11 + 2) * h * h" \
    $llama -s hybrid:dp=4,pp=2,zero=0,micro=1 -O soap
}

# Products are part of the step: without ZeRO each of 8 replicas makes all, with it an eighth.
# 32 (4 5 6 h^3 + 3 5 (4 h h f + 2 h^3)) = 684 TFLOP at a rate between half of the peak and all.
# shellcheck disable=SC2086 # words
compute() {
    ask "$@" >"$work/bytes"
    python3 -B -c 'import json, sys
print(json.load(open(sys.argv[1]))["devices"][0]["compute_s"])' "$work/answer.json"
}
# shellcheck disable=SC2086 # words
{
alone=$(compute $llama -s hybrid:zero=0,recipe=bf16 -O muon)
shared=$(compute $llama -s hybrid:zero=1 -O muon)
momentum=$(compute $llama -s hybrid:zero=0,recipe=bf16 -O momentum)
}
python3 -B - "$alone" "$shared" "$momentum" <<'PYTHON' || fail "products: $alone $shared $momentum"
import sys
alone, shared, momentum = map(float, sys.argv[1:])
h, f = 4096, 11008
flops = 32 * (4 * 5 * 6 * h**3 + 3 * 5 * (4 * h * h * f + 2 * h**3))
assert flops / 989e12 < alone - momentum < 2 * flops / 989e12
assert 0.85 * (alone - momentum) < alone - shared < (alone - momentum)
PYTHON

# explain lists products by the sizes of a rank's matrices: of an MLP of 3072 x 768 cut in two, five
# times 4 768^2 1536 + 2 768^3 FLOPs, and for no optimizer without products
mlp="-w gpt2-small -t dgx-a100 -b 32 -p bf16 -s hybrid:dp=4,tp=2,zero=1"
# shellcheck disable=SC2086 # words
"$forerun" explain $mlp -O muon --json >"$work/explain.json"
python3 -B - "$work/explain.json" <<'PYTHON' || fail "explain: $(cat "$work/explain.json")"
import json, sys
rows = {tuple(r["dims"]): r for r in json.load(open(sys.argv[1]))["optimizer_products"]}
assert sorted(rows) == [(768, 384), (768, 1536), (1152, 768), (1536, 768)]
assert all(r["tensors"] == 12 and r["time_s"] > 0 for r in rows.values())
assert rows[1536, 768]["flops"] == 5 * (4 * 768**2 * 1536 + 2 * 768**3)
PYTHON
# shellcheck disable=SC2086 # words
{
"$forerun" explain $mlp -O muon | grep -q "^  768 x 384 *12 *2.83 GFLOP" || fail "explain's table"
"$forerun" explain $mlp -O adam | grep -q "^Products" && fail "Adam has products"
}

# $1: exit status; $2: a part of the message
refuses() {
    status=$1 part=$2
    shift 2
    got=0
    "$forerun" "$@" >"$work/out" 2>"$work/err" || got=$?
    test "$got" -eq "$status" || fail "$part: status $got"
    grep -qF "$part" "$work/err" || fail "$part: $(cat "$work/err")"
}
# shellcheck disable=SC2086 # words
{
names="sgd|momentum|adam|lion|adam-8bit|adafactor|adafactor-momentum|muon|shampoo|soap"
refuses 2 "\"lamb\", expected $names" simulate $one -O lamb
refuses 2 "muon updates whole matrices, but with zero=3 each rank has a slice of every one" \
    simulate $llama -s hybrid:zero=3 -O muon
}
# a search goes round what is refused
"$forerun" search -w llama2-7b -t hgx-h100 -b 64 -p bf16 -O muon --fix tp=1 --fix pp=1 \
    --fix zero=1,3 --fix micro=1 --top 1 >"$work/out" 2>"$work/err" || fail "search: $(cat "$work/err")"
grep -q "1  .*hybrid:dp=8,tp=1,pp=1,micro=1,zero=1" "$work/out" || fail "search: $(cat "$work/out")"
grep -q "zero=3: muon updates whole matrices" "$work/out" || fail "search does not say why"
test "$n_failed" -eq 0
