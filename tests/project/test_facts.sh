#!/bin/sh
# tests/project/test_facts.sh - base/facts/compile takes the shipped files of facts and refuses
# faulty ones, each with its place.
set -u
source=$(cd "${srcdir:-.}" && pwd)
compile=$(pwd)/base/facts/compile
[ -x "$compile" ] || { echo "SKIP $compile is not here"; exit 77; }
LC_ALL=C
export LC_ALL
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_checks=0
n_failures=0
fail() {
    n_failures=$((n_failures + 1))
    echo "FAIL: $1"
}

# A sound file; refused SED EXPECTED: what one edit of it makes the program say.
cp "$source/topo/devices/type.schema.yaml" .
cat >rows.schema.yaml <<'END'
table: cable
include: cables.h
array: const struct cable cables
count: n_cables
rows: cables
fields:
  name: {is: name}
  rate: {to: .bw_Bps, is: rate}
  shift: {to: .shift, is: number, optional: true}
END
cat >boxes.schema.yaml <<'END'
table: box
include: boxes.h
array: const struct box boxes
count: n_boxes
rows: boxes
fields:
  name: {to: .name, is: name}
  kind:
    to: .kind
    is: choice
    of: {old: OLD, new: NEW}
  cable: {to: .cable, is: row, of: cable, if: [kind, new]}
  ids: {to: .ids, is: hex, optional: true}
  pairs: {to: .pairs, is: count, optional: true}
END
cat >sound.yaml <<'END'
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
cat >cables.yaml <<'END'
cables:
  - {name: thin, rate: 25GB/s * 0.96}
  - {name: thick, rate: 125GB/s / 6, shift: -0.25}
END
cat >boxes.yaml <<'END'
boxes:
  - {name: first, kind: old, ids: [0x20b2, 0x20bd]}
  - {name: second, kind: new, cable: thick, pairs: [[0, 1], [1, 0]]}
END

