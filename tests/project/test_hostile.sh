#!/bin/sh
# tests/project/test_hostile.sh - bad input of every kind gets one clear line on standard error, the
# documented exit status, nothing on standard output and no output file.
# shellcheck disable=SC2016 # sed scripts hold dollar signs
set -u
. "${srcdir:-.}/tests/support/direct.sh"
forerun=${FORERUN:-$forerun}
examples=$(cd "${srcdir:-.}/examples" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir out
: >cases    # a line each, since some cases run behind a pipe
: >failures

# bad STATUS PATTERN ARGUMENT...: PATTERN (extended) is the whole message after "forerun: ".
bad() {
    status=$1
    pattern=$2
    shift 2
    timeout 20 "$forerun" "$@" >stdout 2>stderr </dev/null
    judge $? "$*"
}

judge() {
    echo "$2" >>cases
    fault=
    [ "$1" -eq "$status" ] || fault="exit status $1, not $status"
    [ "$(wc -l <stderr)" -eq 1 ] || fault="$fault; $(wc -l <stderr) lines of errors"
    head -n 1 stderr | grep -qxE "forerun: $pattern" || fault="$fault; not the message expected"
    # a file that cannot be written (1) does not cost the answer
    [ "$status" -eq 1 ] || [ ! -s stdout ] || fault="$fault; standard output is not empty"
    [ -z "$(ls -A out)" ] || fault="$fault; left behind: $(ls -A out)"
    rm -rf out
    mkdir out
    [ -n "$fault" ] || return 0
    echo "$2" >>failures
    printf 'FAILED forerun %s\n  %s\n  expected (%s): %s\n  got: ' "$2" "$fault" "$status" "$pattern"
    head -c 600 stderr
}

# ---- options: a good question with one thing wrong ----

# asks STATUS PATTERN ARGUMENT...: what the arguments do not name themselves is good.
asks() {
    status_=$1
    pattern_=$2
    shift 2
    topology='-t dgx1-v100' workload='-w lenet'
    for argument; do
        case $argument in
        -t) topology= ;;
        -w) workload= ;;
        esac
    done
    # shellcheck disable=SC2086 # two words each, or none
    bad "$status_" "$pattern_" simulate $topology $workload -o out/a.json "$@"
}

bad 2 "no command given, try 'forerun --help'"
bad 2 "'simulat' is no command of 'forerun', did you mean 'simulate'\?" simulat
bad 2 "'shw' is no command of 'forerun topo', did you mean 'show'\?" topo shw dgx1-v100
bad 2 "'forerun graph' needs a command, try 'forerun graph --help'" graph
bad 2 ".*TOPOLOGY.*" topo show
bad 2 ".*'two'.*" topo show dgx1-v100 two
bad 2 ".*topology.*" simulate -w lenet -s single
bad 2 ".*workload.*" simulate -t dgx1-v100 -s single
asks 2 ".*strategy.*"
asks 2 "1?.*'--batchh'.*did you mean '--batch'\?" --batchh 64
asks 2 ".*'-Z'.*" -Z
asks 2 "option '-b' needs a value \(N\)" -b
asks 2 "option '--batch' has an empty value" --batch ''
asks 2 "option '--batch' is \"0\".*" -b 0
asks 2 "option '--batch' is \"-64\".*" -b -64
asks 2 "option '--batch' is \"64\.5\".*" -b 64.5
asks 2 "option '--batch' is \"99999999999999999999\".*" -b 99999999999999999999
asks 2 "option '--batch' is \"4294967295\".*" -b 4294967295
asks 2 "a global batch and a batch per GPU exclude each other" -b 64 -B 64 -s single
asks 2 "option '--gpus' is \"0\".*" -g 0
asks 2 "option '--gpus' is \"four\".*" -g four
asks 2 "9 GPUs asked for, but 'dgx1-v100' has 8" -g 9 -s single
asks 2 "'dgx1-v100' has no GPU 'n0.gpu8', did you mean 'n0.gpu0'\?" --devices n0.gpu8 -s single
asks 2 "'dgx1-v100' has no GPU 'n0.gpu1\\\\x0an0.gpu2'" --devices "n0.gpu1
n0.gpu2" -s single
asks 2 "'n0..999999999.gpu0..999999999' stands for more GPUs than 'dgx1-v100' has, which is 8" \
    --devices n0..999999999.gpu0..999999999 -s single
asks 2 "'n0.gpu7..0': the range 7..0 runs backwards" --devices n0.gpu7..0 -s single
asks 2 "'n0.gpu0..-1' is no range, .*" --devices n0.gpu0..-1 -s single
asks 2 "a list of GPUs has an empty name, .*" --devices , -s single
asks 2 "option '--devices' has an empty value" --devices '' -s single
asks 2 "a number of GPUs \(-g\) and their names \(--devices\) exclude each other" -g 2 \
    --devices n0.gpu0..1 -s single
asks 2 "--spread and names of GPUs \(--devices\) exclude each other" --spread \
    --devices n0.gpu0..1 -s single
