#!/bin/sh
# tests/cli/test_limits.sh - small stacks, large machines, files that may not grow: what is exported
# can be read, and a failure names its cause.
. "${srcdir:-.}/tests/support/command.sh"

# ---- large machines ----

# One machine of 1 024 GPUs, as NCCL would write it.
awk 'BEGIN {
    print "<system version=\"1\"><cpu numaid=\"0\" affinity=\"ffff\" arch=\"x86_64\"" \
        " vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">"
    for (i = 0; i < 1024; i++)
        printf "<pci busid=\"%04x:%02x:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x20b0\"" \
            " link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"%d\" sm=\"80\" rank=\"%d\"" \
            " gdr=\"1\"></gpu></pci>\n", i / 200 + 1, i % 200 + 1, i, i
    print "</cpu></system>"
}' >nccl.xml
run topo import nccl.xml -o nccl.yaml
check "a_machine_of_1024_gpus_is_imported" succeeds
run topo show nccl.yaml
check "and_what_was_written_is_read" says "1024 GPUs"
run topo export nccl.yaml -o again.yaml
tail -n +2 nccl.yaml >one
tail -n +2 again.yaml >other
check "and_written_again_it_is_the_same_but_for_its_name" cmp -s one other

# 256 GPUs with NVLinks between every two: 32 640 links. n^4 took 3.2 s of CPU.
awk 'BEGIN {
    n = 256
    for (i = 0; i < n; i++) printf "\tGPU%d", i
    print "\tCPU Affinity"
    for (i = 0; i < n; i++) {
        printf "GPU%d", i
        for (k = 0; k < n; k++) printf "\t%s", i == k ? "X" : "NV1"
        print "\t0-19"
    }
}' >smi.txt
limit_s=2
! grep -q __asan_init "$build/.libs/forerun" 2>/dev/null || limit_s=20 # every access is looked at
cpu_s() { (ulimit -t "$limit_s"; "$forerun" topo import smi.txt --gpu-type v100-sxm2-16gb -o smi.yaml >out 2>err); }
check "a_matrix_of_256_gpus_takes_no_two_seconds" cpu_s
run topo show smi.yaml
check "a_machine_with_32640_nvlinks_is_read" says "256 GPUs"
run topo export "65536x box:1xa40 via torus:100Gbps,dims=256x256" -o large.yaml
check "what_no_reader_takes_is_not_written" fails 2 "too many for a topology file"
check "nor_is_a_file_made" test ! -e large.yaml

# ---- a file that may not grow ----

full_store() {
    status=0
    (
        ulimit -f 16
        exec "$forerun" sweep -q -w lenet -t dgx1-v100 -B 16,32,64,128,256,512 -g 1,2,4,8 -s dp -j 1 \
            --store "$1" >out 2>err
    ) || status=$?
    test "$status" -eq 1 && grep -q "$2" err
}
check "a_store_that_may_not_grow_says_so" full_store full.csv "File too large"
run sweep -q -w lenet -t dgx1-v100 -B 16,32,64,128,256,512 -g 1,2,4,8 -s dp -j 1 --store full.csv
check "and_goes_on_where_it_was" test "$status" -eq 0

# ---- stacks of 128 KiB ----

cd "$source" || exit
stack_kib=128
# A sanitizer puts space around every variable on the stack.
! grep -q __asan_init "$build/.libs/forerun" 2>/dev/null || stack_kib=1024
small_stack() {
    (
        ulimit -s "$stack_kib"
        exec "$forerun" "$@"
    ) >"$work/out" 2>"$work/err" </dev/null
}
while read -r line; do
    status=0
    eval "small_stack $line" || status=$?
    check "a_small_stack_is_enough ($line)" test "$status" -eq 0
done <<END
simulate -w lenet -t dgx1-v100 -g 2 -b 16 -s dp -o $work/a.trace.json -o $work/a.html
simulate -w gpt2-small -t dgx1-v100 -b 16 -s hybrid:tp=2,pp=2,micro=2 -O adam --why-uncertain
simulate -w lenet -t dgx1-v100 -g 2 -s pipedream
simulate -w examples/gnmt-head -t dgx1-v100 -g 2 -s os-dpos
compare -w lenet -t dgx1-v100 -g 2 -b 16 -s single -s dp -s pp -o $work/c.html -o $work/c.svg
compare -w lenet -t dgx1-v100 -g 2 -s dp -s mp --explain
explain -w examples/ten-tasks -t examples/ten-tasks/processors.yaml -s os-dpos -o $work/e.dot
explain -w gpt2-small -t dgx1-v100 -b 16 -s hybrid:tp=2,pp=2 -o $work/e.svg
learn -w lenet -t dgx1-v100 -g 2 -b 16
sweep -q -w lenet -t dgx1-v100 -g 1,2 -B 16 -s dp --store $work/s.csv -o $work/s.html
search -q -w gpt2-small -t dgx1-v100 -b 8
graph show lenet --layers
graph draw resnet50
graph check examples/gnmt-head
graph export lenet $work/exported
graph random layered
comm all-reduce -t dgx1-v100 --sizes 1M --explain
topo show dgx1-v100
topo check dgx1-v100
topo import examples/machines/nccl-topo.xml -o $work/t.yaml -o $work/t.xml
topo import examples/machines/smi-topo.txt
topo draw dgx1-v100
topo time dgx1-v100 all-reduce 1MB
schedule show 1f1b --ranks 4 --micro-batches 8
schedule check 1f1b --ranks 4 --micro-batches 8
recipe show megatron-lm
calibrate show h100-sxm5-80gb
help simulate
completion bash
END
cd "$work" || exit

# ---- advice where a measured step is long ----
# Each trial corrected itself by the step of 128 GPUs, which took minutes: these runs count, too.
run simulate -w gpt2-small -t dgx1-v100 -b 512 -s dp -O adam --measured 100s@128:pp -q --json
check a_question_with_a_measured_step_is_out_of_memory exits 3
check long_measured_steps_leave_out_the_advice says '"advice_tried": 0,'
check and_that_is_said says '"advice_cut_short": true,'
run simulate -w vgg16 -t dgx1-v100 -g 4 -b 1024 -s dp --measured 250ms@1 -q --json
check short_ones_do_not says '"advice_cut_short": false,'

finish
