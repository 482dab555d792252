#!/bin/sh
# tests/project/test_device_table.sh - topo/devices/table.awk takes the shipped files and refuses
# faulty ones, each with its line.
set -u
source=$(cd "${srcdir:-.}" && pwd)
awk=${AWK:-awk}
table=$source/topo/devices/table.awk
LC_ALL=C
export LC_ALL
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failures=0
fail() {
    n_failures=$((n_failures + 1))
    echo "FAIL: $1"
}

# A sound file; refused SED EXPECTED: what one edit of it makes the program say.
cat >"$work/sound.yaml" <<'END'
# A GPU of no maker.
name: sound
kind: gpu
memory: 24GiB            # datasheet
memory_bandwidth: 1.5TB/s  # datasheet
vector: 35.6Tflop/s      # datasheet
flops:
  fp32: 35.6Tflop/s      # as vector
  fp16: 142Tflop/s       # datasheet
sms: 82                  # deviceQuery
launch: 6us              # assumed
context: 450MiB          # assumed
source: >-
  A datasheet with a "quote" and a \ in it,
  on two lines
END
refused() {
    n_checks=$((n_checks + 1))
    mkdir -p "$work/faulty"
    sed "$1" "$work/sound.yaml" >"$work/faulty/sound.yaml"
    if (cd "$work/faulty" && "$awk" -f "$table" sound.yaml >out.c 2>err); then
        fail "'$1' is taken"
    elif [ "$(cat "$work/faulty/err")" != "$2" ]; then
        fail "'$1' says: $(cat "$work/faulty/err")"
    fi
}

n_checks=$((n_checks + 1))
cat >"$work/expected" <<'END'
    {
        .name = "sound",
        .is_gpu = true,
        .mem_bytes = UINT64_C(24) << 30,
        .mem_Bps = 1.5e12,
        .vector_flops_per_s = 35.6e12,
        .flops_per_s[FR_FP32] = 35.6e12,
        .flops_per_s[FR_FP16] = 142e12,
        .n_sms = 82,
        .launch_s = 6e-6,
        .context_bytes = UINT64_C(450) << 20,
        .source = "A datasheet with a \"quote\" and a \\ in it, on two lines",
    },
END
"$awk" -f "$table" "$work/sound.yaml" >"$work/table.c" || fail "a sound file is refused"
sed -n '/^    {/,/^    }/p' "$work/table.c" | cmp - "$work/expected" || fail "the table is another"

refused '/^kind/d' "sound.yaml: 'kind' is missing"
refused '/^  fp32/d' "sound.yaml: 'flops.fp32' is missing"
refused '/^source/,$d' "sound.yaml: 'source' is missing"
refused '/^  A /,$d' "sound.yaml: 'source' is missing"
refused '/^launch/d' "sound.yaml: a GPU has no 'launch' or no 'context'"
refused 's/name: sound/name: other/' 'sound.yaml: the type is named "other", the file is not'
refused 's/name: sound/name: Sound/' "sound.yaml:2: 'name' is \"Sound\""
refused 's/kind: gpu/kind: tpu/' "sound.yaml:3: 'kind' is \"tpu\""
refused 's/24GiB /24GB /' "sound.yaml:4: 'memory' is \"24GB\", whose unit 'GB' is none of MiB, GiB"
refused 's/24GiB/24.5GiB/' "sound.yaml:4: 'memory' is \"24.5GiB\", not a whole number above 0"
refused 's/24GiB/024GiB/' "sound.yaml:4: 'memory' is \"024GiB\", not a whole number above 0"
refused 's/24GiB/many/' "sound.yaml:4: 'memory' is \"many\", not a number"
refused 's/24GiB/-1GiB/' "sound.yaml:4: 'memory' is \"-1GiB\", not a number"
refused 's/24GiB.*/24GiB/' "sound.yaml:4: 'memory' has no source behind it (# ...)"
refused 's/1.5TB/1.5e3TB/' \
    "sound.yaml:5: 'memory_bandwidth' is \"1.5e3TB/s\", whose unit 'e3TB/s' is none of GB/s, TB/s"
refused 's/fp16/fp64/' "sound.yaml:9: no key 'flops.fp64'"
refused 's/fp16/fp32/' "sound.yaml:9: 'flops.fp32' is given twice"
refused 's/^flops:/flops: 1/' "sound.yaml:7: 'flops' is \"1\""
refused '/^flops:/d' \
    "sound.yaml:7: only what is under 'flops' and 'source' begins with blanks"
refused 's/^sms/cores/' "sound.yaml:10: no key 'cores'"
refused 's/launch: 6us/launch: 6/' \
    "sound.yaml:11: 'launch' is \"6\", whose unit '' is none of us"
refused 's/^context.*/# a note/' \
    "sound.yaml:12: neither 'key: value  # source' nor a comment before 'name'"
refused 's/>-/one line/' "sound.yaml:13: 'source' is \"one line\""
refused '$s/^ *//' "sound.yaml:15: 'source' is the last key; its lines begin with two blanks"
refused 's/quote/quot\xc3\xa9/' "sound.yaml:14: a tab, or a character that is not ASCII"

n_checks=$((n_checks + 1))
: >"$work/empty.yaml"
"$awk" -f "$table" "$work/empty.yaml" "$work/sound.yaml" >/dev/null 2>&1 &&
    fail "an empty file is taken"

# The last file's fault is found as well as the first's.
n_checks=$((n_checks + 1))
(cd "$work/faulty" && sed '/^kind/d' ../sound.yaml >sound.yaml &&
    "$awk" -f "$table" sound.yaml ../sound.yaml >/dev/null 2>err) && fail "a faulty first file is taken"
[ "$(cat "$work/faulty/err")" = "sound.yaml: 'kind' is missing" ] ||
    fail "a faulty first file says: $(cat "$work/faulty/err")"

n_checks=$((n_checks + 1))
"$awk" -f "$table" "$source"/topo/devices/*.yaml >"$work/all.c" || fail "a shipped file is refused"
[ "$(grep -c '\.name = ' "$work/all.c")" -eq "$(ls "$source"/topo/devices/*.yaml | wc -l)" ] ||
    fail "a shipped file is lost"

echo "$n_checks checks, $n_failures failures"
[ "$n_failures" -eq 0 ]