asks 2 "no model, folder or file named 'lenett', did you mean 'lenet'\?" -w lenett -s single
asks 2 "no topology preset or file 'dgx1-v10', did you mean 'dgx1-v100'\?" -t dgx1-v10 -s single
asks 2 "unknown strategy 'singel', did you mean 'single'\?" -s singel
asks 2 "strategy 'mp' has no option 'x'" -s mp:x=1
asks 2 "strategy 'dp' has no option 'buckets', did you mean 'bucket'\?" -s dp:buckets=25MiB
asks 2 ".*\"25\".*" -s dp:bucket=25
asks 2 ".*\"25mib\".*" -s dp:bucket=25mib
asks 2 ".*\"rng\", not one of .*did you mean 'ring'\?" -s dp:sync=rng
asks 2 "option 'overlap' of 'dp' is \"yes\", not 0 or 1" -s dp:overlap=yes
asks 2 "option 'bucket' of 'dp' is given twice" -s dp:bucket=1MiB,bucket=2MiB
asks 2 "option 'bucket' of 'dp' has no value" -s dp:bucket
asks 2 "4 devices do not make whole pipelines of 5 stages" -g 4 -b 64 -s pp:stages=5
asks 2 "a global batch of 3 over 4 devices leaves some without a sample" -g 4 -b 3 -s dp
asks 2 "accumulate=3 does not divide the 8 samples of a replica" -g 4 -b 32 -s dp:accumulate=3
asks 2 "accumulate=2 does not divide the 1 sample of a replica" -g 4 -b 5 -s dp:accumulate=2
asks 2 "accumulate=0 runs no micro-batch, expected at least 1" -s single:accumulate=0
asks 2 "option 'accumulate' of 'dp' is \"1\.5\".*" -s dp:accumulate=1.5
asks 2 "strategy 'dp' has no option 'acumulate', did you mean 'accumulate'\?" -s dp:acumulate=2
asks 2 ".* micro-batches of .* ops are too many tasks for one plan" -g 2 -b 4000000000 \
    -s dp:accumulate=2000000000
asks 2 "micro=9 is more than the 8 samples of a pipeline" -g 2 -b 8 -s pp:micro=9
asks 2 "2 strategies given, 'forerun simulate' takes one; try 'forerun compare'" -s dp -s mp
asks 2 "option '--precision' is \"fp99\", expected fp32.*" -p fp99
asks 2 "option '--optimizer' is \"adm\", expected .*did you mean 'adam'\?" -O adm
asks 2 "option '--order' is \"lifo\", expected .*" --order lifo
asks 2 "option '--order' is \"TAC\", expected fifo\|priority.*" --order TAC
asks 2 "option '--order' has an empty value" --order ''
asks 2 "option 'pull' of 'dp' is \"begin\", not one of end\|start" -s dp:pull=begin
asks 2 "option '--memory' is \"devise\", expected liveness.*, did you mean 'device'\?" --memory devise
asks 2 "option '--network' is \"flaw\", expected .*did you mean 'flow'\?" --network flaw
asks 2 "option '--jitter' is \"nan\".*" --jitter nan
asks 2 "option '--jitter' is \"-0\.1\".*" --jitter -0.1
asks 2 "option '--jitter' is \"0,1\".*" --jitter 0,1
asks 2 "option '--jitter' is \"gauss\".*" --jitter gauss:0.1
asks 2 "option '--jitter': times above 0 .*" --jitter normal:2
asks 2 "option '--seed' is \"5..4\".*" --seed 5..4
asks 2 "option '--interference' is \"non\".* did you mean 'none'\\?" --interference non
asks 2 "option '--slow' is \"n0.gpu0\".*" -s dp --slow n0.gpu0
asks 2 ".* has no device 'n9.gpu\\*'" -s dp --slow 'n9.gpu*=2'
asks 2 "no vertex or link 'n0.nix0', did you mean .*" --degrade n0.nix0=0.5
asks 2 "option '--profile-device' is \"v100-sxm2\", no device type that is known.*" -s single \
    --profile-device v100-sxm2
asks 2 "option '--channels' is \"0\".*" --channels 0
asks 2 "option '--seed' is \"1e3\".*" --seed 1e3
asks 2 "option 'hidden' of model 'gpt' is \"-4\".*" -s single \
    -w gpt:layers=2,hidden=-4,heads=2,seq=16,vocab=100
asks 2 "option 'layers' of model 'gpt' is \"99999999999\".*" -s single \
    -w gpt:layers=99999999999,hidden=64,heads=2,seq=16,vocab=100
asks 2 "model 'gpt': hidden 64 is not a multiple of 3 heads" -s single \
    -w gpt:layers=2,hidden=64,heads=3,seq=16,vocab=100
asks 2 "option '--image-size' is \"0\".*" --image-size 0
asks 2 "option '--image-size' is \"224x224\".*" --image-size 224x224
asks 2 "model 'lenet' takes images of 28x28 only, .*" --image-size 32 -s single
asks 2 "images of 16x16 are too small: at layer 'pool5' 1x1 of them are left, .*" -w vgg16 \
    --image-size 16 -s single
