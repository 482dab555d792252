#!/bin/sh
# tests/cli/test_calibrate_run.sh - calibrate/measure/run with programs that only pretend: it runs
# what is built in its order, shares out the time, and says what it left out and why. Ends with 77
# where there is no Python. What was built of the CUDA programs is asked what it would measure,
# which needs no GPU.
set -u
source=$(cd "${srcdir:-.}" && pwd)
build=$PWD
run=$source/calibrate/measure/run
command -v python3 >/dev/null || { echo "SKIP python3 is not here"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

n_checks=0
n_failures=0
# expect WHAT COMMAND...: the command succeeds
expect() {
    n_checks=$((n_checks + 1))
    what=$1
    shift
    "$@" && return
    n_failures=$((n_failures + 1))
    echo "FAIL: $what"
    head -n 20 out 2>/dev/null
}
# fake NAME STATUS: a program that writes down how it was called
fake() {
    mkdir -p built/calibrate/measure/cuda
    printf '#!/bin/sh\necho "%s $*" >>calls\nexit %s\n' "$1" "$2" >"built/calibrate/measure/cuda/$1"
    chmod +x "built/calibrate/measure/cuda/$1"
}

fake conv 0
fake gemm 3
fake launch 0
fake copy 1
python3 "$run" -o made --build built --budget 2min --python false --system 'two words' >out 2>&1
expect "it succeeds when anything ran" [ $? -eq 0 ]
expect "parts run in the order of their value" \
    [ "$(cut -d' ' -f1 calls | tr '\n' ' ')" = "launch gemm conv copy " ]
expect "a share of the time goes to each" grep -q '^launch .*--budget 2[34]$' calls
expect "the rest of the time is shared on" grep -q '^gemm .*--budget 4[0-2]$' calls
expect "shapes come from beside the script" grep -q "^gemm .*--shapes $source/calibrate/measure/cuda/gemm_shapes.csv" calls
expect "a machine's name is one argument" grep -q '^copy -o made/p2p.csv --device 0 --system two words' calls
expect "unfinished parts are named" grep -q '^left out: gemm: its time was over' out
expect "failed parts are named" grep -q '^left out: copy: failed with status 1' out
expect "missing programs are named" grep -q '^left out: memory_bound: not built' out
expect "missing PyTorch is named" grep -q '^left out: torch_step: false has no PyTorch' out
expect "the machine is described" grep -q '^start: 20.* UTC$' made/machine.txt
expect "the machine file says what is left out" grep -q '^left out: gemm' made/machine.txt

python3 "$run" -o none --build nowhere --python false >out 2>&1
expect "nothing to run is a failure" [ $? -eq 1 ]
rm calls
python3 "$run" -o made --build built --only conv >out 2>&1
expect "--only runs one" [ "$(wc -l <calls)" -eq 1 ]
python3 "$run" -o made --only convolutions >out 2>&1
expect "an unknown part is refused" [ $? -eq 2 ]
expect "and the known ones are named" grep -q 'none of launch' out
python3 "$run" -o made --budget soon >out 2>&1
expect "a budget without a unit is refused" grep -q 'no time such as 90s' out
python3 "$run" -o unmade --build built --list >out 2>&1
expect "--list runs nothing" [ ! -e unmade ]

# every shape is one that the data's layout has, and none comes twice
for file in gemm_shapes conv_shapes; do
    sorted=$(tail -n +2 "$source/calibrate/measure/cuda/$file.csv" | sort | uniq -d)
    expect "$file.csv has no shape twice" [ -z "$sorted" ]
done
expect "there are 600 products" [ "$(wc -l <"$source/calibrate/measure/cuda/gemm_shapes.csv")" -eq 601 ]
expect "convolutions are as large as their filters" awk -F, \
    'NR > 1 && ($6 > $3 + 2 * $9 || $7 > $4 + 2 * $9 || NF != 9) { exit 1 }' \
    "$source/calibrate/measure/cuda/conv_shapes.csv"

lists=0
for program in "$build"/calibrate/measure/cuda/*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    case ${program##*/} in
    gemm | conv) set -- --shapes "$source/calibrate/measure/cuda/${program##*/}_shapes.csv" ;;
    *) set -- ;;
    esac
    lists=$((lists + 1))
    "$program" --list "$@" >out 2>err
    expect "${program##*/} lists what it measures" [ -s out ]
    expect "${program##*/} lists nothing twice" [ -z "$(sort out | uniq -d)" ]
    "$program" -o x.csv "$@" --nonsense >out 2>&1
    expect "${program##*/} refuses what it does not know" [ $? -eq 2 ]
done
# what memory_bound measures is what a fit reads: all its classes, with rows enough, were each at 2
# TB/s
if [ -x "$build/calibrate/measure/cuda/memory_bound" ] && [ -x "$build/forerun" ]; then
    "$build/calibrate/measure/cuda/memory_bound" -o x.csv --list 2>err | awk -F, '
        BEGIN { print "gpu,kernel,shape,dtype,bytes,time_us" }
        $3 == "float32" { print "G," $1 "," $2 "," $3 "," $4 "," 3 + $4 / 2e6 }' >rows.csv
    "$build/forerun" calibrate fit rows.csv -d h200-sxm-141gb --gpu G -o g.yaml >out 2>&1
    expect "a fit reads what memory_bound writes" [ $? -eq 0 ]
    for class in elementwise softmax layernorm embedding softmax-backward layernorm-backward \
        batchnorm batchnorm-backward pooling pooling-backward dropout reduction transpose \
        embedding-backward optimizer; do
        expect "memory_bound has rows enough for $class" grep -q "^  $class  *fp32 " out
    done
    "$build/forerun" calibrate check rows.csv -d g.yaml >out 2>&1
    expect "the file of the fit is one to judge by" grep -q '^  optimizer  *fp32 ' out
    "$build/forerun" calibrate show g.yaml >out 2>&1
    expect "and one to show" grep -q '^batchnorm-backward fp32: G, from' out
fi
[ "$lists" -gt 0 ] || echo "SKIP the CUDA programs are not built (make cuda)"

percent=$((100 * (n_checks - n_failures) / n_checks))
echo "$percent%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" -eq 0 ]