# refused_as FILE SED EXPECTED
refused_as() {
    n_checks=$((n_checks + 1))
    mkdir -p faulty
    cp ./*.yaml faulty
    sed "$2" "$1" >"faulty/$1"
    if (cd faulty && "$compile" type.schema.yaml sound.yaml rows.schema.yaml cables.yaml \
        boxes.schema.yaml boxes.yaml >out.c 2>err); then
        fail "'$2' is taken"
    elif [ "$(cat faulty/err)" != "$3" ]; then
        fail "'$2' says: $(cat faulty/err)"
    fi
}
refused() { refused_as sound.yaml "$1" "$2"; }
refused_box() { refused_as boxes.yaml "$1" "$2"; }

n_checks=$((n_checks + 1))
cat >expected <<'END'
    {
        .name = "sound",
        .is_gpu = true,
        .mem_bytes = UINT64_C(25769803776),
        .mem_Bps = 1500000000000.0,
        .vector_flops_per_s = 35600000000000.0,
        .flops_per_s[FR_FP32] = 35600000000000.0,
        .flops_per_s[FR_FP16] = 142000000000000.0,
        .n_sms = 82,
        .launch_s = 6e-06,
        .context_bytes = UINT64_C(471859200),
        .source = "A datasheet with a \"quote\" and a \\ in it, on two lines",
    },
    {
        .bw_Bps = 24000000000.0,
    },
    {
        .bw_Bps = 20833333333.333332,
        .shift = -0.25,
    },
    {
        .name = "first",
        .kind = OLD,
        .ids = {0x20b2, 0x20bd},
    },
    {
        .name = "second",
        .kind = NEW,
        .cable = &cables[1],
        .pairs = {{0, 1}, {1, 0}},
    },
END
{
    "$compile" type.schema.yaml sound.yaml &&
        "$compile" rows.schema.yaml cables.yaml &&
        "$compile" rows.schema.yaml cables.yaml boxes.schema.yaml boxes.yaml
} >table.c || fail "a sound file is refused"
sed -n '/^    {/,/^    }/p' table.c | cmp - expected || fail "the table is another"
[ "$(grep -c '^const size_t n_cables = 2;' table.c)" -eq 1 ] || fail "two rows are not counted"

refused '/^kind/d' "sound.yaml:2:1: 'kind' is missing"
refused '/^  fp32/d' "sound.yaml:2:1: 'flops.fp32' is missing"
# shellcheck disable=SC2016 # $ is sed's
refused '/^source/,$d' "sound.yaml:2:1: 'source' is missing"
refused '/^launch/d' "sound.yaml:2:1: 'launch' is missing"
refused 's/name: sound/name: other/' \
    'sound.yaml:2:7: the device type is named "other", the file is not'
refused 's/name: sound/name: Sound/' \
    'sound.yaml:2:7: the device type is named "Sound", the file is not'
refused 's/kind: gpu/kind: gpus/' \
    "sound.yaml:3:7: 'kind' is \"gpus\", which is not known, did you mean 'gpu'?"
refused 's/24GiB/24GiX/' "sound.yaml:4:9: 'memory' is \"24GiX\", whose unit 'GiX' is not one of \
B with K M G T P (of 1000) or Ki Mi Gi Ti Pi (of 1024) before it, did you mean 'GiB'?"
refused 's/24GiB.*/24GiB/' "sound.yaml:4:9: 'memory' has no source behind it (# ...)"
refused 's/24GiB/0GiB/' "sound.yaml:4:9: 'memory' is 0"
refused 's/fp16/fp64/' "sound.yaml:9:3: no key 'flops.fp64'"
refused 's/fp16/fp32/' "sound.yaml:9:3: key 'fp32' appears twice, first at line 8 column 3"
refused 's/^sms/cores/' "sound.yaml:10:1: no key 'cores'"
refused 's/quote/quot\xc3\xa9/' "sound.yaml:14:27: a tab, or a character that is not ASCII"
refused_box 's/name: second/name: first/' 'boxes.yaml:3:12: two rows are named "first"'
refused_box 's/thick/thicks/' "boxes.yaml:3:38: no cable 'thicks', did you mean 'thick'?"
refused_box 's/, cable: thick//' "boxes.yaml:3:5: 'cable' is missing"
refused_box 's/0x20bd/20bd/' \
    "boxes.yaml:2:44: 'ids' is \"20bd\", expected digits like 0x20b2"
refused_box 's/name: first/name: First/' "boxes.yaml:2:12: 'name' is \"First\""
refused_box 's/^boxes/box/' "boxes.yaml:1:1: expected a list 'boxes' alone"
refused_as cables.yaml 's/0.96/0,96/' "cables.yaml:2:35: no key '96'"
refused_as boxes.schema.yaml 's/is: hex/is: octal/' \
    "boxes.schema.yaml:13:23: no kind 'octal' like this"

n_checks=$((n_checks + 1))
: >empty.yaml
"$compile" type.schema.yaml empty.yaml sound.yaml >/dev/null 2>&1 && fail "an empty file is taken"

# Each shipped machine and device type is in the tables of the library.
for folder in "$source/topo/machines" "$source/topo/devices"; do
    for file in "$folder"/*.yaml; do
        case $file in *.schema.yaml) continue ;; esac
        n_checks=$((n_checks + 1))
        grep -q "^        .name = \"$(basename "$file" .yaml)\",$" \
            "${compile%base/facts/compile}topo/${folder##*/}/table.c" || fail "$file is not compiled in"
    done
done

# Files of facts are installed into one folder.
n_checks=$((n_checks + 1))
twice=$(cd "$source" && sed -n 's/^facts_DATA += *//p; s/^job_frameworks = *//p' ./*/local.mk |
    tr ' ' '\n' | sed -n 's#.*/\(.*\.yaml\)$#\1#p' | sort | uniq -d)
[ -z "$twice" ] || fail "two files of facts are called $twice"

echo "$n_checks checks, $n_failures failures"
[ "$n_failures" -eq 0 ]