asks 2 "an image size of 4294967294 is over 65536" -w vgg16 --image-size 4294967294 -s single
asks 2 "model 'gpt2-small' has no images" -w gpt2-small --image-size 224 -s single
asks 2 "workload '.*' was recorded and cannot be changed to another image size" --image-size 224 \
    -w "$examples/gnmt-head" -s single
asks 2 "option 'aux' of model 'inception-v3' is \"yes\".*" -w inception-v3:aux=yes -s single
asks 2 "'wresnet-L-W' is a pattern, write numbers for its capital letters" -w wresnet-L-W -s single
asks 2 "model 'wresnet-18-2': L is \"18\", expected 50, 101 or 152" -w wresnet-18-2 -s single
asks 2 "W of model 'wresnet-L-W' is \"-1\".*" -w wresnet-50--1 -s single
asks 2 "W of model 'wresnet-L-W' is \"99999999999999999999\".*" \
    -w wresnet-50-99999999999999999999 -s single
asks 2 "'wresnet-152-65536' at batch 64 has a tensor of over 2\^53 bytes" -w wresnet-152-65536 \
    -s single
asks 2 "option 'head' of model 'bert-base' is \"poler\", expected .*did you mean 'pooler'\?" -s single \
    -w bert-base:head=poler
asks 2 "option 'attention' of model 'llama2-7b' is \"\", expected unfused\|flash\|flash-1\|.*" \
    -s single -w llama2-7b:attention=
asks 2 "option 'skew' of model 'mixtral-8x7b' is \"1e9\".*" -s single -w mixtral-8x7b:skew=1e9
asks 2 "model 'bert-large' has 512 learned positions, .*" -s single -w bert-large --seq-len 513

# ---- output ----

mkdir folder
ln -s /dev/full full.json
asks 2 "'out/a\.docx' has no ending that names a format of answers, expected one of .*" -o out/a.docx -s single
asks 1 "no-such-folder/a\.json: .*No such file or directory" -o no-such-folder/a.json -s single
mkdir folder.json
asks 1 "folder\.json: is a folder, expected a file" -o folder.json -s single
bad 2 "'out/a\.trace\.json': .*not a comparison" compare -t dgx1-v100 -w lenet -g 2 -b 8 \
    -o out/a.trace.json
bad 1 ".*cannot make the folder: No such file or directory" graph export lenet no-such/folder
if [ -e /dev/full ]; then
    status=1
    pattern="cannot write to standard output: No space left on device"
    "$forerun" topo show dgx1-v100 >/dev/full 2>stderr
    got=$?
    : >stdout
    judge $got "topo show dgx1-v100 >/dev/full"
fi
if mount -t tmpfs -o size=16k none folder 2>/dev/null; then
    bad 1 "folder/a\.trace\.json: .*No space left on device" simulate -t dgx1-v100 -w vgg19 -g 4 \
        -b 64 -s dp -o folder/a.trace.json
    [ -z "$(ls -A folder)" ] || echo "FAILED: a full disk keeps $(ls -A folder)" | tee -a failures
    umount folder
else
    echo "SKIP full disk: no right to mount one"
fi

# ---- compositions ----

bad 2 ".*\"0\".*" topo show '0x dgx1-v100 via ib:100Gbps'
bad 2 "unknown option '-1'" topo show '-1x dgx1-v100 via ib:100Gbps'
bad 2 ".*99999999999.*" topo show '99999999999x dgx1-v100 via ib:100Gbps'
bad 2 ".*" topo show '60000x dgx1-v100 via ib:100Gbps'
bad 2 ".*'dgx1-v10'.*did you mean 'dgx1-v100'\?" topo show '2x dgx1-v10 via ib:100Gbps'
bad 2 "no network after 'via', one like ib:100Gbps expected" topo show '2x dgx1-v100 via'
bad 2 ".*'tokenring'.*" topo show '2x dgx1-v100 via tokenring:100Gbps'
bad 2 ".*\"100\".*" topo show '2x dgx1-v100 via ib:100'
bad 2 ".*\"100gbps\".*" topo show '2x dgx1-v100 via ib:100gbps'
bad 2 ".*\"-100Gbps\".*" topo show '2x dgx1-v100 via ib:-100Gbps'
bad 2 ".*\"nanGbps\".*" topo show '2x dgx1-v100 via ib:nanGbps'
bad 2 ".*\"1e999Gbps\".*" topo show '2x dgx1-v100 via ib:1e999Gbps'
bad 2 "'extra' in the topology, .*" topo show '2x dgx1-v100 via ib:100Gbps extra'

# ---- fabrics and files of other tools ----

