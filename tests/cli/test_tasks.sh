#!/bin/sh
# tests/cli/test_tasks.sh - task graphs on machines without hardware: plain times, no GPUs; schedules
# that cannot be; files that are refused before the work; times that a CPU took.
. "${srcdir:-.}/tests/support/command.sh"

printf 'task,time,after\na,2,\nb,3,a\nc,4,a\n' > three.csv
run simulate -w three.csv -t "2 machines" -s heft
check tasks_are_on_machines says "^three on 2 machines, strategy heft$"
check their_times_have_no_unit says "^  makespan  *6$"
check they_have_no_gpus_batch_or_optimizer test "$(grep -c 'GPU\|batch\|sgd\|fp32\|B of' out)" = 0
run simulate -w three.csv -t "2 machines" -s heft -v
check an_optimizer_is_not_missed_where_none_is_asked_for lacks "^warning: optimizer"
check not_in_detail_either test "$(grep -c 'GPU\|PiB\|fp32' out)" = 0
run simulate -w "$source/examples/tasks/heft.csv" -t "machines P1 P2 P3 via 1GB/s" --order strict \
    --network analytic -s heft
check heft_s_80_is_80 says "^  makespan  *80$"
run simulate -w three.csv -t "2 machines" -s heft -O adam
check an_optimizer_of_tasks_is_said_to_do_nothing \
    says "^warning: optimizer adam changes nothing: 'three' has no parameters$"
run simulate -w lenet -t dgx1-v100 -g 2 -b 64 -s dp -O adam
check that_of_a_model_is_not lacks "optimizer adam changes nothing"
run simulate -w three.csv -t "2 machines" -s heft --json
check json_says_that_the_unit_is_none says '"time_unit": "none"'
check and_keeps_its_keys says '"iteration_s": 6,'
run topo show "2 machines via 1GB/s"
check machines_have_no_hardware says "^2 machines without hardware$"
check nor_is_any_listed test "$(grep -c 'GPU\|PiB\|FLOP' out)" = 0
run explain -w three.csv -t "2 machines" -s heft
check explanations_too says "^times as in the task file$"
run simulate -w vgg11 -t "2 machines" -s dp -b 4
check a_model_is_trained_all_the_same says "^global batch 4, fp32"
if command -v gnuplot > /dev/null; then
    run simulate -w three.csv -t "2 machines" -s heft -o three.svg -o three.png
    check the_cookbook_s_graph_is_drawn test "$status" = 0 -a -s three.svg -a -s three.png
fi

# ---- reports, pictures and other tables of the same ----
heft="-w $source/examples/tasks/heft.csv --order strict --network analytic"
machines="machines P1 P2 P3 via 1GB/s"
# plain FILE: no time of it has a unit, and none of its words is of training
plain() {
    sed -e '/<style>/,/<\/style>/d' -e '/<script>/,/<\/script>/d' -e '/planned and simulated in/d' "$1" > page
    ! grep -qE '[0-9] (s|ms|us|min|h|days)\b|GPU|[Ii]teration|sample|batch|forward|PiB|memory' page
}
run simulate $heft -t "$machines" -s heft -o run.html
check a_report_says_the_makespan grep -q '>makespan</td><td class="n" data-v="80">80<' run.html
check a_report_has_no_unit_of_time plain run.html
check its_axis_neither grep -q '>time</text>' run.html
check nor_its_boxes grep -q '^27 to 40: 13$' run.html
run compare $heft -t "$machines" -s heft -s cpop -s exact -o several.html
check a_comparison_names_the_shortest grep -q '<p>exact is the fastest: 73, 1.10 times as fast as' several.html
check its_report_has_no_unit plain several.html
run sweep $heft -t "$machines" -s heft -s cpop -o grid.html
check a_sweep_has_makespans says '^  time  *heft  *80$'
check a_sweep_has_no_rates_costs_or_units test "$(grep -cE ' (s|min|days)\b|GPU|samples|GiB' out)" = 0
check nor_has_its_report plain grid.html
run simulate $heft -t "$machines" -s heft --json
cp out heft.json
run simulate $heft -t "$machines" -s cpop --json
cp out cpop.json
run diff heft.json cpop.json -o other.html
check a_difference_is_plain says '^B takes 6 longer than A'
check its_answers_too says "^A: heft on $machines, strategy heft: 80$"
check its_columns_have_no_unit says '^  part  *A  *B  *B - A$'
check nor_has_its_page grep -q 'B takes 6 longer than A' other.html
run explain -w "$source/examples/tasks/heft.csv" -t "$machines" -s heft
check an_explanation_ends_in_plain_time says '^The step takes 80.000\. No placement takes less than 41.000'
if command -v gnuplot > /dev/null; then
    run compare $heft -t "$machines" -s heft -s cpop -o bars.svg -q
    check the_picture_of_a_comparison_has_plain_bars test "$(grep -c '>80<\|>86<' bars.svg)" -ge 2
    check no_unit_and_no_memory test "$(grep -c ' min<\|(s)\|memory\|iteration' bars.svg)" = 0
    run diff heft.json cpop.json -o two.svg
    check nor_has_that_of_a_difference test "$(grep -c '(s)\| min<\|GPUs\|forward' two.svg)" = 0
    run explain -w "$source/examples/tasks/heft.csv" -t "$machines" -s heft -o plan.svg
    check nor_that_of_a_plan test "$(grep -c '(s)\| min<\|GPUs\|forward\|batch' plan.svg)" = 0