bad 2 "'spin' is no option of rails, did you mean 'spine'\?" topo show '2x dgx1-v100 via rails:spin=2:1'
bad 2 ".*make 9 machines, and there are 2" topo show '2x dgx1-v100 via torus:dims=3x3'
bad 2 "nothing after 'less', links like n0.nic1=0.5 expected" topo show '2x dgx1-v100 via rails less'
bad 2 "no vertex or link 'n7.nic0', did you mean 'n0.nic0'\?" topo show '2x dgx1-v100 via rails less n7.nic0=0'
printf '<!DOCTYPE s [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><system>&b;</system>' >bomb.xml
bad 2 "bomb.xml:1:[0-9]+: the DOCTYPE has declarations of its own, .*|bomb.xml: is XML, .*" topo import bomb.xml -o out/a.yaml
i=0
while [ $i -lt 100 ]; do printf '<pci>'; i=$((i + 1)); done >deep
{ printf '<system><cpu>' && cat deep; } >deep.xml
bad 2 "deep.xml:1:[0-9]+: nested deeper than 64 elements|deep.xml: is XML, .*" topo show deep.xml
printf '\tGPU0\tGPU1\nGPU0\t X \tNV1000000000\nGPU1\tNV1000000000\t X \n' >many.txt
bad 2 "many.txt:2:[0-9]+: 'NV1000000000' is no connection, .*" topo import many.txt -o out/a.yaml
printf '\tGPU0\tGPU1\nGPU0\t X \tSYS\n' >short.txt
bad 2 "short.txt:2:1: the matrix ends before row 'GPU1'" topo show '4x short.txt via ib:100Gbps'
bad 2 "no facts of GPUs of type 'h1000'.*" topo import many.txt --gpu-type h1000
bad 2 "'out/a.txt' ends neither in .yaml .* nor in .xml .*" topo export dgx1-v100 -o out/a.txt
bad 2 "deep:1:1: is XML whose root is not of a topology .*" topo import deep
bad 2 "the topology is longer than [0-9]+ bytes" topo show \
    "2x dgx1-v100 via ib:100Gbps$(printf '%65536s' '')"

# ---- files of the wrong sort, for a workload and for a topology ----

: >empty
printf '\001\002\003\177\033[2J%4096s' '' >noise
printf 'name: \377\376\200\n' >latin.yaml
printf 'a: 1\0\nb: 2\n' >nul.yaml
mkfifo fifo
for option in -w -t; do
    asks 2 "\./empty[:1]*: .*" $option ./empty -s single
    asks 2 "\./noise[:1-9]*: .*" $option ./noise -s single
    asks 2 "\./latin\.yaml[:17]*: .*" $option ./latin.yaml -s single
    asks 2 "\./nul\.yaml[:15]*: .*" $option ./nul.yaml -s single
    asks 2 "\./folder: .*" $option ./folder -s single
    asks 2 "\./fifo: .*" $option ./fifo -s single
    asks 2 ".*no-such-file.*" $option ./no-such-file.yaml -s single
done

# ---- topology files ----

# cluster PATTERN: standard input is the file.
cluster() {
    cat >cluster.yaml
    bad 2 "cluster\.yaml:$1" topo show cluster.yaml
}

# box [SED-SCRIPT]: a good file, spoilt.
box() {
    sed "${1:-}" <<'END'
name: box
types:
  - {name: toy, memory: 24GiB, memory_bandwidth: 936GB/s, vector: 35Tflop/s, sms: 82}
machines:
  - count: 2
    vertices:
      - {name: gpu0, kind: gpu, type: toy}
      - {name: nic0, kind: nic}
    links:
      - {from: gpu0, to: nic0, kind: pcie, bandwidth: 24GB/s, latency: 0.5us}
switches:
  - {name: tor}
links:
  - {from: n0.nic0, to: tor, kind: net, bandwidth: 25Gbps, latency: 0.5us}
  - {from: n1.nic0, to: tor, kind: net, bandwidth: 25Gbps, latency: 0.5us}
END
}

box >good.yaml
"$forerun" topo check good.yaml >/dev/null || { echo "the good topology is refused" && exit 1; }
echo 'a: [1, 2' | cluster "[0-9]+:[0-9]+: .*"
echo 'just a word' | cluster "1:1: .*"
box 's/ memory: 24GiB,//' | cluster "3:5: .*'memory'.*"
box 's/24GiB/24/' | cluster "3:[0-9]+: .*\"24\".*"
box 's/24GiB/-24GiB/' | cluster "3:[0-9]+: .*\"-24GiB\".*"
box 's/936GB/936GB\/s\/s/' | cluster "3:[0-9]+: .*\"936GB/s/s/s\".*"
box 's/0.5us/nan/' | cluster "10:[0-9]+: .*\"nan\".*"
box 's/24GB\/s/0GB\/s/' | cluster "10:.*"
box 's/count: 2/count: 99999999/' | cluster "5:12: .*99999999.*"
box 's/kind: nic/kind: nik/' | cluster "8:28: 'kind' is 'nik'.*did you mean 'nic'\?"
box 's/type: toy/type: tyo/' | cluster "7:[0-9]+: no device type 'tyo'.*"
box 's/^      - {name: nic0/      - {name: gpu0, kind: nic}\n&/' | cluster "8:[0-9]+: .*gpu0.*"
box 's/to: nic0/to: nic9/' | cluster "10:[0-9]+: this machine has no vertex 'nic9'"
box 's/n1.nic0/n7.nic0/' | cluster "15:[0-9]+: no vertex 'n7.nic0'.*"
box 's/switches:/switchs:/' | cluster "11:1: .*'switchs'.*did you mean 'switches'\?"
box 's/^name: box/name: box\nname: box/' | cluster "2:1: .*'name'.*"
box 's/^name: box/name: \&a box/' | cluster "1:[0-9]+: .*"
box 's/^name: box/name: !!binary box/' | cluster "1:[0-9]+: .*"
{ printf 'a: '; printf '%2000s' '' | tr ' ' '['; echo; } | cluster "1:[0-9]+: .*32.*"
{
    echo 'a0: &a0 [x, x, x, x, x, x, x, x, x]'
    for i in 1 2 3 4 5 6 7 8 9; do
        echo "a$i: &a$i [*a$((i - 1)), *a$((i - 1)), *a$((i - 1)), *a$((i - 1)), *a$((i - 1))]"
    done
} | cluster "1:5: .*"
box '/n1.nic0/d' >cluster.yaml
asks 2 ".*" -t cluster.yaml -g 2 -b 8 -s dp

# ---- what collectives inside a machine behave like ----

# system NAME PATTERN: refused by the simulation, which needs it; a path is the topology's
# neighbour.
system() {
    mkdir -p beside
    box "s/count: 2/count: 2\\n    collectives: $1/" >beside/cluster.yaml
    asks 2 "$2" -t beside/cluster.yaml -g 2 -b 8 -s dp
}
system h100-nvswich "beside/cluster\.yaml:6:18: 'h100-nvswich' is no system.*did you mean 'h100-nvswitch'\?"
system none.yaml "beside/cluster\.yaml:6:18: 'beside/none\.yaml' is no system.*"
system "''" "beside/cluster\.yaml:6:18: 'collectives' names no system"
system '[a]' "beside/cluster\.yaml:6:18: .*"
echo 'system: x' >beside/short.yaml
system short.yaml "beside/short\.yaml:1:1: a system has 'one_node', 'several_nodes' or 'links'"
mkdir -p beside/folder.d
system folder.d "beside/folder\.d: .*"
box "s/^machines:/collectives: h100-nvswich\\n&/" >beside/cluster.yaml
asks 2 "beside/cluster\.yaml:[0-9]*:14: 'h100-nvswich' is no system.*did you mean 'h100-nvswitch'\?" \
    -t beside/cluster.yaml -g 2 -b 8 -s dp
box 's/latency: 0.5us}$/latency: 0.5us, messages: {system: dgx1-p100, link: NVLink2}}/' >beside/cluster.yaml
asks 2 "beside/cluster\.yaml:10:[0-9]*: 'tartan_dgx1_p100' has no messages over 'NVLink2', did you mean 'NVLink1'\?" \
    -t beside/cluster.yaml -g 2 -b 8 -s dp
"$forerun" topo check beside/cluster.yaml >stdout && echo "topo check finds no fault" && exit 1
grep -q "no messages over 'NVLink2'" stdout || { echo "topo check does not say why" && exit 1; }
system h100-nvswich ".*"
"$forerun" topo check beside/cluster.yaml >stdout && echo "topo check finds no fault" && exit 1
grep -q "'h100-nvswich' is no system" stdout || { echo "topo check does not say why" && exit 1; }
"$forerun" simulate -t beside/cluster.yaml -w lenet -b 8 -s dp --costs datasheet >stdout ||
    { echo "rooflines ask for a system" && exit 1; }

# ---- a workload folder ----

# net FILE PATTERN [SED-SCRIPT]: a good folder whose FILE is spoilt, or replaced from standard input
# when there is no script.
net() {
    mkdir -p net
    printf 'name: net\nbatch: 4\nprecision: fp32\n' >net/workload.yaml
    printf 'id,kind,flops,param_bytes,out_bytes\n%s\n%s\n%s\n' 'x,input,0,0,64' \
        'fc,matmul,1000,128,64' 'loss,loss,16,0,4' >net/ops.csv
    printf 'src,dst\nx,fc\nfc,loss\n' >net/edges.csv
    printf 'op,device,batch,time_s\nfc,*,4,0.001\n' >net/times.csv
    if [ "$#" -eq 3 ]; then
        sed "$3" "net/$1" >spoilt
    else
        cat >spoilt
    fi
    mv spoilt "net/$1"
    [ "$2" = good ] || asks 2 "net$2" -w net -s single
}