fi

# a takes 2, b 3 and c 4
place() { printf 'op,device,start_s\n' > p.csv; printf '%s\n' "$@" >> p.csv; }
place a,m1,0 b,m1,2 c,m1,3
run simulate -w three.csv -t "2 machines" -s placement:file=p.csv
check tasks_do_not_overlap fails 2 "p.csv:4:1: 'c' starts at 3 s on m1, while 'b' (line 3, from 2 s for 3 s)"
place a,m1,0 b,m2,1 c,m1,2
run simulate -w three.csv -t "2 machines" -s placement:file=p.csv
check nor_start_before_what_they_read_has_ended fails 2 "'b' starts at 1 s, before 'a'"
place a,m1,0 b,m1,2 c,m1,5
run simulate -w three.csv -t "2 machines" -s placement:file=p.csv
check one_after_the_other_is_fine says "^  makespan  *9$"

# ---- names of algorithms, examples ----
run sweep -w lenet -t dgx1-v100 -g 2 -b 32 -s dp --collective-algorithm ring,trea -q
check an_unknown_algorithm_is_no_impossible_point fails 2 "'trea', did you mean 'tree'"
run simulate -w lenet -t dgx1-v100 -g 2 -b 32 -s dp --collective-algorithm auto --json
cp out auto
run simulate -w lenet -t dgx1-v100 -g 2 -b 32 -s dp --json
check auto_is_what_is_done_without test "$(grep '"iteration_s"' auto)" = "$(grep '"iteration_s"' out)"
cp "$source/examples/collectives/two-halves.txt" a,b.txt
run comm all-reduce -t dgx1-v100 -g 4 --sizes 1M --collective-algorithm ring,file:a,b.txt,tree
check a_file_is_one_of_several test "$(grep -c '^ *1048576 ' out)" = 3 -a "$status" = 0
mkdir share && cp -R "$source/examples" share/
FORERUN_DATADIR=$PWD/share
export FORERUN_DATADIR
run comm all-reduce -t dgx1-v100 -g 4 --sizes 1M \
    --collective-algorithm ring,file:examples/collectives/two-halves.txt
check an_installed_example_is_found test "$status" = 0
run simulate -w lenet -t dgx1-v100 -g 4 -b 32 -s dp \
    --collective-algorithm file:examples/collectives/two-halves.txt
check by_every_verb test "$status" = 0

# ---- outputs are looked at before the work ----
for paper in famous gpipe megatron pipedream zero-bubble; do
    run reproduce $paper -o a.svg
    check "$paper has no picture" fails 2 "no table of '$paper' can be drawn"
done
run reproduce fastt -o a.html
check nor_has_any_a_page fails 2 "expected a name that ends in .csv, .json, .md, .png, .svg or .pdf"
run help reproduce
check help_lists_what_there_is test "$(grep -c 'trace.json\|\.html' out)" = 0

# ---- times of a CPU ----
mkdir mlp
printf 'name: mlp\nbatch: 32\n' > mlp/workload.yaml
printf 'id,kind,flops,param_bytes,dims,out_bytes\npixels,input,,,32x784,\n' > mlp/ops.csv
printf 'fc1,matmul,12845056,802816,32x256,\nloss,loss,1280,,,4\n' >> mlp/ops.csv
printf 'src,dst\npixels,fc1\nfc1,loss\n' > mlp/edges.csv
run simulate -w ./mlp -t dgx1-v100 -g 1 -s single --json
iteration=$(grep '"iteration_s"' out)
printf 'op,device,batch,time_s\nfc1,cpu-xeon,32,2.5e-2\n' > mlp/times.csv
run simulate -w ./mlp -t dgx1-v100 -g 1 -s single --json
check a_cpu_s_times_are_dropped test "$iteration" = "$(grep '"iteration_s"' out)"
check and_that_is_said says "measured on a CPU, cpu-xeon: they are dropped"
printf 'op,device,batch,time_s\nfc1,*,32,2.5e-2\n' > mlp/times.csv
run simulate -w ./mlp -t dgx1-v100 -g 1 -s single --json
check a_star_stands_for_any_device says '"iteration_s": 0.025'
finish