net ops.csv good ''
"$forerun" graph check net >/dev/null || { echo "the good workload is refused" && exit 1; }
net workload.yaml "/workload\.yaml:1:1: .*'batch'.*" /batch/d
net workload.yaml "/workload\.yaml:2:8: .*\"-4\".*" 's/4/-4/'
net workload.yaml "/workload\.yaml:2:8: .*\"four\".*" 's/4/four/'
net workload.yaml "/workload\.yaml:3:12: 'precision' is \"fp23\".*" 's/fp32/fp23/'
net workload.yaml "/workload\.yaml:4:1: .*'bacth'.*" '$a bacth: 4'
net ops.csv "/ops\.csv:1:1: no header row, .*" '1,$d'
net ops.csv "/ops\.csv:2:.*" '2,$s/.*/\x01\x02\x03/'
net ops.csv "/ops\.csv:1:4: .*'kid'.*" 's/kind/kid/'
net ops.csv "/ops\.csv:1:.*'flops'.*" 's/param_bytes/flops/'
net ops.csv "/ops\.csv:3:4: .*\"matmull\".*did you mean 'matmul'\?" 's/matmul/matmull/'
net ops.csv "/ops\.csv:3:11: 'flops' is \"12x\".*" 's/1000/12x/'
net ops.csv "/ops\.csv:3:11: 'flops' is \"-1\".*" 's/1000/-1/'
net ops.csv "/ops\.csv:3:11: 'flops' is \"nan\".*" 's/1000/nan/'
net ops.csv "/ops\.csv:3:11: 'flops' is \"inf\".*" 's/1000/inf/'
net ops.csv "/ops\.csv:3:11: 'flops' is \"1e400\".*" 's/1000/1e400/'
net ops.csv "/ops\.csv:3:16: 'param_bytes' is \"18446744073709551616\".*" 's/128/18446744073709551616/'
net ops.csv "/ops\.csv:3:.*" 's/1000/1000,7/'
net ops.csv "/ops\.csv:4:.*" 's/loss,loss/fc,loss/'
net ops.csv "/ops\.csv:.*" 's/loss,loss/"loss,loss/'
net ops.csv "/ops\.csv:3:1: .*" 's/^fc/\xff\xfe/'
net edges.csv "/edges\.csv:3:1: no op has the id 'fcc'.*" 's/^fc/fcc/'
net edges.csv "/edges\.csv:4:1: the edge from 'fc' to 'loss' is given twice, .*3" '$a fc,loss'
net edges.csv ".*cycle.*" '$a loss,x'
net edges.csv ".*" 's/x,fc/fc,fc/'
net times.csv "/times\.csv:2:8: 'time_s' is \"-0\.001\".*" 's/0.001/-0.001/'
net times.csv "/times\.csv:2:6: 'batch' is \"0\".*" 's/,4,/,0,/'
net times.csv "/times\.csv:2:1: no op has the id 'f', did you mean 'fc'\?" 's/^fc/f/'
net ops.csv "/ops\.csv:1:1: no header row, .*" </dev/null
rm net/ops.csv
asks 2 "net/?: no 'ops\.csv' in the folder, so it is no workload" -w net -s single

# ---- a PipeDream profile ----

node() {
    printf 'node%s -- %s -- forward_compute_time=%s, backward_compute_time=%s, ' "$1" "$2" "$3" "$4"
    printf 'activation_size=%s, parameter_size=%s\n' "$5" "$6"
}

# profile PATTERN: standard input is the profile.
profile() {
    cat >graph.txt
    asks 2 "graph\.txt:$1" -w graph.txt -s single
}

good1=$(node 1 Input0 0.000 0.000 100.0 0.000)
good2=$(node 2 'ReLU()' 1.000 1.000 100.0 0.000)
printf '%s\n%s\n' "$good1" "$good1" | profile "2:1: node 'node1' is given twice, first on line 1"
printf '%s\n\tnode1 -- node9\n' "$good1" | profile "2:11: no node is named 'node9'.*"
printf '%s\n\tnode1 node2\n' "$good1" | profile "2:2: expected an edge.*"
printf '%s\n%s\n\tnode1 -- node2\n\tnode2 -- node1\n' "$good1" "$good2" | profile ".*cycle.*"
printf '%s\n%s\n\tnode1 -- node2\n\tnode1 -- node2\n' "$good1" "$good2" |
    profile "4:2: the edge from 'node1' to 'node2' is given twice"
printf '%s\n\tnode1 -- node1\n' "$good1" | profile ".*node1.*"
node 1 x nan 0.0 0.0 0.0 | profile "1:[0-9]+: .*\"nan\".*"
node 1 x -1.0 0.0 0.0 0.0 | profile "1:[0-9]+: .*\"-1\.0\".*"
node 1 x 1e999 0.0 0.0 0.0 | profile "1:[0-9]+: .*\"1e999\".*"
node 1 x 1.0 0.0 1e300 0.0 | profile "1:[0-9]+: .*\"1e300\".*"
node 1 x 1.0 0.0 '[1.0; 2.0' 0.0 | profile "1:[0-9]+: .*"
echo "$good1" | head -c 60 | profile "1:[0-9]+: .*"

# ---- measured kernels and device files ----

fit="calibrate fit k.csv -d a100-sxm4-80gb --gpu G -o out/x.yaml"
echo 'gpu,dtype,m,n,k,time_us' >k.csv
# shellcheck disable=SC2086 # words
bad 2 "no class and number format has 40 rows .*" $fit
bad 2 "'forerun calibrate fit' needs -d DEVICE.*" calibrate fit k.csv --gpu G
bad 2 "no device type is named 'a100'.*" calibrate fit k.csv -d a100 --gpu G -o out/x.yaml
bad 2 ".*neither shipped.*did you mean 'b200-sxm-180gb'\?" calibrate check k.csv -d b200-sxm-180g
bad 2 "the data have no row to judge.*" calibrate check k.csv -d b200-sxm-180gb
printf 'source,system,gpus,nodes,op,bytes,dtype,algorithm,protocol,time_us\n' > c.csv
bad 2 "too few rows of 'S' to fit.*" calibrate fit c.csv --system S -o out/x.yaml
bad 2 ".*takes one -o FILE.yaml.*" calibrate fit c.csv --system S -d a100-sxm4-80gb -o out/x.yaml
bad 2 ".*neither shipped.*did you mean 'b200-nvswitch'\?" calibrate check c.csv --system b200-nvswich
bad 2 "the data have no row to judge.*" calibrate check c.csv --system b200-nvswitch
bad 2 "option '--min-bytes'.*" calibrate check c.csv --system b200-nvswitch --min-bytes x
ranks='# nThread 1\n# Rank 0 Group 0 Pid 7 on a device 0 [0x1b] G\n# Rank 1 Group 0 Pid 7 on a device 1 [0x1c] G\n'
table='# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n'
# log PATTERN TEXT [FILE]: a log of nccl-tests (printf's escapes)
log() {
    # shellcheck disable=SC2059 # escapes
    printf "$2" >"${3:-c.log}"
    bad 2 "$1" calibrate fit "${3:-c.log}" --system S -o out/x.yaml
}
log "too few rows of 'S' to fit.*" "$ranks" all_reduce.log
log "c\.log:4:3: nothing before this table names the program.*" "$ranks$table"
log "all_reduce\.log:2:3: a table without '# Rank' lines.*" "# nThread 1\n$table" all_reduce.log
log "all_reduce\.log:5:11: 'time' is \"nan\".*" "$ranks${table}8 2 f s 0 nan 1 1 0 1 1 1 0\n" all_reduce.log
log "all_reduce\.log:5:1: a row of 2 words in a table of 13" "$ranks${table}8 2" all_reduce.log
log "c\.log:2:8: rank 1, expected 0: a line is missing" \
    '# nThread 1\n# Rank 1 Group 0 Pid 7 on a device 0 [0x1b] G\n'
printf 'source,system,src,dst,link,bytes,bandwidth_GBps,latency_us\nx,S,a,b,l,8,-2,\n' >p.csv
bad 2 "p\.csv:2:13: 'bandwidth_GBps' is \"-2\".*" calibrate fit p.csv --system S -o out/x.yaml
printf 'source,system,src,dst,link,bytes,bandwidth_GBps,latency_us\nx,S,a,b,%s,8,2,\n' \
    "$(printf '%0200d' 0)" >p.csv
bad 2 "p\.csv:2:9: 'link' is longer than 127 bytes" calibrate fit p.csv --system S -o out/x.yaml
printf 'system: x\nlinks: [{link: y, knees: 3}]\n' >s.yaml
bad 2 "s\.yaml:2:[0-9]+: .*'knees'.*" calibrate check p.csv --system s.yaml
bad 2 "s\.yaml:2:[0-9]+: .*'knees'.*" calibrate show s.yaml
log "c\.log:2:1: a byte that is 0: this is no text" '# nThread 1\n\0\n'
echo 'G,float32,0,1,1,1' >>k.csv
# shellcheck disable=SC2086
bad 2 "k\.csv:2:11: .*" $fit
printf 'gpu,dtype,m,n,k,time_us\nG,float32,1,1,1,-1\n' >k.csv
# shellcheck disable=SC2086
bad 2 "k\.csv:2:17: .*" $fit
h='gpu,dtype,n,c,h,w,k,r,s,stride,pad,fwd_us'
printf '%s\nG,fp32,1,1,5,5,1,3,3,0,1,9\n' "$h" >k.csv
# shellcheck disable=SC2086
bad 2 "k\.csv:2:22: .*" $fit
printf '%s\nG,fp32,1,1,5,5,1,3,3,1,-1,9\n' "$h" >k.csv
# shellcheck disable=SC2086
bad 2 "k\.csv:2:24: .*" $fit
printf '%s\nG,fp32,1,1,5,5,1,3,3,1,1,nan\n' "$h" >k.csv
# shellcheck disable=SC2086
bad 2 "k\.csv:2:26: .*" $fit
printf 'gpu,kernel,shape,dtype,time_us\nG,context_attention,batch=99999999999999999999;,bf16,1\n' >k.csv
# shellcheck disable=SC2086
bad 2 "k\.csv:2:21: .*" $fit
h='gpu,kernel,shape,dtype,bytes,time_us'
for row in 'add,rows=1;cols=1,fp32,,9' 'relu,rows=1;cols=1,fp32,1e300,9' 'softmax,rows=-1;cols=1,fp32,,9' \
    'ln,rows=1,fp32,,9' 'emb,tokens=0;hidden=1,fp32,,9' 'tanh,rows=1;cols=1,fp32,8,inf'; do
    printf '%s\nG,%s\n' "$h" "$row" >k.csv
    # shellcheck disable=SC2086
    bad 2 "k\.csv:2:[0-9]+: .*" $fit
done
printf 'device: x\nlaunch: {gpus: G}\n' >d.yaml
bad 2 "d.yaml:2:.*'source' is missing" calibrate show d.yaml
printf 'gpu,kernel,beside,alone_us,together_us\nG,add,add,1,nan\n' >k.csv2
bad 2 "k.csv2:2:.*'together_us' is \"nan\".*" calibrate fit k.csv2 -d a40 --gpu G -o out/x.yaml
printf 'device: x\ncurves: 3\n' >d.yaml
bad 2 "d\.yaml:2:9: .*" calibrate show d.yaml

# ---- figures that no machine has ----

# absurd PATTERN SED-SCRIPT: box spoilt so, refused with that sentence, taken when told to
absurd() {
    box "$2" >absurd.yaml
    bad 2 "$1; --allow-implausible goes on" simulate -w lenet -t absurd.yaml -g 2 -s dp -o out/a.json
    bad 2 "$1; --allow-implausible goes on" comm all-reduce -t absurd.yaml -e 1K
    bad 2 "$1; --allow-implausible goes on" sweep -w lenet -t absurd.yaml -B 8 -s dp -o out/a.csv
}
type="device type 'toy': a"
absurd "$type memory of 0 B is implausible \(from 1 MiB .*\)" 's/24GiB/0B/'
absurd "$type memory of 2 PiB is .*" 's/24GiB/2048TiB/'
absurd "$type memory bandwidth of 0 B/s is .*" 's,936GB/s,0GB/s,'
absurd "$type memory bandwidth of 936 B/s is .*" 's,936GB/s,936B/s,'
absurd "$type memory bandwidth of 936 PB/s is .*" 's,936GB/s,936000TB/s,'
absurd "$type vector rate of 0 flop/s is .*" 's/35Tflop/0Tflop/'
absurd "$type vector rate of 3.5e\+19 flop/s is .*" 's/35Tflop/35000000Tflop/'
absurd "$type peak rate of 1e-09 flop/s is .*" 's,sms: 82,sms: 82\, flops: {fp32: 1e-9flop/s},'
absurd "$type launch time of .* is .*" 's/sms: 82/sms: 82, launch: 1e300s/'
absurd "$type launch time of 2 s is .*" 's/sms: 82/sms: 82, launch: 2s/'
absurd "$type context of 24 GiB is .*" 's/sms: 82/sms: 82, context: 24GiB/'
absurd "a link from 'n0.gpu0': a bandwidth of 24 B/s is .*" 's,24GB/s,24B/s,'
absurd "a link from 'n0.gpu0': a latency of 30 s is .*" 's/0.5us/30s/'
for figure in 's/24GiB/18446744073709551615B/' 's/sms: 82/sms: 82, context: 9007199254740993B/'; do
    box "$figure" >absurd.yaml
    bad 2 ".*'toy' has a memory or a context of more than 8 PiB" simulate -w lenet -t absurd.yaml \
        -g 2 -s dp -o out/a.json --allow-implausible
done

# ---- names that match nothing ----

cp -r "$examples/gnmt-head" profiled
chmod -R u+w profiled
sed -i 's/,\*,/,v100-sxm2-16bg,/' profiled/times.csv
bad 2 "workload 'gnmt-head' has times of 'v100-sxm2-16bg', no .*, did you mean 'v100-sxm2-16gb'\?" \
    simulate -w profiled -t dgx1-v100 -s single -o out/a.json
{
    echo id,workload,topology,gpus,strategy,global_batch,precision,options,iteration_s,peak_bytes,notes
    echo A-1,lenet,dgx1-v100,1,single,64,fp32,,1,,
} >rows.csv
bad 2 "rows\.csv: none of the 1 rows could be predicted; the first, 'A-1': 'no\.yaml' is no device .*" \
    validate rows.csv --costs no.yaml -o out/a.csv
sed 's/fp32/fp12/' rows.csv >formats.csv
bad 2 "formats\.csv: none of the 1 rows .*" validate formats.csv

# ---- sums of bytes beyond 2^64 ----

for memory in device liveness tf1; do
    "$forerun" simulate -w gpt:layers=1024,hidden=8192,heads=64,seq=64,vocab=100 -t dgx1-v100 -g 1 \
        -b 900000000 -s single --memory $memory --no-advice --json >stdout 2>stderr
    [ $? -eq 3 ] && grep -q '"oom": true' stdout && grep -q '"peak_bytes": 18446744073' stdout ||
        echo "FAILED: --memory $memory and more than 2^64 bytes: $(cat stderr)" | tee -a failures
    echo "2^64 bytes, --memory $memory" >>cases
done

echo "$(wc -l <cases) bad inputs, $(wc -l <failures) not answered as they should be"
[ ! -s failures ]
